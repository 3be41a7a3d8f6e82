#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""warpmeter doctor --validate-counters, on the emulated GPU: its counters are right, and planted errors are told."""

import json
import os
import sys
import unittest

from program import Commands

# Of the larger size, on the chip tiny (4 SMs, 1 GiB): 2 * 2^30 / 64 bytes; warps * chains * steps * trips.
BYTES = 2 * 2**30 // 64
EXPECTED = {
    "dram.bytes_read": BYTES,
    "dram.bytes_write": BYTES,
    "l2.sectors_read": BYTES // 32,
    "l2.sectors_sm": BYTES // 32,
    "l2.sectors_write": BYTES // 32,
    "l1.sectors_load": BYTES // 32,
    "fma.instructions": 4 * 32 * 8 * 24 * 128,
    "tensor.instructions": 4 * 16 * 8 * 2 * 128,
}


class Counters(Commands):
    def validate(self, *arguments, faults="", status=0):
        environment = os.environ | {"WARPMETER_EMULATED_CUPTI": faults}
        done = self.run_program("--emulate", "tiny", "doctor", "--validate-counters", *arguments, env=environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def counters(self, **options):
        document = json.loads(self.validate("--json", **options).stdout)
        self.assertEqual(document["source"], "emulated")
        self.assertEqual(document["chip"], "EMULATED_TINY")
        return {counter["metric"]: counter for counter in document["counters"]}

    def test_every_counter_counts_the_work(self):
        counters = self.counters()
        self.assertEqual(set(counters), set(EXPECTED))
        for metric, counter in counters.items():
            with self.subTest(metric=metric):
                self.assertEqual(counter["verdict"], "ok", counter["reason"])
                self.assertAlmostEqual(counter["gain"], 1, delta=0.02)
                self.assertEqual([run["expected"] for run in counter["runs"]], 3 * [EXPECTED[metric] / 2] + 3 * [EXPECTED[metric]])
                for run in counter["runs"]:
                    self.assertAlmostEqual(run["counted"] / run["expected"], 1, delta=0.02)

    def test_a_counter_that_is_wrong_is_told(self):
        counters = self.counters(faults="scale=dram__bytes_read.sum:1.3", status=2)
        wrong = {metric: (counter["verdict"], counter["reason"]) for metric, counter in counters.items() if counter["verdict"] != "ok"}
        self.assertEqual(wrong, {"dram.bytes_read": ("wrong", "it counts 1.3 times the work")})

    def test_a_doubled_counter_in_the_table(self):
        done = self.validate(faults="scale=lts__t_sectors_op_write.sum:2", status=2)
        lines = {line.split()[0]: line for line in done.stdout.splitlines()}
        self.assertRegex(lines["l2.sectors_write"], r" 2 .* doubled +it counts 2 times the work$")
        self.assertRegex(lines["dram.bytes_read"], r" ok$")

    def test_counters_that_share_no_pass(self):
        self.assertEqual({c["verdict"] for c in self.counters(faults="per_pass=1").values()}, {"ok"})

    def test_what_is_not_measured_is_named(self):
        document = json.loads(self.validate("--json", faults="chip=NOBODY", status=2).stdout)
        self.assertEqual({c["metric"] for c in document["counters"]}, set(EXPECTED))
        for counter in document["counters"]:
            self.assertEqual((counter["verdict"], counter["gain"], counter["runs"]), ("missing", None, []))
            self.assertIn("NOBODY", counter["reason"])

    def test_refusals_are_one_line(self):
        tiny = ["--emulate", "tiny", "doctor"]
        validate = [*tiny, "--validate-counters"]
        faults = {"WARPMETER_EMULATED_CUPTI": "range=35"}
        self.assert_refused(*validate, says="CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", env=os.environ | faults)
        self.assert_refused(*validate, "--device", "cpu", says="needs a GPU")
        self.assert_refused(*validate, "--device", "cuda:7", says="cuda:7 is not here")
        self.assert_refused(*tiny, "--device", "cuda:0", says="--validate-counters")

    def test_without_a_gpu(self):
        self.assert_refused("doctor", "--validate-counters", says=["needs a GPU", "--emulate tiny"], env=os.environ | {"CUDA_VISIBLE_DEVICES": ""})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
