# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""The published files keep the limits of plausibility.py, and a wrong number in them does not."""
import unittest

from documents import NAMES, load
from plausibility import complaints, upper_limit


def numbers(document):
    return document["measurements"], {name: fact["value"] for name, fact in document["device"]["facts"].items()}


class Published(unittest.TestCase):
    def test_files_keep_the_limits(self):
        for name in NAMES:
            with self.subTest(name):
                self.assertEqual(complaints(*numbers(load(name))), [])

    def test_limits_have_something_to_say(self):
        """Each file has numbers that a limit applies to: a fact that got lost would make the test above empty."""
        least = {"v100": 28, "a100": 80, "h100_sxm": 56, "h200": 45, "rtx4090": 28}
        for name in NAMES:
            measurements, facts = numbers(load(name))
            limited = [m for m in measurements if upper_limit(m["quantity"], m["parameters"], facts)]
            self.assertGreaterEqual(len(limited), least[name], name)

    def test_wrong_numbers_are_noticed(self):
        """Typical slips of a transcription: GiB for GB twice over, bytes counted twice, cycles for ns, a neighbour's column, the wrong power of ten."""
        for name, quantity, factor in (("v100", "bandwidth.dram.read.device", 2), ("a100", "bandwidth.dram.triad.device", 1.5),
                                       ("a100", "transfer.h2d.bandwidth", 2), ("a100", "transfer.h2d.bandwidth", 0.25),
                                       ("h100_sxm", "transfer.p2p.bandwidth", 2), ("a100", "latency.l1.hit.cycles", 2),
                                       ("h100_sxm", "latency.l1.hit", 1.98), ("rtx4090", "throughput.mma.f16.device", 2),
                                       ("a100", "throughput.mma.int8.device", 2), ("v100", "throughput.fma.f64.device", 2),
                                       ("v100", "latency.l2.hit.cycles", 2.2), ("rtx4090", "latency.dram", 0.4), ("a100", "capacity.l1", 1.2),
                                       ("v100", "transfer.time", 1e-3)):
            with self.subTest(f"{name} {quantity} x {factor}"):
                document = load(name)
                next(m for m in document["measurements"] if m["quantity"] == quantity)["value"] *= factor
                self.assertNotEqual(complaints(*numbers(document)), [])


if __name__ == "__main__":
    unittest.main()
