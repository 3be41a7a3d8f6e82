# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Chips for the emulated GPU with random parameters, and what the suite must report of each."""
import copy
import random

SECTOR_LIMIT = 8  # sectors per line that the emulator knows


def cache(rng, low, high, line, ways):
    """A capacity between low and high that is a whole number of sets, usually no power of two."""
    return rng.randrange(low // (line * ways), high // (line * ways) + 1) * line * ways


def line_and_sector(rng):
    sector = rng.choice([32, 64])
    return [rng.choice([n for n in (64, 128, 256) if sector <= n <= SECTOR_LIMIT * sector]) for _ in range(2)] + [sector]


def random_chip(seed, template):
    """A copy of `template` (a chip file as a dict) with everything that the suite measures drawn anew."""
    rng = random.Random(seed)
    chip = copy.deepcopy(template)
    chip["name"] = f"random_{seed}"
    chip["comment"] = f"Drawn from seed {seed} by tests/emulator/random_chip.py."
    chip["devices"] = 2 if seed % 5 == 0 else 1
    # No published peak rates belong to this one, so no planted rate can exceed them.
    chip["compute_capability"] = {"major": 8, "minor": 7}
    chip["memory_bytes"] = 96 << 20
    sm = chip["sm"]
    sm["count"] = rng.randint(1, 9)
    sm["id_stride"] = rng.choice([1, 1, 2])
    sm["hz"] = round(rng.uniform(0.8e9, 2.1e9), -6)
    chip["timer_ns"] = rng.choice([1, 32, 1024])
    op = chip["instructions"]
    op["fp32"] = {"latency": rng.randint(3, 9), "interval": rng.choice([1, 2])}
    op["mma_f16"] = {"latency": rng.randint(14, 40), "macs_per_cycle": rng.choice([32, 64, 128])}
    chip["shared"]["latency"] = rng.randint(18, 40)
    l1_line, l2_line, sector = line_and_sector(rng)
    l1 = chip["l1"]
    l1["line"], l1["sector"], l1["ways"] = l1_line, sector, rng.choice([16, 32, 64])
    l1["bytes"] = cache(rng, 100 << 10, 256 << 10, l1_line, l1["ways"])
    l1["latency"] = rng.randint(24, 50)
    sm["shared_bytes"] = max(50 << 10, l1["bytes"] // 2 // 1024 * 1024)
    sm["block_shared_bytes"] = sm["shared_bytes"] - 1024
    l2 = chip["l2"]
    l2["partitions"] = rng.choice([1, 2])
    l2["slices"] = rng.randint(2, 6) * l2["partitions"]
    l2["line"], l2["ways"] = l2_line, rng.choice([8, 12, 16])
    l2["bytes"] = cache(rng, 3 * l1["bytes"], 1280 << 10, l2_line, l2["ways"])
    l2["latency"] = rng.randint(150, 300)
    l2["far_latency"] = rng.randint(60, 160) if l2["partitions"] == 2 else 0
    l2["slice_bytes_per_cycle"] = rng.choice([32, 64])
    l2["sm_bytes_per_cycle"] = rng.choice([32, 64])
    l2["atomic_latency"] = l2["latency"] + 30
    dram = chip["dram"]
    dram["latency"] = l2["latency"] + rng.randint(200, 500)
    dram["channels"] = rng.randint(1, 9)
    l2_rate = l2_bytes_per_cycle(chip) * sm["hz"]
    dram["bytes_per_second"] = round(l2_rate * rng.uniform(0.2, 0.6), -9)
    # Many more requests in flight than every level's rate needs: otherwise the latency sets it (Little's law), and
    # near that a busy channel holds up the others.
    in_flight = max(l2_rate * (l2["latency"] + l2["far_latency"]), dram["bytes_per_second"] * (dram["latency"] + l2["far_latency"]))
    l1["outstanding"] = int(8 * in_flight / sm["hz"] / sm["count"] / sector) + 64
    link = chip["host_link"]
    link["latency"] = rng.randint(500, 1500)
    link["bytes_per_second"] = round(rng.uniform(5e9, 60e9), -8)
    link["copy_engines"] = rng.randint(1, 3)
    link["copy_latency_ns"] = rng.randint(800, 5000)
    peer = chip["peer_link"]
    peer["latency"] = rng.randint(600, 1500)
    peer["bytes_per_second"] = round(rng.uniform(10e9, 60e9), -8)
    over = chip["overhead"]
    over["api_ns"] = rng.randint(50, 400)
    over["launch_ns"] = rng.randint(1500, 5000)
    over["dependent_ns"] = rng.randint(300, 900)
    over["graph_node_ns"] = rng.randint(300, 1000)
    over["event_ns"] = rng.choice([1, 32])
    over["block_cycles"] = rng.randint(0, 40)
    chip["limits"]["wall_seconds"] = 600  # on a busy machine
    return chip


def l2_bytes_per_cycle(chip):
    l2 = chip["l2"]
    return min(l2["slices"] * l2["slice_bytes_per_cycle"], chip["sm"]["count"] * l2["sm_bytes_per_cycle"])


def expectations(chip):
    """[(parameter, planted value, kind of tolerance)]. Kinds: latency (2 cycles or 2 %), rate (3 %), grid (the
    sweep's step), exact."""
    hz = chip["sm"]["hz"]
    sms = chip["sm"]["count"]
    l1, l2, dram = chip["l1"], chip["l2"], chip["dram"]
    over, link = chip["overhead"], chip["host_link"]
    # With one SM, or SMs of one partition only, half of the slices are far all the same.
    far = l2["far_latency"] / 2
    fp32, mma = chip["instructions"]["fp32"], chip["instructions"]["mma_f16"]
    lanes = 4 * 32 / fp32["interval"]
    ns = 1e-9
    expected = [
        ("latency.l1.hit", l1["latency"] / hz, "latency"),
        ("latency.l2.hit", (l2["latency"] + far) / hz, "latency"),
        ("latency.l2.hit.nearest_pair", l2["latency"] / hz, "latency"),
        ("latency.l2.hit.farthest_pair", (l2["latency"] + l2["far_latency"]) / hz, "latency"),
        ("latency.dram", (dram["latency"] + far) / hz, "latency"),
        ("latency.smem.load", chip["shared"]["latency"] / hz, "latency"),
        ("latency.fma.f32", fp32["latency"] / hz, "latency"),
        ("capacity.l1", l1["bytes"], "grid"),
        ("capacity.l2", l2["bytes"], "grid"),
        ("line.l1", l1["line"], "exact"),
        ("line.l2", l2["line"], "exact"),
        ("sector.l1", l1["sector"], "exact"),
        ("sector.l2", l1["sector"], "exact"),
        ("bandwidth.l1.read.device", l1["bytes_per_cycle"] * sms * hz, "rate"),
        ("bandwidth.l2.read.device", l2_bytes_per_cycle(chip) * hz, "rate"),
        ("bandwidth.dram.read.device", dram["bytes_per_second"], "rate"),
        ("bandwidth.dram.write.device", dram["bytes_per_second"], "rate"),
        ("bandwidth.dram.copy.device", dram["bytes_per_second"], "rate"),
        ("throughput.fma.f32.device.burst", 2 * lanes * sms * hz, "rate"),
        ("throughput.mma.bf16.device", 2 * 4 * mma["macs_per_cycle"] * sms * hz, "rate"),
        ("clock.sm", hz, "rate"),
        ("sm.count", sms, "exact"),
        ("launch.graph", over["graph_node_ns"] * ns + over["block_cycles"] / hz, "latency"),
        # The host queues a launch in one call; the device needs the gap between dependent kernels.
        ("launch.stream", max(over["api_ns"] * ns, over["dependent_ns"] * ns + over["block_cycles"] / hz), "latency"),
    ]
    for direction in ("h2d", "d2h"):
        expected.append((f"transfer.{direction}.bandwidth", link["bytes_per_second"], "rate"))
        expected.append((f"transfer.{direction}.latency", (over["dependent_ns"] + link["copy_latency_ns"]) * ns, "latency"))
    if chip["devices"] > 1:
        expected.append(("transfer.p2p.bandwidth", chip["peer_link"]["bytes_per_second"], "rate"))
        expected.append(("latency.peer", chip["peer_link"]["latency"] / hz, "latency"))
    return expected
