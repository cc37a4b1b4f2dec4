"""The actor. It owns one child process on the node where Ray placed it."""

import logging
import os
import threading
import time

import ray

from lattice_ray.settings import Settings, Share, child_environment
from lattice_ray.supervisor import GPU_LOST, Supervisor

#: A GPU that is lost so soon may be the same one again: without a pause Ray would place the actor in a tight loop.
SOON_S = 60.0
PAUSE_S = 10.0


class Worker:
    """Starts its child at once and keeps it running.

    The constructor only starts a thread: Ray does not restart an actor whose constructor raised an exception.
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
        """State and place of the child; see Supervisor.view."""
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
            "service": self._settings.service,
        }

    def drain(self, grace_s: float) -> None:
        """Lets the child finish the images in hand; kills it after `grace_s` seconds. It is not restarted."""
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
        """Ends the actor like a crash, so that Ray places it again."""
        if time.monotonic() - self._started_at < SOON_S:
            time.sleep(PAUSE_S)
        os._exit(GPU_LOST)
