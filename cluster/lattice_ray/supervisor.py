"""Keeps one child process running. Does not use Ray."""

import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from lattice_ray.restart_policy import RestartPolicy

# As text: Ray sends the class to nodes where this package may not be installed.
LAUNCHER = Path(__file__).with_name("launch.py").read_text(encoding="utf-8")

#: Exit code of a child whose GPU is lost: a restart on this node does not help.
GPU_LOST = 69

STDERR_LINES = 20
LINE_LENGTH = 500


def unconnected(lines: Sequence[str]) -> list[str]:
    """Why a running child has no service: of its lines of output the last about its connection, if that says so."""
    told = [line for line in lines if line.startswith(("connected to ", "not connected to "))]
    return [line for line in told[-1:] if line.startswith("not ")]


class Supervisor:
    """Starts a command, restarts it when it dies, and stops it. The child never outlives the thread in `run`.

    States: `starting`, `running`, `backoff` (waits before the next start), `crashloop` (no further start: it dies
    at its start), `draining` (told to stop), `stopped`, `gpu_lost`.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: dict[str, str],
        policy: RestartPolicy | None = None,
    ) -> None:
        self._command = list(command)
        self._env = env
        self._policy = policy or RestartPolicy()
        self._lock = threading.Lock()  # guards the child and the state
        self._stop_asked = threading.Event()
        self._ended = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._state = "starting"
        self._starts = 0
        self._started_at = 0.0
        self._last_exit: int | None = None
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)

    def run(self) -> str:
        """Supervises until a stop, a crash loop or the loss of the GPU; returns that last state.

        Starts the child and waits in the calling thread: the kernel kills the child when that thread ends.
        """
        try:
            while True:
                code = self._one_life()
                if code is None:
                    return self._enter("stopped")
                if self._stop_asked.is_set():
                    return self._enter("stopped")
                if code == GPU_LOST:
                    return self._enter("gpu_lost")
                delay = self._policy.after_death(time.monotonic() - self._started_at)
                if delay is None:
                    return self._enter("crashloop")
                self._enter("backoff")
                if self._stop_asked.wait(delay):
                    return self._enter("stopped")
        finally:
            self._ended.set()

    def stop(self, grace_s: float) -> None:
        """Sends SIGTERM to the child and kills it after `grace_s` seconds. It is not restarted."""
        with self._lock:
            self._stop_asked.set()
            child = self._child
            if self._state in ("starting", "running"):
                self._state = "draining"
            if child is not None:
                child.terminate()
        if child is None or self._ended.wait(grace_s):
            return
        child.kill()
        self._ended.wait(5.0)

    def view(self) -> dict[str, object]:
        """The state for `status`. Without a child `pid` and `life_s` are None; a negative `last_exit` is a signal."""
        with self._lock:
            alive = self._child is not None
            return {
                "state": self._state,
                "pid": self._child.pid if self._child else None,
                "restarts": max(0, self._starts - 1),
                "last_exit": self._last_exit,
                "life_s": round(time.monotonic() - self._started_at, 3) if alive else None,
                "stderr": list(self._stderr),
            }

    def _one_life(self) -> int | None:
        """Runs one child. Returns its exit code, or None if a stop came before its start."""
        with self._lock:
            if self._stop_asked.is_set():
                return None
            launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(os.getpid())]
            # Only this process holds the other end of its stdin: the pipe closes however this process ends.
            child = subprocess.Popen(
                [*launcher, *self._command],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._env,
            )
            self._child = child
            self._starts += 1
            self._started_at = time.monotonic()
            self._state = "running"
        assert child.stderr is not None and child.stdin is not None
        reader = threading.Thread(target=self._keep_lines, args=(child.stderr,), daemon=True)
        reader.start()
        code = child.wait()
        child.stdin.close()
        reader.join(0.2)  # a grandchild may still hold the pipe
        with self._lock:
            self._child = None
            self._last_exit = code
        return code

    def _keep_lines(self, pipe: IO[bytes]) -> None:
        """Keeps the last lines and writes all lines to the log of this process."""
        with pipe:
            for raw in iter(lambda: pipe.readline(64_000), b""):
                line = raw.decode("utf-8", "replace").rstrip()
                with self._lock:
                    self._stderr.append(line[:LINE_LENGTH])
                print(line, file=sys.stderr, flush=True)

    def _enter(self, state: str) -> str:
        with self._lock:
            self._state = state
        return state
