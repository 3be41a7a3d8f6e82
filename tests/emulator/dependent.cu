// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/dependent.h"

namespace {

__device__ std::uint64_t timer() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

__global__ void first(Trigger trigger, std::uint32_t* data, DependentTimes* times) {
  if (trigger == Trigger::early || (trigger == Trigger::one_block_late && blockIdx.x != 2))
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (trigger == Trigger::one_block_late && blockIdx.x == 2) {
    __nanosleep(10000);
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    __nanosleep(10000);
  } else {
    __nanosleep(20000);
  }
  data[blockIdx.x] = 100 + blockIdx.x;
  atomicMax(reinterpret_cast<unsigned long long*>(&times->first_end), timer());
}

__global__ void second(const volatile std::uint32_t* data, DependentTimes* times) {
  times->second_begin = timer();
  times->seen_before_wait = data[0] + data[3];
  asm volatile("griddepcontrol.wait;" ::: "memory");
  times->second_behind_wait = timer();
  times->seen = data[0] + data[3];
}

template <int asked>
__global__ void __launch_bounds__(384, 1) pool(std::uint64_t* given, std::uint64_t* taken) {
  if (threadIdx.x < 128) {
    __nanosleep(5000);
    if (threadIdx.x % 128 == 0) *given = clock64();
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(asked) : "memory");
    if (threadIdx.x % 128 == 0) taken[threadIdx.x / 128 - 1] = clock64();
  }
}

}  // namespace

void run_dependents(Trigger trigger, bool programmatic, std::uint32_t* data,
                    DependentTimes* times) {
  first<<<4, 32>>>(trigger, data, times);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = programmatic ? 1 : 0;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.attrs = &attribute;
  config.numAttrs = 1;
  (void)cudaLaunchKernelEx(&config, second, static_cast<const volatile std::uint32_t*>(data),
                           times);
}

void run_register_pool(int asked, std::uint64_t* given, std::uint64_t* taken) {
  if (asked == 232) {
    pool<232><<<1, 384>>>(given, taken);
  } else {
    pool<240><<<1, 384>>>(given, taken);
  }
}
