// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "report/html.h"
#include "report/number_text.h"
#include "report/section.h"
#include "report/validation_data.h"
#include "report/verdicts.h"

namespace warpmeter {

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;  // name, HTML

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string command_of(const Json& tool) {
  std::string out;
  const auto argv = tool.find("argv");
  if (argv == tool.end() || !argv->is_array()) return "";
  for (const Json& word : *argv) {
    out += (out.empty() ? "" : " ") + (word.is_string() ? word.get<std::string>() : word.dump());
  }
  return out;
}

std::string tool_text(const Json& tool) {
  const std::string version = text_of(tool, "version");
  if (version.empty()) return escape_html(text_of(tool, "name"));
  const std::string git = text_of(tool, "git");
  return fmt::format("{} {}, commit {}{}", escape_html(text_of(tool, "name")), escape_html(version),
                     code(git.empty() ? "unknown" : git.substr(0, 12)),
                     text_of(tool, "dirty") == "true" ? " with uncommitted changes" : "");
}

std::string tenants_text(const Json& host) {
  const auto tenants = host.find("other_tenants");
  if (tenants == host.end() || !tenants->is_array()) return "";
  if (tenants->empty()) return "none seen";
  std::string out;
  for (const Json& tenant : *tenants) {
    const auto share = tenant.find("cpu_seconds_per_second");
    out += (out.empty() ? "" : ", ") + text_of(tenant, "command");
    if (share != tenant.end() && share->is_number()) {
      out += fmt::format(" ({:.2f} cores)", share->get<double>());
    }
  }
  return out;
}

std::string load_text(const Json& host) {
  const auto load = host.find("load_average");
  if (load == host.end() || !load->is_array()) return "";
  std::string out;
  for (const Json& number : *load) {
    if (number.is_number())
      out += fmt::format("{}{:.2f}", out.empty() ? "" : ", ", number.get<double>());
  }
  return out + " (1, 5, 15 min)";
}

std::string clocks_text(const Run& run) {
  std::string out;
  for (const Measurement* clock : with_quantity(run, "clock.core")) {
    if (!clock->value) continue;
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", si_text(*clock->value, Unit::hertz),
                       parameters_text(clock->parameters));
  }
  return out;
}

void add(Entries& facts, const char* name, const std::string& html) {
  if (!html.empty()) facts.emplace_back(name, html);
}

std::string verdict_counts(const ReportInput& input) {
  const auto counts = count_verdicts(input);
  std::string out;
  for (const Verdict verdict : all_verdicts) {
    const auto found = counts.find(verdict);
    if (found != counts.end()) out += fmt::format("{} {} ", verdict_badge(verdict), found->second);
  }
  return out;
}

// Where a value is known twice, the run's host block wins over the device's facts.
std::string host_or_fact(const Run& run, const char* host_key, const char* fact) {
  const std::string text = text_of(run.host, host_key);
  return escape_html(text.empty() ? fact_text(run.facts, fact) : text);
}

Entries conditions(const ReportInput& input) {
  Entries facts;
  const Json none = Json::object();
  const Run* run = input.runs.empty() ? nullptr : &input.runs.front();
  const Json& tool = run ? run->tool : (input.machine ? input.machine->tool : none);
  add(facts, "date", escape_html(text_of(tool, "utc_time")));
  add(facts, "tool", tool_text(tool));
  std::set<std::string> commands;
  for (const Run& each : input.runs) commands.insert(command_of(each.tool));
  for (const std::string& command : commands) {
    if (!command.empty()) add(facts, "command", code(command));
  }
  if (run) {
    add(facts, "processor", escape_html(fact_text(run->facts, "cpu.model")));
    add(facts, "clock, measured", escape_html(clocks_text(*run)));
    add(facts, "clock governor", host_or_fact(*run, "governor", "governor"));
    add(facts, "virtualisation", host_or_fact(*run, "virtualization", "virtualization"));
    add(facts, "cores allowed", escape_html(text_of(run->host, "cores_allowed")));
    add(facts, "load average", escape_html(load_text(run->host)));
    add(facts, "other tenants", escape_html(tenants_text(run->host)));
    add(facts, "kernel", host_or_fact(*run, "kernel", "kernel"));
  }
  add(facts, "verdicts", verdict_counts(input));
  return facts;
}

