// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/table.h"

#include <unistd.h>

#include <fstream>

#include "core/error.h"
#include "kernels/llm/attention.h"
#include "kernels/llm/gather.h"
#include "kernels/llm/gemm.h"
#include "kernels/llm/kernel_case.h"
#include "kernels/llm/onednn.h"
#include "kernels/llm/point_shapes.h"
#include "kernels/llm/points.h"
#include "kernels/llm/rms_norm.h"
#include "kernels/llm/softmax.h"
#include "kernels/llm/swiglu.h"

namespace warpmeter {
namespace {

// B, 0 if the kernel does not say.
double available_memory() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key; meminfo.ignore(1 << 12, '\n')) {
    double kibibytes = 0;
    if (key == "MemAvailable:" && meminfo >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

// One row from the kernel's parts: `shape_of` reads a shape from a point, `work_of` and `make_of`
// take it.
template <class Shape>
Benchmark row(std::string id, std::string method, std::vector<Parameters> (*points)(int, Effort),
              Shape (*shape_of)(const Parameters&), Work (*work_of)(const Shape&),
              std::unique_ptr<Kernel> (*make_of)(const Shape&, std::uint32_t)) {
  Benchmark benchmark;
  benchmark.id = std::move(id);
  benchmark.quantity = "kernel.time";
  benchmark.unit = Unit::second;
  benchmark.method = std::move(method) +
                     " Result checked against double precision before timing; time per execution "
                     "over at least 1 ms (hot) or of one execution after flushing (cold).";
  benchmark.points = [points](const Device&, Effort effort) {
    return points(static_cast<int>(usable_cpus().size()), effort);
  };
  benchmark.work = [=](const Parameters& p) { return work_of(shape_of(p)); };
  benchmark.unsupported = [=](const Device&, const Parameters& p) -> std::optional<std::string> {
    if (auto reason = unsupported_type(type_of(p), dnnl::get_effective_cpu_isa())) return reason;
    // Weights exist twice while they are reordered; another half for the rest of the process.
    const double needed = 2.5 * work_of(shape_of(p)).working_set;
    const double available = available_memory();
    if (available == 0 || needed <= available) return std::nullopt;
    return "needs " + format_bytes(needed) + " of memory, " + format_bytes(available) +
           " is available";
  };
  benchmark.make = [=](const Device&, const Parameters& p) -> std::unique_ptr<Case> {
    const Shape shape = shape_of(p);
    if (shape.type == Element::f16)
      throw InputError("kernel type 'f16' is for GPUs: use f32 or bf16 on a host");
    return std::make_unique<KernelCase>(static_cast<int>(count(p, "threads")),
                                        parse_residency(word(p, "residency").value_or("none")),
                                        [=] { return make_of(shape, next_seed()); });
  };
  benchmark.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return benchmark;
}

}  // namespace

std::vector<Benchmark> host_llm_kernels() {
  const std::string linear = "oneDNN matmul with weights reordered to its blocked format.";
  return {
      row("kernel.gemm.prefill", linear, gemm_prefill_points, gemm_shape, gemm_work, make_gemm),
      row("kernel.gemm.decode", linear, gemm_decode_points, gemm_shape, gemm_work, make_gemm),
      row<AttentionShape>("kernel.attention.decode",
                          "oneDNN batched matmul, softmax, batched matmul over a KV cache.",
                          attention_points, attention_shape, attention_work, make_attention),
      row("kernel.softmax", "oneDNN softmax over rows.", softmax_points, rows_shape, softmax_work,
          make_softmax),
      row("kernel.rms_norm", "Vectorised OpenMP loop over rows.", rms_norm_points, rows_shape,
          rms_norm_work, make_rms_norm),
      row("kernel.swiglu", "oneDNN binary with swish and multiply as post-operations.",
          swiglu_points, rows_shape, swiglu_work, make_swiglu),
      row("kernel.gather", "OpenMP loop that copies one table row per token.", gather_points,
          gather_shape, gather_work, make_gather),
  };
}

}  // namespace warpmeter
