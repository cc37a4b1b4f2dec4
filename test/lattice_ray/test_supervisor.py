import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Callable
from pathlib import Path

from lattice_ray.restart_policy import RestartPolicy
from lattice_ray.supervisor import GPU_LOST, Supervisor, unconnected

ENV = {"PATH": os.environ["PATH"]}
SLEEPER = ["sleep", "1000"]



class Connection(unittest.TestCase):
    def test_the_last_line_about_it_counts(self) -> None:
        lost = "not connected to ws://s:8000: refused"
        self.assertEqual(unconnected([lost, "a warning"]), [lost])
        self.assertEqual(unconnected([lost, "connected to ws://s:8000"]), [])
        self.assertEqual(unconnected(["a warning"]), [])


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def until(met: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not met():
        if time.monotonic() > deadline:
            raise AssertionError("not met in time")
        time.sleep(0.005)


def alive(pid: int) -> bool:
    """Not for one that has ended and waits to be reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


class Running:
    """A supervisor at work in a thread of its own, stopped at the end."""

    def __init__(self, command: list[str], policy: RestartPolicy | None = None) -> None:
        self.supervisor = Supervisor(command, ENV, policy)
        self.last = ""
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        self.last = self.supervisor.run()

    def __enter__(self) -> "Running":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.supervisor.stop(0)
        self.thread.join(5)

    def __getitem__(self, key: str) -> object:
        return self.supervisor.view()[key]

    def pid(self) -> int:
        """Of the command itself, once the launcher has become it."""

        def became() -> bool:
            pid = self["pid"]
            if not isinstance(pid, int):
                return False
            return b"PR_SET_PDEATHSIG" not in Path(f"/proc/{pid}/cmdline").read_bytes()

        until(became)
        pid = self["pid"]
        assert isinstance(pid, int)
        return pid


class Restarting(unittest.TestCase):
    def test_a_killed_child_is_started_at_once(self) -> None:
        with Running(SLEEPER) as running:
            first = running.pid()
            start = time.monotonic()
            os.kill(first, signal.SIGKILL)
            until(lambda: running["restarts"] == 1 and running["pid"] not in (None, first))
            self.assertLess(time.monotonic() - start, 1.0)
            self.assertEqual(running["last_exit"], -signal.SIGKILL)
            self.assertEqual(running["state"], "running")

    def test_a_second_death_waits(self) -> None:
        with Running(SLEEPER, RestartPolicy(first_s=0.3)) as running:
            for _ in range(2):
                os.kill(running.pid(), signal.SIGKILL)
                until(lambda: running["last_exit"] is not None)
            until(lambda: running["state"] == "backoff")
            start = time.monotonic()
            until(lambda: running["restarts"] == 2)
            self.assertGreater(time.monotonic() - start, 0.1)

    def test_quick_deaths_end_in_a_crash_loop_with_the_last_words(self) -> None:
        code = "import sys; [print('line', n, file=sys.stderr) for n in range(30)]; sys.exit(3)"
        with Running(python(code), RestartPolicy(first_s=0.01)) as running:
            until(lambda: running["state"] == "crashloop")
            running.thread.join(5)
            self.assertEqual(running["restarts"], 4)
            self.assertEqual(running["last_exit"], 3)
            stderr = running["stderr"]
            assert isinstance(stderr, list)
            self.assertEqual(stderr, [f"line {n}" for n in range(10, 30)])

    def test_a_command_that_is_not_there(self) -> None:
        with Running(["/no/such/program"], RestartPolicy(first_s=0.01)) as running:
            until(lambda: running["state"] == "crashloop")
            self.assertEqual(running["last_exit"], 127)
            self.assertIn(
                "/no/such/program cannot be started: No such file or directory.",
                str(running["stderr"]),
            )

    def test_a_lost_gpu_is_left_to_the_caller(self) -> None:
        with Running(python(f"raise SystemExit({GPU_LOST})")) as running:
            running.thread.join(5)
            self.assertEqual(running.last, "gpu_lost")
            self.assertEqual(running["restarts"], 0)

    def test_output_that_is_never_read_elsewhere_does_not_block_the_child(self) -> None:
        code = "import sys; sys.stderr.write('x' * 3_000_000); sys.stderr.flush(); sys.exit(5)"
        with Running(python(code), RestartPolicy(limit=1)) as running:
            running.thread.join(10)
            self.assertEqual(running.last, "crashloop")
            self.assertTrue(all(len(line) <= 500 for line in running.supervisor.view()["stderr"]))


class Stopping(unittest.TestCase):
    def test_a_child_that_drains(self) -> None:
        code = (
            "import signal, sys, time\n"
            "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.3), sys.exit(0)))\n"
            "print('ready', file=sys.stderr, flush=True)\n"
            "time.sleep(1000)"
        )
        with Running(python(code)) as running:
            until(lambda: running["stderr"] == ["ready"])
            start = time.monotonic()
            running.supervisor.stop(5)
            self.assertTrue(0.25 < time.monotonic() - start < 3)
            running.thread.join(5)
            self.assertEqual((running.last, running["last_exit"]), ("stopped", 0))

    def test_a_child_that_does_not_listen_is_killed_after_the_grace(self) -> None:
        code = (
            "import signal, sys, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "print('ready', file=sys.stderr, flush=True)\n"
            "time.sleep(1000)"
        )
        with Running(python(code)) as running:
            until(lambda: running["stderr"] == ["ready"])
            pid = running.pid()
            running.supervisor.stop(0.2)
            running.thread.join(5)
            self.assertEqual(running["last_exit"], -signal.SIGKILL)
            self.assertFalse(alive(pid))

    def test_during_the_back_off(self) -> None:
        policy = RestartPolicy(first_s=100, longest_s=100)
        with Running(python("raise SystemExit(1)"), policy) as running:
            until(lambda: running["restarts"] == 1 and running["state"] == "backoff")
            running.supervisor.stop(5)
            running.thread.join(2)
            self.assertEqual(running.last, "stopped")

    def test_before_the_start_and_twice(self) -> None:
        supervisor = Supervisor(SLEEPER, ENV)
        supervisor.stop(0)
        supervisor.stop(0)
        self.assertEqual(supervisor.run(), "stopped")
        self.assertIsNone(supervisor.view()["pid"])


class Guards(unittest.TestCase):
    """The child never outlives its supervisor; each guard works without the other."""

    def parent(self, command: list[str]) -> tuple[subprocess.Popen[str], int]:
        """A process that supervises `command`, and the pid of the child."""
        code = (
            "import os, sys, threading, time\n"
            "from lattice_ray.supervisor import Supervisor\n"
            "supervisor = Supervisor(sys.argv[1:], dict(os.environ))\n"
            "threading.Thread(target=supervisor.run, daemon=True).start()\n"
            "while not supervisor.view()['stderr']: time.sleep(0.01)\n"
            "print(supervisor.view()['stderr'][0], flush=True)\n"
            "time.sleep(1000)"
        )
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", code, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        self.addCleanup(process.stdout.close)
        return process, int(process.stdout.readline())

    def dies_with_parent(self, code: str) -> None:
        process, child = self.parent(python(code))
        self.assertTrue(alive(child))
        process.kill()
        process.wait(5)
        until(lambda: not alive(child), 3)

    def test_one_that_ignores_its_stdin(self) -> None:
        self.dies_with_parent(
            "import os, sys, time\nprint(os.getpid(), file=sys.stderr, flush=True)\ntime.sleep(1000)"
        )

    def test_a_grandchild_that_the_kernel_does_not_kill(self) -> None:
        self.dies_with_parent(
            "import os, sys\n"
            "if os.fork(): os.waitpid(-1, 0)\n"
            "os.setsid()\n"
            "print(os.getpid(), file=sys.stderr, flush=True)\n"
            "sys.stdin.read()"
        )

    def test_no_signal_is_blocked_or_ignored(self) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        self.addCleanup(signal.pthread_sigmask, signal.SIG_SETMASK, before)
        # Not Python: it ignores SIGPIPE itself.
        shell = ["sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status >&2; exec sleep 1000"]
        with Running(shell) as running:
            until(lambda: len(running.supervisor.view()["stderr"]) == 2)
            masks = [line.split()[1] for line in running.supervisor.view()["stderr"]]
            self.assertEqual(masks, ["0" * 16, "0" * 16])


if __name__ == "__main__":
    unittest.main()
