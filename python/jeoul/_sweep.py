"""Runs a command for all combinations of list arguments."""
from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

from ._library import JeoulError
from ._result import Result, flat, frame


class Sweep(list):  # type: ignore[type-arg]
    """Results in the order of the combinations; a failed one is its exception."""

    def __init__(self, points: list[dict[str, Any]], results: list[Any]) -> None:
        super().__init__(results)
        self.points = points

    def rows(self) -> list[dict[str, Any]]:
        out = []
        for point, result in zip(self.points, self):
            if isinstance(result, JeoulError):
                out.append({**point, "error": str(result)})
            else:
                out += [{**row, **point} for row in result.rows()]
        return out

    def to_frame(self) -> Any:
        """A pandas DataFrame with the swept columns first."""
        data = frame(self.rows())
        first = list(self.points[0]) if self.points else []
        return data[first + [c for c in data.columns if c not in first]]


def sweep(command: Callable[..., Result], /, *, threads: int | None = None, **given: Any) -> Sweep:
    """Runs a command for all combinations: sweep(jeoul.predict, model=["gpt2-124m", "llama-3-8b"], on=["rtx-4090", "8x h100-sxm5"], batch=[1, 4])"""
    axes = {k: v for k, v in given.items() if isinstance(v, (list, tuple, range))}
    rest = {k: v for k, v in given.items() if k not in axes}
    points = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]

    def one(point: dict[str, Any]) -> Any:
        try:
            return command(**rest, **point)
        except JeoulError as error:
            return error

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return Sweep(points, list(pool.map(one, points)))


__all__ = ["Sweep", "flat", "sweep"]
