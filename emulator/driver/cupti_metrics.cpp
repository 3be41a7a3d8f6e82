// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "emulator/driver/cupti_metrics.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "emulator/driver/cupti_state.h"

namespace emulator {
namespace {

constexpr CUpti_MetricType counter = CUPTI_METRIC_TYPE_COUNTER;
constexpr CUpti_MetricType ratio = CUPTI_METRIC_TYPE_RATIO;
constexpr CUpti_MetricType throughput = CUPTI_METRIC_TYPE_THROUGHPUT;

template <Raw raw>
double total(const Counts& c, const ChipFacts&) {
  return c[raw];
}

double safe(double part, double whole) { return whole == 0 ? 0 : part / whole; }

// Every SM counts all cycles of the time.
double cycles(const Counts& c, const ChipFacts& chip) {
  return c[Raw::time_ns] * 1e-9 * chip.sm_hz;
}

double dram_share(const Counts& c, const ChipFacts& chip) {
  const double bytes = c[Raw::dram_read_bytes] + c[Raw::dram_write_bytes];
  return 100 * safe(bytes, chip.dram_bytes_per_second * c[Raw::time_ns] * 1e-9);
}

// scale=NAME:FACTOR
double planted_factor(std::string_view name) {
  const std::string planted = faults().text("scale");
  const std::size_t colon = planted.find(':');
  const bool same = colon != std::string::npos && name == planted.substr(0, colon);
  return same ? std::strtod(planted.c_str() + colon + 1, nullptr) : 1;
}

bool is_fma(OpClass op) { return op == OpClass::fp32 || op == OpClass::imad; }
bool is_tensor(OpClass op) { return op >= OpClass::mma_f16 && op <= OpClass::wgmma_fp8; }

}  // namespace

void Counts::add(const Counts& other, double share) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += share * other.values[i];
}

Counts counts_of(const Work& work) {
  const Counters& from = work.counters;
  Counts c;
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  c[Raw::busy_ns] = number(work.end_ns - work.begin_ns);
  c[Raw::blocks] = number(std::uint64_t{work.grid[0]} * work.grid[1] * work.grid[2]);
  c[Raw::warp_instructions] = number(from.warp_instructions);
  for (std::size_t i = 0; i < op_classes; ++i) {
    const auto op = static_cast<OpClass>(i);
    const double threads = number(from.thread_instructions[i]);
    c[Raw::thread_instructions] += threads;
    if (is_fma(op)) c[Raw::fma_instructions] += threads / 32;
    if (is_tensor(op)) c[Raw::tensor_instructions] += threads / 32;
    if (is_tensor(op) && op >= OpClass::wgmma_f16) c[Raw::wgmma_instructions] += threads / 32;
  }
  c[Raw::l1_sectors] = number(from.l1_sectors);
  c[Raw::l1_hits] = number(from.l1_hits);
  c[Raw::l2_sectors] = number(from.l2_sectors);
  c[Raw::l2_hits] = number(from.l2_hits);
  c[Raw::l2_write_sectors] = number(from.l2_write_sectors);
  c[Raw::l2_atomic_sectors] = number(from.l2_atomic_sectors);
  c[Raw::dram_read_bytes] = number(from.dram_read_bytes);
  c[Raw::dram_write_bytes] = number(from.dram_write_bytes);
  c[Raw::shared_wavefronts] = number(from.shared_wavefronts);
  c[Raw::shared_conflicts] = number(from.shared_conflicts);
  return c;
}

