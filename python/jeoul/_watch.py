"""Compares a user's training loop with the prediction: measured step time, expected step time, bottleneck."""
from __future__ import annotations

import html
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Any, Callable, TextIO

from . import results
from ._library import Jeoul, UsageError
from ._result import Estimate


@dataclass(frozen=True)
class Watched:
    """The result: measured steps (median; 10th and 90th percentile below), the prediction, and the comparison."""

    n_steps: int
    measured_s: Estimate
    predicted_s: Estimate
    ratio: float  # measured / predicted
    verdict: str  # "as predicted", "slower", "faster", "too few steps"
    bound_by: str
    shares: dict[str, float]  # shares of a predicted step's time, largest first
    host_busy_frac: float  # processors used by this process
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        return "<pre>%s</pre>" % html.escape(str(self))


def _milli(seconds: float) -> str:
    return "%.3g s" % seconds if seconds >= 1 else "%.3g ms" % (seconds * 1e3)


@dataclass(frozen=True)
class _Expected:
    """The part of a prediction that the loop is compared with, for one kind of GPU and for two."""

    told: str
    step_s: Estimate
    bound_by: str
    parts: dict[str, float]
    advice: list[str]
    on_gpu: bool


def _rise(text: str, before: float, after: float) -> str:
    return "try: %s (%.3g → %.3g samples/s)" % (text, before, after)


def _expected(p: Any, model: Any) -> _Expected:
    if isinstance(p, results.Predict):
        parts = {k: v for k, v in p.breakdown_s.to_dict().items() if v}
        advice = [_rise(a.text, a.samples_per_s_before, a.samples_per_s_after) for a in p.advice[:2]]
        return _Expected("%s on %s" % (p.model, p.system), p.step_s, p.bound_by, parts, advice, (p.n_gpus or 0) > 0 and "cpu" not in (p.system or ""))
    if not isinstance(p, results.PredictMixed):
        raise UsageError("watch compares a loop with one step of training: without sweep, explain, kernels, or what is no training")
    kinds = (p.first, p.second)
    slowest = max(kinds, key=lambda k: k.even_step_s or 0.0)
    advice = ["no batch of this size fits %s" % k.system for k in kinds if not k.fits]
    if p.shared_samples_per_s:
        shares = ", ".join("%g for each %s" % (k.samples, k.system) for k in kinds)
        advice.append(_rise("share samples by speed: " + shares, p.even_samples_per_s, p.shared_samples_per_s))
    advice += [_rise("%s alone" % k.system, p.even_samples_per_s, k.alone_samples_per_s) for k in kinds
               if (k.alone_samples_per_s or 0.0) > max(p.even_samples_per_s or 0.0, p.shared_samples_per_s or 0.0)]
    return _Expected("%s on %s + %s" % (model, *(k.system for k in kinds)), Estimate(p.even_step_s, p.even_step_lo_s, p.even_step_hi_s),
                     "%s, which every other waits for" % slowest.system, {}, advice, True)


class watch:
    """with jeoul.watch("gpt2-124m", on="this", batch=4) as w:
        for batch in data:
            train(batch)
            w.step()

    Compares the steps with what `predict` returns for the same options and prints the result at the end (file=None: does not print). The first
    `warmup` steps are ignored. `sync` is called before reading the clock, e.g. torch.cuda.synchronize if a step returns before it is done."""

    def __init__(self, model: Any = None, *, on: str = "this", warmup: int = 3, sync: Callable[[], Any] | None = None,
                 file: TextIO | None = sys.stderr, using: Jeoul | None = None, **options: Any) -> None:
        from .commands import predict

        self.prediction = predict(model, on=on, using=using, **options)
        self._expected = _expected(self.prediction, model)
        self.steps: list[float] = []
        self._warmup, self._sync, self._file = warmup, sync, file
        self._last = self._busy_from = self._wall_from = 0.0

    def __enter__(self) -> "watch":
        self._mark()
        return self

    def _mark(self) -> float:
        if self._sync:
            self._sync()
        now, took = time.perf_counter(), 0.0
        took, self._last = now - self._last, now
        return took

    def step(self) -> float:
        """Call after each step of the loop; returns the step's time."""
        took = self._mark()
        if self._warmup > 0:
            self._warmup -= 1
        else:
            self.steps.append(took)
        if not self.steps:
            self._busy_from, self._wall_from = time.process_time(), self._last
        return took

    def summary(self) -> Watched:
        predicted, steps, parts = self._expected.step_s, sorted(self.steps), self._expected.parts
        whole = sum(parts.values()) or 1.0
        shares = dict(sorted(((k, v / whole) for k, v in parts.items()), key=lambda kv: -kv[1]))
        wall = self._last - self._wall_from
        busy = (time.process_time() - self._busy_from) / wall if wall > 0 and steps else float("nan")
        seen = Estimate(None)
        verdict, ratio = "too few steps", float("nan")
        if len(steps) >= 3:
            seen = Estimate(statistics.median(steps), steps[len(steps) // 10], steps[-1 - len(steps) // 10])
            ratio = float(seen) / float(predicted)
            verdict = "as predicted" if float(seen) in predicted else "slower" if ratio > 1 else "faster"
        return Watched(len(steps), seen, predicted, ratio, verdict, self._expected.bound_by, shares, busy,
                       tuple(self._lines(seen, ratio, verdict, shares, busy)))

    def _lines(self, seen: Estimate, ratio: float, verdict: str, shares: dict[str, float], busy: float) -> list[str]:
        p = self._expected
        told = p.told + ": "
        want = _milli(float(p.step_s)) + (" (%s–%s)" % (_milli(p.step_s.lo), _milli(p.step_s.hi)) if p.step_s.lo else "")
        if seen.value is None:
            return [told + "%d steps measured, at least 3 are needed; predicted %s" % (len(self.steps), want)]
        lines = [told + "%d steps of %s (%s–%s), predicted %s: %s" % (len(self.steps), _milli(seen.value), _milli(seen.lo), _milli(seen.hi), want, verdict)]  # type: ignore[arg-type]
        goes = ", ".join("%s %.0f %%" % (k.replace("_", " "), 100 * v) for k, v in list(shares.items())[:4] if v > 0.01)
        lines.append("bound by %s%s" % (p.bound_by, ": " + goes if goes else ""))
        if verdict == "slower":
            lines.append("%.2f times the predicted step: %s" % (ratio, self._why(seen, busy)))
        return lines + p.advice

    def _why(self, seen: Estimate, busy: float) -> str:
        if self._expected.on_gpu and busy > 0.9:
            return "this process keeps %.1f processors busy, so the host (launches, loading) is what a step waits for" % busy
        if seen.hi is not None and seen.value and seen.hi > 1.3 * seen.value:
            return "steps are uneven, as where samples come late or other work runs beside it"
        return "evenly slow: another batch, precision or kernel than was asked of predict, or a slower clock; 'jeoul bench all' and 'jeoul check' tell"

    def __exit__(self, *failed: Any) -> None:
        if self._file is not None and failed[0] is None:
            print(self.summary(), file=self._file)
