# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""What the tests of this folder share: where the files are and how they are read."""
import json
import os
from pathlib import Path

SOURCE = Path(os.environ["WARPMETER_SOURCE"])
NAMES = ("v100", "a100", "h100_sxm", "h200", "rtx4090")


def load(name):
    return json.loads((SOURCE / "results/published" / f"{name}.run.json").read_text(encoding="utf-8"))


def reference():
    return Path(os.environ["WARPMETER_SHARED_DATA"]) / "reference"


def records(name):
    return json.loads((reference() / f"{name}.json").read_text(encoding="utf-8"))