const std::vector<Metric>& metrics() {
  using C = const Counts&;
  using F = const ChipFacts&;
  static const std::vector<const char*> sum{"sum", "sum.per_second"};
  static const std::vector<const char*> elapsed{"max", "min", "avg", "sum", "avg.per_second"};
  static const std::vector<const char*> share{"avg.pct_of_peak_sustained_elapsed"};
  static const auto* const all = new std::vector<Metric>{
      {"gpu__time_duration", counter, {"sum"}, "ns", "time", total<Raw::time_ns>},
      {"sm__cycles_elapsed", counter, elapsed, "cycles", "cycles of the time", cycles},
      {"lts__cycles_elapsed",
       counter,
       {"avg.per_second"},
       "cycles",
       "L2 has the SM's clock",
       cycles},
      {"gr__cycles_active", throughput, share, "%", "time in which a kernel ran",
       [](C c, F) { return 100 * safe(c[Raw::busy_ns], c[Raw::time_ns]); }},
      {"sm__ctas_launched", counter, sum, "blocks", "blocks", total<Raw::blocks>},
      {"sm__inst_executed", counter, sum, "inst", "warp instructions",
       total<Raw::warp_instructions>},
      {"smsp__inst_executed", counter, sum, "inst", "warp instructions",
       total<Raw::warp_instructions>},
      {"smsp__thread_inst_executed", counter, sum, "inst", "thread instructions",
       total<Raw::thread_instructions>},
      {"smsp__thread_inst_executed_per_inst_executed",
       ratio,
       {"ratio"},
       "",
       "active threads",
       [](C c, F) { return safe(c[Raw::thread_instructions], c[Raw::warp_instructions]); }},
      {"sm__inst_executed_pipe_fma", counter, sum, "inst", "of warps, all lanes active",
       total<Raw::fma_instructions>},
      {"sm__inst_executed_pipe_tensor", counter, sum, "inst", "mma and wgmma of warps",
       total<Raw::tensor_instructions>},
      {"sm__inst_executed_pipe_tensor_op_gmma", counter, sum, "inst", "wgmma of warps",
       total<Raw::wgmma_instructions>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld", counter, sum, "sector", "of loads",
       total<Raw::l1_sectors>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit", counter, sum, "sector",
       "of loads that L1 held", total<Raw::l1_hits>},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared", counter, sum, "", "wavefronts",
       total<Raw::shared_wavefronts>},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared", counter, sum, "",
       "wavefronts beyond what the bytes need", total<Raw::shared_conflicts>},
      {"lts__t_sectors", counter, sum, "sector", "of all", total<Raw::l2_sectors>},
      {"lts__t_sectors_srcunit_tex", counter, sum, "sector", "of SMs, as all are",
       total<Raw::l2_sectors>},
      {"lts__t_sectors_lookup_hit", counter, sum, "sector", "hits", total<Raw::l2_hits>},
      {"lts__t_sectors_lookup_miss", counter, sum, "sector", "misses",
       [](C c, F) { return c[Raw::l2_sectors] - c[Raw::l2_hits]; }},
      {"lts__t_sectors_srcunit_tex_lookup_miss", counter, sum, "sector", "misses of SMs",
       [](C c, F) { return c[Raw::l2_sectors] - c[Raw::l2_hits]; }},
      {"lts__t_sectors_op_read", counter, sum, "sector", "of loads",
       [](C c, F) {
         return c[Raw::l2_sectors] - c[Raw::l2_write_sectors] - c[Raw::l2_atomic_sectors];
       }},
      {"lts__t_sectors_op_write", counter, sum, "sector", "of stores",
       total<Raw::l2_write_sectors>},
      {"lts__t_sector_hit_rate",
       ratio,
       {"pct"},
       "%",
       "hits of all",
       [](C c, F) { return 100 * safe(c[Raw::l2_hits], c[Raw::l2_sectors]); }},
      {"dram__bytes_read", counter, sum, "byte", "read", total<Raw::dram_read_bytes>},
      {"dram__bytes_write", counter, sum, "byte", "written", total<Raw::dram_write_bytes>},
      {"dram__bytes", counter, sum, "byte", "read and written",
       [](C c, F) { return c[Raw::dram_read_bytes] + c[Raw::dram_write_bytes]; }},
      {"dram__throughput", throughput, share, "%", "share of the chip's rate", dram_share},
      {"gpu__dram_throughput", throughput, share, "%", "share of the chip's rate", dram_share},
  };
  return *all;
}

const Metric* find_metric(std::string_view name) {
  const std::string_view base = name.substr(0, name.find('.'));
  for (const Metric& metric : metrics()) {
    if (metric.base != base) continue;
    if (base.size() == name.size()) return &metric;
    const std::string_view ending = name.substr(base.size() + 1);
    const auto& known = metric.endings;
    return std::find(known.begin(), known.end(), ending) == known.end() ? nullptr : &metric;
  }
  return nullptr;
}

bool evaluate(std::string_view name, const Counts& counts, double* value) {
  const Metric* const metric = find_metric(name);
  const std::size_t dot = name.find('.');
  if (metric == nullptr || dot == std::string_view::npos) return false;
  const ChipFacts& chip = runtime().chip();
  *value = metric->value(counts, chip);
  if (metric->value == cycles && name.substr(dot + 1) == "sum") *value *= chip.sms;
  if (name.ends_with(".per_second")) *value = safe(*value, counts[Raw::time_ns] * 1e-9);
  *value *= planted_factor(name);
  return true;
}

std::vector<std::uint8_t> make_config(const std::vector<std::string>& names) {
  std::string text(reinterpret_cast<const char*>(&image_magic), sizeof image_magic);
  text += std::string(runtime().chip().name) + "\n";
  for (const std::string& name : names) text += name + "\n";
  return {text.begin(), text.end()};
}

int metrics_in_config(const std::uint8_t* image, std::size_t size) {
  std::uint64_t magic = 0;
  if (image == nullptr || size <= sizeof magic) return -1;
  std::memcpy(&magic, image, sizeof magic);
  if (magic != image_magic) return -1;
  return static_cast<int>(std::count(image + sizeof magic, image + size, '\n')) - 1;
}

std::size_t passes_of(int metric_count) {
  const std::uint64_t limit = faults().number("per_pass");
  const auto count = static_cast<std::uint64_t>(metric_count);
  return limit == 0 || count == 0 ? 1 : (count + limit - 1) / limit;
}

std::string range_name(const Row& row, std::string_view delimiter) {
  std::string name;
  for (const char* c = row.name; *c != '\0'; ++c) {
    if (*c == '\n') {
      name += delimiter;
    } else {
      name += *c;
    }
  }
  return name;
}

bool RowImage::initialize(std::uint8_t* data, std::size_t size) {
  if (data == nullptr || size < sizeof(Header)) return false;
  const Header header{image_magic, (size - sizeof(Header)) / sizeof(Row), 0};
  std::memcpy(data, &header, sizeof header);
  return true;
}

RowImage::RowImage(const std::uint8_t* data, std::size_t size) {
  if (data == nullptr || size < sizeof(Header)) return;
  auto* const bytes = const_cast<std::uint8_t*>(data);
  auto* const header = reinterpret_cast<Header*>(bytes);
  if (header->magic != image_magic || bytes_for(header->capacity) > size) return;
  header_ = header;
  rows_ = reinterpret_cast<Row*>(bytes + sizeof(Header));
}

bool RowImage::append(const Row& row) {
  if (count() == capacity()) return false;
  std::memcpy(rows_ + header_->count++, &row, sizeof row);
  return true;
}

}  // namespace emulator
