// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Damages real PTX and real fat binaries at random: they must be read or refused with a text, never
// crash the program, hang it or take much memory.
#include <fmt/format.h>
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "emulator/decode/decoder.h"
#include "emulator/machine/fault.h"
#include "emulator/runtime/fatbin.h"

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : random() % n; }

// The fat binaries in a program's file: each begins with this word and holds its own size.
std::vector<std::string> fat_binaries(const std::string& file) {
  std::vector<std::string> found;
  const std::string magic("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  for (std::size_t at = file.find(magic); at != std::string::npos; at = file.find(magic, at + 1)) {
    std::uint64_t size = 0;
    std::memcpy(&size, file.data() + at + 8, sizeof size);
    if (size > 64 && at + 16 + size <= file.size()) found.push_back(file.substr(at, 16 + size));
  }
  return found;
}

// The same PTX as a compressed entry.
std::string compressed(const std::string& ptx) {
  std::string payload(ZSTD_compressBound(ptx.size()), '\0');
  const std::size_t bytes =
      ZSTD_compress(payload.data(), payload.size(), ptx.data(), ptx.size(), 3);
  payload.resize((bytes + 7) / 8 * 8);
  std::string entry(64, '\0');
  const auto put = [&entry](std::size_t at, auto value) {
    std::memcpy(entry.data() + at, &value, sizeof value);
  };
  put(0, std::uint16_t{1});
  put(4, std::uint32_t{64});
  put(8, std::uint64_t{payload.size()});
  put(16, static_cast<std::uint32_t>(bytes));
  put(28, std::uint32_t{80});
  put(40, std::uint64_t{0x8011});
  put(56, std::uint64_t{ptx.size()});
  entry += payload;
  const std::uint64_t size = entry.size();
  std::string blob("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  blob.append(reinterpret_cast<const char*>(&size), sizeof size);
  return blob + entry;
}

// A module for each kernel: a parse of one is fast, and damage hits what is decoded.
std::vector<std::string> split(const std::string& ptx) {
  std::vector<std::size_t> begins;
  for (const char* start : {".visible .entry", ".entry"}) {
    for (std::size_t at = ptx.find(start); at != std::string::npos; at = ptx.find(start, at + 1)) {
      if (start[1] == 'v' || ptx.compare(at - std::min<std::size_t>(at, 9), 9, ".visible ") != 0)
        begins.push_back(at);
    }
  }
  std::vector<std::string> result;
  if (begins.empty()) return result;
  const std::string head = ptx.substr(0, begins.front());
  for (const std::size_t begin : begins) {
    const std::size_t end = ptx.find("\n}", begin);
    if (end != std::string::npos) result.push_back(head + ptx.substr(begin, end + 2 - begin));
  }
  return result;
}

std::string damaged(std::string text, Random& random) {
  static constexpr const char* words[] = {
      "{",          "}",       "(",     ")",       "[",
      "]",          ";",       ",",     "|",       "@",
      "!",          "-",       "+",     ".",       ":",
      "%",          "\"",      "/*",    "0x",      "99999999999999999999",
      "4294967295", ".reg",    ".b64",  ".shared", ".v4",
      "<",          ">",       "_",     ".sync",   ".f16x2",
      ".cc",        ".target", "call",  "%p1",     "%rd1",
      "0f7fc00000", ".param",  "%tid.x"};
  for (std::size_t n = 1 + below(random, 3); n > 0; --n) {
    const std::size_t at = below(random, text.size());
    const std::size_t length = 1 + below(random, 12);
    switch (below(random, 6)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(below(random, text.size()), 4 * length));
        break;
      case 3:
        text.insert(at, words[below(random, std::size(words))]);
        break;
      case 4:
        text.replace(at, length, words[below(random, std::size(words))]);
        break;
      default:
        if (below(random, 8) == 0) text.resize(at);
    }
  }
  return text;
}

void read_module(const std::string& text) {
  const emulator::ptx::Module module = emulator::ptx::parse(text);
  for (const auto& [name, function] : module.functions) {
    if (!function.entry) continue;
    emulator::Decoder decoder(module, [](std::string_view) { return std::uint64_t{1} << 20; });
    decoder.decode(name);
  }
}

struct Outcome {
  int read = 0;
  int refused = 0;
};

// Only refusals that say why are allowed.
template <typename F>
void attempt(Outcome& outcome, const std::string& input, F&& f) {
  try {
    f();
    ++outcome.read;
  } catch (const std::runtime_error& error) {
    ++outcome.refused;
    if (*error.what() != '\0') return;
    fmt::print("a refusal without a text of:\n{}\n", input);
    std::exit(1);
  } catch (const std::exception& error) {
    fmt::print("{} from:\n{}\n", error.what(), input);
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int count = std::atoi(argv[1]);
  std::vector<std::string> blobs, kernels;
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    for (const std::string& blob : fat_binaries(bytes)) {
      const std::string ptx = emulator::read_ptx(blob.data(), 9, 0);
      for (const std::string& kernel : split(ptx)) kernels.push_back(kernel);
      blobs.push_back(blob);
      blobs.push_back(compressed(ptx));
    }
  }
  Outcome intact;
  for (const std::string& kernel : kernels) attempt(intact, kernel, [&] { read_module(kernel); });
  fmt::print("{} fat binaries, {} kernels, of which {} are refused undamaged\n", blobs.size(),
             kernels.size(), intact.refused);
  if (blobs.empty() || intact.read < 10) return 1;
  Random random(1);
  Outcome ptx, binary;
  for (int i = 0; i < count; ++i) {
    const std::string text = damaged(kernels[below(random, kernels.size())], random);
    attempt(ptx, text, [&] { read_module(text); });
    // The blob's own size is all that a loader knows of its end: it stays.
    std::string blob = blobs[below(random, blobs.size())];
    for (std::size_t n = 1 + below(random, 4); n > 0; --n) {
      const std::size_t range =
          below(random, 2) == 0 ? std::min<std::size_t>(blob.size(), 160) : blob.size();
      const std::size_t at = below(random, range);
      if (at < 8 || at >= 16) blob[at] = static_cast<char>(random());
    }
    attempt(binary, "a fat binary", [&] { emulator::read_ptx(blob.data(), 9, 0); });
  }
  fmt::print("damaged PTX: {} read, {} refused; damaged fat binaries: {} read, {} refused\n",
             ptx.read, ptx.refused, binary.read, binary.refused);
  return ptx.refused > 0 && ptx.read > 0 && binary.refused > 0 ? 0 : 1;
}
