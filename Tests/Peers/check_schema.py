#!/usr/bin/python3
"""Validates the campaign files among examples against the JSON schema of the command.

    check_schema.py SCHEMA FILE...

YAML files are campaign files as a whole. In Markdown, indented blocks and blocks of yaml are, if they have a key of the schema.
Prints the number of campaigns, and a line for each fault.
"""
import json
import re
import sys

import jsonschema
import yaml


def blocks(path):
    """Yields (line, text) of each campaign in a file."""
    text = open(path, encoding="utf-8").read()
    if not path.endswith(".md"):
        yield 1, text
        return
    for match in re.finditer(r"^```yaml\n(.*?)^```$", text, re.M | re.S):
        yield text[: match.start()].count("\n") + 1, match.group(1)
    for match in re.finditer(r"(?<=\n\n)((?: {4}.*\n)+(?:\n?(?: {4}.*\n)+)*)", text):
        yield text[: match.start()].count("\n") + 1, re.sub(r"^ {4}", "", match.group(1), flags=re.M)


def main():
    schema = json.load(open(sys.argv[1], encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    # As in an editor, a time such as 12:00 is a text.
    loader = yaml.BaseLoader if "--texts" in sys.argv else yaml.SafeLoader
    count = 0
    for path in sys.argv[2:]:
        for line, text in blocks(path):
            try:
                campaign = yaml.load(text, Loader=loader)
            except yaml.YAMLError:
                if not path.endswith(".md"):
                    print(f"{path}: not YAML")
                continue
            if not isinstance(campaign, dict):
                continue
            if path.endswith(".md") and not set(map(str, campaign)) & set(schema["properties"]):
                continue
            count += 1
            for fault in validator.iter_errors(campaign):
                print(f"{path}:{line}: {'.'.join(map(str, fault.absolute_path))}: {fault.message}"[:300])
    print(count)


main()
