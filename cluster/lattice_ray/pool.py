"""The workers of one Ray namespace: starts, replaces, shows and removes them."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ray
from ray import cloudpickle
from ray.experimental.internal_kv import _internal_kv_del, _internal_kv_get, _internal_kv_put
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import lattice_ray
from lattice_ray.owner import is_there, owner_refusal
from lattice_ray.settings import Plan, Settings, Share, UsageError, digest, places
from lattice_ray.worker import Worker

View = dict[str, Any]

# Ray sends the class with the actor: the nodes need no copy of this package.
cloudpickle.register_pickle_by_value(lattice_ray)

NAME = re.compile(r"worker-(\d+)")
WELL = ("running",)
#: `backoff` only after the time for a start: the child dies at its start.
ILL = ("crashloop", "failed", "backoff")
#: They start no more by themselves.
GIVEN_UP = ("crashloop", "failed")
#: A new worker that has lived this long has started well.
SETTLED_S = 3.0
POLL_S = 0.1
#: In the store of the head, which a head without Redis loses at its end, as it does all workers.
OWNER = "owner"
#: An actor that Ray has placed answers within milliseconds; any other never answers.
ANSWER_S = 5.0


class Pool:
    """Call `ray.init` in the namespace first. Every call has a deadline; `report` gets one line per change."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report

    def views(self, patience_s: float, names: Iterable[str] | None = None) -> list[View]:
        """One view per worker, in order of their numbers; `names` selects workers.

        A worker that does not answer in time is `pending`: Ray has not placed it, or its node is lost.
        """
        asked = {name: handle.view.remote() for name, handle in self._handles(names).items()}
        refs = list(asked.values())
        ready = ray.wait(refs, num_returns=len(refs), timeout=patience_s)[0] if refs else []
        return [
            answer(name, asked[name]) if asked[name] in ready else absent(name, "pending", [])
            for name in sorted(asked, key=number)
        ]

    def bring_up(
        self,
        plan: Plan,
        settings: Settings,
        cpus_asked: float | None,
        *,
        hosts: Sequence[str],
        after: str | None,
        take_over: bool,
        shrink: bool,
        restart: bool,
        grace_s: float,
        patience_s: float,
    ) -> bool:
        """Creates missing workers, replaces changed ones one after the other, removes surplus ones (if `shrink`).

        It also replaces workers that were given up. Workers without a GPU are created on idle `hosts` (node ids) and
        moved to them: Ray may place two on one node while another has none.
        Raises UsageError when the namespace belongs to another service, unless `take_over`.
        Returns False when a worker does not start; the workers not yet replaced then stay unchanged.
        """
        wanted = digest(settings, plan.share.gpus, cpus_asked)
        present = {str(view["worker"]): view for view in self.views(ANSWER_S)}
        owners = {view.get("service") for view in present.values()}
        self._claim(settings.service, owners, after, take_over)
        names = [f"worker-{index}" for index in range(plan.count)]
        placed = {
            name: str(view["node"]) for name, view in present.items() if view["state"] in WELL
        }
        surplus = [view for name, view in present.items() if name not in names]
        if shrink and surplus:
            self.take_down(surplus, grace_s)
        # A worker that waits for a place cannot report its settings, and creating it again costs nothing.
        waiting = [name for name in names if present.get(name, {}).get("state") == "pending"]
        self._remove(waiting)
        fresh = [name for name in names if name not in present]
        new = [*waiting, *fresh]
        place = places(placed, new, hosts, plan.count) if plan.share.gpus == 0 else {}
        for name in new:
            create(name, wanted, settings, plan.share, place.get(name))
        for name in fresh:
            self._report(f"{name}: created")
        stale = [
            name
            for name in names
            if name in present
            and name not in waiting
            and (
                restart
                or name in place
                or present[name]["state"] in GIVEN_UP
                or present[name].get("digest") != wanted
            )
        ]
        # Workers that do not run come first: a bad setting then shows before a running worker is replaced.
        stale.sort(key=lambda each: present[each]["state"] in WELL)
        step = max(1, plan.count // 10)
        for group in (stale[start : start + step] for start in range(0, len(stale), step)):
            self.take_down([present[name] for name in group], grace_s)
            for name in group:
                create(name, wanted, settings, plan.share, place.get(name))
            for name, state in self._settled(group, patience_s).items():
                self._report(f"{name}: replaced, {state}")
                if state in ILL or (state not in WELL and present[name]["state"] in WELL):
                    self._report("The other workers stay unchanged: a new one does not run.")
                    return False
        dying = [name for name in names if present.get(name, {}).get("state") == "backoff"]
        open_names = [*fresh, *(name for name in dying if name not in stale)]
        return not any(state in ILL for state in self._settled(open_names, patience_s).values())

    def _claim(
        self, service: str, owners: set[object], after: str | None, take_over: bool
    ) -> None:
        """Notes the service as the owner of the namespace, which then has it while its workers have no place.

        A new head knows no owner: `after`, if it is there, is it. Raises UsageError as `bring_up`.
        """
        if take_over:
            note_owner(service, overwrite=True)
            return
        if after is not None and owner() is None and is_there(after):
            owners = owners | {after}
        # If two come at the same time, the first is the owner.
        if owner_refusal(owners, service) is None:
            note_owner(service, overwrite=False)
        refusal = owner_refusal(owners | {owner()}, service)
        if refusal is not None:
            raise UsageError(refusal)

    def remove_all(self, grace_s: float) -> None:
        """Drains and removes every worker; the namespace then belongs to nobody."""
        self.take_down(self.views(ANSWER_S), grace_s)
        _internal_kv_del(OWNER, namespace=own_namespace())

    def take_down(self, workers: Sequence[View], grace_s: float) -> None:
        """Drains the workers in parallel and removes them. Raises UsageError when Ray keeps one.

        `workers` are views. A `pending` worker has nothing to drain, so this does not wait for it.
        """
        names = [str(view["worker"]) for view in workers]
        handles = self._handles(view["worker"] for view in workers if view["state"] != "pending")
        drains = {name: handle.drain.remote(grace_s) for name, handle in handles.items()}
        states = {view["worker"]: view["state"] for view in self.views(ANSWER_S, handles)}
        waited = [drain for name, drain in drains.items() if states.get(name) != "pending"]
        if waited:
            ray.wait(waited, num_returns=len(waited), timeout=grace_s + 10)
        self._remove(names)
        for name in sorted(names, key=number):
            self._report(f"{name}: removed")

    def _remove(self, names: Iterable[str]) -> None:
        """Ends the actors and their children at once."""
        handles = self._handles(names)
        for handle in handles.values():
            ray.kill(handle, no_restart=True)
        deadline = time.monotonic() + 15
        while left := sorted(self._handles(handles), key=number):
            if time.monotonic() > deadline:
                raise UsageError(f"Ray still lists {', '.join(left)}: run the command again.")
            time.sleep(POLL_S)

    def _handles(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """Handles of the existing workers, without those that end meanwhile."""
        handles = {}
        wanted = None if names is None else set(names)
        for name in ray.util.list_named_actors():
            if NAME.fullmatch(name) and (wanted is None or name in wanted):
                try:
                    handles[name] = ray.get_actor(name)
                except ValueError:
                    continue
        return handles

    def _settled(self, names: Sequence[str], patience_s: float) -> dict[str, str]:
        """State of each worker once it has run for `SETTLED_S` or has failed, else its state after `patience_s`.

        `backoff` if it died before and has not run for that long since.
        """
        deadline = time.monotonic() + patience_s
        states: dict[str, str] = {}
        while open_names := [name for name in names if name not in states]:
            late = time.monotonic() > deadline
            for view in self.views(1.0, open_names):
                ran = view["state"] in WELL and (view.get("life_s") or 0) >= SETTLED_S
                dies = not ran and bool(view["restarts"])
                if ran or late or view["state"] in GIVEN_UP:
                    states[view["worker"]] = "backoff" if late and dies else view["state"]
            if late:
                return {name: states.get(name, "failed") for name in names}
            time.sleep(POLL_S)
        return states


def own_namespace() -> str:
    """Of this package's entries in the store of the head, which the Ray namespace tells apart."""
    return f"lattice_ray:{ray.get_runtime_context().namespace}"


def owner() -> str | None:
    """The service to which the namespace belongs, as the head knows it."""
    noted = _internal_kv_get(OWNER, namespace=own_namespace())
    return None if noted is None else noted.decode()


def note_owner(service: str, *, overwrite: bool) -> None:
    """Without `overwrite` an owner that is noted already stays."""
    _internal_kv_put(OWNER, service, overwrite, namespace=own_namespace())


def create(
    name: str, wanted: str, settings: Settings, share: Share, node: str | None = None
) -> None:
    """Creates the actor, on `node` if that has room; does not wait until Ray places it."""
    strategy: Any = "SPREAD"
    if node is not None:
        strategy = NodeAffinitySchedulingStrategy(node, soft=True, _spill_on_unavailable=True)
    options = {
        "name": name,
        "lifetime": "detached",
        "get_if_exists": True,
        "max_restarts": -1,
        "max_task_retries": 0,
        "max_concurrency": 4,
        "scheduling_strategy": strategy,
        "num_gpus": share.gpus,
        "num_cpus": share.cpus,
        "runtime_env": {"env_vars": {"RAY_worker_niceness": "0"}},
    }
    actor: Any = ray.remote(**options)(Worker)
    actor.remote(name, wanted, settings, share)


def answer(name: str, asked: Any) -> View:
    """The view that the worker sent, or the reason why it sends none."""
    try:
        return ray.get(asked, timeout=5.0)
    except (ray.exceptions.ActorUnavailableError, ray.exceptions.GetTimeoutError):
        return absent(name, "pending", ["Ray restarts it as soon as a node has a place for it."])
    except ray.exceptions.RayActorError as error:
        return absent(name, "failed", str(error).splitlines()[-20:])


def absent(name: str, state: str, stderr: list[str]) -> View:
    """View of a worker that does not answer."""
    return {"worker": name, "state": state, "pid": None, "restarts": None, "stderr": stderr}


def number(name: str) -> int:
    """The number in a name: 7 for `worker-7`."""
    return int(name.rpartition("-")[2])
