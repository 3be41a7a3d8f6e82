#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""warpmeter profile: the injected library in real processes, on the emulated GPU. Third argument: the program that is profiled."""

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from program import PROGRAM, Commands

TARGET = pathlib.Path(sys.argv[3]).resolve()
STEP = {"short_kernel": 1, "long_kernel": 2}  # kernels of a step


class Profile(Commands):
    def setUp(self):
        super().setUp()
        self.shards = self.folder / "p.profile.sqlite.shards"

    def profile(self, *target, options=(), status=0, environment=None, command=None):
        out = self.folder / "p.profile.sqlite"
        arguments = ["--emulate", "tiny", "profile", "-o", out, *options, "--", *(command or [TARGET, *target])]
        done = self.run_program(*arguments, env=os.environ | (environment or {}))
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    @contextlib.contextmanager
    def rows(self, name="p.profile.sqlite"):
        connection = sqlite3.connect(self.folder / name)
        try:
            yield lambda query: connection.execute(query).fetchall()
        finally:
            connection.close()

    def kernels(self, rows, where="1"):
        found = {}
        for name, count in rows(f"SELECT name, count(*) FROM v_kernels WHERE {where} GROUP BY name"):
            found[next(word for word in STEP if word in name)] = count
        return found

    def assert_steps(self, rows, steps, where="1"):
        self.assertEqual(self.kernels(rows, where), {name: count * steps for name, count in STEP.items()})

    def losses(self, rows):
        return [row[0] for row in rows("SELECT what FROM losses")]

    def wait_until(self, condition, seconds=60):
        until = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until, "waited in vain")
            time.sleep(0.02)

    def kernels_now(self):
        """Committed, of the one process that runs; -1: not known."""
        shard = next(self.shards.glob("*.partial"), None)
        if shard is None:
            return -1
        # The writer holds its lock; what is read while it commits may be no database.
        with contextlib.closing(sqlite3.connect(f"file:{shard}?immutable=1", uri=True)) as connection:
            try:
                return connection.execute("SELECT count(*) FROM kernels").fetchone()[0]
            except sqlite3.DatabaseError:
                return -1


