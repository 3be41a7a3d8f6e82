// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// vprintf and __assertfail.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "emulator/decode/access.h"
#include "emulator/decode/control.h"
#include "emulator/machine/fault.h"

namespace emulator::control {
namespace {

std::uint64_t argument(Warp& w, const Instr& i, int lane, std::size_t n) {
  const auto at = static_cast<std::size_t>(w.program().extra[i.extra + n]);
  std::uint64_t value = 0;
  std::memcpy(&value, w.local + static_cast<std::size_t>(lane) * w.program().local_bytes + at, 8);
  return value;
}

std::string text_at(Warp& w, const Instr& i, int lane, std::uint64_t address) {
  std::string text;
  for (char c; (c = static_cast<char>(*resolve_one(w, i, lane, address, 1))) != 0; ++address) {
    text += c;
  }
  return text;
}

// Arguments are packed as a struct: doubles and 64-bit integers at multiples of 8.
std::string format(Warp& w, const Instr& i, int lane, const std::string& pattern,
                   std::uint64_t arguments) {
  std::string out;
  std::uint64_t at = 0;
  const auto take = [&](std::uint32_t bytes) {
    at = (at + bytes - 1) / bytes * bytes;
    std::uint64_t value = 0;
    std::memcpy(&value, resolve_one(w, i, lane, arguments + at, bytes), bytes);
    at += bytes;
    return value;
  };
  for (std::size_t p = 0; p < pattern.size(); ++p) {
    if (pattern[p] != '%') {
      out += pattern[p];
      continue;
    }
    const std::size_t end = pattern.find_first_of("diouxXcsfFeEgGaAp%", p + 1);
    if (end == std::string::npos) break;
    std::string spec = pattern.substr(p, end - p + 1);
    const char kind = spec.back();
    p = end;
    char piece[512];
    for (std::size_t star; (star = spec.find('*')) != std::string::npos;) {
      spec.replace(star, 1, std::to_string(static_cast<std::int32_t>(take(4))));
    }
    if (kind == '%') {
      out += '%';
      continue;
    }
    const bool wide = spec.find("ll") != std::string::npos || spec.find('l') != std::string::npos ||
                      spec.find('z') != std::string::npos || kind == 'p';
    if (kind == 's') {
      const std::string text = text_at(w, i, lane, take(8));
      std::snprintf(piece, sizeof piece, spec.c_str(), text.c_str());
    } else if (std::strchr("fFeEgGaA", kind) != nullptr) {
      std::snprintf(piece, sizeof piece, spec.c_str(), std::bit_cast<double>(take(8)));
    } else if (wide) {
      std::snprintf(piece, sizeof piece, spec.c_str(), take(8));
    } else {
      std::snprintf(piece, sizeof piece, spec.c_str(), static_cast<std::uint32_t>(take(4)));
    }
    out += piece;
  }
  return out;
}

void print(Warp& w, const Instr& i, std::uint32_t mask) {
  for_lanes(mask, [&](int l) {
    const std::string text =
        format(w, i, l, text_at(w, i, l, argument(w, i, l, 0)), argument(w, i, l, 1));
    std::fwrite(text.data(), 1, text.size(), stdout);
    const auto length = static_cast<std::uint32_t>(text.size());
    std::memcpy(w.local + static_cast<std::size_t>(l) * w.program().local_bytes + i.target, &length,
                sizeof length);
  });
  std::fflush(stdout);
}

// __assertfail(message, file, line, function, bytes per character)
void assert_fail(Warp& w, const Instr& i, std::uint32_t mask) {
  const int lane = std::countr_zero(mask);
  w.fail(
      cudaErrorAssert, i, lane,
      fmt::format("{}:{}: {}: assertion `{}' failed", text_at(w, i, lane, argument(w, i, lane, 1)),
                  static_cast<std::uint32_t>(argument(w, i, lane, 2)),
                  text_at(w, i, lane, argument(w, i, lane, 3)),
                  text_at(w, i, lane, argument(w, i, lane, 0))));
}

}  // namespace

bool is_host_call(std::string_view name) { return name == "vprintf" || name == "__assertfail"; }
Handler host_call(std::string_view name) { return name == "vprintf" ? print : assert_fail; }

}  // namespace emulator::control
