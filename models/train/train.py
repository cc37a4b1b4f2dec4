"""Trains the detector.

python models/train/train.py --out OUT --epochs 40 --size 320
python models/train/train.py --out OUT --resume
python models/train/train.py --out OUT2 --start OUT/last.pt --size 640 --epochs 10
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from added_labels import AddedBoxes, read_all_added
from augment import Strength
from average import WeightAverage
from batches import Batch, EpochBatches, Sides
from checkpoint import read_checkpoint, write_checkpoint
from dataset import CLASS_NAMES, PhotoStore, Source, training_sources
from distillation import SoftHead, SoftTeacher, soft_loss
from evaluate import judge
from loss import DetectionLoss, LossParts
from model import Detector
from schedule import learning_rate, make_optimiser
from threads import ThreadCount


@dataclass(frozen=True)
class Plan:
    """What a run does; stored in its checkpoints, so that --resume continues exactly this.

    size: input side in pixels. small_size, small_share: side of that share of the batches, which
    cost less; whole_photos: last share of the epochs without mosaic.
    forgive_after: share of the epochs after which confident unlabelled finds count less. negatives:
    vehicle-free pictures as a share of the epoch. photos: share of the weighted photos that an
    epoch draws. ramp: updates over which the average of the weights grows longer. frozen: so many of
    the five layers down to stride 8 stay as they are; all five save a third of a backward pass.
    overfit: train
    and judge on that many photos without augmentation, as a check of the code.
    """

    epochs: int = 40
    size: int = 320
    small_size: int = 416
    small_share: float = 0.0
    batch: int = 16
    rate: float = 0.0015
    decay: float = 0.02
    warm_up_epochs: float = 2.0
    whole_photos: float = 0.15
    forgive_after: float = 0.25
    negatives: float = 0.08
    photos: float = 1.0
    ramp: float = 1000.0
    frozen: int = 0
    window: float = 0.75
    soft: float = 1.0
    judge_every: int = 5
    seed: int = 7
    overfit: int = 0


class Training:
    """One run: owns the model, its average, the optimiser and the output folder."""

    def __init__(
        self,
        plan: Plan,
        sources: list[Source],
        out: Path,
        device: torch.device,
        threads: ThreadCount,
        added: dict[str, AddedBoxes],
        teacher: SoftTeacher | None = None,
    ):
        torch.manual_seed(plan.seed)
        self.threads = threads
        self.plan = plan
        self.sources = sources
        self.out = out
        self.device = device
        self.model = Detector(len(CLASS_NAMES)).to(device, memory_format=torch.channels_last)
        self.model.backbone.to_stride8[: plan.frozen].requires_grad_(False)
        self.average = WeightAverage(self.model, ramp=plan.ramp)
        self.teacher = teacher
        self.soft_head = SoftHead(self.model.head.class_width).to(device)
        self.optimiser = make_optimiser(self.model, plan.rate, plan.decay)
        # New layers, which start at nothing, may move faster.
        self.optimiser.add_param_group(
            {"params": self.soft_head.parameters(), "weight_decay": 0.0, "rate_factor": 20.0}
        )
        self.loss = DetectionLoss()
        self.bf16 = device.type == "cuda" or computes_bf16()
        self.epoch = 0
        self.taught = bool(added)
        # A fifth of spare resolution, so that enlarged tiles stay sharp.
        self.store = PhotoStore(sources, round(plan.size * 1.2), plan.overfit or None, added)

    def start_from(self, state: dict) -> None:
        """Takes the averaged weights of another run."""
        self.taught |= state.get("taught", False)
        if "soft_head" in state:
            self.soft_head.load_state_dict(state["soft_head"])
        self.model.load_state_dict(state["average"])
        self.average = WeightAverage(self.model, ramp=self.plan.ramp)

    def restore(self, state: dict) -> None:
        """Continues a run after its last finished epoch. Raises ValueError if it learned from other
        sets, or with soft labels and this one does not.
        """
        now = self._learns_from()
        before = state.get("learns_from", now)
        if before != now:
            raise ValueError(
                f"the run learned from {before}, it would go on with {now}: "
                "give the same --further, --extra and --teacher"
            )
        self.model.load_state_dict(state["model"])
        self.average.model.load_state_dict(state["average"])
        self.average.updates = state["updates"]
        self.soft_head.load_state_dict(state["soft_head"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.epoch = state["epoch"]

    def _learns_from(self) -> dict:
        return {"sets": [s.name for s in self.sources], "teacher": self.teacher is not None}

    def save(self) -> None:
        state = {
            "plan": asdict(self.plan),
            "names": list(CLASS_NAMES),
            "taught": self.taught,
            "learns_from": self._learns_from(),
            "epoch": self.epoch,
            "model": self.model.state_dict(),
            "average": self.average.model.state_dict(),
            "updates": self.average.updates,
            "soft_head": self.soft_head.state_dict(),
            "optimiser": self.optimiser.state_dict(),
        }
        write_checkpoint(self.out / "last.pt", state)

    def run(self) -> None:
        """Trains the remaining epochs; writes last.pt and a line of log.jsonl after each."""
        while self.epoch < self.plan.epochs:
            started = time.monotonic()
            record = {"epoch": self.epoch + 1, **self._train_epoch()}
            self.epoch += 1
            record["seconds"] = round(time.monotonic() - started, 1)
            self.save()
            if self.epoch % self.plan.judge_every == 0 or self.epoch == self.plan.epochs:
                record |= self._judge()
            self._log(record)

    def _train_epoch(self) -> dict[str, float]:
        batches = self._batches()
        self.model.train()
        self.model.backbone.to_stride8[: self.plan.frozen].eval()
        forgive = self.epoch >= self.plan.forgive_after * self.plan.epochs
        sums = dict.fromkeys(("loss", "soft", "box", "distribution", "classes", "forgiven"), 0.0)
        rate = 0.0
        for index, batch in enumerate(batches):
            step = self.epoch * len(batches) + index
            warm_up = round(self.plan.warm_up_epochs * len(batches))
            total = self.plan.epochs * len(batches)
            rate = learning_rate(step, total, warm_up, self.plan.rate)
            started = time.monotonic()
            parts, soft = self._step(batch, rate, forgive)
            self.threads.finish_step(time.monotonic() - started)
            sums["loss"] += float(parts.total.detach())
            sums["soft"] += soft
            for name in ("box", "distribution", "classes", "forgiven"):
                sums[name] += getattr(parts, name)
            if index % 50 == 0:
                done = f"epoch {self.epoch + 1} batch {index}/{len(batches)}"
                print(
                    f"{done} loss {sums['loss'] / (index + 1):.3f} soft {sums['soft'] / (index + 1):.3f}",
                    flush=True,
                )
        means = {name: round(value / len(batches), 4) for name, value in sums.items()}
        return {**means, "rate": round(rate, 7)}

    def _batches(self) -> EpochBatches:
        plan = self.plan
        strength = Strength(window=plan.window)
        sides = Sides(plan.size, plan.small_size, plan.small_share)
        if self.epoch >= plan.epochs * (1 - plan.whole_photos):
            strength = strength.without_mosaic()
            sides = replace(sides, share=0.0)
        if plan.overfit:
            strength = Strength((0, 0, 0), 0, 0, 0, 0, 0, 0, 0)
        negatives = 0.0 if plan.overfit else plan.negatives
        return EpochBatches(
            self.store,
            sides,
            plan.batch,
            strength,
            negatives,
            plan.seed,
            self.epoch,
            plan.photos,
        )

    def _step(self, batch: Batch, rate: float, forgive: bool) -> tuple[LossParts, float]:
        """One update; its loss, and the share of the soft labels."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group.get("rate_factor", 1.0)
        images = to_input(batch.images, self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
            levels = self.model.neck(self.model.backbone(images))
            class_features = self.model.head.class_features(levels)
            maps = self.model.head.maps(levels, class_features)
            soft_logits = self.soft_head(class_features) if self.teacher else []
        forgiving = ~batch.complete.to(self.device) if forgive else None
        objects, ignored = batch.objects.to(self.device), batch.ignored.to(self.device)
        parts = self.loss(maps, objects, forgiving, ignored)
        soft = torch.zeros(())
        if self.teacher:
            soft = self.plan.soft * soft_loss(soft_logits, self.teacher(batch.images))
        total = parts.total + soft
        if not torch.isfinite(total):
            raise RuntimeError(f"loss is not finite in epoch {self.epoch + 1}")
        self.optimiser.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
        self.optimiser.step()
        self.average.update(self.model)
        return parts, float(soft.detach())

    def _judge(self) -> dict[str, dict[str, float]]:
        started = time.monotonic()
        sources = self.sources[:1] if self.plan.overfit else self.sources
        part = "train" if self.plan.overfit else "valid"
        results = {
            source.name: {
                name: round(value, 4)
                for name, value in judge(
                    self.average.model, source, self.plan.size, part, self.plan.overfit or None
                ).items()
            }
            for source in sources
            if (source.folder / "images" / "valid").is_dir()
        }
        return {"judged": results, "judging_seconds": round(time.monotonic() - started, 1)}

    def _log(self, record: dict) -> None:
        line = json.dumps(record)
        print(line, flush=True)
        with (self.out / "log.jsonl").open("a") as file:
            file.write(line + "\n")


def computes_bf16() -> bool:
    """Whether the processor has bf16 instructions: they halve the time of a step, and without them
    it takes longer than in float32.
    """
    flags = Path("/proc/cpuinfo").read_text().split()
    return "avx512_bf16" in flags or "amx_bf16" in flags


def to_input(images: Tensor, device: torch.device) -> Tensor:
    """[B, H, W, 3] uint8 -> [B, 3, H, W] float 0 to 1, channels last in memory."""
    return images.to(device).permute(0, 3, 1, 2).float().div_(255)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/vehicles"))
    parser.add_argument("--out", type=Path, required=True, help="folder for last.pt and logs")
    parser.add_argument("--resume", action="store_true", help="continue OUT/last.pt")
    parser.add_argument(
        "--end", type=int, help="with --resume: end after this epoch, and the rate with it"
    )
    parser.add_argument("--start", type=Path, help="checkpoint whose weights to begin with")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--adapt-threads", action="store_true", help="use one thread while the machine is busy"
    )
    parser.add_argument(
        "--extra", action="append", default=[], metavar="FOLDER:WEIGHT",
        help="a further fully labelled set, for example renders",
    )  # fmt: skip
    parser.add_argument("--further", type=Path, help="folder of the sets of further_sets.py")
    parser.add_argument("--teacher", type=Path, help="YOLOX as ONNX: its soft labels are learned")
    for name, value in asdict(Plan()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "pid").write_text(f"{os.getpid()}\n")
    sources = training_sources(options.data, options.further)
    for item in options.extra:
        folder, _, weight = item.rpartition(":")
        sources.append(Source(Path(folder).name, Path(folder), float(weight), True))
    torch.set_flush_denormal(True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    threads = ThreadCount(options.threads, options.adapt_threads)
    plan = Plan(**{name: getattr(options, name) for name in asdict(Plan())})
    added = read_all_added()
    teacher = SoftTeacher(options.teacher, options.threads) if options.teacher else None
    last = options.out / "last.pt"
    if options.resume:
        state = read_checkpoint(last)
        plan = Plan(**state["plan"])
        plan = replace(plan, epochs=options.end or plan.epochs)
        training = Training(plan, sources, options.out, device, threads, added, teacher)
        training.restore(state)
    else:
        if last.exists():
            raise SystemExit(f"{last} exists: give --resume or another --out")
        training = Training(plan, sources, options.out, device, threads, added, teacher)
        if options.start:
            training.start_from(read_checkpoint(options.start))
    print(json.dumps(asdict(training.plan)), len(training.store), "photos", flush=True)
    training.run()


if __name__ == "__main__":
    main()
