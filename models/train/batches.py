"""Batches of augmented samples, prepared on a thread beside the network."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from added_labels import IGNORED
from assigner import Objects
from augment import Sample, Strength, augment
from backgrounds import empty_crop, rendered_background
from dataset import Photo, PhotoStore
from pasting import paste_beside


@dataclass(frozen=True)
class Batch:
    """images: [B, side, side, 3] uint8 RGB. ignored: places left out of the loss. complete: [B]
    bool, whether no label lacks.
    """

    images: Tensor
    objects: Objects
    ignored: Objects
    complete: Tensor


@dataclass(frozen=True)
class Sides:
    """Sides of input pictures in pixels: `share` of the batches are `small`, the others `full`."""

    full: int
    small: int
    share: float


class EpochBatches:
    """The batches of one epoch. Seed and epoch decide them, whatever ran before."""

    def __init__(
        self,
        store: PhotoStore,
        sides: Sides,
        batch_size: int,
        strength: Strength,
        negatives: float,
        seed: int,
        epoch: int,
        photos: float = 1.0,
    ):
        """negatives: vehicle-free pictures added, as a share of the epoch's photos. photos: share
        of the store's weighted photos that the epoch draws.
        """
        self.store = store
        self.batch_size = batch_size
        self.strength = strength
        self.seed = seed
        self.epoch = epoch
        random = np.random.default_rng((seed, epoch))
        order = store.epoch_order(random)
        order = order[: round(len(order) * photos)]
        empties = np.full(round(len(order) * negatives), -1)
        self.order = random.permutation(np.concatenate((order, empties)))
        small = random.random(len(self)) < sides.share
        self.full = sides.full
        self.sides = np.where(small, sides.small, sides.full).tolist()

    def __len__(self) -> int:
        return max(1, len(self.order) // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        """Prepares four batches ahead on one thread; its failure is raised here."""
        ready: queue.Queue[Batch | BaseException] = queue.Queue()
        room = threading.Semaphore(4)
        stopped = threading.Event()

        def prepare() -> None:
            try:
                for index in range(len(self)):
                    room.acquire()
                    if stopped.is_set():
                        return
                    ready.put(self._batch(index))
            except BaseException as error:  # noqa: BLE001 - handed over to the consumer
                ready.put(error)

        thread = threading.Thread(target=prepare)
        thread.start()
        try:
            for _ in range(len(self)):
                item = ready.get()
                room.release()
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            stopped.set()
            room.release()
            thread.join()

    def _batch(self, index: int) -> Batch:
        start = index * self.batch_size
        places = range(start, min(start + self.batch_size, len(self.order)))
        samples = [self._sample(place, self.sides[index]) for place in places]
        counts = [len(sample.classes) for sample in samples]
        boxes = np.concatenate([sample.boxes for sample in samples]).astype(np.float32)
        classes = np.concatenate([sample.classes for sample in samples])
        photo = np.repeat(np.arange(len(samples)), counts)
        labelled, ignored = (
            Objects(*(torch.from_numpy(part[which]) for part in (photo, boxes, classes)))
            for which in (classes != IGNORED, classes == IGNORED)
        )
        return Batch(
            torch.from_numpy(np.stack([sample.pixels for sample in samples])),
            labelled,
            ignored,
            torch.tensor([sample.complete for sample in samples]),
        )

    def _sample(self, place: int, side: int) -> Sample:
        random = np.random.default_rng((self.seed, self.epoch, place))
        index = self.order[place]
        if index < 0:
            photos = [self._background(side, random)]
        else:
            others = self.store.draw(self._photo_count(random) - 1, random)
            photos = [self._with_pasted(self.store.photos[i], random) for i in (index, *others)]
        return augment(photos, side, self.strength, random, self.full)

    def _photo_count(self, random: np.random.Generator) -> int:
        shares = self.strength.mosaics
        return int(random.choice((4, 9, 16, 1), p=(*shares, 1 - sum(shares))))

    def _with_pasted(self, photo: Photo, random: np.random.Generator) -> Photo:
        if random.random() >= self.strength.paste:
            return photo
        donors = self.store.draw(3, random)
        return paste_beside(photo, [self.store.photos[i] for i in donors], random)

    def _background(self, side: int, random: np.random.Generator) -> Photo:
        if random.random() < 0.6:
            photo = self.store.photos[random.integers(0, len(self.store))]
            crop = empty_crop(photo, random)
            if crop is not None:
                return crop
        return rendered_background(side, random)
