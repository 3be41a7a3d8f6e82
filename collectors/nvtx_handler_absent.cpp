// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Stands for nvtx_handler.cpp and nvtx_payload.cpp where warpmeter is built without NVTX's headers.
#include "collectors/nvtx_handler.h"
#include "collectors/nvtx_payload.h"

namespace warpmeter {

bool nvtx_built_in() noexcept { return false; }
int initialize_nvtx(const void* (*)(std::uint32_t)) noexcept { return 0; }
int initialize_nvtx_extension(nvtxExtModuleInfo_t*) noexcept { return 0; }

// Never reached: there are no schemas.
std::size_t nvtx_type_size(const NvtxSchemas&, std::uint64_t) { return 0; }
Json nvtx_payload_json(const NvtxSchemas&, std::uint64_t, std::span<const std::byte>,
                       const std::function<std::string_view(std::uint64_t)>&) {
  return nullptr;
}
Json nvtx_opaque_payload(std::uint64_t, std::uint64_t) { return nullptr; }

}  // namespace warpmeter
