"""Lets every process wait that opens the folder or a file right in it, as a network volume does whose server is gone.

Says "held" once it does, or why it cannot, and lets go when its input ends.
"""

import ctypes
import os
import sys

FAN_CLASS_CONTENT = 0x4
FAN_MARK_ADD = 0x1
FAN_OPEN_PERM = 0x10000
FAN_EVENT_ON_CHILD = 0x08000000
FAN_ONDIR = 0x40000000
AT_FDCWD = -100

libc = ctypes.CDLL(None, use_errno=True)
events = FAN_OPEN_PERM | FAN_EVENT_ON_CHILD | FAN_ONDIR
group = libc.fanotify_init(FAN_CLASS_CONTENT, os.O_RDONLY)
marked = group >= 0 and not libc.fanotify_mark(
    group, FAN_MARK_ADD, ctypes.c_uint64(events), AT_FDCWD, os.fsencode(sys.argv[1])
)
print("held" if marked else os.strerror(ctypes.get_errno()), flush=True)
sys.stdin.read()
