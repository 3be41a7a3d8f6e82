// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The NVTX handler as NVTX loads it (NVTX_INJECTION64_PATH), with a writer thread, into a profile
// FOLDER/PID.profile.sqlite, FOLDER being the variable WARPMETER_NVTX_TEST. WARPMETER_NVTX_ARM
// names the range that arms it, else it is armed at once; WARPMETER_NVTX_BUFFER limits its buffers.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "collectors/nvtx_collector.h"
#include "collectors/nvtx_handler.h"
#include "profiler/profile_writer.h"

namespace {

using namespace warpmeter;

struct Session {
  ProfileWriter writer;
  NvtxCollector collector;
  std::atomic<bool> stop = false;
  std::thread thread;

  Session(const std::string& file, std::size_t buffer)
      : writer(file, {}), collector(target(writer), buffer) {
    if (const char* name = std::getenv("WARPMETER_NVTX_ARM"))
      NvtxRecorder::instance().on_range(name, [this] { collector.arm(); });
    else
      collector.arm();
    thread = std::thread([this] {
      while (!stop) {
        collector.drain(writer);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }

  static Target target(ProfileWriter& writer) {
    Target target;
    target.process_id = writer.add(ProcessRow{::getpid(), {}, "test", {}, {}, 0, 0});
    return target;
  }

  void finish() {
    stop = true;
    thread.join();
    collector.disarm();
    collector.drain(writer);
    writer.finish();
  }
};

Session* session = nullptr;

void finish() {
  if (session) session->finish();
  session = nullptr;
}

void begin() {
  const char* buffer = std::getenv("WARPMETER_NVTX_BUFFER");
  session = new Session(std::string(std::getenv("WARPMETER_NVTX_TEST")) + "/" +
                            std::to_string(::getpid()) + ".profile.sqlite",
                        buffer ? std::strtoull(buffer, nullptr, 10) : std::size_t{64} << 20);
}

}  // namespace

extern "C" {

NVTX_DYNAMIC_EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  if (!session) {
    begin();
    std::atexit(finish);
    ::pthread_atfork(nullptr, nullptr, begin);  // the parent's session is left behind
  }
  return initialize_nvtx(get_table);
}

NVTX_DYNAMIC_EXPORT int NVTX_API InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  return initialize_nvtx_extension(module);
}

// What a callback of CUPTI would ask.
NVTX_DYNAMIC_EXPORT std::uint64_t test_current_range() { return nvtx_current_range(); }
}
