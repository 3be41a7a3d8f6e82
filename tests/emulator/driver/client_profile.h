// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include <vector>

#include "tests/emulator/driver/client.h"

namespace client {

#define PARAMS(type, name) \
  type##_Params name{};    \
  name.structSize = type##_Params_STRUCT_SIZE

struct Profiler {
  std::string mode;
  std::vector<const char*> names;  // of metrics
  CUpti_Profiler_Host_Object* host = nullptr;
  CUpti_PmSampling_Object* pm = nullptr;
  CUpti_RangeProfiler_Object* range = nullptr;
  std::vector<std::uint8_t> config;
  std::vector<std::uint8_t> image;
};
Profiler& profiler();

bool plan(CUpti_ProfilerType type);
Json values_of(std::size_t row);                              // of the image
std::size_t number(const char* name, std::size_t otherwise);  // of the environment

void start_sampling();
void write_samples();
void start_ranges(CUcontext context);
void push(const char* name);
void pop();
void write_ranges();

}  // namespace client
