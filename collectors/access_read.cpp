// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The real readings: files of /proc, the environment, NVML, the version of CUPTI.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "collectors/access.h"
#include "collectors/cupti_library.h"
#include "core/error.h"
#include "cuda/nvml_api.h"

namespace warpmeter {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> file_text(const fs::path& file) {
  std::ifstream in(file);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return all;
}

std::vector<std::string> process_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string name = file_text(entry.path() / "comm").value_or("");
    while (!name.empty() && name.back() == '\n') name.pop_back();
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

bool mps_pipe_is_there(const std::map<std::string, std::string>& variables) {
  const auto named = variables.find("CUDA_MPS_PIPE_DIRECTORY");
  const fs::path folder = named == variables.end() ? "/tmp/nvidia-mps" : named->second;
  std::error_code ignored;
  return fs::exists(folder / "control", ignored);
}

void read_cupti(AccessReadings& r) {
  try {
    std::string place;
    const SharedLibrary library = open_cupti(place);
    r.cupti = library.path();
    int (*version)(std::uint32_t*) = nullptr;  // cuptiGetVersion: needs no driver
    library.bind("cuptiGetVersion", version);
    std::uint32_t number = 0;
    if (version == nullptr || version(&number) != 0)
      r.cupti_why = r.cupti + " does not say its version; use the CUPTI of CUDA 13.0 or newer";
    r.cupti_version = number;
  } catch (const InputError& error) {
    r.cupti_why = error.what();
  }
}

GpuReading read_gpu(const NvmlApi& nvml, const TargetDevice& device) {
  static constexpr const char* modes[] = {"none", "passthrough", "vgpu", "host_vgpu",
                                          "host_vsga"};  // nvmlGpuVirtualizationMode_t
  GpuReading reading;
  reading.uuid = device.uuid;
  if (device.uuid.rfind("MIG-", 0) == 0) reading.mig = true;
  NvmlDevice gpu = nullptr;
  if (nvml.handle_by_uuid == nullptr || nvml.handle_by_uuid(device.uuid.c_str(), &gpu) != 0)
    return reading;
  unsigned int current = 0, pending = 0;
  if (!reading.mig && nvml.mig_mode != nullptr && nvml.mig_mode(gpu, &current, &pending) == 0)
    reading.mig = current == 1;
  int mode = -1;
  if (nvml.virtualization_mode != nullptr && nvml.virtualization_mode(gpu, &mode) == 0 &&
      mode >= 0 && mode < static_cast<int>(std::size(modes)))
    reading.virtualization = modes[mode];
  NvmlGpmSupport support{nvml_gpm_version, 0};
  if (nvml.gpm_support != nullptr && nvml.gpm_support(gpu, &support) == 0)
    reading.gpm = support.supported != 0;
  return reading;
}

void read_nvml(AccessReadings& r) {
  const NvmlApi* nvml = open_nvml(r.nvml_why);
  if (nvml == nullptr) return;
  for (const TargetDevice& device : r.driver.devices) r.gpus.push_back(read_gpu(*nvml, device));
  NvmlConfidentialState state{};
  if (nvml->confidential_state == nullptr || nvml->confidential_state(&state) != 0) return;
  r.confidential = state.feature == 1;
  r.developer_tools = state.developer_tools == 1;
}

}  // namespace

AccessReadings read_access(DriverGate driver, std::string own_library) {
  AccessReadings r;
  r.driver = std::move(driver);
  r.own_library = std::move(own_library);
  r.driver_parameters = file_text("/proc/driver/nvidia/params");
  r.process_status = file_text("/proc/self/status").value_or("");
  r.user_map = file_text("/proc/self/uid_map").value_or("");
  r.user = geteuid();
  r.kernel = file_text("/proc/sys/kernel/osrelease").value_or("");
  std::error_code ignored;
  r.mig_capabilities = fs::exists("/dev/nvidia-caps", ignored);
  r.environment = environment();
  r.mps = mps_pipe_is_there(r.environment);
  r.emulated = std::any_of(
      r.driver.devices.begin(), r.driver.devices.end(),
      [](const TargetDevice& device) { return device.name.rfind("warpmeter emulated ", 0) == 0; });
  r.processes = process_names();
  read_cupti(r);
  r.maps = file_text("/proc/self/maps").value_or("");  // holds CUPTI now
  read_nvml(r);
  return r;
}

}  // namespace warpmeter
