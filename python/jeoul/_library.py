"""libjeoul through ctypes: handles, requests, answers; errors become exceptions."""
from __future__ import annotations

import ctypes
import json
import os
import threading
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence


class JeoulError(Exception):
    """An error: what is wrong, where, and what would be right."""


class UsageError(JeoulError, ValueError):
    """Unknown key or invalid value."""


class NotFoundError(JeoulError, LookupError):
    """Unknown name; the text suggests similar ones."""


class AmbiguousError(JeoulError, LookupError):
    """Ambiguous name; the text lists the candidates."""


_ERRORS = {2: UsageError, 3: NotFoundError, 4: AmbiguousError}
_BAD = 5  # success, but the verdict is bad


class _Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 640)]


def _load() -> ctypes.CDLL:
    """Path of the library: JEOUL_LIBRARY, else next to this file (wheel), else the system's."""
    beside = Path(__file__).with_name("libjeoul.so.0")
    path = os.environ.get("JEOUL_LIBRARY") or (str(beside) if beside.exists() else "libjeoul.so.0")
    try:
        lib = ctypes.CDLL(path)
    except OSError as why:
        raise ImportError("libjeoul cannot be opened (%s): install the package libjeoul0, or name it in JEOUL_LIBRARY" % why) from None
    lib.jeoul_version.restype = ctypes.c_char_p
    lib.jeoul_open.restype = ctypes.c_void_p
    lib.jeoul_open.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Error)]
    lib.jeoul_close.argtypes = [ctypes.c_void_p]
    lib.jeoul_close.restype = None
    lib.jeoul_ask_reading.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_Error)]
    lib.jeoul_free.argtypes = [ctypes.c_void_p]
    lib.jeoul_free.restype = None
    return lib


_lib = _load()
__version__: str = _lib.jeoul_version().decode()


def _names(names: Iterable[str | os.PathLike[str]]) -> Any:
    """A NULL-terminated list of C strings."""
    texts = [os.fsencode(n) for n in names]
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)


def _fail(status: int, error: _Error) -> JeoulError:
    return _ERRORS.get(status, JeoulError)(error.text.decode("utf-8", "replace"))


def _own_folder() -> list[str]:
    """The user's overlay of the catalog, as the program uses it."""
    config = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(config if config.startswith("/") else os.path.expanduser("~/.config")) / "jeoul" / "catalog"
    return [str(folder)] if folder.is_dir() else []


class Jeoul:
    """The catalog with optional overlay folders. Thread-safe: one instance may be shared."""

    def __init__(self, catalog: Sequence[str | os.PathLike[str]] | None = None) -> None:
        error = _Error()
        self._handle = _lib.jeoul_open(_names((*_own_folder(), *(catalog or ()))), ctypes.byref(error))
        if not self._handle:
            raise _fail(error.status, error)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _lib.jeoul_close(self._handle)

    def ask(self, command: str, request: Mapping[str, Any], paths: Iterable[str] = ()) -> tuple[str, bool]:
        """The answer's text as the command prints it, and whether its verdict is bad. Of this machine's files only `paths` are readable."""
        answer, error = ctypes.c_void_p(), _Error()
        text = json.dumps(request).encode()
        status = _lib.jeoul_ask_reading(self._handle, command.encode(), text, _names(paths), ctypes.byref(answer), ctypes.byref(error))
        if status not in (0, _BAD):
            raise _fail(status, error)
        try:
            return ctypes.string_at(answer.value).decode(), status == _BAD
        finally:
            _lib.jeoul_free(answer)


_default: Jeoul | None = None
_lock = threading.Lock()


def default() -> Jeoul:
    global _default
    with _lock:
        if _default is None:
            _default = Jeoul()
        return _default
