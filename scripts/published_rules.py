# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""The tables of transcribe_published.py: exact keys only, so that a new or renamed record is an error and never a guess.

The rules behind the tables are explained in docs/published_data.md.
"""

# What a record says something about. A file stands for one product; a record of another product with the
# same die may speak of the chip (SMs, caches, launch), but not of what its board changes.
CHIP, DRAM, LINK, POWER = "chip", "dram", "link", "power"
EVERYTHING = (CHIP, DRAM, LINK, POWER)

# Unit as printed -> (our unit, exact factor as text for Fraction).
UNITS = {
    "cycles": ("cycle", "1"), "us": ("s", "1/1000000"), "ns": ("s", "1/1000000000"),
    "bytes": ("B", "1"), "KiB": ("B", "1024"), "MiB": ("B", "1048576"), "GB": ("B", "1000000000"),
    "GB/s": ("B/s", "1000000000"), "TB/s": ("B/s", "1000000000000"), "GBPS": ("B/s", "1000000000"),
    "B/clk": ("B/cycle", "1"), "B/clk/SM": ("B/cycle", "1"), "FMA/clk/SM": ("op/cycle", "2"),
    "TFLOPS": ("op/s", "1000000000000"), "GFLOPS": ("op/s", "1000000000"), "TOPS": ("op/s", "1000000000000"),
    "MHz": ("Hz", "1000000"), "W": ("W", "1"), "count": ("1", "1"),
}

# (title, where or None for any place) -> short id, the `source` parameter of each record.
SOURCES = {
    ("Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking (Jia et al. 2018, arXiv 1804.06826)", None): "jia2018",
    ("Dissecting the NVidia Turing T4 GPU via Microbenchmarking (Jia et al. 2019, arXiv 1903.07486)", None): "jia2019",
    ("Demystifying the Nvidia Ampere Architecture through Microbenchmarking and Instruction-level Analysis (Abdelkhalik et al. 2022, arXiv 2208.11174)", None): "abdelkhalik2022",
    ("Benchmarking and Dissecting the Nvidia Hopper GPU Architecture (Luo et al. 2024, arXiv 2402.13499)", None): "luo2024",
    ("Dissecting the NVIDIA Hopper Architecture through Microbenchmarking and Multiple Level Analysis (Luo et al. 2025, arXiv 2501.12084)", None): "luo2025",
    ("Uncovering Real GPU NoC Characteristics (Jin et al., MICRO'24)", None): "jin2024",
    ("caps-tum/mt4g sample results", None): "mt4g",
    ("RRZE-HPC/gpu-benches result files", None): "rrze",
    ("te42kyfo/gpu-benches (author fork) result files", None): "te42kyfo",
    ("HPMLL/NVIDIA-Hopper-Benchmark logs (artefact of Luo et al.)", None): "hpmll",
    ("markdewing/AI_kernels latency data", None): "markdewing",
    ("microsoft/superbenchmark parser test data", None): "superbenchmark",
    ("krrishnarraj/clpeak result logs", None): "clpeak",
    ("Azure AI benchmarking guide results", None): "azure",
    ("Azure azurehpc-health-checks thresholds", None): "azure_health",
    ("ProjectPhysX/OpenCL-Benchmark README tables", None): "projectphysx",
    ("smallscientist1/cuda_microbenchmark analyses", None): "smallscientist1",
    ("xytpai/nvbench README", None): "xytpai",
    ("binbinsh/gpu-bench results", None): "binbinsh",
    ("waynehacking8/blackwell-tensorcore-kernels results", None): "waynehacking8",
    ("gau-nernst/learn-cuda matmul tables", None): "learn_cuda",
    ("mag-/gpu_benchmark MAMF table", None): "mamf_table",
    ("stas00/ml-engineering accelerator chapter", None): "stas00",
    ("stas00/ml-engineering network chapter", None): "stas00",
    ("winston-zhang-orz/gpu-specs table (collected datasheets)", None): "gpu_specs",
    ("glennklockwood.com H100 page", None): "glennklockwood",
    ("chrirocca/GPUNetBench", None): "gpunetbench",
    ("Chips and Cheese: Microbenchmarking Nvidia RTX 4090", None): "chips_and_cheese",
    ('H100 SXM5 "CUDA Performance Study" README', None): "cuda_study",
    ("project note with Accel-Sim style per-SM rates", None): "accel_sim_note",
    ("NVIDIA/nvbandwidth README example output", None): "nvbandwidth_readme",
    ("GitHub issue / pull request", "github.com/NVIDIA/nccl-tests/issues/100"): "nccl_tests_100",
    ("GitHub issue / pull request", "github.com/NVIDIA/nccl-tests/issues/149"): "nccl_tests_149",
    ("GitHub issue / pull request", "github.com/NVIDIA/nccl-tests/issues/178"): "nccl_tests_178",
    ("GitHub issue / pull request", "github.com/NVIDIA/nccl-tests/issues/272"): "nccl_tests_272",
    ("GitHub issue / pull request", "github.com/NVIDIA/nccl/issues/1264"): "nccl_1264",
    ("GitHub issue / pull request", "github.com/NVIDIA/nvbandwidth/issues/15"): "nvbandwidth_15",
    ("GitHub issue / pull request", "github.com/NVIDIA/nvbandwidth/issues/24"): "nvbandwidth_24",
    ("GitHub issue / pull request", "github.com/NVIDIA/nvbandwidth/issues/42"): "nvbandwidth_42",
    ("GitHub issue / pull request", "github.com/NVIDIA/nvbandwidth/issues/53"): "nvbandwidth_53",
    ("GitHub issue / pull request", "github.com/mli/transformers-benchmarks/issues/4"): "transformers_bench_4",
    ("GitHub issue / pull request", "github.com/tinygrad/open-gpu-kernel-modules/issues/6"): "open_gpu_modules_6",
}

NO_FORM = "form factor not stated by the source"
NO_MEMORY = "memory size not stated by the source"
CURVE_KEPT = "median taken over a curve that is transcribed whole"
OTHER_BOARD = "another board"
UNNAMED = "the source does not name the GPU"
LIMIT = "a production health check's lower limit, not a measurement"

# Product of each file, and for each GPU name in the reference: what its records may speak of, with what to
# know about it; or (a text) why none is taken.
FILES = {
    "v100": ("Tesla V100-PCIE-32GB", {
        "Tesla V100-PCIE-32GB": (EVERYTHING, ""), "V100-PCIE-32GB": (EVERYTHING, ""), "V100 PCIe": (EVERYTHING, ""),
        "Tesla V100 PCIe 16GB": (EVERYTHING, "16 GB board: same die, clocks and HBM2 rate"),
        "Tesla V100-PCIE-16GB": (EVERYTHING, "16 GB board: same die, clocks and HBM2 rate"),
        "V100 PCIe 16GB": (EVERYTHING, "16 GB board: same die, clocks and link"),
        "V100 (PCIe, RRZE)": (EVERYTHING, NO_MEMORY),
        "V100 (RRZE)": (EVERYTHING, NO_MEMORY + "; the same authors' latency file is of a PCIe board"),
        "V100": ((CHIP,), NO_FORM), "Tesla V100": ((CHIP,), NO_FORM),
        "V100 32GB": ((CHIP, DRAM), NO_FORM),
        "V100 (markdewing)": CURVE_KEPT,
        "V100 SXM2": OTHER_BOARD, "V100-SXM2-16GB": OTHER_BOARD, "V100-SXM2-32GB": OTHER_BOARD,
        "V100-SXM2-32GB (ND40rs v2)": LIMIT,
    }),
    "a100": ("NVIDIA A100-SXM4-80GB", {
        "A100-SXM4-80GB": (EVERYTHING, ""), "A100 SXM4 80GB": (EVERYTHING, ""), "A100-SXM-80GB": (EVERYTHING, ""),
        "A100-SXM4-80GB (device id 20b2)": (EVERYTHING, ""),
        "A100 80GB": (EVERYTHING, NO_FORM), "A100 80GB (RRZE)": (EVERYTHING, NO_FORM),
        "A100 SXM": (EVERYTHING, NO_MEMORY),
        "A100 SXM (markdewing)": CURVE_KEPT,
        "A100-SXM4-40GB": ((CHIP, LINK, POWER), "40 GB board: same die, clocks, links and power limit, slower HBM"),
        "8x A100-SXM4-40GB": ((CHIP, LINK, POWER), "40 GB board: same die, clocks, links and power limit, slower HBM"),
        "A100-SXM4-40GB (Modal)": ((CHIP, LINK, POWER), "40 GB board: same die, clocks and power limit, slower HBM"),
        "A100": ((CHIP,), NO_FORM),
        "A100 40GB": ((CHIP,), NO_FORM), "A100 40GB (te42kyfo)": ((CHIP,), NO_FORM),
        "A100 PCIe": ((CHIP,), "PCIe board: same die and maximum clock, lower power limit"),
        "A100 PCIe 40GB": ((CHIP,), "PCIe board: same die and maximum clock, lower power limit"),
        "A100 PCIe 40GB (HPMLL)": ((CHIP,), "PCIe board: same die, clock as stated"),
        "NVIDIA A100-PCIE-40GB": ((CHIP,), "PCIe board: same die and maximum clock, lower power limit"),
        "A100-PCIE-40GB": ((CHIP,), "PCIe board: same die and maximum clock, lower power limit"),
        "A100 PCIe 80GB": ((CHIP,), "PCIe board: same die and maximum clock, lower power limit"),
        "A100 class (NVLink3, PCIe gen4; GPU not named in the log)": UNNAMED,
        "8-GPU system (A100-class by the numbers; not named)": UNNAMED,
        "A800 PCIe": OTHER_BOARD, "2x A100 NV12": OTHER_BOARD, "A100 SXM4 40GB": OTHER_BOARD,
        "A100-SXM4-40GB (ND96asr v4)": LIMIT, "A100-SXM4-80GB (ND96amsr A100 v4)": LIMIT,
    }),
    "h100_sxm": ("NVIDIA H100 80GB HBM3", {
        "H100 80GB HBM3": (EVERYTHING, ""), "NVIDIA H100 80GB HBM3": (EVERYTHING, ""), "H100 SXM5 80GB": (EVERYTHING, ""),
        "H100 SXM5": (EVERYTHING, ""), "H100 SXM 80GB": (EVERYTHING, ""), "H100 SXM (8-GPU)": (EVERYTHING, NO_MEMORY),
        "H100 SXM": (EVERYTHING, NO_MEMORY), "H100 SXM (markdewing)": CURVE_KEPT,
        "H100": "the source does not say which H100", "H100 SXM 96GB": OTHER_BOARD, "H100 SXM (ND96isr H100 v5)": LIMIT,
    }),
    "h200": ("NVIDIA H200", {
        "H200 141GB": (EVERYTHING, ""), "H200 SXM": (EVERYTHING, ""), "H200": (EVERYTHING, ""), "8x H200": (EVERYTHING, ""),
        "H200 SXM (ND96isr H200 v5)": LIMIT,
    }),
    "rtx4090": ("NVIDIA GeForce RTX 4090", {
        "RTX 4090": (EVERYTHING, ""), "RTX 4090 (8 in one host)": (EVERYTHING, "one of 8 boards in a host"),
        "RTX 4090 (markdewing)": CURVE_KEPT,
    }),
}

# Slug of the reference -> (our quantity, what it speaks of, fixed parameters).
QUANTITIES = {
    **{f"latency.{part}{tail}": (f"latency.{part}", CHIP, {})
       for part in ("l1.hit", "l2.hit", "smem.load", "const.l1", "const.l1_5") for tail in ("", ".p50")},
    "latency.l2.hit.near": ("latency.l2.hit.near", CHIP, {}),
    "latency.l2.hit.far": ("latency.l2.hit.far", CHIP, {}),
    "latency.l2.hit.min_pair": ("latency.l2.hit.nearest_pair", CHIP, {}),
    "latency.l2.hit.max_pair": ("latency.l2.hit.farthest_pair", CHIP, {}),
    "latency.l2.mixed_near_far": ("latency.l2.hit.mixed", CHIP, {}),
    "latency.dram": ("latency.dram", DRAM, {}), "latency.dram.p50": ("latency.dram", DRAM, {}),
    "latency.dram.near": ("latency.dram.near", DRAM, {}), "latency.dram.far": ("latency.dram.far", DRAM, {}),
    "latency.smem.store": ("latency.smem.store", CHIP, {}), "latency.const.l2": ("latency.const.l2", CHIP, {}),
    "latency.alu.dfma": ("latency.fma.f64", CHIP, {}), "latency.alu.mad.rn.f32.dependent": ("latency.fma.f32", CHIP, {}),
    "latency.alu.add.f16.dependent": ("latency.add.f16", CHIP, {}), "latency.alu.add.f64.dependent": ("latency.add.f64", CHIP, {}),
    "latency.alu.add.u32.dependent": ("latency.add.int32", CHIP, {}), "latency.alu.mul.lo.u32.dependent": ("latency.mul.int32", CHIP, {}),
    "bandwidth.dram.read": ("bandwidth.dram.read.device", DRAM, {}), "bandwidth.dram.write": ("bandwidth.dram.write.device", DRAM, {}),
    "bandwidth.dram.copy": ("bandwidth.dram.copy.device", DRAM, {}), "bandwidth.dram.triad": ("bandwidth.dram.triad.device", DRAM, {}),
    "transfer.local.copy.bandwidth.rw": ("bandwidth.dram.copy.device", DRAM, {"engine": "ce"}),
    "bandwidth.l2.read": ("bandwidth.l2.read.device", CHIP, {}),
    "bandwidth.l2.read.per_sm_private_sets": ("bandwidth.l2.read.device", CHIP, {}),
    "bandwidth.l2.copy": ("bandwidth.l2.copy.device", CHIP, {}), "bandwidth.l1.read.aggregate": ("bandwidth.l1.read.device", CHIP, {}),
    "bandwidth.l1.read.per_sm": ("bandwidth.l1.read.sm", CHIP, {}),
    "capacity.l1": ("capacity.l1", CHIP, {}), "capacity.l2": ("capacity.l2", CHIP, {}),
    "capacity.l2.segment": ("capacity.l2.segment", CHIP, {}), "capacity.const.l1": ("capacity.const.l1", CHIP, {}),
    "fetch_granularity.l1": ("sector.l1", CHIP, {}), "fetch_granularity.l2": ("sector.l2", CHIP, {}),
    "linesize.l1": ("line.l1", CHIP, {}), "linesize.l2": ("line.l2", CHIP, {}),
    "tlb.l1.coverage": ("tlb.l1.reach", CHIP, {}), "tlb.l2.coverage": ("tlb.l2.reach", CHIP, {}),
    "tlb.l1.page": ("tlb.l1.page", CHIP, {}), "tlb.l2.page": ("tlb.l2.page", CHIP, {}),
    "throughput.fma.fp16": ("throughput.fma.f16.device", CHIP, {}), "throughput.fma.fp32": ("throughput.fma.f32.device", CHIP, {}),
    "throughput.fma.fp64": ("throughput.fma.f64.device", CHIP, {}),
    **{f"throughput.fma.{theirs}.per_sm": (f"throughput.fma.{ours}.sm", CHIP, {})
       for theirs, ours in (("fp16", "f16"), ("fp32", "f32"), ("fp64", "f64"), ("int32", "int32"))},
    "launch.kernel.interval": ("launch.stream", CHIP, {}), "launch.graph.kernel_interval": ("launch.graph", CHIP, {}),
    "sync.grid.interval": ("sync.grid.cooperative", CHIP, {}), "sync.grid.atomic_interval": ("sync.grid.atomic", CHIP, {}),
    "transfer.h2d.pinned.bandwidth": ("transfer.h2d.bandwidth", LINK, {}), "transfer.d2h.pinned.bandwidth": ("transfer.d2h.bandwidth", LINK, {}),
    **{f"transfer.{way}.pinned.bandwidth.{end}": (f"transfer.{way}.bandwidth", LINK, {"over_devices": end}) for way in ("h2d", "d2h") for end in ("min", "max")},
    "transfer.h2d.sm.bandwidth": ("transfer.time", LINK, {"direction": "h2d", "engine": "sm"}),
    "transfer.p2p.write.bandwidth": ("transfer.p2p.bandwidth", LINK, {}),
    "transfer.p2p.bidir.bandwidth": ("transfer.p2p.bidirectional.bandwidth", LINK, {}),
    "collective.allreduce.busbw": ("collective.bus_bandwidth", LINK, {"op": "allreduce"}),
    "collective.allreduce.busbw.nvls_off": ("collective.bus_bandwidth", LINK, {"op": "allreduce", "algorithm": "nvls_off"}),
    **{f"throughput.gemm.{theirs}": ("throughput.gemm", POWER, {"type": ours})
       for theirs, ours in (("bf16.dense", "bf16"), ("fp16.dense", "f16"), ("fp8.dense", "f8"), ("tf32.dense", "tf32"), ("fp32", "f32"))},
    **{f"throughput.mma.{theirs}.dense": (f"throughput.mma.{ours}.device", CHIP, {})
       for theirs, ours in (("bf16", "bf16"), ("fp16", "f16"), ("fp16.acc_fp16", "f16.acc_f16"), ("tf32", "tf32"), ("fp64", "f64"), ("int8", "int8"), ("int4", "int4"))},
}
# mma.sync by type, accumulator, shape and sparsity (Luo 2025): the plain name is dense with the wide accumulator.
for _theirs, _ours, _shapes in (("fp16.acc_fp16", "f16.acc_f16", ("m16n8k8", "m16n8k16")), ("fp16.acc_fp32", "f16", ("m16n8k8", "m16n8k16")),
                                ("tf32.acc_fp32", "tf32", ("m16n8k4", "m16n8k8")), ("int8.acc_int32", "int8", ("m16n8k16", "m16n8k32"))):
    for _shape in _shapes:
        for _sparsity, _mark in (("dense", ""), ("sparse", ".sparse")):
            QUANTITIES[f"latency.mma.{_theirs}.{_shape}.{_sparsity}"] = (f"latency.mma.{_ours}{_mark}.{_shape}", CHIP, {})
            QUANTITIES[f"throughput.mma.{_theirs}.{_shape}.{_sparsity}"] = (f"throughput.mma.{_ours}{_mark}.device", CHIP, {"shape": _shape})

# (file or *, slug, source) -> quantity that replaces the one above.
OVERRIDES = {
    ("a100", "latency.l2.hit", "luo2024"): "latency.l2.hit.mixed",
    ("a100", "latency.l2.hit.p50", "mt4g"): "latency.l2.hit.mixed",
    ("v100", "linesize.l1", "jia2018"): "sector.l1",
    ("*", "throughput.gemm.bf16.dense", "stas00"): "throughput.gemm.bf16.device",
    ("*", "throughput.gemm.fp8.dense", "stas00"): "throughput.gemm.f8.device",
    ("a100", "collective.allreduce.busbw", "stas00"): "collective.allreduce.bus_bandwidth",
    ("h200", "collective.allreduce.busbw", "nccl_tests_272"): "collective.allreduce.bus_bandwidth",
}
# (file, slug, source) -> (verdict, reason) where the source itself shows that one number is not the whole truth.
VERDICTS = {
    ("a100", "latency.l2.hit.p50", "mt4g"): ("multimodal", "two groups, near and far L2 partition: 160 to 179 and 280 to 319 cycles; the source gives no interval"),
    ("v100", "latency.l2.hit.p50", "mt4g"): ("multimodal", "two groups of like size, about 203 and 224 cycles, by L2 slice; the source gives no interval"),
}
# (file, slug, source) -> (file under raw/, where, licence): single samples of the record, in its unit.
MT4G = "github.com/caps-tum/mt4g@4cc55662 sample_results/"
SAMPLES = {
    (name, "latency.l2.hit.p50", "mt4g"): (f"mt4g/sample_results__{gpu}__{gpu}_-_L2_Latency.txt", f"{MT4G}{gpu}/{gpu}_-_L2_Latency.txt", "Apache-2.0")
    for name, gpu in (("v100", "Tesla_V100-PCIE-16GB"), ("a100", "NVIDIA_A100-PCIE-40GB"), ("h100_sxm", "NVIDIA_H100_80GB_HBM3"))
}

# Slugs that are facts of the device (FACTS picks from them) or have no counterpart, by exact name.
FACT_SLUGS = ("spec.clock.mem", "spec.clock.sm.max", "spec.clock.sm.tensor_peak", "spec.cuda_cores", "spec.gpc.max_sms", "spec.gpc_count",
              "spec.l1_smem.per_sm", "spec.l2.memory_partitions", "spec.l2.size", "spec.l2.slices", "spec.mem.bandwidth", "spec.mem.bus_width",
              "spec.mem.controllers", "spec.mem.size", "spec.nvlink.bandwidth.bidir", "spec.nvlink.bandwidth.unidir", "spec.nvlink.generation",
              "spec.nvlink.links", "spec.pcie.bandwidth.bidir", "spec.pcie.bandwidth.unidir", "spec.pcie.generation", "spec.peak.bf16.dense",
              "spec.peak.fp16.dense", "spec.peak.fp32", "spec.peak.fp64", "spec.peak.fp64.tensor", "spec.peak.fp8.dense", "spec.peak.int8.dense",
              "spec.peak.tf32.dense", "spec.sm_count", "spec.smem.per_sm", "spec.tdp", "spec.tensor_cores", "spec.tpc_count")
FACT = "a fact of the device: kept in `facts` where it is the best source"
NO_COUNTERPART = "no counterpart in docs/quantities.md"
NOT_THE_SAME = "not the quantity that its name suggests"
LEFT_OUT = {
    **{slug: FACT for slug in FACT_SLUGS},
    **{slug: NO_COUNTERPART for slug in (
        "associativity.const.l1", "bandwidth.dram.add", "bandwidth.dram.scale", "bandwidth.dram.stencil3", "bandwidth.dram.stencil5",
        "bandwidth.dram.read.misaligned", "bandwidth.dram.write.misaligned", "bandwidth.l2.slice.far", "bandwidth.l2.slice.near",
        "bandwidth.l2.slice.one_gpc", "bandwidth.l2.slice.one_sm", "capacity.icache.l0", "capacity.icache.l1", "capacity.readonly",
        "capacity.texture", "efficiency.dram", "latency.alu.ddiv", "latency.alu.dsqrt", "latency.p2p.self", "latency.readonly.hit",
        "latency.readonly.hit.p50", "latency.texture.hit", "latency.texture.hit.p50", "limit.nvlink3.effective_per_link",
        "linesize.const.l1", "linesize.const.l1_5", "noc.input_speedup.gpc_global.read", "noc.input_speedup.gpc_global.write",
        "noc.input_speedup.gpc_local.read", "noc.input_speedup.gpc_local.write", "noc.input_speedup.tpc.read",
        "noc.input_speedup.tpc.write", "ratio.bandwidth.l2_over_dram", "register.banks", "throughput.dp4a.int8", "throughput.imad.int16",
        "throughput.imad.int32", "throughput.imad.int64", "throughput.ffma.two_warps.different_scheduler",
        "throughput.ffma.two_warps.same_scheduler", "update_granularity.l1", "cpi.alu.add.f16.independent", "cpi.alu.add.f64.independent",
        "cpi.alu.add.u32.independent", "cpi.alu.mad.rn.f32.independent", "cpi.alu.mul.lo.u32.independent")},
    **{f"{kind}.dpx.{name}": "DPX is emulated in software before Hopper; one row (0.03 cycles) shows that work was optimised away"
       for kind in ("latency", "throughput") for name in (
           "viaddmax_s16x2", "viaddmax_s16x2_relu", "viaddmax_s32", "viaddmax_s32_relu", "viaddmax_u32", "viaddmin_s32", "vibmax_s16x2",
           "vibmax_s32", "vimax3_s16x2", "vimax3_s16x2_relu", "vimax3_s32", "vimax3_s32_relu", "vimax_s16x2_relu", "vimax_s32_relu")},
    **{f"latency.wmma.{name}": "an issue interval, not a dependent latency (reference_data.md 4.14)"
       for name in ("bf16", "fp16", "fp16.acc_fp16", "fp64", "int4", "int8", "tf32")},
    **{slug: "between two levels: neither an L2 nor a DRAM bandwidth" for slug in ("bandwidth.copy.32mb", "bandwidth.copy.64mb")},
    **{slug: "a share of the SMs with a kernel that does not saturate" for slug in (
        "bandwidth.dram.copy.one_sm", "bandwidth.dram.copy.32_sm", "bandwidth.dram.copy.64_sm", "bandwidth.l2.copy.one_sm",
        "bandwidth.l2.copy.16_sm", "bandwidth.l2.copy.64_sm")},
    **{slug: "printed in GiB/s beside \"900 GiB/s theoretical\" for a 900 GB/s part: the unit cannot be told"
       for slug in ("bandwidth.dram.theoretical", "bandwidth.smem.read", "bandwidth.smem.theoretical")},
    "bandwidth.dram.stream": "the source does not say what is read and what is written",
    "capacity.l1.max": "the nominal size, not a measurement",
    "launch.kernel.latency": "from enqueue to start by OpenCL events, not the interval that launch.stream is",
    "throughput.gemm.half.max_found": "the source does not say whether the type is f16 or bf16",
    "throughput.attention.fa2": "the source does not state the type", "throughput.attention.torch": "the source does not state the type",
    **{slug: "pageable memory: measures the host" for slug in (
        "transfer.h2d.bandwidth", "transfer.d2h.bandwidth", "transfer.h2d.pageable.bandwidth", "transfer.d2h.pageable.bandwidth")},
    "transfer.h2d.bidir.bandwidth": NOT_THE_SAME, "transfer.d2h.bidir.bandwidth": NOT_THE_SAME,
    "transfer.p2p_off.bandwidth": "peer access off: staged through the host", "latency.p2p_off.write": "peer access off: staged through the host",
    "transfer.local.copy.bandwidth": "part of a curve that is transcribed whole",
    **{f"collective.{op}.busbw": "part of a curve that is transcribed whole" for op in ("allgather", "alltoall", "broadcast", "reduce", "reducescatter")},
}
UNTUNED = "the authors call these bandwidth kernels untuned: a lower bound"
GIB = "printed in GiB/s beside \"900 GiB/s theoretical\" for a 900 GB/s part: the unit cannot be told"
MEAN = "the median of the same samples is transcribed"
IN_CURVE = "part of a curve that is transcribed whole"
MISFILED = "clpeak rows of every section are filed under this slug in the reference; transcribed from the log itself"
NOT_A_COPY = "mapping a buffer, not a copy"
NOT_SATURATED = "this copy kernel reaches two thirds of what BabelStream does on the same card: a lower bound"
# (file or *, slug, source) -> reason.
LEFT_OUT_FROM = {
    **{("*", f"latency.{part}", "mt4g"): MEAN for part in ("l1.hit", "l2.hit", "dram", "smem.load", "const.l1", "const.l1_5")},
    **{("*", f"bandwidth.{level}.{way}", "mt4g"): UNTUNED for level in ("dram", "l2") for way in ("read", "write")},
    ("v100", "bandwidth.dram.read", "jia2018"): GIB,
    ("v100", "linesize.l2", "jia2018"): "64 B is neither the sector nor the line of any other source",
    **{("*", slug, "clpeak"): MISFILED for slug in ("bandwidth.dram.read", "throughput.fma.fp32", "throughput.fma.fp64")},
    **{("*", f"transfer.{way}.pinned.bandwidth", "clpeak"): NOT_A_COPY for way in ("h2d", "d2h")},
    **{("v100", f"transfer.{way}.pinned.bandwidth", "superbenchmark"): IN_CURVE for way in ("h2d", "d2h")},
    ("a100", "collective.allreduce.busbw", "superbenchmark"): IN_CURVE,
    **{("h100_sxm", f"bandwidth.{level}.copy", "cuda_study"): NOT_SATURATED for level in ("dram", "l2")},
    ("h200", "bandwidth.dram.read", "te42kyfo"): "this kernel's own limit, 57 % of nameplate, not the memory's (reference_data.md 4.9)",
    ("a100", "bandwidth.l2.read", "smallscientist1"): "the author's calculation from slices and clock, not a measurement",
    ("rtx4090", "throughput.gemm.fp32", "binbinsh"): "f32 or tf32: the tensor cores were allowed",
    ("rtx4090", "throughput.gemm.fp32", "transformers_bench_4"): "no shape stated, tf32 may have been allowed",
    ("rtx4090", "transfer.p2p.bidir.bandwidth", "open_gpu_modules_6"): "needs a patched driver",
}
# (file, slug, source, conditions): slower settings of a knob of which the best one is kept.
SLOWER = {("rtx4090", "bandwidth.dram.copy", "xytpai", f"vector width {width}") for width in ("float1", "float16")}

# (source, conditions as a full-match pattern, method). Named groups become parameters, except those that begin with
# an underscore: _clock_mhz is the clock of the run, _ns the same value in time (a check), _lo and _hi a range over devices.
CHASE = r"pointer chase, 1 warp/thread; working set (\S+)\.\.(\S+) KiB \(median of (\d+) points\); SM clock (?P<_clock_mhz>\d+) MHz"
CHASE_METHOD = "random pointer chase by one warp, median of the curve inside the level's footprints"
STREAM = r"(?P<test>gpu-stream) (read|init|scale|triad) kernel, best over occupancy sweep \(100 % occupancy row: \d+\)"
STREAM_METHOD = "grid-stride streaming kernel over a large array, best of a sweep over occupancy"
FIT = r"alpha of t = alpha \+ bytes/beta, SCALE kernel 64 kB\.\.3 MB, best block size; "
FIT_METHOD = "zero-size intercept of a straight line through the times of a small scaling kernel, "
METHODS = [
    ("jia2018", r"Jia et al\. table value; clocks: V100 1380 MHz, T4 1590 MHz max graphics clock", "the paper's summary table, from single-thread pointer chases and strided access"),
    ("mt4g", r"median; mt4g p-chase; driver \d+, nvcc [\d.]+, [\d-]+", "pointer chase on one SM, median of the samples"),
    ("mt4g", r"mt4g p-chase; driver \d+, nvcc [\d.]+, [\d-]+", "change point of a pointer chase over array size or stride"),
    *[(source, CHASE, CHASE_METHOD) for source in ("rrze", "te42kyfo", "hpmll")],
    *[(source, STREAM, STREAM_METHOD) for source in ("rrze", "te42kyfo")],
    ("rrze", r"(?P<test>gpu-cache): every SM streams the same data set; data set (\S+)\.\.(\S+) kB, median of \d+ points", "every SM reads the same data set over and over, median of the curve inside the level"),
    ("rrze", r"(?P<test>gpu-l2-cache): 512 kB per block, total data set (\S+)\.\.(\S+) kB, median of \d+ points", "every block reads its own 512 kB over and over, median of the curve inside the level"),
    ("rrze", r"cuda-incore, 1 warp, ILP 1", "chain of dependent operations in one warp"),
    ("rrze", FIT + r"stream launches, back to back", FIT_METHOD + "launched back to back in a stream"),
    ("rrze", FIT + r"kernel nodes of one CUDA graph", FIT_METHOD + "as nodes of one graph"),
    ("rrze", FIT + r"persistent kernel \+ cooperative grid\.sync per iteration", FIT_METHOD + "one grid.sync of a persistent kernel per pass"),
    ("rrze", FIT + r"persistent kernel \+ atomic barrier per iteration", FIT_METHOD + "one atomic barrier of a persistent kernel per pass"),
    ("rrze", r"gpu-um/cuda-memcpy curve peak \(README figure text\)", "cudaMemcpy of pinned memory, peak over sizes"),
    ("markdewing", r"pointer chase, author summary table; clocks not locked", "chase of indices by one thread, SM counter around the loop, author's summary of the curve"),
    ("jin2024", r"mean over SM/slice pairs", "pointer chase from each SM to each L2 slice, mean over pairs"),
    ("jin2024", r"farthest SM/slice pair", "pointer chase from each SM to each L2 slice, slowest pair"),
    ("jin2024", r"closest SM/slice pair", "pointer chase from each SM to each L2 slice, fastest pair"),
    ("jin2024", r"same partition \(\"about 200\"\)", "pointer chase to L2 slices of the SM's own partition, read off as about 200"),
    ("jin2024", r"other partition \(\"about 400\"\)", "pointer chase to L2 slices of the other partition, read off as about 400"),
    ("luo2024", r"P-chase \(average\)", "pointer chase, average"),
    ("luo2024", r"FP32\.v4 loads", "128-bit loads of f32"),
    ("luo2025", r"fine-grained P-chase, dual L2 partitions", "fine-grained pointer chase that tells the two L2 partitions apart"),
    ("luo2025", r"mma(\.sp)?\.sync m\d+n\d+k\d+", "dependent mma.sync of one warp"),
    ("luo2025", r"mma(\.sp)?\.sync m\d+n\d+k\d+, whole GPU", "independent mma.sync on all SMs; sparse counts the skipped operations too"),
    ("abdelkhalik2022", r"ld/st\.shared", "dependent accesses to shared memory, SM counter"),
    ("abdelkhalik2022", r"ld\.global pointer chase", "pointer chase with ld.global, SM counter"),
    ("abdelkhalik2022", r"CPI, dependent chain", "chain of dependent instructions, SM counter"),
    ("abdelkhalik2022", r"wmma\.mma\.sync; theoretical in same cell: [\d.]+", "wmma.mma.sync on all SMs"),
    ("azure", r"BabelStream (Copy|Dot|Triad)", "BabelStream"),
    ("azure", r"nvbandwidth, 8-GPU node", "nvbandwidth, copy of pinned memory on an 8-GPU node"),
    ("azure", r"nccl-tests all_reduce in-place, (?P<ranks>\d+) GPUs, size (?P<size>\d+) B \(printed \w+\)", "nccl-tests in place, float sum, one node"),
    ("azure", r"cuBLASLt m=(?P<m>\d+) n=(?P<n>\d+) k=(?P<k>\d+), random init, 10000 warm-up iterations", "cuBLASLt on random data after 10000 warm-up calls"),
    ("projectphysx", r"OpenCL coalesced", "OpenCL kernel with coalesced access"),
    ("projectphysx", r"OpenCL, no tensor cores", "OpenCL multiply-add kernel"),
    ("smallscientist1", r"int32 volatile copy, (?P<array>\d+ MB) per array", "copy kernel of 32-bit volatile accesses"),
    ("smallscientist1", r"cp\.async \(LDGSTS\.BYPASS\.128\) loop on L2-resident data", "cp.async of 16 bytes past L1 from L2-resident data"),
    ("smallscientist1", r"cp\.async, [\d.]+ B/clk", "cp.async of 16 bytes past L1 from L2-resident data"),
    ("xytpai", r"vector width (?P<vector>float4)", "copy kernel with 16-byte accesses, best of three widths"),
    ("xytpai", r"FFMA loop", "loop of independent f32 multiply-adds"),
    ("accel_sim_note", r"Accel-sim style micro-benchmark", "independent operations on one SM, rounded by the source"),
    ("binbinsh", r"cuBLAS n=(?P<mnk>\d+), \d+ iterations over 120 s, tensor cores on", "cuBLAS for 120 s"),
    ("binbinsh", r"cudaMemcpy D2D, (?P<size>\d+) B", "cudaMemcpy inside the device, bytes read plus written"),
    ("waynehacking8", r"cublas(_tc|_tf32|) M=N=K=(?P<mnk>\d+)", "cuBLAS"),
    ("learn_cuda", r"cuBLAS 13\.0 via PyTorch 2\.10, M=N=K=(?P<mnk>\d+)", "cuBLAS 13.0 through PyTorch"),
    ("stas00", r"torch (?:scaled )?matmul MAMF, best shape (?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+), torch [\w.+]+(, mean of 100 iterations)?", "torch matmul, best of a search over shapes"),
    ("stas00", r"nccl-tests 8 GiB, (?P<ranks>\d) GPUs, (default algorithm|NCCL_NVLS_ENABLE=0)", "nccl-tests, 8 GiB"),
    ("stas00", r"(?P<ranks>8) GPUs, 16 GiB, (SHARP \(107 % of the 450 GB/s link: bus-bandwidth formula, not a fault\)|ring)", "nccl-tests, 16 GiB"),
    ("stas00", r"(?P<ranks>8) GPUs, large payload", "nccl-tests, large messages"),
    ("nccl_tests_272", r"nccl-tests, (?P<ranks>8) GPUs, large message", "nccl-tests, large messages"),
    ("nccl_tests_100", r"p2pBandwidthLatencyTest; diagonal (?P<_lo>\d+)-(?P<_hi>\d+)", "p2pBandwidthLatencyTest, copies inside one device, bytes read plus written"),
    ("nccl_tests_100", r"p2pBandwidthLatencyTest; bidirectional (?P<_lo>\d+)-(?P<_hi>\d+)", "p2pBandwidthLatencyTest, sum of both directions of a pair"),
    ("nccl_1264", r"p2pBandwidthLatencyTest; diagonal (?P<_lo>\d+)-(?P<_hi>\d+) \(unidirectional test\)", "p2pBandwidthLatencyTest, copies inside one device, bytes read plus written"),
    ("nccl_1264", r"p2pBandwidthLatencyTest; bidirectional (?P<_lo>\d+)-(?P<_hi>\d+)", "p2pBandwidthLatencyTest, sum of both directions of a pair"),
    ("nccl_1264", r"p2pBandwidthLatencyTest; unidirectional writes (?P<_lo>\d+)-(?P<_hi>\d+)", "p2pBandwidthLatencyTest, one direction, writes"),
    ("open_gpu_modules_6", r"p2pBandwidthLatencyTest diagonal \((?P<_lo>\d+)-(?P<_hi>\d+)\)", "p2pBandwidthLatencyTest, copies inside one device, bytes read plus written"),
    ("nvbandwidth_15", r"nvbandwidth CE, (maximum|minimum) over 8 GPUs", "nvbandwidth with the copy engine, extreme of 8 boards"),
    ("nvbandwidth_42", r"nvbandwidth SM copy, buffer (?P<size_mib>\d+) MiB", "nvbandwidth with an SM copy kernel, size over bandwidth"),
    ("nvbandwidth_42", r"nvbandwidth SM copy, buffer (?P<size_gib>\d+) GiB", "nvbandwidth with an SM copy kernel, size over bandwidth"),
    ("transformers_bench_4", r"torch matmul n=(?P<mnk>\d+)", "torch matmul"),
    ("cuda_study", r"(?P<_ns>[\d.]+) ns(, \d+ MB)?(, ld\.cg)?( at 1\.98 GHz)?; CUDA 12\.8", "pointer chase at 1.98 GHz"),
    ("cuda_study", r"cuBLAS (?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+); CUDA 12\.8", "cuBLAS"),
]
# A study that states its clock once and prints both cycles and ns: the two must agree with that clock.
STUDY_CLOCK_MHZ = {"cuda_study": "1980"}
# Further parameters of collective records that the conditions only say in words: (source, conditions) -> parameters.
WORDED = {
    **{("stas00", f"nccl-tests 8 GiB, {ranks} GPUs, {how}"): {"size": 8 * 2**30} for ranks in range(4, 9) for how in ("default algorithm", "NCCL_NVLS_ENABLE=0")},
    ("stas00", "8 GPUs, 16 GiB, ring"): {"size": 16 * 2**30},
    ("stas00", "8 GPUs, 16 GiB, SHARP (107 % of the 450 GB/s link: bus-bandwidth formula, not a fault)"): {"size": 16 * 2**30, "algorithm": "sharp"},
}

# Fact -> (slug, GPU name in the reference, source).
FACTS = {
    "v100": {
        "sm.count": ("spec.sm_count", "Tesla V100 PCIe 16GB", "jia2018"), "clock.sm.max": ("spec.clock.sm.max", "Tesla V100 PCIe 16GB", "jia2018"),
        "clock.memory": ("spec.clock.mem", "Tesla V100 PCIe 16GB", "jia2018"), "memory.bandwidth": ("spec.mem.bandwidth", "V100 PCIe", "gpu_specs"),
        "cache.l2.size": ("spec.l2.size", "Tesla V100-PCIE-16GB", "mt4g"), "shared.per_sm": ("spec.smem.per_sm", "Tesla V100-PCIE-16GB", "mt4g"),
        "power.limit": ("spec.tdp", "V100 PCIe", "gpu_specs"), "peak.f64": ("spec.peak.fp64", "V100 PCIe", "gpu_specs"),
        "peak.f32": ("spec.peak.fp32", "V100 PCIe", "gpu_specs"), "peak.f16.tensor": ("spec.peak.fp16.dense", "V100 PCIe", "gpu_specs"),
        "link.pcie.generation": ("spec.pcie.generation", "V100 PCIe", "gpu_specs"),
    },
    "a100": {
        "sm.count": ("spec.sm_count", "A100", "gpunetbench"), "clock.sm.max": ("spec.clock.sm.max", "A100 SXM", "stas00"),
        "memory.bandwidth": ("spec.mem.bandwidth", "A100 SXM4 80GB", "gpu_specs"), "memory.total": ("spec.mem.size", "A100 SXM4 80GB", "gpu_specs"),
        "cache.l2.size": ("spec.l2.size", "NVIDIA A100-PCIE-40GB", "mt4g"), "cache.l1.size": ("spec.l1_smem.per_sm", "A100 SXM", "stas00"),
        "shared.per_sm": ("spec.smem.per_sm", "NVIDIA A100-PCIE-40GB", "mt4g"), "power.limit": ("spec.tdp", "A100 SXM4 80GB", "gpu_specs"),
        "peak.f64": ("spec.peak.fp64", "A100 SXM4 80GB", "gpu_specs"), "peak.f32": ("spec.peak.fp32", "A100 SXM4 80GB", "gpu_specs"),
        "peak.tf32.tensor": ("spec.peak.tf32.dense", "A100 SXM4 80GB", "gpu_specs"), "peak.f16.tensor": ("spec.peak.fp16.dense", "A100 SXM4 80GB", "gpu_specs"),
        "peak.bf16.tensor": ("spec.peak.bf16.dense", "A100 SXM4 80GB", "gpu_specs"), "peak.int8.tensor": ("spec.peak.int8.dense", "A100 SXM4 80GB", "gpu_specs"),
        "link.nvlink.bandwidth": ("spec.nvlink.bandwidth.unidir", "A100", "stas00"), "link.nvlink.count": ("spec.nvlink.links", "A100", "stas00"),
        "link.pcie.bandwidth": ("spec.pcie.bandwidth.unidir", "A100", "stas00"), "link.pcie.generation": ("spec.pcie.generation", "A100", "stas00"),
    },
    "h100_sxm": {
        "sm.count": ("spec.sm_count", "NVIDIA H100 80GB HBM3", "mt4g"), "clock.sm.max": ("spec.clock.sm.max", "NVIDIA H100 80GB HBM3", "mt4g"),
        "clock.sm.tensor_peak": ("spec.clock.sm.tensor_peak", "H100 SXM", "stas00"), "clock.memory": ("spec.clock.mem", "NVIDIA H100 80GB HBM3", "mt4g"),
        "memory.bandwidth": ("spec.mem.bandwidth", "H100 SXM", "stas00"), "memory.total": ("spec.mem.size", "H100 SXM", "stas00"),
        "cache.l2.size": ("spec.l2.size", "NVIDIA H100 80GB HBM3", "mt4g"), "cache.l1.size": ("spec.l1_smem.per_sm", "H100 SXM", "stas00"),
        "shared.per_sm": ("spec.smem.per_sm", "NVIDIA H100 80GB HBM3", "mt4g"), "power.limit": ("spec.tdp", "H100 SXM", "stas00"),
        "peak.f64": ("spec.peak.fp64", "H100 SXM5", "glennklockwood"), "peak.f32": ("spec.peak.fp32", "H100 SXM", "stas00"),
        "peak.f64.tensor": ("spec.peak.fp64.tensor", "H100 SXM5", "glennklockwood"), "peak.tf32.tensor": ("spec.peak.tf32.dense", "H100 SXM", "stas00"),
        "peak.f16.tensor": ("spec.peak.fp16.dense", "H100 SXM", "stas00"), "peak.bf16.tensor": ("spec.peak.bf16.dense", "H100 SXM", "stas00"),
        "peak.f8.tensor": ("spec.peak.fp8.dense", "H100 SXM", "stas00"), "peak.int8.tensor": ("spec.peak.int8.dense", "H100 SXM", "stas00"),
        "link.nvlink.bandwidth": ("spec.nvlink.bandwidth.unidir", "H100 SXM", "stas00"), "link.nvlink.count": ("spec.nvlink.links", "H100 SXM", "stas00"),
        "link.pcie.bandwidth": ("spec.pcie.bandwidth.unidir", "H100 SXM", "stas00"), "link.pcie.generation": ("spec.pcie.generation", "H100 SXM", "stas00"),
    },
    "h200": {
        "clock.sm.tensor_peak": ("spec.clock.sm.tensor_peak", "H200 SXM", "stas00"), "memory.bandwidth": ("spec.mem.bandwidth", "H200 SXM", "stas00"),
        "memory.total": ("spec.mem.size", "H200 SXM", "stas00"), "cache.l2.size": ("spec.l2.size", "H200 SXM", "stas00"),
        "power.limit": ("spec.tdp", "H200 SXM", "stas00"), "peak.f32": ("spec.peak.fp32", "H200 SXM", "stas00"),
        "peak.tf32.tensor": ("spec.peak.tf32.dense", "H200 SXM", "stas00"), "peak.f16.tensor": ("spec.peak.fp16.dense", "H200 SXM", "stas00"),
        "peak.bf16.tensor": ("spec.peak.bf16.dense", "H200 SXM", "stas00"), "peak.f8.tensor": ("spec.peak.fp8.dense", "H200 SXM", "stas00"),
        "peak.int8.tensor": ("spec.peak.int8.dense", "H200 SXM", "stas00"), "link.nvlink.bandwidth": ("spec.nvlink.bandwidth.unidir", "H200 SXM", "stas00"),
        "link.nvlink.count": ("spec.nvlink.links", "H200 SXM", "stas00"), "link.pcie.bandwidth": ("spec.pcie.bandwidth.unidir", "H200 SXM", "stas00"),
        "link.pcie.generation": ("spec.pcie.generation", "H200 SXM", "stas00"),
    },
    "rtx4090": {
        "sm.count": ("spec.sm_count", "RTX 4090", "chips_and_cheese"), "memory.bandwidth": ("spec.mem.bandwidth", "RTX 4090", "gpu_specs"),
        "memory.total": ("spec.mem.size", "RTX 4090", "gpu_specs"), "power.limit": ("spec.tdp", "RTX 4090", "gpu_specs"),
        "link.pcie.generation": ("spec.pcie.generation", "RTX 4090", "gpu_specs"),
    },
}

# Whole curves, permissive licences only: (reader, file under raw/, where, licence, GPU as named there, extra).
MARKDEWING = "github.com/markdewing/AI_kernels@d916a39b latency/data/"
SUPERBENCH = "github.com/microsoft/superbenchmark@700d6501 tests/data/"
CLPEAK = "github.com/krrishnarraj/clpeak results/NVIDIA_CUDA/"
CURVES = {
    "v100": [
        ("markdewing", "markdewing-ai-kernels/latency__data__v100.dat", MARKDEWING + "v100.dat", "MIT", "V100", NO_FORM + "; " + NO_MEMORY),
        ("bandwidth_test", "superbenchmark-tests/tests__data__cuda_memory_h2d_bw.log", SUPERBENCH + "cuda_memory_h2d_bw.log", "MIT", "Tesla V100-PCIE-32GB", "H2D-Pinned"),
        ("bandwidth_test", "superbenchmark-tests/tests__data__cuda_memory_d2h_bw.log", SUPERBENCH + "cuda_memory_d2h_bw.log", "MIT", "Tesla V100-PCIE-32GB", "D2H-Pinned"),
        ("bandwidth_test", "superbenchmark-tests/tests__data__cuda_memory_d2d_bw.log", SUPERBENCH + "cuda_memory_d2d_bw.log", "MIT", "Tesla V100-PCIE-32GB", "D2D"),
        ("clpeak", "clpeak/Tesla_V100.log", CLPEAK + "Tesla_V100.log@bcc21dce", "Apache-2.0", "Tesla V100-PCIE-32GB", (DRAM, CHIP)),
    ],
    "a100": [
        ("markdewing", "markdewing-ai-kernels/latency__data__a100sxm.dat", MARKDEWING + "a100sxm.dat", "MIT", "A100 SXM", NO_MEMORY),
        *[("nccl", f"superbenchmark-tests/tests__data__nccl_{op}.log", SUPERBENCH + f"nccl_{op}.log", "MIT", "8x A100-SXM4-40GB", op)
          for op in ("allgather", "allreduce", "alltoall", "broadcast", "reduce", "reducescatter")],
        ("clpeak", "clpeak/NVIDIA_A100-SXM4-40GB.log", CLPEAK + "NVIDIA_A100-SXM4-40GB.log@82de99a8", "Apache-2.0", "NVIDIA A100-SXM4-40GB", (CHIP,)),
    ],
    "h100_sxm": [("markdewing", "markdewing-ai-kernels/latency__data__h100sxm.dat", MARKDEWING + "h100sxm.dat", "MIT", "H100 SXM", NO_MEMORY)],
    "h200": [],
    "rtx4090": [("markdewing", "markdewing-ai-kernels/latency__data__4090.dat", MARKDEWING + "4090.dat", "MIT", "RTX 4090", "")],
}
