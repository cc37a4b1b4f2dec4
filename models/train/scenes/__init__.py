"""Rendered street scenes: for the demo pictures and, fully labelled, beside the training photos."""
