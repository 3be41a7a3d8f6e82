// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Internal to the NVTX handler: an event as NVTX gives it. Needs NVTX's headers.
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <string>
#include <vector>

#include "collectors/nvtx_event.h"

namespace warpmeter {

// Handles are numbers, so that those of a broken program are never followed.
template <typename Handle>
std::uint32_t nvtx_number(Handle handle) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle));
}

// With what of it must live as long as the call.
struct NvtxGiven : NvtxEvent {
  explicit NvtxGiven(std::uint32_t in) { domain = in; }
  NvtxGiven(std::uint32_t in, const char* text) : NvtxGiven(in) { say(text); }
  NvtxGiven(std::uint32_t in, const wchar_t* text) : NvtxGiven(in) { say(text); }
  NvtxGiven(std::uint32_t in, const nvtxEventAttributes_t* given);
  NvtxGiven(const NvtxGiven&) = delete;
  NvtxGiven& operator=(const NvtxGiven&) = delete;

 private:
  void say(const char* text);
  void say(const wchar_t* text);
  void keep(std::string_view text);
  void attach(const nvtxEventAttributes_t& given);
  void take(const nvtxPayloadData_t* data, std::size_t count);

  std::string narrow_;
  std::vector<std::byte> blobs_;
};

}  // namespace warpmeter
