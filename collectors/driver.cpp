// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/driver.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "core/cuda_text.h"
#include "core/shared_library.h"

namespace warpmeter {
namespace {

constexpr const char* file = "libcuda.so.1";
constexpr int oldest_version = 13000;

// Numbers of cuda.h (CUDA driver API), declared here so that nothing needs the toolkit.
constexpr int error_stub_library = 34, error_no_device = 100;
constexpr int error_system_not_ready = 802, error_driver_mismatch = 803;
constexpr int attribute_multiprocessors = 16, attribute_major = 75, attribute_minor = 76;

struct Uuid {
  std::array<unsigned char, 16> bytes;
};

struct Driver {
  int (*init)(unsigned int) = nullptr;
  int (*version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*device)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*uuid)(Uuid*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*error_name)(int, const char**) = nullptr;

  // Null if all are there, else the first that is not.
  const char* bind(const SharedLibrary& library) {
    library.bind("cuInit", init);
    library.bind("cuDriverGetVersion", version);
    library.bind("cuDeviceGetCount", count);
    library.bind("cuDeviceGet", device);
    library.bind("cuDeviceGetName", name);
    library.bind("cuDeviceGetUuid_v2", uuid);
    library.bind("cuDeviceGetAttribute", attribute);
    library.bind("cuGetErrorName", error_name);
    return library.missing();
  }

  std::string describe(int error) const {
    const char* text = nullptr;
    if (error == error_stub_library) return "CUDA_ERROR_STUB_LIBRARY (34)";  // has no names itself
    if (error_name(error, &text) != 0 || text == nullptr) return fmt::format("error {}", error);
    return fmt::format("{} ({})", text, error);
  }
};

std::string no_device() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr)
    return fmt::format(
        "no CUDA device is visible: CUDA_VISIBLE_DEVICES is \"{}\"; unset it, or "
        "name a device that nvidia-smi -L lists",
        visible);
  return "the driver sees no CUDA device; compare with nvidia-smi -L, and give the container its "
         "devices (--gpus all)";
}

std::string refused(const Driver& driver, int error) {
  if (error == error_no_device) return no_device();
  const std::string what = "cuInit: " + driver.describe(error);
  switch (error) {
    case error_stub_library:
      return what +
             ": the toolkit's stub is in the place of libcuda.so.1; take the stubs folder "
             "out of LD_LIBRARY_PATH";
    case error_system_not_ready:
      return what + ": start the fabric manager (nvidia-fabricmanager), or wait for it";
    case error_driver_mismatch:
      return what + ": libcuda.so.1 and the kernel's driver differ; install one version, or reboot";
    default:
      return what + "; compare with nvidia-smi, which needs the same driver";
  }
}

std::string uuid_text(const Uuid& uuid, const std::string& name) {
  // A MIG instance is a device with a UUID of its own, and its name says so.
  return cuda_uuid_text(name.find(" MIG ") == std::string::npos ? "GPU" : "MIG", uuid.bytes);
}

// Empty if `device` is filled; else why not.
std::string read_device(const Driver& driver, int ordinal, TargetDevice& device) {
  int handle = 0;
  std::array<char, 256> name{};
  Uuid uuid{};
  const std::pair<const char*, int> calls[] = {
      {"cuDeviceGet", driver.device(&handle, ordinal)},
      {"cuDeviceGetName", driver.name(name.data(), static_cast<int>(name.size()) - 1, handle)},
      {"cuDeviceGetUuid_v2", driver.uuid(&uuid, handle)},
      {"cuDeviceGetAttribute", driver.attribute(&device.major, attribute_major, handle)},
      {"cuDeviceGetAttribute", driver.attribute(&device.minor, attribute_minor, handle)},
      {"cuDeviceGetAttribute",
       driver.attribute(&device.multiprocessors, attribute_multiprocessors, handle)},
  };
  for (const auto& [call, error] : calls)
    if (error != 0)
      return fmt::format("{} of device {}: {}; compare with nvidia-smi", call, ordinal,
                         driver.describe(error));
  device.name = name.data();
  device.uuid = uuid_text(uuid, device.name);
  return "";
}

std::string ask(const Driver& driver, DriverGate& gate) {
  // Needs no cuInit, and an old driver may fail there for its age.
  if (driver.version(&gate.version) != 0) gate.version = 0;
  if (gate.version != 0 && gate.version < oldest_version)
    return fmt::format("the driver is of CUDA {}; install one of CUDA 13 (580 or newer)",
                       cuda_version_text(gate.version));
  if (const int error = driver.init(0); error != 0) return refused(driver, error);
  if (gate.version == 0) return "the driver does not say its version; install 580 or newer";
  int count = 0;
  if (const int error = driver.count(&count); error != 0)
    return "cuDeviceGetCount: " + driver.describe(error) + "; compare with nvidia-smi";
  if (count == 0) return no_device();
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    TargetDevice device;
    if (const std::string why = read_device(driver, ordinal, device); !why.empty()) return why;
    gate.devices.push_back(std::move(device));
  }
  return "";
}

}  // namespace

DriverGate pass_driver_gate() {
  DriverGate gate;
  const SharedLibrary library = SharedLibrary::open(file, gate.why);
  if (!library) {
    gate.why =
        "no CUDA driver: " + gate.why + "; install 580 or newer, or mount it into the container";
    return gate;
  }
  gate.path = library.path();
  Driver driver;
  if (const char* missing = driver.bind(library)) {
    gate.why =
        fmt::format("{} has no {}; install a driver of CUDA 13 (580 or newer)", gate.path, missing);
    return gate;
  }
  gate.why = ask(driver, gate);
  if (!gate.passed()) gate.devices.clear();
  return gate;
}

}  // namespace warpmeter
