// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/error.h"

extern char** environ;

namespace warpmeter {
namespace {

volatile sig_atomic_t child_pid = 0;

void pass_on(int signal) {
  if (child_pid > 0) ::kill(child_pid, signal);
}

// While the command runs: the terminal's signals are its business, others go to it.
class Signals {
 public:
  Signals() {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      struct sigaction action {};
      action.sa_handler = numbers[i] == SIGINT || numbers[i] == SIGQUIT ? SIG_IGN : pass_on;
      ::sigaction(numbers[i], &action, &before_[i]);
    }
  }
  ~Signals() {
    for (std::size_t i = 0; i < numbers.size(); ++i) ::sigaction(numbers[i], &before_[i], nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  void restore_in_child() const {
    for (std::size_t i = 0; i < numbers.size(); ++i) ::sigaction(numbers[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array numbers{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 4> before_{};
};

std::vector<std::string> child_environment(const std::filesystem::path& library,
                                           const InjectOptions& options) {
  const std::string injected = library.string();
  std::vector<std::pair<std::string, std::string>> ours = {
      {InjectOptions::variable, to_json(options).dump()}};
  if (options.collects("timeline")) ours.emplace_back("CUDA_INJECTION64_PATH", injected);
  if (options.collects("nvtx")) ours.emplace_back("NVTX_INJECTION64_PATH", injected);
  for (const auto& [name, value] : ours) {
    const char* there = std::getenv(name.c_str());
    if (there != nullptr && *there != '\0')
      throw InputError(fmt::format(
          "{} is {} already: another profiler is at work; unset it, or run without that profiler",
          name, there));
  }
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(ours.begin(), ours.end(), [&](const auto& variable) {
      return text.starts_with(variable.first + "=");
    });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : ours) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

bool alive(int pid) { return ::kill(pid, 0) == 0 || errno == EPERM; }

}  // namespace

std::string to_string(const CommandEnd& end) {
  if (end.signal != 0)
    return fmt::format("was ended by signal {} ({})", end.signal, ::strsignal(end.signal));
  return fmt::format("ended with status {}", end.exit_status);
}

CommandEnd run_injected(const std::vector<std::string>& command,
                        const std::filesystem::path& library, const InjectOptions& options) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = child_environment(library, options);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  int failure[2];  // tells errno of exec; closed by its success
  if (::pipe2(failure, O_CLOEXEC) != 0)
    throw InputError(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
  const Signals signals;
  const pid_t child = ::fork();
  if (child == 0) {
    signals.restore_in_child();
    ::execvpe(argv[0], argv.data(), envp.data());
    const int error = errno;
    [[maybe_unused]] const auto told = ::write(failure[1], &error, sizeof error);
    ::_exit(127);
  }
  ::close(failure[1]);
  int error = child < 0 ? errno : 0;
  if (child > 0) {
    child_pid = child;
    while (::read(failure[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
  }
  ::close(failure[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child_pid = 0;
  if (error != 0)
    throw InputError(fmt::format("cannot start {}: {}", command[0], std::strerror(error)));
  CommandEnd end;
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
  return end;
}

std::vector<int> wait_for_writers(const std::filesystem::path& folder,
                                  std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    std::vector<int> writing;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".partial") continue;
      const int pid = std::atoi(entry.path().filename().c_str());
      if (pid > 0 && alive(pid)) writing.push_back(pid);
    }
    if (writing.empty() || std::chrono::steady_clock::now() >= until) return writing;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

ShardFolder look_into(const std::filesystem::path& folder) {
  ShardFolder found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".profile.sqlite") || name.ends_with(".profile.sqlite.partial"))
      found.shards.push_back(entry.path());
    if (!name.ends_with(".note")) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      found.notes.push_back(fmt::format("process {}: {}", entry.path().stem().string(), line));
  }
  std::sort(found.shards.begin(), found.shards.end());
  std::sort(found.notes.begin(), found.notes.end());
  return found;
}

}  // namespace warpmeter
