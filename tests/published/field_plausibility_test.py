# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""The limits of plausibility.py against what the reference marks as artefact or implausible: most is noticed, the rest is named."""
import unittest

from documents import NAMES, load, records
from plausibility import complaint

ALL = ("a100", "a40", "b200", "b300_gb300", "gb200", "gh200", "h100_nvl", "h100_pcie", "h100_sxm", "h200", "h800_pcie", "l40_l40s", "rtx3090",
       "rtx4090", "rtx5080", "rtx5090", "rtxpro6000", "t4", "titan_v", "v100")
# Facts of the parts that have no published file here; rates and links from the reference's own spec records, except
# RTX 5080 (30 GT/s x 256 bit). TITAN V has the die of V100.
FACTS = {
    "titan_v": {"product": "TITAN V, die of V100", "sm.count": 80}, "h100_nvl": {"product": "H100 NVL", "sm.count": 132, "clock.sm.max": 1.785e9},
    "h100_pcie": {"product": "H100 PCIe", "memory.bandwidth": 2.048e12, "peak.bf16.tensor": 756e12},
    "rtx5080": {"product": "RTX 5080", "memory.bandwidth": 960e9, "peak.bf16.tensor": 112e12}, "gb200": {"product": "GB200", "link.nvlink.bandwidth": 900e9},
}
SCALE = {"cycles": (1, "cycle"), "GB/s": (1e9, "B/s"), "TB/s": (1e12, "B/s"), "TFLOPS": (1e12, "op/s"), "TOPS": (1e12, "op/s"),
         "ops/clk/SM": (1, "op/cycle"), "W": (1, "W")}
QUANTITY = {
    **{f"latency.{part}{tail}": f"latency.{part}.cycles" for part in ("l1.hit", "smem.load", "const.l1") for tail in ("", ".p50")},
    "latency.dram.miss": "latency.dram.cycles", "latency.alu.ffma": "latency.fma.f32.cycles", "latency.hmma": "latency.mma.f16.m16n16k16.cycles",
    **{f"latency.alu.{op}": "latency.add.int32.cycles" for op in ("adds", "and", "mov")},
    **{f"throughput.alu.{op}.per_sm": "throughput.fma.f32.sm.per_cycle" for op in ("adds", "and", "mov")},
    **{f"latency.tcgen05.{kind}": f"latency.mma.{kind}.m64n8k16.cycles" for kind in (
        "bf16.acc_fp32", "fp16.acc_fp16", "fp16.acc_fp32", "fp4.acc_fp16", "fp6.acc_fp16", "fp8.acc_fp16", "fp8.acc_fp32", "int8.acc_int32")},
    "bandwidth.dram.read": "bandwidth.dram.read.device", "bandwidth.dram.vector_op": "bandwidth.dram.read.device",
    "transfer.p2p.bandwidth.d2d_read_as_printed": "transfer.p2p.bandwidth", "transfer.d2h.pinned.bandwidth": "transfer.d2h.bandwidth",
    "throughput.gemm.fp8.dense": "throughput.gemm.f8.device", "throughput.mma.bf16.acc_fp32.dense": "throughput.mma.bf16.device",
    "throughput.mma.fp16.acc_fp32.dense": "throughput.mma.f16.device", "throughput.mma.fp16.acc_fp16.dense": "throughput.mma.f16.acc_f16.device",
    "spec.peak.fp16.tensor": "throughput.mma.f16.acc_f16.device",
}
# What no limit here can tell: too low or only relatively wrong values, and facts.
MISSED = {
    ("b200", "bandwidth.tmem.read"), ("b200", "latency.dram.miss"), ("h100_nvl", "throughput.mma.bf16.acc_fp32.dense"),
    ("h100_nvl", "throughput.mma.fp16.acc_fp32.dense"), ("rtx4090", "spec.peak.fp32"), ("l40_l40s", "spec.tdp"),
    *(("b200", f"throughput.tcgen05.{kind}.dense") for kind in (
        "bf16.acc_fp32", "fp16.acc_fp16", "fp16.acc_fp32", "fp4.acc_fp16", "fp6.acc_fp16", "fp8.acc_fp16", "fp8.acc_fp32", "int8.acc_int32")),
}


def facts_of(name):
    if name in NAMES:
        return {fact: entry["value"] for fact, entry in load(name)["device"]["facts"].items()}
    return FACTS.get(name, {"product": name})


def noticed(name, record):
    if record["quantity"] not in QUANTITY:
        return False
    scale, unit = SCALE[record["unit"]]
    item = {"quantity": QUANTITY[record["quantity"]], "value": record["value"] * scale, "unit": unit, "parameters": {}, "conditions": {}}
    return complaint(item, facts_of(name)) is not None


class Negative(unittest.TestCase):
    def test_most_bad_records_are_noticed_and_the_rest_is_known(self):
        bad = [(name, record) for name in ALL for record in records(name) if record["trust"] in ("artefact", "implausible")]
        missed = {(name, record["quantity"]) for name, record in bad if not noticed(name, record)}
        self.assertEqual(len(bad), 48)
        self.assertEqual(missed, MISSED)
        self.assertGreaterEqual((len(bad) - len(missed)) / len(bad), 0.7)

    def test_none_of_them_is_published(self):
        for name in NAMES:
            published = {(item["conditions"]["gpu"], origin["original"]["quantity"], origin["original"]["value"], origin["where"])
                         for item in load(name)["measurements"] for origin in item["evidence"]}
            for record in records(name):
                if record["trust"] not in ("primary", "secondary"):
                    self.assertNotIn((record["gpu"], record["quantity"], record["value"], record["source_where"]), published)

    def test_operations_filed_as_bandwidth_are_noticed_although_trusted(self):
        """The reference files every section of the clpeak logs under bandwidth.dram.read with trust primary."""
        for name in ("v100", "a100"):
            rows = [r for r in records(name) if r["quantity"] == "bandwidth.dram.read" and r["source_title"].startswith("krrishnarraj/clpeak")]
            self.assertEqual(len(rows), 33)
            self.assertEqual(sum(noticed(name, row) for row in rows), 20)


if __name__ == "__main__":
    unittest.main()
