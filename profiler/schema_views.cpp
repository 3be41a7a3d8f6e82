// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/schema.h"

namespace warpmeter {
namespace {

constexpr View views[] = {
    {"v_provenance", "SELECT key, value FROM meta ORDER BY key"},
    {"v_kernels",
     "SELECT k.id AS id, p.pid AS pid, k.process_id AS process_id, k.device_id AS device_id, "
     "d.uuid "
     "AS device_uuid, d.name AS device, k.context AS context, k.stream AS stream, k.start_ns AS "
     "start_ns, k.end_ns AS end_ns, k.end_ns - k.start_ns AS duration_ns, n.text AS name, s.grid_x "
     "AS grid_x, s.grid_y AS grid_y, s.grid_z AS grid_z, s.block_x AS block_x, s.block_y AS "
     "block_y, s.block_z AS block_z, s.cluster_x AS cluster_x, s.cluster_y AS cluster_y, "
     "s.cluster_z AS cluster_z, s.shared_static AS shared_static, s.shared_dynamic AS "
     "shared_dynamic, s.registers AS registers, k.correlation AS correlation, k.graph AS graph, "
     "k.graph_node AS graph_node, k.range_id AS range_id, rn.text AS range, k.capture_range_id AS "
     "capture_range_id FROM kernels k LEFT JOIN processes p ON p.id = k.process_id LEFT JOIN "
     "devices d ON d.id = k.device_id LEFT JOIN shapes s ON s.id = k.shape_id LEFT JOIN strings n "
     "ON n.id = s.name_id LEFT JOIN ranges r ON r.id = k.range_id LEFT JOIN strings rn ON rn.id = "
     "r.name_id ORDER BY k.start_ns, k.id"},
    {"v_copies",
     "SELECT c.id AS id, p.pid AS pid, c.process_id AS process_id, c.device_id AS device_id, "
     "d.uuid "
     "AS device_uuid, c.context AS context, c.stream AS stream, c.start_ns AS start_ns, c.end_ns "
     "AS "
     "end_ns, c.end_ns - c.start_ns AS duration_ns, c.kind AS kind, c.source_memory AS "
     "source_memory, c.target_memory AS target_memory, c.peer_device_id AS peer_device_id, c.bytes "
     "AS bytes, c.correlation AS correlation, c.graph AS graph, c.graph_node AS graph_node, "
     "c.range_id AS range_id FROM copies c LEFT JOIN processes p ON p.id = c.process_id LEFT JOIN "
     "devices d ON d.id = c.device_id ORDER BY c.start_ns, c.id"},
    {"v_sets",
     "SELECT c.id AS id, p.pid AS pid, c.process_id AS process_id, c.device_id AS device_id, "
     "d.uuid "
     "AS device_uuid, c.context AS context, c.stream AS stream, c.start_ns AS start_ns, c.end_ns "
     "AS "
     "end_ns, c.end_ns - c.start_ns AS duration_ns, c.memory AS memory, c.bytes AS bytes, c.value "
     "AS value, c.correlation AS correlation, c.graph AS graph, c.graph_node AS graph_node, "
     "c.range_id AS range_id FROM sets c LEFT JOIN processes p ON p.id = c.process_id LEFT JOIN "
     "devices d ON d.id = c.device_id ORDER BY c.start_ns, c.id"},
    {"v_synchronizations",
     "SELECT y.id AS id, p.pid AS pid, y.process_id AS process_id, y.device_id AS device_id, "
     "y.context AS context, y.stream AS stream, y.start_ns AS start_ns, y.end_ns AS end_ns, "
     "y.end_ns - y.start_ns AS duration_ns, y.kind AS kind, y.correlation AS correlation FROM "
     "synchronizations y LEFT JOIN processes p ON p.id = y.process_id ORDER BY y.start_ns, y.id"},
    {"v_api",
     "SELECT a.id AS id, p.pid AS pid, a.process_id AS process_id, a.thread AS thread, a.start_ns "
     "AS start_ns, a.end_ns AS end_ns, a.end_ns - a.start_ns AS duration_ns, n.text AS name, "
     "a.result AS result, a.correlation AS correlation, a.range_id AS range_id FROM api a LEFT "
     "JOIN "
     "processes p ON p.id = a.process_id LEFT JOIN strings n ON n.id = a.name_id ORDER BY "
     "a.start_ns, a.id"},
    {"v_ranges",
     "SELECT r.id AS id, p.pid AS pid, r.process_id AS process_id, r.thread AS thread, d.text AS "
     "domain, n.text AS name, c.text AS category, r.payload AS payload, r.kind AS kind, r.start_ns "
     "AS start_ns, r.end_ns AS end_ns, r.end_ns - r.start_ns AS duration_ns, r.parent_id AS "
     "parent_id FROM ranges r LEFT JOIN processes p ON p.id = r.process_id LEFT JOIN strings d ON "
     "d.id = r.domain_id LEFT JOIN strings n ON n.id = r.name_id LEFT JOIN strings c ON c.id = "
     "r.category_id ORDER BY r.start_ns, r.id"},
    {"v_counters",
     "SELECT c.id AS id, c.kernel_id AS kernel_id, c.shape_id AS shape_id, kn.text AS kernel, "
     "c.range_id AS range_id, "
     "rn.text AS range, c.device_id AS device_id, m.text AS metric, c.value AS value, c.unit AS "
     "unit, c.low AS low, c.high AS high, c.level AS level, c.source AS source, c.scope AS scope, "
     "c.passes AS passes, c.verdict AS verdict, c.reason AS reason FROM counters c LEFT JOIN "
     "strings m ON m.id = c.metric_id LEFT JOIN kernels k ON k.id = c.kernel_id LEFT JOIN shapes s "
     "ON s.id = coalesce(c.shape_id, k.shape_id) LEFT JOIN strings kn ON kn.id = s.name_id LEFT "
     "JOIN ranges r ON r.id = "
     "c.range_id LEFT JOIN strings rn ON rn.id = r.name_id ORDER BY c.id"},
    {"v_samples",
     "SELECT s.id AS id, p.pid AS pid, s.device_id AS device_id, d.uuid AS device_uuid, s.time_ns "
     "AS time_ns, m.text AS metric, s.value AS value, s.unit AS unit, s.source AS source FROM "
     "samples s LEFT JOIN processes p ON p.id = s.process_id LEFT JOIN devices d ON d.id = "
     "s.device_id LEFT JOIN strings m ON m.id = s.metric_id ORDER BY s.time_ns, s.id"},
    {"v_pc_samples",
     "SELECT p.pid AS pid, s.device_id AS device_id, d.uuid AS device_uuid, f.text AS function, "
     "s.cubin_crc AS cubin_crc, s.pc_offset AS pc_offset, r.text AS reason, sum(s.samples) AS "
     "samples FROM pc_samples s LEFT JOIN processes p ON p.id = s.process_id LEFT JOIN devices d "
     "ON d.id = s.device_id LEFT JOIN strings f ON f.id = s.function_id LEFT JOIN strings r ON "
     "r.id = s.reason_id GROUP BY s.process_id, s.device_id, s.function_id, s.cubin_crc, "
     "s.pc_offset, s.reason_id ORDER BY f.text, s.process_id, s.device_id, s.cubin_crc, "
     "s.pc_offset, r.text"},
    {"v_losses",
     "SELECT l.id AS id, p.pid AS pid, l.process_id AS process_id, l.collector AS collector, "
     "l.what "
     "AS what, l.count AS count, l.from_ns AS from_ns, l.to_ns AS to_ns, l.reason AS reason FROM "
     "losses l LEFT JOIN processes p ON p.id = l.process_id ORDER BY l.id"},
};

}  // namespace

std::span<const View> profile_views() { return views; }

}  // namespace warpmeter
