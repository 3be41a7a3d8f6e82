// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/launch.h"

#include <gtest/gtest.h>

namespace warpmeter {
namespace {

// Names as libraries have them.
TEST(Launch, RefusesKernelsThatWaitForOthers) {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t",
        "_ZN4vllm26cross_device_reduce_1stageI13__nv_bfloat16Li2EEEvPNS_8RankDataE",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<8>",
        "nvshmemi_transfer_rma_signal", "void deep_ep::internode_ll::combine<true>",
        "multimem_all_reduce_kernel", "two_shot_all_reduce_kernel", "userbuffers_fp16_sum_inplace",
        "mscclppAllGather", "_ZN2at4cuda11spin_kernelEl", "busy_wait"})
    EXPECT_TRUE(why_refused(std::string_view(name))) << name;
  for (const char* name :
       {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>",
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE",
        "void at::native::(anonymous namespace)::broadcast_kernel", "_fwd_kernel_splitK",
        "triton_poi_fused_add_0", "void flash::flash_fwd_splitkv_combine_kernel",
        "scatter_gather_elementwise_kernel", "paged_attention_v2_reduce_kernel"})
    EXPECT_FALSE(why_refused(std::string_view(name))) << name;
}

TEST(Launch, RefusesByKindOfLaunch) {
  LaunchInfo launch;
  launch.kernel = "gemm";
  EXPECT_FALSE(why_refused(launch));
  launch.cooperative = true;
  EXPECT_EQ(why_refused(launch), "a cooperative launch: its blocks wait for each other");
  launch.cooperative = false;
  launch.peer_mapped = true;
  EXPECT_EQ(why_refused(launch), "memory of another GPU is mapped: it may wait for that GPU");
  launch.peer_mapped = false;
  launch.graph = 3;
  EXPECT_EQ(why_refused(launch), "a graph whose kernels are not known");
  const std::string_view known[] = {"gemm", "softmax"};
  launch.graph_kernels = known;
  EXPECT_FALSE(why_refused(launch));
  const std::string_view waits[] = {"gemm", "ncclDevKernel_AllReduce"};
  launch.graph_kernels = waits;
  EXPECT_EQ(why_refused(launch), "a communication kernel waits for other GPUs");
}

// Parts are compared with names in that form, and each has a reason.
TEST(Launch, WritesTheListAsItIsCompared) {
  for (const RefusedKernel& entry : refused_kernels()) {
    EXPECT_EQ(entry.part.find_first_of("_ABCDEFGHIJKLMNOPQRSTUVWXYZ"), std::string_view::npos);
    EXPECT_GE(entry.part.size(), 4u);
    EXPECT_FALSE(entry.reason.empty());
    EXPECT_EQ(why_refused(entry.part), entry.reason) << entry.part;
  }
}

}  // namespace
}  // namespace warpmeter
