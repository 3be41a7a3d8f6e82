#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Uses the built warpmeter as a user would. Arguments: the program, the source folder."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import unittest

import jsonschema

from program import PROGRAM, QUICK, SOURCE, Commands


class BadInput(Commands):
    def test_usage(self):
        self.assert_refused(says="subcommand")
        self.assert_refused("nonsense", says="nonsense")
        self.assert_refused("bench", "--nonsense", says="--nonsense")
        self.assert_refused("bench", "--campaigns", "0", says="--campaigns")
        self.assert_refused("bench", "--campaigns", "many", says="--campaigns")
        self.assert_refused("bench", "--time-budget", "-3", says="bad duration")
        self.assert_refused("bench", "--effort", "huge", "--device", "cpu", says="unknown effort")
        self.assert_refused("bench", "--resume", "--fresh", "--device", "cpu", says="exclude each other")
        self.assertEqual(self.files(), [])

    def test_unknown_ids_offer_the_nearest(self):
        self.assert_refused("bench", "latency.chsae", *QUICK, says=["latency.chsae", "latency.chase"])
        self.assert_refused("kernels", "kernel.nonsense", *QUICK, says="nearest")

    def test_devices(self):
        self.assert_refused("bench", "--device", "tpu", says="use cpu or cuda:N")
        self.assert_refused("bench", "--device", "cuda:97", says="cuda:97 is not here")

    def test_google_benchmark_flags(self):
        self.assert_refused("bench", *QUICK, "--benchmark_filter=(", says="regular expression")
        self.assert_refused("bench", *QUICK, "--benchmark_filter=matches_nothing", says="nothing to run")
        self.assert_refused("bench", *QUICK, "--benchmark_nonsense=1", says="--benchmark_nonsense")

    def test_documents(self):
        cases = {
            "empty": ("", "empty"),
            "truncated": ('{"schema": "warpmeter.run/1", "sour', "cut off"),
            "foreign": ('{"traceEvents": []}', '"schema" is missing'),
            "list": ("[1, 2]", "an object was expected"),
            "other version": ('{"schema": "warpmeter.run/7"}', "warpmeter.run/7"),
            "other kind": ('{"schema": "warpmeter.machine/1"}', "a warpmeter.run/1 is needed"),
            "binary": ("\x00\x01\x02", "not valid JSON"),
        }
        for name, (text, says) in cases.items():
            with self.subTest(name):
                (self.folder / "bad.json").write_text(text)
                self.assert_refused("calibrate", "bad.json", says=["bad.json", says])
        self.assert_refused("calibrate", "absent.json", says="absent.json")
        self.assert_refused("calibrate", self.folder, says="folder")
        self.assert_refused("validate", "absent.json", "absent.json", says="absent.json")
        self.assert_refused("compare", "absent.json", "absent.json", says="absent.json")
        self.assert_refused("report", "absent", says="not a folder")
        self.assert_refused("report", self.folder, says="neither")

    def test_places_that_cannot_be_written(self):
        self.assert_refused("bench", *QUICK, "launch", "-o", self.folder / "no" / "x.json", says="no/x.json")
        (self.folder / "file").write_text("")
        self.assert_refused("run", *QUICK, "--out", self.folder / "file" / "x", says="cannot make the folder")

    def test_a_full_disk_leaves_nothing_half_written(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        done = self.bench("launch", "latency.core_to_core", preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot write", done.stderr)
        self.assertNotIn("x.run.json", self.files())


class Measuring(Commands):
    def test_a_run_document_fits_its_schema(self):
        done = self.bench("launch", "clock")
        self.assertIn(done.returncode, (0, 2), done.stderr)
        self.assertIn("device: cpu (asked for)", done.stderr)
        document = self.document()
        jsonschema.validate(document, json.loads((SOURCE / "results/schema/run.schema.json").read_text()))
        self.assertEqual(document["source"], "measured")
        self.assertTrue(all(len(m["samples"]) == 4 for m in document["measurements"] if m["value"]))
        self.assertEqual(self.files(), ["x.run.json"])

    def test_google_benchmarks_output_is_its_own(self):
        done = self.bench("launch", "--benchmark_out=gb.json", "--benchmark_repetitions=2")
        self.assertIn(done.returncode, (0, 2), done.stderr)
        names = [entry for entry in self.document("gb.json")["benchmarks"] if entry["run_type"] == "iteration"]
        self.assertEqual(len(names), 2 * len(self.document()["measurements"]))
        self.assertIn("real_time", names[0])

    def test_listing_runs_nothing(self):
        done = self.bench("--benchmark_list_tests")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("latency.chase/footprint=", done.stdout)
        self.assertEqual(self.files(), [])
        self.assertIn("latency.chase", self.run_program("list").stdout)
        self.assertTrue(json.loads(self.run_program("list", "--kernels", "--json").stdout))

    def test_doctor_speaks_json(self):
        document = json.loads(self.run_program("doctor", "--json").stdout)
        for checks in document["host"], document["gpu"]:
            self.assertEqual({check["status"] for check in checks} - {"ok", "limited", "missing"}, set())

    def test_doctor_says_what_counters_there_are(self):
        environment = {**os.environ, "WARPMETER_CUPTI": "/nowhere/libcupti.so.13", "NSYS_PROFILING_SESSION_ID": "1"}
        document = json.loads(self.run_program("doctor", "--json", env=environment).stdout)
        details = {}
        for check in document["gpu"]:
            details.setdefault(check["name"], []).append(check["detail"])
        self.assertIn("/nowhere/libcupti.so.13", details["CUPTI"][0])
        self.assertIn("/nowhere/libcupti.so.13", details["CUPTI places"][0])
        self.assertIn("Nsight Systems is at work here: NSYS_PROFILING_SESSION_ID is set", details["other tools"])
        self.assertIn(details["counters"], (["none"], ["GPM"]))  # without a driver, or with one of Hopper or newer
        for collector in ("timeline", "range", "pm", "pc"):
            self.assertIn("not to be told: ", details["without " + collector][0])
        for name in ("CUDA driver", "permission", "GPM", "NVML", "GPUs"):
            self.assertEqual(len(details[name]), 1, name)

    def interrupt(self, how):
        """Starts a long run, waits until the journal holds a campaign, sends the signal. Returns (status, standard error)."""
        command = [PROGRAM, "bench", *QUICK, "--campaigns", "200", "launch", "clock", "-o", self.folder / "x.run.json"]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        journal = self.folder / "x.run.json.partial"
        for _ in range(600):
            if journal.exists() and len(journal.read_text().splitlines()) > 2:
                break
            time.sleep(0.05)
        child.send_signal(how)
        _, errors = child.communicate(timeout=60)
        return child.returncode, errors

    def test_control_c_keeps_what_is_finished(self):
        status, errors = self.interrupt(signal.SIGINT)
        self.assertEqual(status, 2, errors)
        self.assertIn("interrupted", errors)
        document = self.document()
        self.assertFalse(document["complete"])
        self.assertTrue(document["measurements"])
        finished = len((self.folder / "x.run.json.partial").read_text().splitlines()) - 1
        self.assert_refused("bench", *QUICK, "launch", "clock", "-o", self.folder / "x.run.json", "--campaigns", "200", says="--resume")
        self.assert_refused("bench", *QUICK, "launch", "clock", "-o", self.folder / "x.run.json", "--resume", says="other options")
        self.assertGreater(finished, 0)

    def test_a_killed_run_resumes(self):
        self.interrupt(signal.SIGKILL)
        self.assertEqual(self.files(), ["x.run.json.partial"])
        lines = (self.folder / "x.run.json.partial").read_text().splitlines()
        first = json.loads(lines[1])
        done = self.bench("launch", "clock", "--campaigns", "200", "--resume", "--time-budget", "1s")
        self.assertEqual(done.returncode, 2, done.stderr)
        kept = {m["id"]: m["samples"] for m in self.document()["measurements"]}
        self.assertIn(first["campaign"]["samples"], kept[first["id"]])
        self.assertIn("time budget", done.stderr)

    def test_another_process_on_our_core_contaminates(self):
        cores = len(os.sched_getaffinity(0))
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * cores)]
        try:
            self.bench("clock")
        finally:
            for process in busy:
                process.kill()
                process.wait()
        verdicts = {m["verdict"] for m in self.document()["measurements"]}
        self.assertIn("contaminated", verdicts)

    def test_one_core_leaves_the_rest_unsupported(self):
        core = min(os.sched_getaffinity(0))
        done = self.bench("latency.core_to_core", preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        self.assertEqual(done.returncode, 2, done.stderr)
        for measurement in self.document()["measurements"]:
            self.assertEqual(measurement["verdict"], "unsupported")
            self.assertIsNone(measurement["value"])
            self.assertIn("one core", measurement["reason"])


class Published(Commands):
    def test_a_published_gpu_becomes_a_published_machine(self):
        done = self.run_program("calibrate", SOURCE / "results/published/a100.run.json", "-o", "a100.machine.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        machine = self.document("a100.machine.json")
        jsonschema.validate(machine, json.loads((SOURCE / "results/schema/machine.schema.json").read_text()))
        with_value = [p for p in machine["parameters"].values() if p["value"] is not None]
        self.assertGreater(len(with_value), 10)
        self.assertEqual({p["status"] for p in with_value}, {"published"})
        self.assertIn("without a value:", done.stdout)
        self.assert_refused("calibrate", SOURCE / "results/published/a100.run.json", SOURCE / "results/published/h200.run.json", says="A100")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
