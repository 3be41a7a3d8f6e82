#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Checks what compilers do not: layout, include direction between rooms, headers, recorded results. Prints each finding; exit 1."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What each room may include, from docs/design.md; its own files always.
MAY_INCLUDE = {
    "core": set(),
    "model": {"core"},
    "calibrator": {"core", "model"},
    "cuda": {"core"},
    "kernels": {"core", "cuda"},
    "microbench": {"core", "cuda", "kernels"},
    "collectors": {"core", "cuda"},
    "profiler": {"core", "cuda", "collectors"},
    "formats": {"core", "model"},
    "report": {"core", "model"},
    "emulator": set(),
}
CODE = {".h", ".cpp", ".cu"}
SPDX = "SPDX-License-Identifier: Apache-2.0"
NEEDS_SPDX = CODE | {".py", ".cmake"}
MAX_LINES = 300


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [pathlib.Path(name) for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def check_text(path, text):
    if text and not text.endswith("\n"):
        yield f"{path}: no newline at the end"
    for number, line in enumerate(text.splitlines(), 1):
        if line != line.rstrip():
            yield f"{path}:{number}: blanks at the end of the line"
        if "\r" in line or "\t" in line:
            yield f"{path}:{number}: tab or carriage return"


def check_code(path, text):
    if SPDX not in "\n".join(text.splitlines()[:3]):
        yield f"{path}: no SPDX header in the first lines"
    if path.suffix in CODE and len(text.splitlines()) > MAX_LINES:
        yield f"{path}: {len(text.splitlines())} lines; split it (limit {MAX_LINES})"
    if path.suffix == ".h" and "#pragma once" not in text:
        yield f"{path}: no #pragma once"


def check_includes(path, text):
    room = path.parts[0]
    if room not in MAY_INCLUDE or path.suffix not in CODE:
        return
    for included in re.findall(r'^#include "([^"/]+)/', text, re.MULTILINE):
        if included != room and included in MAY_INCLUDE and included not in MAY_INCLUDE[room]:
            yield f"{path}: room {room} may not include {included}"


def check_results(path, text):
    if path.parts[0] == "results" and path.suffix == ".json":
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            yield f"{path}: {error}"


def check_format(paths):
    tool = shutil.which("clang-format")
    if tool is None:
        yield "clang-format is missing: scripts/setup installs it"
        return
    code = [str(ROOT / path) for path in paths if path.suffix in CODE]
    done = subprocess.run([tool, "--dry-run", "--ferror-limit=1", *code], capture_output=True, text=True)
    for line in done.stderr.splitlines():
        if "warning:" in line or "error:" in line:
            yield line.replace(str(ROOT) + "/", "") + " (run clang-format -i)"


def main():
    findings = []
    paths = tracked_files()
    for path in paths:
        if path.suffix in {".png", ".bin"}:
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        findings += check_text(path, text) if path.suffix not in {".md", ".json"} and path.name != "LICENSE" else []
        if path.suffix in NEEDS_SPDX or path.name == "CMakeLists.txt":
            findings += check_code(path, text)
        findings += check_includes(path, text)
        findings += check_results(path, text)
    findings += check_format(paths)
    for finding in findings:
        print(finding)
    print(f"lint: {len(paths)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
