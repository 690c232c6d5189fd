#!/bin/bash
# jeoul calibrate --fit: the parameters of one small set into a file that the catalog reads. (This machine's own: test_check.sh.)
. "$(dirname "$0")/lib.sh"

run 2 calibrate --data "$work/nowhere"; one_line; says "--fit"
run 1 calibrate --fit --data "$work/nowhere"; one_line; says "nowhere"
mkdir "$work/empty" "$work/data" "$work/overlay"
run 1 calibrate --fit --data "$work/empty"; one_line; says "gemm_membw.csv"

cp "$JEOUL_SOURCE/data/validation/power.csv" "$work/data/"
run 0 calibrate --fit --data "$work/data" -o "$work/overlay/params.yaml" --json
json "[s['set'] for s in j['sets']] == ['power'] and j['sets'][0]['n_parameters'] == 6 and j['sets'][0]['n_residuals'] == 515"
run 0 calibrate --fit --data "$work/data" -o "$work/again.yaml" --lang ko
has "power"; has "515"
if cmp -s "$work/overlay/params.yaml" "$work/again.yaml"; then ok; else bad "two fits differ"; fi
if grep -q "id: power.idle_frac" "$work/again.yaml" && grep -q "id: gemm.mem_frac" "$work/again.yaml"; then ok; else bad "parameters are missing"; fi
run 0 catalog validate "$work/overlay"
run 0 catalog list params --catalog "$work/overlay"; has "power.idle_frac"; has "link.nvlink4.eff_frac"

# out of its bounds, and twice
printf 'params:\n  - {id: power.cap_frac, value: 3}\n' > "$work/overlay/params.yaml"
run 1 catalog validate "$work/overlay"
if [[ "$out$err" == *"params.yaml:2:"*"bounds"* ]]; then ok; else bad "bounds: $out$err"; fi

run 1 calibrate --fit --data "$work/data" -o "$work/no/such/folder.yaml"; one_line; says "folder.yaml"
printf 'gpu,watts\nH100,700\n' > "$work/data/power.csv"
run 1 calibrate --fit --data "$work/data"; one_line; says "power.csv"
finish
