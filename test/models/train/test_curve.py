import json
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from curve import curve, read_logs


class Curve(unittest.TestCase):
    def test_runs_follow_one_another_and_a_repeated_epoch_counts_once(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = Path(folder) / "a.jsonl", Path(folder) / "b.jsonl"
            lines = [
                {"epoch": 1, "loss": 5.0},
                {"epoch": 2, "loss": 9.0},
                {"epoch": 2, "loss": 4.0},
            ]
            first.write_text("".join(json.dumps(line) + "\n" for line in lines))
            judged = {"epoch": 1, "loss": 3.0, "judged": {"nepal-vehicles": {"mAP50": 0.5}}}
            second.write_text(json.dumps(judged) + "\n")
            records = read_logs([first, second])
        self.assertEqual([record["loss"] for record in records], [5, 4, 3])
        drawing = ElementTree.fromstring(curve(records))
        text = " ".join(drawing.itertext())
        self.assertIn("mAP50 nepal-vehicles", text)
        self.assertIn("loss", text)
