// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What a range costs the program: pairs of push and pop through NVTX's own entry points into the
// handler, while a writer drains every 10 ms. Run by hand.
#include <benchmark/benchmark.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <atomic>
#include <thread>

#include "collectors/nvtx_handler.h"
#include "collectors/nvtx_recorder.h"

namespace warpmeter {
namespace {

// Reads and drops.
class Writer {
 public:
  explicit Writer(bool armed) {
    if (armed) recorder_.arm(std::size_t{64} << 20);
    thread_ = std::thread([this] {
      while (!stop_) {
        lost_ += take();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
  }
  ~Writer() {
    stop_ = true;
    thread_.join();
    recorder_.disarm();
    lost_ += take();
  }
  std::uint64_t lost() const { return lost_; }

 private:
  std::uint64_t take() {
    return recorder_
        .take([](std::span<const std::byte> records) { benchmark::DoNotOptimize(records.data()); })
        .ranges;
  }
  NvtxRecorder& recorder_ = NvtxRecorder::instance();
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> lost_ = 0;
  std::thread thread_;
};

std::unique_ptr<Writer> writer;

template <typename Pair>
void measure(benchmark::State& state, Pair&& pair) {
  if (state.thread_index() == 0) writer = std::make_unique<Writer>(state.range(0) != 0);
  for (auto _ : state) pair();
  if (state.thread_index() == 0) {
    state.counters["lost"] = static_cast<double>(writer->lost());
    writer.reset();
  }
}

void push_pop(benchmark::State& state) {
  measure(state, [] {
    nvtxRangePushA("a message of usual length");
    nvtxRangePop();
  });
}

void push_pop_registered(benchmark::State& state) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("benchmark");
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "a message of usual length");
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  measure(state, [&] {
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  });
}

void start_end(benchmark::State& state) {
  measure(state, [] { nvtxRangeEnd(nvtxRangeStartA("a message of usual length")); });
}

void current_range(benchmark::State& state) {
  nvtxRangePushA("open");
  measure(state, [] { benchmark::DoNotOptimize(nvtx_current_range()); });
  nvtxRangePop();
}

BENCHMARK(push_pop)->ArgName("armed")->Arg(0)->Arg(1)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(push_pop_registered)->ArgName("armed")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(start_end)->ArgName("armed")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(current_range)->ArgName("armed")->Arg(1);

}  // namespace
}  // namespace warpmeter

int main(int argc, char** argv) {
  InitializeInjectionNvtx2_fnptr = warpmeter::initialize_nvtx;  // instead of NVTX_INJECTION64_PATH
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
