# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Limits that a number about an NVIDIA GPU since Volta must keep, from the part's own facts or from physics.

`complaints(measurements, facts)` names each number that breaks one. The facts are those of a run document; a limit whose
fact is missing says nothing.
"""
import re

SLACK = 1.02  # rounding of a nameplate
PCIE = {3: 15.754e9, 4: 31.508e9, 5: 63.015e9}  # B/s of 16 lanes, one direction, 128b/130b coding
FASTEST_CLOCK = 3.0e9  # Hz, no part since Volta clocks higher out of the box

# Dense operations per clock and SM of the tensor cores, by die and type with the wide accumulator unless named
# (NVIDIA's architecture white papers; GeForce halves the rate of f16 with f32 accumulate).
TENSOR = {
    "V100": {"f16": 1024},
    "A100": {"tf32": 1024, "f16": 2048, "f16.acc_f16": 2048, "bf16": 2048, "int8": 4096, "int4": 8192, "f64": 128},
    "H100": {"tf32": 2048, "f16": 4096, "f16.acc_f16": 4096, "bf16": 4096, "f8": 8192, "int8": 8192, "f64": 256},
    "H200": {"tf32": 2048, "f16": 4096, "f16.acc_f16": 4096, "bf16": 4096, "f8": 8192, "int8": 8192, "f64": 256},
    "RTX 4090": {"tf32": 256, "f16": 512, "f16.acc_f16": 1024, "bf16": 512, "int8": 2048},
}
# Operations per clock and SM of the plain lanes, multiply-adds as two.
LANES = {"V100": {"f64": 64, "f32": 128, "f16": 256}, "A100": {"f64": 64, "f32": 128, "f16": 512, "int32": 128},
         "H100": {"f64": 128, "f32": 256, "f16": 512}, "H200": {"f64": 128, "f32": 256, "f16": 512}, "RTX 4090": {"f64": 4, "f32": 256, "f16": 256}}

# Cycles, by quantity: pipelines and caches since Volta. A value outside means that something else was measured.
CYCLES = {r"latency\.l1\.hit": (20, 55), r"latency\.smem\.load": (15, 45), r"latency\.const\.l1": (15, 60), r"latency\.l2\.hit(\.\w+)?": (120, 500),
          r"latency\.dram": (250, 1200), r"latency\.fma\.f32": (3, 8), r"latency\.(add|mul)\.\w+": (2, 12), r"latency\.mma\..*": (15, 80)}


def die_of(facts):
    return next((die for die in TENSOR if die in str(facts.get("product"))), None)


def clock_of(facts):
    return facts.get("clock.sm.max") or FASTEST_CLOCK


def upper_limit(quantity, parameters, facts):
    """(limit in SI, where it comes from), or None."""
    die, sms = die_of(facts), facts.get("sm.count")
    link, pcie = facts.get("link.nvlink.bandwidth"), PCIE.get(facts.get("link.pcie.generation"))
    beyond_l2 = quantity == "bandwidth.copy" and parameters["footprint"] > 4 * (facts.get("cache.l2.size") or float("inf"))
    if (quantity.startswith("bandwidth.dram.") or beyond_l2) and facts.get("memory.bandwidth"):
        return facts["memory.bandwidth"], "memory's nameplate"
    if match := re.fullmatch(r"throughput\.(?:mma|gemm)\.(\w+(?:\.acc_f16)?)(\.sparse)?\.device", quantity):
        rate = TENSOR.get(die, {}).get(match[1])
        return (rate * sms * clock_of(facts) * (2 if match[2] else 1), "tensor cores at the highest clock") if rate and sms else None
    if match := re.fullmatch(r"throughput\.fma\.(\w+)\.(device|sm\.per_cycle)", quantity):
        rate = LANES.get(die, {}).get(match[1])
        return (rate if match[2] != "device" else rate * sms * clock_of(facts), "lanes") if rate and (sms or match[2] != "device") else None
    if quantity == "throughput.gemm" and parameters["type"] != "f32":
        rate = TENSOR.get(die, {}).get(parameters["type"])
        return (rate * sms * clock_of(facts), "tensor cores at the highest clock") if rate and sms else None
    if re.fullmatch(r"transfer\.[hd]2[hd]\.bandwidth", quantity):
        return (pcie, "PCIe link") if pcie else None
    if quantity in ("transfer.p2p.bandwidth", "transfer.p2p.bidirectional.bandwidth") and link:
        return link * (2 if "bidirectional" in quantity else 1), "NVLink of the part"
    if quantity.endswith("bus_bandwidth") and link:
        return 2 * link, "twice the NVLink, which in-switch reduction cannot exceed"
    if quantity == "capacity.l1" and facts.get("cache.l1.size"):
        return facts["cache.l1.size"], "L1 and shared memory of an SM"
    return None


def lower_limit(quantity, parameters, facts):
    pcie, peak = PCIE.get(facts.get("link.pcie.generation")), facts.get("peak.bf16.tensor") or facts.get("peak.f16.tensor")
    if re.fullmatch(r"transfer\.[hd]2[hd]\.bandwidth", quantity) and pcie:
        return 0.5 * pcie, "half of the PCIe link: a copy engine reaches more"
    if quantity == "transfer.time" and pcie:
        return parameters["size"] / (SLACK * pcie), "size over the PCIe link"
    if quantity.startswith("throughput.gemm.") and peak:
        return 0.02 * peak, "2 % of nameplate: a large product reaches more"
    return None


def complaint(item, facts):
    quantity, value, parameters = item["quantity"], item["value"], item["parameters"]
    limit = upper_limit(quantity, parameters, facts)
    if limit and value > SLACK * limit[0]:
        return f"{quantity} {value:g} is above {limit[0]:g} ({limit[1]})"
    limit = lower_limit(quantity, parameters, facts)
    if limit and value < limit[0]:
        return f"{quantity} {value:g} is below {limit[0]:g} ({limit[1]})"
    cycles = value * item["conditions"]["clock_hz"] if item["conditions"].get("clock_hz") and item["unit"] == "s" else value
    for pattern, (low, high) in CYCLES.items():
        if re.fullmatch(pattern, quantity.removesuffix(".cycles")) and (item["unit"] == "cycle" or cycles != value) and not low <= cycles <= high:
            return f"{quantity} {cycles:g} cycles is outside {low} to {high}"
    return None


def order_complaints(measurements):
    """L1 before L2 before DRAM, near before far, each in one unit and clock domain."""
    found = []
    for suffix in ("", ".cycles"):
        for faster, slower in (("latency.smem.load", "latency.l2.hit"), ("latency.l1.hit", "latency.l2.hit"), ("latency.l2.hit", "latency.dram"),
                               ("latency.l2.hit.near", "latency.l2.hit.far"), ("latency.const.l1", "latency.const.l1_5"), ("latency.l1.hit", "latency.dram")):
            low = [m["value"] for m in measurements if m["quantity"] == faster + suffix]
            high = [m["value"] for m in measurements if m["quantity"] == slower + suffix]
            if low and high and max(low) >= min(high):
                found.append(f"{faster}{suffix} {max(low):g} is not below {slower}{suffix} {min(high):g}")
    return found


def complaints(measurements, facts):
    return [text for item in measurements if (text := complaint(item, facts))] + order_complaints(measurements)
