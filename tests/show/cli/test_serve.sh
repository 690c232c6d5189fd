#!/bin/bash
# A served model under a load: figures that hang together, targets, sweeps, traces, and input that makes no sense.
. "$(dirname "$0")/lib.sh"

run 0 serve llama-3-70b --on dgx-h100 --lang en
has "First token after"; has "A million tokens"; has "vllm serve meta-llama/Llama-3.1-70B-Instruct"; has "trtllm-serve"
run 0 serve llama-3-70b --on dgx-h100 --lang ko; has "첫 토큰까지"; has "100만 토큰"
run 0 serve llama-3-70b --on dgx-h100 --concurrency 64 --engine vllm --json
json "j['n_gpus'] * j['n_copies'] == 8 and j['fits'] and j['n_refused'] == 0"
json "j['ttft_s']['p50']['value'] <= j['ttft_s']['p90']['value'] <= j['ttft_s']['p99']['value']"
json "j['tpot_s']['mean']['lo'] < j['tpot_s']['mean']['value'] < j['tpot_s']['mean']['hi']"
# Little's law: requests under way are the rate times what one takes
json "abs(j['requests_per_s']['value'] * j['e2e_s']['mean']['value'] / 64 - 1) < 0.01"
json "abs(sum(j['token_time'].values()) / j['tpot_s']['mean']['value'] - 1) < 0.05"
one=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['output_tokens_per_s']['value'])" "$work/out")
run 0 serve llama-3-70b --on dgx-h100 --concurrency 64 --engine vllm --json --draft 2 --accept 80%
json "j['output_tokens_per_s']['value'] > 1.3 * $one"
run 0 serve llama-3-70b --on dgx-h100 --concurrency 64 --engine vllm --json --prompt 4000 --cached 90%
cached=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['ttft_s']['p50']['value'])" "$work/out")
run 0 serve llama-3-70b --on dgx-h100 --concurrency 64 --engine vllm --json --prompt 4000
json "j['ttft_s']['p50']['value'] > 1.2 * $cached"

# rent is shared by what prompts and answers take: an answer's token is dearer than a prompt's, also on a full machine
run 0 serve llama-3-70b --on dgx-h100 --gpus 8 --rate 16/s --json
json "j['usd_per_Mtoken_out']['value'] > j['usd_per_Mtoken_in']['value'] and abs((j['usd_per_Mtoken_out']['value'] * j['output_tokens_per_s']['value'] + j['usd_per_Mtoken_in']['value'] * j['input_tokens_per_s']['value']) / 1e6 / 8 / j['rent']['usd_per_gpu_s'] - 1) < 1e-6"
# an answer of one token: no question mark, no time between tokens, a range; a target for further ones is met
for lang in en ko; do
	run 0 serve llama-3-8b --on h100-sxm5 --answer 1 --lang $lang; lacks "?"; lacks "TPOT"; lacks "—"
done
run 0 predict llama-3-8b --on h100-sxm5 --serve --output 1 --lang en; lacks "?"; has "Bound by"
for load in "--users=1" "--rate=1/s" "--concurrency=1"; do
	said="The one token of an answer after "; [ "$load" = "--rate=1/s" ] && said="The targets are met by 1 GPU"
	run 0 serve llama-3-8b --on rtx-4090 "$load" --answer 1 --lang en; flat; has "$said"; lacks "TPOT)"; lacks "e+0"; lacks "Overloaded"
done
# a rate alone sizes the service by the page's targets, which are said; they are no reason to exit with 3
run 0 serve llama-3-8b --on "8x h100-sxm5" --rate 4/s --lang en; flat; has "The targets are met by 1 GPU"; has "targets: 500 ms to the first token, 50 ms a token (--ttft, --tpot)"
run 0 serve llama-3-8b --on "8x h100-sxm5" --rate 4/s --json; cp "$work/out" "$work/alone"
run 0 serve llama-3-8b --on "8x h100-sxm5" --rate 4/s --ttft "0.5 s" --tpot "0.05 s" --json; python3 -c "
import json, sys
a, b = (json.load(open(p)) for p in sys.argv[1:])
sys.exit(not (a['n_gpus_used'] == b['n_gpus_used'] == 1 and a['usd_per_Mtoken_out'] == b['usd_per_Mtoken_out']))" "$work/alone" "$work/out" && ok || bad "a rate alone and the page's targets are two answers"
run 0 serve llama-3-70b --on dgx-h100 --rate 400/s --lang en; lacks "targets"
# one denominator: rent and electricity of tokens that go in, where the answer goes with them
run 0 serve deepseek-v3 --on dgx-h200 --concurrency 64 --answer 1 --lang en; flat; has " USD by rent, the answer with it; electricity 0.00"
run 0 serve llama-3-8b --on h100-sxm5 --answer 1 --concurrency 4 --tpot "50 ms" --json
json "j['meets'] and j['tpot_s']['mean']['value'] is None and j['e2e_s']['mean']['lo'] < j['e2e_s']['mean']['value'] and j['bound_frac'] > 0"
# one GPU of eight bears an eighth of their host: as rent is that of one
run 0 serve llama-3-8b --on dgx-h100 --gpus 1 --copies 1 --json
one_W=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['power_W'])" "$work/out")
run 0 serve llama-3-8b --on dgx-h100 --gpus 1 --copies 8 --json; json "0.7 < j['power_W'] / (8 * $one_W) < 1.1"

