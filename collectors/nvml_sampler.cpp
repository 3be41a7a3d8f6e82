// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvml_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "collectors/nvml_gpm.h"
#include "core/error.h"

namespace warpmeter {
namespace {

// Errors that asking again does not change.
bool is_final(int status) {
  switch (status) {
    case nvml_invalid_argument:
    case nvml_not_supported:
    case nvml_no_permission:
    case nvml_not_found:
    case nvml_function_not_found:
    case nvml_deprecated:
      return true;
    default:
      return false;
  }
}

NvmlDevice find_device(const NvmlApi& nvml, const std::string& uuid) {
  NvmlDevice device = nullptr;
  const int status = nvml.handle_by_uuid == nullptr ? nvml_function_not_found
                                                    : nvml.handle_by_uuid(uuid.c_str(), &device);
  if (status != nvml_success)
    throw InputError(
        fmt::format("nvml: nvmlDeviceGetHandleByUUID of {}: {}; compare with "
                    "nvidia-smi -L",
                    uuid, nvml_error_name(status)));
  return device;
}

}  // namespace

struct NvmlSampler::State {
  const NvmlApi& nvml;
  NvmlDevice device = nullptr;  // the GPU; of a MIG instance the GPU that it is part of
  bool mig = false, gone = false;
  std::unique_ptr<NvmlGpm> gpm;
  std::string gpm_reason = "not asked for";
  std::vector<bool> ended = std::vector<bool>(nvml_quantities().size());
  std::vector<std::optional<double>> last =
      std::vector<std::optional<double>>(nvml_quantities().size());
  std::uint64_t last_ns = 0;
  std::vector<NvmlFailure> failures;

  // Of the sample that is being taken.
  std::uint64_t now_ns = 0;
  std::uint16_t ordinal = 0;
  const std::function<void(const NvmlReading&)>* put = nullptr;

  explicit State(const NvmlApi& api) : nvml(api) {}

  void fail(const std::string& what, const std::string& reason, bool final) {
    const auto same = std::find_if(failures.begin(), failures.end(), [&](const NvmlFailure& f) {
      return f.what == what && f.reason == reason;
    });
    if (same == failures.end()) {
      failures.push_back({what, reason, 1, now_ns, now_ns, final});
    } else {
      ++same->count;
      same->to_ns = now_ns;
    }
  }

  void give(std::size_t quantity, std::optional<double> value) const {
    (*put)({now_ns, ordinal, static_cast<std::uint16_t>(quantity), value.has_value(),
            value.value_or(0)});
  }

  // Whether there is a value; says what follows from it if not.
  bool accept(std::size_t quantity, int status) {
    if (status == nvml_success) return true;
    if (gone) return false;
    if (status == nvml_gpu_is_lost) {
      gone = true;
      fail("device", nvml_error_name(status), true);
      return false;
    }
    ended[quantity] = is_final(status);
    fail(nvml_quantities()[quantity].name, nvml_error_name(status), ended[quantity]);
    give(quantity, std::nullopt);
    return false;
  }

  // Of a counter that only grows: what came since the last sample.
  std::optional<double> grown(std::size_t quantity, double value) {
    const std::optional<double> before = last[quantity];
    last[quantity] = value;
    if (!before) return std::nullopt;
    if (value >= *before) return value - *before;
    fail(nvml_quantities()[quantity].name, "the counter went back: it wrapped or was reset", false);
    give(quantity, std::nullopt);
    return std::nullopt;
  }

  double scaled(std::size_t quantity, double number) const {
    return number * nvml_quantities()[quantity].scale + nvml_quantities()[quantity].offset;
  }

  void accept_field(std::size_t quantity, const NvmlField& field) {
    if (!accept(quantity, field.status)) {
      last[quantity].reset();
      return;
    }
    const double value = scaled(quantity, nvml_number(field));
    if (!std::isfinite(value)) {  // a type that is not known
      (void)accept(quantity, nvml_invalid_argument);
      return;
    }
    if (!nvml_quantities()[quantity].counter) return give(quantity, value);
    const auto difference = grown(quantity, value);
    if (!difference) return;
    give(quantity, difference);
    if (quantity == quantity_energy && now_ns > last_ns)
      give(quantity_power_mean, *difference / (1e-9 * static_cast<double>(now_ns - last_ns)));
  }

  // All in one call, because each call may take the driver's lock.
  void read_fields() {
    std::vector<NvmlField> fields;
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < nvml_quantities().size(); ++i) {
      const NvmlQuantity& quantity = nvml_quantities()[i];
      if (quantity.field == 0 || ended[i]) continue;
      NvmlField field{};
      field.id = quantity.field;
      field.scope = quantity.scope;
      fields.push_back(field);
      asked.push_back(i);
    }
    if (fields.empty()) return;
    const int status = nvml.fields == nullptr
                           ? nvml_function_not_found
                           : nvml.fields(device, static_cast<int>(fields.size()), fields.data());
    for (std::size_t i = 0; i < fields.size() && !gone; ++i) {
      if (status != nvml_success) fields[i].status = status;
      accept_field(asked[i], fields[i]);
    }
  }

  void read_calls() {
    for (std::size_t i = 0; i < nvml_quantities().size() && !gone; ++i) {
      const NvmlQuantity& quantity = nvml_quantities()[i];
      if (quantity.read == nullptr || ended[i]) continue;
      // Only where there is no reading of the moment.
      if (i == quantity_power_average && !ended[quantity_power_instant]) continue;
      double number = 0;
      if (accept(i, quantity.read(nvml, device, number))) give(i, scaled(i, number));
    }
  }

  void read_gpm() {
    if (!gpm || gone) return;
    gpm->sample(now_ns, [&](std::size_t quantity, int status, double value) {
      if (!ended[quantity] && !gone && accept(quantity, status))
        give(quantity, scaled(quantity, value));
    });
  }
};

NvmlSampler::NvmlSampler(const NvmlApi& nvml, const std::string& uuid, bool with_gpm)
    : state_(std::make_unique<State>(nvml)) {
  const NvmlDevice found = find_device(nvml, uuid);
  state_->device = found;
  unsigned int is_mig = 0;
  if (nvml.is_mig != nullptr && nvml.is_mig(found, &is_mig) == nvml_success && is_mig != 0) {
    state_->mig = true;
    if (nvml.parent_of_mig == nullptr || nvml.parent_of_mig(found, &state_->device) != nvml_success)
      throw InputError(fmt::format(
          "nvml: the GPU of the MIG instance {} is not visible; measure with MIG off", uuid));
  }
  // Of the instance itself, so that its neighbours are not in it.
  if (with_gpm) state_->gpm = NvmlGpm::open(nvml, found, state_->gpm_reason);
}

NvmlSampler::~NvmlSampler() = default;
NvmlSampler::NvmlSampler(NvmlSampler&&) noexcept = default;

void NvmlSampler::sample(std::uint64_t now_ns, std::uint16_t device,
                         const std::function<void(const NvmlReading&)>& put) {
  if (state_->gone) return;
  state_->now_ns = now_ns;
  state_->ordinal = device;
  state_->put = &put;
  state_->read_fields();
  state_->read_calls();
  state_->read_gpm();
  state_->last_ns = now_ns;
  state_->put = nullptr;
}

std::vector<NvmlFailure> NvmlSampler::take_failures() {
  return std::exchange(state_->failures, {});
}

bool NvmlSampler::gone() const { return state_->gone; }
bool NvmlSampler::on_mig_instance() const { return state_->mig; }
const std::string& NvmlSampler::gpm_reason() const { return state_->gpm_reason; }

}  // namespace warpmeter
