// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <cuda_runtime_api.h>

#include <chrono>
#include <memory>
#include <stdexcept>

#include "core/stats.h"
#include "cuda/check.h"
#include "cuda/session.h"
#include "kernels/micro/empty.h"
#include "microbench/cuda/rows.h"

namespace warpmeter {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int launches = 2000;  // a few milliseconds
// Behind a closed gate: well below the depth of the launch queue (1024), even if each node of a
// graph should take a slot.
constexpr int gated_launches = 200;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void launch_many(cudaStream_t stream, int count) {
  for (int i = 0; i < count; ++i) launch_empty(stream);
}

class StreamLaunchCase : public Case {
 public:
  explicit StreamLaunchCase(const Device& device) : session_(device) {
    wall_s(launches);
    gated_s(gated_launches);
  }

  Sample sample() override {
    const DeviceGuard guard(session_.ordinal());
    const double one_s = wall_s(1);
    const double many_s = wall_s(launches);
    gated_.push_back((gated_s(gated_launches) - gated_s(1)) / (gated_launches - 1));
    return {(many_s - one_s) / (launches - 1), many_s};
  }

  Json conditions() const override {
    Json result = session_.conditions();
    result["launches"] = launches;
    if (const auto gated = median(gated_)) result["device_only_s"] = *gated;
    return result;
  }

 private:
  double wall_s(int count) {
    const DeviceGuard guard(session_.ordinal());
    GPU_CHECK(cudaStreamSynchronize(session_.stream()));
    const auto begin = Clock::now();
    launch_many(session_.stream(), count);
    GPU_CHECK(cudaStreamSynchronize(session_.stream()));
    return seconds_since(begin);
  }

  double gated_s(int count) {
    const DeviceGuard guard(session_.ordinal());
    return session_.bracket().time(session_.stream(),
                                   [&](cudaStream_t stream) { launch_many(stream, count); });
  }

  Session session_;
  std::vector<double> gated_;
};

// A graph that is a chain of `nodes` empty kernels.
GraphExec make_chain(cudaStream_t stream, int nodes) {
  GPU_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch_many(stream, nodes);
  cudaGraph_t captured = nullptr;
  GPU_CHECK(cudaStreamEndCapture(stream, &captured));
  const Graph graph(captured);
  std::size_t count = 0;
  GPU_CHECK(cudaGraphGetNodes(captured, nullptr, &count));
  require_correct(count == static_cast<std::size_t>(nodes), "the graph lost nodes");
  GraphExec exec = instantiate(graph);
  GPU_CHECK(cudaGraphUpload(exec.get(), stream));
  return exec;
}

class GraphLaunchCase : public Case {
 public:
  explicit GraphLaunchCase(const Device& device) : session_(device) {
    const DeviceGuard guard(device.ordinal);
    launch_many(session_.stream(), 2);
    one_ = make_chain(session_.stream(), 1);
    many_ = make_chain(session_.stream(), gated_launches);
    for (const GraphExec* exec : {&one_, &many_}) {
      for (int i = 0; i < 2; ++i) GPU_CHECK(cudaGraphLaunch(exec->get(), session_.stream()));
    }
    GPU_CHECK(cudaStreamSynchronize(session_.stream()));
  }

  Sample sample() override {
    const DeviceGuard guard(session_.ordinal());
    const double one_s = time(one_);
    const double many_s = time(many_);
    return {(many_s - one_s) / (gated_launches - 1), many_s};
  }

  Json conditions() const override {
    Json result = session_.conditions();
    result["nodes"] = gated_launches;
    return result;
  }

 private:
  double time(const GraphExec& exec) {
    return session_.bracket().time(session_.stream(), [&](cudaStream_t stream) {
      GPU_CHECK(cudaGraphLaunch(exec.get(), stream));
    });
  }

  Session session_;
  GraphExec one_;
  GraphExec many_;
};

class FirstLaunchCase : public Case {
 public:
  explicit FirstLaunchCase(const Device& device) : session_(device) { first_s(); }

  Sample sample() override {
    const double seconds = first_s();
    return {seconds, seconds};
  }

  Json conditions() const override {
    Json result = session_.conditions();
    result["includes"] = "cudaLibraryLoadData, cudaLibraryGetKernel, launch, wait";
    return result;
  }

 private:
  double first_s() {
    const DeviceGuard guard(session_.ordinal());
    GPU_CHECK(cudaStreamSynchronize(session_.stream()));
    const auto begin = Clock::now();
    cudaLibrary_t loaded = nullptr;
    GPU_CHECK(
        cudaLibraryLoadData(&loaded, first_launch_image, nullptr, nullptr, 0, nullptr, nullptr, 0));
    const Library library(loaded);
    cudaKernel_t kernel = nullptr;
    GPU_CHECK(cudaLibraryGetKernel(&kernel, loaded, "first_launch"));
    GPU_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0,
                               session_.stream()));
    GPU_CHECK(cudaStreamSynchronize(session_.stream()));
    return seconds_since(begin);
  }

  Session session_;
};

template <typename LaunchCase>
Benchmark launch_row(const std::string& quantity, const std::string& method) {
  Benchmark row;
  row.id = row.quantity = quantity;
  row.unit = Unit::second;
  row.device = DeviceKind::cuda;
  row.method = method;
  row.points = [](const Device&, Effort) { return std::vector<Parameters>{{}}; };
  row.unsupported = [](const Device&, const Parameters&) { return std::nullopt; };
  row.make = [](const Device& device, const Parameters&) -> std::unique_ptr<Case> {
    return std::make_unique<LaunchCase>(device);
  };
  row.limit = [](const Device&, const Parameters&) { return std::nullopt; };
  return row;
}

}  // namespace

Benchmark launch_stream_row() {
  return launch_row<StreamLaunchCase>(
      "launch.stream",
      "(T_N - T_1) / (N - 1) of N empty kernels in one stream, host clock from the first launch to "
      "the "
      "end of the last kernel, so submission included; device_only_s is the same with all launches "
      "queued before the first one runs.");
}

Benchmark launch_graph_row() {
  return launch_row<GraphLaunchCase>("launch.graph",
                                     "(T_N - T_1) / (N - 1) of graphs that are a chain of N empty "
                                     "kernels, uploaded before; event time "
                                     "of one graph launch behind a closed gate.");
}

Benchmark launch_first_row() {
  return launch_row<FirstLaunchCase>("launch.stream.first",
                                     "Host time to load a fat binary of one empty kernel (machine "
                                     "code for common GPUs), launch it and "
                                     "wait for its end.");
}

}  // namespace warpmeter
