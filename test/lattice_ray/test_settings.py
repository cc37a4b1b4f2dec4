import unittest

from lattice_ray.settings import (
    Plan,
    Settings,
    Share,
    UsageError,
    child_environment,
    digest,
    places,
    plan,
)

SETTINGS = Settings(("node", "worker.js"), "ws://127.0.0.1:8000", {"LATTICE_LOG_LEVEL": "warn"})
GPU_SHARE = Share(1.0, 4.0)


def host(cpus: float, gpus: float = 0) -> dict[str, float]:
    return {"CPU": cpus, "GPU": gpus} if gpus else {"CPU": cpus}


class Planning(unittest.TestCase):
    def test_a_worker_for_each_gpu(self) -> None:
        found = plan([host(33, 4), host(17, 2), host(8)], None, None, None)
        self.assertEqual(found, Plan(6, Share(1.0, 8.0)))

    def test_shares_of_a_gpu_do_not_span_nodes(self) -> None:
        self.assertEqual(plan([host(16, 1), host(16, 1)], None, 0.4, 2).count, 4)
        self.assertEqual(plan([host(16, 3), host(16, 3)], None, 2, 2).count, 2)
        self.assertEqual(plan([host(16, 1)], None, 0.1, 1).count, 10)

    def test_without_gpus_one_a_node_and_a_cpu_left_for_others(self) -> None:
        found = plan([host(8), host(4), {"memory": 1}], None, None, None)
        self.assertEqual(found, Plan(2, Share(0.0, 3.0)))
        self.assertEqual(plan([host(1)], None, None, None), Plan(1, Share(0.0, 1.0)))

    def test_a_number_is_taken_as_it_is(self) -> None:
        self.assertEqual(plan([host(9), host(9)], 4, None, None), Plan(4, Share(0.0, 4.0)))
        self.assertEqual(plan([host(2, 1)], 5, None, None).count, 5)
        self.assertEqual(plan([host(2)], 0, None, None).count, 0)

    def test_nothing_fits(self) -> None:
        with self.assertRaisesRegex(UsageError, "No node of the cluster has 1 GPU"):
            plan([host(8)], None, 1, None)
        with self.assertRaisesRegex(UsageError, "No node of the cluster has 16 CPU"):
            plan([host(8)], None, None, 16)


class Places(unittest.TestCase):
    def test_a_returned_node_gets_the_worker_that_another_node_has_too_many(self) -> None:
        self.assertEqual(
            places({"worker-0": "a", "worker-1": "a"}, [], ["a", "b"], 2), {"worker-1": "b"}
        )

    def test_a_new_worker_gets_the_node_without_one(self) -> None:
        self.assertEqual(places({"worker-0": "a"}, ["worker-1"], ["a", "b"], 2), {"worker-1": "b"})
        self.assertEqual(
            places({"worker-0": "a", "worker-1": "a"}, ["worker-2"], ["a", "b", "c"], 3),
            {"worker-2": "b", "worker-1": "c"},
        )
        self.assertEqual(places({}, ["worker-0", "worker-1"], ["a"], 2), {"worker-0": "a"})

    def test_nothing_moves_without_an_idle_node_or_without_a_surplus(self) -> None:
        self.assertEqual(places({"worker-0": "a", "worker-1": "b"}, [], ["a", "b"], 2), {})
        self.assertEqual(places({"worker-0": "a"}, [], ["a", "b"], 2), {})
        self.assertEqual(places({"worker-0": "a", "worker-1": "a"}, [], ["a"], 2), {})
        self.assertEqual(places({"worker-0": "a", "worker-1": "a"}, [], ["a", "b"], 4), {})


class Environment(unittest.TestCase):
    def child(self, settings: Settings = SETTINGS, share: Share = GPU_SHARE) -> dict[str, str]:
        inherited = {"PATH": "/bin", "OMP_NUM_THREADS": "1", "LATTICE_WORKER_ID": "other"}
        return child_environment(inherited, settings, "worker-3", "abc", share)

    def test_where_the_worker_is(self) -> None:
        self.assertEqual(
            self.child(),
            {
                "PATH": "/bin",
                "LATTICE_DEVICE": "cuda",
                "LATTICE_THREADS": "4",
                "LATTICE_LOG_LEVEL": "warn",
                "LATTICE_SERVICE_URL": "ws://127.0.0.1:8000",
                "LATTICE_WORKER_ID": "worker-3",
                "LATTICE_NODE_ID": "abc",
            },
        )
        self.assertEqual(self.child(share=Share(0.0, 0.5))["LATTICE_DEVICE"], "cpu")
        self.assertEqual(self.child(share=Share(0.0, 0.5))["LATTICE_THREADS"], "1")

    def test_given_variables_win(self) -> None:
        given = {"LATTICE_DEVICE": "cpu", "OMP_NUM_THREADS": "2", "LATTICE_THREADS": "3"}
        child = self.child(Settings(("x",), "ws://h", given))
        self.assertEqual({key: child[key] for key in given}, given)


class Digest(unittest.TestCase):
    def test_changes_with_whatever_a_worker_is_started_with(self) -> None:
        others = [
            Settings(("node", "other.js"), SETTINGS.service, SETTINGS.env),
            Settings(SETTINGS.command, "ws://127.0.0.1:9000", SETTINGS.env),
            Settings(SETTINGS.command, SETTINGS.service, {}),
        ]
        found = {digest(each, 1.0, None) for each in [SETTINGS, *others]}
        found |= {digest(SETTINGS, 0.5, None), digest(SETTINGS, 1.0, 2.0)}
        self.assertEqual(len(found), 6)

    def test_does_not_depend_on_the_order_of_variables(self) -> None:
        one = Settings(("x",), "ws://h", {"A": "1", "B": "2"})
        two = Settings(("x",), "ws://h", {"B": "2", "A": "1"})
        self.assertEqual(digest(one, 1.0, None), digest(two, 1.0, None))


if __name__ == "__main__":
    unittest.main()
