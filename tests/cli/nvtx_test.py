#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""What an attached NVTX tool is told of `warpmeter kernels`. Arguments: the program, the source folder, the recording tool."""

import json
import os
import pathlib
import sys
import unittest

from program import Commands

RECORDER = pathlib.Path(sys.argv[3]).resolve()
WORDS = {"kernel", "family", "split"}  # of a point; the payload has the id instead


class Ranges(Commands):
    def kernels(self, *arguments, recorder=RECORDER):
        record = self.folder / "ranges.jsonl"
        record.unlink(missing_ok=True)
        environment = os.environ | {"WARPMETER_NVTX_RECORD": str(record)}
        if recorder:
            environment["NVTX_INJECTION64_PATH"] = str(recorder)
        done = self.run_program(
            "--emulate", "tiny", "kernels", *arguments, "--effort", "quick", "--campaigns", "2", "--fresh", "-o", "x.run.json", env=environment
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []

    def test_every_sample_is_a_range_with_shape_and_work(self):
        lines = self.kernels("kernel.swiglu", "--benchmark_filter=kernel=swiglu,")
        pushes = [line for line in lines if "push" in line]
        self.assertEqual(lines[1::2], [{"pop": True}] * len(pushes))  # one after another
        self.assertEqual({line["domain"] for line in pushes}, {"warpmeter"})
        expected = 0
        for measurement in self.document()["measurements"]:
            point, work = measurement["parameters"], measurement["work"]
            mine = [line for line in pushes if all(line["payload"].get(k) == v for k, v in point.items() if k not in WORDS)]
            checks = [line for line in mine if line["push"] == "kernel.swiglu check"]
            samples = [line for line in mine if line["push"] == "kernel.swiglu"]
            self.assertEqual(len(checks), 2)
            self.assertEqual(len(samples), sum(map(len, measurement["samples"])))
            expected += len(mine)
            rows, columns = point["rows"], point["columns"]
            for line in mine:
                payload = line["payload"]
                self.assertEqual(line["schema"], "kernel.swiglu")
                self.assertEqual(payload["kernel"], "kernel.swiglu")
                self.assertEqual(payload["ops.f32"], 4 * rows * columns)
                self.assertEqual(payload["ops.exp"], rows * columns)
                self.assertEqual(payload["bytes_read"], work["bytes_read"])
                self.assertEqual(payload["bytes_written"], work["bytes_written"])
                self.assertEqual(payload["working_set"], work["working_set"])
                self.assertEqual(payload["launches"], 1)
            self.assertEqual({line["payload"]["executions"] for line in checks}, {1})
            self.assertEqual({line["payload"]["executions"] for line in samples}, {measurement["conditions"]["executions_per_sample"]})
        self.assertEqual(expected, len(pushes))
        self.assertGreater(expected, 0)

    def test_a_step_says_layer_and_count(self):
        config = {"hidden_size": 128, "intermediate_size": 192, "num_attention_heads": 2, "num_hidden_layers": 3, "vocab_size": 256}
        (self.folder / "small.json").write_text(json.dumps(config))
        payloads = [line["payload"] for line in self.kernels("kernel.gemm", "--model", "small.json") if "push" in line]
        layers = {payload["layer"]: payload for payload in payloads}
        self.assertEqual(set(layers), {"qkv", "attention_output", "ffn_gate_up", "ffn_down", "lm_head"})
        down = layers["ffn_down"]
        self.assertEqual((down["m"], down["n"], down["k"], down["count"], down["model"]), (1, 128, 192, 3, "small"))
        self.assertEqual(down["ops.bf16"], 2 * 128 * 192)
        self.assertEqual(down["executions"], 1)  # cold

    def test_a_tool_does_not_change_the_times(self):
        def samples(recorder):
            # One point: the order of several is random on purpose.
            lines = self.kernels("kernel.swiglu", "--benchmark_filter=kernel=swiglu,.*rows=8,", recorder=recorder)
            measurements = self.document()["measurements"]
            self.assertEqual(len(measurements), 1)
            return bool(lines), measurements[0]["samples"]

        self.assertEqual(samples(RECORDER)[1], samples(None)[1])
        self.assertEqual((samples(RECORDER)[0], samples(None)[0]), (True, False))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
