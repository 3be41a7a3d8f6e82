// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A program that knows only the driver: cuInit injects, once.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <type_traits>

int main() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto find = [driver](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(driver, name));
    return function != nullptr;
  };
  CUresult (*init)(unsigned int) = nullptr;
  CUresult (*version)(int*) = nullptr;
  CUresult (*count)(int*) = nullptr;
  CUresult (*name)(char*, int, CUdevice) = nullptr;
  CUresult (*attribute)(int*, CUdevice_attribute, CUdevice) = nullptr;
  CUresult (*retain)(CUcontext*, CUdevice) = nullptr;
  CUresult (*current)(CUcontext*) = nullptr;
  CUresult (*set_current)(CUcontext) = nullptr;
  CUresult (*address)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*) =
      nullptr;
  if (!find(init, "cuInit") || !find(version, "cuDriverGetVersion") ||
      !find(count, "cuDeviceGetCount") || !find(name, "cuDeviceGetName") ||
      !find(attribute, "cuDeviceGetAttribute") || !find(retain, "cuDevicePrimaryCtxRetain") ||
      !find(current, "cuCtxGetCurrent") || !find(set_current, "cuCtxSetCurrent") ||
      !find(address, "cuGetProcAddress_v2")) {
    return 1;
  }
  int devices = -1;
  std::printf("before %d\n", count(&devices));
  std::printf("init %d %d\n", init(0), init(0));
  int number = 0;
  version(&number);
  count(&devices);
  char text[64] = "";
  name(text, sizeof text, 0);
  int sms = 0;
  attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  std::printf("version %d\ndevices %d\nname %s\nsms %d\n", number, devices, text, sms);
  CUcontext context = nullptr;
  CUcontext now = nullptr;
  const CUresult retained = retain(&context, 0);
  set_current(context);
  current(&now);
  std::printf("context %d %d\n", retained, context != nullptr && context == now);
  void* function = nullptr;
  CUdriverProcAddressQueryResult found{};
  address("cuInit", &function, 13000, 0, &found);
  std::printf("address %d\n", function == reinterpret_cast<void*>(init));
  return 0;
}
