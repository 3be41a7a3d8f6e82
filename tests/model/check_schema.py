# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
"""check_schema.py SCHEMA DOCUMENT...: prints "valid" or "invalid" for each document; fails if the schema itself is wrong."""
import json
import sys

import jsonschema


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


schema = load(sys.argv[1])
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    print("valid" if validator.is_valid(load(path)) else "invalid")
