// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "core/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "core/facts.h"
#include "core/git_state.h"
#include "core/version.h"

namespace warpmeter {
namespace {

struct Process {
  std::string command;
  double cpu_s = 0;
};

// proc(5): the fields after the last ')' start with the state; utime and stime are the 12th and
// 13th of them.
std::map<long, Process> other_processes() {
  std::map<long, Process> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const long pid = std::stol(name);
    if (pid == ::getpid()) continue;
    std::ifstream in(entry.path() / "stat");
    std::string text;
    std::getline(in, text);
    const auto open = text.find('(');
    const auto close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    std::istringstream fields(text.substr(close + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    found[pid] = {text.substr(open + 1, close - open - 1),
                  (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK))};
  }
  return found;
}

Json other_tenants(double window_s) {
  const auto before = other_processes();
  std::this_thread::sleep_for(std::chrono::duration<double>(window_s));
  Json list = Json::array();
  for (const auto& [pid, process] : other_processes()) {
    const auto earlier = before.find(pid);
    const double used = process.cpu_s - (earlier == before.end() ? 0 : earlier->second.cpu_s);
    // Below 10 % of a core it may be one clock tick that fell into the window.
    if (used / window_s > 0.1)
      list.push_back({{"command", process.command}, {"cpu_seconds_per_second", used / window_s}});
  }
  return list;
}

}  // namespace

std::string utc_time() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

Json tool_provenance(std::span<const std::string> argv) {
  return Json{{"name", "warpmeter"},
              {"version", WARPMETER_VERSION},
              {"git", WARPMETER_GIT_COMMIT},
              {"dirty", WARPMETER_GIT_DIRTY},
              {"build", WARPMETER_BUILD_TYPE},
              {"compiler", WARPMETER_COMPILER},
              {"argv", std::vector<std::string>(argv.begin(), argv.end())},
              {"utc_time", utc_time()}};
}

Json host_provenance(double window_s) {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  double load[3] = {0, 0, 0};
  const bool loads_known = ::getloadavg(load, 3) == 3;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof(allowed), &allowed);
  const Facts facts = read_host_facts();
  const auto fact = [&](const char* key) {
    return facts.contains(key) ? facts.at(key).value : Json();
  };
  return Json{{"hostname", name},
              {"kernel", fact("kernel")},
              {"cpu", fact("cpu.model")},
              {"virtualization", fact("virtualization")},
              {"governor", fact("governor")},
              {"cores_allowed", CPU_COUNT(&allowed)},
              {"load_average", loads_known ? Json{load[0], load[1], load[2]} : Json()},
              {"other_tenants", other_tenants(window_s)},
              {"memory_available", fact("memory.available")},
              {"transparent_huge_pages", fact("page.huge.transparent")}};
}

}  // namespace warpmeter
