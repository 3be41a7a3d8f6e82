#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Checks that the timed loops of kernels hold exactly the instructions that they claim.

Takes the PTX and the machine code out of the object file that the build made of one .cu file, and counts
the opcodes of every innermost loop between the two clock reads, in the PTX and in the SASS (by nvdisasm). The expectations are
tests/cuda/expectations.json: per kernel and loop, exact counts of memory and arithmetic opcodes (any
that is not listed must not occur), and a bound on the integer and control instructions around them.
A kernel without clock reads is described by "whole" instead: the exact counts of its accesses to global
memory and of its matrix instructions ("any": a compiler may unroll as it likes), by "main_loop", the same of its loop that holds most of the latter, or by both.
Also fails on local memory, hence on spilled registers, and on what ptxas says about serialised products.
"""
import argparse
import collections
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

# Opcodes that are the subject of a loop: counted exactly. All others count against the bound.
PTX_SUBJECT = re.compile(r"(ld|st|atom|red|mma|wmma|fma|div|sqrt|ex2|shfl|bar)\.|(add|sub|mul|neg|cvt)\.(\w+\.)*(f|bf)\d")
SASS_SUBJECT = re.compile(r"(LD|ST|LDG|STG|LDS|STS|LDL|STL|LDSM|ATOM|ATOMG|ATOMS|RED|REDG|FFMA|FFMA2|FMUL|FADD|HFMA2|HMMA"
                          r"|IMMA|QGMMA|HGMMA|MUFU|F2F|F2FP|I2F|F2I|SHFL|BAR|MEMBAR|CCTL|ERRBAR|WARPSYNC|BSSY|BSYNC)(\.|$)")
# ptxas reports these as information, not as warnings: wgmma serialised (C7510, C7511), arrive or wait injected (C7519, C7517).
PTXAS_COMPLAINT = re.compile(r"\(C75\d\d\)|warning", re.IGNORECASE)

# Opcodes that are counted in kernels without clock reads.
PTX_COUNTED = re.compile(r"(ld|st)\.(global|local)|cp\.async\.(c[ag]|bulk\.tensor)|ldmatrix|stmatrix|(wg)?mma\.(sync|mma_async)")
SASS_COUNTED = re.compile(r"(LDG|STG|LDL|STL|LDGSTS|LDSM|STSM|UTMALDG|UTMASTG|HMMA|IMMA|HGMMA|QGMMA)(\.|$)")
PTX_MATRIX, SASS_MATRIX = re.compile(r"(wg)?mma\.(sync|mma_async)"), re.compile(r"(HMMA|IMMA|HGMMA|QGMMA)(\.|$)")

FATBIN_MAGIC = bytes.fromhex("50ed55ba")
COMPRESSED, SPECIFIC = 0x8000 | 0x2000, 0x100000  # flags of an entry

Instruction = collections.namedtuple("Instruction", "opcode operands text")
Loop = collections.namedtuple("Loop", "begin end")


class Function:
    """Instructions in order, and the label before each."""

    def __init__(self, name):
        self.name, self.code, self.labels = name, [], {}

    def all_loops(self, branch):
        """All loops, by their backward branches."""
        found = []
        for i, x in enumerate(self.code):
            target = branch.search(x.text)
            if target and self.labels.get(target.group(1), i + 1) <= i:
                found.append(Loop(self.labels[target.group(1)], i))
        return found

    def loops(self, branch, clock):
        """Innermost loops between the first and the last read of the clock."""
        reads = [i for i, x in enumerate(self.code) if clock.search(x.text)]
        if len(reads) < 2:
            raise ValueError(f"{self.name}: {len(reads)} clock reads, expected 2")
        found = self.all_loops(branch)
        inside = [x for x in found if reads[0] < x.begin and x.end < reads[-1]]
        return [x for x in inside if not any(y != x and x.begin <= y.begin and y.end <= x.end for y in inside)], reads


PTX_BRANCH, PTX_CLOCK = re.compile(r"\bbra(?:\.uni)?\s+(\S+?);"), re.compile(r"%clock64\b")
SASS_BRANCH, SASS_CLOCK = re.compile(r"\bBRA\S*\s+(?:!?U?P\w+,\s*)*`\((\S+?)\)"), re.compile(r"\bSR_CLOCKLO\b")


def read_ptx(text):
    functions, current = [], None
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        entry = re.match(r"(?:\.visible\s+)?\.entry\s+([\w$]+)", line)
        label = re.match(r"(\$?\w+):$", line)
        if entry:
            current = Function(entry.group(1))
            functions.append(current)
        elif current and label:
            current.labels[label.group(1)] = len(current.code)
        elif current and not line.startswith("."):
            # One line of inline PTX may hold several instructions in a scope of its own.
            for statement in re.sub(r"^\{\s*|;\s*\}$", "", line).split(";"):
                words = re.sub(r"^@!?%p\d+\s+", "", statement.strip()).split(None, 1)
                if words and re.match(r"[a-z]", words[0]):
                    current.code.append(Instruction(words[0], words[1] if len(words) > 1 else "", statement.strip() + ";"))
    return functions


def read_sass(text):
    functions, current = [], None
    for line in text.splitlines():
        section = re.match(r"\.text\.(\S+):$", line)
        label = re.match(r"(\.L_\w+):$", line)
        code = re.match(r"\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.a-z]*)\s*(.*?)\s*;", line)
        if section:
            current = Function(section.group(1))
            functions.append(current)
        elif current and label:
            current.labels[label.group(1)] = len(current.code)
        elif current and code:
            current.code.append(Instruction(code.group(1), code.group(2), line.strip()))
    return functions


def check_counts(code, wanted, others_max, subject, where, problems):
    subjects = collections.Counter(x.opcode for x in code if subject.match(x.opcode))
    if dict(subjects) != wanted:
        problems.append(f"{where}: has {dict(subjects)}, expected {wanted}")
    others = [x.opcode for x in code if not subject.match(x.opcode)]
    if len(others) > others_max:
        problems.append(f"{where}: {len(others)} other instructions, at most {others_max} expected: {' '.join(others)}")


def check_chain(code, opcode, source, where, problems):
    """Each `opcode` must take its result register from the one before, the first from the last of the trip."""
    steps = [x for x in code if x.opcode.split(".")[0] == opcode]
    def result(x): return re.match(r"(R\d+)", x.operands).group(1)
    def operand(x): return re.search(source, x.operands).group(1)
    for before, after in zip([steps[-1]] + steps[:-1], steps):
        if operand(after) != result(before):
            problems.append(f"{where}: not a chain: \"{after.text}\" does not use the result of \"{before.text}\"")
            return
    # Nothing else may write a register of the chain, that is, compute an address between two hops.
    registers = {result(x) for x in steps}
    for x in code:
        if x not in steps and re.match(r"(R\d+)\b", x.operands) and re.match(r"(R\d+)\b", x.operands).group(1) in registers:
            problems.append(f"{where}: \"{x.text}\" changes a register of the chain")


def check_function(function, kind, expected, where, problems):
    branch, clock, subject = ((PTX_BRANCH, PTX_CLOCK, PTX_SUBJECT) if kind == "ptx" else (SASS_BRANCH, SASS_CLOCK, SASS_SUBJECT))
    loops, reads = function.loops(branch, clock)
    if len(loops) != len(expected["loops"]):
        problems.append(f"{where}: {len(loops)} loops between the clock reads, expected {len(expected['loops'])}")
        return
    for number, (loop, wanted) in enumerate(zip(loops, expected["loops"])):
        code = function.code[loop.begin:loop.end + 1]
        place = f"{where} loop {number}"
        check_counts(code, wanted[kind], wanted[f"{kind}_others_max"], subject, place, problems)
        if kind == "sass" and "chain" in wanted and not problems:
            check_chain(code, wanted["chain"], wanted["chain_operand"], place, problems)
    # The last clock read must wait for the loop's result: a store of it to shared memory stands between.
    store = re.compile(r"st\.\S*shared" if kind == "ptx" else r"STS")
    if not any(store.match(x.opcode) for x in function.code[loops[-1].end:reads[-1]]):
        problems.append(f"{where}: nothing orders the last clock read after the loop")


def check_counted(function, kind, expected, where, problems):
    """The counted opcodes of the whole function, and of its loop with the most matrix instructions, as far as they are expected."""
    branch, counted, matrix = (PTX_BRANCH, PTX_COUNTED, PTX_MATRIX) if kind == "ptx" else (SASS_BRANCH, SASS_COUNTED, SASS_MATRIX)
    loops = [function.code[x.begin:x.end + 1] for x in function.all_loops(branch)]
    # Of a loop and one around it that holds no more, the inner one.
    main_loop = max(loops, key=lambda x: (sum(bool(matrix.match(y.opcode)) for y in x), -len(x)), default=[])
    for part, code in ("whole", function.code), ("main_loop", main_loop):
        if part not in expected:
            continue
        wanted = expected[part][kind]
        # ptxas writes copies that may bring zeros in either of two ways.
        found = collections.Counter(x.opcode.removesuffix(".ZFILL") for x in code if counted.match(x.opcode))
        free = [x for x in wanted if wanted[x] == "any" and found[x] > 0]
        if {x: found[x] for x in found if x not in free} != {x: wanted[x] for x in wanted if x not in free}:
            problems.append(f"{where} {part}: has {dict(found)}, expected {wanted}")


def run(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is missing; scripts/setup installs it")
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def code_of(path):
    """The PTX texts and machine code in an object file's fat binary, by architecture: {"80": b"...", "90a": ...}."""
    # The layout of the fat binary: emulator/runtime/fatbin.cpp. A header, then entries of a header and a payload each.
    data = pathlib.Path(path).read_bytes()
    texts, binaries, start = {}, {}, data.find(FATBIN_MAGIC)
    while start >= 0:
        at, end = start + 16, start + 16 + struct.unpack_from("<Q", data, start + 8)[0]
        while at < end:
            kind, header = struct.unpack_from("<HxxI", data, at)
            size, architecture, flags = (struct.unpack_from(x, data, at + y)[0] for x, y in (("<Q", 8), ("<I", 28), ("<Q", 40)))
            if flags & COMPRESSED:
                raise ValueError(f"{path}: compressed; build with --compress-mode=none")
            name = f"{architecture}{'a' if flags & SPECIFIC else ''}"
            (texts if kind == 1 else binaries)[name] = data[at + header:at + header + size]
            at += header + size
        start = data.find(FATBIN_MAGIC, end)
    return texts, binaries


