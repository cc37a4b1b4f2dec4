"""What listens at a port, told from the first bytes it answers, without Ray and without gRPC."""

from __future__ import annotations

import os
import socket
from typing import Literal

from .no_answer import speaks_tls
from .settings import Address

Speech = Literal["http2", "http1", "tls", "silent", "closed", "other"]

# RFC 9113, section 3.4: the client opens with this text and a SETTINGS frame, here an empty one (length 0, type 4).
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_FRAME_HEAD = 9
_SETTINGS = 4


def speech_of(address: Address, seconds: float) -> Speech:
    """What the port speaks; `http2` is what gRPC runs on. Raises `OSError` when nothing can be connected to."""
    with socket.create_connection((address.host, address.port), timeout=seconds) as connection:
        connection.settimeout(seconds)
        if os.environ.get("RAY_USE_TLS") == "1":
            return "http2" if speaks_tls(address, seconds) else "other"
        try:
            connection.sendall(_PREFACE)
            head = _read(connection, _FRAME_HEAD)
        except TimeoutError:
            return "silent"
        except OSError:
            head = b""
    if len(head) == _FRAME_HEAD and head[3] == _SETTINGS:
        return "http2"
    # Some web servers leave out the status line when they did not understand the request.
    if head.startswith((b"HTTP/1", b"<")):
        return "http1"
    if speaks_tls(address, seconds):
        return "tls"
    return "other" if head else "closed"


def _read(connection: socket.socket, count: int) -> bytes:
    """Up to `count` bytes; fewer when the other side closes."""
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            break
        data += more
    return data
