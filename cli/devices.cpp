// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cli/devices.h"

#include <fmt/format.h>

#include "cli/emulate.h"
#include "core/error.h"
#include "kernels/llm/table.h"
#include "microbench/host/table.h"
#if WARPMETER_WITH_CUDA
#include "cuda/device.h"
#include "kernels/llm/cuda/table.h"
#include "microbench/cuda/table.h"
#endif

namespace warpmeter {
namespace {

Device host() { return {DeviceKind::cpu, 0, read_host_facts()}; }

}  // namespace

std::vector<Device> find_gpus(std::string& why_none) {
#if WARPMETER_WITH_CUDA
  return find_cuda_devices(why_none);
#else
  why_none = "this warpmeter was built without CUDA; run scripts/setup without --no-cuda";
  return {};
#endif
}

Choice choose_device(const std::string& text) {
  if (text == "cpu") return {host(), "asked for"};
  std::string why_none;
  const std::vector<Device> gpus = find_gpus(why_none);
  if (gpus.empty() && emulation_asked_for())
    throw InputError("the emulated GPU did not start; the line above says why");
  if (text.empty()) {
    if (gpus.empty()) return {host(), "no GPU: " + why_none};
    return {gpus.front(), "the first GPU"};
  }
  for (const Device& gpu : gpus) {
    if (to_string(gpu) == text) return {gpu, "asked for"};
  }
  if (text.rfind("cuda:", 0) != 0)
    throw InputError(fmt::format("unknown device \"{}\": use cpu or cuda:N", text));
  if (gpus.empty())
    throw InputError(
        fmt::format("{} is not here: {}; use --device cpu to measure the host", text, why_none));
  throw InputError(
      fmt::format("{} is not here: the GPUs are cuda:0 to cuda:{}", text, gpus.size() - 1));
}

std::vector<Benchmark> benchmark_table(DeviceKind kind) {
  if (kind == DeviceKind::cpu) return host_benchmarks();
#if WARPMETER_WITH_CUDA
  return cuda_benchmarks();
#else
  return {};
#endif
}

std::vector<Benchmark> kernel_table(DeviceKind kind) {
  if (kind == DeviceKind::cpu) return host_llm_kernels();
#if WARPMETER_WITH_CUDA
  return cuda_llm_kernels();
#else
  return {};
#endif
}

std::vector<Benchmark> step_rows([[maybe_unused]] std::vector<Parameters> points) {
#if WARPMETER_WITH_CUDA
  return cuda_step(std::move(points));
#else
  return {};
#endif
}

}  // namespace warpmeter