def complaints(text, architecture, arguments):
    """What ptxas says about products that it serialises; asked only of code that has them."""
    if b"wgmma" not in text:
        return []
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "in.ptx")
        source.write_bytes(text.rstrip(b"\0"))
        said = run([arguments.ptxas, f"-arch=sm_{architecture}", "-v", source, "-o", pathlib.Path(folder, "out.cubin")])
    return [f"{architecture}: ptxas: {x}" for x in said.splitlines() if PTXAS_COMPLAINT.search(x)]


def disassembled(binary, arguments):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        return read_sass(run([arguments.nvdisasm, "-c", file.name]))


def check_kernel(expected, functions, kind, where, problems):
    matches = [x for x in functions if expected["symbol"] in x.name]
    if len(matches) != 1:
        problems.append(f"{where}: {len(matches)} functions contain \"{expected['symbol']}\"")
        return
    check = check_function if "loops" in expected else check_counted
    check(matches[0], kind, expected, where, problems)


def audit(arguments, kernels):
    problems = []
    texts, binaries = code_of(arguments.object)
    if not texts:
        problems.append("no PTX")
    for architecture, text in texts.items():
        problems += complaints(text, architecture, arguments)
        functions = read_ptx(text.decode(errors="replace").rstrip("\0"))
        for expected in kernels:
            check_kernel(expected, functions, "ptx", f"{architecture} {expected['kernel']} ptx", problems)
    for architecture in arguments.architectures.split(","):
        if architecture not in binaries:
            problems.append(f"no machine code for {architecture}; there is {', '.join(sorted(binaries)) or 'none'}")
            continue
        functions = disassembled(binaries[architecture], arguments)
        # Spilled registers, too, are loads and stores of local memory.
        problems += [f"{architecture}: {x.name} uses local memory" for x in functions
                     if any(re.match(r"(LDL|STL)\b", y.opcode) for y in x.code)]
        for expected in kernels:
            check_kernel(expected, functions, "sass", f"{architecture} {expected['kernel']} sass", problems)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help=".cu file, as the expectations name it")
    parser.add_argument("--object", required=True, help="what the build made of it")
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--nvdisasm", required=True)
    parser.add_argument("--expectations", required=True)
    parser.add_argument("--architectures", default="80,90a,100a", help="whose machine code must be there")
    arguments = parser.parse_args()
    kernels = [x for x in json.loads(pathlib.Path(arguments.expectations).read_text()) if x["file"] == arguments.source]
    if not kernels:
        sys.exit(f"{arguments.source}: no kernel of this file is in {arguments.expectations}")
    problems = audit(arguments, kernels)
    print("\n".join(problems) if problems else f"{arguments.source}: {len(kernels)} kernels as expected on {arguments.architectures}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
