# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Each published number is found again in the reference data, read and converted in another way than the transcriber's."""
import collections
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

from documents import NAMES, SOURCE, load, records, reference

SCRIPT = SOURCE / "scripts/transcribe_published.py"
PREFIX = {"": 1, "u": Fraction(1, 10**6), "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
# Licences by repository, as reference/raw/INDEX.md states them.
PERMISSIVE = {"markdewing/AI_kernels": "MIT", "microsoft/superbenchmark": "MIT", "krrishnarraj/clpeak": "Apache-2.0"}
COPYLEFT = ("RRZE-HPC/", "te42kyfo/", "HPMLL/", "chrirocca/", "ProjectPhysX/")


def in_si(value, unit):
    """Factor by factor from the letters of the unit, not from a table of units."""
    value = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    if unit in ("cycles", "B/clk", "B/clk/SM", "bytes", "count"):
        return value
    if unit == "FMA/clk/SM":
        return 2 * value
    match = re.fullmatch(r"(|u|k|M|G|T|Ki|Mi|Gi)(B/s|BPS|B|FLOPS|OPS|Hz|W|s)", unit)
    assert match, unit
    return value * PREFIX[match[1]]


def stated_clock(record):
    """Hz, where the conditions give the clock of the run; the study that prints cycles and ns runs at 1.98 GHz."""
    words = record["conditions"].replace(";", " ").split()
    if "clock" in words and words[-1] == "MHz" and record["quantity"].startswith("latency."):
        return int(words[-2]) * 10**6
    return 1_980_000_000 if "CUDA Performance Study" in record["source_title"] and "ns" in record["conditions"] else None


def expected(item, record):
    """(value, unit family) of a measurement, from the reference record alone."""
    value, clock = in_si(record["value"], record["unit"]), stated_clock(record)
    if item["quantity"] == "clock.sm":
        return Fraction(clock)
    if item["quantity"] == "transfer.time":
        return Fraction(int(item["parameters"]["size"])) / value
    return value / clock if clock else value


def key_of(record):
    return (record["gpu"], record["quantity"], record["source_title"], record["source_where"], record["conditions"])


class Records(unittest.TestCase):
    def test_every_scalar_is_in_the_reference(self):
        for name in NAMES:
            known = collections.defaultdict(list)
            for record in records(name):
                known[key_of(record)].append(record)
            for item in load(name)["measurements"]:
                origin = item["evidence"][0]
                if "licence" in origin:
                    continue
                with self.subTest(item["id"]):
                    original = origin["original"]
                    found = known[(item["conditions"]["gpu"], original["quantity"], origin["title"], origin["where"], item["conditions"]["stated"])]
                    if item["quantity"] == "clock.sm":
                        self.assertEqual(Fraction(original["value"]) * 10**6, stated_clock(found[0]))
                    else:
                        found = [r for r in found if (r["value"], r["unit"]) == (original["value"], original["unit"])]
                    self.assertEqual(len(found), 1)
                    self.assertEqual((found[0]["trust"], found[0]["kind"]), (origin["trust"], origin["kind"]))
                    self.assertEqual(item["value"], float(expected(item, found[0])))
                    in_cycles = original["unit"] == "cycles" and not stated_clock(found[0])
                    self.assertEqual(item["quantity"].endswith(".cycles"), in_cycles)

    def test_every_fact_is_in_the_reference(self):
        for name in NAMES:
            known = records(name)
            for fact, entry in load(name)["device"]["facts"].items():
                if entry["value"] is None or fact == "product":
                    continue
                with self.subTest(f"{name} {fact}"):
                    found = [r for r in known if r["quantity"].startswith("spec.") and r["trust"] in ("primary", "secondary")
                             and entry["source"].endswith(f"{r['source_title']}, {r['source_where']}, {r['gpu']}")
                             and in_si(r["value"], r["unit"]) == entry["value"]]
                    self.assertTrue(found)
                    self.assertEqual(entry["source"].split(":")[0], "datasheet" if found[0]["kind"] == "datasheet" else "reported")

    def curve(self, name, quantity, **fixed):
        return {item["parameters"].get("footprint") or item["parameters"]["size"]: item["value"] for item in load(name)["measurements"]
                if item["quantity"] == quantity and "licence" in item["evidence"][0]
                and all(item["parameters"].get(key) == held for key, held in fixed.items())}

    def test_latency_curves_are_whole(self):
        for name, file in (("v100", "v100"), ("a100", "a100sxm"), ("h100_sxm", "h100sxm"), ("rtx4090", "4090")):
            text = (reference() / f"raw/markdewing-ai-kernels/latency__data__{file}.dat").read_text()
            rows = re.findall(r"^(\d+) \d+ \d+ ([\d.]+)$", text, re.M)
            self.assertEqual(len(rows), 50)
            self.assertEqual(self.curve(name, "latency.chase.cycles"), {float(size): float(cycles) for size, cycles in rows})

    def test_transfer_curves_are_whole(self):
        for log, quantity, fixed in (("h2d", "transfer.time", {"direction": "h2d"}), ("d2h", "transfer.time", {"direction": "d2h"}), ("d2d", "bandwidth.copy", {})):
            text = (reference() / f"raw/superbenchmark-tests/tests__data__cuda_memory_{log}_bw.log").read_text()
            rows = [(int(line.split("Size = ")[1].split()[0]), line.split("Bandwidth = ")[1].split()[0]) for line in text.splitlines() if "Size = " in line]
            self.assertEqual(len(rows), 81)
            if log == "d2d":
                truth = {2.0 * size: float(rate) * 1e9 for size, rate in rows}
            else:
                truth = {float(size): size / (float(rate) * 1e9) for size, rate in rows}
            ours = self.curve("v100", quantity, **fixed)
            self.assertEqual(ours.keys(), truth.keys())
            for size, value in truth.items():
                self.assertAlmostEqual(ours[size] / value, 1, delta=1e-14)

    def test_collective_curves_are_whole(self):
        for op in ("allgather", "allreduce", "alltoall", "broadcast", "reduce", "reducescatter"):
            text = (reference() / f"raw/superbenchmark-tests/tests__data__nccl_{op}.log").read_text()
            truth = {}
            for line in text.splitlines():
                if match := re.match(r"\s*([1-9]\d*)\s+\d+\s+float\s+(?:sum\s+)?(?:\d+\s+)?([\d.]+)\s+[\d.]+\s+[\d.]+\s+N/A\s", line):
                    truth[float(match[1])] = float(Fraction(match[2]) / 10**6)
            self.assertGreater(len(truth), 25)
            self.assertEqual(self.curve("a100", "collective.time", op=op), truth)

    def test_collective_times_agree_with_the_bus_bandwidth_of_the_reference(self):
        factor = {"allreduce": 2 * 7 / 8, "allgather": 7 / 8, "reducescatter": 7 / 8, "alltoall": 7 / 8, "broadcast": 1, "reduce": 1}
        for op, share in factor.items():
            ours = self.curve("a100", "collective.time", op=op)
            for record in records("a100"):
                if record["quantity"] == f"collective.{op}.busbw" and record["source_title"].startswith("microsoft"):
                    size = int(record["conditions"].split("size ")[1].split()[0])
                    self.assertAlmostEqual(size * share / ours[size] / 1e9, record["value"], delta=0.006 + 0.002 * record["value"])

    def test_clpeak_values_are_the_best_of_their_section(self):
        for name, file in (("v100", "Tesla_V100"), ("a100", "NVIDIA_A100-SXM4-40GB")):
            best, section, device = {}, "", 0
            for line in (reference() / f"raw/clpeak/{file}.log").read_text().splitlines():
                device += line.startswith("  Device:")
                if device == 1 and line.startswith("    ") and line.rstrip().endswith(")") and ":" not in line:
                    section = line.strip()
                elif device == 1 and line.startswith("      ") and ":" in line:
                    best[section] = max(best.get(section, 0), float(line.split(":")[1]))
            found = [item for item in load(name)["measurements"] if item["parameters"]["source"] == "clpeak"]
            self.assertEqual(len(found), {"v100": 3, "a100": 2}[name])
            for item in found:
                original = item["evidence"][0]["original"]
                self.assertEqual(original["value"], best[original["quantity"]])
                self.assertEqual(item["value"], float(in_si(original["value"], original["unit"])))

    def test_curve_points_keep_what_was_printed(self):
        for name in NAMES:
            for item in load(name)["measurements"]:
                if "licence" in item["evidence"][0]:
                    original = item["evidence"][0]["original"]
                    value = in_si(original["value"], original["unit"])
                    self.assertEqual(item["value"], float(Fraction(int(item["parameters"]["size"])) / value if item["quantity"] == "transfer.time" else value))

    def test_samples_are_those_of_the_source(self):
        for name, gpu, groups in (("v100", "Tesla_V100-PCIE-16GB", {20: 128, 22: 127}), ("a100", "NVIDIA_A100-PCIE-40GB", {16: 146, 28: 109}),
                                  ("h100_sxm", "NVIDIA_H100_80GB_HBM3", {17: 15, 21: 240})):
            text = (reference() / f"raw/mt4g/sample_results__{gpu}__{gpu}_-_L2_Latency.txt").read_text()
            found = [item for item in load(name)["measurements"] if item["samples"]]
            self.assertEqual(len(found), 1)
            self.assertEqual(found[0]["samples"], [[float(number) for number in text.split()]])
            self.assertEqual(sorted(found[0]["samples"][0])[127], found[0]["value"])
            edges = sorted(groups)
            self.assertEqual({edges[0]: sum(s < 10 * edges[1] for s in found[0]["samples"][0]), edges[1]: sum(s >= 10 * edges[1] for s in found[0]["samples"][0])}, groups)

    def test_curves_are_under_permissive_licences(self):
        for name in NAMES:
            points = collections.Counter()
            for item in load(name)["measurements"]:
                origin = item["evidence"][0]
                if any(owner in origin["where"] for owner in COPYLEFT):
                    self.assertNotIn("licence", origin)
                    points[item["quantity"], origin["where"]] += 1
                elif "licence" in origin:
                    self.assertEqual(origin["licence"], PERMISSIVE[origin["where"].split("github.com/")[1].split("@")[0].split(" ")[0]])
            self.assertLessEqual(max(points.values(), default=0), 1)

    def test_counts(self):
        """A floor for each file, below what a change of the tables would lose."""
        floor = {"v100": 330, "a100": 380, "h100_sxm": 130, "h200": 60, "rtx4090": 110}
        for name in NAMES:
            self.assertGreaterEqual(len(load(name)["measurements"]), floor[name], name)


class Transcriber(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def transcribe(self, shared, out):
        return subprocess.run([sys.executable, SCRIPT, shared, out], capture_output=True, text=True, check=False)

    def test_the_files_are_what_the_script_writes(self):
        for _ in range(2):
            self.assertEqual(self.transcribe(reference(), self.folder).returncode, 0)
            for name in NAMES:
                file = f"{name}.run.json"
                self.assertEqual((self.folder / file).read_bytes(), (SOURCE / "results/published" / file).read_bytes(), file)

    def test_a_record_that_no_rule_knows_is_one_clear_line(self):
        changes = (("gpu", "A100-SXM4-96GB", "A100-SXM4-96GB"), ("quantity", "latency.l3.hit", "latency.l3.hit"),
                   ("conditions", "read off a plot", "read off a plot"), ("source_title", "a blog", "a blog"), ("unit", "furlongs", "furlongs"))
        for key, value, told in changes:
            with self.subTest(key):
                shared = self.folder / key
                shared.mkdir()
                for entry in reference().iterdir():
                    (shared / entry.name).symlink_to(entry)
                table = records("a100")
                index = next(i for i, r in enumerate(table) if r["quantity"] == "latency.l1.hit" and r["source_title"].startswith("RRZE"))
                table[index][key] = value
                (shared / "a100.json").unlink()
                (shared / "a100.json").write_text(json.dumps(table))
                result = self.transcribe(shared, self.folder)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(len(result.stderr.splitlines()), 1)
                self.assertIn(f"record {index}", result.stderr)
                self.assertIn(told, result.stderr)

    def test_a_missing_folder_is_one_clear_line(self):
        result = self.transcribe(self.folder / "nothing", self.folder)
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (1, 1))
        self.assertIn("nothing", result.stderr)


if __name__ == "__main__":
    unittest.main()
