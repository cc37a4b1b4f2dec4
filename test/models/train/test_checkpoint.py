import tempfile
import unittest
from pathlib import Path

from torch_tests import needs_torch, torch

if torch:
    import onnx

    from average import WeightAverage
    from checkpoint import averaged_detector, read_checkpoint, write_checkpoint, write_weights
    from export import describe, store_weights_as_half, to_onnx, worst_difference
    from model import Detector
    from schedule import learning_rate


@needs_torch
class Checkpoint(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        torch.manual_seed(2)
        self.model = Detector(4)
        names = ["car", "motorcycle", "bus", "truck"]
        self.state = {"names": names, "average": self.model.state_dict()}

    def test_what_was_written_is_read_and_no_part_is_left_behind(self):
        path = self.folder / "last.pt"
        for _ in range(2):
            write_checkpoint(path, self.state)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["last.pt"])
        again = averaged_detector(read_checkpoint(path)).state_dict()
        for name, value in self.model.state_dict().items():
            torch.testing.assert_close(again[name], value)

    def test_a_checkpoint_runs_no_code(self):
        torch.save({"plan": Path("/")}, self.folder / "code.pt")
        with self.assertRaisesRegex(Exception, "[Ww]eights"):
            read_checkpoint(self.folder / "code.pt")

    def test_an_export_names_the_teacher_of_weights_that_had_one(self):
        write_weights(self.folder / "weights.pt", {**self.state, "taught": True})
        graph = onnx.ModelProto()
        describe(graph, read_checkpoint(self.folder / "weights.pt"), 64, "1.0.0")
        props = {entry.key: entry.value for entry in graph.metadata_props}
        self.assertIn("YOLOX-nano (Megvii, Apache-2.0)", props["data"])
        self.assertIn("Roboflow", props["data"])

    def test_weights_alone_are_small_and_export_to_the_same_bytes(self):
        write_weights(self.folder / "weights.pt", self.state)
        self.assertLess((self.folder / "weights.pt").stat().st_size, 7_000_000)
        contents = []
        for _ in range(2):
            state = read_checkpoint(self.folder / "weights.pt")
            graph = to_onnx(averaged_detector(state), 64)
            store_weights_as_half(graph)
            describe(graph, state, 64, "1.0.0")
            contents.append(graph.SerializeToString(deterministic=True))
        self.assertEqual(*contents)
        props = {p.key: p.value for p in onnx.load_from_string(contents[0]).metadata_props}
        self.assertNotIn("YOLOX", props["data"])
        (self.folder / "a.onnx").write_bytes(contents[0])
        self.assertLess(worst_difference(self.folder / "a.onnx", averaged_detector(state)), 0.02)

    def test_the_average_follows_the_weights(self):
        average = WeightAverage(self.model, decay=0.5, ramp=1e-9)
        name = next(iter(dict(self.model.named_parameters())))
        start = self.model.state_dict()[name].clone()
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter += 1
        average.update(self.model)
        torch.testing.assert_close(average.model.state_dict()[name], start + 0.5)


@needs_torch
class Schedule(unittest.TestCase):
    def test_the_rate_rises_to_its_peak_and_falls_to_a_hundredth(self):
        rates = [learning_rate(step, 100, 10, 1.0) for step in range(101)]
        self.assertEqual(rates[:10], sorted(rates[:10]))
        self.assertEqual(rates[10:], sorted(rates[10:], reverse=True))
        self.assertEqual((max(rates), rates[0]), (1, 0.1))
        self.assertAlmostEqual(rates[100], 0.01)