# Targets: fewest GPUs; a rate; what cannot be met ends with 3
run 0 serve llama-3-8b --on dgx-h100 --rate 2/s --ttft "1 s" --tpot "50 ms" --json
json "j['meets'] and j['n_gpus'] * j['n_copies'] == 1 and j['ttft_s']['p90']['value'] <= 1"
run 0 serve llama-3-8b --on dgx-h100 --gpus 1 --ttft "1 s" --tpot "50 ms" --json
json "j['rate_max_per_s'] > 8 and j['meets'] and j['tpot_s']['p90']['value'] <= 0.05"
run 3 serve llama-3-8b --on dgx-h100 --rate 2/s --ttft "1 ms" --lang en; has "not met"
# a day: copies that follow the load beside a fixed number; money hangs together with hours; a slow start costs more
printf 'hour,rate\n3,5\n13,60\n' >"$work/day.csv"
run 0 serve llama-3-8b --on dgx-h100 --engine vllm --day "$work/day.csv" --ttft "1 s" --tpot "40 ms" --json
json "j['day']['static']['within_frac'] > 0.9 and j['day']['autoscaled']['worst_hour_within_frac'] > 0.9 and j['day']['autoscaled']['gpu_h'] < 0.85 * j['day']['static']['gpu_h']"
json "abs(j['day']['autoscaled']['usd'] / (j['day']['autoscaled']['gpu_h'] * 3600 * j['rent']['usd_per_gpu_s']) - 1) < 1e-9 and len(j['day']['hours']) == 24"
json "abs(sum(h['rate_per_s'] for h in j['day']['hours']) / 24 / j['day']['mean_rate_per_s'] - 1) < 1e-6 and 'num_requests_(running|waiting)' in j['day']['policy']"
quick=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['day']['autoscaled']['gpu_h'])" "$work/out")
run 0 serve llama-3-8b --on dgx-h100 --engine vllm --day "$work/day.csv" --ttft "1 s" --tpot "40 ms" --start "30 min" --json; json "j['day']['autoscaled']['gpu_h'] > $quick"
run 2 serve llama-3-8b --on dgx-h100 --day office --rate 9/s; run 2 serve llama-3-8b --on dgx-h100 --day office --ttft "1 s"; run 2 serve llama-3-8b --on dgx-h100 --day noon --rate 1/s --ttft "1 s"
# a router that sees how busy copies are waits less in the tail
run 0 serve llama-3-8b --on dgx-h100 --engine vllm --gpus 1 --rate 130/s --route random --json; any=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['ttft_s']['p99']['value'])" "$work/out")
run 0 serve llama-3-8b --on dgx-h100 --engine vllm --gpus 1 --rate 130/s --route least --json; json "j['ttft_s']['p99']['value'] < $any and abs(j['requests_per_s']['value'] - 130) < 1"
# More arrives than it answers
run 0 serve llama-3-8b --on l4 --rate 50/s --json; json "not j['keeps_up'] and 0.1 < j['rate_held_per_s'] < 5"
held=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['rate_held_per_s'])" "$work/out")
run 0 serve llama-3-8b --on l4 --rate "$held/s" --json; json "j['keeps_up'] and 'rate_held_per_s' not in j and j['ttft_s']['mean']['value'] < 10"
run 0 serve llama-3-8b --on l4 --rate "$(python3 -c "print($held * 1.3)")/s" --json; json "not j['keeps_up']"
run 0 serve llama-3-8b --on l4 --rate 50/s --lang en; [ "$(sed -n 2p "$work/out" | cut -c1-24)" = "  Overloaded: it holds a" ] && ok || bad "the overload is not said first"
run 0 serve llama-3-8b --on l4 --rate 50/s --lang ko; flat; has "과부하입니다. 초당 최대"
run 3 serve llama-3-8b --on l4 --rate 50/s --ttft "1 s" --lang en; has "Overloaded: it holds at most"
# so slow that it answers less than one in four seconds: still a rate
run 0 serve llama-2-7b --on rtx-4090 --rate 1/s --prompt 9000 --json; json "0.001 < j['rate_held_per_s'] < 0.3"
run 0 serve llama-3-8b --on h100-sxm5 --sweep rate=1,5,400 --json
json "[r['rate_per_s'] for r in j['rows']] == [1, 5, 400] and sum(r['knee'] for r in j['rows']) == 1 and not j['rows'][2]['keeps_up']"
run 0 serve llama-3-70b --on h100-sxm5 --weights int4 --compare-weights --lang en; has "does not fit"; has "int4"
# short answers: no fixed limit of requests, none that grows with the line before the machine, prompts are not dearer than answers
for n in 2048 8192; do
	run 0 serve llama-3-8b --on h100-sxm5 --weights fp8 --kv fp8 --engine trtllm --concurrency $n --max-seqs 2048 --prompt 128 --answer 128 --json
	json "150 < j['requests_per_s']['value'] < 350 and j['usd_per_Mtoken_in']['value'] < j['usd_per_Mtoken_out']['value']"
done
run 0 serve llama-3-8b --on h100-sxm5 --weights fp8 --engine trtllm --rate 100/s --prompt 128 --answer 64 --json; json "j['keeps_up'] and j['ttft_s']['mean']['value'] < 0.2"
run 0 serve llama-3-8b --on h100-sxm5 --users 100 --json; json "j['users'] == 100 and j['busy_frac'] < 1"
# People pause each by himself: as many requests as open arrivals of the same rate, and answers as late; the flags take all that run at once
run 0 serve llama-3-8b --on h100-sxm5 --users 500 --json; cp "$work/out" "$work/people"
rate=$(python3 -c "import json; print(json.load(open('$work/people'))['requests_per_s']['value'])")
run 0 serve llama-3-8b --on h100-sxm5 --rate "$rate/s" --json
json "(lambda p: abs(p['requests_per_s']['value'] - 500 / (20 + p['e2e_s']['mean']['value'])) < 1e-6 and 0.85 < p['e2e_s']['mean']['value'] / j['e2e_s']['mean']['value'] < 1.15 and p['n_preempted'] == 0 and p['batch_mean'] < p['batch_max'] < 500)(__import__('json').load(open('$work/people')))"

