"""How many threads a training step uses while other programs come and go on the machine."""

from __future__ import annotations

import torch


class ThreadCount:
    """Times one thread against all of them now and then and goes on with what was faster.

    A step on two threads waits for the slower one at every layer: on a busy machine, at idle
    priority, one thread was measured three times as fast as two; on a free machine two are nearly
    twice as fast as one.
    """

    TRIAL = 3
    PERIOD = 40

    def __init__(self, most: int, adaptive: bool):
        """most: threads on a free machine. Not adaptive: always `most`, for runs to be repeated bit
        for bit.
        """
        self.most = most
        self.adaptive = adaptive and most > 1
        self.step = 0
        self.spent = {1: 0.0, most: 0.0}
        self.current = most
        torch.set_num_threads(most)

    def finish_step(self, seconds: float) -> None:
        """Call after every step with the time it took; sets the threads of the next one."""
        if not self.adaptive:
            return
        if self.step < 2 * self.TRIAL:
            self.spent[self.current] += seconds
        self.step += 1
        if self.step == self.PERIOD:
            self.step = 0
            self.spent = {1: 0.0, self.most: 0.0}
        if self.step < self.TRIAL:
            wanted = self.most
        elif self.step < 2 * self.TRIAL:
            wanted = 1
        else:
            wanted = min(self.spent, key=self.spent.__getitem__)
        if wanted != self.current:
            torch.set_num_threads(wanted)
            self.current = wanted
