"""The nodes of a Ray cluster that are there. Does not use Ray."""

import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

CONNECT_S = 2.0


def answering(nodes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of `ray.nodes()` that are alive and whose raylet takes a connection within 2 s.

    Ray lists a node that was lost without notice as alive for up to a minute.
    """
    alive = [node for node in nodes if node["Alive"]]
    with ThreadPoolExecutor(32) as threads:
        return [
            node for node, well in zip(alive, threads.map(_answers, alive), strict=True) if well
        ]


def _answers(node: Mapping[str, Any]) -> bool:
    where = (node["NodeManagerAddress"], node["NodeManagerPort"])
    try:
        socket.create_connection(where, timeout=CONNECT_S).close()
    except OSError:
        return False
    return True
