"""Starts the worker process: run as `python -I -S -c <this text> PARENT COMMAND...`.

It is a separate program because the actor has many threads: code between fork and exec could wait for ever for a lock
that another thread held.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def launch(parent: int, command: list[str]) -> None:
    """Replaces this process by `command`, which dies with `parent` and blocks or ignores no signal."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the line above took effect
        os._exit(1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}.", file=sys.stderr, flush=True)
        os._exit(127)


if __name__ == "__main__":
    launch(int(sys.argv[1]), sys.argv[2:])
