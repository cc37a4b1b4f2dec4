import random
import unittest

from lattice_ray.restart_policy import RestartPolicy


class BackOff(unittest.TestCase):
    def test_first_death_starts_at_once_then_doubles_to_the_longest(self) -> None:
        policy = RestartPolicy()
        delays = [policy.after_death(20.0) for _ in range(9)]
        self.assertEqual(delays, [0, 1, 2, 4, 8, 16, 30, 30, 30])

    def test_a_minute_of_healthy_life_forgets(self) -> None:
        policy = RestartPolicy()
        for _ in range(4):
            policy.after_death(1.0)
        self.assertEqual(policy.after_death(60.0), 0.0)
        self.assertEqual(policy.after_death(59.0), 1.0)

    def test_five_quick_deaths_in_a_row_are_a_crash_loop(self) -> None:
        policy = RestartPolicy()
        delays = [policy.after_death(0.5) for _ in range(5)]
        self.assertEqual(delays, [0, 1, 2, 4, None])

    def test_any_history(self) -> None:
        """Gives up exactly when the last `limit` lives were quick; never waits longer than the longest."""
        for seed in range(500):
            chance = random.Random(seed)
            policy = RestartPolicy()
            lives: list[float] = []
            while True:
                lives.append(chance.choice([0.1, 0.1, 0.1, 9.9, 10.0, 30.0, 61.0, 1e6]))
                delay = policy.after_death(lives[-1])
                quick = len(lives) >= 5 and all(life < 10 for life in lives[-5:])
                self.assertEqual(delay is None, quick, f"seed {seed}: {lives}")
                if delay is None or len(lives) > 60:
                    break
                self.assertTrue(0 <= delay <= 30)
                if lives[-1] >= 60:
                    self.assertEqual(delay, 0)


if __name__ == "__main__":
    unittest.main()
