// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// A stand-in for libcuda.so.1 that answers as STAND_IN_CUDA says: "ok", "old", "no_device",
// "empty", "not_ready", "mismatch", "strange", "broken".
#include <cstdlib>
#include <cstring>

namespace {

bool is(const char* answer) {
  const char* planted = std::getenv("STAND_IN_CUDA");
  return planted != nullptr && std::strcmp(planted, answer) == 0;
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = is("old") ? 12090 : 13020;
  return 0;
}

int cuInit(unsigned int) {
  if (is("no_device")) return 100;
  if (is("not_ready")) return 802;
  if (is("mismatch")) return 803;
  if (is("strange")) return 4711;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = is("empty") ? 0 : 2;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = 10 + ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int length, int device) {
  std::strncpy(name, device == 10 ? "Planted GPU" : "Planted GPU MIG 1g.10gb",
               static_cast<std::size_t>(length));
  return 0;
}

int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(16 * (device - 10) + i);
  return is("broken") ? 999 : 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  if (attribute == 16) *value = 132;
  if (attribute == 75) *value = 9;
  if (attribute == 76) *value = 3;
  return 0;
}

int cuGetErrorName(int error, const char** name) {
  if (error == 4711) return 1;
  *name = error == 802   ? "CUDA_ERROR_SYSTEM_NOT_READY"
          : error == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
                         : "CUDA_ERROR_UNKNOWN";
  return 0;
}

}  // extern "C"
