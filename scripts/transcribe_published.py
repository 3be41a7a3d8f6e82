#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Transcribes published measurements of GPUs into run documents.

usage: transcribe_published.py SHARED_REFERENCE_DIR OUT_DIR

Every record of the five reference files is either transcribed by an exact rule of published_rules.py or left out for
a reason that it gives; anything else is an error. The same input gives the same bytes.
"""
import collections
import json
import os
import re
import statistics
import sys
from fractions import Fraction
from pathlib import Path

import published_rules as rules
from published_curves import NO_INTERVAL, READERS, Unmapped, exact, measurement, unit_of

NUMBERS = {"m": ("m",), "n": ("n",), "k": ("k",), "mnk": ("m", "n", "k"), "size": ("size",), "ranks": ("ranks",)}
SCALED = {"size_mib": ("size", 2**20), "size_gib": ("size", 2**30)}


def source_of(record):
    title = record["source_title"]
    for key in ((title, None), (title, record["source_where"])):
        if key in rules.SOURCES:
            return rules.SOURCES[key]
    raise Unmapped(f"no id for the source \"{title}\", {record['source_where']}")


def reason_to_leave_out(name, record, source):
    """Why a record is not transcribed; None if it is."""
    if record["trust"] not in ("primary", "secondary"):
        return f"trust {record['trust']}"
    slug, gpu = record["quantity"], record["gpu"]
    scope = rules.FILES[name][1].get(gpu)
    if scope is None:
        raise Unmapped(f"no rule for the GPU name \"{gpu}\"")
    if isinstance(scope, str):
        return scope
    for key in ((name, slug, source), ("*", slug, source)):
        if key in rules.LEFT_OUT_FROM:
            return rules.LEFT_OUT_FROM[key]
    if slug in rules.LEFT_OUT:
        return rules.LEFT_OUT[slug]
    if slug not in rules.QUANTITIES:
        raise Unmapped(f"no rule for the quantity \"{slug}\"")
    if rules.QUANTITIES[slug][1] not in scope[0]:
        return f"{rules.QUANTITIES[slug][1]} of another board"
    if (name, slug, source, record["conditions"]) in rules.SLOWER:
        return "a slower setting of a kernel whose best one is transcribed"
    return None


def method_of(record, source):
    """The method sentence and the named groups of the one pattern that matches the conditions."""
    found = [(method, match.groupdict()) for known, pattern, method in rules.METHODS
             if known == source and (match := re.fullmatch(pattern, record["conditions"]))]
    if len(found) != 1:
        raise Unmapped(f"{len(found)} rules for the conditions \"{record['conditions']}\" of {source}")
    return found[0]


def parameters_of(groups):
    parameters = {}
    for group, text in groups.items():
        if text is None or group.startswith("_"):
            continue
        if group in SCALED:
            parameters[SCALED[group][0]] = float(int(text) * SCALED[group][1])
        elif group in NUMBERS:
            parameters.update({name: float(text) for name in NUMBERS[group]})
        else:
            parameters[group] = text
    return parameters


def convert(record, source, quantity, groups):
    """(quantity, value, unit, conditions): SI, or cycles with the suffix that says so."""
    unit, factor = unit_of(record["unit"])
    value = exact(record["value"]) * factor
    conditions = {}
    clock = groups.get("_clock_mhz") or (rules.STUDY_CLOCK_MHZ[source] if groups.get("_ns") else None)
    if unit == "cycle" and clock:
        hertz = exact(clock) * 10**6
        value, unit, conditions = value / hertz, "s", {"clock_hz": float(hertz)}
        if groups.get("_ns") and abs(exact(groups["_ns"]) / 10**9 / value - 1) > Fraction(1, 200):
            raise Unmapped(f"{record['value']} cycles and {groups['_ns']} ns do not agree at {clock} MHz")
    elif unit == "cycle":
        quantity += ".cycles"
    elif unit in ("B/cycle", "op/cycle"):
        quantity += ".per_cycle"
    if groups.get("_lo"):
        conditions["range_over_devices"] = [float(exact(groups[end]) * factor) for end in ("_lo", "_hi")]
    return quantity, value, unit, conditions


def transcribe(name, record, source):
    slug = record["quantity"]
    quantity, _, fixed = rules.QUANTITIES[slug]
    quantity = rules.OVERRIDES.get((name, slug, source), rules.OVERRIDES.get(("*", slug, source), quantity))
    method, groups = method_of(record, source)
    parameters = {**fixed, **parameters_of(groups), **rules.WORDED.get((source, record["conditions"]), {}), "source": source}
    if quantity != rules.QUANTITIES[slug][0]:
        # The name of the override says what these parameters would repeat.
        parameters = {key: held for key, held in parameters.items() if key not in ("op", "type")}
    quantity, value, unit, conditions = convert(record, source, quantity, groups)
    if quantity == "transfer.time":
        value, unit = exact(parameters["size"]) / value, "s"
    caveat = rules.FILES[name][1][record["gpu"]][1]
    conditions = {"gpu": record["gpu"], "stated": record["conditions"], **({"caveat": caveat} if caveat else {}), **conditions}
    evidence = {"title": record["source_title"], "where": record["source_where"], "kind": record["kind"], "trust": record["trust"],
                "note": record["note"] or "", "original": {"quantity": slug, "value": record["value"], "unit": record["unit"]}}
    parameters = {key: float(held) if isinstance(held, int) else held for key, held in parameters.items()}
    return measurement(quantity, parameters, value, unit, conditions, method, evidence, rules.VERDICTS.get((name, slug, source), ("ok", NO_INTERVAL)))


def with_samples(item, name, record, source, folder):
    """Adds the single samples that the source publishes; their median must be the value that is there."""
    key = (name, record["quantity"], source)
    if key not in rules.SAMPLES:
        return item
    file, where, licence = rules.SAMPLES[key]
    samples = [float(line) for line in (folder / "raw" / file).read_text(encoding="utf-8").split()]
    if item["unit"] != "cycle" or statistics.median(samples) != item["value"]:
        raise Unmapped(f"the samples of {file} have the median {statistics.median(samples)}")
    item["samples"] = [samples]
    item["conditions"].update(samples_from=where, samples_licence=licence)
    return item


def clock_records(measurements):
    """The clock that a source states for its own run, once per source."""
    seen = set()
    for item in measurements:
        clock, source = item["conditions"].get("clock_hz"), item["parameters"]["source"]
        if clock is None or source in seen or item["conditions"].get("caveat", "").startswith("PCIe"):
            continue
        seen.add(source)
        evidence = {**item["evidence"][0], "note": "the clock stated for the run of " + item["evidence"][0]["original"]["quantity"],
                    "original": {"quantity": item["evidence"][0]["original"]["quantity"], "value": clock / 1e6, "unit": "MHz"}}
        yield measurement("clock.sm", {"load": "chase", "source": source}, exact(clock), "Hz", dict(item["conditions"]),
                          "the SM clock that the source states for its pointer chase", evidence)


def facts_of(name, records):
    facts = {}
    for fact, (slug, gpu, source) in rules.FACTS[name].items():
        found = [r for r in records if (r["quantity"], r["gpu"], source_of(r)) == (slug, gpu, source)]
        if len(found) != 1:
            raise Unmapped(f"{len(found)} records for the fact {fact}")
        unit, factor = unit_of(found[0]["unit"])
        value = exact(found[0]["value"]) * factor
        label = "datasheet" if found[0]["kind"] == "datasheet" else "reported"
        facts[fact] = {"value": int(value) if value.denominator == 1 else float(value), "unit": unit,
                       "source": f"{label}: {found[0]['source_title']}, {found[0]['source_where']}, {gpu}"}
    facts["product"] = {"value": rules.FILES[name][0], "source": "docs/published_data.md: the product that this file stands for"}
    for fact in ("sm.count", "clock.sm.max", "cache.l2.size", "memory.total"):
        facts.setdefault(fact, {"value": None, "source": "not in the sources that were used"})
    return dict(sorted(facts.items()))


def numeric_order(item):
    """By quantity, then by parameters with numbers as numbers, so that a curve reads in order."""
    return item["quantity"], item["parameters"]["source"], [(key, isinstance(held, str), held) for key, held in item["parameters"].items()]


KEYS = {"gpu", "quantity", "value", "unit", "conditions", "source_title", "source_where", "note", "kind", "trust"}


def records_of(file):
    try:
        records = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise Unmapped(f"{file} is not JSON: {problem}") from None
    for index, record in enumerate(records if isinstance(records, list) else [records]):
        if not isinstance(records, list) or not isinstance(record, dict) or not KEYS <= record.keys():
            raise Unmapped(f"{file}, record {index}: not a record with the keys {', '.join(sorted(KEYS))}")
    return records


def document_of(name, folder, left_out):
    records = records_of(folder / f"{name}.json")
    measurements = []
    for index, record in enumerate(records):
        try:
            source = source_of(record)
            reason = reason_to_leave_out(name, record, source)
            if reason is None:
                measurements.append(with_samples(transcribe(name, record, source), name, record, source, folder))
            else:
                left_out[reason] += 1
        except Unmapped as problem:
            raise Unmapped(f"{name}.json, record {index}: {problem}") from None
    for reader, file, where, licence, gpu, extra in rules.CURVES[name]:
        measurements.extend(READERS[reader]((folder / "raw" / file).read_text(encoding="utf-8"), where, licence, gpu, extra))
    measurements.extend(list(clock_records(measurements)))
    measurements.sort(key=numeric_order)
    for first, second in zip(sorted(m["id"] for m in measurements), sorted(m["id"] for m in measurements)[1:]):
        if first == second:
            raise Unmapped(f"{name}.json: two records have the id {first}")
    return {"schema": "warpmeter.run/1", "source": "published", "tool": {"name": "scripts/transcribe_published.py"}, "host": {},
            "device": {"name": rules.FILES[name][0], "facts": facts_of(name, records)}, "complete": True, "measurements": measurements}


def number_text(value):
    """As nlohmann::json prints a number: the shortest form, an exponent from 10^15 on."""
    text = repr(value)
    if isinstance(value, float) and "e" not in text and abs(value) >= 1e15:
        digits = text.split(".")[0].rstrip("0")
        text = digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e+{len(text.split('.')[0]) - 1}"
    return text


def json_text(value, depth=1):
    """JSON with one space of indent and keys in the order given, as core/json.h write_json."""
    if isinstance(value, (dict, list)) and not value:
        return "{}" if isinstance(value, dict) else "[]"
    inner, outer = "\n" + " " * depth, "\n" + " " * (depth - 1)
    if isinstance(value, dict):
        return "{" + ",".join(f"{inner}{json.dumps(k, ensure_ascii=False)}: {json_text(v, depth + 1)}" for k, v in value.items()) + outer + "}"
    if isinstance(value, list):
        return "[" + ",".join(inner + json_text(v, depth + 1) for v in value) + outer + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 1
    folder, out = map(Path, arguments)
    try:
        left_out = {name: collections.Counter() for name in rules.FILES}
        documents = {name: document_of(name, folder, left_out[name]) for name in rules.FILES}
        for name, document in documents.items():
            target = out / f"{name}.run.json"
            partial = target.with_suffix(".tmp")
            partial.write_text(json_text(document) + "\n", encoding="utf-8")
            os.replace(partial, target)
            print(f"{target}: {len(document['measurements'])} measurements, {len(document['device']['facts'])} facts; "
                  f"left out {sum(left_out[name].values())} records")
            for reason, count in sorted(left_out[name].items(), key=lambda entry: (-entry[1], entry[0])):
                print(f"  {count:4d}  {reason}")
    except (OSError, Unmapped) as problem:
        print(f"transcribe_published.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
