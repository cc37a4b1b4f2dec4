"""Versions of Ray and Python, here and on the cluster, compared before Ray is imported."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Versions:
    """`ray` and `python` as in "2.60.0" and "3.11.7"; None when unknown, or for `ray` when it is not installed."""

    ray: str | None
    python: str | None

    def __str__(self) -> str:
        python = "" if self.python is None else f" on Python {self.python}"
        return f"Ray {self.ray or 'of an unknown version'}{python}"


def local_versions() -> Versions:
    """Of this Python; Ray's is read from its package's metadata, so that Ray is not imported."""
    try:
        ray = importlib.metadata.version("ray")
    except importlib.metadata.PackageNotFoundError:
        ray = None
    return Versions(ray, platform.python_version())


def install_command(cluster: Versions) -> str:
    return (
        f'pip install "ray[client]=={cluster.ray}"' if cluster.ray else 'pip install "ray[client]"'
    )


def mismatch(local: Versions, cluster: Versions) -> str | None:
    """A sentence, or None when they fit: Ray's must be equal, Python's equal to the minor version."""
    needed = minor(cluster.python)
    python_differs = needed is not None and minor(local.python) != needed
    command = f"`{install_command(cluster)}`"
    if python_differs:
        return (
            f"The cluster runs {cluster}, this notebook has {_here(local)}: run the notebook on "
            f"Python {needed} and there {command}."
        )
    if local.ray is None:
        where = f"the cluster runs {cluster}" if cluster.ray else "the cluster's version is unknown"
        return f"Ray is not installed here and {where}: run {command} and restart the kernel."
    if cluster.ray is not None and local.ray != cluster.ray:
        return (
            f"The cluster runs {cluster}, this notebook has {_here(local)}, and Ray's must be equal: "
            f"run {command} and restart the kernel."
        )
    return None


def minor(version: str | None) -> str | None:
    """`3.11` of `3.11.7`; None when it cannot be read."""
    found = re.match(r"\d+\.\d+", version or "")
    return found.group() if found else None


def _here(local: Versions) -> str:
    return str(local) if local.ray else f"no Ray on Python {local.python}"
