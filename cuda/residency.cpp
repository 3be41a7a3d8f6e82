// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/residency.h"

#include <algorithm>

#include "cuda/check.h"
#include "cuda/instruments.h"

namespace warpmeter {
namespace {

// Devices without persisting L2 and multi-instance GPUs refuse these calls; then there is nothing
// to reset.
void tolerate(cudaError_t status, const char* call) {
  if (status == cudaErrorUnsupportedLimit || status == cudaErrorNotSupported ||
      status == cudaErrorInvalidValue) {
    (void)cudaGetLastError();
    return;
  }
  throw_if_failed(status, __FILE__, __LINE__, call);
}

}  // namespace

void reset_residency(cudaStream_t stream) {
  cudaStreamAttrValue none{};
  none.accessPolicyWindow.num_bytes = 0;
  tolerate(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &none),
           "cudaStreamSetAttribute");
  tolerate(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
  tolerate(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0), "cudaDeviceSetLimit");
}

L2Flush::L2Flush(std::size_t l2_bytes, int sm_count)
    : data_(std::max<std::size_t>(5 * l2_bytes / 2, std::size_t{1} << 20)),
      sink_(sizeof(std::uint32_t)),
      blocks_(2 * sm_count) {
  GPU_CHECK(cudaMemset(data_.as<void>(), 0x5a, data_.bytes()));
  // Streams that do not block are not ordered behind the legacy stream.
  GPU_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
}

void L2Flush::enqueue(cudaStream_t stream) const {
  launch_sweep({data_.as<uint4>(), data_.bytes() / sizeof(uint4), sink_.as<std::uint32_t>()},
               blocks_, stream);
}

}  // namespace warpmeter
