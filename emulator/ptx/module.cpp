// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/ptx/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace emulator::ptx {
namespace {

constexpr Type types[] = {
    {Kind::pred, 4, "pred"},        {Kind::bits, 1, "b8"},          {Kind::bits, 2, "b16"},
    {Kind::bits, 4, "b32"},         {Kind::bits, 8, "b64"},         {Kind::bits, 16, "b128"},
    {Kind::unsigned_int, 1, "u8"},  {Kind::unsigned_int, 2, "u16"}, {Kind::unsigned_int, 4, "u32"},
    {Kind::unsigned_int, 8, "u64"}, {Kind::signed_int, 1, "s8"},    {Kind::signed_int, 2, "s16"},
    {Kind::signed_int, 4, "s32"},   {Kind::signed_int, 8, "s64"},   {Kind::real, 2, "f16"},
    {Kind::real, 4, "f32"},         {Kind::real, 8, "f64"},         {Kind::real, 2, "bf16"},
    {Kind::real, 4, "tf32"},        {Kind::real, 4, "f16x2"},       {Kind::real, 4, "bf16x2"},
    {Kind::real, 2, "e4m3x2"},      {Kind::real, 2, "e5m2x2"},      {Kind::real, 1, "e4m3"},
    {Kind::real, 1, "e5m2"},        {Kind::bits, 1, "b1"},          {Kind::unsigned_int, 1, "u4"},
    {Kind::signed_int, 1, "s4"},    {Kind::real, 8, "f32x2"},
};

}  // namespace

Type find_type(std::string_view word) {
  for (const Type& type : types) {
    if (type.name == word) return type;
  }
  return {};
}

bool Instruction::has(std::string_view part) const {
  return std::find(parts.begin() + 1, parts.end(), part) != parts.end();
}

Type Instruction::type(int from_last) const {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const Type found = find_type(*part);
    if (found.kind != Kind::none && from_last-- == 0) return found;
  }
  return {};
}

std::uint32_t Function::label(int scope, std::string_view wanted) const {
  for (int at = scope; at >= 0; at = scope_parents[static_cast<std::size_t>(at)]) {
    const auto found = labels.find({at, wanted});
    if (found != labels.end()) return found->second;
  }
  throw std::runtime_error(fmt::format("{}: no label {}", name, wanted));
}

std::optional<std::uint64_t> Module::function_address(std::string_view name) const {
  constexpr std::uint64_t code_window = std::uint64_t{4} << 56;  // where no data lie
  const auto found = functions.find(name);
  if (found == functions.end() || found->second.entry) return std::nullopt;
  return code_window + 16 * static_cast<std::uint64_t>(std::distance(functions.begin(), found));
}

}  // namespace emulator::ptx
