#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""warpmeter profile of an unmodified Python program, on the emulated GPU. Third argument: the library whose kernels it calls."""

import sys
import threading
import unittest

from profile_test import Profile, TARGET

# Ranges by the PyPI package nvtx, kernels by ctypes. It knows nothing of warpmeter.
PROGRAM = '''
import atexit, ctypes, multiprocessing, os, pathlib, sys, threading, time
import nvtx

kernels = ctypes.CDLL(sys.argv[1])

def call(function, *arguments):
    error = function(*arguments)
    if error:
        raise RuntimeError(f"{function.__name__}: CUDA error {error}")

class Worker:
    def __init__(self):
        self.data, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        call(kernels.make_worker, ctypes.byref(self.data), ctypes.byref(self.stream))

    def step(self):
        with nvtx.annotate("step"):
            call(kernels.launch_short, self.data, self.stream)
            for _ in range(2):
                call(kernels.launch_long, self.data, self.stream)
            call(kernels.wait_for, self.stream)

def work(name, steps):
    with nvtx.annotate(name):
        worker = Worker()
        for _ in range(steps):
            worker.step()

def in_threads(prefix, count):
    threads = [threading.Thread(target=work, args=(f"{prefix} {i}", 1 + i)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def late():  # when the interpreter already shuts down
    while threading.main_thread().is_alive():
        time.sleep(0.001)
    work("late thread", 2)

def main(mode, *arguments):
    if mode == "threads":
        in_threads("thread", 4)
    if mode == "spawn":
        context = multiprocessing.get_context("spawn")
        children = [context.Process(target=in_threads, args=(f"child {i}", 2)) for i in range(2)]
        for child in children:
            child.start()
        in_threads("parent", 3)
        for child in children:
            child.join()
        sys.exit(max(child.exitcode for child in children))
    if mode == "shutdown":
        atexit.register(work, "at exit", 3)
        threading.Thread(target=late).start()
        work("main", 1)
    if mode == "exception":
        work("main", 2)
        raise ValueError("of the program")
    if mode == "_exit":
        work("flushed", 4)
        while not pathlib.Path(arguments[0]).exists():
            time.sleep(0.01)
        work("not flushed", 5)
        os._exit(0)

if __name__ == "__main__":
    main(*sys.argv[2:])
'''

RANGES = """SELECT o.text, s.text, p.pid, count(*) FROM kernels k JOIN ranges r ON r.id = k.range_id JOIN strings s ON s.id = r.name_id
    JOIN ranges w ON w.id = r.parent_id JOIN strings o ON o.id = w.name_id JOIN processes p ON p.id = k.process_id
    WHERE r.process_id = k.process_id GROUP BY o.text, s.text, p.pid ORDER BY o.text"""


class Python(Profile):
    def run_python(self, *arguments, **options):
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        return self.profile(command=[sys.executable, program, TARGET, *arguments], **options)

    def assert_ranges(self, rows, steps):
        """Kernels of each outer range, all in a range "step". Returns the processes of each."""
        found = rows(RANGES)
        self.assertEqual({outer: count for outer, _, _, count in found}, {name: 3 * count for name, count in steps.items()})
        self.assertEqual({inner for _, inner, _, _ in found}, {"step"})
        self.assertEqual(len(found), len(steps), "an outer range in two processes")
        self.assert_steps(rows, sum(steps.values()))  # none without a range
        return {outer: pid for outer, _, pid, _ in found}

    def test_kernels_are_in_the_ranges_of_their_threads(self):
        self.run_python("threads")
        with self.rows() as rows:
            self.assert_ranges(rows, {f"thread {i}": 1 + i for i in range(4)})
            self.assertEqual(rows("SELECT count(DISTINCT thread) FROM v_ranges WHERE name = 'step'"), [(4,)])
            self.assertEqual(self.losses(rows), [])

    def test_spawned_processes_have_kernels_of_their_own(self):
        self.run_python("spawn")
        with self.rows() as rows:
            steps = {f"parent {i}": 1 + i for i in range(3)} | {f"child {c} {i}": 1 + i for c in range(2) for i in range(2)}
            pids = self.assert_ranges(rows, steps)
            processes = dict(rows("SELECT pid, parent_pid FROM processes"))
            self.assertEqual(set(pids.values()), set(processes))
            self.assertEqual(len(processes), 3)
            parent = pids["parent 0"]
            for name, pid in pids.items():
                self.assertEqual(pid if name.startswith("parent") else processes[pid], parent, name)
            self.assertNotEqual(pids["child 0 0"], pids["child 1 0"])
            self.assertEqual(self.losses(rows), [])

    def test_what_runs_while_the_interpreter_shuts_down_is_there(self):
        self.run_python("shutdown")
        with self.rows() as rows:
            self.assert_ranges(rows, {"main": 1, "late thread": 2, "at exit": 3})
            self.assertEqual(self.losses(rows), [])

    def test_an_exception_loses_nothing(self):
        arguments = ["--emulate", "tiny", "profile", "-o", "p.profile.sqlite", "--"]
        (self.folder / "program.py").write_text(PROGRAM)
        done = self.run_program(*arguments, sys.executable, "program.py", TARGET, "exception")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("ValueError: of the program", done.stderr)
        with self.rows() as rows:
            self.assert_ranges(rows, {"main": 2})
            self.assertEqual(self.losses(rows), [])

    def test_an_exit_without_shutdown_loses_what_was_not_flushed(self):
        go = self.folder / "go"
        run = threading.Thread(target=self.run_python, args=("_exit", go))
        run.start()
        try:
            self.wait_until(lambda: self.kernels_now() == 3 * 4)
        finally:
            go.touch()
            run.join()
        with self.rows() as rows:
            found = {outer: count for outer, _, _, count in rows(RANGES)}
            self.assertEqual(found["flushed"], 3 * 4)
            self.assertLessEqual(found.get("not flushed", 0), 3 * 5)
            self.assertEqual(self.losses(rows), ["end of shard"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
