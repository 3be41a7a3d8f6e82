// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/device_barrier.h"
#include "tests/emulator/tensor.h"

namespace {

#define COORDINATES(n) COORDINATES_##n
#define COORDINATES_1 "{%2}"
#define COORDINATES_2 "{%2, %3}"
#define COORDINATES_3 "{%2, %3, %4}"
#define COORDINATES_4 "{%2, %3, %4, %5}"
#define COORDINATES_5 "{%2, %3, %4, %5, %6}"
#define INPUTS                                                                                \
  "r"(box), "l"(&c.map), "r"(c.coordinates[0]), "r"(c.coordinates[1]), "r"(c.coordinates[2]), \
      "r"(c.coordinates[3]), "r"(c.coordinates[4]), "r"(bar)

#define LOAD(n)                                                                             \
  if (rank == n)                                                                            \
  asm volatile(                                                                             \
      "cp.async.bulk.tensor." #n                                                            \
      "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " COORDINATES( \
          n) "], [%7];" ::INPUTS                                                            \
      : "memory")
#define STORE(n)                                                                               \
  if (rank == n)                                                                               \
  asm volatile("cp.async.bulk.tensor." #n                                                      \
               "d.global.shared::cta.tile.bulk_group [%1, " COORDINATES(n) "], [%0];" ::INPUTS \
               : "memory")

// The pointer makes the kernel read the map from its parameters.
template <int rank>
__device__ void load_box(const TensorCopy& c, unsigned box, unsigned bar) {
  LOAD(1);
  LOAD(2);
  LOAD(3);
  LOAD(4);
  LOAD(5);
}
template <int rank>
__device__ void store_box(const TensorCopy& c, unsigned box, unsigned bar) {
  STORE(1);
  STORE(2);
  STORE(3);
  STORE(4);
  STORE(5);
}

__device__ void finish_stores() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

template <int rank>
__global__ void load(const __grid_constant__ TensorCopy c, const unsigned char* before,
                     unsigned char* after) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ __align__(8) std::uint64_t barrier;
  const unsigned bar = shared_address(&barrier);
  for (unsigned i = threadIdx.x; i < c.bytes; i += blockDim.x) shared[i] = before[i];
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&c.map) : "memory");
    init_barrier(bar, 1);
    expect_bytes(bar, c.box_bytes);
    load_box<rank>(c, shared_address(shared) + c.at, bar);
  }
  __syncthreads();
  wait_phase(bar, 0);
  for (unsigned i = threadIdx.x; i < c.bytes; i += blockDim.x) after[i] = shared[i];
}

template <int rank>
__global__ void store(const __grid_constant__ TensorCopy c, const unsigned char* in) {
  extern __shared__ __align__(1024) unsigned char shared[];
  for (unsigned i = threadIdx.x; i < c.bytes; i += blockDim.x) shared[i] = in[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    store_box<rank>(c, shared_address(shared) + c.at, 0);
    finish_stores();
  }
}

__global__ void add(const __grid_constant__ TensorCopy c, const unsigned char* in) {
  extern __shared__ __align__(1024) unsigned char shared[];
  for (unsigned i = threadIdx.x; i < c.bytes; i += blockDim.x) shared[i] = in[i];
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], "
      "[%3];" ::"l"(&c.map),
      "r"(c.coordinates[0]), "r"(c.coordinates[1]), "r"(shared_address(shared) + c.at)
      : "memory");
  finish_stores();
}

__global__ void prefetch(const __grid_constant__ TensorCopy c) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&c.map),
               "r"(c.coordinates[0]), "r"(c.coordinates[1])
               : "memory");
}

__global__ void load_from_memory(const TensorCopy* c, unsigned char* after) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ __align__(8) std::uint64_t barrier;
  const unsigned bar = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(&c->map) : "memory");
    init_barrier(bar, 1);
    expect_bytes(bar, c->box_bytes);
    load_box<2>(*c, shared_address(shared) + c->at, bar);
  }
  __syncthreads();
  wait_phase(bar, 0);
  for (unsigned i = threadIdx.x; i < c->bytes; i += blockDim.x) after[i] = shared[i];
}

