#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""warpmeter profile --collect range: counters of launches in a real process, on the emulated GPU, whose own counts are the truth."""

import json
import sys
import unittest

from profile_test import STEP, Profile

# What the emulator's log calls it, and how the profile does.
MEMORY = {"l2.sectors": "l2_sectors", "l2.sectors_write": "l2_write_sectors", "l1.sectors_load": "l1_sectors", "dram.bytes_read": "dram_read_bytes"}
INSTRUCTIONS = {"issue.instructions": "warp_instructions"}


class Ranges(Profile):
    def ranges(self, *target, metrics="memory", budget="0"):
        log = self.folder / "counters"
        options = ["--collect", "timeline,nvtx,range", "--set", metrics, "--overhead-budget", budget, "--wait-for-range", "begin"]
        self.profile(*target, options=options, environment={"WARPMETER_EMULATED_COUNTERS": str(log)})
        self.log = [json.loads(line) for line in log.read_text().splitlines()]

    def counters(self, rows):
        """(kernel, metric) -> value, verdict, launches."""
        query = """SELECT k.text, m.text, c.value, c.verdict, c.passes FROM counters c JOIN shapes s ON s.id = c.shape_id
            JOIN strings k ON k.id = s.name_id JOIN strings m ON m.id = c.metric_id"""
        return {(kernel, metric): rest for kernel, metric, *rest in rows(query)}

    def assert_as_emulated(self, found, names):
        for kernel in STEP:
            full = next(name for name, _ in found if kernel in name)
            for metric, key in names.items():
                value, verdict, launches = found[full, metric]
                self.assertEqual((verdict, launches), ("ok", 10), metric)
                # The first launches, which fill L2, are before the range: all others count the same.
                counted = {line["counters"][key] for line in self.log[-6:] if line["kernel"] == full}
                self.assertEqual(len(counted), 1, metric)
                self.assertAlmostEqual(value, counted.pop(), delta=1e-9 * (1 + value), msg=metric)

    def test_counters_of_each_shape_are_those_of_the_emulator(self):
        self.ranges("phases", "20")
        with self.rows() as rows:
            self.assert_as_emulated(self.counters(rows), MEMORY)
            self.assertEqual(self.losses(rows), [])
            # The shapes are those of the timeline.
            stray = "SELECT count(*) FROM counters WHERE shape_id NOT IN (SELECT shape_id FROM kernels)"
            self.assertEqual(rows(stray), [(0,)])

    def test_instructions(self):
        self.ranges("phases", "20", metrics="diagnose")
        with self.rows() as rows:
            self.assert_as_emulated(self.counters(rows), INSTRUCTIONS)

    def test_a_budget_bounds_what_is_measured(self):
        self.ranges("phases", "20", budget="0.03")
        with self.rows() as rows:
            launches = {rest[2] for rest in self.counters(rows).values() if rest[2]}
            self.assertTrue(launches <= {1}, launches)  # the program runs for a few virtual milliseconds, at 20 launches a second

    def test_refused_kernels_graphs_and_captures_are_left_alone(self):
        self.ranges("mixed", "15")  # it checks its data
        with self.rows() as rows:
            found = self.counters(rows)
            self.assertTrue(found)
            self.assertEqual({kernel for kernel, _ in found if "short_kernel" not in kernel}, set())
            reasons = dict(rows("SELECT what, reason FROM losses WHERE collector = 'range'"))
            counts = dict(rows("SELECT what, count FROM losses WHERE collector = 'range'"))
            nccl = next(what for what in reasons if "ncclDevKernel" in what)
            self.assertEqual(counts[nccl], 15)
            self.assertIn("GPU", reasons[nccl])
            graphs = [what for what in reasons if "launches of graph" in what]
            self.assertEqual(sum(counts[what] for what in graphs), 15)
            self.assertEqual(rows("SELECT count(*) FROM kernels WHERE graph IS NOT NULL"), [(15,)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
