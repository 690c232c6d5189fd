#!/bin/bash
# A served model under a load: figures that hang together, targets, sweeps, traces, and input that makes no sense.
. "$(dirname "$0")/lib.sh"

run 0 infer llama-3-70b --on dgx-h100 --lang en
has "First token after"; has "A million tokens"; has "vllm serve llama-3-70b --tensor-parallel-size"; has "trtllm-serve"
run 0 infer llama-3-70b --on dgx-h100 --lang ko; has "첫 토큰까지"; has "백만 토큰"
run 0 infer llama-3-70b --on dgx-h100 --concurrency 64 --engine vllm --json
json "j['n_gpus'] * j['n_copies'] == 8 and j['fits'] and j['n_refused'] == 0"
json "j['ttft_s']['p50']['value'] <= j['ttft_s']['p90']['value'] <= j['ttft_s']['p99']['value']"
json "j['tpot_s']['mean']['lo'] < j['tpot_s']['mean']['value'] < j['tpot_s']['mean']['hi']"
# Little's law: requests under way are the rate times what one takes
json "abs(j['requests_per_s']['value'] * j['e2e_s']['mean']['value'] / 64 - 1) < 0.01"
json "abs(sum(j['token_time'].values()) / j['tpot_s']['mean']['value'] - 1) < 0.05"
one=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['output_tokens_per_s']['value'])" "$work/out")
run 0 infer llama-3-70b --on dgx-h100 --concurrency 64 --engine vllm --json --draft 2 --accept 80%
json "j['output_tokens_per_s']['value'] > 1.3 * $one"
run 0 infer llama-3-70b --on dgx-h100 --concurrency 64 --engine vllm --json --prompt 4000 --cached 90%
cached=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['ttft_s']['p50']['value'])" "$work/out")
run 0 infer llama-3-70b --on dgx-h100 --concurrency 64 --engine vllm --json --prompt 4000
json "j['ttft_s']['p50']['value'] > 1.2 * $cached"

# Targets: fewest GPUs; a rate; what cannot be met ends with 3
run 0 infer llama-3-8b --on dgx-h100 --rate 2/s --ttft "1 s" --tpot "50 ms" --json
json "j['meets'] and j['n_gpus'] * j['n_copies'] == 1 and j['ttft_s']['p90']['value'] <= 1"
run 0 infer llama-3-8b --on dgx-h100 --gpus 1 --ttft "1 s" --tpot "50 ms" --json
json "j['rate_max_per_s'] > 8 and j['meets'] and j['tpot_s']['p90']['value'] <= 0.05"
run 3 infer llama-3-8b --on dgx-h100 --rate 2/s --ttft "1 ms" --lang en; has "not met"
# More arrives than it answers
run 0 infer llama-3-8b --on l4 --rate 50/s --json; json "not j['keeps_up']"
run 0 infer llama-3-8b --on h100-sxm5 --sweep rate=1,5,400 --json
json "[r['rate_per_s'] for r in j['rows']] == [1, 5, 400] and sum(r['knee'] for r in j['rows']) == 1 and not j['rows'][2]['keeps_up']"
run 0 infer llama-3-70b --on h100-sxm5 --weights int4 --compare-weights --lang en; has "does not fit"; has "int4"
run 0 infer llama-3-8b --on h100-sxm5 --users 100 --json; json "j['users'] == 100 and j['busy_frac'] < 1"

# Traces
printf 'arrival_s,input_tokens,output_tokens\n0,100,10\n0.5,200,20\n1,50,5\n' > "$work/t.csv"
run 0 infer llama-3-8b --on h100-sxm5 --trace "$work/t.csv" --json; json "j['load'] == 'trace' and j['n_requests'] == 3"
printf '{"timestamp": 0, "input_length": 100, "output_length": 10}\n' > "$work/t.jsonl"
run 0 infer llama-3-8b --on h100-sxm5 --trace "$work/t.jsonl" --json; json "j['n_requests'] == 1"
bad_trace() { printf "$1" > "$work/bad.csv"; run 1 infer llama-3-8b --on h100-sxm5 --trace "$work/bad.csv"; one_line; says "$2"; }
bad_trace 'arrival_s,input_tokens,output_tokens\n0,1000000000,10\n' 'bad.csv:2'
bad_trace 'arrival_s,input_tokens,output_tokens\n-5,10,10\n' 'bad.csv:2'
bad_trace 'arrival_s,input_tokens,output_tokens\n' 'no requests'
bad_trace 'a,b\n1,2\n' 'input_tokens'

# Input that makes no sense: one line
run 2 infer llama-3-8b --on h100-sxm5 --rate fast; one_line; says "20/s"
run 2 infer llama-3-8b --on h100-sxm5 --rate 2/s --users 3; one_line; says "one load"
run 2 infer llama-3-8b --on h100-sxm5 --engine abacus; one_line; says "abacus"
run 2 infer llama-3-8b; one_line; says "--on"
run 2 infer resnet-50 --on h100-sxm5; one_line
run 2 infer llama-3-70b --on rtx-4090; one_line; says "does not fit"
finish
