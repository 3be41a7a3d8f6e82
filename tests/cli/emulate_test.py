#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""warpmeter --emulate CHIP: what its documents say, and that they do not mix with others."""

import json
import sys
import unittest

from program import QUICK, SOURCE, Commands

CHIPS = SOURCE / "emulator/chips"


class Emulate(Commands):
    def emulate(self, chip, *arguments, out="x.run.json"):
        done = self.run_program("--emulate", chip, "bench", *arguments, "--campaigns", "1", "-o", self.folder / out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.document(out)

    def other_chip(self, **changes):
        chip = json.loads((CHIPS / "tiny.json").read_text())
        for key, value in changes.items():
            group, name = key.split("__")
            chip[group][name] = value
        path = self.folder / "other.json"
        path.write_text(json.dumps(chip))
        return path

    def test_the_chip_is_the_default_device_and_marks_every_document(self):
        run = self.emulate("tiny", "latency.fma")
        self.assertEqual(run["source"], "emulated")
        facts = run["device"]["facts"]
        self.assertIs(facts["emulated"]["value"], True)
        self.assertEqual(facts["emulated.chip"]["value"], "tiny")
        self.assertRegex(facts["emulated.chip_hash"]["value"], "^[0-9a-f]{16}$")
        self.assertEqual(self.run_program("calibrate", "x.run.json", "-o", "machine.json").returncode, 0)
        machine = self.document("machine.json")
        self.assertEqual(machine["source"], "emulated")
        self.assertEqual(machine["facts"]["emulated.chip_hash"], facts["emulated.chip_hash"])
        self.assertEqual({p["status"] for p in machine["parameters"].values() if p["value"] is not None}, {"emulated"})
        self.assertEqual(self.run_program("report", ".").returncode, 0)
        self.assertIn("EMULATED", (self.folder / "report.html").read_text())

    def test_the_hash_tells_chip_files_apart(self):
        chip = self.other_chip(shared__latency=29)
        hashes = {self.emulate(c, "latency.fma")["device"]["facts"]["emulated.chip_hash"]["value"] for c in ("tiny", chip)}
        self.assertEqual(len(hashes), 2)

    def test_emulated_documents_do_not_mix_with_others(self):
        self.emulate("tiny", "latency.fma", out="a.run.json")
        self.emulate(self.other_chip(shared__latency=29), "latency.fma", out="b.run.json")
        done = self.run_program("bench", "latency.fma", *QUICK, "--campaigns", "1", "-o", "c.run.json")
        self.assertIn(done.returncode, (0, 2), done.stderr)  # 2 on a busy machine
        self.assert_refused("calibrate", "a.run.json", "b.run.json", "-o", "m.json", says="do not mix")
        self.assert_refused("calibrate", "a.run.json", "c.run.json", "-o", "m.json", says="do not mix")
        self.assert_refused("compare", "a.run.json", "b.run.json", says="emulated.chip_hash")
        self.assert_refused("compare", "a.run.json", "c.run.json", says="source")
        self.assert_refused("report", ".", says="do not mix")
        self.assertFalse((self.folder / "m.json").exists())
        self.assertFalse((self.folder / "report.html").exists())

    def test_a_planted_value_comes_back(self):
        run = self.emulate(self.other_chip(instructions__fp32={"latency": 7, "interval": 2}), "latency.fma")
        self.assertAlmostEqual(run["measurements"][0]["value"], 7e-9, delta=0.15e-9)

    def test_the_same_chip_gives_the_same_samples(self):
        # One point each: the order of several is random on purpose.
        for row in ("launch.graph", "latency.fma"):
            samples = [[m["samples"] for m in self.emulate("tiny", row)["measurements"]] for _ in range(3)]
            self.assertEqual(samples[0], samples[1])
            self.assertEqual(samples[0], samples[2])
            self.assertEqual(len(samples[0]), 1)

    def test_bad_chips_are_refused(self):
        self.assert_refused("--emulate", says="needs a chip")
        self.assert_refused("--emulate", "nonsense", "bench", says=["nonsense", "tiny"])
        for change, says in (({"sm__count": 0}, "/sm/count"), ({"sm__hz": "fast"}, "/sm/hz")):
            done = self.assert_refused("--emulate", self.other_chip(**change), "bench", says="did not start")
            self.assertIn(says, done.stderr)
        (self.folder / "empty.json").write_text("")
        self.assert_refused("--emulate", "empty.json", "bench", says="did not start")
        self.assertEqual(self.files(), ["empty.json", "other.json"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
