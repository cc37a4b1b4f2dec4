"""Whose workers a Ray namespace has: the service at which they connect. Does not use Ray."""

import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterable

#: A service that is being started again answers within this time.
PATIENCE_S = 20.0
ANSWER_S = 3.0
POLL_S = 0.5


def owner_refusal(owners: Iterable[object], service: str) -> str | None:
    """A sentence when one of the owners is another service; None when all are `service` or None."""
    others = set(owners) - {None, service}
    if not others:
        return None
    return (
        f"The workers of this namespace belong to the service at {min(map(str, others))}: set LATTICE_RAY_NAMESPACE "
        "(--namespace) to another name, or take them over with `up --take-over`."
    )


def is_there(service: str, patience_s: float = PATIENCE_S) -> bool:
    """Whether the service answers within that time, at the address that its workers use."""
    deadline = time.monotonic() + patience_s
    while not _answers(service):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def _answers(service: str) -> bool:
    # Whether something answers does not depend on who signed its certificate.
    unverified = ssl.create_default_context()
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=unverified)
    )
    url = re.sub("^ws", "http", service).rstrip("/") + "/healthz"
    try:
        opener.open(url, timeout=ANSWER_S).close()
    except urllib.error.HTTPError as error:
        return error.code < 500  # a proxy without its service answers 502 or 503
    except (OSError, http.client.HTTPException):
        return False
    return True