# Traces
printf 'arrival_s,input_tokens,output_tokens\n0,100,10\n0.5,200,20\n1,50,5\n' > "$work/t.csv"
run 0 serve llama-3-8b --on h100-sxm5 --trace "$work/t.csv" --json; json "j['load'] == 'trace' and j['n_requests'] == 3"
printf '{"timestamp": 0, "input_length": 100, "output_length": 10}\n' > "$work/t.jsonl"
run 0 serve llama-3-8b --on h100-sxm5 --trace "$work/t.jsonl" --json; json "j['n_requests'] == 1"
bad_trace() { printf "$1" > "$work/bad.csv"; run 1 serve llama-3-8b --on h100-sxm5 --trace "$work/bad.csv"; one_line; says "$2"; }
bad_trace 'arrival_s,input_tokens,output_tokens\n0,1000000000,10\n' 'bad.csv:2'
bad_trace 'arrival_s,input_tokens,output_tokens\n-5,10,10\n' 'bad.csv:2'
bad_trace 'arrival_s,input_tokens,output_tokens\n' 'no requests'
bad_trace 'a,b\n1,2\n' 'input_tokens'

bad_trace '{"timestamp": 0, "input_length": 5}\n' 'bad.csv:1'
bad_trace '\0\0\0' 'bad.csv'
for numbers in 'nan,5,5' '0,inf,5' '0,5,-inf' '1e400,5,5' '0,0.5,5' '0,5' '0,5,5,5' '0,0x10,zzz' '0,-5,5' '0,,5'; do
	bad_trace "arrival_s,input_tokens,output_tokens\n0,5,5\n$numbers\n" 'bad.csv:3'
done
bad_trace 'arrival_s,input_tokens,output_tokens,input_tokens\n0,5,5\n' 'bad.csv'
bad_trace '{"timestamp": 0, "input_length": 5, "output_length": 5}\n{"input_length": 5, "output_length": 5}\n' 'bad.csv:2'
bad_trace '{"timestamp": 0, "input_length": "5", "output_length": 5}\n' 'bad.csv:1'
bad_trace '{"timestamp": 0, "input_length": 5, "output_length": 5}\n[1, 2]\n' 'bad.csv:2'
bad_trace '{"timestamp": 0, "input_length": 5, "output_length": 5} {}\n' 'bad.csv:1'
bad_trace '{"a":{"a":{"a":' 'bad.csv:1'
bad_trace '\377\376i\0n\0p\0u\0t\0' 'bad.csv'
{ printf '{"timestamp": 0, "input_length": 5, "output_length": 5, "x": "'; head -c 200000 /dev/zero | tr '\0' x; printf '"}\n'; } > "$work/bad.csv"
run 1 serve llama-3-8b --on h100-sxm5 --trace "$work/bad.csv"; one_line; says 'bad.csv:1'
for name in "$work" "$work/absent.csv" /dev/null; do run 1 serve llama-3-8b --on h100-sxm5 --trace "$name"; one_line; done
# what others write: line ends of other systems, a mark before the text, rows out of order, columns nobody asks for
printf '\357\273\277output_tokens,input_tokens,timestamp,model\r\n20,200,5,x\r\n10,100,1,y\r\n' > "$work/t.csv"
run 0 serve llama-3-8b --on h100-sxm5 --trace "$work/t.csv" --json; json "j['n_requests'] == 2"
# ten million rows are refused at the first that is too many, in flat memory
{ echo input_tokens,output_tokens; yes 5,5 | head -n 10000000; } > "$work/long.csv"
if ! grep -q __asan_init "$JEOUL"; then # whose shadow is larger than any limit
	out=$( (ulimit -v 1500000; "$JEOUL" infer llama-3-8b --on h100-sxm5 --trace "$work/long.csv") 2>&1); has "more than 1000000 requests"
fi
rm -f "$work/long.csv"

