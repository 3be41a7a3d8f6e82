// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/calibrator/field_curves.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace warpmeter::test {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789.") == std::string::npos;
}

// Which whitespace-separated words of a line hold x and y.
struct Columns {
  std::size_t x, y;
  double x_scale;
};

Columns columns_of(const std::string& file) {
  if (file.find("markdewing") != std::string::npos) return {0, 3, 1};
  if (file.find("gpu-l2-cache") != std::string::npos) return {2, 6, 1};
  if (file.find("gpu-cache") != std::string::npos) return {0, 4, 1};
  return {2, 4, 1024};  // gpu-latency and random_latency print kB
}

}  // namespace

std::string read_shared(const std::string& path) {
  std::ifstream stream(std::string(WARPMETER_SHARED_DATA) + "/" + path);
  if (!stream) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

FieldCurve read_plateau_curve(const std::string& file) {
  const Columns columns = columns_of(file);
  std::istringstream stream(read_shared("reference/" + file));
  std::map<double, double> points;  // repeated sizes keep the last value
  for (std::string line; std::getline(stream, line);) {
    const auto words = split(line);
    if (words.size() <= std::max(columns.x, columns.y) || !is_number(words[0])) continue;
    points[std::stod(words[columns.x]) * columns.x_scale] = std::stod(words[columns.y]);
  }
  FieldCurve curve;
  for (const auto& [x, y] : points) {
    curve.x.push_back(x);
    curve.y.push_back(y);
  }
  return curve;
}

FieldCurve read_small_kernels(const std::string& file) {
  std::istringstream stream(read_shared("reference/" + file));
  FieldCurve curve;
  for (std::string line; std::getline(stream, line);) {
    const auto words = split(line);
    if (words.size() < 3 || !is_number(words[0])) continue;
    double best = 0;
    for (std::size_t i = 2; i < words.size(); ++i) best = std::max(best, std::stod(words[i]));
    const double bytes = std::stod(words[0]) * 16;
    curve.x.push_back(bytes);
    curve.y.push_back(bytes / (best * 1e9));
  }
  return curve;
}

}  // namespace warpmeter::test
