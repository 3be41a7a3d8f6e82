// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/machine/program.h"
#include "emulator/ptx/module.h"

namespace emulator {

class Module;

struct Kernel {
  Module* module = nullptr;
  std::string name;
  int dynamic_shared = 0;  // allowed by cudaFuncSetAttribute; 0: 48 KiB with static memory
  int carveout = -1;
  bool large_clusters = false;  // of more than 8 blocks; allowed by cudaFuncSetAttribute
};

struct Symbol {
  Module* module = nullptr;
  std::string name;
  std::uint64_t size = 0;
};

// A fat binary. Its PTX is read when something of it is first used; its variables have an instance
// on each device.
class Module {
 public:
  explicit Module(const void* fatbin) : fatbin_(fatbin) {}

  const ptx::Module& ptx();
  const Program& program(const std::string& kernel, int device);  // throws Fault
  // Address of a variable; of a managed one the same on all devices.
  std::optional<std::uint64_t> address(const std::string& variable, int device);
  std::vector<std::string> kernels();
  void add_managed(const std::string& name, std::uint64_t address) { managed_[name] = address; }

 private:
  struct Instance {
    bool loaded = false;
    std::map<std::string, std::uint64_t, std::less<>> variables;
    std::map<std::string, Program> programs;
  };
  Instance& instance(int device);

  const void* fatbin_;
  std::optional<ptx::Module> ptx_;
  std::map<int, Instance> instances_;
  std::map<std::string, std::uint64_t, std::less<>> managed_;
};

// What the program has registered.
class Registry {
 public:
  Module* add_module(const void* fatbin);
  void remove_module(Module* module);
  Kernel* add_kernel(Module* module, const void* stub, std::string name);
  void add_symbol(const void* host, Symbol symbol) { symbols_[host] = std::move(symbol); }
  // By host stub or by the handle that add_kernel returned; null if unknown.
  Kernel* kernel(const void* stub_or_handle);
  const Symbol* symbol(const void* host) const;

 private:
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<const void*, std::unique_ptr<Kernel>> kernels_;  // by stub
  std::map<const void*, Kernel*> handles_;
  std::map<const void*, Symbol> symbols_;
};

Registry& registry();  // the process's

}  // namespace emulator
