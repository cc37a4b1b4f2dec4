"""The installed Python client against a running service, which is killed and restarted while it waits.

`live.py SERVICE PROXY PICTURE OWN_MODEL`: prints one JSON object per line, `running` first and then `done`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from pathlib import Path
from typing import Any

from lattice_client import (
    AsyncLattice,
    ImageResult,
    JobStatus,
    Lattice,
    ServiceError,
)
from PIL import Image


def say(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def boxes(found: ImageResult) -> list[Any]:
    return [
        [each.class_name, round(each.confidence, 5), *each.box]
        for each in found.detections
    ]


async def wait_too(url: str, job_id: str) -> str:
    async with AsyncLattice(base_url=url) as lattice:
        return (await lattice.wait(job_id, timeout=60)).status


def watched(lattice: Lattice) -> list[Any]:
    lattice.add_watch("gate", ["gate"], job_type="detect_cars", paused=True)
    changed = lattice.change_watch("gate", settle_ms=2_000)
    names = [each.name for each in lattice.watches()]
    lattice.delete_watch("gate")
    try:
        lattice.watch("gate")
    except ServiceError as error:
        return [changed.state, changed.raw["settle_ms"], names, error.code]
    return []


def parked(lattice: Lattice) -> list[Any]:
    job = lattice.submit(["lot"], job_type="detect_vehicles", tags=["lot"])
    lattice.wait(job, timeout=60)
    run = "Report of a run" in lattice.report_of("lot")
    places = lattice.places(tag="lot", occupied=True)["places"]
    none = lattice.places(tag="lot", region="none")["places"]
    stays = lattice.places_csv(tag="lot").splitlines()[1:]

    def counted() -> int:
        return int(lattice.counts_of(tag="lot")["total"]["detections"])

    before = counted()
    best = places[0]["best_image"]
    place = (best["job_id"], best["index"], places[0]["class"], places[0]["box"])
    dismissal = lattice.dismiss_place(*place)
    ids = [each.id for each in lattice.dismissals()]
    after = counted()
    lattice.delete_dismissal(dismissal.id)
    dismissed = [ids == [dismissal.id], before - after, counted() - after]
    return [run, len(places), len(none), len(stays), dismissed]


def tried(lattice: Lattice, model: str) -> list[Any]:
    lattice.put_alias("depot", model, shadow="yolov8n")
    promoted = lattice.promote_alias("depot")
    back = lattice.roll_back_alias("depot")
    agreement = lattice.alias_agreement("depot")
    names = [each.name for each in lattice.aliases()]
    lattice.delete_alias("depot")
    return [promoted.model, back.model, back.shadow, agreement.flagged, names]


async def watched_too(url: str) -> list[Any]:
    async with AsyncLattice(base_url=url) as lattice:
        await lattice.add_watch("door", ["door"], job_type="detect_cars", paused=True)
        names = [each.name for each in await lattice.watches()]
        changed = await lattice.change_watch("door", settle_ms=2_000)
        again = await lattice.watch("door")
        await lattice.delete_watch("door")
        return [changed.raw["settle_ms"], again.state, names]


def main(url: str, proxy: str, picture: Path, own_model: str) -> None:
    lattice = Lattice(base_url=url)
    ways = {
        "path": picture.name,
        "file": picture,
        "bytes": picture.read_bytes(),
        "pillow": Image.open(picture),
    }
    found = {way: lattice.detect(image) for way, image in ways.items()}
    own = lattice.detect(
        picture, model_name=own_model, classes=["car_ahead", "STOP_SIGN"]
    )

    with Lattice(base_url=proxy) as broken:
        job = broken.submit(
            ["large.png"] * 16 + ["absent.png"], job_type="batch_detect"
        )
    told = threading.Event()

    def tell(status: JobStatus) -> None:
        if status.finished_images > 0 and not told.is_set():
            told.set()
            say(event="running", job_id=job.job_id)

    also: list[str] = []
    thread = threading.Thread(
        target=lambda: also.append(asyncio.run(wait_too(url, job.job_id)))
    )
    thread.start()
    ended = lattice.wait(job, timeout=60, progress=tell)
    thread.join()
    result = lattice.result(job)
    counted = lattice.counts(job, "day")
    again = lattice.retry(job)
    other = lattice.retry(job, images="all", model_name=own_model)
    lattice.wait(other, timeout=60)
    agreement = lattice.agreement(job, other)
    say(
        event="done",
        boxes={way: boxes(each) for way, each in found.items()},
        names=[each.image_path for each in found.values()],
        own={"model": own.model, "counts": own.class_counts},
        statuses=[ended.status, *also],
        counts=[ended.finished_images, ended.failed_images],
        paths=[image.image_path for image in result.images],
        errors=[image.error.code for image in result.images if image.error],
        totals=sorted({image.total_count for image in result.images if image.ok}),
        streamed=[image.image_path for image in lattice.iter_results(job)],
        rows=len(result.to_pandas()),
        counted=[counted["total"]["images"], counted["total"]["detections"]],
        csv=lattice.counts_csv(job, "folder").splitlines()[1],
        zipped=[len(lattice.pictures(job, kind)) > 100 for kind in ("drawn", "covered", "crops")],
        page=lattice.report(job).startswith("<!doctype html>"),
        events=lattice.counts(job, "event", event_gap_s=0, camera="all")["by"],
        standing=lattice.counts(job, "day", static="only")["total"]["detections"],
        retried=[lattice.wait(again).status, again.retry_of],
        agreed=[agreement.images, agreement.share, agreement.all.flipped],
        tried=tried(lattice, own_model),
        jobs=[each.job_id for each in lattice.jobs()],
        drawn=lattice.draw(found["file"], picture).size,
        watched=asyncio.run(watched_too(url)),
        watches=watched(lattice),
        parked=parked(lattice),
        usage=[each["quota"] for each in lattice.usage()["keys"][0]["quotas"]],
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])
