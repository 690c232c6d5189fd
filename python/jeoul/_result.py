"""Answers as typed records: results.py has a class per schema; other records have attribute access."""
from __future__ import annotations

import dataclasses
import html
import json
import os
import re
import typing
from typing import Any, ClassVar, Iterator, Mapping

from ._library import Jeoul, default


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A value with its 80 % interval; None: unknown."""

    value: float | None
    lo: float | None = None
    hi: float | None = None

    def __float__(self) -> float:
        return float("nan") if self.value is None else float(self.value)

    def __contains__(self, measured: float) -> bool:
        return self.lo is not None and self.hi is not None and self.lo <= measured <= self.hi

    def __str__(self) -> str:
        if self.value is None:
            return "?"
        return "%.4g" % self.value + ("" if self.lo is None or self.hi is None else " (%.4g–%.4g)" % (self.lo, self.hi))


def _hints(cls: type) -> dict[str, Any]:
    """Types of the fields, resolved once per class."""
    if "_resolved" not in cls.__dict__:
        cls._resolved = typing.get_type_hints(cls)  # type: ignore[attr-defined]
    return cls._resolved  # type: ignore[attr-defined]


def _read(value: Any, kind: Any) -> Any:
    if isinstance(value, dict):
        for one in (kind, *typing.get_args(kind)):
            if one is Estimate:
                return Estimate(**{k: value.get(k) for k in ("value", "lo", "hi")})
            if isinstance(one, type) and issubclass(one, Record):
                return one._from(value)
        return value if dict in (typing.get_origin(a) for a in (kind, *typing.get_args(kind))) else Anything(value)
    if isinstance(value, list):
        for one in (kind, *typing.get_args(kind)):
            if typing.get_origin(one) is tuple:
                return tuple(_read(v, typing.get_args(one)[0]) for v in value)
        return tuple(_read(v, None) for v in value)
    return value


def flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """One flat row: {"step_s": 0.93, "step_s_lo": 0.78, "memory_B.total": ...}; without lists."""
    row: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, Mapping) and "value" in value:
            row[prefix + key] = value["value"]
            row.update({prefix + key + "_" + end: value[end] for end in ("lo", "hi") if end in value})
        elif isinstance(value, Mapping):
            row.update(flat(value, prefix + key + "."))
        elif not isinstance(value, list):
            row[prefix + key] = value
    return row


class Record:
    """A part of an answer."""

    _keys: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls, keys: dict[str, str] | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls._keys = keys or {}

    @classmethod
    def _from(cls, data: Mapping[str, Any], **more: Any) -> Any:
        hints = _hints(cls)
        known = {cls._keys.get(k, k): v for k, v in data.items()}
        # fields of a newer library remain accessible by to_dict()
        made = cls(**{f.name: _read(known.get(f.name), hints[f.name]) for f in dataclasses.fields(cls)})  # type: ignore[arg-type]
        object.__setattr__(made, "_data", dict(data))
        for key, value in more.items():
            object.__setattr__(made, key, value)
        return made

    def to_dict(self) -> dict[str, Any]:
        """The command's JSON."""
        return json.loads(json.dumps(self._data))  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        fields = ("%s=%r" % (k, v) for k, v in self._data.items() if not isinstance(v, (dict, list)))  # type: ignore[attr-defined]
        return "%s(%s)" % (type(self).__name__, ", ".join(fields))


