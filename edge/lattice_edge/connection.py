"""The first call of a notebook."""

from __future__ import annotations

from .checks import Examination
from .edge import Edge
from .faults import SetupError
from .ray_session import JOIN_SECONDS, join
from .settings import Settings


def connect(
    cluster: bool | None = None,
    *,
    settings: Settings | None = None,
    join_seconds: float = JOIN_SECONDS,
) -> Edge:
    """Checks the service, the cluster and the versions, joins the cluster, and returns the client.

    `cluster`: True = the Ray cluster must be there; False = talk to the service alone, Ray is not needed; None = join
    the cluster where the service runs on one or LATTICE_RAY_ADDRESS differs from its default.

    Raises `SetupError` with one sentence that says what is wrong and what to do, within three seconds a check; joining
    itself may take `join_seconds`.
    """
    chosen = settings or Settings.from_environment()
    examination = Examination(chosen, cluster)
    for check in examination:
        if check.state == "fault":
            raise SetupError(check.sentence)
        if check.state == "note":
            print(check.sentence)
    if examination.needs_ray:
        print(f"Joining the Ray cluster, at most {join_seconds:g} s ...", flush=True)
        print(join(chosen, examination.versions, join_seconds))
    return Edge(chosen)
