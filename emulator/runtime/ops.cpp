// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What each kind of work does and how long it takes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "emulator/runtime/call.h"
#include "emulator/runtime/stream.h"
#include "emulator/runtime/trace.h"

namespace emulator {
namespace {

Time ps(double ns) { return std::llround(ns * 1e3); }

OpPtr new_op(int device) {
  auto op = std::make_shared<Op>();
  op->device = device;
  op->enqueued = engine().now();
  if (current_call() != nullptr) {
    op->origin.correlation = current_call()->site.correlation;
    op->origin.async = std::strstr(current_call()->site.function, "Async") != nullptr;
  }
  return op;
}

enum class Route : std::uint8_t { on_device, to_device, to_host, peer, staged, on_host };

struct Path {
  Route route;
  int engine_device;
};

// Copies between devices of which neither may address the other pass through the host.
bool linked(int a, int b) {
  const auto& devices = engine().devices();
  return devices[static_cast<std::size_t>(a)]->peers.contains(b) ||
         devices[static_cast<std::size_t>(b)]->peers.contains(a);
}

Path path_of(const void* to, const void* from, int device) {
  const Allocation* target = memory().live(reinterpret_cast<std::uint64_t>(to));
  const Allocation* source = memory().live(reinterpret_cast<std::uint64_t>(from));
  const bool to_device = target != nullptr && !target->on_host();
  const bool from_device = source != nullptr && !source->on_host();
  if (to_device && from_device) {
    if (target->device == source->device) return {Route::on_device, target->device};
    return {linked(target->device, source->device) ? Route::peer : Route::staged, source->device};
  }
  if (to_device) return {Route::to_device, target->device};
  if (from_device) return {Route::to_host, source->device};
  return {Route::on_host, device};
}

// A copy engine takes one copy at a time. With one engine all directions share it; with two, one
// serves each direction to the host; more serve peers.
Time& engine_free(int device, Route route) {
  static std::map<std::pair<int, std::int64_t>, Time> free;
  const std::int64_t count = the_chip().copy_engines;
  std::int64_t index = 0;
  if (route == Route::to_host || route == Route::staged)
    index = std::min<std::int64_t>(1, count - 1);
  if (route == Route::peer || route == Route::on_device)
    index = std::min<std::int64_t>(2, count - 1);
  return free[{device, index}];
}

double rate_of(Route route) {
  const Chip& chip = the_chip();
  switch (route) {
    case Route::on_device:
      return chip.dram_bytes_per_second / 2;  // read and write
    case Route::peer:
      return chip.peer_bytes_per_second;
    default:
      return chip.host_bytes_per_second;
  }
}

void move_bytes(void* to, const void* from, const CopyShape& shape) {
  for (std::size_t row = 0; row < shape.rows; ++row) {
    std::memmove(static_cast<std::byte*>(to) + row * shape.to_pitch,
                 static_cast<const std::byte*>(from) + row * shape.from_pitch, shape.width);
    memory().note_written(reinterpret_cast<std::uint64_t>(to) + row * shape.to_pitch, shape.width);
  }
}

void note_copy(void* to, const void* from, const CopyShape& shape) {
  for (const void* side : {static_cast<const void*>(to), from}) {
    const auto address = reinterpret_cast<std::uint64_t>(side);
    const Allocation* found = memory().live(address);
    if (found == nullptr || found->on_host()) continue;
    engine().devices()[static_cast<std::size_t>(found->device)]->model().copied(
        address, shape.width * shape.rows);
  }
}

// One JSON line per launch to the file that WARPMETER_EMULATED_COUNTERS names. Of kernels that run
// at the same time, each line counts what all of them did.
void log_counters(const Grid& grid) {
  static const char* const path = std::getenv("WARPMETER_EMULATED_COUNTERS");
  if (path == nullptr) return;
  std::ofstream file(path, std::ios::app);
  const Counters delta = grid.device->model().counters - grid.counters_at_begin;
  file
      << fmt::format(
             R"({{"kernel": "{}", "device": {}, "blocks": {}, "threads": {}, "cycles": {}, "counters": {}}})",
             grid.program->name, grid.device->ordinal(), grid.blocks(), grid.block.count(),
             grid.end_cycle - grid.begin_cycle, to_json(delta))
      << "\n";
}

Place place_of(const void* pointer) {
  const Allocation* found = memory().live(reinterpret_cast<std::uint64_t>(pointer));
  if (found == nullptr) return Place::pageable;
  if (found->on_host()) return Place::pinned;
  if (found->kind == MemoryKind::managed) return Place::managed;
  return found->kind == MemoryKind::code ? Place::code : Place::device;
}

int device_of(const void* pointer, int otherwise) {
  const Allocation* found = memory().live(reinterpret_cast<std::uint64_t>(pointer));
  return found == nullptr || found->on_host() ? otherwise : found->device;
}

void tell_copy(const Op& op, const void* to, const void* from, const CopyShape& shape, Time begin,
               Time end) {
  Work work = work_of(op, Work::Kind::copy, begin, end);
  work.bytes = shape.width * shape.rows;
  work.from = place_of(from);
  work.to = place_of(to);
  work.from_device = device_of(from, op.device);
  work.to_device = device_of(to, op.device);
  work.async = op.origin.async;
  tell_work(work);
}

void tell_fill(const Op& op, const void* to, std::byte value, const CopyShape& shape, Time begin,
               Time end) {
  Work work = work_of(op, Work::Kind::fill, begin, end);
  work.bytes = shape.width * shape.rows;
  work.value = static_cast<std::uint32_t>(value);
  work.to = place_of(to);
  work.async = op.origin.async;
  tell_work(work);
}

}  // namespace

MakeOp make_marker(int device) {
  return [device] {
    const OpPtr op = new_op(device);
    op->start = [](Op& self, Time time) { engine().end(self, time); };
    return op;
  };
}

MakeOp make_host_function(int device, std::function<void()> function) {
  return [device, function = std::move(function)] {
    const OpPtr op = new_op(device);
    op->start = [function](Op& self, Time time) {
      function();
      engine().end(self, time);
    };
    return op;
  };
}

MakeOp make_copy(int device, void* to, const void* from, CopyShape shape) {
  return [=] {
    const OpPtr op = new_op(device);
    op->gap = ps(the_chip().dependent_ns);
    op->start = [to, from, shape, device](Op& self, Time time) {
      const Path path = path_of(to, from, device);
      Time& free = engine_free(path.engine_device, path.route);
      const double bytes = static_cast<double>(shape.width) * static_cast<double>(shape.rows);
      const Time begin = std::max(time, free);
      const double latency = the_chip().copy_latency_ns * (path.route == Route::staged ? 2 : 1);
      const Time end = begin + ps(latency) + ps(1e9 * bytes / rate_of(path.route));
      // The latency of one copy overlaps with the transfer of the one before.
      free = begin + ps(1e9 * bytes / rate_of(path.route));
      engine().at(end, [keep = self.shared_from_this(), to, from, shape, begin, end] {
        if (keep->done) return;
        if (listener() != nullptr) tell_copy(*keep, to, from, shape, begin, end);
        move_bytes(to, from, shape);
        note_copy(to, from, shape);
        engine().end(*keep, end);
      });
    };
    return op;
  };
}

MakeOp make_fill(int device, void* to, std::vector<std::byte> pattern, CopyShape shape) {
  return [=] {
    const OpPtr op = new_op(device);
    op->gap = ps(the_chip().dependent_ns);
    op->start = [to, pattern, shape](Op& self, Time time) {
      const Time begin = time;
      const double bytes = static_cast<double>(shape.width) * static_cast<double>(shape.rows);
      const Time end =
          time + ps(the_chip().launch_ns / 4 + 1e9 * bytes / the_chip().dram_bytes_per_second);
      engine().at(end, [keep = self.shared_from_this(), to, pattern, shape, begin, end] {
        if (keep->done) return;
        if (listener() != nullptr) tell_fill(*keep, to, pattern[0], shape, begin, end);
        for (std::size_t row = 0; row < shape.rows; ++row) {
          std::byte* at = static_cast<std::byte*>(to) + row * shape.to_pitch;
          for (std::size_t i = 0; i < shape.width; ++i) at[i] = pattern[i % pattern.size()];
          memory().note_written(reinterpret_cast<std::uint64_t>(at), shape.width);
        }
        note_copy(to, to, shape);
        engine().end(*keep, end);
      });
    };
    return op;
  };
}

MakeOp make_release(int device, std::shared_ptr<Prerequisite> prerequisite) {
  return [device, prerequisite] {
    const OpPtr op = new_op(device);
    op->start = [device, prerequisite](Op& self, Time time) {
      engine().devices()[static_cast<std::size_t>(device)]->meet(*prerequisite, time);
      engine().end(self, time);
    };
    return op;
  };
}

MakeOp make_kernel(int device, std::shared_ptr<const Grid> launch) {
  return [device, launch] {
    const OpPtr op = new_op(device);
    op->enqueued += ps(the_chip().launch_ns);
    op->gap = ps(the_chip().dependent_ns);
    op->trigger = new_op(device);
    op->start = [launch, device](Op& self, Time time) {
      static std::uint64_t count = 0;
      auto grid = std::make_shared<Grid>(*launch);
      grid->id = ++count;
      grid->on_trigger = [trigger = self.trigger, device](std::uint64_t cycle) {
        const Time when = engine().devices()[static_cast<std::size_t>(device)]->time_of(cycle);
        engine().at(when, [trigger, when] {
          if (!trigger->done) engine().end(*trigger, when);
        });
      };
      engine().devices()[static_cast<std::size_t>(device)]->launch(
          grid, time, [keep = self.shared_from_this()](Grid& ended, Time end) {
            log_counters(ended);
            tell_kernel(*keep, ended, end);
            engine().at(end, [keep, end] {
              if (!keep->done) engine().end(*keep, end);
            });
          });
    };
    return op;
  };
}

OpPtr launch_graph(const Graph& graph, const Stream& stream, const std::vector<OpPtr>& waits,
                   std::uint32_t exec_id) {
  const int device = stream.device;
  std::vector<OpPtr> ops;
  const Time begin = engine().now() + ps(the_chip().launch_ns);
  const OpPtr last = make_marker(device)();
  for (const Graph::Node& node : graph.nodes) {
    std::vector<OpPtr> dependencies;
    for (const std::size_t index : node.dependencies) dependencies.push_back(ops[index]);
    if (node.child != nullptr) {
      ops.push_back(
          launch_graph(*node.child, stream, dependencies.empty() ? waits : dependencies, exec_id));
      continue;
    }
    const OpPtr op = node.make();
    op->origin.stream = stream.id;
    op->origin.graph = exec_id;
    op->origin.node = node.id;
    op->enqueued = begin;
    op->gap = ps(dependencies.empty() ? the_chip().dependent_ns : the_chip().graph_node_ns);
    if (dependencies.empty()) dependencies = waits;
    engine().submit(op, dependencies);
    ops.push_back(op);
  }
  std::vector<OpPtr> all = ops;
  all.insert(all.end(), waits.begin(), waits.end());
  engine().submit(last, all);
  return last;
}

}  // namespace emulator
