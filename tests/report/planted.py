# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Synthetic documents with planted numbers, so that a test knows what a page must show. Nothing here was measured."""

import json
import math
import random

FOOTPRINTS = [4096 * 2 ** (i / 2) for i in range(33)]  # 4 KiB to 256 MiB
SIZES = [4096 * 4**i for i in range(9)]
IN_FLIGHT = [64 * n for n in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)]
LEVELS = {"l1": (32768, 1.4e-9, 210e9), "l2": (2 << 20, 5.2e-9, 120e9), "l3": (32 << 20, 27e-9, 60e9), "dram": (None, 96e-9, 21e9)}
PEAKS = {"f64": 48e9, "f32": 96e9, "bf16": 180e9}
FAMILIES = {  # ops per byte, shapes
    "gemm_prefill": (60.0, 6), "gemm_decode": (0.5, 6), "attention_decode": (0.6, 5),
    "norm": (0.4, 4), "softmax": (0.7, 4), "swiglu": (0.3, 3), "gather": (0.0, 3),
}


def number(value):
    return int(value) if value == int(value) else value


def identifier(quantity, parameters):
    words = ",".join(f"{k}={number(v) if not isinstance(v, str) else v}" for k, v in sorted(parameters.items()))
    return f"{quantity}/{words}" if words else quantity


def measurement(quantity, parameters, value, unit, relative=0.02, verdict="ok", reason="", **more):
    parameters = {k: number(v) if not isinstance(v, str) else v for k, v in parameters.items()}
    interval = None if value is None else [value * (1 - relative), value * (1 + relative)]
    return dict({
        "id": identifier(quantity, parameters), "quantity": quantity, "parameters": parameters, "value": value, "unit": unit,
        "interval": interval, "level": 0.9, "samples": [], "conditions": {}, "verdict": verdict, "reason": reason,
        "method": "planted", "evidence": []}, **more)


def level_at(footprint):
    return next(name for name, (size, _, _) in LEVELS.items() if size is None or footprint <= size)


def latency(footprint, page, rng):
    """A staircase whose steps take half an octave, plus page walks beyond 8 MiB for small pages."""
    weight, value = 1.0, 0.0
    for size, seconds, _ in LEVELS.values():
        hit = 1.0 if size is None else 1 / (1 + math.exp(-6 * math.log2(size * 1.15 / footprint)))
        value += weight * hit * seconds
        weight *= 1 - hit
    if page == "4k" and footprint > 8 << 20:
        value += 22e-9 * min(1.0, math.log2(footprint / (8 << 20)) / 3)
    return value * rng.lognormvariate(0, 0.01)


def kernels(rng):
    rows = []
    for family, (intensity, shapes) in FAMILIES.items():
        for i in range(shapes):
            size = 2.0 ** (18 + 2 * i)
            ops = intensity * size
            seconds = ((ops / 90e9) ** 3 + (size / 19e9) ** 3) ** (1 / 3) * rng.lognormvariate(0, 0.08) + 6e-6
            rows.append(measurement(
                "kernel.time",
                {"kernel": family + "_kernel", "family": family, "type": "f32", "m": 2**i, "n": 4096, "threads": 2,
                 "residency": "cold", "split": "held_out" if i % 2 else "fit", "model": "llama3-8b"},
                seconds, "s", 0.03,
                work={"ops": {"f32": ops} if ops else {}, "bytes_read": size * 0.75, "bytes_written": size * 0.25,
                      "working_set": size, "launches": 1}))
    return rows


def facts():
    sizes = {f"cache.{name}{'d' if name == 'l1' else ''}.size": size for name, (size, _, _) in LEVELS.items() if size}
    found = {name: {"value": size, "unit": "B", "source": "planted"} for name, size in sizes.items()}
    for name, value in {"cpu.model": "Planted Processor 9000", "cpu.cores": 2, "governor": None, "virtualization": "kvm"}.items():
        found[name] = {"value": value, "source": "planted"}
    return found


