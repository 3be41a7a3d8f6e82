# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""The built program, for tests that use it as a user would. Arguments of each test: the program, the source folder."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
QUICK = ["--device", "cpu", "--effort", "quick"]


class Commands(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def run_program(self, *arguments, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, timeout=200, **options)

    def assert_refused(self, *arguments, says, status=1, **options):
        """One line on standard error that says what, and the exit status of the design."""
        done = self.run_program(*arguments, **options)
        lines = [line for line in done.stderr.splitlines() if line.startswith("warpmeter: ")]
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, lines[0])
        return done

    def bench(self, *arguments, out="x.run.json", **options):
        return self.run_program("bench", *QUICK, "-o", self.folder / out, *arguments, **options)

    def document(self, name="x.run.json"):
        return json.loads((self.folder / name).read_text())

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())
