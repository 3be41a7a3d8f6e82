// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <fmt/format.h>

#include <map>

#include "kernels/llm/cuda/device_kernel_case.h"
#include "kernels/llm/cuda/points.h"
#include "kernels/llm/point_shapes.h"

namespace warpmeter {

using Refusal = std::optional<std::string>;
using Operands = std::span<void* const>;

// What a kernel is made of: `launch`, or `prepare` for what needs more than operands. Both take the
// problem's operands in their order.
template <class Shape>
struct Row {
  std::string id;
  std::string method;
  std::vector<Parameters> (*points)(int threads, Effort effort);
  Shape (*shape_of)(const Parameters&);
  Work (*work_of)(const Shape&);
  Problem (*problem_of)(const Shape&, std::uint32_t seed);
  void (*launch)(const Shape&, Operands, cudaStream_t);
  Refusal (*refusal)(const Shape&);                    // why the kernel cannot do this shape
  Refusal (*device_refusal)(const Device&) = nullptr;  // why it cannot run on this device
  // On the current device.
  PreparedLaunch (*prepare)(const Shape&) = nullptr;
  double (*tiles)(const Shape&) = nullptr;  // Work::tiles
};

// Parts of at most `in` that `of` has.
constexpr double parts(std::int64_t of, std::int64_t in) {
  return static_cast<double>((of + in - 1) / in);
}

// Why the operands do not fit into the memory of the device.
Refusal too_large(const Device& device, const Work& work);

// What `ask` says with the device current, asked once per device: starting a library takes time.
Refusal answer_once(std::map<int, Refusal>& answers, const Device& device, Refusal (*ask)());

// All of it, tiles included.
template <class Shape>
Work whole_work(const Row<Shape>& row, const Shape& shape) {
  Work work = row.work_of(shape);
  if (row.tiles != nullptr) work.tiles = row.tiles(shape);
  return work;
}

// The row of the benchmark table.
template <class Shape>
Benchmark benchmark(const Row<Shape>& row) {
  Benchmark result;
  result.id = row.id;
  result.quantity = "kernel.time";
  result.unit = Unit::second;
  result.device = DeviceKind::cuda;
  result.method = row.method +
                  " Result checked against double precision before timing; event time of one "
                  "execution: the mean of many in a row (hot), or one after flushing L2 (cold).";
  result.points = [row](const Device& device, Effort effort) {
    return device_points(row.points(1, effort), device);
  };
  result.work = [row](const Parameters& p) { return whole_work(row, row.shape_of(p)); };
  result.unsupported = [row](const Device& device, const Parameters& p) -> Refusal {
    const Shape shape = row.shape_of(p);
    if (row.device_refusal != nullptr)
      if (auto reason = row.device_refusal(device)) return reason;
    if (auto reason = row.refusal(shape)) return reason;
    return too_large(device, row.work_of(shape));
  };
  result.make = [row](const Device& device, const Parameters& p) -> std::unique_ptr<Case> {
    const Shape shape = row.shape_of(p);
    const Work work = whole_work(row, shape);
    return std::make_unique<DeviceKernelCase>(
        device,
        DeviceKernelCase::Options{parse_residency(word(p, "residency").value_or("none")),
                                  parse_launch_mode(word(p, "launch").value_or("eager")),
                                  KernelLabel(row.id, p, work), work.launches},
        [=](cudaStream_t stream) {
          PreparedLaunch launch;
          if (row.prepare != nullptr)
            launch = row.prepare(shape);
          else
            launch.launch = [=](Operands operands, cudaStream_t queue) {
              row.launch(shape, operands, queue);
            };
          return std::make_unique<DeviceKernel>(row.problem_of(shape, next_seed()),
                                                std::move(launch), stream);
        });
  };
  result.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return result;
}

// Why a kernel on rows cannot take the type.
template <class Shape>
Refusal row_type(const Shape& shape) {
  if (shape.type == Element::f32 || shape.type == Element::bf16 || shape.type == Element::f16)
    return std::nullopt;
  return "type " + to_string(shape.type) + ": this kernel takes f32, bf16 or f16";
}

// Why a kernel of half-precision matrix instructions cannot take the type.
template <class Shape>
Refusal half_type(const Shape& shape) {
  if (shape.type == Element::bf16 || shape.type == Element::f16) return std::nullopt;
  return "type " + to_string(shape.type) + ": matrix instructions take bf16 or f16";
}

// The host's points, with f16 in place of f32.
template <std::vector<Parameters> (*points)(int, Effort)>
std::vector<Parameters> half_type_points(int threads, Effort effort) {
  std::vector<Parameters> result = points(threads, effort);
  for (Parameters& point : result)
    if (word(point, "type") == "f32") point["type"] = "f16";
  return result;
}

}  // namespace warpmeter