# Cut in other ways: stages, experts, attention by requests, machines of their own for prompts, keys and values in the host
run 0 serve llama-3-70b --on "2x dgx-h100" --gpus 4 --pp 2 --engine vllm --json
json "j['n_stages'] == 2 and j['n_copies'] == 2 and j['n_gpus_used'] == 16 and '--pipeline-parallel-size 2' in j['flags']"
run 0 serve deepseek-v3 --on dgx-h200 --weights fp8 --engine sglang --gpus 8 --ep 8 --dp-attention --json
json "j['n_ep'] == 8 and j['dp_attention'] and '--ep-size 8 --enable-dp-attention --dp-size 8' in j['flags']"
run 0 serve llama-3-70b --on "2x dgx-h100" --weights fp8 --engine trtllm --gpus 4 --prompt-gpus 4 --prompt-copies 2 --json
json "j['n_copies'] == 2 and j['prompt_copies'] == 2 and j['n_gpus_used'] == 16 and 0 < j['prompt_busy_frac'] < 1"
json "'GENERATION' in j['flags'] and 'CONTEXT' in j['flags_2']"
# answers no longer wait for others' prompts
json "j['itl_s']['p99']['value'] < 1.2 * j['itl_s']['p50']['value']"
run 0 serve llama-3-8b --on l4 --engine vllm --concurrency 64 --prompt 2000 --answer 1000 --json
slow=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['e2e_s']['mean']['value'])" "$work/out")
run 0 serve llama-3-8b --on l4 --engine vllm --concurrency 64 --prompt 2000 --answer 1000 --kv-host "64 GiB" --json
json "j['n_preempted'] > 0 and j['e2e_s']['mean']['value'] < $slow and '--kv-offloading-size 64' in j['flags']"
run 0 serve deepseek-v3 --on dgx-h200 --weights fp8 --gpus 8 --ep 4 --dp-attention --lang en; flat; has "4 GPUs share the experts whole"; has "cut by requests"
# settings only of engines that run there
run 0 serve llama-3-8b --on tpu-v5e --gpus 1 --weights int8 --json; json "'vllm serve' in j['flags'] and 'flags_2' not in j"
run 0 serve llama-3-8b --on apple-m2-ultra --json; json "'llama-server' in j['flags'] and 'flags_2' not in j"
run 0 serve llama-3-8b --on mi300x --lang en; has "vLLM, SGLang"; lacks "trtllm"
run 2 serve llama-3-8b --on apple-m2-ultra --engine vllm; one_line; says "--engine llama.cpp"
run 0 serve llama-2-7b --on apple-m2-ultra --lang en; flat; has "neither a rent nor the power of these devices is known"; lacks "? USD"
# settings of a sweep are those of its knee
run 0 serve llama-3-8b --on h100-sxm5 --engine vllm --sweep rate=1,16,64 --lang en; flat; has "vLLM, settings for 16 requests/s (the knee)"; lacks "--max-num-seqs 32 "
# a mixture's answers wait for the weights of its experts
run 0 serve mixtral-8x7b --on "2x h100-sxm5" --concurrency 1 --json; json "j['bound_by'] == 'reading the weights' and j['bound_frac'] > 0.5"
run 2 serve llama-3-8b --on tpu-v5p --engine trtllm; one_line; says "NVIDIA"
run 2 serve llama-3-8b --on tpu-v5p --engine llama.cpp; one_line; says "--engine vllm"
run 2 serve llama-3-8b --on dgx-h100 --ep 2; one_line; says "no experts"
run 2 serve deepseek-v3 --on dgx-h200 --weights fp8 --gpus 8 --ep 3; one_line; says "divide"
run 2 serve llama-3-70b --on dgx-h100 --gpus 8 --prompt-gpus 4; one_line; says "the system has 8"
run 2 serve llama-3-8b --on h100-sxm5 --prompt-copies 2; one_line; says "--prompt-gpus"

# Nobody says how the system is cut: as requests are answered soonest, or as the largest rate is held
worth() { # LOAD...: of the answer, the larger the better
	run 0 serve llama-3-70b --on dgx-h100 --engine vllm --json "$@"
	python3 -c "import json,sys; a = json.load(open(sys.argv[1])); print(a.get('rate_max_per_s') or 1 / a['e2e_s']['mean']['value'])" "$work/out"
}
for load in "--users=200" "--concurrency=32" "--tpot=50 ms"; do
	best=$(for cut in 2 4 8; do worth "$load" --gpus $cut; done | sort -g | tail -1)
	own=$(worth "$load")
	run 0 serve llama-3-70b --on dgx-h100 --engine vllm --json "$load"
	json "$own > $best / 1.11 and j['n_gpus'] > 2"
done
# A measured run corrects the next answer
cat > "$work/bench.json" <<'END'
{"completed": 640, "total_input_tokens": 655360, "total_output_tokens": 163840, "request_rate": "inf", "max_concurrency": 64, "mean_ttft_ms": 620.0, "mean_tpot_ms": 45.0}
END
run 0 serve llama-3-70b --on dgx-h100 --engine vllm --concurrency 32 --gpus 2 --json
plain=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['tpot_s']['mean']['value'])" "$work/out")
run 0 serve llama-3-70b --on dgx-h100 --engine vllm --concurrency 32 --observed "$work/bench.json" --json
json "abs(j['observed']['tpot_after_s'] / 0.045 - 1) < 0.02 and abs(j['observed']['ttft_after_s'] / 0.62 - 1) < 0.2"
json "abs(j['tpot_s']['mean']['value'] / $plain / j['observed']['pass_factor'] - 1) < 0.1"
run 0 serve llama-3-70b --on dgx-h100 --engine vllm --observed "$work/bench.json" --lang en; flat; has "corrected"
run 0 serve llama-3-70b --on dgx-h100 --engine vllm --ttft "2 s" --tpot "70 ms" --json
rate=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['rate_max_per_s'])" "$work/out")
run 0 serve llama-3-70b --on dgx-h100 --engine vllm --ttft "2 s" --tpot "70 ms" --observed "$work/bench.json" --json
json "0 < j['rate_max_per_s'] < $rate and j['prompt_tokens'] == 1024"
printf '# HELP\nvllm:time_to_first_token_seconds_sum{m="a"} 31\nvllm:time_to_first_token_seconds_count{m="a"} 100\nvllm:inter_token_latency_seconds_sum 400\nvllm:inter_token_latency_seconds_count 10000\n' > "$work/metrics"
run 0 serve llama-3-70b --on dgx-h100 --engine vllm --observed "$work/metrics" --json
json "abs(j['observed']['ttft_s'] - 0.31) < 1e-9 and abs(j['observed']['tpot_s'] - 0.04) < 1e-9"
echo '{"time_to_first_token": {"avg": 300}, "inter_token_latency": {"avg": 40}, "input_sequence_length": {"avg": 900}, "output_sequence_length": {"avg": 100}, "input_config": {"perf_analyzer": {"stimulus": {"concurrency": 16}}}}' > "$work/genai.json"
run 0 serve llama-3-70b --on dgx-h100 --engine vllm --observed "$work/genai.json" --json; json "j['observed']['ttft_s'] == 0.3"
bad_seen() { printf "$1" > "$work/bad.json"; run 1 serve llama-3-8b --on h100-sxm5 --observed "$work/bad.json"; one_line; says "$2"; }
bad_seen '{}' 'no mean time'; bad_seen '{"a' 'bad.json:1'; bad_seen '' 'no mean time'
sed -i 's/45.0/4500/' "$work/bench.json"
run 2 serve llama-3-8b --on h100-sxm5 --observed "$work/bench.json"; one_line; says "another model"
run 1 serve llama-3-8b --on h100-sxm5 --observed "$work/nowhere.json"; one_line

