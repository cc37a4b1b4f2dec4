"""PyTorch where it is installed; the tests that need it say so where it is not."""

import unittest

try:
    import torch
except ImportError:
    torch = None

needs_torch = unittest.skipUnless(torch, "needs models/train/requirements.txt (PyTorch)")
