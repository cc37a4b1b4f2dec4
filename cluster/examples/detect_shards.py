"""Boxes of many photos, offline, by Ray Data: no service, no jobs, one file of boxes per shard.

    python detect_shards.py /srv/photos /srv/boxes --address auto

Photos and boxes lie on a volume that every node mounts at the same path. Each task of Ray Data runs
`lattice detect --format ndjson` on one shard of photos and writes OUTPUT/shard-N.ndjson, a line per photo
in their order. The file gets its name when it is complete: a task that Ray repeats, or a second run of the
same command on the same photos, does no shard twice and loses none.
"""

import argparse
import json
import shlex
import subprocess
import uuid
from pathlib import Path

import ray

SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff"}
#: Exit codes of `lattice detect` after which the boxes are complete: all photos done, or some of them failed, each with
#: its reason in its line; none done.
COMPLETE = (0, 3, 1)


def photos_in(folder):
    """Paths below a folder, in a stable order."""
    return sorted(str(path) for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)


def shards_of(photos, size, output):
    """One row per shard: the file of its boxes, and its photos."""
    return [
        {"file": str(output / f"shard-{at // size:06d}.ndjson"), "photos": photos[at : at + size]}
        for at in range(0, len(photos), size)
    ]


def detect_shard(shard, command):
    """Runs on a node. Returns the file, and the counts of photos and of failed ones. Raises when there are no boxes."""
    file = Path(shard["file"])
    # Ray may repeat a task while a node that it took for lost still runs it.
    part = file.with_suffix(f".{uuid.uuid4().hex}.part")
    photos = list(shard["photos"])
    ended = subprocess.run(
        [*command, "--format", "ndjson", "--output", str(part), "--", *photos],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = part.read_text("utf-8").splitlines() if ended.returncode in COMPLETE else []
    if len(lines) != len(photos):
        raise RuntimeError(f"{file}: exit code {ended.returncode}: {ended.stderr[-2000:]}")
    part.replace(file)
    failed = sum(json.loads(line)["status"] != "ok" for line in lines)
    return {"file": str(file), "photos": len(lines), "failed": failed}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("photos", type=Path, help="folder of the photos")
    parser.add_argument("output", type=Path, help="folder of the boxes")
    parser.add_argument(
        "--address", help="of the cluster, or auto; default: a Ray of this machine alone"
    )
    parser.add_argument("--shard-size", type=int, default=1000, help="photos per shard (1000)")
    parser.add_argument("--cpus", type=int, default=4, help="CPUs per shard in work (4)")
    parser.add_argument("--gpus", type=float, default=0, help="GPUs per shard in work (0)")
    parser.add_argument(
        "--command",
        default="node /opt/lattice-core/dist/cli/lattice.js detect",
        help="the command on the nodes, with its own options such as --model",
    )
    return parser.parse_args()


def main():
    given = arguments()
    output = given.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    photos = photos_in(given.photos.resolve())
    shards = shards_of(photos, given.shard_size, output)
    left = [shard for shard in shards if not Path(shard["file"]).exists()]
    print(f"{len(photos)} photos in {len(shards)} shards, {len(left)} of them to do")
    if not left:
        return
    ray.init(address=given.address, log_to_driver=False)
    command = [*shlex.split(given.command), "--threads", str(given.cpus)]
    done = ray.data.from_items(left, override_num_blocks=len(left)).map(
        detect_shard, fn_kwargs={"command": command}, num_cpus=given.cpus, num_gpus=given.gpus
    )
    failed = 0
    for shard in done.iter_rows():
        failed += shard["failed"]
        print(f"{shard['file']}: {shard['photos']} photos, {shard['failed']} failed", flush=True)
    print(f"done; {failed} photos failed, their lines say why")


if __name__ == "__main__":
    main()
