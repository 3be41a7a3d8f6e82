#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Checks what a CUDA binary links and embeds: the shared runtime by RUNPATH and neither the driver nor NVML; and in every fat
binary one uncompressed PTX entry (compute_80) beside machine code for sm_80, sm_90a and sm_100a.

The layout of the container was found by experiment with CUDA 13.0: a 16-byte header (magic, version, header size, size of the
rest), then entries (kind 1 PTX or 2 machine code, header size, payload size, architecture at 28, flags at 40)."""
import struct
import subprocess
import sys

MAGIC = struct.pack("<IHH", 0xBA55ED50, 1, 16)
COMPRESSED = 0x8000 | 0x2000  # zstd, LZ4
ARCHITECTURE_SPECIFIC = 0x100000
EXPECTED = ["ptx 80", "sass 100a", "sass 80", "sass 90a"]


def entries(data, begin):
    size, = struct.unpack_from("<Q", data, begin + 8)
    at, end = begin + 16, begin + 16 + size
    while at < end:
        kind, header, payload = struct.unpack_from("<H2xIQ", data, at)
        architecture, = struct.unpack_from("<I", data, at + 28)
        flags, = struct.unpack_from("<Q", data, at + 40)
        name = f"{'ptx' if kind == 1 else 'sass'} {architecture}{'a' if flags & ARCHITECTURE_SPECIFIC else ''}"
        yield name, flags, data[at + header:at + header + payload]
        at += header + payload


def main(binary):
    problems = []
    dynamic = subprocess.run(["readelf", "-d", binary], capture_output=True, text=True, check=True).stdout
    needed = [x.split("[")[1].rstrip("]") for x in dynamic.splitlines() if "(NEEDED)" in x]
    if "libcudart.so.13" not in needed:
        problems.append(f"the shared runtime is not linked: {needed}")
    if "(RUNPATH)" not in dynamic or "(RPATH)" in dynamic:
        problems.append("the run path is not a RUNPATH, so LD_LIBRARY_PATH would not win over it")
    problems += [f"links {x}, which comes with a driver" for x in needed if x.startswith(("libcuda.so", "libnvidia-ml"))]
    data, found, at = open(binary, "rb").read(), 0, 0
    while (at := data.find(MAGIC, at)) >= 0:
        contents = list(entries(data, at))
        at += 16
        names = sorted(name for name, _, _ in contents)
        if any("120" in name for name in names) or not names:
            continue  # the image for launch.stream.first, and the linker's empty stub
        found += 1
        if names != EXPECTED:
            problems.append(f"a fat binary holds {names}, expected {EXPECTED}")
        for name, flags, payload in contents:
            if flags & COMPRESSED:
                problems.append(f"{name} is compressed")
            if name.startswith("ptx") and b".target sm_80" not in payload:
                problems.append(f"{name} is not plain text")
    if found == 0:
        problems.append("no fat binary found")
    print("\n".join(problems) if problems else f"{found} fat binaries as expected; needs {', '.join(needed)}")
    sys.exit(1 if problems else 0)


main(sys.argv[1])
