"""What has to be put right before a notebook can work."""

from __future__ import annotations


class SetupError(Exception):
    """Something between this notebook, the service and the cluster is wrong: one sentence that says what to do."""

    def _render_traceback_(self) -> list[str]:
        """Called by IPython: a notebook shows the sentence without a traceback."""
        return [f"{type(self).__name__}: {self}"]