__global__ void __cluster_dims__(2, 1, 1)
    multicast(const __grid_constant__ TensorCopy c, unsigned char* after) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ __align__(8) std::uint64_t barrier;
  const unsigned bar = shared_address(&barrier);
  if (threadIdx.x == 0) {
    init_barrier(bar, 1);
    expect_bytes(bar, c.box_bytes);
  }
  cluster_sync();
  if (threadIdx.x == 0 && cluster_rank() == 0) {
    asm volatile(
        "{.reg .b64 p;\ncreatepolicy.fractional.L2::evict_last.b64 p, 1.0;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
        "cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, p;\n}" ::"r"(
            shared_address(shared) + c.at),
        "l"(&c.map), "r"(c.coordinates[0]), "r"(c.coordinates[1]), "r"(bar),
        "h"(static_cast<unsigned short>(3))
        : "memory");
  }
  wait_phase(bar, 0);
  if (cluster_rank() == 1) {
    for (unsigned i = threadIdx.x; i < c.bytes; i += blockDim.x) after[i] = shared[i];
  }
  cluster_sync();
}

__global__ void __cluster_dims__(2, 1, 1) bulk_add(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ __align__(128) std::uint32_t row[64];
  __shared__ __align__(128) std::uint32_t sum[64];
  __shared__ __align__(8) std::uint64_t barrier;
  const unsigned bar = shared_address(&barrier);
  row[threadIdx.x] = in[threadIdx.x];
  sum[threadIdx.x] = 7 * threadIdx.x;
  if (threadIdx.x == 0) {
    init_barrier(bar, 1);
    expect_bytes(bar, 256);
  }
  cluster_sync();
  if (threadIdx.x == 0 && cluster_rank() == 0) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in), "r"(256) : "memory");
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(out),
        "r"(shared_address(row)), "r"(256)
        : "memory");
    finish_stores();
    asm volatile(
        "{.reg .b32 to, bar;\nmapa.shared::cluster.u32 to, %0, 1;\nmapa.shared::cluster.u32 bar, "
        "%3, 1;\ncp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add."
        "u32 [to], [%1], %2, [bar];\n}" ::"r"(shared_address(sum)),
        "r"(shared_address(row)), "r"(256), "r"(bar)
        : "memory");
  }
  if (cluster_rank() == 1) {
    wait_phase(bar, 0);
    out[64 + threadIdx.x] = sum[threadIdx.x];
  }
  cluster_sync();
}

__global__ void cycles_of(const __grid_constant__ TensorCopy c, int copies, std::uint64_t* cycles) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ __align__(8) std::uint64_t barrier;
  const unsigned bar = shared_address(&barrier);
  init_barrier(bar, 1);
  for (unsigned phase = 0; phase < 2; ++phase) {  // the second finds all in L2
    expect_bytes(bar, c.box_bytes * copies);
    const std::uint64_t begin = clock64();
    for (int i = 0; i < copies; ++i) load_box<2>(c, shared_address(shared) + c.at, bar);
    wait_phase(bar, phase);
    cycles[phase] = clock64() - begin;
  }
}

}  // namespace

#define FOR_RANK(call)         \
  if (copy.rank == 1) call(1); \
  if (copy.rank == 2) call(2); \
  if (copy.rank == 3) call(3); \
  if (copy.rank == 4) call(4); \
  if (copy.rank == 5) call(5)

void run_tensor_load(const TensorCopy& copy, const unsigned char* before, unsigned char* after) {
#define CALL(n) load<n><<<1, 64, copy.bytes>>>(copy, before, after)
  FOR_RANK(CALL);
#undef CALL
}
void run_tensor_store(const TensorCopy& copy, const unsigned char* shared) {
#define CALL(n) store<n><<<1, 64, copy.bytes>>>(copy, shared)
  FOR_RANK(CALL);
#undef CALL
}
void run_tensor_add(const TensorCopy& copy, const unsigned char* shared) {
  add<<<1, 64, copy.bytes>>>(copy, shared);
}
void run_tensor_prefetch(const TensorCopy& copy) { prefetch<<<1, 1>>>(copy); }
void run_tensor_load_from_memory(const TensorCopy* copy, unsigned bytes, unsigned char* after) {
  load_from_memory<<<1, 64, bytes>>>(copy, after);
}
void run_tensor_multicast(const TensorCopy& copy, unsigned char* after) {
  multicast<<<2, 64, copy.bytes>>>(copy, after);
}
void run_bulk_add(const std::uint32_t* in, std::uint32_t* out) { bulk_add<<<2, 64>>>(in, out); }
void run_tensor_cycles(const TensorCopy& copy, int copies, std::uint64_t* cycles) {
  cycles_of<<<1, 1, copy.bytes>>>(copy, copies, cycles);
}
