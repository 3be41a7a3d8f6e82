#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""`warpmeter list --metrics` as a user sees it. Arguments: the program, the source folder."""

import json
import os
import subprocess
import sys
import unittest

from program import PROGRAM, Commands

METRICS = ["list", "--metrics"]


def without_cupti():
    done = subprocess.run([PROGRAM, *METRICS, "--chip", "GH100", "--set", "links"], capture_output=True, text=True)
    return done.stderr.strip() if "no CUPTI" in done.stderr else ""


class BadInput(Commands):
    def test_no_library(self):
        environment = {**os.environ, "WARPMETER_CUPTI": "/nowhere/libcupti.so.13"}
        self.assert_refused(*METRICS, "--chip", "GH100", env=environment,
                            says=["no CUPTI", "nvidia-cuda-cupti", "looked for /nowhere/libcupti.so.13"])

    def test_a_library_of_another_kind(self):
        environment = {**os.environ, "WARPMETER_CUPTI": "libc.so.6"}
        self.assert_refused(*METRICS, "--chip", "GH100", env=environment, says=["libc.so.6 has no cupti", "13.0 or newer"])

    def test_usage(self):
        self.assert_refused("list", "--chip", "GH100", says="add --metrics")
        self.assert_refused("list", "--set", "links", says="add --metrics")
        self.assert_refused("list", "--collector", "pm", says="add --metrics")
        self.assert_refused(*METRICS, "--kernels", "--chip", "GH100", says="exclude each other")
        self.assert_refused(*METRICS, "--chip", "GH100", "--set", "everything", says=["everything", "diagnose", "stalls"])
        self.assert_refused(*METRICS, "--chip", "GH100", "--collector", "trace", says=["trace", "range or pm"])


@unittest.skipIf(without_cupti(), without_cupti())
class Plans(Commands):
    def plan(self, chip, *arguments):
        done = self.run_program(*METRICS, "--chip", chip, "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_chips(self):
        self.assert_refused(*METRICS, says=["needs --chip", "GV100", "GB20B"])
        self.assert_refused(*METRICS, "--chip", "H100", says=['unknown chip "H100"', "GH100", "GB20B"])
        # A chip that CUPTI knows and cannot plan for: ran, but not as asked.
        self.assert_refused(*METRICS, "--chip", "GV11B", says=["GV11B", "CUPTI_ERROR_NOT_SUPPORTED (27)"], status=2)

    def test_the_document_holds_the_plan(self):
        plan = self.plan("GH100", "--set", "links")
        self.assertEqual((plan["schema"], plan["chip"], plan["collector"]), ("warpmeter.metric_plan/1", "GH100", "range"))
        metrics = {metric["id"]: metric for metric in plan["metrics"]}
        self.assertEqual(metrics["nvlink.bytes_in"]["name"], "nvlrx__bytes.sum")
        self.assertEqual(metrics["time.gpu"]["scale"], 1e-9)
        payload = metrics["nvlink.payload"]
        self.assertEqual((payload["name"], payload["formula"]), (None, "nvlink.payload_in + nvlink.payload_out"))
        # The range profiler keeps links and L2 apart; PM sampling does not.
        self.assertNotEqual(metrics["nvlink.bytes_in"]["group"], metrics["front_end.active"]["group"])
        self.assertEqual(plan["passes_by_replay"], 2)
        self.assertEqual(self.plan("GH100", "--set", "links", "--collector", "pm")["passes_by_replay"], 1)

    def test_what_a_chip_lacks_has_a_reason(self):
        plan = self.plan("GB20B", "--set", "memory")
        lacking = {metric["id"]: metric for metric in plan["metrics"] if metric["reason"]}
        self.assertIn("dram.bytes_read", lacking)
        for metric in lacking.values():
            self.assertIsNone(metric["name"])
            self.assertIsNone(metric["passes"])
            self.assertIn("GB20B", metric["reason"])
        table = self.run_program(*METRICS, "--chip", "GB20B", "--set", "memory").stdout
        self.assertIn("GB20B lacks:", table)
        self.assertIn("GB20B does not list dram__bytes_read.sum or dram__bytes_op_read.sum", table)
        self.assertIn("= 32 * l2.sectors_read_miss", table)

    def test_a_throughput_is_taken_apart(self):
        tree = self.plan("GB100", "--breakdown", "sol.sm")
        self.assertEqual(tree["name"], "sm__throughput")
        parts = {part["name"]: part["counters"] for part in tree["parts"]}
        self.assertIn("sm__pipe_tma_cycles_active", parts["sm__memory_throughput"])
        self.assertIn("sm__pipe_tc_cycles_active", parts["sm__instruction_throughput"])
        text = self.run_program(*METRICS, "--chip", "GB100", "--breakdown", "sm__throughput").stdout
        self.assertIn("\n    sm__pipe_tma_cycles_active\n", text)
        self.assert_refused(*METRICS, "--chip", "GB20B", "--breakdown", "sol.dram", says=["sol.dram", "GB20B does not list"])
        self.assert_refused(*METRICS, "--chip", "GB100", "--breakdown", "l9__throughput", says=["l9__throughput", "lts__throughput"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
