"""Generates the package's modules from the program: results.py from the JSON Schema of every command, commands.py from the command table."""
import json
import keyword
import re
import subprocess

HEAD = '"""Made by python/generate.py from the program\'s own tables: not edited by hand."""\n'


def identifier(key):
    name = re.sub(r"\W", "_", key)
    return name + "_" if keyword.iskeyword(name) or name[0].isdigit() else name


def camel(text):
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"\W|_", text))


class Classes:
    """The dataclasses of one schema, dependencies first."""

    def __init__(self, name, schema):
        self.prefix, self.schema, self.made, self.source = camel(name), schema, {}, []
        self.record(self.prefix, schema, "Result", ", command=%r" % name)

    def record(self, name, schema, base, more=""):
        self.made[name] = True
        lines, keys, required = [], {}, schema.get("required", [])
        for key, field in schema.get("properties", {}).items():
            kind, default = self.kind(field, name + camel(key)), ""
            if key not in required:
                kind, default = kind if kind.endswith("None") or kind == "Any" else kind + " | None", " = None"
            lines.append("    %s: %s%s" % (identifier(key), kind, default))
            if identifier(key) != key:
                keys[key] = identifier(key)
        about = '    """%s"""\n' % schema["description"] if "description" in schema else ""
        self.source.append("@dataclass(frozen=True, kw_only=True, repr=False)\nclass %s(%s, keys=%r%s):\n%s%s\n" % (
            name, base, keys, more, about, "\n".join(lines) or "    pass"))

    def kind(self, field, name):
        if "$ref" in field:
            short = field["$ref"].rsplit("/", 1)[1]
            target = self.prefix + camel(short)
            if target not in self.made:
                self.record(target, self.schema["$defs"][short], "Record")
            return target
        if "enum" in field:
            words = [repr(v) for v in field["enum"] if v is not None]
            return "Literal[%s]%s" % (", ".join(words), " | None" if None in field["enum"] else "")
        kinds = field.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        plain = {"number": "float", "integer": "int", "string": "str", "boolean": "bool", "null": "None"}
        texts = []
        for kind in kinds:
            if kind == "array":
                texts.append("tuple[%s, ...]" % self.kind(field.get("items", {}), name))
            elif kind == "object" and set(field.get("properties", {})) == {"value", "lo", "hi"}:
                texts.append("Estimate")
            elif kind == "object" and "properties" in field:
                self.record(name, field, "Record")
                texts.append(name)
            elif kind == "object":
                texts.append("dict[str, Any]")
            else:
                texts.append(plain[kind])
        return " | ".join(texts) or "Any"


def results(schemas):
    out = [HEAD, "from __future__ import annotations\n\nfrom dataclasses import dataclass\nfrom typing import Any, Literal\n\n",
           "from ._result import Estimate, Record, Result\n\n\n"]
    for name, schema in schemas.items():
        out.append("\n\n".join(Classes(name, schema).source) + "\n\n")
    return "".join(out)


TYPES = {"flag": "bool", "text": "str | PathLike[str]", "count": "int | str", "quantity": "str"}


def function(command, everywhere, schemas):
    key, name = command["asked_with"], command["command"]
    # a duplicate name means the operand, or the command's own option, as in requests
    options = {o["name"]: o for o in reversed(command["options"] + everywhere) if not o.get("local") and o["name"] != key}
    options = list(options.values())[::-1]
    mine = [camel(s) for s in schemas if s == name or s.startswith(name.replace(" ", "-") + "-")]
    arguments, doc = [], []
    if key:
        many = "..." in command["operands"]
        kind = "str | PathLike[str]%s | None" % (" | Sequence[str]" if many else "")
        arguments.append("%s: %s = None" % (identifier(key), kind))
    arguments.append("*")
    for o in options:
        kind = "Literal[%s]" % ", ".join(map(repr, o["argument"].split("|"))) if o["type"] == "choice" else TYPES[o["type"]]
        kind += " | Sequence[%s]" % kind if o.get("many") else ""
        arguments.append("%s: %s%s" % (identifier(o["name"].replace("-", "_")), kind, " = False" if o["type"] == "flag" else " | None = None"))
        doc.append("    %s: %s" % (identifier(o["name"].replace("-", "_")), o["summary"]))
    arguments += ["files: Mapping[str, str] | None = None", "using: Jeoul | None = None"]
    return 'def %s(\n    %s,\n) -> %s:\n    """%s.\n\n%s\n    files: text of the files that arguments name\n    using: another catalog\n    """\n    return _answer(%r, locals())\n' % (
        identifier(name.replace(" ", "_")), ",\n    ".join(arguments), " | ".join("results." + m for m in mine) or "Result",
        command["summary"].replace("\\", "\\\\"), "\n".join(doc).replace("\\", "\\\\"), name)


def commands(table, schemas):
    out = [HEAD, "from __future__ import annotations\n\nfrom os import PathLike\nfrom typing import Literal, Mapping, Sequence\n\n",
           "from . import results\nfrom ._library import Jeoul\nfrom ._result import Result, answer as _answer\n\n\n"]
    asked = [c for c in table["commands"] if "asked_with" in c]
    out += ["\n\n".join(function(c, table["options_of_every_command"], schemas) for c in asked)]
    names = [(identifier(c["command"].replace(" ", "_")), c.get("was")) for c in asked]
    out += ["\n\n%s = %s  # the older name" % (was, name) for name, was in names if was]
    out += ["\n\n__all__ = [%s]\n" % ", ".join(repr(n) for pair in names for n in pair if n)]
    return "".join(out)


def generate(program):
    """{file name: text}, from a built program."""
    def ask(*args):
        return subprocess.run([program, *args, "--lang=en"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    schemas = {name: json.loads(ask("schema", name)) for name in ask("schema").split()}
    return {"results.py": results(schemas), "commands.py": commands(json.loads(ask("help", "--json")), schemas)}
