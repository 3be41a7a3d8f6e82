// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/library/nccl.h"

#include <fmt/format.h>
#include <nccl.h>

#include <numeric>
#include <stdexcept>

#include "core/shared_library.h"

namespace warpmeter {
namespace {

// The functions in use, by the declarations of nccl.h.
struct Functions {
  decltype(&ncclGetVersion) version = nullptr;
  decltype(&ncclGetErrorString) text = nullptr;
  decltype(&ncclCommInitAll) create = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclGroupStart) begin_group = nullptr;
  decltype(&ncclGroupEnd) end_group = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  std::string why;  // empty if the library is there and whole

  Functions() {
    const SharedLibrary library = SharedLibrary::open("libnccl.so.2", why);
    if (!library) return;
    library.bind("ncclGetVersion", version);
    library.bind("ncclGetErrorString", text);
    library.bind("ncclCommInitAll", create);
    library.bind("ncclCommDestroy", destroy);
    library.bind("ncclGroupStart", begin_group);
    library.bind("ncclGroupEnd", end_group);
    library.bind("ncclAllReduce", all_reduce);
    if (library.missing() != nullptr) why = fmt::format("libnccl.so.2 lacks {}", library.missing());
  }
};

const Functions& functions() {
  static const Functions loaded;
  return loaded;
}

void check(ncclResult_t result, const char* call) {
  if (result != ncclSuccess)
    throw std::runtime_error(fmt::format("{}: {}", call, functions().text(result)));
}

ncclDataType_t data_type(Element type) {
  if (type == Element::f32) return ncclFloat32;
  if (type == Element::bf16) return ncclBfloat16;
  if (type == Element::f16) return ncclFloat16;
  throw std::logic_error("NCCL gets no operands of " + to_string(type));
}

}  // namespace

struct NcclAllReduce::Communicators {
  std::vector<ncclComm_t> of_rank;

  explicit Communicators(int ranks) : of_rank(static_cast<std::size_t>(ranks)) {
    std::vector<int> devices(of_rank.size());
    std::iota(devices.begin(), devices.end(), 0);
    check(functions().create(of_rank.data(), ranks, devices.data()), "ncclCommInitAll");
  }
  ~Communicators() {
    for (const ncclComm_t communicator : of_rank) (void)functions().destroy(communicator);
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
};

std::optional<std::string> nccl_missing() {
  if (functions().why.empty()) return std::nullopt;
  return functions().why;
}

NcclAllReduce::NcclAllReduce(const AllReduceShape& shape) : shape_(shape) {
  if (!functions().why.empty()) throw std::runtime_error(functions().why);
  communicators_ = std::make_unique<Communicators>(shape.ranks);
}

NcclAllReduce::~NcclAllReduce() = default;

// One thread serves all ranks, so their calls form a group: otherwise the first would wait for the
// others for ever.
void NcclAllReduce::enqueue(const RankPointers& pointers, int rank, cudaStream_t stream) const {
  const Functions& f = functions();
  const auto at = static_cast<std::size_t>(rank);
  if (rank == 0) check(f.begin_group(), "ncclGroupStart");
  check(f.all_reduce(pointers[at][0], pointers[at][1], static_cast<std::size_t>(shape_.count),
                     data_type(shape_.type), ncclSum, communicators_->of_rank[at], stream),
        "ncclAllReduce");
  if (rank + 1 == shape_.ranks) check(f.end_group(), "ncclGroupEnd");
}

Json NcclAllReduce::conditions() const {
  int version = 0;
  check(functions().version(&version), "ncclGetVersion");
  return {{"implementation", "NCCL"}, {"library_version", version}};
}

}  // namespace warpmeter