# Input that makes no sense: one line
run 2 serve llama-3-8b --on h100-sxm5 --rate fast; one_line; says "20/s"
run 2 serve llama-3-8b --on h100-sxm5 --rate 2/s --users 3; one_line; says "one load"
run 2 serve llama-3-8b --on h100-sxm5 --requests 2 --rate 2/s; one_line; says "--requests"
run 2 serve llama-3-8b --on h100-sxm5 --requests 0; one_line; says "1 to 1000000"
run 2 serve llama-3-8b --on h100-sxm5 --requests 9 --turns 3; one_line; says "--turns"
run 2 serve llama-3-8b --on h100-sxm5 --answer 200 --answer-most 100; one_line; says "--answer-most"
run 2 serve llama-3-8b --on h100-sxm5 --rate 1e-300; one_line; says "not a rate"
run 2 serve llama-3-8b --on h100-sxm5 --engine abacus; one_line; says "abacus"
run 2 serve llama-3-8b; one_line; says "--on"
run 2 serve resnet-50 --on h100-sxm5; one_line
# what does not fit is an answer, as predict has it; narrower weights are advised where they help
run 0 serve llama-3-70b --on rtx-4090 --lang en; flat; has "It does not fit: "; has "Use more GPUs: 4-bit weights would not fit either"
run 0 serve llama-3-8b --on rtx-4090 --prompt 200000 --lang en; flat; has "one request 24.4 GiB, of 24 GiB"; has "4-bit weights would not fit either"
run 0 serve llama-3-8b --on rtx-4090 --prompt 200000 --json; json "not j['fits'] and j['ttft_s']['mean']['value'] is None and j['weights_B'] > 15e9"
run 0 serve qwen2.5-14b --on rtx-4090 --lang en; flat; has "a smaller weight format (--weights int4)"
run 2 serve llama-3-8b --on rtx-4090 --weights xyz; one_line; says "xyz"
# A job ends: its rate is that until the last answer, below what the machine keeps up while requests keep coming
run 0 serve llama-3-8b --on h100-sxm5 --requests 600 --prompt 300 --answer 400 --answer-most 4000 --max-seqs 256 --engine vllm --json
json "j['load'] == 'job' and j['job_requests'] == 600 and abs(j['job_s']['value'] * j['requests_per_s']['value'] / 600 - 1) < 1e-6 and j['longest_request_tokens'] == 4300"
ends=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['output_tokens_per_s']['value'])" "$work/out")
run 0 serve llama-3-8b --on h100-sxm5 --concurrency 256 --prompt 300 --answer 400 --max-seqs 256 --engine vllm --json
json "'job_s' not in j and $ends < 0.8 * j['output_tokens_per_s']['value']"
run 0 serve llama-3-8b --on h100-sxm5 --requests 40 --lang en; flat; has "a job of 40 requests"; has "The last answer after"
run 0 serve llama-3-8b --on h100-sxm5 --requests 40 --lang ko; flat; has "요청 40건의 작업"; has "마지막 답까지"
# One of each is one
for load in "--concurrency 1|1 request at once" "--users 1|1 user" "--rate 1/s|1 request a second"; do
	run 0 serve llama-3-8b --on rtx-4090 ${load%|*} --lang en; head -1 "$work/out" | grep -q " ${load#*|}$" && ok || bad "$load: $(head -1 "$work/out")"
