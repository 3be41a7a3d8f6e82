// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/collective_table.h"

#include <fmt/format.h>

#include <cstring>

#include "core/error.h"
#include "cuda/device.h"
#include "kernels/llm/cuda/collective_case.h"
#include "kernels/llm/cuda/row.h"
#ifdef WARPMETER_NCCL
#include "kernels/llm/library/nccl.h"
#endif
#include "kernels/llm/cuda/table.h"

namespace warpmeter {
namespace {

const std::vector<Device>& all_devices() {
  static const std::vector<Device> devices = [] {
    std::string why;
    return find_cuda_devices(why);
  }();
  return devices;
}

AllReduceShape all_reduce_shape(const Parameters& point) {
  const Element type = type_of(point);
  const std::int64_t size = count(point, "size"), e = static_cast<std::int64_t>(bytes_of(type));
  if (size % e != 0)
    throw InputError(fmt::format("size {} is no whole number of {}", size, to_string(type)));
  return {size / e, static_cast<int>(count(point, "ranks")), type};
}

struct Size {
  double bytes;
  const char* type;
  Effort from;
};

// A token of Llama-3-8B is 8 KiB in bf16.
constexpr Size sizes[] = {
    {8 << 10, "bf16", Effort::quick},    {64 << 10, "bf16", Effort::standard},
    {256 << 10, "bf16", Effort::quick},  {1 << 20, "bf16", Effort::standard},
    {4 << 20, "bf16", Effort::thorough}, {256 << 10, "f32", Effort::thorough},
};

// All ranks in one point, which rank 0's device has; 2, 4 and 8 of them where there are as many.
// One point with a single rank if there is one device only, so that the run says why it has no
// value.
std::vector<Parameters> all_reduce_points(const Device& device, Effort effort) {
  std::vector<Parameters> points;
  if (device.ordinal != 0) return points;
  const auto devices = std::max(1, static_cast<int>(all_devices().size()));
  for (int ranks = devices == 1 ? 1 : 2; ranks <= std::min(devices, most_ranks); ranks *= 2)
    for (const Size& size : sizes)
      if (size.from <= effort)
        points.push_back({{"op", "allreduce"},
                          {"type", size.type},
                          {"size", is_emulated(device) ? size.bytes / 8 : size.bytes},
                          {"ranks", double(ranks)}});
  return points;
}

std::vector<int> ordinals(int ranks) {
  std::vector<int> result;
  for (int rank = 0; rank < ranks; ++rank) result.push_back(rank);
  return result;
}

Refusal refusal(const Device& device, const Parameters& point) {
  const AllReduceShape shape = all_reduce_shape(point);
  const auto devices = static_cast<int>(all_devices().size());
  if (shape.ranks < 2) return "an all-reduce needs two ranks, and this system has only one GPU";
  if (shape.ranks > devices)
    return fmt::format("{} ranks; this system has {} GPUs", shape.ranks, devices);
  if (shape.ranks > most_ranks) return fmt::format("{} ranks; at most {}", shape.ranks, most_ranks);
  if (auto reason = row_type(shape)) return reason;
  if (const std::string why = no_peer_access(ordinals(shape.ranks)); !why.empty()) return why;
  return too_large(device, all_reduce_work(shape));
}

std::unique_ptr<Case> case_of(const AllReduceShape& shape, const CollectiveLaunch& launch,
                              int roundings) {
  const std::vector<Device> devices(all_devices().begin(), all_devices().begin() + shape.ranks);
  return std::make_unique<CollectiveCase>(
      devices, [=] { return all_reduce_problem(shape, next_seed(), roundings); }, launch,
      [=](double seconds) { return all_reduce_bus_bandwidth(shape, seconds); });
}

std::unique_ptr<Case> make(const Device&, const Parameters& point) {
  const AllReduceShape shape = all_reduce_shape(point);
  return case_of(shape, all_reduce_launch(shape), 1);
}

#ifdef WARPMETER_NCCL
Refusal nccl_refusal(const Device& device, const Parameters& point) {
  if (auto reason = refusal(device, point)) return reason;
  return nccl_missing();
}

// A ring adds a rank's vector in the type at each step.
std::unique_ptr<Case> make_nccl(const Device&, const Parameters& point) {
  const AllReduceShape shape = all_reduce_shape(point);
  const auto nccl = std::make_shared<NcclAllReduce>(shape);
  return case_of(shape,
                 {[] {},
                  [=](const RankPointers& pointers, int rank, cudaStream_t stream) {
                    nccl->enqueue(pointers, rank, stream);
                  },
                  nccl->conditions()},
                 shape.ranks - 1);
}
#endif

Benchmark all_reduce_row(const std::string& id, const std::string& method, const char* algorithm,
                         decltype(make)* make_case, decltype(refusal)* refuse) {
  Benchmark row;
  row.id = id;
  row.quantity = "collective.time";
  row.unit = Unit::second;
  row.device = DeviceKind::cuda;
  row.method = method +
               " Result checked against double precision before timing; event time of one "
               "execution from a common start to the end of the slowest GPU: the mean of many in a "
               "row.";
  row.points = [=](const Device& device, Effort effort) {
    std::vector<Parameters> points = all_reduce_points(device, effort);
    for (Parameters& point : points) point["algorithm"] = algorithm;
    return points;
  };
  row.unsupported = refuse;
  row.make = make_case;
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  row.work = [](const Parameters& point) { return all_reduce_work(all_reduce_shape(point)); };
  return row;
}

}  // namespace

CollectiveProblem all_reduce_problem(const AllReduceShape& shape, std::uint32_t seed,
                                     int roundings) {
  CollectiveProblem problem;
  problem.ranks.resize(static_cast<std::size_t>(shape.ranks));
  std::vector<const Operand*> xs, ys;
  for (std::deque<Operand>& rank : problem.ranks) {
    xs.push_back(&rank.emplace_back("x", Role::input, shape.type, shape.count));
    ys.push_back(&rank.emplace_back("y", Role::output, shape.type, shape.count));
    const Operand& signals =
        rank.emplace_back("signals", Role::updated, Element::i32, signal_count);
    std::memset(signals.memory.data(), 0, signals.memory.size());
    fill_normal(*xs.back(), seed++, 1);
  }
  problem.checked_results = shape.count * shape.ranks;
  problem.verify = [=] { check_all_reduce(shape, xs, ys, roundings); };
  return problem;
}

CollectiveLaunch all_reduce_launch(const AllReduceShape& shape) {
  return {[=] { load_all_reduce_one_shot(shape); },
          [=](const RankPointers& pointers, int rank, cudaStream_t stream) {
            std::vector<const void*> x;
            std::vector<void*> signals;
            for (const std::vector<void*>& of_rank : pointers) {
              x.push_back(of_rank[0]);
              signals.push_back(of_rank[2]);
            }
            launch_all_reduce_one_shot(shape, rank, x, signals,
                                       pointers[static_cast<std::size_t>(rank)][1], stream);
          }};
}

std::vector<Benchmark> cuda_collective_kernels() {
  std::vector<Benchmark> rows = {all_reduce_row(
      "kernel.all_reduce.one_shot",
      "Each GPU reads all GPUs' vectors from their memory and adds them in the order of ranks; "
      "blocks meet their namesakes by flags in peer memory before and after.",
      "one_shot", make, refusal)};
#ifdef WARPMETER_NCCL
  rows.push_back(all_reduce_row("kernel.all_reduce.nccl",
                                "NVIDIA's NCCL, one process; it chooses algorithm and protocol.",
                                "nccl", make_nccl, nccl_refusal));
#endif
  return rows;
}

}  // namespace warpmeter
