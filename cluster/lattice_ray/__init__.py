"""Detection workers on the nodes of a Ray cluster: `python -m lattice_ray up|down|status`."""

__version__ = "0.1.0"