done
# An engine is given a name that it can load: the hub's, the reader's own folder or file, or a place to fill in; never more length than the model has
engine() { run 0 serve "$@" --engine vllm --json; }
engine exaone-3.5-7.8b --on rtx-4090; json "j['flags'].startswith('vllm serve LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct --')"
engine gpt3-6.7b --on h100-sxm5; json "j['flags'].startswith('vllm serve <folder or Hugging Face id of gpt3-6.7b> --')"
engine llama-3-8b --on h100-sxm5 --weights awq; json "j['flags'].startswith('vllm serve <folder or Hugging Face id of llama-3-8b in awq> --')"
engine llama-3-8b --on h100-sxm5 --weights fp8; json "j['flags'].startswith('vllm serve meta-llama/Llama-3.1-8B-Instruct --') and '--quantization fp8' in j['flags']"
mkdir -p "$work/my model"
echo '{"model_type":"llama","hidden_size":1024,"num_hidden_layers":8,"num_attention_heads":8,"intermediate_size":4096,"vocab_size":32000,"max_position_embeddings":1536}' > "$work/my model/config.json"
engine "$work/my model/config.json" --on rtx-4090; json "j['flags'].startswith(\"vllm serve '$work/my model' --\") and '--max-model-len 1536' in j['flags']"
# Longer than the model was made for: said, by every command that serves
engine llama-2-7b --on h100-sxm5 --prompt 4000; json "j['model_context_tokens'] == 4096 and j['longest_request_tokens'] == 4256 and '--max-model-len 4096' in j['flags']"
run 0 serve llama-2-7b --on h100-sxm5 --prompt 4000 --lang en; flat; has "Context: a request of 4,256 tokens is longer than the 4,096 that the model was made for"
run 0 serve llama-2-7b --on h100-sxm5 --prompt 4000 --lang ko; flat; has "이 모델의 컨텍스트 길이 4,096토큰보다 깁니다"
run 0 serve llama-2-7b --on h100-sxm5 --lang en; lacks "Context:"
run 0 serve "$work/my model/config.json" --on rtx-4090 --prompt 1500 --lang en; flat; has "longer than the 1,536"
run 0 predict llama-2-7b --serve --on h100-sxm5 --prompt 4000 --lang en; flat; has "a request of 4,256 tokens is longer than the 4,096"
run 0 recommend llama-2-7b --serve --context 16384 --lang en; flat; has "Beware a request of 16,384 tokens is longer than the 4,096"
# As a model is published, where nobody asks for another format
run 0 serve gpt-oss-120b --on h100-sxm5 --lang en; flat; has "weights: mxfp4, as it is published (--weights)"; has "weights 60.7 GiB of 80 GiB"
run 0 serve gpt-oss-120b --on h100-sxm5 --lang ko; flat; has "mxfp4"; has "공개된 형식"
run 0 serve gpt-oss-20b --on rtx-4090 --json; json "j['weights'] == 'mxfp4' and j['n_gpus'] == 1"
run 0 serve gpt-oss-120b --on h100-sxm5 --weights bf16 --lang en; flat; has "It does not fit: weights in bf16 "
run 0 serve gpt-oss-20b --on h100-sxm5 --weights bf16 --lang en; flat; lacks "as it is published"
run 0 serve gpt-oss-20b --on h100-sxm5 --compare-weights --json; json "[r['weights'] for r in j['rows']][-1] == 'mxfp4' and j['rows'][0]['weights_B'] > 2.5 * j['rows'][-1]['weights_B']"
run 0 serve deepseek-r1 --on dgx-h200 --json; json "j['weights'] == 'fp8_block' and abs(j['weights_B'] * j['n_gpus'] / 671e9 - 1) < 0.05"
run 0 predict deepseek-v3 --serve --on dgx-a100-80gb --lang en --requests 1; has "fp8_block weights, as it is published"; has "does not fit"
run 0 predict gpt-oss-120b --serve --on h100-sxm5 --requests 8 --json; json "j['weights'] == 'mxfp4' and j['fits']"
run 0 serve exaone-4.0-32b --on h100-sxm5 --json; json "j['weights'] == '16-bit' and j['fits']"
# What a request is, with the option that changes each; only of what was not given
run 0 serve llama-3-8b --on rtx-4090 --lang en; flat
has "Assumed: questions of about 1024 tokens (--prompt)"; has "answers of about 256 (--answer)"; has "weights: 16-bit (--weights)"
has "no engine in particular (--engine)"; lacks "(--think)"
run 0 serve llama-3-8b --on h100-sxm5 --users 50 --engine vllm --lang en; flat
has "20 s before the next question (--think)"; has "electricity at 0.12 USD/kWh (--kwh)"; has "PUE 1.2 (--pue)"; lacks "(--engine)"
run 0 serve llama-3-8b --on h100-sxm5 --users 50 --think "9 s" --engine vllm --prompt 900 --answer 90 --weights bf16 --kwh "0.2 USD/kWh" --pue 1.5 --lang en; lacks "Assumed"
run 0 serve llama-3-8b --on h100-sxm5 --kwh "292 KRW/kWh" --json; json "abs(j['usd_per_kWh'] - 0.2) < 0.01 and j['pue'] == 1.2"
dear=$(python3 -c "import json,sys; j=json.load(open(sys.argv[1])); print(j['electricity_usd_per_Mtoken_out'] / j['usd_per_kWh'] / j['pue'])" "$work/out")
run 0 serve llama-3-8b --on h100-sxm5 --pue 2.4 --json; json "abs(j['electricity_usd_per_Mtoken_out'] / 0.12 / 2.4 / $dear - 1) < 1e-9"
run 0 serve llama-3-8b --on h100-sxm5 --lang ko; flat; has "전기 0.12달러/kWh (--kwh)"; has "PUE 1.2 (--pue)"
run 2 serve llama-3-8b --on h100-sxm5 --pue 0.5; one_line; says "--pue"
# A processor reads its weights at its memory's pace (89.6 GB/s: 4.6 GB take 51 ms at least), and llama.cpp serves them
run 0 serve llama-3-8b --on cpu:i9-13900k --weights q4_k_m --concurrency 1 --json
json "0.051 < j['tpot_s']['mean']['value'] < 0.12 and j['flags'].startswith('llama-server')"
run 0 serve llama-3-8b --on cpu:i9-13900k --weights q4_k_m --concurrency 1 --lang en; lacks "GPU each"
# more people than it can answer: how many it holds; what is not simulated waits too, it adds no speed
run 0 serve llama-3-8b --on rtx-4090 --users 5000 --lang en; flat; has "Overloaded: it holds about 110 users"
run 0 serve llama-3-8b --on rtx-4090 --users 5000 --json; json "90 < j['users_held'] < 130"; few=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['output_tokens_per_s']['value'])" "$work/out")
run 0 serve llama-3-8b --on rtx-4090 --users 50000 --json; json "abs(j['output_tokens_per_s']['value'] / $few - 1) < 0.05 and j['ttft_s']['p50']['value'] > 10000"
run 0 serve llama-3-8b --on rtx-4090 --users 40 --json; json "'users_held' not in j"
run 0 serve llama-3-8b --on rtx-4090 --users 5000 --lang ko; flat; has "과부하"; has "110명"
run 3 serve llama-3-8b --on rtx-4090 --users 500 --ttft "500 ms" --lang en; flat; has "Within them it would hold about 8"
run 3 serve llama-3-8b --on rtx-4090 --users 500 --ttft "1 ms" --lang en; flat; has "not even one user"
run 0 serve llama-3-8b --on rtx-4090 --concurrency 2000 --json; few=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['output_tokens_per_s']['value'])" "$work/out")
run 0 serve llama-3-8b --on rtx-4090 --concurrency 50000 --json; json "abs(j['output_tokens_per_s']['value'] / $few - 1) < 0.05"
# versions and backends: what few have measured is said, and is less sure
run 0 serve llama-3-70b --on dgx-h100 --engine vllm --json; json "j['published_pair']"
run 0 serve llama-3-8b --on m2-ultra --engine llamacpp --lang en; flat; has "no published measurement of llama.cpp on this device"
run 0 serve llama-3-70b --on mi300x-platform --engine "vllm 0.8" --lang en; flat; has "no published measurement of vLLM 0.8"
run 0 serve llama-3-70b --on mi300x-platform --engine "vllm 0.6" --json; json "j['engine'] == 'vllm-0.6-rocm' and j['published_pair']"; slow=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['output_tokens_per_s']['value'])" "$work/out")
run 0 serve llama-3-70b --on mi300x-platform --engine vllm --json; json "j['output_tokens_per_s']['value'] > 1.15 * $slow"
# what drafts takes time and memory of its own
run 0 serve llama-3-70b --on dgx-h100 --gpus 8 --draft 4 --json; free=$(python3 -c "import json,sys; j=json.load(open(sys.argv[1])); print(j['tpot_s']['mean']['value'], j['kv_tokens'])" "$work/out")
for draft in eagle llama-3.2-1b; do
	run 0 serve llama-3-70b --on dgx-h100 --gpus 8 --engine vllm --draft 4 --draft-model $draft --json; json "j['tpot_s']['mean']['value'] > ${free% *} and j['kv_tokens'] < ${free#* } and 0.02 < j['draft_frac'] < 0.5 and 'num_speculative_tokens' in j['flags']"
