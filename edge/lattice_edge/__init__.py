"""The edge node's side of lattice-core: checks first, then `lattice_client` for notebooks."""

from __future__ import annotations

from .connection import connect
from .edge import Edge
from .faults import SetupError
from .settings import Settings

__all__ = ["Edge", "Settings", "SetupError", "connect"]