class Scenarios(Profile):
    def test_kernels_copies_ranges_and_calls_are_as_the_program_made_them(self):
        self.profile("run", "5")
        with self.rows() as rows:
            self.assert_steps(rows, 5)
            self.assertEqual(self.losses(rows), [])
            self.assertEqual(rows("SELECT DISTINCT range FROM v_kernels"), [("step",)])
            self.assertEqual(rows("SELECT count(*), sum(bytes), kind FROM copies"), [(5, 5 * 1024, "device_to_host")])
            self.assertEqual(rows("SELECT bytes, value FROM sets"), [(1024, 0)])
            self.assertEqual(rows("SELECT count(*) FROM v_ranges WHERE name = 'step' AND end_ns > start_ns"), [(5,)])
            shapes = rows("SELECT DISTINCT grid_x, block_x FROM v_kernels ORDER BY grid_x")
            self.assertEqual(shapes, [(2, 128), (4, 64)])
            # Every kernel follows a call that launched it, begins after that call did, and ends before its range does.
            wrong = """SELECT count(*) FROM kernels k LEFT JOIN api a ON a.correlation = k.correlation LEFT JOIN ranges r ON r.id = k.range_id
                WHERE a.id IS NULL OR k.start_ns < a.start_ns OR k.end_ns > r.end_ns OR a.start_ns < r.start_ns OR k.end_ns <= k.start_ns"""
            self.assertEqual(rows(wrong), [(0,)])
            self.assertEqual(rows("SELECT json_extract(value, '$') FROM meta WHERE key = 'source'"), [("emulated",)])
        self.assertEqual(self.files(), ["p.profile.sqlite"])

    def test_kernels_of_graphs_know_node_launch_and_capture(self):
        self.profile("graph", "4")
        with self.rows() as rows:
            self.assertEqual(self.kernels(rows), {"short_kernel": 8, "long_kernel": 4})
            ranges = "SELECT DISTINCT range, (SELECT text FROM strings s JOIN ranges r ON r.name_id = s.id WHERE r.id = capture_range_id) FROM v_kernels"
            self.assertEqual(rows(ranges), [("replay", "capture")])
            nodes = rows("SELECT graph_node, count(*) FROM kernels WHERE graph IS NOT NULL GROUP BY graph_node")
            self.assertEqual([count for _, count in nodes], [4, 4, 4])

    def test_threads(self):
        self.profile("threads", "4")
        with self.rows() as rows:
            self.assert_steps(rows, 1 + 2 + 3 + 4)
            found = rows("""SELECT p.text, count(*) FROM kernels k JOIN ranges r ON r.id = k.range_id JOIN ranges o ON o.id = r.parent_id
                JOIN strings p ON p.id = o.name_id GROUP BY p.text ORDER BY p.text""")
            self.assertEqual(found, [(f"thread {i}", 3 * (1 + i)) for i in range(4)])

    def test_children_that_use_cuda_have_shards_of_their_own(self):
        self.profile("fork-before", "3")
        with self.rows() as rows:
            self.assert_steps(rows, 6)
            self.assertEqual(rows("SELECT count(*), count(DISTINCT pid) FROM processes"), [(2, 2)])
            per_process = rows("SELECT count(*) FROM kernels GROUP BY process_id")
            self.assertEqual(per_process, [(9,), (9,)])
            self.assertEqual(rows("SELECT count(*) FROM devices"), [(1,)])  # one GPU, by its UUID

    def test_a_child_that_does_not_use_cuda_leaves_the_parents_shard_alone(self):
        self.profile("fork-after", "3")
        with self.rows() as rows:
            self.assert_steps(rows, 6)
            self.assertEqual(self.losses(rows), [])

    def test_another_program_in_the_same_process(self):
        self.profile("exec", "2")
        with self.rows() as rows:
            self.assert_steps(rows, 2 + 3)
            self.assertEqual(rows("SELECT count(*), count(DISTINCT pid) FROM processes"), [(2, 1)])
            self.assertEqual(self.losses(rows), ["end of shard"])

    def test_a_killed_process_keeps_what_was_flushed(self):
        for mode in ("kill", "_exit", "abort"):
            with self.subTest(mode=mode):
                done = self.profile(mode, "4", status=0 if mode == "_exit" else 2)
                with self.rows() as rows:
                    self.assert_steps(rows, 4)
                    self.assertEqual(self.losses(rows), ["end of shard"])
                if mode == "kill":
                    self.assertIn("was ended by signal 9", done.stderr)
                (self.folder / "p.profile.sqlite").unlink()

    def test_a_reset_of_the_device_loses_nothing(self):
        self.profile("reset", "3")
        with self.rows() as rows:
            self.assert_steps(rows, 6)

    def test_stdout_is_the_programs(self):
        self.assertEqual(self.profile("stdout", "1").stdout, "what the program says\n")
        (self.folder / "p.profile.sqlite").unlink()
        lines = self.profile("stdout", "1", options=["--json"]).stdout.split("\n", 1)
        self.assertEqual(lines[0], "what the program says")
        self.assertEqual(json.loads(lines[1])["kernels"], 3)

    def test_nothing_seen_is_said(self):
        done = self.profile("none", status=2)
        self.assertIn("0 launches seen", done.stderr)
        self.assertEqual(self.files(), [])
        done = self.profile("nvtx", status=2)
        self.assertIn("0 launches seen", done.stderr)
        with self.rows() as rows:
            self.assertEqual(rows("SELECT name FROM v_ranges"), [("only NVTX",)])

    def test_the_status_of_the_program_is_said(self):
        self.assertIn("ended with status 7", self.profile("fail", status=2).stderr)

    def test_from_an_awaited_range_on(self):
        self.profile("phases", "2", options=["--wait-for-range", "begin"])
        with self.rows() as rows:
            self.assert_steps(rows, 3)
            self.assertEqual(rows("SELECT count(*) FROM v_ranges WHERE name = 'step'"), [(3,)])

    def test_only_processes_that_are_asked_for(self):
        self.assertIn("0 launches seen", self.profile("run", "2", options=["--pid-filter", "no such text"], status=2).stderr)
        self.profile("run", "2", options=["--pid-filter", "profile_target"])

    def test_a_full_disk_ends_the_recording_not_the_program(self):
        steps = 3000
        self.profile(command=["bash", "-c", f"ulimit -f 400; exec {TARGET} run {steps}"], options=["--collect", "timeline,nvtx"])
        with self.rows() as rows:
            kept = rows("SELECT count(*) FROM kernels")[0][0]
            self.assertGreater(kept, 0)
            self.assertEqual(rows("SELECT sum(count) FROM losses WHERE what = 'kernels'"), [(3 * steps - kept,)])

    def test_without_cupti_the_ranges_are_there_and_the_remedy(self):
        done = self.profile("run", "2", status=2, environment={"WARPMETER_CUPTI": "/nothing/libcupti.so.13"})
        self.assertIn("set WARPMETER_CUPTI", done.stderr)
        with self.rows() as rows:
            self.assertEqual(rows("SELECT count(*) FROM v_ranges WHERE name = 'step'"), [(2,)])

    def test_collectors_can_be_left_out(self):
        self.profile("run", "2", options=["--collect", "timeline"])
        with self.rows() as rows:
            self.assert_steps(rows, 2)
            self.assertEqual(rows("SELECT count(*) FROM ranges"), [(0,)])