TOOL = {"name": "warpmeter", "version": "0.1.0", "git": "0123456789abcdef", "dirty": True,
        "argv": ["warpmeter", "run", "--out", "planted"], "utc_time": "2026-12-01T00:00:00Z"}


def run(seed=1):
    rng = random.Random(seed)
    rows = [measurement("latency.chase", {"footprint": f, "page": page}, latency(f, page, rng), "s")
            for page in ("4k", "huge") for f in FOOTPRINTS]
    rows[5].update(verdict="contaminated", reason="another process took 0.8 cores")
    for operation, factor in (("read", 1.0), ("write", 0.6), ("copy", 0.8), ("triad", 0.75)):
        for threads in (1, 2):
            rows += [measurement(f"bandwidth.{operation}", {"footprint": f, "threads": threads, "page": "huge"},
                                 LEVELS[level_at(f / threads)][2] * factor * threads / 2 * rng.lognormvariate(0, 0.02), "B/s")
                     for f in FOOTPRINTS[::2]]
    rows += [measurement("bandwidth.in_flight", {"in_flight": n, "footprint": 1 << 30}, (((n / 96e-9) ** -4 + 12e9**-4) ** -0.25), "B/s")
             for n in IN_FLIGHT]
    rows += [measurement("latency.loaded", {"footprint": 1 << 30, "load": load, "threads": 2}, 96e-9 * (1 + 0.6 * load**3), "s",
                         conditions={"load_bytes_per_s": 18e9 * load}) for load in (0, 0.2, 0.4, 0.6, 0.8, 1)]
    rows += [measurement("transfer.time", {"size": s, "direction": d, "engine": "ce"}, (9e-6**0.7 + (s / bw) ** 0.7) ** (1 / 0.7), "s")
             for d, bw in (("h2d", 24e9), ("d2h", 26e9)) for s in SIZES]
    rows += [measurement("clock.core", {"threads": t, "load": "vector"}, 2.6e9, "Hz") for t in (1, 2)]
    rows.append(measurement("throughput.fma", {"type": "int8", "threads": 1, "phase": "burst"}, None, "op/s", verdict="unsupported",
                            reason="the processor has no AVX512-VNNI"))
    rows += kernels(rng)
    return {"schema": "warpmeter.run/1", "source": "measured", "tool": TOOL,
            "host": {"hostname": "planted", "kernel": "Linux 6.1", "governor": None, "virtualization": "kvm", "cores_allowed": 2,
                     "load_average": [0.5, 0.4, 0.3], "other_tenants": [{"command": "cc1plus", "cpu_seconds_per_second": 0.81}]},
            "device": {"name": "cpu", "facts": facts()}, "complete": True, "measurements": rows}


def parameter(value, unit, relative=0.03, status="measured", **more):
    interval = None if value is None else [value * (1 - relative), value * (1 + relative)]
    return dict({"value": value, "unit": unit, "interval": interval, "level": 0.9, "status": status, "reason": "", "method": "planted",
                 "evidence": [], "valid_range": {}, "distribution": None}, **more)


