#!/bin/bash
# Four published runs, request by request: what the simulator says of their means. The goals are 15 % of the first token and 5 % of each further one and
# of the whole; docs/METHOD.md, 12.4, says which run meets them and why the others do not.
. "$(dirname "$0")/lib.sh"

python3 "$(dirname "$0")/../../../bench/infer/requests" "$JEOUL" --json > "$work/out" || bad "bench/infer/requests"
# within RUN TTFT TPOT E2E: predicted over measured is no further from one than this
within() { json "all(1 / (1 + w) < j['$1'][t]['ratio'] < 1 + w for t, w in (('ttft_s', $2), ('tpot_s', $3), ('e2e_s', $4)))"; }
within rtxpro6000_llama31_8b 0.15 0.05 0.06
within rtxpro6000_qwen3_32b_tp2 0.25 0.15 0.2
within rtxpro6000_qwen3_30b_a3b_dp2ep2 0.45 0.1 0.1
within rtx4090_llama31_8b 0.15 0.1 0.15
json "sum(j[r]['tpot_s']['inside'] for r in j) >= 3"
finish
