"""Aliases of models, and how well two models agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .answers import AgreementCounts
from .record import Json


@dataclass(frozen=True)
class Alias:
    """A name that stands for a model."""

    name: str
    #: Raised by every change.
    version: int
    #: The one that answers.
    model: str
    #: A model on trial, and the share of the requests that it answers, 0 to 1.
    canary: tuple[str, float] | None
    #: A model that looks at the same pictures and answers none.
    shadow: str | None
    #: The version that a rollback goes back to; None where there is none.
    before: int | None
    #: Unix time in seconds, of this version.
    stored_at: float
    raw: Json = field(repr=False, compare=False)

    @classmethod
    def read(cls, raw: Json) -> Alias:
        canary = raw["canary"]
        return cls(
            name=raw["name"],
            version=raw["version"],
            model=raw["model"],
            canary=None if canary is None else (canary["model"], canary["share"]),
            shadow=raw["shadow"],
            before=raw.get("before"),
            stored_at=raw["stored_at"],
            raw=raw,
        )


@dataclass(frozen=True)
class Agreement:
    """The boxes of two models on the same images: of an alias and its shadow, or of two jobs."""

    #: Images that both have looked at.
    images: int
    #: Of the boxes of both, those in one place and of one class, 0 to 1; 1 without a box.
    share: float
    all: AgreementCounts
    by_class: Mapping[str, AgreementCounts]
    by_size: Mapping[str, AgreementCounts]
    #: The images that agree least: `image_path`, `share`, `gained`, `lost` and `flipped`; of jobs also their places.
    least: tuple[Mapping[str, Any], ...]
    #: Of the boxes of the latest images of a shadow, as `share`; None while they are too few to judge, and for jobs.
    latest_share: float | None
    #: That is less than it should be; None for jobs.
    flagged: bool | None
    raw: Json = field(repr=False, compare=False)

    @classmethod
    def read(cls, raw: Json) -> Agreement:
        counts = raw.get("image_counts")
        return cls(
            images=raw["images"] if counts is None else counts["compared"],
            share=raw["share"],
            all=AgreementCounts.read(raw["all"]),
            by_class={row["of"]: AgreementCounts.read(row) for row in raw["by_class"]},
            by_size={row["of"]: AgreementCounts.read(row) for row in raw["by_size"]},
            least=tuple(raw["least"]),
            latest_share=raw.get("latest_share"),
            flagged=raw.get("flagged"),
            raw=raw,
        )
