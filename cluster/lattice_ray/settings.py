"""The options of `up`, and the plan that follows from them on the present nodes."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from lattice_ray import __version__


class UsageError(Exception):
    """One sentence for the user: what is wrong and what to do."""


@dataclass(frozen=True)
class Settings:
    """The program, service and variables of each worker."""

    command: tuple[str, ...]
    service: str
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Share:
    """The resources of its node that one worker holds."""

    gpus: float
    cpus: float


@dataclass(frozen=True)
class Plan:
    """The number of workers and the share of each."""

    count: int
    share: Share


def plan(
    nodes: Iterable[Mapping[str, float]],
    workers: int | None,
    gpus_per_worker: float | None,
    cpus_per_worker: float | None,
) -> Plan:
    """The plan for the resources of the living nodes; None means `auto`.

    One worker per GPU if there are GPUs, else one per node. Without `cpus_per_worker` the workers of a node share its
    CPUs minus one, which stays free for other work. Raises UsageError.
    """
    hosts = [node for node in nodes if node.get("CPU", 0) >= (cpus_per_worker or 1)]
    gpus = gpus_per_worker
    if gpus is None:
        gpus = 1.0 if any(node.get("GPU", 0) >= 1 for node in hosts) else 0.0
    if gpus > 0:
        hosts = [node for node in hosts if node.get("GPU", 0) >= gpus]
        places = [int(node["GPU"] / gpus + 1e-6) for node in hosts]
    else:
        each = 1 if workers is None else -(-workers // max(1, len(hosts)))
        places = [max(1, each)] * len(hosts)
    count = sum(places) if workers is None else workers
    if not hosts and count == 0:
        wanted = f"{gpus:g} GPU" if gpus > 0 else f"{cpus_per_worker or 1:g} CPU"
        raise UsageError(f"No node of the cluster has {wanted} for a worker.")
    cpus = cpus_per_worker
    if cpus is None:
        spare = [(node["CPU"] - 1) // here for node, here in zip(hosts, places, strict=True)]
        cpus = max(1.0, min(spare, default=1.0))
    return Plan(count, Share(gpus, cpus))


def places(
    placed: Mapping[str, str], new: Sequence[str], hosts: Sequence[str], count: int
) -> dict[str, str]:
    """Worker -> host without a worker: `new` workers first, then those of which a node has more than its share.

    `placed`: worker -> its node; `count`: workers in all.
    """
    share = -(-count // max(1, len(hosts)))
    by_node: dict[str, list[str]] = {}
    for worker, node in placed.items():
        by_node.setdefault(node, []).append(worker)
    idle = [host for host in hosts if host not in by_node]
    surplus = [worker for workers in by_node.values() for worker in workers[share:]]
    return dict(zip([*new, *surplus], idle, strict=False))


def child_environment(
    inherited: Mapping[str, str], settings: Settings, worker: str, node: str, share: Share
) -> dict[str, str]:
    """The complete environment of the child. `--env` takes precedence, except for service, worker and node."""
    env = dict(inherited)
    env.pop("OMP_NUM_THREADS", None)  # Ray sets it for Python; the child has its own setting
    env["LATTICE_DEVICE"] = "cuda" if share.gpus > 0 else "cpu"
    env["LATTICE_THREADS"] = str(max(1, int(share.cpus)))
    env.update(settings.env)
    env["LATTICE_SERVICE_URL"] = settings.service
    env["LATTICE_WORKER_ID"] = worker
    env["LATTICE_NODE_ID"] = node
    return env


def digest(settings: Settings, gpus: float, cpus_asked: float | None) -> str:
    """`up` keeps a worker with the same digest. It includes CPUs only as given; computed shares follow the nodes."""
    facts = [__version__, asdict(settings), gpus, cpus_asked]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
