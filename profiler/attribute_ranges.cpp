// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/attribute_ranges.h"

#include <fmt/format.h>

#include <tuple>
#include <vector>

#include "profiler/sqlite.h"

namespace warpmeter {
namespace {

struct OpenRange {
  std::int64_t id, end_ns;
};

// Walks events and ranges side by side, both by process, thread and time. Ranges of different
// domains need not nest, so that closed ones are taken out wherever they stand.
class RangeSweep {
 public:
  explicit RangeSweep(sqlite::Connection& connection)
      : ranges_(connection.prepare(
            "SELECT process_id, thread, start_ns, id, end_ns FROM main.ranges WHERE kind = "
            "'push_pop' AND thread IS NOT NULL ORDER BY process_id, thread, start_ns, id")) {
    next();
  }

  // Events must come in order. 0: none is open.
  std::int64_t innermost(std::int64_t process, std::int64_t thread, std::int64_t time) {
    const std::tuple<std::int64_t, std::int64_t> place{process, thread};
    if (place != place_) open_.clear();
    place_ = place;
    while (more_ && std::tuple{at_process_, at_thread_} < place) next();
    while (more_ && std::tuple{at_process_, at_thread_} == place && at_start_ <= time) {
      open_.push_back(at_);
      next();
    }
    std::erase_if(open_, [&](const OpenRange& range) { return range.end_ns < time; });
    return open_.empty() ? 0 : open_.back().id;
  }

 private:
  void next() {
    more_ = ranges_.step();
    if (!more_) return;
    at_process_ = ranges_.integer(0);
    at_thread_ = ranges_.integer(1);
    at_start_ = ranges_.integer(2);
    const auto end = ranges_.cell(4);
    const auto* known = std::get_if<std::int64_t>(&end);
    at_ = {ranges_.integer(3), known != nullptr ? *known : INT64_MAX};
  }

  sqlite::Statement ranges_;
  bool more_ = false;
  std::int64_t at_process_ = 0, at_thread_ = 0, at_start_ = 0;
  OpenRange at_{};
  std::tuple<std::int64_t, std::int64_t> place_{-1, -1};
  std::vector<OpenRange> open_;
};

// `events`: a table with process_id, thread, the time `column` and id. The answers go into a table
// of their own, because rows that are walked must not change.
void sweep(sqlite::Connection& connection, const char* events, const char* column) {
  connection.execute(
      fmt::format("CREATE TEMP TABLE range_of_{}(id INTEGER PRIMARY KEY, range INTEGER)", events));
  sqlite::Statement put =
      connection.prepare(fmt::format("INSERT INTO range_of_{} VALUES(?, ?)", events));
  sqlite::Statement walk = connection.prepare(
      fmt::format("SELECT process_id, thread, {1}, id FROM main.{0} ORDER BY process_id, thread, "
                  "{1}, id",
                  events, column));
  RangeSweep ranges(connection);
  while (walk.step()) {
    const std::int64_t range = ranges.innermost(walk.integer(0), walk.integer(1), walk.integer(2));
    if (range != 0) put.bind(walk.integer(3), range).run();
  }
}

// The first node of each chain of clones tells the capture.
constexpr const char* follow_nodes =
    "CREATE TEMP TABLE node_of(process INTEGER, node INTEGER, source INTEGER, event INTEGER, "
    "PRIMARY KEY(process, node)) WITHOUT ROWID;"
    "INSERT OR REPLACE INTO node_of SELECT process_id, node, source_node, id FROM "
    "main.graph_nodes ORDER BY id;"
    "CREATE TEMP TABLE capture_of(process INTEGER, node INTEGER, range INTEGER, "
    "PRIMARY KEY(process, node)) WITHOUT ROWID;"
    "INSERT INTO capture_of WITH RECURSIVE chain(process, node, at, event, depth) AS ("
    "SELECT process, node, node, event, 0 FROM node_of UNION ALL "
    "SELECT c.process, c.node, s.node, s.event, c.depth + 1 FROM chain c "
    "JOIN node_of n ON n.process = c.process AND n.node = c.at "
    "JOIN node_of s ON s.process = c.process AND s.node = n.source WHERE c.depth < 64) "
    "SELECT process, node, (SELECT range FROM range_of_graph_nodes WHERE id = event) FROM chain "
    "GROUP BY process, node HAVING depth = max(depth);"
    "UPDATE main.kernels SET capture_range_id = (SELECT range FROM capture_of c WHERE c.process = "
    "kernels.process_id AND c.node = kernels.graph_node) WHERE graph IS NOT NULL AND "
    "capture_range_id IS NULL;";

constexpr const char* follow_calls =
    "UPDATE main.api SET range_id = (SELECT range FROM range_of_api r WHERE r.id = api.id) WHERE "
    "range_id IS NULL;"
    "CREATE TEMP TABLE range_of_call(process INTEGER, correlation INTEGER, range INTEGER, "
    "PRIMARY KEY(process, correlation)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO range_of_call SELECT process_id, correlation, range_id FROM main.api "
    "WHERE correlation IS NOT NULL AND range_id IS NOT NULL;";

}  // namespace

void attribute_ranges(sqlite::Connection& connection) {
  if (connection.integer("SELECT count(*) FROM main.ranges WHERE kind = 'push_pop'") == 0) return;
  sweep(connection, "api", "start_ns");
  sweep(connection, "graph_nodes", "time_ns");
  connection.execute(follow_calls);
  for (const char* table : {"kernels", "copies", "sets"})
    connection.execute(fmt::format(
        "UPDATE main.{0} SET range_id = (SELECT range FROM range_of_call c WHERE c.process = "
        "{0}.process_id AND c.correlation = {0}.correlation) WHERE range_id IS NULL;",
        table));
  connection.execute(follow_nodes);
  for (const char* table :
       {"range_of_api", "range_of_graph_nodes", "range_of_call", "node_of", "capture_of"})
    connection.execute(fmt::format("DROP TABLE temp.{};", table));
}

}  // namespace warpmeter
