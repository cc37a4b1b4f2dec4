"""Packages that only a part of the client needs: the extras of pyproject.toml."""

from __future__ import annotations

#: The name of pyproject.toml, which is also that of the package for Node.
DISTRIBUTION = "lattice-detect-client"


def missing_package(what: str, extra: str, otherwise: str = "") -> ImportError:
    """The error for a package that is not installed. `what` says what needs it."""
    return ImportError(f"{what}: pip install '{DISTRIBUTION}[{extra}]'{otherwise}")
