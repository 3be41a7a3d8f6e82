// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/roofline.h"

#include "model/predict.h"
#include "model/resources.h"

namespace warpmeter {
namespace {

bool is_roof(const std::string& name) {
  if (name.starts_with("throughput.fma.")) return name.ends_with(".device.sustained");
  if (name.starts_with("throughput.mma.")) return name.ends_with(".device");
  return name.starts_with("bandwidth.") && name.ends_with(".read.device");
}

double operations(const Machine& machine, const Work& work) {
  double sum = 0;
  for (const auto& [type, count] : work.ops) {
    sum += type == "exp" ? count * exp_as_f32_ops(machine) : count;
  }
  return sum;
}

}  // namespace

Roofline roofline_of(const Machine& machine, const Run& kernels) {
  Roofline roofline;
  for (const auto& [name, parameter] : machine.parameters) {
    if (!is_roof(name) || !parameter.value) continue;
    roofline.ceilings.push_back({name, *parameter.value, parameter.unit, parameter.interval});
  }
  for (const Measurement* m : with_quantity(kernels, "kernel.time")) {
    if (!usable(m->verdict) || !m->value || !(*m->value > 0) || !m->work) continue;
    const double ops = operations(machine, *m->work);
    const double bytes = m->work->bytes_read + m->work->bytes_written;
    if (!(ops > 0) || !(bytes > 0)) continue;
    RooflinePoint point;
    point.id = m->id;
    point.name = word(m->parameters, "kernel").value_or("");
    point.family = word(m->parameters, "family").value_or("");
    point.type = word(m->parameters, "type").value_or("");
    point.threads = number(m->parameters, "threads").value_or(0);
    point.intensity = ops / bytes;
    point.ops_per_s = ops / *m->value;
    if (m->interval && m->interval->lo > 0) {
      point.interval = Interval{ops / m->interval->hi, ops / m->interval->lo};
    }
    point.bound = predict(machine, *m->work, m->parameters).bound;
    roofline.points.push_back(std::move(point));
  }
  return roofline;
}

}  // namespace warpmeter
