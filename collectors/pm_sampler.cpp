// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pm_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "collectors/clock.h"
#include "collectors/cupti_params.h"
#include "core/error.h"

namespace warpmeter {
namespace {

constexpr int most_images = 64;          // in one decode(): a fast GPU must not hold the thread
constexpr int most_last_images = 4;      // of recordings: a profile must not consist of images
constexpr std::int64_t slack = 1000000;  // ns by which a sample may seem to lie in the future

std::vector<std::uint8_t> availability_of(const CuptiApi& api, std::size_t ordinal) {
  auto params = sized<CUpti_PmSampling_GetCounterAvailability_Params>(
      CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE);
  params.deviceIndex = ordinal;
  constexpr const char* call = "cuptiPmSamplingGetCounterAvailability";
  check_cupti(api.cuptiPmSamplingGetCounterAvailability(&params), "pm", call);
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check_cupti(api.cuptiPmSamplingGetCounterAvailability(&params), "pm", call);
  return image;
}

}  // namespace

PmSampler::PmSampler(const CuptiApi& api, const TargetDevice& device, std::size_t ordinal,
                     const Catalogue& catalogue, const PmOptions& options)
    : api_(api),
      chip_(device.chip),
      ordinal_(ordinal),
      options_(options),
      by_time_(!(device.major == 7 || (device.major == 8 && device.minor == 0))),
      clock_(api, options.virtual_time),
      interval_(options.interval_ns) {
  if (chip_.empty())
    throw InputError(
        fmt::format("pm: CUPTI does not name the chip of device {}; use a newer CUPTI", ordinal));
  if (options.keep_latest && device.major == 7)
    throw InputError("pm: Turing does not keep the latest samples; ask for the oldest");
  if (options.interval_ns <= 0) throw InputError("pm: the sampling interval must be above 0");
  availability_ = availability_of(api, ordinal);
  plan_ = plan_pm(api, chip_, availability_, catalogue, catalogue.of_set(options.set));
  names_ = plan_.names();
  host_ = open_pm_host(api, chip_, availability_);
  const CounterConfig config = host_->configure(names_);
  if (config.error != 0 || config.passes != 1)
    throw InputError(fmt::format("pm: {}: a plan of one pass became {} passes; report this", chip_,
                                 config.passes));
  plan_.image = config.image;
}

PmSampler::~PmSampler() { disable(); }

void PmSampler::start() {
  if (running()) return;
  try {
    enable();
  } catch (...) {
    disable();
    throw;
  }
}

void PmSampler::enable() {
  clock_.read();
  auto on = sized<CUpti_PmSampling_Enable_Params>(CUpti_PmSampling_Enable_Params_STRUCT_SIZE);
  on.deviceIndex = ordinal_;
  check_cupti(api_.cuptiPmSamplingEnable(&on), "pm", "cuptiPmSamplingEnable");
  object_ = on.pPmSamplingObject;

  // CUPTI keeps the pointer to the configuration: plan_.image stays where it is.
  auto set =
      sized<CUpti_PmSampling_SetConfig_Params>(CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE);
  set.pPmSamplingObject = object_;
  set.configSize = plan_.image.size();
  set.pConfig = plan_.image.data();
  set.hardwareBufferSize = options_.hardware_buffer_bytes;
  set.samplingInterval = static_cast<std::uint64_t>(interval_);
  set.triggerMode = by_time_ ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL
                             : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
  set.hwBufferAppendMode = options_.keep_latest
                               ? CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST
                               : CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  check_cupti(api_.cuptiPmSamplingSetConfig(&set), "pm", "cuptiPmSamplingSetConfig");

  std::vector<const char*> names = pointers_to(names_);
  auto size = sized<CUpti_PmSampling_GetCounterDataSize_Params>(
      CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pPmSamplingObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxSamples = options_.samples_per_decode;
  check_cupti(api_.cuptiPmSamplingGetCounterDataSize(&size), "pm",
              "cuptiPmSamplingGetCounterDataSize");
  image_.assign(size.counterDataSize, 0);
  initialize_image();

  auto go = sized<CUpti_PmSampling_Start_Params>(CUpti_PmSampling_Start_Params_STRUCT_SIZE);
  go.pPmSamplingObject = object_;
  started_ = monotonic_ns();
  check_cupti(api_.cuptiPmSamplingStart(&go), "pm", "cuptiPmSamplingStart");
  first_ = gap_ = true;
}

void PmSampler::disable() noexcept {
  if (object_ == nullptr) return;
  auto off = sized<CUpti_PmSampling_Disable_Params>(CUpti_PmSampling_Disable_Params_STRUCT_SIZE);
  off.pPmSamplingObject = object_;
  (void)api_.cuptiPmSamplingDisable(&off);
  object_ = nullptr;
}

void PmSampler::initialize_image() {
  auto params = sized<CUpti_PmSampling_CounterDataImage_Initialize_Params>(
      CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  params.pPmSamplingObject = object_;
  params.counterDataSize = image_.size();
  params.pCounterData = image_.data();
  check_cupti(api_.cuptiPmSamplingCounterDataImageInitialize(&params), "pm",
              "cuptiPmSamplingCounterDataImageInitialize");
}

bool PmSampler::decode_image(PmOutput& out, bool& overflow) {
  auto data =
      sized<CUpti_PmSampling_DecodeData_Params>(CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
  data.pPmSamplingObject = object_;
  data.pCounterDataImage = image_.data();
  data.counterDataImageSize = image_.size();
  const CUptiResult result = api_.cuptiPmSamplingDecodeData(&data);
  // CUPTI reports an overflow in either way; what came before it is in the image.
  overflow = data.overflow != 0 || result == CUPTI_ERROR_OUT_OF_MEMORY;
  if (result != CUPTI_ERROR_OUT_OF_MEMORY) check_cupti(result, "pm", "cuptiPmSamplingDecodeData");

  auto info = sized<CUpti_PmSampling_GetCounterDataInfo_Params>(
      CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE);
  info.pCounterDataImage = image_.data();
  info.counterDataImageSize = image_.size();
  check_cupti(api_.cuptiPmSamplingGetCounterDataInfo(&info), "pm",
              "cuptiPmSamplingGetCounterDataInfo");
  if (info.numCompletedSamples == 0) return false;
  take(info.numCompletedSamples, out);
  if (!kept_first_image_) out.images.push_back({"counter_data", image_});
  kept_first_image_ = true;
  filled_.resize(image_.size());
  std::swap(image_, filled_);
  initialize_image();
  // Any other reason to stop (the API knows "other" too) means that there is no more for now.
  return data.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
}

void PmSampler::take(std::size_t completed, PmOutput& out) {
  clock_.read();
  const std::int64_t now = monotonic_ns();
  std::int64_t misplaced = 0, not_evaluated = 0;
  int why = CUPTI_SUCCESS;
  for (std::size_t i = 0; i < completed; ++i) {
    auto info = sized<CUpti_PmSampling_CounterData_GetSampleInfo_Params>(
        CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE);
    info.pPmSamplingObject = object_;
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    info.sampleIndex = i;
    check_cupti(api_.cuptiPmSamplingCounterDataGetSampleInfo(&info), "pm",
                "cuptiPmSamplingCounterDataGetSampleInfo");
    const bool first = std::exchange(first_, false);
    const std::uint64_t end_before = std::exchange(last_end_, info.endTimestamp);
    if (first) continue;  // it began at no stated time
    PmSample sample{clock_.to_host(info.startTimestamp), clock_.to_host(info.endTimestamp), false,
                    std::vector<double>(names_.size())};
    const bool outside = sample.start_ns < started_ - slack || sample.end_ns > now + slack;
    if ((outside && !options_.virtual_time) || sample.end_ns <= sample.start_ns) {
      ++misplaced;
      gap_ = true;
      continue;
    }
    const auto tolerance = static_cast<std::uint64_t>(interval_ / 4);
    const bool lost = !gap_ && info.startTimestamp > end_before + tolerance;
    if (lost) {
      const std::int64_t from = clock_.to_host(end_before);
      out.losses.push_back({"samples", "CUPTI gave none for this time",
                            std::max<std::int64_t>(1, (sample.start_ns - from) / interval_), from,
                            sample.start_ns});
    }
    sample.follows_gap = std::exchange(gap_, false) || lost;
    if (const int error = host_->evaluate(image_, i, names_, sample.values);
        error != CUPTI_SUCCESS) {
      std::fill(sample.values.begin(), sample.values.end(),
                std::numeric_limits<double>::quiet_NaN());
      ++not_evaluated;
      why = error;
    }
    ++samples_;
    out.samples.push_back(std::move(sample));
  }
  if (misplaced != 0)
    out.losses.push_back({"samples", "their times are not within the recording: not on its clock",
                          misplaced, started_, now});
  if (not_evaluated != 0)
    out.losses.push_back({"values of samples",
                          fmt::format("cuptiProfilerHostEvaluateToGpuValues returns {}", why),
                          not_evaluated, started_, now});
}

void PmSampler::decode(PmOutput& out) {
  if (!running()) return;
  if (!kept_config_) {
    out.images.push_back({"counter_availability", availability_});
    out.images.push_back({"config", plan_.image});
    kept_config_ = true;
  }
  for (int i = 0; i < most_images; ++i) {
    bool overflow = false;
    const bool more = decode_image(out, overflow);
    if (overflow) return restart_slower(out);
    if (!more) return;
  }
}

void PmSampler::restart_slower(PmOutput& out) {
  ++overflows_;
  const OptionalNs from = last_end_ == 0 ? started_ : clock_.to_host(last_end_);
  const std::int64_t before = interval_;
  interval_ = std::min(2 * interval_, std::max(options_.longest_interval_ns, interval_));
  // A new object: decoding after a change of the configuration in place is said to fail at times.
  auto halt = sized<CUpti_PmSampling_Stop_Params>(CUpti_PmSampling_Stop_Params_STRUCT_SIZE);
  halt.pPmSamplingObject = object_;
  (void)api_.cuptiPmSamplingStop(&halt);
  disable();
  start();
  out.losses.push_back({"samples",
                        fmt::format("the hardware buffer overflowed; interval raised from {} to {} "
                                    "ns",
                                    before, interval_),
                        std::nullopt, from, started_});
}

void PmSampler::stop(PmOutput& out) noexcept {
  if (!running()) return;
  try {
    decode(out);  // a buffer that wrapped is said to be readable only while sampling goes on
    auto halt = sized<CUpti_PmSampling_Stop_Params>(CUpti_PmSampling_Stop_Params_STRUCT_SIZE);
    halt.pPmSamplingObject = object_;
    check_cupti(api_.cuptiPmSamplingStop(&halt), "pm", "cuptiPmSamplingStop");
    bool overflow = false;
    for (int i = 0; i < most_images && decode_image(out, overflow); ++i) continue;
    if (!filled_.empty() && last_images_ < most_last_images) {
      out.images.push_back({"counter_data", std::move(filled_)});
      ++last_images_;
    }
    filled_.clear();
  } catch (const std::exception& error) {
    out.losses.push_back({"samples", error.what(), std::nullopt, started_, monotonic_ns()});
  }
  disable();
}

Json PmSampler::describe() const {
  Json counters = Json::object(), refused = Json::object();
  for (const PmCounter& counter : plan_.counters) counters[counter.metric->id] = counter.name;
  for (const PmRefusal& refusal : plan_.refused) refused[refusal.id] = refusal.why;
  return {{"device", ordinal_},
          {"chip", chip_},
          {"counters", counters},
          {"derived", plan_.derived},
          {"refused", refused},
          {"trigger", by_time_ ? "time" : "system clock"},
          {"interval", interval_},
          {"overflows", overflows_},
          {"samples", samples_},
          {"clock_offset_ns", clock_.offset_ns()},
          {"clock_uncertainty_ns", clock_.uncertainty_ns()}};
}

}  // namespace warpmeter
