"""The token of a cluster that runs with `RAY_AUTH_MODE=token`."""

from __future__ import annotations

import os
from pathlib import Path

from .faults import SetupError
from .settings import Settings

#: Where Ray itself looks for it.
_RAYS_OWN_FILE = Path("~/.ray/auth_token")


def ray_token(settings: Settings) -> str | None:
    """From LATTICE_RAY_TOKEN_FILE, else from where Ray takes it. Raises `SetupError` for a file that cannot be read."""
    if settings.token_file is not None:
        try:
            return settings.token_file.read_text().strip()
        except OSError as error:
            raise SetupError(
                f"LATTICE_RAY_TOKEN_FILE is {settings.token_file}, which cannot be read ({error.strerror}): "
                "set it to a file with the cluster's token."
            ) from None
    own = os.environ.get("RAY_AUTH_TOKEN", "").strip()
    if own:
        return own
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or _RAYS_OWN_FILE).expanduser()
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def give_token_to_ray(settings: Settings) -> None:
    """Ray reads its environment when it is imported: call this before."""
    if settings.token_file is None:
        return
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_AUTH_TOKEN_PATH"] = str(settings.token_file)
    os.environ.pop("RAY_AUTH_TOKEN", None)  # Ray would prefer it


def authorization(settings: Settings) -> dict[str, str]:
    """The header for calls to the cluster; empty without a token."""
    token = ray_token(settings)
    return {} if token is None else {"authorization": f"Bearer {token}"}
