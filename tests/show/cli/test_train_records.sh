#!/bin/bash
# What `jeoul bench train` keeps, in `jeoul check` (by the prediction that a record carries, by history) and in `jeoul report`.
. "$(dirname "$0")/lib.sh"
export TZ=UTC XDG_DATA_HOME="$work/data" JEOUL_MACHINE="$JEOUL_SOURCE/tests/fixtures/machines/supermicro-10x-rtx3090"
unset JEOUL_STORE
run 0 probe --from "$JEOUL_MACHINE" --json
machine=$(python3 -c "import json; print(json.load(open('$work/out'))['fingerprint'])")
[ -n "$machine" ] && ok || bad "no fingerprint"

# record FILE: rows "day mode workers measured lo hi predicted lo hi exposed noisy"
cat > "$work/make.py" <<'P'
import json, sys
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
machine, rows = sys.argv[1], [r.split() for r in sys.argv[2:]]
def metric(name, value, lo=None, hi=None, less=False):
    m = {"name": name, "n": 1 if lo is None else 20, "median": value}
    if lo is not None:
        m.update(lo95=lo, hi95=hi)
    if less:
        m["less_is_better"] = True
    return m
for i, (day, mode, workers, v, lo, hi, p, plo, phi, exposed, noisy) in enumerate(rows):
    v, workers = float(v), int(workers)
    step = 4 * workers / v
    metrics = [metric("samples_per_s", v, float(lo), float(hi)), metric("step_s", step, less=True),
               metric("exposed_s", float(exposed) * step, less=True), metric("mem_B", 8e9 / workers, less=True),
               metric("gemm_frac", 0.61), metric("energy_per_sample_J", 12.5, less=True), metric("allreduce_Bps", 3e9)]
    if p != "-":
        metrics.append(metric("predicted_samples_per_s", float(p), float(plo), float(phi)))
    print(json.dumps({
        "record_version": 1, "id": "01" + "".join(LETTERS[(i * 7 + k * 3) % 32] for k in range(22)) + LETTERS[int(day)] + LETTERS[i],
        "time_s": 1790000000 + 86400 * int(day) + i, "kind": "train", "backend": "cuda", "origin": "measured", "machine": machine,
        "machine_name": "10x RTX 3090", "run": "RUN%s" % day,
        "params": {"model": "gpt-305m", "mode": mode, "precision": "bf16", "n_workers": workers, "batch": 4, "seq": 512, "accumulate": 1,
                   "tokens": "synthetic"},
        "metrics": metrics, "noise": {"noisy": noisy == "noisy"}}))
P
records() { python3 "$work/make.py" "$machine" "$@" > "$work/r.jsonl"; }

# a file: the prediction in the record is the expectation
records "1 ddp 1 27.4 27 28 30 26 35 0 quiet"
run 0 check "$work/r.jsonl" --lang en; has "normal: expected 26–35 samples/s"; has "61 % of the rate"; has "measured in the same run"
run 0 check "$work/r.jsonl" --json; json "'own_rates' in json.dumps(j) and 'normal' in json.dumps(j)"
records "1 ddp 4 28.6 28 29 60 45 80 0.7 quiet"
run 3 check "$work/r.jsonl" --lang en; has "low: expected 45–80 samples/s"; has "70 % of a step waits for other workers"; has "nvidia-smi"; has "bench allreduce"
run 3 check "$work/r.jsonl" --lang ko; has "낮음"; has "다른 워커를 기다린 시간"; has "jeoul bench train --workers 1"
records "1 ddp 1 10 9 11 30 26 35 0 quiet"
run 3 check "$work/r.jsonl" --lang en; has "nvidia-smi"; lacks "--workers 1"
records "1 ddp 1 40 39 41 30 26 35 0 quiet"
run 0 check "$work/r.jsonl" --lang en
records "1 ddp 1 10 9 11 30 26 35 0 noisy"
run 0 check "$work/r.jsonl" --lang en; has "no verdict"
records "1 ddp 1 27.4 27 28 - - - 0 quiet"
run 1 check "$work/r.jsonl" --lang en; one_line

# this machine: a loss against its own past counts although the prediction still allows it
records "1 ddp 1 30 29.8 30.2 28 20 40 0 quiet" "2 ddp 1 30.3 30 30.5 28 20 40 0 quiet" "3 ddp 1 29.8 29.6 30 28 20 40 0 quiet" \
	"4 ddp 1 30.1 30 30.3 28 20 40 0 quiet" "5 ddp 1 22 21.8 22.2 28 20 40 0 quiet"
run 0 store import "$work/r.jsonl"
run 3 check --lang en; has "low"; has "earlier undisturbed results"

# the report: scaling beside predicted and ideal, waiting, memory, energy; the newest of one configuration counts
records "6 ddp 1 27.4 27 28 30 26 35 0 quiet" "6 ddp 2 29.3 29 30 40 30 55 0.45 quiet" "6 ddp 4 28.6 28 29 60 45 80 0.7 quiet" \
	"6 zero2 2 31.4 31 32 42 31 57 0.4 quiet" "6 zero2 4 36.3 36 37 70 50 90 0.6 noisy"
run 0 store import "$work/r.jsonl"
run 0 report --lang en; has "Training benchmark"; has "27.4"; has "40 (30–55)"; has "54.8"; has "1.07x"; has "70 %"; has "3.73 GiB"; has "12.5 J"; has "--accumulate"
run 0 report --lang ko; has "학습 벤치마크"; has "통신 대기"
run 0 report --json
json "[b for b in j['blocks'] if b.get('id') == 'training']"
json "any(b['kind'] == 'chart' and len(b['chart']['series']) == 5 and b['chart']['y']['unit'] == 'samples/s' for b in j['blocks'])"
json "all(p.get('y') != 30.1 for b in j['blocks'] if b['kind'] == 'chart' for s in b['chart']['series'] for p in s['points'])"
run 0 report -o "$work/here.html"
if python3 "$JEOUL_SOURCE/tests/web/bare_numbers.py" "$work/here.html" > "$work/walk"; then ok; else bad "$(head -5 "$work/walk")"; fi
python3 - "$(JEOUL_MACHINE=$JEOUL_MACHINE "$JEOUL" report --lang en)" <<'P' && ok || bad "text wider than 80 columns"
import sys, unicodedata
wide = [l for l in sys.argv[1].split("\n") if sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in l) > 82]
for l in wide[:5]: print(l)
sys.exit(bool(wide))
P
# names that somebody else wrote stay text
sed 's/gpt-305m/<script>x/' "$work/r.jsonl" > "$work/x.jsonl"
printf 'systems: [rtx-4090]\nmeasured: [{file: x.jsonl}]\n' > "$work/s.yaml"
run 0 report "$work/s.yaml" -o "$work/x.html"; grep -q '<script' "$work/x.html" && bad "markup of a record came through" || ok
finish
