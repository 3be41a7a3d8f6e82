#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""warpmeter kernels --model and list --kernels --model: the kernels of one step of a model. Third argument: 1 if there are CUDA kernels."""

import json
import sys
import unittest

from program import Commands

WITH_CUDA = len(sys.argv) > 3 and sys.argv[3] == "1"
MODELS = ["llama-3-8b", "llama-3-70b", "qwen3-moe", "deepseek-v3", "gpt-oss-120b"]
SMALL = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_act": "silu",
    "hidden_size": 128,
    "intermediate_size": 192,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "num_key_value_heads": 1,
    "vocab_size": 256,
}
LIST = ["list", "--kernels", "--device", "cpu"]


class Listing(Commands):
    def listed(self, *arguments):
        done = self.run_program(*LIST, "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_every_model_and_phase_is_listed(self):
        for model in MODELS:
            for phase in ("prefill", "decode", "train"):
                with self.subTest(model=model, phase=phase):
                    lines = self.listed("--model", model, "--phase", phase, "--batch", "2", "--context", "1024", "--tp", "2")
                    self.assertGreater(len(lines), 12)
                    for line in lines:
                        self.assertGreater(line["count"], 0)
                        self.assertEqual(line["possible"], line["reason"] == "", line)
                    product = next(line for line in lines if line["layer"] == "lm_head")
                    shape = product["shape"]
                    self.assertEqual(product["operations"], 2 * shape["m"] * shape["n"] * shape["k"])
                    self.assertAlmostEqual(product["intensity"], product["operations"] / product["bytes"])

    def test_the_table_has_a_line_for_each_kernel_and_their_sum(self):
        arguments = ["--model", "llama-3-8b", "--type", "f32"]
        lines = self.listed(*arguments)
        text = self.run_program(*LIST, *arguments).stdout.splitlines()
        self.assertEqual(len(text), len(lines) + 2)
        self.assertIn("op/B", text[0])
        kernels = sum(line["count"] for line in lines)
        self.assertTrue(text[-1].startswith(f"one step: {kernels} kernels, "), text[-1])

    def test_a_file_is_a_model(self):
        (self.folder / "small.json").write_text(json.dumps(SMALL))
        lines = {line["layer"]: line for line in self.listed("--model", "small.json", "--type", "f32")}
        self.assertEqual(lines["qkv"]["shape"], {"k": 128, "m": 1, "n": 256, "type": "f32"})
        self.assertEqual(lines["qkv"]["count"], 2)
        self.assertTrue(lines["qkv"]["possible"])

    def test_bad_input_is_one_line(self):
        refused = lambda says, *arguments: self.assert_refused(*LIST, *arguments, says=says)
        refused(["llama-9", "deepseek-v3"], "--model", "llama-9")
        refused("nearest: --tp 2", "--model", "llama-3-8b", "--tp", "3")
        refused("no experts", "--model", "llama-3-8b", "--ep", "2")
        refused("prefill, decode or train", "--model", "llama-3-8b", "--phase", "later")
        refused("int4", "--model", "llama-3-8b", "--type", "int4")
        refused("--batch 0", "--model", "llama-3-8b", "--batch", "0")
        refused("--model", "--phase", "decode")
        for name, text, says in (
            ("empty", "", "empty"),
            ("cut", json.dumps(SMALL)[:50], "cut off"),
            ("other", '{"n_embd": 768}', "hidden_size"),
            ("absurd", json.dumps(SMALL | {"vocab_size": -1}), "vocab_size"),
        ):
            (self.folder / f"{name}.json").write_text(text)
            refused([f"{name}.json", says], "--model", f"{name}.json")
        self.assert_refused("list", "--model", "llama-3-8b", says="--kernels")


class Running(Commands):
    def run_step(self, *arguments, out="x.run.json"):
        (self.folder / "small.json").write_text(json.dumps(SMALL))
        options = ["--model", "small.json", "--effort", "quick", "--campaigns", "1", "-o", out]
        return self.run_program(*arguments, *options)

    def check(self, done, device_has):
        self.assertIn(done.returncode, (0, 2), done.stderr)
        points = {m["parameters"]["layer"]: m for m in self.document()["measurements"]}
        for layer in device_has:
            self.assertIsNotNone(points[layer]["value"], points[layer]["reason"])
        product = points["ffn_down"]["parameters"]
        self.assertEqual((product["model"], product["phase"], product["count"]), ("small", "decode", 2))
        self.assertEqual((product["m"], product["n"], product["k"]), (1, 128, 192))
        self.assertEqual((product["split"], product["residency"]), ("held_out", "cold"))
        missing = [line for line in done.stderr.splitlines() if "is not run" in line]
        for line in missing:
            self.assertRegex(line, r"^kernels: \S+ \(kernel\.\S+, \d+ per step\) is not run: ")
        if missing:
            self.assertEqual(done.returncode, 2)
        return points, missing

    def test_a_step_runs_on_the_host(self):
        done = self.run_step("kernels", "--device", "cpu", "--type", "f32", "--context", "32")
        _, missing = self.check(done, ["embedding", "qkv", "attention", "ffn_swiglu", "lm_head"])
        self.assertTrue(any(line.startswith("kernels: rope ") for line in missing), missing)  # on GPUs only

    def test_ids_choose_from_the_step(self):
        done = self.run_step("kernels", "kernel.swiglu", "--device", "cpu", "--type", "f32", "--context", "32")
        self.assertEqual([m["parameters"]["layer"] for m in self.document()["measurements"]], ["ffn_swiglu"], done.stderr)
        (self.folder / "small.json").write_text(json.dumps(SMALL))
        self.assert_refused("kernels", "kernel.moe", "--device", "cpu", "--model", "small.json", says="not in this step")

    @unittest.skipUnless(WITH_CUDA, "built without CUDA")
    def test_a_step_runs_on_the_emulated_gpu(self):
        done = self.run_step("--emulate", "tiny", "kernels", "--context", "32")
        points, _ = self.check(done, ["embedding", "qkv", "rope", "attention", "ffn_swiglu", "lm_head"])
        self.assertEqual(points["rope"]["parameters"]["heads"], 3)

    @unittest.skipUnless(WITH_CUDA, "built without CUDA")
    def test_a_whole_model_is_not_emulated(self):
        for launch in ("eager", "graph"):
            done = self.run_program(
                "--emulate", "tiny", "kernels", "kernel.gemm", "--model", "llama-3-8b", "--launch", launch, "--effort", "quick", "-o", "y.run.json"
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            for measurement in self.document("y.run.json")["measurements"]:
                self.assertEqual(measurement["verdict"], "unsupported")
                self.assertRegex(measurement["reason"], "emulated|device memory")

    @unittest.skipUnless(WITH_CUDA, "built without CUDA")
    def test_graphs_are_faster_as_planted(self):
        """The parameter says how a point was launched; tiny's graph nodes follow each other 400 ns sooner than launches of a stream."""
        values = {}
        for launch in ("eager", "graph"):
            arguments = ["kernel.swiglu", "--launch", launch, "--effort", "quick", "--campaigns", "1", "--benchmark_filter=kernel=swiglu,.*rows=8,", "-o", f"{launch}.run.json"]
            done = self.run_program("--emulate", "tiny", "kernels", *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            (point,) = self.document(f"{launch}.run.json")["measurements"]
            values[launch] = point["value"]
            self.assertEqual(point["parameters"].get("launch", "eager"), launch)
        self.assertAlmostEqual(values["eager"] - values["graph"], 400e-9, delta=20e-9)

    def test_a_cpu_has_no_graphs(self):
        self.assert_refused("kernels", "--device", "cpu", "--launch", "graph", says="eager")
        self.assert_refused("kernels", "--device", "cpu", "--launch", "fast", says="fast")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