done
run 2 serve llama-3-70b --on dgx-h100 --draft-model eagle
# adapters: room, time and the engine's settings
run 0 serve llama-3-8b --on h100-sxm5 --engine vllm --json; cp "$work/out" "$work/none"
run 0 serve llama-3-8b --on h100-sxm5 --engine vllm --adapters 0 --json; cmp -s "$work/out" "$work/none" && ok || bad "no adapters change the answer"
run 0 serve llama-3-8b --on h100-sxm5 --engine vllm --adapters 100 --json; json "abs(j['adapters_B'] / 8388608000 - 1) < 1e-3 and 0.02 < j['adapters_frac'] < 0.5 and '--enable-lora --max-loras 100 --max-lora-rank 16' in j['flags']"
run 0 serve llama-3-8b --on h100-sxm5 --engine sglang --adapters 4 --adapter-rank 32 --lang en; flat; has "4 of rank 32"; has "max-loras-per-batch 4"
run 0 serve llama-3-8b --on h100-sxm5 --adapters 4 --lang ko; flat; has "어댑터"; has "랭크 16"
run 2 serve llama-3-8b --on h100-sxm5 --adapters 4 --adapter-rank 24; says "next above"; one_line
run 2 serve llama-3-8b --on h100-sxm5 --adapters=-1; one_line
run 2 serve llama-3-8b --on h100-sxm5 --adapters 10001; one_line
run 2 serve llama-3-8b --on h100-sxm5 --adapter-rank 16; one_line
run 2 serve llama-3-8b --on h100-sxm5 --adapters 4 --engine llama.cpp; says "several adapters"; one_line
# a folder with an apostrophe is one word to a shell
mkdir -p "$work/it's"; echo '{"model_type":"llama","num_hidden_layers":16,"hidden_size":2048,"intermediate_size":8192,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":128256,"max_position_embeddings":8192}' > "$work/it's/config.json"
run 0 serve "$work/it's/config.json" --on rtx-4090 --json
line=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['flags'])" "$work/out")
word=$(bash -c "set -- $line; echo \"\$3\""); [ "$word" = "$work/it's" ] && ok || bad "not one word: $line"
# a pause is no less than none
run 2 serve llama-3-8b --on rtx-4090 --users 3 --think=-1s; says "below zero"; one_line
# targets that nothing meets get the cut that is taken without them, and the width that was asked for
run 0 serve llama-3-70b --on dgx-h100 --rate 20/s --lang en; lacks "Overloaded"
run 3 serve llama-3-70b --on dgx-h100 --rate 20/s --tpot 50ms --lang en; has "not met"; lacks "Overloaded"
run 3 serve llama-3-70b --on dgx-h100 --rate 10/s --tpot 50ms --gpus 2 --json; json "j['n_gpus'] == 2"
# nobody is given tokens faster than passes end, however short the answer
for answer in 2 3 8; do
	run 0 serve llama-3-8b --on h100-sxm5 --answer $answer --rate 4 --json; json "j['tpot_s']['p50']['value'] > 0.95 * j['itl_s']['p50']['value'] and j['tpot_s']['mean']['value'] > 0.0065"