def machine(run_document, status="measured"):
    found, lower = {}, FOOTPRINTS[0]
    for name, (size, seconds, bandwidth) in LEVELS.items():
        evidence = [m["id"] for m in run_document["measurements"] if m["quantity"] == "latency.chase" and level_at(m["parameters"]["footprint"]) == name]
        found["latency.dram" if name == "dram" else f"latency.{name}.hit"] = parameter(
            seconds, "s", evidence=evidence, valid_range={"footprint": [lower, size or FOOTPRINTS[-1]]}, method="plateau of the pointer chase")
        if size:
            found[f"capacity.{name}"] = parameter(size, "B", interval=[size * 0.9, size * 1.4], evidence=evidence)
            lower = size * 1.4
        for operation, factor in (("read", 1.0), ("write", 0.6), ("copy", 0.8), ("triad", 0.75)):
            found[f"bandwidth.{name}.{operation}.core"] = parameter(bandwidth * factor / 2, "B/s")
            found[f"bandwidth.{name}.{operation}.device"] = parameter(bandwidth * factor, "B/s")
    for kind, peak in PEAKS.items():
        for scope, share in (("core", 0.5), ("device", 1)):
            for phase, factor in (("burst", 1.0), ("sustained", 0.9)):
                found[f"throughput.fma.{kind}.{scope}.{phase}"] = parameter(peak * share * factor, "op/s")
    found["throughput.fma.int8.device.burst"] = parameter(None, "op/s", status="not_measured", reason="the processor has no AVX512-VNNI")
    found["bandwidth.dram.saturated.core"] = parameter(12e9, "B/s")
    found["latency.dram.in_flight"] = parameter(96e-9, "s", reason="longer than the idle latency by 2 %")
    found["concurrency.dram.core"] = parameter(1152, "B")
    found["latency.core_to_core"] = parameter(61e-9, "s", distribution={"modes": [58e-9, 64e-9]})
    found["launch.fork_join"] = parameter(4e-6, "s")
    found["transfer.h2d.bandwidth"], found["transfer.h2d.latency"] = parameter(24e9, "B/s"), parameter(9e-6, "s")
    found["clock.core.vector"] = parameter(2.6e9, "Hz")
    found["model.overlap"] = parameter(None, "1", status="not_identifiable", reason="no kernel uses two resources evenly")
    if status == "published":
        for entry in found.values():
            entry["status"] = "published" if entry["value"] is not None else entry["status"]
    return {"schema": "warpmeter.machine/1", "source": run_document["source"], "device": run_document["device"]["name"],
            "facts": run_document["device"]["facts"], "tool": TOOL, "inputs": [], "parameters": found,
            "covariance": {"names": [], "matrix": []}, "curves": []}


def validation(run_document, seed=2):
    rng = random.Random(seed)
    rows = []
    for m in run_document["measurements"]:
        if m["quantity"] != "kernel.time":
            continue
        predicted = m["value"] * rng.lognormvariate(0.01, 0.1)
        rows.append({"id": m["id"], "family": m["parameters"]["family"], "split": m["parameters"]["split"], "measured": m["value"],
                     "model": predicted, "interval": [predicted * 0.8, predicted * 1.2], "bound": "memory.dram",
                     "nameplate": m["value"] * 0.6, "mean": 1e-3, "excluded": ""})
    rows[0].update(model=None, interval=None, excluded="no prediction: the machine lacks throughput.fma.int8")
    scores = [{"predictor": who, "split": split, "group": group, "name": name, "rows": 16, "n": 16, "coverage": 1.0, "mape": mape,
               "mape_interval": [mape * 0.8, mape * 1.2], "median": mape * 0.8, "p90": mape * 2, "bias": -mape / 3,
               "within": 0.9 if who == "model" else None}
              for split in ("held_out", "fit") for group, name in [("all", "")] + [("family", f) for f in FAMILIES]
              for who, mape in (("model", 0.09), ("nameplate", 0.41), ("mean", 2.2))]
    return {"scores": scores, "rows": rows, "notes": ["nameplate: the measured DRAM bandwidth stands in for the data sheet's"]}


FINDINGS = [
    {"name": "huge pages", "status": "ok", "detail": "transparent huge pages are on", "remedy": ""},
    {"name": "hardware counters", "status": "missing", "detail": "perf_event_paranoid is 3", "remedy": "sysctl kernel.perf_event_paranoid=1"},
]


def write(folder, **documents):
    """Writes each document to folder/<name>.json; returns the arguments of report_render."""
    arguments = []
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
        arguments.append(f"{name}={folder / (name + '.json')}")
    return arguments
