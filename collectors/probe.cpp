// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/probe.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/json.h"

namespace warpmeter {
namespace {

using Clock = std::chrono::steady_clock;

void write_all(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

// False if the time was up before the other end was closed.
bool read_until_closed(int file, Clock::time_point end, std::string& text) {
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{file, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left)) <= 0) continue;  // time is up, or a signal came
    const ssize_t n = read(file, buffer.data(), buffer.size());
    if (n == 0 || (n < 0 && errno != EINTR)) return true;
    if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

[[noreturn]] void answer(const std::function<std::string()>& ask, int file) {
  int status = 1;
  try {
    write_all(file, ask());
    status = 0;
  } catch (...) {  // the parent sees that there is no answer
  }
  _exit(status);
}

}  // namespace

std::string ask_in_child(const std::function<std::string()>& ask, std::chrono::milliseconds limit,
                         std::string& why) {
  why.clear();
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    why = fmt::format("no pipe: {}", std::strerror(errno));
    return "";
  }
  const auto end = Clock::now() + limit;
  const pid_t child = fork();
  if (child == 0) answer(ask, ends[1]);
  close(ends[1]);
  std::string text;
  bool in_time = true;
  if (child < 0)
    why = fmt::format("no child process: {}", std::strerror(errno));
  else
    in_time = read_until_closed(ends[0], end, text);
  close(ends[0]);
  if (child < 0) return "";
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    why = fmt::format("no answer within {} ms", limit.count());
  else if (WIFSIGNALED(status))
    why = fmt::format("ended by signal {}", WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    why = fmt::format("ended with status {}", WEXITSTATUS(status));
  return why.empty() ? text : "";
}

std::string to_text(const std::vector<ProbeResult>& results) {
  Json list = Json::array();
  for (const ProbeResult& r : results)
    list.push_back({{"device", r.device}, {"error", r.error}, {"why", r.why}});
  return list.dump();
}

std::vector<ProbeResult> probe_results_of(const std::string& text) {
  std::vector<ProbeResult> results;
  const Json list = Json::parse(text, nullptr, false);
  if (!list.is_array()) return {{"", 0, "the probe's answer cannot be read"}};
  for (const Json& entry : list)
    results.push_back({require_string(entry, "device", "probe"),
                       static_cast<int>(require_number(entry, "error", "probe")),
                       require_string(entry, "why", "probe")});
  return results;
}

}  // namespace warpmeter
