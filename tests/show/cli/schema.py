#!/usr/bin/env python3
"""schema.py SCHEMA DOCUMENT: does the document have the form that the schema says? The keywords that jeoul writes, no others."""
import json
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(value, schema, root, at):
    if "$ref" in schema:
        yield from faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
        return
    if "anyOf" in schema:
        if all(list(faults(value, s, root, at)) for s in schema["anyOf"]):
            yield f"{at}: fits none of anyOf"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    types = schema.get("type", [])
    if types and not any(is_type(value, t) for t in ([types] if isinstance(types, str) else types)):
        yield f"{at}: {value!r} is no {types}"
    elif isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{at}: no {key}" for key in schema.get("required", []) if key not in value)
        if schema.get("additionalProperties") is False:
            yield from (f"{at}: {key} is not in the schema" for key in value if key not in known)
        for key in value.keys() & known.keys():
            yield from faults(value[key], known[key], root, f"{at}.{key}")
    elif isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from faults(item, schema["items"], root, f"{at}[{i}]")


def main():
    schema, document = (json.load(open(path)) for path in sys.argv[1:3])
    found = list(faults(document, schema, schema, "$"))
    print("\n".join(found[:10]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
