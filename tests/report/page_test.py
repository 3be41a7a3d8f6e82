# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Opens a rendered page in headless Chromium and compares what was drawn with what was planted. Python's standard library only."""

import argparse
import html.parser
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import planted


class Dom(html.parser.HTMLParser):
    """What the tests need of a dumped page: attributes of body, section headings, plots, and text of marked elements."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.body, self.drawn, self.headings, self.errors, self.tags, self.text = {}, {}, [], "", [], ""
        self._inside = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        if tag == "body":
            self.body = attributes
        if "data-drawn" in attributes:
            self.drawn[attributes["data-figure"]] = json.loads(attributes["data-drawn"])
        if tag in ("h2", "script", "style") or attributes.get("id") == "script-errors":
            self._inside.append((tag, attributes.get("id", tag)))

    def handle_endtag(self, tag):
        if self._inside and self._inside[-1][0] == tag:
            self._inside.pop()

    def handle_data(self, data):
        inside = self._inside[-1][1] if self._inside else ""
        if inside == "script-errors":
            self.errors += data
        elif inside == "h2":
            self.headings.append(data)
        elif inside not in ("script", "style", "figures"):
            self.text += data


def chromium():
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        sys.exit("No Chromium found: the page cannot be opened. Install the Debian package chromium (scripts/setup does).")
    return found


def open_page(page, width=1280):
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run(
            [chromium(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", f"--window-size={width},900",
             "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom", page.as_uri()],
            capture_output=True, text=True, timeout=240)
    console = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    return Dom(result.stdout), console


def render(program, folder, **documents):
    page = folder / "report.html"
    subprocess.run([program, str(page)] + planted.write(folder, **documents), check=True)
    return page


def by_trace(points):
    """{name: sorted points} of (name, x, y)."""
    found = {}
    for name, x, y in points:
        found.setdefault(name, []).append((x, y))
    return {name: sorted(values) for name, values in found.items()}


def expected_points(run, validation):
    """Every point that each plot must show, straight from the planted documents."""
    def rows(quantity):
        return [m for m in run["measurements"] if m["quantity"] == quantity and m["value"] is not None]

    def value(m, key):
        return m["parameters"][key]

    pages = {"4k": "4 KiB pages", "huge": "huge pages"}
    threads = {1: "1 thread", 2: "2 threads"}
    return {
        "staircase": by_trace((pages[value(m, "page")], value(m, "footprint"), m["value"]) for m in rows("latency.chase")),
        "footprint": by_trace((f"{op}, {threads[value(m, 'threads')]}", value(m, "footprint"), m["value"])
                              for op in ("read", "write", "copy", "triad") for m in rows(f"bandwidth.{op}")),
        "in-flight": by_trace(("footprint 1 GiB", value(m, "in_flight"), m["value"]) for m in rows("bandwidth.in_flight")),
        "loaded": by_trace(("footprint 1 GiB, 2 threads", m["conditions"]["load_bytes_per_s"], m["value"]) for m in rows("latency.loaded")),
        "transfer": by_trace((value(m, "direction"), value(m, "size"), m["value"]) for m in rows("transfer.time")),
        "roofline": by_trace((value(m, "family"), m["work"]["ops"]["f32"] / (m["work"]["bytes_read"] + m["work"]["bytes_written"]),
                              m["work"]["ops"]["f32"] / m["value"]) for m in rows("kernel.time") if m["work"]["ops"]),
        "prediction": by_trace((row["family"] + (" (fit)" if row["split"] == "fit" else ""), row["measured"], row["model"])
                               for row in validation["rows"] if row["model"] is not None),
    }


def difference(drawn, expected):
    """The first way in which a plot differs from what was planted, or None."""
    shown = {t["name"]: t for t in drawn["traces"] if "markers" in t["mode"]}
    if set(shown) != set(expected):
        return f"traces {sorted(shown)} instead of {sorted(expected)}"
    for name, points in expected.items():
        trace = shown[name]
        if trace["markers"] != len(points):
            return f"{name}: {trace['markers']} markers drawn, {len(points)} planted"
        for got, want in zip(sorted(zip(trace["x"], trace["y"])), points):
            if not all(math.isclose(g, w, rel_tol=1e-12) for g, w in zip(got, want)):
                return f"{name}: point {got} instead of {want}"
    return None


def problems(page, expected):
    """Everything wrong with a page; empty if it is right."""
    dom, console = open_page(page)
    found = [f"console: {line}" for line in console]
    if dom.errors.strip():
        found.append(dom.errors.strip())
    if dom.body.get("data-ready") != "true":
        found.append("the page never said that it is ready")
    for figure, points in expected.items():
        if figure not in dom.drawn:
            found.append(f"{figure}: not drawn")
        elif wrong := difference(dom.drawn[figure], points):
            found.append(f"{figure}: {wrong}")
    return found, dom


def planted_page(program, folder):
    run = planted.run()
    validation = planted.validation(run)
    page = render(program, folder, run=run, machine=planted.machine(run), validation=validation, findings=planted.FINDINGS)
    return page, expected_points(run, validation)


def must_be_right(found):
    if found:
        sys.exit("\n".join(found))


def draws_what_was_planted(program, folder):
    page, expected = planted_page(program, folder)
    found, dom = problems(page, expected)
    must_be_right(found)
    assert len(dom.headings) == 12, dom.headings
    levels = [t for t in dom.drawn["transfer"]["traces"] if t["mode"] == "lines"]
    assert [t["lines"] for t in levels] == [1], "one fit line: only h2d has fitted parameters"
    # 4 levels, 3 knee intervals, 3 stated sizes
    assert dom.drawn["staircase"]["shapes"] == 10, dom.drawn["staircase"]["shapes"]


def script_error_is_found(program, folder):
    page, expected = planted_page(program, folder)
    text = page.read_text()
    page.write_text(text.replace("</body>", "<script>undefinedFunction();</script></body>"))
    found, _ = problems(page, expected)
    assert any("undefinedFunction" in line for line in found), f"a planted script error went unseen: {found}"


def dropped_point_is_found(program, folder):
    page, expected = planted_page(program, folder)
    text = page.read_text()
    start = text.index('id="figures">') + len('id="figures">')
    end = text.index("</script>", start)
    figures = json.loads(text[start:end])
    trace = figures["staircase"]["data"][1]
    for key in ("x", "y", "text"):
        del trace[key][7]
    page.write_text(text[:start] + json.dumps(figures).replace("<", "\\u003c") + text[end:])
    found, _ = problems(page, expected)
    assert found and all(line.startswith("staircase: huge pages: 32 markers drawn, 33 planted") for line in found), found


def names_cannot_break_out(program, folder):
    evil = "</script><script>alert_planted()</script><img src=x onerror=alert_planted()>\"'&"
    run = planted.run()
    run["device"]["name"] = evil
    run["device"]["facts"]["cpu.model"]["value"] = evil
    run["tool"] = dict(run["tool"], argv=[evil])
    for m in run["measurements"]:
        m["reason"] = m["reason"] and evil
        for key in ("family", "page"):
            if key in m["parameters"]:
                m["parameters"][key] = evil
                m["id"] += evil
    validation = planted.validation(run)
    machine = planted.machine(planted.run())
    machine["device"] = evil
    machine["parameters"][evil] = planted.parameter(1.0, "s", method=evil)
    page = render(program, folder, run=run, machine=machine, validation=validation,
                  findings=[dict(planted.FINDINGS[0], name=evil, status=evil, detail=evil, remedy=evil)])
    found, dom = problems(page, {})
    must_be_right(found)
    assert "img" not in dom.tags, "a tag from a document became part of the page"
    assert dom.tags.count("script") == 3, dom.tags.count("script")
    assert evil in dom.text, "the name is not shown as it is"
    legend = [t["name"] for t in dom.drawn["roofline"]["traces"] if "markers" in t["mode"]]
    assert len(legend) == 1, legend


def published_machine(program, folder):
    run = planted.run()
    run.update(source="published", measurements=[m for m in run["measurements"] if m["quantity"] == "clock.core"])
    page = render(program, folder, run=run, machine=planted.machine(run, "published"))
    found, dom = problems(page, {"roofline": {}})
    must_be_right(found)
    assert list(dom.drawn) == ["roofline"], "a plot without points was drawn: " + str(list(dom.drawn))
    for words in ("nothing was measured here", "The published sources carry no curve of latency.chase"):
        assert words in dom.text, words
    assert not re.search(r"\bNaN\b|\bundefined\b|\bnull\b", dom.text.split("Provenance")[0]), "an empty value is shown"


CASES = {f.__name__: f for f in (draws_what_was_planted, script_error_is_found, dropped_point_is_found, names_cannot_break_out, published_machine)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--render", required=True, help="the program report_render")
    parser.add_argument("--keep", help="write the page of the case to this folder")
    parser.add_argument("case", choices=CASES)
    options = parser.parse_args()
    chromium()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        CASES[options.case](options.render, folder.resolve())
