// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/device_kernel_case.h"
#include "kernels/llm/cuda/device_stack.h"
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"

namespace warpmeter {
namespace {

// What the kernels of the stack ask of its sizes.
Refusal step_refusal(const StackShape& s) {
  if (s.head_size != 64 && s.head_size != 128 && s.head_size != 256)
    return fmt::format("head size {}; attention has 64, 128 and 256", s.head_size);
  if (s.heads / s.kv_heads > 8)
    return fmt::format("{} heads over {} KV heads; decoding takes at most 8 each", s.heads,
                       s.kv_heads);
  if (s.hidden > columns_in_registers)
    return fmt::format("hidden size {}; RMSNorm takes at most {}", s.hidden, columns_in_registers);
  return std::nullopt;
}

}  // namespace

std::vector<Benchmark> cuda_step(std::vector<Parameters> points) {
  Benchmark row;
  row.id = "kernel.step";
  row.quantity = "kernel.time";
  row.unit = Unit::second;
  row.device = DeviceKind::cuda;
  row.method =
      "A stack of decoder layers with embedding and output projection, random weights in bf16; "
      "logits checked by two ways, prefill and decoding, before timing; event time of one step, "
      "the mean of many in a row.";
  row.points = [points](const Device&, Effort) { return points; };
  row.work = [](const Parameters& p) { return stack_work(stack_shape(p)); };
  row.unsupported = [](const Device& device, const Parameters& p) -> Refusal {
    const StackShape shape = stack_shape(p);
    if (auto reason = step_refusal(shape)) return reason;
    const Work work = stack_work(shape);
    if (word(p, "launch").value_or("eager") == "eager" && work.launches > most_queued_launches)
      return fmt::format("{} launches; a sample holds at most {}: use --launch graph",
                         work.launches, most_queued_launches);
    return too_large(device, work);
  };
  row.make = [](const Device& device, const Parameters& p) -> std::unique_ptr<Case> {
    const StackShape shape = stack_shape(p);
    const Work work = stack_work(shape);
    return std::make_unique<DeviceKernelCase>(
        device,
        DeviceKernelCase::Options{Residency::hot,
                                  parse_launch_mode(word(p, "launch").value_or("eager")),
                                  KernelLabel("kernel.step", p, work), work.launches},
        [=](cudaStream_t stream) {
          return std::make_unique<DeviceStack>(shape, next_seed(), stream);
        });
  };
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return {row};
}

}  // namespace warpmeter
