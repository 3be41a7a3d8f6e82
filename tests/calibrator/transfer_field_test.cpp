// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "calibrator/transfer.h"
#include "core/stats.h"
#include "tests/calibrator/field_curves.h"

namespace warpmeter::test {
namespace {

using Expected = nlohmann::json;

TEST(TransferField, AlphaBetaAgreesWithElevenPublishedCurves) {
  const Expected all = Expected::parse(read_shared("reference/raw/expected_alpha_beta.json"));
  ASSERT_EQ(all.size(), 11u);
  for (const Expected& expected : all) {
    const FieldCurve curve = read_small_kernels(expected["file"]);
    std::vector<double> sizes, times;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (curve.x[i] < expected["range_bytes"][0] || curve.x[i] > expected["range_bytes"][1]) {
        continue;
      }
      sizes.push_back(curve.x[i]);
      times.push_back(curve.y[i]);
    }
    SCOPED_TRACE(expected["file"].get<std::string>());
    EXPECT_EQ(sizes.size(), expected["points"]);
    const auto fit = fit_alpha_beta(sizes, times);
    ASSERT_TRUE(fit);
    const double alpha = expected["alpha_us"].get<double>() * 1e-6;
    const double beta = expected["beta_GBps"].get<double>() * 1e9;
    fmt::print("{}: alpha {:.3f} us ({:+.1f} %), beta {:.0f} GB/s ({:+.1f} %)\n",
               expected["file"].get<std::string>(), fit->alpha * 1e6,
               100 * (fit->alpha / alpha - 1), fit->beta * 1e-9, 100 * (fit->beta / beta - 1));
    EXPECT_NEAR(fit->alpha / alpha, 1, 0.10);
    EXPECT_NEAR(fit->beta / beta, 1, 0.10);
  }
}

// One curve of the collectives of simllm's A100 and GH200 campaigns: bytes and seconds.
FieldCurve collective(const Expected& lane, const Expected& expected) {
  std::map<double, double> points;
  for (const Expected& record : lane["collectives"]) {
    if (record["op"] != expected["op"] || record["width"] != expected["width"]) continue;
    if (!record.contains("time_us") || record["time_us"].is_null()) continue;
    points[record["bytes"]] = record["time_us"].get<double>() * 1e-6;
  }
  FieldCurve curve;
  for (const auto& [bytes, time] : points) {
    curve.x.push_back(bytes);
    curve.y.push_back(time);
  }
  return curve;
}

TEST(TransferField, FormsAgreeWithIndependentFitsOfSixteenCollectives) {
  const Expected expected = Expected::parse(read_shared("models/simllm/expected_fits.json"));
  std::map<std::string, Expected> lanes;
  std::vector<double> alpha_beta, p_norm, piecewise;
  for (const Expected& entry : expected["collectives"]) {
    const std::string file = entry["file"];
    if (!lanes.contains(file)) lanes[file] = Expected::parse(read_shared("models/simllm/" + file));
    const FieldCurve curve = collective(lanes[file], entry);
    SCOPED_TRACE(entry.dump().substr(0, 80));
    ASSERT_EQ(curve.x.size(), entry["points"]);
    const TransferFits fits = fit_transfer(curve.x, curve.y);
    ASSERT_TRUE(fits.alpha_beta && fits.p_norm && fits.piecewise);
    // Tolerances of the file: bandwidth 3 %, exponent 0.05.
    EXPECT_NEAR(fits.alpha_beta->beta * 1e-9 / entry["alpha_beta"]["B_GBps"].get<double>(), 1,
                0.03);
    EXPECT_NEAR(fits.alpha_beta->alpha * 1e6 / entry["alpha_beta"]["alpha_us"].get<double>(), 1,
                0.03);
    EXPECT_NEAR(fits.p_norm->form.b * 1e-9 / entry["pnorm"]["B_GBps"].get<double>(), 1, 0.03);
    EXPECT_NEAR(fits.p_norm->form.a * 1e6 / entry["pnorm"]["a_us"].get<double>(), 1, 0.03);
    EXPECT_NEAR(fits.p_norm->form.p, entry["pnorm"]["p"].get<double>(), 0.05);
    alpha_beta.push_back(fits.alpha_beta_error->mape);
    p_norm.push_back(fits.p_norm_error->mape);
    piecewise.push_back(fits.piecewise_error->mape);
  }
  ASSERT_EQ(p_norm.size(), 16u);
  fmt::print(
      "leave-one-out error, median of 16: alpha-beta {:.1f} %, p-norm {:.1f} %, piecewise "
      "{:.1f} %\n",
      100 * *median(alpha_beta), 100 * *median(p_norm), 100 * *median(piecewise));
  const Expected& error = expected["leave_one_out_over_16_curves"];
  const double tolerance = 2;  // percentage points, stated by the file
  EXPECT_NEAR(100 * *median(alpha_beta), error["alpha_beta"]["median"], tolerance);
  EXPECT_NEAR(100 * *median(p_norm), error["pnorm"]["median"], tolerance);
  EXPECT_NEAR(100 * *median(piecewise), error["linear_3_segments"]["median"], tolerance);
}

}  // namespace
}  // namespace warpmeter::test
