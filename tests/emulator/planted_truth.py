# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Planted truth: the suite measures chips with random parameters on the emulated GPU and must report what was planted.

usage: planted_truth.py WARPMETER CHIPS SEEDS FOLDER     (SEEDS: 1-30 or 4,7; CHIPS: the folder with tiny.json)

Writes chip, run and machine files of each seed to FOLDER, prints every miss, exits 1 if less than 95 % of the
parameters are right."""
import json
import math
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import random_chip  # noqa: E402

RATE = 0.03
LATENCY = 0.02
CYCLES = 2
SHARE = 0.95


def seeds_of(text):
    if "-" in text:
        low, high = map(int, text.split("-"))
        return range(low, high + 1)
    return [int(part) for part in text.split(",")]


def measured(run, machine, name):
    """The value and interval of a parameter; those that are no machine parameters come from the run."""
    if name == "sm.count":
        seen = [len(m["conditions"]["sms"]) for m in run["measurements"]
                if m["quantity"] == "clock.core" and m["parameters"]["load"] == "vector" and "sms" in m["conditions"]]
        return (seen[0] if seen else None), None
    if name == "latency.peer":
        values = [m["value"] for m in run["measurements"] if m["quantity"] == name]
        return values[0], None
    parameter = machine["parameters"][name]
    return parameter["value"], parameter["interval"]


def right(kind, planted, value, interval, hz):
    if value is None:
        return False
    if kind == "exact":
        return value == planted
    if kind == "rate":
        return abs(value / planted - 1) <= RATE
    if kind == "latency":
        return abs(value - planted) <= max(LATENCY * planted, CYCLES / hz)
    # A knee is a bracket of neighbouring grid points; it may be one step off.
    step = max(interval[1] / interval[0], math.sqrt(math.sqrt(2)))
    return interval[0] / step <= planted <= interval[1] * step


def study(warpmeter, template, seed, folder):
    chip = random_chip.random_chip(seed, template)
    files = {kind: folder / f"{seed}.{kind}.json" for kind in ("chip", "run", "machine")}
    files["chip"].write_text(json.dumps(chip, indent=1) + "\n")
    command = [warpmeter, "--emulate", files["chip"], "bench", "--device", "cuda:0", "--campaigns", "1", "--fresh",
               "--out", files["run"]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"seed {seed}: bench ended with {done.returncode}: {done.stderr[-2000:]}")
    subprocess.run([warpmeter, "calibrate", files["run"], "--out", files["machine"]], check=True, capture_output=True)
    run = json.loads(files["run"].read_text())
    machine = json.loads(files["machine"].read_text())
    failed = [m["id"] + ": " + m["reason"] for m in run["measurements"] if m["verdict"] == "failed"]
    misses = []
    expected = random_chip.expectations(chip)
    for name, planted, kind in expected:
        value, interval = measured(run, machine, name)
        if not right(kind, planted, value, interval, chip["sm"]["hz"]):
            share = f"{100 * (value / planted - 1):+.1f} %" if value is not None else machine["parameters"].get(name, {}).get("reason")
            misses.append(f"{name}: planted {planted:.6g}, measured {value if value is None else format(value, '.6g')} ({share})")
    return len(expected), misses, failed


def main():
    warpmeter, chips, seeds, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    template = json.loads((pathlib.Path(chips) / "tiny.json").read_text())
    total = missed = 0
    for seed in seeds_of(seeds):
        count, misses, failed = study(warpmeter, template, seed, folder)
        total += count
        missed += len(misses)
        print(f"seed {seed}: {count - len(misses)} of {count}", flush=True)
        for text in misses + failed:
            print(f"  {text}", flush=True)
        if failed:
            sys.exit("a benchmark failed")
    print(f"{total - missed} of {total} parameters as planted ({100 * (1 - missed / total):.1f} %)")
    sys.exit(0 if missed <= (1 - SHARE) * total else 1)


if __name__ == "__main__":
    main()