class Serving(Profile):
    """A program that goes on until it is told to stop."""

    def start(self, *options, environment=None):
        self.stop = self.folder / "stop"
        command = [PROGRAM, "--emulate", "tiny", "profile", "-o", self.folder / "p.profile.sqlite", *options, "--", TARGET, "serve", self.stop]
        self.server = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True, env=os.environ | (environment or {}))
        self.addCleanup(self.server.kill)
        self.wait_until(lambda: list(self.shards.glob("*.partial")))

    def end(self, status=0):
        self.stop.touch()
        _, error = self.server.communicate(timeout=60)
        self.assertEqual(self.server.returncode, status, error)
        return error

    def control(self, word):
        new = self.shards / "control.new"
        new.write_text(word + "\n")
        new.rename(self.shards / "control")


class Server(Serving):
    def test_armed_and_disarmed_by_a_file(self):
        self.start("--start-disarmed")
        time.sleep(0.5)
        self.control("arm")
        time.sleep(0.7)
        self.control("disarm")
        time.sleep(0.5)
        self.end()
        with self.rows() as rows:
            first, last, count = rows("SELECT min(start_ns), max(end_ns), count(*) FROM kernels")[0]
            self.assertGreater(count, 3)
            steps = rows("SELECT count(*) FROM v_ranges WHERE name = 'step'")[0][0]
            self.assertLess(abs(count - 3 * steps), 9)  # both begin and end at once

    def test_a_duration(self):
        self.start("--duration", "400ms")
        time.sleep(1.5)
        self.end()
        with self.rows() as rows:
            self.assertGreater(rows("SELECT count(*) FROM kernels")[0][0], 3)

    def test_sigterm_reaches_the_program(self):
        self.start()
        time.sleep(0.6)
        self.server.send_signal(signal.SIGTERM)
        self.assertIn("was ended by signal 15", self.end(status=2))
        with self.rows() as rows:
            self.assertGreater(sum(self.kernels(rows).values()), 0)
            self.assertEqual(self.losses(rows), ["end of shard"])

    def test_interrupt_reaches_the_program(self):
        self.start()
        time.sleep(0.6)
        child = int(next(self.shards.glob("*.partial")).name.split(".")[0])
        self.server.send_signal(signal.SIGINT)  # as the terminal does, to both
        os.kill(child, signal.SIGINT)
        self.assertIn("was ended by signal 2", self.end(status=2))
        with self.rows() as rows:
            self.assertGreater(sum(self.kernels(rows).values()), 0)


