#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""The NVTX handler in unmodified programs. Arguments: nvtx_program, the injected library."""

import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])

PYTHON = """
import threading, nvtx

@nvtx.annotate(message="decorated", domain="py", category="calls", payload=3)
def work(depth, name):
    with nvtx.annotate(f"{name}.{depth}", domain="py", color="blue"):
        nvtx.mark(f"{name} at {depth}", domain="py")
        if depth:
            work(depth - 1, name)

def thread(name):
    for _ in range(50):
        work(3, name)

threads = [threading.Thread(target=thread, args=(f"t{i}",)) for i in range(4)]
for one in threads: one.start()
for one in threads: one.join()
nvtx.push_range("default domain", payload=2.5)
nvtx.pop_range()
handle = nvtx.start_range("d\\u00e9but", domain="py")
nvtx.end_range(handle)
"""


class Nvtx(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_shards(self, *command, **variables):
        """The profiles that the processes of `command` wrote."""
        environment = os.environ | {"NVTX_INJECTION64_PATH": str(LIBRARY), "WARPMETER_NVTX_TEST": self.folder.name} | variables
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        files = sorted(pathlib.Path(self.folder.name).glob("*.profile.sqlite"))
        self.assertEqual(list(pathlib.Path(self.folder.name).glob("*.partial")), [])
        return [sqlite3.connect(file) for file in files]

    def ranges(self, *command, **variables):
        shards = self.run_shards(*command, **variables)
        self.assertEqual(len(shards), 1)
        return self.read(shards[0])

    def read(self, shard):
        shard.row_factory = sqlite3.Row
        rows = [dict(row) for row in shard.execute("SELECT * FROM v_ranges")]
        by_id = {row["id"]: row for row in rows}
        for row in rows:
            row["parent"] = by_id[row["parent_id"]]["name"] if row["parent_id"] else None
            if row["kind"] == "mark":
                self.assertIsNone(row["end_ns"])
            elif row["end_ns"] is not None:
                self.assertGreaterEqual(row["end_ns"], row["start_ns"])
            if row["parent_id"]:
                parent = by_id[row["parent_id"]]
                self.assertEqual((parent["thread"], parent["domain"], parent["kind"]), (row["thread"], row["domain"], "push_pop"))
                self.assertLessEqual(parent["start_ns"], row["start_ns"])
                if row["kind"] == "push_pop" and parent["end_ns"] is not None:
                    self.assertLessEqual(row["end_ns"], parent["end_ns"])
        self.losses = {row["what"]: row["count"] for row in shard.execute("SELECT what, SUM(count) count FROM losses GROUP BY what")}
        return rows

    def facts(self, rows, *columns):
        return [tuple(row[column] for column in columns) for row in rows]

    def test_core(self):
        rows = self.ranges(PROGRAM, "core")
        self.assertEqual(
            self.facts(rows, "name", "kind", "parent", "category", "payload"),
            [
                ("outer", "push_pop", None, None, None),
                ("wide \u00e4\u20ac\U0001f600", "push_pop", "outer", None, None),
                ("mark A", "mark", "wide \u00e4\u20ac\U0001f600", None, None),
                ("mark W", "mark", "wide \u00e4\u20ac\U0001f600", None, None),
                ("with category", "push_pop", "outer", "seven", "-5"),
                ("unnamed category", "mark", "outer", "8", None),
                ("start A", "start_end", None, None, None),
                ("start W", "start_end", None, None, None),
                ("never ended", "start_end", None, None, None),
                ("never popped", "push_pop", None, None, None),
                ("bad \ufffd\ufffd bytes \ufffd\ufffd\ufffd.", "push_pop", "never popped", None, None),
                ("x" * 4095, "push_pop", "never popped", None, None),
            ],
        )
        self.assertEqual({row["domain"] for row in rows}, {None})
        self.assertEqual(len({row["thread"] for row in rows}), 1)
        self.assertEqual([row["name"] for row in rows if row["end_ns"] is None and row["kind"] != "mark"], ["never ended", "never popped"])
        self.assertEqual(self.losses, {"pops": 1, "ends": 1, "messages": 1})

    def test_domains(self):
        rows = self.ranges(PROGRAM, "domains")
        self.assertEqual(
            self.facts(rows, "domain", "name", "kind", "parent", "category"),
            [
                ("one", "a", "push_pop", None, None),
                ("tw\u00f6", "b", "push_pop", None, "seven of two"),
                ("one", "a.a", "push_pop", "a", "7"),
                ("tw\u00f6", "a.a", "mark", "b", "seven of two"),
                ("one", "registered", "start_end", "a", None),
                ("one", "r\u00e9gistered", "mark", "a", None),
                ("one", "", "mark", "a", None),
            ],
        )
        ends = {row["name"]: row["end_ns"] for row in rows if row["kind"] == "push_pop"}
        self.assertLessEqual(ends["b"], ends["a.a"])
        self.assertEqual(self.losses, {})

    def test_cpp(self):
        rows = self.ranges(PROGRAM, "cpp")
        self.assertEqual(
            self.facts(rows, "domain", "name", "kind", "parent", "category", "payload"),
            [
                ("cpp", "cpp outer", "push_pop", None, None, None),
                ("cpp", "cpp registered", "push_pop", "cpp outer", "cpp category", "2.5"),
                ("cpp", "cpp mark", "mark", "cpp registered", None, "4000000000"),
                ("cpp", "cpp unique", "start_end", "cpp outer", None, None),
            ],
        )
        self.assertEqual([row["name"] for row in rows if row["end_ns"] is None], ["cpp mark"])

    def test_threads_that_end(self):
        rows = self.ranges(PROGRAM, "threads")
        count = collections.Counter(self.facts(rows, "name", "parent"))
        expected = {(f"thread {i}", None): 1000 for i in range(32)} | {("inner", f"thread {i}"): 1000 for i in range(32)}
        self.assertEqual(count, expected | {("left open", None): 32})
        self.assertEqual({row["name"] for row in rows if row["end_ns"] is None}, {"left open"})
        self.assertEqual(self.losses, {})

    def test_payloads(self):
        rows = {row["name"]: json.loads(row["payload"]) for row in self.ranges(PROGRAM, "payloads")}
        struct = {
            "byte": 200,
            "shape": [-1, 2, 3],
            "#2": 0.5,
            "text": "seven\ufffd",
            "direction": "from",
            "name": "by handle",
            "inner": {"x": -7, "y": 1.25},
            "pointer": {"schema": 11, "bytes": None},
            "nothing": "nan",
        }
        self.assertEqual(rows["struct"], struct)
        self.assertEqual(rows["size not said"], struct)
        self.assertEqual(rows["too short"]["byte"], 200)
        self.assertEqual(rows["too short"]["shape"], {"schema": 15, "bytes": 12})
        self.assertEqual(rows["two"], [-9, "text"])
        self.assertEqual(rows["union"]["bytes"], 4)
        self.assertEqual(rows["unknown"], {"schema": 77777777, "bytes": 8})
        self.assertEqual(rows["large"], {"schema": 75, "bytes": 5000})

    def test_fork(self):
        parent, child = sorted((self.read(shard) for shard in self.run_shards(PROGRAM, "forks")), key=len, reverse=True)
        self.assertEqual(self.facts(parent, "name", "parent"), [("before", None), ("in the parent", "before")])
        self.assertEqual(self.facts(child, "name", "parent"), [("in the child", None)])
        self.assertEqual(self.losses, {})
        self.assertEqual([row for row in parent + child if row["end_ns"] is None], [])

    def test_ranges_from_before_it_is_armed(self):
        rows = self.ranges(PROGRAM, "late", WARPMETER_NVTX_ARM="arms")
        self.assertEqual(self.facts(rows, "name", "parent"), [("started before", None), ("pushed before", None), ("arms", "pushed before")])
        self.assertEqual([row for row in rows if row["end_ns"] is None], [])

    def test_what_does_not_fit_is_counted(self):
        rows = self.ranges(PROGRAM, "flood", WARPMETER_NVTX_BUFFER="20000")
        self.assertEqual(len(rows) + self.losses.get("ranges", 0), 200000)
        self.assertEqual([row for row in rows if row["end_ns"] is None], [])

    def test_python(self):
        program = pathlib.Path(self.folder.name) / "program.py"
        program.write_text(PYTHON)
        rows = self.ranges(sys.executable, program)
        mine = [row for row in rows if row["domain"] == "py"]
        expected = collections.Counter()
        for thread in ("t0", "t1", "t2", "t3"):
            for depth in range(4):
                outer = f"{thread}.{depth + 1}" if depth < 3 else None
                expected[("decorated", outer, "calls", "3")] += 50
                expected[(f"{thread}.{depth}", "decorated", None, None)] += 50
                expected[(f"{thread} at {depth}", f"{thread}.{depth}", None, None)] += 50
        expected[("d\u00e9but", None, None, None)] = 1
        self.assertEqual(collections.Counter(self.facts(mine, "name", "parent", "category", "payload")), expected)
        self.assertEqual(self.facts((row for row in rows if row["domain"] != "py"), "name", "payload"), [("default domain", "2.5")])
        self.assertEqual(self.losses, {})
        self.assertEqual([row["name"] for row in rows if row["end_ns"] is None and row["kind"] != "mark"], [])
        # The rows of a thread nest in time as their parents say.
        names = collections.defaultdict(set)
        for row in mine:
            if row["name"][:1] == "t":
                names[row["thread"]].add(row["name"][:2])
        self.assertEqual(sorted(map(sorted, names.values())), [["t0"], ["t1"], ["t2"], ["t3"]])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
