// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// warpmeter as a tool of NVTX 3: no CUPTI and no GPU are needed. What is exported under NVTX's
// names by an injected library calls these.
#pragma once

#include <cstdint>

struct nvtxExtModuleInfo_t;

namespace warpmeter {

// False if warpmeter was built without NVTX's headers; then the others do nothing.
bool nvtx_built_in() noexcept;

// For `InitializeInjectionNvtx2`, whose argument (NvtxGetExportTableFunc_t) this is. NVTX calls it
// once for each library of the program that brings its own copy of NVTX. From here on other threads
// call in: what shall not miss their first ranges is armed before. 1: done; 0: this copy is of no
// use, and NVTX unloads the library that exports the function.
int initialize_nvtx(const void* (*get_export_table)(std::uint32_t)) noexcept;

// For `InitializeInjectionNvtxExtension`. 1: done; 0: an extension that is not handled.
int initialize_nvtx_extension(nvtxExtModuleInfo_t* module) noexcept;

}  // namespace warpmeter