class OwnKernels(Profile):
    """warpmeter's own kernels under warpmeter profile, with what their run document and NVTX payloads say as the truth."""

    MODEL = {
        "architectures": ["LlamaForCausalLM"],
        "hidden_act": "silu",
        "hidden_size": 128,
        "intermediate_size": 192,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "num_key_value_heads": 1,
        "vocab_size": 256,
    }

    def test_a_step_of_a_model(self):
        (self.folder / "small.json").write_text(json.dumps(self.MODEL))
        step = ["kernels", "--step", "--layers", "2", "--model", "small.json", "--batch", "2", "--context", "32"]
        self.profile(command=[PROGRAM, *step, "--effort", "quick", "--campaigns", "1", "-o", "x.run.json"])
        with self.rows() as rows:
            samples = rows("SELECT id, payload FROM v_ranges WHERE name = 'kernel.step'")
            measured = self.document()["measurements"][0]
            self.assertEqual(len(samples), sum(map(len, measured["samples"])))
            # Of a layer: two norms, four products, RoPE, append, attention, its combination, gated unit; then gather, norm and the last product.
            kernels = 2 * 11 + 3
            for range_id, payload in samples:
                executions = json.loads(payload)["executions"]
                # One graph holds all executions of a sample.
                nodes = rows(f"SELECT count(*), count(DISTINCT graph_node) FROM kernels WHERE range_id = {range_id} AND graph IS NOT NULL")[0]
                self.assertEqual(nodes, (executions * kernels, executions * kernels))
                # From the first kernel's start to the last one's end is what the program timed, less what lies around it.
                start, end, busy = rows(f"SELECT min(start_ns), max(end_ns), sum(end_ns - start_ns) FROM kernels WHERE range_id = {range_id} AND graph IS NOT NULL")[0]
                per_step = 1e-9 * (end - start) / executions
                self.assertLess(abs(per_step / measured["value"] - 1), 0.05)
                self.assertLess(busy, end - start)
            self.assertEqual(rows("SELECT DISTINCT json_extract(payload, '$.layers') FROM ranges"), [(2,)])
            self.assertEqual(self.losses(rows), [])


