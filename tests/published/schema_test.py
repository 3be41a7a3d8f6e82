# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""results/schema/run.schema.json accepts what the contract allows and refuses what it does not."""
import copy
import json
import unittest

import jsonschema
from documents import NAMES, SOURCE, load

SCHEMA = json.loads((SOURCE / "results/schema/run.schema.json").read_text(encoding="utf-8"))

GOOD = {
    "schema": "warpmeter.run/1", "source": "measured", "complete": True,
    "tool": {"name": "warpmeter", "version": "0.1.0"}, "host": {"kernel": "6.1"},
    "device": {"name": "cpu", "facts": {"cpu.cores": {"value": 2, "unit": "1", "source": "hwloc"},
                                        "page.huge.reserved": {"value": None, "source": "sysfs: not readable"}}},
    "measurements": [
        {"id": "latency.chase/footprint=32768,page=huge", "quantity": "latency.chase", "parameters": {"footprint": 32768.0, "page": "huge"},
         "value": 1.1e-9, "unit": "s", "interval": [1.0e-9, 1.2e-9], "level": 0.9, "samples": [[1.1e-9, 1.2e-9], [1.0e-9]],
         "conditions": {"clock_hz": 3e9}, "verdict": "ok", "reason": "", "method": "chase", "evidence": ["other/id"]},
        {"id": "throughput.fma/type=bf16", "quantity": "throughput.fma", "parameters": {"type": "bf16"}, "value": None, "unit": "op/s",
         "interval": None, "level": 0.9, "samples": [], "conditions": {}, "verdict": "unsupported", "reason": "no AVX512-BF16",
         "method": "chains of multiply-adds", "evidence": []},
        {"id": "kernel.time/kernel=gemm", "quantity": "kernel.time", "parameters": {"kernel": "gemm"}, "value": 1e-3, "unit": "s",
         "interval": None, "level": 0.9, "samples": [[1e-3]], "conditions": {}, "verdict": "ok", "reason": "one campaign only",
         "method": "oneDNN", "evidence": [], "work": {"ops": {"f32": 2e9}, "bytes_read": 1.0, "bytes_written": 1.0, "working_set": 2.0, "launches": 1.0}},
    ],
}


def at(path, value):
    """A change of the good document: the value at the end of the path."""
    def change(document):
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value
    return change


def without(path):
    def change(document):
        for step in path[:-1]:
            document = document[step]
        del document[path[-1]]
    return change


FIRST, UNSUPPORTED, KERNEL = (["measurements", i] for i in range(3))
BAD = {
    "another schema version": at(["schema"], "warpmeter.run/2"),
    "a source that does not exist": at(["source"], "guessed"),
    "a key that nobody reads": at(["device", "serial"], "1234"),
    "a key of a measurement that nobody reads": at([*FIRST, "stdev"], 0.1),
    "a unit with a prefix": at([*FIRST, "unit"], "ns"),
    "an unknown verdict": at([*FIRST, "verdict"], "fine"),
    "no verdict": without([*FIRST, "verdict"]),
    "no value and no reason": at([*UNSUPPORTED, "reason"], ""),
    "no interval and no reason": at([*KERNEL, "reason"], ""),
    "a bad verdict without a reason": at([*FIRST, "verdict"], "throttled"),
    "a value as text": at([*FIRST, "value"], "1.1e-9"),
    "ok without a value": at([*UNSUPPORTED, "verdict"], "ok"),
    "an interval with one end": at([*FIRST, "interval"], [1.0e-9]),
    "an interval of nothing": at([*UNSUPPORTED, "interval"], [0.0, 1.0]),
    "samples without campaigns": at([*FIRST, "samples"], [1.0e-9]),
    "a certain interval": at([*FIRST, "level"], 1.0),
    "a parameter that is a list": at([*FIRST, "parameters", "footprint"], [1, 2]),
    "negative work": at([*KERNEL, "work", "bytes_read"], -1.0),
    "a fact without a source": without(["device", "facts", "cpu.cores", "source"]),
    "a published number without its source": at(["source"], "published"),
}
PUBLISHED_BAD = {
    "trust artefact": lambda m: m["evidence"][0].update(trust="artefact"),
    "no evidence": lambda m: m["evidence"].clear(),
    "evidence by id only": lambda m: m.update(evidence=["latency.chase/footprint=1"]),
    "no source parameter": lambda m: m["parameters"].pop("source"),
    "a curve under a copyleft licence": lambda m: m["evidence"][0].update(licence="GPL-3.0"),
    "an original without unit": lambda m: m["evidence"][0]["original"].pop("unit"),
}


class Schema(unittest.TestCase):
    def setUp(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        self.validator = jsonschema.Draft202012Validator(SCHEMA)

    def test_good(self):
        self.validator.validate(GOOD)

    def test_published_files(self):
        for name in NAMES:
            with self.subTest(name):
                self.validator.validate(load(name))

    def test_bad(self):
        for what, change in BAD.items():
            with self.subTest(what):
                document = copy.deepcopy(GOOD)
                change(document)
                self.assertFalse(self.validator.is_valid(document))

    def test_bad_published(self):
        for what, change in PUBLISHED_BAD.items():
            with self.subTest(what):
                document = load("h200")
                document["measurements"] = document["measurements"][:1]
                self.validator.validate(document)
                change(document["measurements"][0])
                self.assertFalse(self.validator.is_valid(document))


if __name__ == "__main__":
    unittest.main()
