// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Tensor copies against the same boxes walked element by element on the host.
#include <cmath>
#include <numeric>

#include "tests/emulator/tensor_case.h"

namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);
using Byte = unsigned char;

template <typename F>
F driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  return reinterpret_cast<F>(found);
}

CUresult encode(const TensorCase& c, void* tensor, CUtensorMap* map) {
  static const auto function = driver<Encode>("cuTensorMapEncodeTiled");
  return function(map, c.type, static_cast<cuuint32_t>(c.rank), tensor, c.sizes.data(),
                  c.strides.data(), c.box.data(), c.steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                  c.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, c.fill);
}

TensorCopy copy_of(const TensorCase& c, void* tensor) {
  TensorCopy copy{};
  EXPECT_EQ(encode(c, tensor, &copy.map), CUDA_SUCCESS);
  copy.rank = static_cast<int>(c.rank);
  std::copy(c.coordinates.begin(), c.coordinates.end(), copy.coordinates);
  copy.at = c.at;
  copy.bytes = c.shared_bytes();
  copy.box_bytes = static_cast<unsigned>(c.elements() * c.element);
  return copy;
}

// No byte is 0, and no element a NaN.
void number(Managed<Byte>& bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<Byte>(1 + (i * 31 + i / 256 * 7 + seed) % 100);
  }
}

bool is_nan(const Byte* at, CUtensorMapDataType type, std::size_t element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, element);
  if (type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16) return (bits & 0x7fff) > 0x7c00;
  if (type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16) return (bits & 0x7fff) > 0x7f80;
  if (element == 8) return std::isnan(std::bit_cast<double>(bits));
  return std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

class Tensors : public testing::TestWithParam<int> {};

TEST_P(Tensors, LoadsPutEachElementInItsPlace) {
  const auto swizzle = static_cast<CUtensorMapSwizzle>(GetParam());
  std::size_t inside_count = 0, outside_count = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const TensorCase c = random_case(seed, swizzle);
    Managed<Byte> tensor(c.tensor_bytes());
    number(tensor, seed);
    Managed<Byte> before(c.shared_bytes()), after(c.shared_bytes());
    number(before, 77);
    std::vector<Byte> want(before.get(), before.get() + before.size());
    run_tensor_load(copy_of(c, tensor.get()), before.get(), after.get());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << seed;
    c.for_elements([&](std::size_t shared, std::size_t global, bool inside) {
      (inside ? inside_count : outside_count)++;
      if (!inside && c.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
        ASSERT_TRUE(is_nan(&after[shared], c.type, c.element)) << seed;
        std::memcpy(&want[shared], &after[shared], c.element);
      } else if (!inside) {
        std::memset(&want[shared], 0, c.element);
      } else {
        std::memcpy(&want[shared], &tensor[global], c.element);
      }
    });
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(after[i], want[i]) << seed << " " << i;
  }
  EXPECT_GT(inside_count, 4000u);
  EXPECT_GT(outside_count, 4000u);
}

