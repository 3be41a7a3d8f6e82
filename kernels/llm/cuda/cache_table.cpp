// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/cuda/launch.h"
#include "kernels/llm/cuda/problems.h"
#include "kernels/llm/cuda/row.h"
#include "kernels/llm/cuda/table.h"
#include "kernels/llm/kv_append.h"
#include "kernels/llm/points.h"

namespace warpmeter {
namespace {

Refusal cache_type(const KvAppendShape& shape) {
  if (shape.type != Element::bf16 && shape.type != Element::f16)
    return "type " + to_string(shape.type) + ": keys and values are bf16 or f16";
  if (shape.cache != shape.type && shape.cache != Element::e4m3)
    return fmt::format("cache {} of {}: the cache has the type of the values, or e4m3",
                       to_string(shape.cache), to_string(shape.type));
  const std::int64_t packed = (shape.heads + 2 * shape.kv_heads) * shape.head_size;
  if (token_stride(shape) < packed)
    return fmt::format("stride {}; a packed row has {} elements", shape.stride, packed);
  return std::nullopt;
}

const Row<KvAppendShape> kv_append = {
    "kernel.kv_append",
    "One thread per 16 bytes of keys or values of packed QKV rows, to their place in a paged "
    "cache.",
    kv_append_points,
    kv_append_shape,
    kv_append_work,
    kv_append_problem,
    [](const KvAppendShape& shape, Operands p, cudaStream_t stream) {
      launch_kv_append(shape, p[0], p[1], p[2], p[3], p[4], stream);
    },
    cache_type};

}  // namespace

std::vector<Benchmark> cuda_cache_kernels() { return {benchmark(kv_append)}; }

}  // namespace warpmeter
