"""`python -m lattice_edge`: every check with its time; exit status 1 when something is wrong."""

from __future__ import annotations

import argparse
import sys
import time

from .checks import Check, Examination
from .faults import SetupError
from .ray_session import join, leave
from .settings import Settings, shown


def main() -> int:
    parser = argparse.ArgumentParser(prog="lattice_edge", description=__doc__)
    parser.add_argument("--no-cluster", action="store_true", help="check the service alone")
    options = parser.parse_args()
    settings = Settings.from_environment()
    addresses = f"service {shown(settings.service)}, cluster {shown(settings.cluster)}"
    print(f"{addresses}, namespace {settings.namespace}")
    faults = 0
    examination = Examination(settings, False if options.no_cluster else None)
    for check in examination:
        _show(check)
        faults += check.state == "fault"
    if examination.needs_ray and faults == 0:
        joined = _join(settings, examination)
        _show(joined)
        faults += joined.state == "fault"
    print("Everything is in order." if faults == 0 else "Something is wrong: see above.")
    return 1 if faults else 0


def _join(settings: Settings, examination: Examination) -> Check:
    start = time.monotonic()
    try:
        sentence = join(settings, examination.versions)
        return Check("join", "ok", sentence, time.monotonic() - start)
    except SetupError as fault:
        return Check("join", "fault", str(fault), time.monotonic() - start)
    finally:
        leave()


def _show(check: Check) -> None:
    state = "FAULT" if check.state == "fault" else check.state
    print(f"{state:<6}{check.name:<9}{check.seconds * 1000:>7.0f} ms  {check.sentence}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
