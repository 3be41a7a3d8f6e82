#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""`warpmeter export` of a profile with planted rows. Arguments: the program, the source folder, the program that plants."""

import csv
import json
import subprocess
import sys
import unittest

from program import Commands

PLANT = sys.argv[3]


class Export(Commands):
    def setUp(self):
        super().setUp()
        subprocess.run([PLANT, self.folder / "x.profile.sqlite"], check=True)

    def export(self, to, out):
        done = self.run_program("export", "x.profile.sqlite", "--to", to, "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_formats(self):
        said = self.export("perfetto", "trace.json")
        self.assertIn("1 kernels, copies and sets have no time", said)
        trace = json.loads((self.folder / "trace.json").read_text())
        kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
        self.assertEqual([(event["ts"], event["dur"]) for event in kernels], [(1234.567, 5.432)])
        self.export("json", "all.json")
        views = json.loads((self.folder / "all.json").read_text())["views"]
        self.assertEqual([row["count"] for row in views["v_losses"]], [17])
        self.export("csv", "tables")
        with open(self.folder / "tables" / "v_samples.csv", newline="") as file:
            self.assertEqual([row["value"] for row in csv.DictReader(file)], ["0.0", "0.25", "0.5"])
        self.assertEqual(self.files(), ["all.json", "tables", "trace.json", "x.profile.sqlite"])

    def test_bad_input(self):
        self.assert_refused("export", "absent", "--to", "csv", "-o", "out", says=["absent", "No such file"])
        self.assert_refused("export", "x.profile.sqlite", "--to", "svg", "-o", "out", says=["svg", "perfetto, csv or json"])
        self.assert_refused("export", "x.profile.sqlite", "--to", "json", "-o", "x.profile.sqlite", says="it is there")
        self.assert_refused("export", "x.profile.sqlite", "--to", "json", "-o", "no/out", says="make the folder")
        whole = (self.folder / "x.profile.sqlite").read_bytes()
        (self.folder / "cut").write_bytes(whole[: len(whole) // 2])
        self.assert_refused("export", "cut", "--to", "csv", "-o", "out", says="cut off at byte")
        (self.folder / "machine.json").write_text('{"schema": "warpmeter.machine/1"}')
        self.assert_refused("export", "machine.json", "--to", "csv", "-o", "out", says="a *.profile.sqlite is needed")
        self.assertEqual(self.files(), ["cut", "machine.json", "x.profile.sqlite"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
