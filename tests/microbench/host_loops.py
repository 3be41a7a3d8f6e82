# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Checks in the machine code that each timed loop of kernels/host holds what it claims and nothing else.

usage: host_loops.py OBJDUMP libkernels_host.a
"""
import collections
import re
import subprocess
import sys

# Loop control that may stand beside the work: no memory operand.
CONTROL = re.compile(r"(sub|add|dec|inc|cmp|lea|mov|test)[lq]? |j(ne|a|ae|b|be|mp) ")

# A load whose whole address is a register. All of a loop must form one chain.
LOAD = r"mov    \((%r\w+)\),(%r\w+)$"

# function (demangled, as a pattern) -> {instruction pattern: how many in the innermost timed loop}
EXPECTED = {
    r"warpmeter::chase\(": {LOAD: 32},
    r"N_AVX3::blocks_of<double>": {r"vfmadd\d+pd %zmm\d+,%zmm\d+,%zmm\d+": 24},
    r"N_AVX3::blocks_of<float>": {r"vfmadd\d+ps %zmm\d+,%zmm\d+,%zmm\d+": 24},
    r"N_AVX2::blocks_of<double>": {r"vfmadd\d+pd %ymm\d+,%ymm\d+,%ymm\d+": 12},
    r"N_AVX2::blocks_of<float>": {r"vfmadd\d+ps %ymm\d+,%ymm\d+,%ymm\d+": 12},
    r"N_AVX3::chain_f64": {r"vfmadd\d+pd %zmm\d+,%zmm\d+,%zmm\d+": 16},
    r"N_AVX3::chain_f32": {r"vfmadd\d+ps %zmm\d+,%zmm\d+,%zmm\d+": 16},
    r"N_AVX2::chain_f64": {r"vfmadd\d+pd %ymm\d+,%ymm\d+,%ymm\d+": 16},
    r"N_AVX2::chain_f32": {r"vfmadd\d+ps %ymm\d+,%ymm\d+,%ymm\d+": 16},
    r"dot_blocks\(float": {r"vdpbf16ps %zmm\d+,%zmm\d+,%zmm\d+": 20},
    r"dot_blocks\(int": {r"vpdpbusd %zmm\d+,%zmm\d+,%zmm\d+": 20},
    r"warpmeter::add_chain": {r"add    %r\w+,%r\w+": 64},
    r"N_AVX3::read\(": {r"vpaddq -?(0x\w+)?\(%r\w+(,%r\w+(,\d)?)?\),%zmm\d+,%zmm\d+": 8},
    r"N_AVX3::write\(": {r"vmov\w+ +%zmm\d+,-?(0x\w+)?\(": 8},
    r"N_AVX3::write_nt\(": {r"vmovntp[sd] +%zmm\d+,": 8},
    r"N_AVX3::copy\(": {r"vmov\w+ +-?(0x\w+)?\(.*,%zmm\d+$": 8, r"vmov\w+ +%zmm\d+,-?(0x\w+)?\(": 8},
    r"N_AVX3::triad\(": {r"vmov\w+ +-?(0x\w+)?\(.*,%zmm\d+$": 8, r"vfmadd\d+pd -?(0x\w+)?\(.*,%zmm\d+,%zmm\d+": 8,
                         r"vmov\w+ +%zmm\d+,-?(0x\w+)?\(": 8},
}


def functions(objdump, library):
    """{demangled name: [(address, text)]}, without comments and symbol suffixes."""
    text = subprocess.run([objdump, "-d", "-C", "--no-show-raw-insn", library], check=True, capture_output=True,
                          text=True).stdout
    result, current = {}, None
    for line in text.splitlines():
        if header := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            current = result.setdefault(header[1], [])
        elif (code := re.match(r" *([0-9a-f]+):\t(.*)$", line)) and current is not None:
            current.append((int(code[1], 16), re.sub(r"\s*(<.*|#.*)?$", "", code[2])))
    return result


def innermost_loops(code):
    """Bodies of the loops that hold no other loop."""
    at = {address: i for i, (address, _) in enumerate(code)}
    spans = []
    for i, (_, text) in enumerate(code):
        jump = re.match(r"j\w+ +([0-9a-f]+)", text)
        if jump and at.get(int(jump[1], 16), len(code)) <= i:
            spans.append((at[int(jump[1], 16)], i))
    inner = [s for s in spans if not any(o != s and s[0] <= o[0] and o[1] <= s[1] for o in spans)]
    return [[text for _, text in code[a:b + 1]] for a, b in inner]


def complaints(body, expected):
    found, others = collections.Counter(), []
    for text in body:
        kind = next((k for k in expected if re.match(k, text)), None)
        if kind:
            found[kind] += 1
        elif not CONTROL.match(text) or "(" in text and not text.startswith("lea"):
            others.append(text)
    loads = [match.groups() for text in body if (match := re.match(LOAD, text))] if LOAD in expected else []
    for (_, result), (address, _) in zip(loads, loads[1:] + loads[:1]):
        if result != address:
            others.append(f"({address}), which is not the result {result} of the load before")
    wrong = [f"{found[k]} of {n} `{k}`" for k, n in expected.items() if found[k] != n]
    return wrong + [f"also `{text}`" for text in others]


def main():
    objdump, library = sys.argv[1:]
    code = functions(objdump, library)
    failures = 0
    for pattern, expected in EXPECTED.items():
        names = [n for n in code if re.search(pattern, n) and ".cold" not in n]
        if len(names) != 1:
            print(f"FAIL {pattern}: {len(names)} functions match")
            failures += 1
            continue
        # The timed loop is the one that comes closest; a scalar tail is another.
        tries = [complaints(body, expected) for body in innermost_loops(code[names[0]])]
        best = min(tries, key=len, default=["no loop"])
        print("FAIL" if best else "ok  ", names[0].split("(")[0], "; ".join(best))
        failures += bool(best)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