class Overhead(Serving):
    """Rounds of windows in a program that goes on."""

    def test_rounds_are_made_and_what_they_miss_is_said(self):
        self.start("--overhead-budget", "100", "--overhead-rounds", "0,0.4,4,0.5", "--collect", "timeline,nvtx")
        time.sleep(12)
        error = self.end()
        with self.rows() as rows:
            text = rows("SELECT json_extract(value, '$.merged[0].provenance.overhead') FROM meta WHERE key = 'provenance'")[0][0]
            overhead = json.loads(text)
            self.assertEqual([overhead["budget"], overhead["level"]], [1, 0.9])
            self.assertEqual(overhead["rounds"][0]["windows"], 8)
            self.assertEqual(overhead["shed"], [])
            self.assertGreater(overhead["launches_counted"], 0)
            self.assertGreater(overhead["own_cpu_s"], 0)
            pauses = rows("SELECT collector, from_ns, to_ns FROM losses WHERE reason = 'unarmed to measure overhead' ORDER BY from_ns")
            for name in ("timeline", "nvtx"):
                mine = [(start, end) for collector, start, end in pauses if collector == name]
                self.assertGreaterEqual(len(mine), 2)  # ABBA: two of them may be one
                self.assertTrue(all(end > start for start, end in mine))
            self.assertEqual({row[0] for row in rows("SELECT DISTINCT reason FROM losses")}, {"unarmed to measure overhead"})
            # Steps that were recorded whole have all their kernels, but for those that a pause has cut.
            cut = rows("""SELECT count(*) FROM (SELECT r.id, (SELECT count(*) FROM kernels k WHERE k.range_id = r.id) AS n FROM ranges r
                JOIN strings s ON s.id = r.name_id WHERE s.text = 'step' AND r.end_ns IS NOT NULL) WHERE n <> 3""")[0][0]
            self.assertLessEqual(cut, len(pauses))
            self.assertGreater(self.kernels(rows)["short_kernel"], 20)
        self.assertRegex(error, r"process \d+: overhead ")
        self.assertRegex(error, r"timeline: all: unarmed to measure overhead \(\d+ times\)")

    def test_what_costs_too_much_is_shed(self):
        options = ["--overhead-budget", "0.0001", "--overhead-rounds", "0,0.5,4,0.5", "--collect", "timeline,nvtx"]
        self.start(*options, environment={"WARPMETER_EMULATED_CUPTI": "record=3000"})
        time.sleep(12)
        error = self.end()
        self.assertIn("; shed calls", error)
        with self.rows() as rows:
            told = rows("SELECT collector, what, to_ns, reason FROM losses WHERE reason LIKE 'shed: %' ORDER BY id LIMIT 1")
            self.assertEqual([row[:3] for row in told], [("timeline", "api", None)])
            self.assertIn("over the budget", told[0][3])
            after = rows("SELECT count(*) FROM api WHERE start_ns > (SELECT max(from_ns) FROM losses WHERE what = 'api')")
            self.assertEqual(after, [(0,)])

    def test_a_budget_of_nothing_makes_no_holes(self):
        self.start("--overhead-budget", "0", "--overhead-rounds", "0,0.1,4,0.1")
        time.sleep(1.5)
        self.assertIn("overhead not known: not asked for", self.end())
        with self.rows() as rows:
            self.assertEqual(self.losses(rows), [])

    def test_the_control_file_ends_a_round(self):
        self.start("--overhead-rounds", "0,5,4,0.1")
        time.sleep(3)
        self.control("disarm")
        time.sleep(0.5)
        error = self.end()
        with self.rows() as rows:
            text = rows("SELECT json_extract(value, '$.merged[0].provenance.overhead.abandoned') FROM meta WHERE key = 'provenance'")[0][0]
            self.assertEqual(json.loads(text), {"armed or disarmed from outside": 1})
        self.assertIn("overhead not known", error)


class Refusals(Profile):
    def refused(self, says, *arguments, **options):
        self.assert_refused("--emulate", "tiny", "profile", *arguments, says=says, **options)

    def test_bad_input_is_one_line(self):
        target = ["--", TARGET, "run"]
        self.refused("no_such_program", "--", "./no_such_program")
        self.refused("CMD is required")
        self.refused(['unknown collector "gpm2"', "timeline, nvtx"], "--collect", "gpm2", *target)
        self.refused("missing/p.sqlite", "-o", "missing/p.sqlite", *target)
        self.refused("--duration", "--duration", "soon", *target)
        self.refused("add timeline", "--collect", "pm", *target)
        self.refused("--overhead-budget", "--overhead-budget", "200", *target)
        (self.folder / "there.sqlite").touch()
        self.refused(["there.sqlite", "--out"], "-o", "there.sqlite", *target)
        (self.folder / "x.sqlite.shards").mkdir()
        self.refused(["x.sqlite.shards", "warpmeter merge"], "-o", "x.sqlite", *target)
        other = os.environ | {"CUDA_INJECTION64_PATH": "/opt/other.so"}
        self.refused(["CUDA_INJECTION64_PATH", "/opt/other.so"], "-o", "y.sqlite", *target, env=other)
        self.assertEqual(self.files(), ["there.sqlite", "x.sqlite.shards"])

    def test_shards_can_be_merged_later(self):
        self.profile("fork-before", "2", options=["--keep-shards"])
        shards = sorted((self.folder / "p.profile.sqlite.shards").glob("*.sqlite"))
        self.assertEqual(len(shards), 2)
        done = self.run_program("merge", *shards, "-o", "again.profile.sqlite")
        self.assertEqual(done.returncode, 0, done.stderr)
        with self.rows("again.profile.sqlite") as rows:
            self.assert_steps(rows, 4)
        self.assert_refused("merge", shards[0], shards[0], "-o", "z.sqlite", says="name it once")
        self.assert_refused("merge", "nothing.sqlite", "-o", "z.sqlite", says="nothing.sqlite")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