class Anything(Record):
    """A part without a schema: keys are attributes."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)

    def __getattr__(self, name: str) -> Any:
        for key in (name, name.rstrip("_")):
            if not name.startswith("_") and key in self._data:
                value = self._data[key]
                whole = isinstance(value, dict) and set(value) == {"value", "lo", "hi"}
                return _read(value, Estimate if whole else None)
        raise AttributeError("no '%s' here; there is %s" % (name, ", ".join(self._data)))

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)


# Styles that a notebook lacks: line-high marks, one drawing per chart, named colours.
_STYLE = (
    "<style>.jeoul{--fg:currentColor;--dim:#777;--line:#8884;--bg:transparent;--s1:#0b62a4;--s2:#c2410c;--s3:#146c37;--s4:#7c3aed;--s5:#6b7280;--s6:#b3261e}"
    ".jeoul svg.o{width:.55em;height:.55em;margin-left:.15em;vertical-align:.35em;opacity:.6}.jeoul svg.m{width:1em;height:1em;vertical-align:-.14em}"
    ".jeoul .defs{position:absolute}.jeoul svg.slim{display:none}.jeoul svg.full{max-width:46em}.jeoul svg text{font:12px sans-serif;fill:currentColor}"
    ".jeoul svg.bar{width:8em;height:.7em;background:#8883}.jeoul svg.bar rect{fill:currentColor}.jeoul .ruler>svg:first-child{width:100%;height:1em}"
    ".jeoul .ruler rect{fill:#8884}.jeoul .ruler path{stroke:currentColor;vector-effect:non-scaling-stroke}.jeoul svg .grid,.jeoul svg .axis{stroke:#8886}"
    ".jeoul td,.jeoul th{text-align:left;font-weight:normal}.jeoul .r{text-align:right}.jeoul dt{font-weight:bold}.jeoul .note{font-size:smaller}</style>"
)
SCHEMAS: dict[str, list[type]] = {}


class Result(Record):
    """An answer: typed fields, to_dict(), to_frame(), display as text and in notebooks."""

    _command: ClassVar[str] = ""
    _asked: Mapping[str, Any]
    _using: Jeoul
    bad: bool  # success, but a check's or audit's verdict is bad

    def __init_subclass__(cls, command: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        cls._command = command
        SCHEMAS.setdefault(command.split("-")[0], []).append(cls)

    def _again(self, form: str) -> str:
        return self._using.ask(self._asked["command"], {**self._asked["request"], "as": form}, self._asked["paths"])[0]

    def __str__(self) -> str:
        return self._again("text")

    def _repr_html_(self) -> str:
        page = self._again("html")
        if not page.lstrip().startswith("<"):
            page = "<pre>%s</pre>" % html.escape(page)
        return '<div class="jeoul">%s%s</div>' % (_STYLE, page)

    def rows(self) -> list[dict[str, Any]]:
        """A row per list item of the answer (sweep, systems, prices); a single row if it has no list."""
        data = self._data  # type: ignore[attr-defined]
        for key, value in data.items():
            if key not in ("advice", "assumptions", "notes") and isinstance(value, list) and value and all(isinstance(p, dict) for p in value):
                return [flat(point) for point in value]
        return [flat(data)]

    def to_frame(self) -> Any:
        """rows() as a pandas DataFrame."""
        return frame(self.rows())


class Plain(Result, Anything):
    """An answer of a command without a schema."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        Anything.__init__(self, data)

    @classmethod
    def _from(cls, data: Mapping[str, Any], **more: Any) -> Any:
        made = cls(data)
        for key, value in more.items():
            setattr(made, key, value)
        return made


def frame(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("pandas is not installed: rows() has the same as a list of dicts") from None
    return pandas.DataFrame(rows)


def _class_for(command: str, data: Mapping[str, Any]) -> Any:
    """The schema that contains all keys and whose required keys are present."""
    for cls in SCHEMAS.get(command, []):
        fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
        keys = {cls._keys.get(k, k) for k in data}  # type: ignore[attr-defined]
        needed = {n for n, f in fields.items() if f.default is dataclasses.MISSING}
        if needed <= keys <= set(fields):
            return cls
    return Plain


def _named(request: dict[str, Any]) -> list[str]:
    """Files and folders that values refer to, as on the command line. For an index file also its folder, since it refers to neighbouring files."""
    paths = []
    for key, value in request.items():
        many = isinstance(value, (list, tuple))
        values = list(value) if many else [value]
        for i, v in enumerate(values):
            if not isinstance(v, (str, os.PathLike)) or key == "files":
                continue
            text, index = os.fspath(v), os.fspath(v).endswith("index.json")
            if os.path.exists(v) and os.sep not in text and (index or isinstance(v, os.PathLike)):
                text = os.path.join(".", text)  # marks it as a path instead of a catalog name
            if os.path.exists(v) or re.search(r"/|\.[a-z]+$", text):  # the program reports missing files
                paths += [text, os.path.dirname(text)] if index else [text]
            values[i] = text
        request[key] = values if many else values[0]
    return paths


def answer(command: str, given: Mapping[str, Any]) -> Any:
    """`given`: arguments of a function in commands.py; names that are Python keywords end with '_'."""
    request = {k.rstrip("_"): v for k, v in given.items() if k != "using" and v is not None and v is not False}
    paths = _named(request)
    jeoul = given["using"] or default()
    text, bad = jeoul.ask(command, request, paths)
    try:
        data = json.loads(text)
    except ValueError:
        return text  # commands that print text: names of schemas
    if not isinstance(data, dict):
        data = {"rows": data}
    return _class_for(command, data)._from(data, _asked={"command": command, "request": request, "paths": paths}, _using=jeoul, bad=bad)
