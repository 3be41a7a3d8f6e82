// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

// A function that is defined elsewhere too is that one. Says CUPTI_ERROR_NOT_SUPPORTED.
#define EMULATOR_CUPTI_STUB(name) \
  __attribute__((visibility("default"), weak)) int name() { return 27; }