TEST_P(Tensors, StoresTouchOnlyWhatLiesInside) {
  const auto swizzle = static_cast<CUtensorMapSwizzle>(GetParam());
  for (unsigned seed = 40; seed < 60; ++seed) {
    const TensorCase c = random_case(seed, swizzle);
    Managed<Byte> tensor(c.tensor_bytes()), shared(c.shared_bytes());
    number(tensor, seed);
    number(shared, 31);
    std::vector<Byte> want(tensor.get(), tensor.get() + tensor.size());
    c.for_elements([&](std::size_t from, std::size_t to, bool inside) {
      if (inside) std::memcpy(&want[to], &shared[from], c.element);
    });
    run_tensor_store(copy_of(c, tensor.get()), shared.get());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << seed;
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(tensor[i], want[i]) << seed << " " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Swizzles, Tensors, testing::Values(0, 1, 2, 3));

TensorCase plane(CUtensorMapDataType type, std::size_t element) {
  TensorCase c;
  c.type = type;
  c.element = element;
  c.rank = 2;
  c.sizes = {60, 20};
  c.strides = {64 * element};
  c.box = {32, 8};
  c.steps = {1, 1};
  c.coordinates = {40, 15};
  return c;
}

TEST(Tensor, ReductionsAddElementsOfTheMapsType) {
  const TensorCase c = plane(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4);
  Managed<float> tensor(64 * 20);
  Managed<Byte> shared(c.shared_bytes());
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<float>(i) * 0.25f;
  for (std::size_t i = 0; i < 256; ++i) {
    const float x = static_cast<float>(i) + 0.125f;
    std::memcpy(&shared[4 * i], &x, 4);
  }
  run_tensor_add(copy_of(c, tensor.get()), shared.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (std::size_t y = 0; y < 20; ++y) {
    for (std::size_t x = 0; x < 64; ++x) {
      const bool inside = x >= 40 && x < 60 && y >= 15;
      const float added = inside ? static_cast<float>(32 * (y - 15) + x - 40) + 0.125f : 0;
      ASSERT_EQ(tensor[64 * y + x], static_cast<float>(64 * y + x) * 0.25f + added)
          << x << " " << y;
    }
  }
}

TEST(Tensor, MulticastReachesTheOtherBlock) {
  const TensorCase c = plane(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2);
  Managed<Byte> tensor(c.tensor_bytes()), after(c.shared_bytes());
  number(tensor, 1);
  run_tensor_multicast(copy_of(c, tensor.get()), after.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  c.for_elements([&](std::size_t shared, std::size_t global, bool inside) {
    ASSERT_EQ(after[shared], inside ? tensor[global] : 0);
  });
}

TEST(Tensor, BulkReductionsReachGlobalMemoryAndOtherBlocks) {
  Managed<std::uint32_t> in(64), out(128);
  for (std::uint32_t i = 0; i < 64; ++i) {
    in[i] = i * i;
    out[i] = 1000 + i;
  }
  run_bulk_add(in.get(), out.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (std::uint32_t i = 0; i < 64; ++i) {
    ASSERT_EQ(out[i], 1000 + i + i * i);
    ASSERT_EQ(out[64 + i], 7 * i + i * i);
  }
}

// 64 x 32 floats: 8 KiB at the chip's 128 B per cycle.
TEST(Tensor, CopiesQueueAtTheRateOfTheEngine) {
  TensorCase c = plane(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4);
  c.sizes = {64, 64};
  c.strides = {256};
  c.box = {64, 32};
  c.coordinates = {0, 0};
  Managed<Byte> tensor(c.tensor_bytes());
  Managed<std::uint64_t> cycles(4);
  const TensorCopy copy = copy_of(c, tensor.get());
  run_tensor_cycles(copy, 1, &cycles[0]);
  run_tensor_cycles(copy, 17, &cycles[2]);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_GT(cycles[1], 150u + 64u + 200u);  // engine, transfer and L2
  const double each = static_cast<double>(cycles[3] - cycles[1]) / 16;
  EXPECT_NEAR(each, 128, 8);  // the port to L2 gives half the engine's rate
}

TensorCase halves(cuuint32_t rows) {
  TensorCase c = plane(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2);
  c.sizes = {64, rows};
  c.strides = {128};
  c.box = {64, rows};
  c.coordinates = {0, 0};
  c.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  return c;
}

// The two swizzles, of copies and of wgmma, must be the same.
TEST(Tensor, CopiesFeedTheTensorCore) {
  Managed<_Float16> a(64 * 64), b(8 * 64);
  Managed<float> out(64 * 8);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<_Float16>((i * 37 + i / 64) % 11);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<_Float16>(i * 13 % 7);
  for (const int transposed : {0, 1}) {
    const TensorCopy left = copy_of(halves(64), a.get()), right = copy_of(halves(8), b.get());
    run_tensor_product(left.map, right.map, transposed, out.get());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (std::size_t m = 0; m < 64; ++m) {
      for (std::size_t n = 0; n < 8; ++n) {
        double want = 0;
        for (std::size_t k = 0; k < 64; ++k) {
          want += static_cast<double>(a[transposed != 0 ? 64 * k + m : 64 * m + k]) *
                  static_cast<double>(b[64 * n + k]);
        }
        ASSERT_EQ(out[8 * m + n], want) << m << " " << n;
      }
    }
  }
}

TEST(Tensor, ImpossibleMapsAreRefused) {
  const TensorCase good = plane(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2);
  Managed<Byte> tensor(good.tensor_bytes());
  alignas(64) CUtensorMap map;
  ASSERT_EQ(encode(good, tensor.get(), &map), CUDA_SUCCESS);
  const auto refused = [&](auto change) {
    TensorCase bad = good;
    change(bad);
    return encode(bad, tensor.get(), &map) == CUDA_ERROR_INVALID_VALUE;
  };
  EXPECT_TRUE(refused([](TensorCase& c) { c.rank = 0; }));
  EXPECT_TRUE(refused([](TensorCase& c) { c.rank = 6; }));
  EXPECT_TRUE(refused([](TensorCase& c) { c.sizes[1] = 0; }));
  EXPECT_TRUE(refused([](TensorCase& c) { c.strides[0] = 120; }));
  EXPECT_TRUE(refused([](TensorCase& c) { c.strides[0] = cuuint64_t{1} << 40; }));
  EXPECT_TRUE(refused([](TensorCase& c) { c.box[1] = 257; }));
  EXPECT_TRUE(refused([](TensorCase& c) { c.box[0] = 9; }));  // 18 B
  EXPECT_TRUE(refused([](TensorCase& c) { c.steps[1] = 9; }));
  EXPECT_TRUE(refused([](TensorCase& c) { c.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }));
  EXPECT_TRUE(refused([](TensorCase& c) { c.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B; }));
  EXPECT_TRUE(
      refused([](TensorCase& c) { c.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; }));
  EXPECT_EQ(encode(good, tensor.get() + 8, &map), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(good, tensor.get(),
                   reinterpret_cast<CUtensorMap*>(reinterpret_cast<Byte*>(&map) + 16)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST(Tensor, MapsCanMoveToAnotherTensor) {
  const TensorCase c = plane(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2);
  Managed<Byte> one(c.tensor_bytes()), other(c.tensor_bytes());
  Managed<Byte> before(c.shared_bytes()), after(c.shared_bytes());
  number(other, 5);
  TensorCopy copy = copy_of(c, one.get());
  const auto replace = driver<decltype(&cuTensorMapReplaceAddress)>("cuTensorMapReplaceAddress");
  EXPECT_EQ(replace(&copy.map, other.get() + 4), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(replace(&copy.map, other.get()), CUDA_SUCCESS);
  run_tensor_load(copy, before.get(), after.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  c.for_elements([&](std::size_t shared, std::size_t global, bool inside) {
    ASSERT_EQ(after[shared], inside ? other[global] : 0);
  });
}

TEST(Tensor, OtherDriverFunctionsAreDeclined) {
  void* found = &found;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &found, 12000,
                                             cudaEnableDefault, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 11000,
                                             cudaEnableDefault, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
}

TEST(Tensor, AnythingElseIsNoTensorMap) {
  const TensorCase c = plane(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2);
  Managed<Byte> tensor(c.tensor_bytes()), before(c.shared_bytes());
  TensorCopy copy = copy_of(c, tensor.get());
  copy.map.opaque[0] ^= 1;
  run_tensor_load(copy, before.get(), before.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalInstruction);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
}

}  // namespace
