"""The actor: owns one child process on the node where Ray placed it."""

import logging
import os
import threading
import time

import ray

from lattice_ray.settings import Settings, Share, child_environment
from lattice_ray.supervisor import GPU_LOST, Supervisor

#: A GPU lost so soon after the actor's start may be the same one again: without a pause Ray would go round and round.
SOON_S = 60.0
PAUSE_S = 10.0


class Worker:
    """Starts its child at once and keeps it running.

    The constructor only starts a thread: an exception in it would make the actor dead for ever.
    """

    def __init__(self, name: str, digest: str, settings: Settings, share: Share) -> None:
        self._name = name
        self._digest = digest
        self._settings = settings
        self._share = share
        self._supervisor: Supervisor | None = None
        self._started_at = time.monotonic()
        self._failure = ""
        self._draining = False
        self._lock = threading.Lock()
        threading.Thread(target=self._supervise, name="supervise", daemon=True).start()

    def view(self) -> dict[str, object]:
        """State of the child and where it is; see Supervisor.view."""
        supervisor = self._supervisor
        if supervisor is not None:
            view = supervisor.view()
        else:
            stderr = [self._failure] if self._failure else []
            state = "failed" if self._failure else "starting"
            view = {"state": state, "pid": None, "restarts": 0, "last_exit": None, "stderr": stderr}
        return {
            "worker": self._name,
            **view,
            "node": ray.get_runtime_context().get_node_id(),
            "actor_pid": os.getpid(),
            "gpus": ray.get_gpu_ids(),
            "digest": self._digest,
        }

    def drain(self, grace_s: float) -> None:
        """The child finishes what it has and leaves; killed after `grace_s` seconds. It is not started again."""
        with self._lock:
            self._draining = True
            supervisor = self._supervisor
        if supervisor is not None:
            supervisor.stop(grace_s)

    def _supervise(self) -> None:
        try:
            node = ray.get_runtime_context().get_node_id()
            env = child_environment(os.environ, self._settings, self._name, node, self._share)
            with self._lock:
                if self._draining:
                    return
                self._supervisor = Supervisor(self._settings.command, env)
            if self._supervisor.run() == "gpu_lost":
                self._leave_node()
        except Exception as error:
            logging.exception("the worker's supervisor failed")
            self._failure = f"{type(error).__name__}: {error}"
            self._supervisor = None

    def _leave_node(self) -> None:
        """Ends the actor as a crash does, so that Ray places it anew."""
        if time.monotonic() - self._started_at < SOON_S:
            time.sleep(PAUSE_S)
        os._exit(GPU_LOST)
