"""Turns a fresh process into the worker's: run as `python -I -S -c <this text> PARENT COMMAND...`.

A process of its own because the actor has many threads: code run between fork and exec could wait for ever on a lock
that one of them held.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def launch(parent: int, command: list[str]) -> None:
    """Becomes `command`; it dies with `parent`, and no signal is blocked or ignored in it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above took effect
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
