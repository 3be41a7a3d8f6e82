// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cli/profile_summary.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

namespace warpmeter {
namespace {

constexpr std::size_t shown_kernels = 10;
constexpr std::size_t shown_losses = 10;
constexpr std::size_t shown_name = 72;

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

std::string shortened(const std::string& name) {
  return name.size() <= shown_name ? name : name.substr(0, shown_name - 3) + "...";
}

void add_kernels(const ProfileReader& profile, ProfileSummary& summary) {
  std::map<std::string, ProfileSummary::Kernel> kernels;
  profile.scan("v_kernels", {"name", "duration_ns", "graph"}, [&](const ProfileRow& row) {
    ProfileSummary::Kernel& kernel = kernels[std::string(row.text(0))];
    ++kernel.count;
    if (const auto duration = row.optional_integer(1))
      kernel.seconds += 1e-9 * static_cast<double>(*duration);
    else
      ++kernel.without_time;
    if (row.optional_integer(2)) ++summary.graph_kernels;
  });
  for (auto& [name, kernel] : kernels) {
    kernel.name = demangled(name);
    summary.by_time.push_back(kernel);
  }
  std::stable_sort(summary.by_time.begin(), summary.by_time.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
}

// What is lost again and again for the same reason is one line.
void add_losses(const ProfileReader& profile, ProfileSummary& summary) {
  std::vector<std::pair<std::string, int>> lines;
  profile.scan(
      "v_losses", {"pid", "collector", "what", "count", "reason"}, [&](const ProfileRow& row) {
        const auto pid = row.optional_integer(0);
        const auto count = row.optional_integer(3);
        const std::string line =
            fmt::format("{}{}: {}{}: {}", pid ? fmt::format("process {}: ", *pid) : "", row.text(1),
                        count ? fmt::format("{} ", *count) : "", row.text(2), row.text(4));
        const auto known = std::ranges::find(lines, line, &std::pair<std::string, int>::first);
        if (known == lines.end())
          lines.emplace_back(line, 1);
        else
          ++known->second;
      });
  for (const auto& [line, times] : lines)
    summary.losses.push_back(times == 1 ? line : fmt::format("{} ({} times)", line, times));
}

std::int64_t count_launches(const ProfileReader& profile) {
  std::int64_t launches = 0;
  profile.scan("v_api", {"name"}, [&](const ProfileRow& row) {
    if (row.text(0).find("Launch") != std::string_view::npos) ++launches;
  });
  return launches;
}

std::string overhead_line(const Json& overhead) {
  std::string text = fmt::format("process {}: overhead ", overhead.value("pid", std::int64_t{0}));
  if (overhead.at("value").is_null())
    text += "not known: ";
  else
    text +=
        fmt::format("{:.1f} % ({:.1f} to {:.1f} %){}", 100 * overhead["value"].get<double>(),
                    100 * overhead.at("low").get<double>(), 100 * overhead.at("high").get<double>(),
                    overhead.at("reason").get<std::string>().empty() ? "" : ", unstable: ");
  text += overhead.at("reason").get<std::string>();
  for (const Json& name : overhead.at("shed"))
    text += fmt::format("; shed {}", name.get<std::string>());
  return text;
}

}  // namespace

ProfileSummary summarize(const ProfileReader& profile) {
  ProfileSummary summary;
  summary.source = to_string(profile.source());
  summary.processes = profile.count("processes");
  summary.kernels = profile.count("kernels");
  summary.copies = profile.count("copies");
  summary.sets = profile.count("sets");
  summary.ranges = profile.count("ranges");
  summary.samples = profile.count("samples");
  summary.counters = profile.count("counters");
  summary.launches = count_launches(profile);
  add_kernels(profile, summary);
  add_losses(profile, summary);
  const Json provenance = profile.meta("provenance");
  for (const Json& shard : provenance.value("merged", Json::array())) {
    const Json& own = shard.at("provenance");
    if (own.contains("overhead")) summary.overhead.push_back(own["overhead"]);
    const Json refused = own.value("refused", Json::object());
    for (const auto& [collector, why] : refused.items()) {
      const std::string line = fmt::format("{}: {}", collector, why.get<std::string>());
      if (std::find(summary.refused.begin(), summary.refused.end(), line) == summary.refused.end())
        summary.refused.push_back(line);
    }
  }
  return summary;
}

Json to_json(const ProfileSummary& summary) {
  Json json = Json::object();
  json["source"] = summary.source;
  json["processes"] = summary.processes;
  json["launches"] = summary.launches;
  json["kernels"] = summary.kernels;
  json["graph_kernels"] = summary.graph_kernels;
  json["copies"] = summary.copies;
  json["sets"] = summary.sets;
  json["ranges"] = summary.ranges;
  json["samples"] = summary.samples;
  json["counters"] = summary.counters;
  json["by_time"] = Json::array();
  for (const auto& kernel : summary.by_time)
    json["by_time"].push_back({{"name", kernel.name},
                               {"count", kernel.count},
                               {"without_time", kernel.without_time},
                               {"seconds", kernel.seconds}});
  json["overhead"] = summary.overhead;
  json["refused"] = summary.refused;
  json["losses"] = summary.losses;
  return json;
}

std::string format_summary(const ProfileSummary& summary) {
  std::string text = fmt::format(
      "{}: {} processes, {} kernels ({} of graphs) by {} launches, {} copies, {} sets, {} ranges, "
      "{} samples, {} counters\n",
      summary.source, summary.processes, summary.kernels, summary.graph_kernels, summary.launches,
      summary.copies, summary.sets, summary.ranges, summary.samples, summary.counters);
  double total = 0;
  for (const auto& kernel : summary.by_time) total += kernel.seconds;
  for (std::size_t i = 0; i < std::min(shown_kernels, summary.by_time.size()); ++i) {
    const auto& kernel = summary.by_time[i];
    text += fmt::format("{:5.1f} % {:10.3f} ms {:8} x  {}\n",
                        total > 0 ? 100 * kernel.seconds / total : 0, 1e3 * kernel.seconds,
                        kernel.count, shortened(kernel.name));
  }
  if (summary.by_time.size() > shown_kernels)
    text += fmt::format("and {} more kernels\n", summary.by_time.size() - shown_kernels);
  for (const Json& overhead : summary.overhead) text += overhead_line(overhead) + "\n";
  for (const std::string& line : summary.refused) text += fmt::format("not collected: {}\n", line);
  for (std::size_t i = 0; i < std::min(shown_losses, summary.losses.size()); ++i)
    text += fmt::format("lost: {}\n", summary.losses[i]);
  if (summary.losses.size() > shown_losses)
    text += fmt::format("and {} more losses: v_losses\n", summary.losses.size() - shown_losses);
  return text;
}

}  // namespace warpmeter
