// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/runtime/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/decode/decoder.h"
#include "emulator/machine/chip.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/memory.h"
#include "emulator/runtime/fatbin.h"

namespace emulator {

const ptx::Module& Module::ptx() {
  if (!ptx_) {
    const Chip& chip = the_chip();
    std::string text =
        read_ptx(fatbin_, static_cast<int>(chip.major), static_cast<int>(chip.minor));
    try {
      ptx_ = ptx::parse(std::move(text));
    } catch (const std::runtime_error& error) {
      throw Fault(cudaErrorInvalidPtx, error.what());
    }
  }
  return *ptx_;
}

Module::Instance& Module::instance(int device) {
  const ptx::Module& module = ptx();
  Instance& found = instances_[device];
  if (found.loaded) return found;
  found.loaded = true;
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
    const auto managed = managed_.find(variable.name);
    const std::uint64_t address = managed != managed_.end()
                                      ? managed->second
                                      : memory().allocate(variable.size, MemoryKind::code, device);
    if (!variable.init.empty()) {
      std::memcpy(reinterpret_cast<void*>(address), variable.init.data(), variable.init.size());
    }
    found.variables[variable.name] = address;
  }
  for (const ptx::Variable& variable : module.variables) {
    for (const ptx::Reference& reference : variable.references) {
      const auto target = found.variables.find(reference.symbol);
      const std::uint64_t begin = target != found.variables.end()
                                      ? target->second
                                      : module.function_address(reference.symbol).value_or(0);
      const std::uint64_t value = begin + reference.addend;
      const std::uint64_t at = found.variables.at(variable.name) + reference.offset;
      std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
    }
  }
  return found;
}

const Program& Module::program(const std::string& kernel, int device) {
  Instance& found = instance(device);
  const auto known = found.programs.find(kernel);
  if (known != found.programs.end()) return known->second;
  Decoder decoder(ptx(), [&found](std::string_view name) -> std::optional<std::uint64_t> {
    const auto variable = found.variables.find(name);
    if (variable == found.variables.end()) return std::nullopt;
    return variable->second;
  });
  return found.programs.emplace(kernel, decoder.decode(kernel)).first->second;
}

std::optional<std::uint64_t> Module::address(const std::string& variable, int device) {
  Instance& found = instance(device);
  const auto at = found.variables.find(variable);
  if (at == found.variables.end()) return std::nullopt;
  return at->second;
}

std::vector<std::string> Module::kernels() {
  std::vector<std::string> names;
  for (const auto& [name, function] : ptx().functions) {
    if (function.entry) names.push_back(name);
  }
  return names;
}

Registry& registry() {
  static Registry* instance = new Registry();
  return *instance;
}

Module* Registry::add_module(const void* fatbin) {
  modules_.push_back(std::make_unique<Module>(fatbin));
  return modules_.back().get();
}

void Registry::remove_module(Module* module) {
  std::erase_if(handles_, [module](const auto& entry) { return entry.second->module == module; });
  std::erase_if(kernels_, [module](const auto& entry) { return entry.second->module == module; });
  std::erase_if(modules_, [module](const auto& entry) { return entry.get() == module; });
}

Kernel* Registry::add_kernel(Module* module, const void* stub, std::string name) {
  auto kernel = std::make_unique<Kernel>();
  kernel->module = module;
  kernel->name = std::move(name);
  Kernel* result = kernel.get();
  handles_[result] = result;
  kernels_[stub == nullptr ? result : stub] = std::move(kernel);
  return result;
}

Kernel* Registry::kernel(const void* stub_or_handle) {
  const auto stub = kernels_.find(stub_or_handle);
  if (stub != kernels_.end()) return stub->second.get();
  const auto handle = handles_.find(stub_or_handle);
  return handle == handles_.end() ? nullptr : handle->second;
}

const Symbol* Registry::symbol(const void* host) const {
  const auto found = symbols_.find(host);
  return found == symbols_.end() ? nullptr : &found->second;
}

}  // namespace emulator
