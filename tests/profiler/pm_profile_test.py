#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""warpmeter profile with PM sampling and with planted faults, on the emulated GPU. Third argument: the program that is profiled."""

import collections
import json
import sys
import unittest

from profile_test import Profile

COLLECT = ["--collect", "timeline,nvtx,pm"]


def fault(text):
    return {"WARPMETER_EMULATED_CUPTI": text}


class PmProfile(Profile):
    def collect(self, *target, options=(), **more):
        return self.profile(*target, options=[*COLLECT, *options], **more)

    def own(self, rows):
        """Provenance of the one process."""
        (text,) = rows("SELECT value FROM meta WHERE key = 'provenance'")[0]
        return json.loads(text)["merged"][0]["provenance"]

    def lost(self, rows, what):
        return sum(count for (count,) in rows(f"SELECT count FROM losses WHERE what = '{what}'"))

    def test_counters_of_a_periodic_program_are_those_of_the_emulated_gpu(self):
        steps = 1000
        truth_file = self.folder / "truth.jsonl"
        self.collect("run", str(steps), environment={"WARPMETER_EMULATED_COUNTERS": str(truth_file)})
        truth = collections.defaultdict(list)
        for line in truth_file.read_text().splitlines():
            launch = json.loads(line)
            name = next(name for name in ("short_kernel", "long_kernel") if name in launch["kernel"])
            truth[name].append(launch["counters"])
        with self.rows() as rows:
            self.assert_steps(rows, steps)
            self.assertEqual(self.losses(rows), [])
            for metric, counter in (("issue.instructions", "warp_instructions"), ("l2.sectors", "l2_sectors")):
                expected = {name: sum(c[counter] for c in all_) / len(all_) for name, all_ in truth.items()}
                # Samples miss what ran before the first of them and behind the last.
                sampled = rows(f"SELECT sum(value), min(time_ns), max(time_ns) FROM samples s JOIN strings m ON m.id = s.metric_id WHERE m.text = '{metric}'")
                total, first, last = sampled[0]
                outside = rows(f"SELECT count(*) FROM kernels WHERE start_ns < {first} OR end_ns > {last}")[0][0]
                everything = sum(c[counter] for all_ in truth.values() for c in all_)
                self.assertLessEqual(total, everything * (1 + 1e-9))
                self.assertGreaterEqual(total, everything - outside * max(expected.values()) - 1)
                found = rows(f"""SELECT n.text, c.value, c.low, c.high, c.reason FROM counters c JOIN strings m ON m.id = c.metric_id JOIN shapes p ON
                    p.id = c.shape_id JOIN strings n ON n.id = p.name_id WHERE c.source = 'pm' AND m.text = '{metric}'""")
                self.assertEqual(len(found), 2)
                for kernel, value, low, high, reason in found:
                    if value is None:
                        self.assertTrue(reason)
                        continue
                    name = next(name for name in expected if name in kernel)
                    slack = 0.005 * expected[name]  # times of launches are whole ns
                    self.assertLessEqual(low - slack, expected[name])
                    self.assertGreaterEqual(high + slack, expected[name])
                    self.assertAlmostEqual(value, expected[name], delta=0.02 * expected[name])

    def test_what_a_chip_does_not_have_is_named(self):
        self.collect("run", "300", options=["--set", "links"])
        with self.rows() as rows:
            (device,) = self.own(rows)["collectors"]["pm"]["devices"]
            self.assertIn("nvlrx__bytes.sum", device["refused"]["nvlink.bytes_in"])
            self.assertIn("nvltx__bytes.sum", device["refused"]["nvlink.bytes_out"])
            metrics = {name for (name,) in rows("SELECT DISTINCT m.text FROM samples s JOIN strings m ON m.id = s.metric_id")}
            self.assertEqual(metrics, set(device["counters"]))

    def test_without_permission_the_timeline_goes_on(self):
        done = self.collect("run", "20", environment=fault("pm=35"))
        self.assertIn("not collected: pm: ", done.stderr)
        self.assertIn("permission", done.stderr)
        with self.rows() as rows:
            self.assert_steps(rows, 20)
            self.assertEqual(rows("SELECT count(*) FROM samples"), [(0,)])

    def test_an_unknown_chip_is_planned_as_itself_or_not_at_all(self):
        self.collect("run", "20", environment=fault("chip=XX999"))
        with self.rows() as rows:
            self.assert_steps(rows, 20)
            own = self.own(rows)
            planned = [device["chip"] for device in own["collectors"].get("pm", {}).get("devices", [])]
            self.assertTrue(planned == ["XX999"] or "pm" in own["refused"], own)

    def test_another_subscriber_is_named(self):
        done = self.collect("run", "20", environment=fault("subscribe=39,subscriber=some_tool"), status=2)
        self.assertIn("not collected: timeline: timeline: some_tool is CUPTI's subscriber", done.stderr)
        with self.rows() as rows:
            self.assertEqual(rows("SELECT count(*) FROM kernels"), [(0,)])

    def test_dropped_records_are_counted(self):
        records = "SELECT (SELECT count(*) FROM kernels) + (SELECT count(*) FROM copies)"
        self.collect("run", "50", environment=fault("drop=10"))
        with self.rows() as rows:
            kept, lost = rows(records)[0][0], self.lost(rows, "records")
            launched = self.own(rows)["collectors"]["timeline"]["kernel_launches"]
        self.assertEqual(launched, 150)
        self.assertGreater(lost, 0)
        self.assertLess(kept, 200)
        self.assertGreaterEqual(kept + lost, 200)  # records of calls are lost as well

    def test_kernels_without_times_are_kept_and_counted(self):
        self.collect("run", "50", environment=fault("zero_times=7"))
        with self.rows() as rows:
            self.assertEqual(rows("SELECT count(*), count(start_ns), count(end_ns) FROM kernels"), [(150, 129, 129)])
            self.assertEqual(self.lost(rows, "times of kernels"), 21)

    def test_correlation_ids_go_on_beyond_32_bits(self):
        self.collect("run", "200", environment=fault("correlation=4294967000"))
        with self.rows() as rows:
            self.assert_steps(rows, 200)
            low, high, distinct = rows("SELECT min(correlation), max(correlation), count(DISTINCT correlation) FROM kernels")[0]
            self.assertLess(low, 2**32)
            self.assertGreater(high, 2**32)
            self.assertEqual(distinct, 600)
            outside = "SELECT count(*) FROM kernels k LEFT JOIN ranges r ON r.id = k.range_id WHERE r.id IS NULL OR k.end_ns > r.end_ns"
            self.assertEqual(rows(outside), [(0,)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
