// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "kernels/llm/gather.h"

#include <cstring>
#include <random>
#include <unordered_set>
#include <vector>

#include "kernels/llm/check.h"

namespace warpmeter {
namespace {

// Different ids in random order: repeated ones would be read from the cache.
void choose_ids(const GatherShape& shape, std::uint32_t seed, std::int32_t* ids) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int32_t> any(0,
                                                  static_cast<std::int32_t>(shape.vocabulary - 1));
  std::unordered_set<std::int32_t> chosen;
  for (std::int64_t r = 0; r < shape.rows;) {
    const std::int32_t id = any(random);
    if (chosen.insert(id).second) ids[r++] = id;
  }
}

class Gather final : public Kernel {
 public:
  Gather(const GatherShape& shape, std::uint32_t seed)
      : shape_(shape),
        seed_(seed),
        row_bytes_(static_cast<std::size_t>(shape.columns) * bytes_of(shape.type)),
        ids_(add({"ids", Role::input, Element::i32, shape.rows})),
        table_(add({"table", Role::input, shape.type, shape.vocabulary * shape.columns})),
        y_(add({"y", Role::output, shape.type, shape.rows * shape.columns})) {
    fill_gather(shape, seed, ids_, table_);
  }

  void execute() override {
    const std::int64_t rows = shape_.rows;
    const std::int32_t* ids = ids_.i32();
    const std::byte* table = table_.memory.data();
    std::byte* y = y_.memory.data();
#pragma omp parallel for schedule(static)
    for (std::int64_t r = 0; r < rows; ++r)
      std::memcpy(y + static_cast<std::size_t>(r) * row_bytes_,
                  table + static_cast<std::size_t>(ids[r]) * row_bytes_, row_bytes_);
  }

  void verify() const override { check_gather(shape_, seed_, ids_, y_); }

  std::vector<Bytes> touched() const override {
    std::vector<Bytes> ranges = {ids_.memory.bytes(), y_.memory.bytes()};
    for (std::int64_t r = 0; r < shape_.rows; ++r)
      ranges.push_back(table_.memory.bytes().subspan(
          static_cast<std::size_t>(ids_.i32()[r]) * row_bytes_, row_bytes_));
    return ranges;
  }

  Json conditions() const override {
    Json json;
    json["implementation"] = "OpenMP loop over memcpy";
    json["checked_results"] = y_.count;
    return json;
  }

 private:
  GatherShape shape_;
  std::uint32_t seed_;
  std::size_t row_bytes_;
  Operand &ids_, &table_, &y_;
};

}  // namespace

void fill_gather(const GatherShape& shape, std::uint32_t seed, const Operand& ids,
                 const Operand& table) {
  choose_ids(shape, seed, ids.i32());
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < shape.rows; ++r)
    fill_normal_part(table, ids.i32()[r] * shape.columns, shape.columns, seed, 1);
}

void check_gather(const GatherShape& shape, std::uint32_t seed, const Operand& ids,
                  const Operand& y) {
  require_written(y);
  for (std::int64_t r = 0; r < shape.rows; ++r)
    for (std::int64_t c = 0; c < shape.columns; ++c) {
      const std::int64_t at = r * shape.columns + c;
      const double expected = normal_value(ids.i32()[r] * shape.columns + c, seed, 1, shape.type);
      require_close("gather", at, y.at(at), expected, 0);
    }
}

Work gather_work(const GatherShape& shape) {
  const auto rows = static_cast<double>(shape.rows);
  const double bytes =
      rows * static_cast<double>(shape.columns) * static_cast<double>(bytes_of(shape.type));
  Work work;
  work.bytes_read = bytes + 4 * rows;
  work.bytes_written = bytes;
  work.working_set = work.bytes_read + work.bytes_written;
  return work;
}

std::unique_ptr<Kernel> make_gather(const GatherShape& shape, std::uint32_t seed) {
  return std::make_unique<Gather>(shape, seed);
}

}  // namespace warpmeter
