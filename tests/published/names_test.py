# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""Each published quantity is one of docs/quantities.md, in the unit that the page gives for it."""
import re
import unittest

from documents import NAMES, SOURCE, load

PLACEHOLDERS = {"<level>": "(?:l1|l2|l3|dram)", "<type>": "(?:f64|f32|tf32|f16|bf16|f8|int32|int8|int4)", "<shape>": r"m\d+n\d+k\d+",
                "<h2d, d2h, p2p>": "(?:h2d|d2h|p2p)"}
IN_CYCLES = {"s": (".cycles", "cycle"), "B/s": (".per_cycle", "B/cycle"), "op/s": (".per_cycle", "op/cycle")}


def documented():
    """[(pattern, unit)] from the first two columns of the page's tables; `.x` stands for the name before with its end replaced."""
    found = []
    for line in (SOURCE / "docs/quantities.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 4 or not cells[1].startswith("`"):
            continue
        name = ""
        for text in re.findall(r"`([^`]+)`", cells[1]):
            name = name.rsplit(".", 1)[0] + text if text.startswith(".") else text
            pattern = re.escape(name)
            for placeholder, expression in PLACEHOLDERS.items():
                pattern = pattern.replace(re.escape(placeholder), expression)
            for unit in cells[2].split(", "):
                found.append((pattern, unit))
                if unit in IN_CYCLES:
                    suffix, other = IN_CYCLES[unit]
                    found.append((pattern + re.escape(suffix), other))
    return found


class Names(unittest.TestCase):
    def test_every_quantity_is_documented(self):
        pairs = documented()
        self.assertGreater(len(pairs), 50)
        for name in NAMES:
            for item in load(name)["measurements"]:
                with self.subTest(item["id"]):
                    units = {unit for pattern, unit in pairs if re.fullmatch(pattern, item["quantity"])}
                    self.assertIn(item["unit"], units)

    def test_unknown_names_are_not_documented(self):
        pairs = documented()
        for name in ("latency.l4.hit", "latency.l1.hit.cycle", "bandwidth.dram.stencil3.device", "throughput.mma.fp16.device"):
            self.assertFalse([pattern for pattern, _ in pairs if re.fullmatch(pattern, name)], name)


if __name__ == "__main__":
    unittest.main()
