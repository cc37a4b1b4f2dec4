"""What the answers of the service have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

Json = Mapping[str, Any]
R = TypeVar("R", bound="Record")


@dataclass(frozen=True, kw_only=True)
class Record:
    #: The JSON of the answer, also with fields that are newer than this client.
    raw: Json = field(repr=False, compare=False)

    @classmethod
    def read(cls: type[R], raw: Json) -> R:
        """Each field has the value of its name; lists become tuples."""
        known = [each for each in fields(cls) if each.name in raw]
        return cls(raw=raw, **{each.name: _read(each.metadata, raw[each.name]) for each in known})

    @classmethod
    def read_or_none(cls: type[R], raw: Json | None) -> R | None:
        return None if raw is None else cls.read(raw)


def read_as(record: type[Record]) -> Json:
    """The metadata of a field that is such a record, or None."""
    return {"read": record.read_or_none}


def _read(metadata: Mapping[str, Any], value: Any) -> Any:
    if "read" in metadata:
        return metadata["read"](value)
    return tuple(value) if isinstance(value, list) else value
