"""When to restart a child that died."""

from dataclasses import dataclass


@dataclass
class RestartPolicy:
    """At once after a first death, then after 1, 2, 4 .. `longest_s` seconds.

    All times are in seconds. After a life of `healthy_s` earlier deaths do not count. After `limit` lives in a row
    shorter than `quick_s` there is no further start: the child fails at its start, and another start does not help.
    """

    quick_s: float = 10.0
    healthy_s: float = 60.0
    first_s: float = 1.0
    longest_s: float = 30.0
    limit: int = 5
    deaths: int = 0
    quick_deaths: int = 0

    def after_death(self, life_s: float) -> float | None:
        """Seconds to wait before the next start; None for no further start."""
        self.deaths = 1 if life_s >= self.healthy_s else self.deaths + 1
        self.quick_deaths = self.quick_deaths + 1 if life_s < self.quick_s else 0
        if self.quick_deaths >= self.limit:
            return None
        if self.deaths == 1:
            return 0.0
        return min(self.longest_s, self.first_s * 2.0 ** min(self.deaths - 2, 30))