// Each source is said once; what is not measured here is said in a banner.
std::string banners(const ReportInput& input) {
  std::map<Source, bool> sources;
  for (const Run& run : input.runs) sources[run.source] = true;
  if (input.machine) sources[input.machine->source] = true;
  std::string out;
  if (sources.contains(Source::emulated)) {
    out +=
        paragraph("banner emulated",
                  "EMULATED: these numbers come from an emulated device. They check the tools and "
                  "say nothing about real hardware.");
  }
  if (sources.contains(Source::published)) {
    out += paragraph("banner published",
                     "Published: these numbers are transcribed from the sources named in their "
                     "evidence; nothing was measured here.");
  }
  if (sources.contains(Source::imported)) {
    out += paragraph("banner imported", "Imported: these numbers come from files of other tools.");
  }
  for (const Run& run : input.runs) {
    if (run.complete) continue;
    out += paragraph("banner partial",
                     "A run was interrupted: it holds what was finished until then.");
    break;
  }
  return out;
}

std::string tile(const std::string& value, const std::string& label, const std::string& note) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span><span>{}</span></div>\n",
                     escape_html(value), escape_html(label), escape_html(note));
}

std::string tiles(const ReportInput& input) {
  static constexpr std::array<std::pair<const char*, const char*>, 10> shown = {
      {{"latency.l1.hit", "L1 latency"},
       {"latency.l2.hit", "L2 latency"},
       {"latency.dram", "DRAM latency"},
       {"bandwidth.dram.read.device", "DRAM read"},
       {"throughput.fma.f32.device.sustained", "f32 FMA, sustained"},
       {"throughput.fma.bf16.device.sustained", "bf16 FMA, sustained"},
       {"throughput.mma.bf16.device", "bf16 tensor"},
       {"launch.fork_join", "fork and join"},
       {"launch.stream", "kernel launch"},
       {"transfer.h2d.bandwidth", "host to device"}}};
  std::string out;
  if (input.machine) {
    for (const auto& [name, label] : shown) {
      const auto found = input.machine->parameters.find(name);
      if (found == input.machine->parameters.end() || !found->second.value) continue;
      out += tile(value_text(found->second.value, found->second.unit), label,
                  relative_interval_text(found->second.value, found->second.interval));
    }
  }
  for (const ErrorScore& score : validation_data(input.validation).scores) {
    if (score.predictor == "model" && score.group == "all" && score.split == "held_out" &&
        score.mape) {
      out += tile(percent_text(score.mape), "model error (MAPE), held-out shapes",
                  fmt::format("n = {:g}, bias {}", score.n, signed_percent_text(score.bias)));
    }
  }
  return out.empty() ? "" : "<div class=\"tiles\">\n" + out + "</div>\n";
}

}  // namespace

std::string headline(const ReportInput& input) {
  std::string device = "no device";
  Source source = Source::measured;
  if (!input.runs.empty()) {
    device = input.runs.front().device;
    source = input.runs.front().source;
  } else if (input.machine) {
    device = input.machine->device;
    source = input.machine->source;
  }
  std::string model;
  for (const char* fact : {"cpu.model", "name", "product"}) {
    if (model.empty() && !input.runs.empty()) model = fact_text(input.runs.front().facts, fact);
  }
  if (model == device) model.clear();
  const std::string title = model.empty() ? device : device + ": " + model;
  std::string out =
      fmt::format("<h1>{} {}</h1>\n", escape_html(title),
                  badge(source == Source::measured ? "good" : "warn", to_string(source)));
  out += banners(input);
  if (input.runs.empty() && !input.machine) {
    out += paragraph("missing", "No run and no machine document was given.");
  }
  out += tiles(input);
  out += "<dl class=\"facts\">\n";
  for (const auto& [name, html] : conditions(input)) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html);
  }
  return out + "</dl>\n";
}

}  // namespace warpmeter