done
# sessions: what the GPU cannot keep between turns is computed again, unless the host keeps it; more host memory, more sessions within the targets
session() { run "$1" serve llama-3-8b --on "4x h100-sxm5" --gpus 1 --copies 1 --engine vllm --prompt 6000 --turn-tokens 1500 --tool-wait 20s --json "${@:2}"; }
session 0 --turns 8 --concurrency 60; json "j['load'] == 'sessions' and j['concurrency'] == 60 and j['sessions']['computed_frac'] > 0.3 and j['sessions']['found_host_frac'] == 0"
json "int(j['flags'].split('--max-model-len ')[1].split()[0]) >= 1.25 * j['sessions']['longest_tokens'] and j['sessions']['longest_tokens'] == 6256 + 7 * 1756 and j['sessions']['other_host_B'] is None"
later=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['sessions']['later_ttft_s']['p90']['value'])" "$work/out")
session 0 --turns 8 --concurrency 60 --kv-host "200 GB"; json "j['sessions']['computed_frac'] < 0.05 and j['sessions']['later_ttft_s']['p90']['value'] < 0.5 * $later and j['sessions']['other_host_B'] == 0"
json "abs(j['sessions']['other_later_ttft_p90_s']['value'] / $later - 1) < 1e-6 and '--kv-offloading-size 187' in j['flags']"
session 0 --turns 8 --concurrency 120 --kv-host "100 GB" --kv-nvme "4 TB"; json "j['sessions']['found_nvme_frac'] > 0.1 and abs(sum(j['sessions'][k] for k in ('found_gpu_frac', 'found_host_frac', 'found_nvme_frac', 'computed_frac')) - 1) < 1e-9"
session 0 --turns 8 --ttft 1s --tpot 40ms --kv-host "200 GB"; json "j['sessions']['sessions_held'] > 1.3 * j['sessions']['other_sessions_held'] > 0 and j['rate_max_per_s'] is None"
# whatever is asked: answers and prompts of the length that was asked for, every token of a turn before found or computed, no tier beyond its room
RANDOM=7
for i in 1 2 3 4 5 6; do
	turns=$((2 + RANDOM % 7)) prompt=$((200 + RANDOM % 4000)) turn=$((50 + RANDOM % 900)) answer=$((20 + RANDOM % 300)) at_once=$((1 + RANDOM % 60))
	run 0 serve llama-3-8b --on h100-sxm5 --engine "$(printf 'vllm\nsglang\ntrtllm\n' | sed -n $((1 + i % 3))p)" --turns $turns --turn-tokens $turn --prompt $prompt --answer $answer --concurrency $at_once \
		--tool-wait $((1 + RANDOM % 9))s --kv-host "$((RANDOM % 3 * 40)) GB" --json
	json "abs(sum(j['sessions'][k] for k in ('found_gpu_frac', 'found_host_frac', 'found_nvme_frac', 'computed_frac')) - 1) < 1e-9"
	json "abs(j['output_tokens_per_s']['value'] / j['requests_per_s']['value'] / $answer - 1) < 0.06"
	json "abs(j['input_tokens_per_s']['value'] / j['requests_per_s']['value'] / ($prompt + ($turns - 1) * ($answer + $turn) / 2) - 1) < 0.06"
	json "j['n_requests'] % $turns == 0 and j['n_refused'] == 0 and 0 < j['kv_max_frac'] <= 1 and j['ttft_s']['p50']['value'] <= j['ttft_s']['p90']['value'] <= j['ttft_s']['p99']['value']"
done
run 0 serve llama-3-8b --on h100-sxm5 --turns 2 --concurrency 4 --lang en; flat; has "4 sessions at once, of 2 turns each"; has "500 tokens more each turn (--turn-tokens)"; has "recomputed 0"
run 0 serve llama-3-8b --on h100-sxm5 --turns 2 --ttft 1s --lang ko; flat; has "세션"
run 3 serve llama-3-8b --on h100-sxm5 --turns 2 --ttft 1ms --lang en; flat; has "no session within the targets"
run 2 serve llama-3-8b --on h100-sxm5 --turns 2 --users 3; one_line; says "--turns"
run 2 serve llama-3-8b --on h100-sxm5 --tool-wait 3s; one_line; says "--turns"
run 2 serve llama-3-8b --on h100-sxm5 --kv-nvme 1TB; one_line; says "--kv-host"
run 1 serve llama-3-8b --on h100-sxm5 --turns 900 --turn-tokens 1 --answer 1 --prompt 10 --concurrency 100000; one_line; says "sessions"
# models that embed: sequences of the length asked for, no answer; twice the length, fewer sequences; what concerns answers is refused
run 0 serve bge-m3 --on l4 --input 512 --json; json "abs(j['input_tokens_per_s']['value'] / j['requests_per_s']['value'] / 512 - 1) < 0.01 and j['fits']"
short=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['requests_per_s']['value'])" "$work/out")
run 0 serve bge-m3 --on l4 --input 1024 --json; json "0.3 * $short < j['requests_per_s']['value'] < 0.6 * $short"
run 0 serve bge-m3 --on l4 --engine vllm --lang en; flat; has "sequences of 512 tokens a second"; has "--runner pooling"
run 2 serve bge-m3 --on l4 --answer 5; one_line; says "--answer has no effect with bge-m3"
run 2 serve llama-3-8b --on l4 --input 5; one_line; says "a model that embeds"
run 2 predict bge-m3 --on l4 --serve; one_line; says "use 'jeoul serve bge-m3'"
finish
