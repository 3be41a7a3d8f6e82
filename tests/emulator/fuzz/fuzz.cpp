// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Runs random kernels on the emulated GPU and by the oracle, and compares all registers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/emulator/fuzz/machine.h"
#include "tests/emulator/fuzz/program.h"

namespace {

using fuzz::Program;
using fuzz::State;
using fuzz::Statement;

using fuzz::Machine;

void run(Machine& machine, const Program& program, std::vector<State>& states) {
  const std::size_t threads = states.size();
  std::vector<std::uint64_t> in(fuzz::slots * threads), out(fuzz::slots * threads);
  for (std::size_t s = 0; s < fuzz::slots; ++s)
    for (std::size_t t = 0; t < threads; ++t) in[s * threads + t] = states[t].values[s];
  machine.run(fuzz::to_ptx(program), 1, static_cast<std::uint32_t>(threads), in, out);
  for (std::size_t s = 0; s < fuzz::slots; ++s)
    for (std::size_t t = 0; t < threads; ++t) states[t].values[s] = out[s * threads + t];
}

// The first difference, or an error; none: they agree.
std::optional<std::string> difference(Machine& machine, const Program& program,
                                      std::uint64_t seed) {
  std::vector<State> want = fuzz::initial_states(program, seed);
  std::vector<State> got = want;
  try {
    run(machine, program, got);
  } catch (const std::exception& error) {
    return error.what();
  }
  fuzz::interpret(program, want);
  for (std::size_t t = 0; t < want.size(); ++t) {
    for (const char c : {'h', 'r', 'd', 'p'}) {
      for (int i = 0; i < fuzz::registers_of(c); ++i) {
        const auto s = static_cast<std::size_t>(fuzz::slot_of({c, i}));
        if (want[t].values[s] != got[t].values[s]) {
          return fmt::format("thread {}, %{}{}: {:#x}, the oracle has {:#x} (began as {:#x})", t, c,
                             i, got[t].values[s], want[t].values[s],
                             fuzz::initial_states(program, seed)[t].values[s]);
        }
      }
    }
  }
  return std::nullopt;
}

// Leaves out statements, or what surrounds them, as long as a difference stays. True if it did.
bool shrink(Machine& machine, const Program& program, std::vector<Statement>& list,
            std::uint64_t seed) {
  bool shrunk = false;
  for (std::size_t i = list.size(); i-- > 0;) {
    const Statement removed = list[i];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    if (difference(machine, program, seed)) {
      shrunk = true;
      continue;
    }
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), removed);
    for (const auto& body : removed.bodies) {
      if (list[i].bodies.empty() || body.empty()) continue;
      std::vector<Statement> without = list;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      without.insert(without.begin() + static_cast<std::ptrdiff_t>(i), body.begin(), body.end());
      std::swap(list, without);
      if (difference(machine, program, seed)) return true;
      std::swap(list, without);
    }
    for (auto& body : list[i].bodies) shrunk = shrink(machine, program, body, seed) || shrunk;
  }
  return shrunk;
}

void report(Machine& machine, Program program, std::uint64_t seed) {
  while (shrink(machine, program, program.body, seed)) {
  }
  const std::string text = fuzz::to_ptx(program);
  const std::size_t body = text.find("// body\n") + 8;
  fmt::print("seed {}: {}\n{}\n", seed, difference(machine, program, seed).value_or("?"),
             text.substr(body, text.find("// end") - body));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares random kernels on the emulated GPU with an oracle");
  std::string chip;
  std::string dump;
  std::uint64_t first = 1, count = 2000;
  int failures_shown = 1;
  app.add_option("--chip", chip, "chip file")->required();
  app.add_option("--first", first, "seed of the first kernel");
  app.add_option("--count", count, "how many kernels");
  app.add_option("--dump", dump, "folder for the kernels' PTX, which are then not run");
  app.add_option("--failures", failures_shown, "stop after so many");
  CLI11_PARSE(app, argc, argv);
  if (!dump.empty()) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      std::ofstream(std::filesystem::path(dump) / fmt::format("{}.ptx", seed))
          << fuzz::to_ptx(fuzz::generate(seed));
    }
    return 0;
  }
  Machine machine(chip);
  const auto begin = std::chrono::steady_clock::now();
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Program program = fuzz::generate(seed);
    if (!difference(machine, program, seed)) continue;
    report(machine, program, seed);
    if (++failures == failures_shown) return 1;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("{} kernels, {} differences, {:.0f} kernels/s\n", count, failures,
             static_cast<double>(count) / seconds.count());
  return failures == 0 ? 0 : 1;
}
