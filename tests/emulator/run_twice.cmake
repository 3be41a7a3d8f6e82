# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
# Runs PROGRAM in two processes, one of which pauses between calls; output and counters must be the same.
foreach(delay 0 300)
  set(counters ${WORK}/counters_${delay}.json)
  file(REMOVE ${counters})
  execute_process(COMMAND ${CMAKE_COMMAND} -E env WARPMETER_EMULATED_COUNTERS=${counters} ${PROGRAM} ${delay}
    OUTPUT_VARIABLE output_${delay} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${delay}: ${status}\n${output_${delay}}")
  endif()
  file(READ ${counters} counters_${delay})
endforeach()
message("${output_0}")
if(NOT output_0 STREQUAL output_300)
  message(FATAL_ERROR "not the same:\n${output_300}")
endif()
if(NOT counters_0 STREQUAL counters_300 OR counters_0 STREQUAL "")
  message(FATAL_ERROR "${WORK}/counters_0.json and counters_300.json are not the same, or empty")
endif()
