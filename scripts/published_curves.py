# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""The measurement of a published number, and the readers of whole curves, for transcribe_published.py."""
import re
from fractions import Fraction

import published_rules as rules

NO_INTERVAL = "the source gives no interval"


class Unmapped(Exception):
    """A record that no rule knows: one line that names it."""


def exact(number):
    """The decimal number as printed, without binary rounding."""
    return Fraction(str(number))


def unit_of(printed):
    """(our unit, exact factor) of a unit as printed."""
    if printed not in rules.UNITS:
        raise Unmapped(f"no rule for the unit \"{printed}\"")
    unit, factor = rules.UNITS[printed]
    return unit, Fraction(factor)


def measurement(quantity, parameters, value, unit, conditions, method, evidence, verdict=("ok", NO_INTERVAL)):
    parameters = dict(sorted(parameters.items()))
    text = ",".join(f"{name}={int(held) if isinstance(held, float) and held == int(held) else held}" for name, held in parameters.items())
    return {"id": f"{quantity}/{text}", "quantity": quantity, "parameters": parameters, "value": float(value), "unit": unit, "interval": None,
            "level": 0.9, "samples": [], "conditions": conditions, "verdict": verdict[0], "reason": verdict[1], "method": method,
            "evidence": [evidence]}


def raw_evidence(title, where, licence, quantity, text, unit, note=""):
    number = int(text) if re.fullmatch(r"\d+", text) else float(text)
    return {"title": title, "where": where, "kind": "measured", "trust": "primary", "note": note, "licence": licence,
            "original": {"quantity": quantity, "value": number, "unit": unit}}


def read_markdewing(text, where, licence, gpu, caveat):
    """Lines of bytes, KiB, MiB, cycles per load."""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        size, _, _, cycles = line.split()
        conditions = {"gpu": gpu, "stated": "clocks not locked", **({"caveat": caveat} if caveat else {})}
        yield measurement("latency.chase.cycles", {"footprint": float(size), "source": "markdewing"}, exact(cycles), "cycle", conditions,
                          "chase of indices by one thread, SM counter around the loop",
                          raw_evidence("markdewing/AI_kernels latency data", where, licence, "cycles", cycles, "cycles"))


def read_bandwidth_test(text, where, licence, gpu, test):
    """Lines of CUDA's bandwidthTest; its device-to-device figure counts bytes read plus written."""
    line = re.compile(rf"bandwidthTest-{test}, Bandwidth = ([\d.]+) GB/s, Time = [\d.]+ s, Size = (\d+) bytes, NumDevsUsed = 1")
    for match in filter(None, map(line.fullmatch, text.splitlines())):
        rate, size = exact(match[1]) * 10**9, int(match[2])
        conditions = {"gpu": gpu, "stated": f"bandwidthTest shmoo, {test}", "printed_to": "0.1 GB/s"}
        evidence = raw_evidence("microsoft/superbenchmark parser test data", where, licence, "Bandwidth", match[1], "GB/s")
        if test == "D2D":
            evidence["note"] = "the tool counts read plus write: as payload only, 772 GB/s would need 1544 of the 900 GB/s that the memory has"
            yield measurement("bandwidth.copy", {"footprint": float(2 * size), "engine": "ce", "source": "superbenchmark"}, rate, "B/s", conditions,
                              "cudaMemcpy inside the device, bytes read plus written", evidence)
        else:
            parameters = {"size": float(size), "direction": test[:3].lower(), "engine": "ce", "source": "superbenchmark"}
            yield measurement("transfer.time", parameters, size / rate, "s", conditions,
                              "cudaMemcpy of pinned memory; size over the printed bandwidth", evidence)


def read_nccl(text, where, licence, gpu, op):
    """Rows of nccl-tests: size, count, type, ..., then time, algbw, busbw, error out of place and in place."""
    for line in text.splitlines():
        words = line.split()
        if len(words) < 11 or not words[0].isdigit() or words[0] == "0":
            continue
        yield measurement("collective.time", {"op": op, "ranks": 8.0, "size": float(words[0]), "source": "superbenchmark"}, exact(words[-8]) / 10**6, "s",
                          {"gpu": gpu, "stated": "nccl-tests out-of-place, 8 GPUs", "caveat": rules.FILES["a100"][1]["8x A100-SXM4-40GB"][1]},
                          "nccl-tests out of place, mean of 20 calls, one process with 8 GPUs",
                          raw_evidence("microsoft/superbenchmark parser test data", where, licence, "time", words[-8], "us"))


def read_clpeak(text, where, licence, gpu, scope):
    """The first device's sections; the best vector width of each is the estimate."""
    device = text.split("Device:")[1]
    if device.split("\n")[0].strip() != gpu:
        raise Unmapped(f"{where} is of another device than {gpu}")
    for section, unit, quantity, domain, method in (
            ("Global memory bandwidth (GBPS)", "GBPS", "bandwidth.dram.read.device", rules.DRAM, "OpenCL reads, best of five vector widths"),
            ("Single-precision compute (GFLOPS)", "GFLOPS", "throughput.fma.f32.device", rules.CHIP, "OpenCL multiply-adds, best of five vector widths"),
            ("Double-precision compute (GFLOPS)", "GFLOPS", "throughput.fma.f64.device", rules.CHIP, "OpenCL multiply-adds, best of five vector widths")):
        if domain not in scope:
            continue
        rows = [row.split(":") for row in device.split(section)[1].split("\n\n")[0].strip().splitlines()]
        width, best = max(((label.strip(), number.strip()) for label, number in rows), key=lambda row: exact(row[1]))
        our_unit, factor = unit_of(unit)
        # Where the board has slower memory, clpeak's compute still is the chip's.
        conditions = {"gpu": gpu, "stated": f"clpeak, {section}, {width}", **({"caveat": rules.FILES["a100"][1]["A100-SXM4-40GB"][1]} if "A100" in gpu else {})}
        yield measurement(quantity, {"vector": width, "source": "clpeak"}, exact(best) * factor, our_unit, conditions, method,
                          raw_evidence("krrishnarraj/clpeak result logs", where, licence, section, best, unit))


READERS = {"markdewing": read_markdewing, "bandwidth_test": read_bandwidth_test, "nccl": read_nccl, "clpeak": read_clpeak}
