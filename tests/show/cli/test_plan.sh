#!/bin/bash
# plan as a person uses it.
. "$(dirname "$0")/lib.sh"

small=(plan gpt3-1.3b --on "2x dgx-a100-80gb" --global-batch 64)

# The keys that scripts rely on; counts add up; each plan is what predict says of it
run 0 "${small[@]}" --json
json "j['n_configurations'] == j['n_evaluated'] + sum(j['n_rejected'].values())"
json "set(j['n_rejected']) == {'memory', 'host_memory', 'framework', 'slower', 'shape'} and j['search_s'] > 0 and j['configurations_per_s'] > 0"
json "len(j['plans']) == 5 and [p['rank'] for p in j['plans']] == [1, 2, 3, 4, 5] and j['complete'] is True"
json "all(a['value'] <= b['value'] for a, b in zip(j['plans'], j['plans'][1:]))"
json "all(abs(p['value'] / p['step_s']['value'] - 1) < 1e-9 and p['step_s']['lo'] < p['step_s']['value'] < p['step_s']['hi'] for p in j['plans'])"
json "all(p['memory_B']['total'] <= 0.94 * p['memory_B']['capacity'] and p['fits'] for p in j['plans'])"
json "all(p['parallel']['dp'] * p['parallel']['tp'] * p['parallel']['pp'] * p['parallel']['cp'] == 16 for p in j['plans'])"
json "all(p['parallel']['dp'] * p['micro_batch'] * p['accumulate'] == 64 for p in j['plans'])"
json "j['plans'][0]['indistinguishable'] is True and set(j['plans'][0]['settings']) == {'megatron', 'deepspeed', 'torchtitan', 'trl'}"
json "len({(p['parallel']['tp'], p['parallel']['pp'], p['parallel']['cp'], p['parallel']['ep'], p['parallel']['zero'] == 3) for p in j['plans']}) == 5"
cp "$work/out" "$work/first"

# The same for any number of threads, with and without a bound; counts too
for n in 1 3; do
	run 0 "${small[@]}" --json --threads $n
	json "[p['value'] for p in j['plans']] == [p['value'] for p in json.load(open('$work/first'))['plans']]"
	json "j['n_rejected'] == json.load(open('$work/first'))['n_rejected']"
done
run 0 "${small[@]}" --json --no-prune
json "[p['value'] for p in j['plans']] == [p['value'] for p in json.load(open('$work/first'))['plans']] and j['n_rejected']['slower'] == 0"
json "j['n_configurations'] == json.load(open('$work/first'))['n_configurations']"

# Narrower
run 0 "${small[@]}" --json --fix tp=4,zero=1 --forbid offload,recompute --best 3
json "all(p['parallel']['tp'] == 4 and p['parallel']['zero'] == 1 and p['offload'] == [] and p['recompute'] == 'none' for p in j['plans'])"
json "0 < len(j['plans']) <= 3"
run 0 "${small[@]}" --json --memory-margin 50%
json "all(p['memory_B']['total'] <= 0.5 * p['memory_B']['capacity'] for p in j['plans']) and j['memory_margin_frac'] == 0.5"
for objective in cost energy tokens-per-usd; do
	run 0 "${small[@]}" --objective $objective --json
	json "j['objective'] == '$objective' and all(a['value'] <= b['value'] for a, b in zip(j['plans'], j['plans'][1:]))"
done
run 0 "${small[@]}" --objective energy --json; json "abs(j['plans'][0]['value'] / j['plans'][0]['energy_J']['value'] - 1) < 1e-9"
run 0 "${small[@]}" --objective cost --json; json "abs(j['plans'][0]['value'] / j['plans'][0]['cost_usd']['value'] - 1) < 1e-9"

# Settings alone, ready to paste: DeepSpeed's is JSON, torchtitan's is TOML
run 0 plan gpt3-1.3b --on dgx-a100-80gb --global-batch 64 --fix tp=1,pp=1,cp=1,zero=3,hsdp=0 --forbid offload --settings deepspeed
json "j['zero_optimization']['stage'] == 3 and j['train_batch_size'] == 64"
json "j['train_micro_batch_size_per_gpu'] * j['gradient_accumulation_steps'] * 8 == 64"
run 0 plan gpt3-1.3b --on dgx-a100-80gb --global-batch 64 --fix tp=2,pp=2,zero=3 --forbid offload,hsdp --settings torchtitan
has "tensor_parallel_degree = 2"; has "pipeline_parallel_degree = 2"
if python3 -c "import tomllib" 2>/dev/null; then
	python3 -c "import tomllib,sys; t=tomllib.load(open(sys.argv[1],'rb')); p=t['parallelism']; sys.exit(p['data_parallel_shard_degree']*p['data_parallel_replicate_degree']*p['context_parallel_degree']*4 != 8)" "$work/out" && ok || bad "TOML"
fi
run 0 plan gpt3-1.3b --on dgx-a100-80gb --global-batch 64 --precision tf32 --fix tp=2,pp=2,zero=3 --forbid offload,hsdp --settings all; has "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1"; has 'mixed_precision_param = "float32"'
run 0 plan gpt3-1.3b --on dgx-a100-80gb --global-batch 64 --fix tp=2,pp=2,zero=1 --settings megatron
has "--tensor-model-parallel-size 2"; has "--pipeline-model-parallel-size 2"; has "--use-distributed-optimizer"; has "--global-batch-size 64"
run 0 plan gpt3-1.3b --on dgx-a100-80gb --global-batch 64 --fix tp=2 --settings deepspeed; has "# DeepSpeed"

# no flags of frameworks that do not run there
run 0 plan llama-3-8b --on v5p-64 --tokens 1e9 --lang en; flat; has "none for Megatron-LM: it does not run on TPUs; MaxText and PyTorch/XLA do"; lacks "micro-batch-size"
run 0 predict llama-3-8b --on v5p-64 --lang en; has "XLA"; lacks "PyTorch eager"; lacks "torch.compile"

# What one framework does together: Megatron-LM moves no weights, others weights beside the optimizer; slices overlap over NVLink alone; all
# that differs from predict is said, in the options' words
for how in "llama-2-70b --on 16x(a100-sxm4-80gb) --global-batch 16" "llama-3-8b --on h200-sxm --global-batch 1"; do
	read -ra words <<<"$how"
	run 0 plan "${words[@]/16x(a100-sxm4-80gb)/16x a100-sxm4-80gb}" --json
	json "all(not ('params' in p['offload'] and (p['framework'] == 'megatron' or 'optimizer' not in p['offload'])) for p in j['plans'])"
	json "all(not ('optimizer' in p['offload'] and p['framework'] == 'megatron' and p['parallel']['zero'] > 1) for p in j['plans'])"
done
run 0 plan llama-2-13b --on "16x rtx-4090" --global-batch 64 --json; json "not any(p['parallel']['overlap'] for p in j['plans'])"
run 0 plan llama-2-13b --on "16x rtx-4090" --global-batch 64 --lang en; flat; has "8×5"
run 0 plan --assumptions llama-2-70b --on "16x a100-sxm4-80gb" --global-batch 16 --lang en; flat; has "overlap 0 → 1"; has "--offload none → activations"

# Kinds and numbers: the front is a front; limits are kept
run 0 plan llama-3-8b --gpus 8..64 --kinds a100-sxm4-80gb,h100-sxm5 --tokens 1e10 --deadline 10d --budget 1MUSD --json
json "[p['n_gpus'] for p in j['points']][:6] == [8, 16, 24, 32, 48, 64] and len(j['points']) == 12"
json "j['scope'] == 'run' and j['points'][j['cheapest']]['in_time'] and j['points'][j['cheapest']]['in_budget'] and j['points'][j['cheapest']]['on_front']"
json "all(not (q['time_s'] < p['time_s'] and q['plan']['cost_usd']['value'] < p['plan']['cost_usd']['value']) for p in j['points'] if p['fits'] and p['on_front'] for q in j['points'] if q['fits'])"
json "all(p['time_s'] == p['elapsed']['time_s']['value'] > p['plan']['run_s']['value'] for p in j['points'] if p['fits'])"
run 3 plan llama-3-8b --gpus 8,16 --kinds h100-sxm5 --tokens 1e13 --deadline 1h; has "None"
run 0 plan gpt3-1.3b --on "4x dgx-h100" --gpus 1,2,8,16,32 --json; json "[p['n_gpus'] for p in j['points'] if p['fits']] == [1, 2, 8, 16, 32]"

# Largest and fastest batch of each system
run 0 plan gpt2-355m --batch-limit --on dgx-station-v100-32gb --on rtx-4090 --on h200-sxm --json
json "len(j['systems']) == 3 and all(s['largest']['batch'] >= s['fastest']['batch'] > 0 and s['with_every_means']['batch'] >= s['largest']['batch'] for s in j['systems'])"
json "all(s['largest']['memory_B']['total'] <= 0.94 * s['largest']['memory_B']['capacity'] for s in j['systems'])"
json "all(s['fastest']['samples_per_s']['value'] >= s['largest']['samples_per_s']['value'] for s in j['systems'])"
json "j['systems'][2]['largest']['batch_per_worker'] > j['systems'][1]['largest']['batch_per_worker']"

# No plan fits: says so, and what the nearest one lacks
run 3 plan llama-3-70b --on rtx-4090; has "lacks"; has "GiB"
run 3 plan llama-3-70b --on rtx-4090 --json; json "j['plans'] == [] and j['nearest_miss']['lacks_B'] > 0"
run 3 plan llama-3-70b --on rtx-4090 --lang ko; has "부족"

# Ctrl-C: the best so far
"$JEOUL" plan gpt3-175b --on "5040x dgx-a100-80gb" --global-batch 40320 --precision any --framework any --no-prune --threads 1 --json >"$work/out" 2>"$work/err" &
pid=$!
sleep 1
kill -INT $pid; wait $pid
[ $? = 130 ] && ok || bad "Ctrl-C: not 130"
json "j['complete'] is False and j['n_evaluated'] > 0 and len(j['plans']) > 0"

# Text: nothing wider than 80 columns, both languages
for lang in en ko; do
	for args in "gpt3-175b --on 8x(dgx-a100-80gb) --global-batch 64" "mixtral-8x7b --on 4x(dgx-h100) --tokens 1e12" "deepseek-v3 --on 64x(dgx-h100) --global-batch 1024" \
		"gpt-305m --on 10x(rtx-3090) --objective energy" "llama-3-8b --gpus 8..256 --kinds h100-sxm5,b200-sxm --tokens 1e11 --deadline 9d" \
		"llama-3-8b --on dgx-h100 --objective tokens-per-usd" "gpt2-355m --batch-limit --on dgx-station-v100-32gb --on rtx-4090"; do
		run 0 plan $args --lang $lang
		narrow
	done
done
run 0 "${small[@]}"; has "Best"; has "Why"; has "Searched"; has "Settings"; has "80 % intervals"
has "copies, "; has ", micro-batch "; lacks "recomp."; lacks "offl." # the table names plans as everything else does

# One clear line for what is wrong
clear() { run "$1" "${@:3}"; one_line; says "$2"; }
clear 2 "--kinds" plan gpt2-124m --gpus 8
clear 2 "--kinds" plan llama-3-8b --gpus 8..64 --tokens 1e12 --deadline 30d
clear 2 "--on" plan gpt3-1.3b
clear 2 "tp=8" plan gpt3-1.3b --on dgx-h100 --fix tp
clear 2 "micro-batch=" plan gpt3-1.3b --on dgx-h100 --fix foo=1
clear 2 "selective" plan gpt3-1.3b --on dgx-h100 --fix recompute=half
clear 2 "--fix tp and --forbid tp contradict each other" plan gpt3-1.3b --on dgx-h100 --fix tp=2 --forbid tp --lang en
clear 2 "--forbid recompute와 동시에" plan gpt3-1.3b --on dgx-h100 --forbid recompute --fix recompute=full --lang ko
clear 2 "--fix tp is given twice" plan gpt3-1.3b --on dgx-h100 --fix tp=2 --fix zero=1,tp=4 --lang en
run 0 plan gpt3-1.3b --on dgx-h100 --fix tp=1,zero=1 --forbid tp,zero2 --best 1
clear 2 "offload-optimizer" plan gpt3-1.3b --on dgx-h100 --forbid everything
clear 2 "6%" plan gpt3-1.3b --on dgx-h100 --memory-margin 120%
clear 2 "--tokens" plan gpt3-1.3b --gpus 8 --kinds h100-sxm5 --deadline 30d
clear 2 "--gpus" plan gpt3-1.3b --kinds h100-sxm5
clear 2 "8..4096" plan gpt3-1.3b --kinds h100-sxm5 --gpus 64..8
clear 2 "not both" plan gpt3-1.3b --on dgx-h100 --kinds h100-sxm5 --gpus 8
clear 2 "--batch-limit" plan gpt3-1.3b --on dgx-h100 --on dgx-a100-80gb
clear 2 "--batch-limit" plan resnet-50 --on dgx-h100

# A kind whose network nobody rates leaves the others planned; a budget without a currency is in dollars
run 0 plan llama-3-8b --gpus 8..64 --kinds h100-sxm5,tpu-v5p --tokens 1e10 --lang en; flat; has "Cheapest: 8 x h100-sxm5"
run 0 plan llama-3-8b --on "8x h100-sxm5" --tokens 1e10 --budget 300000 --lang en; flat; has "of 300,000 USD"
# A deadline and a budget that the best plan misses are said, and end the command as a bad verdict
run 3 plan gpt3-1.3b --on dgx-a100-80gb --tokens 1e12 --deadline 1d --budget 10USD
has "Deadline"; has "Budget"; has "exceeded"; has "USD/h a GPU"
run 3 plan gpt3-1.3b --on dgx-a100-80gb --tokens 1e12 --deadline 1d --json
json "j['deadline_s'] == 86400 and j['in_time'] is False and j['in_budget'] is True and j['budget_usd'] is None"
run 0 plan gpt3-1.3b --on dgx-a100-80gb --tokens 1e9 --deadline 30d --budget 1MUSD
has "met: "; lacks "exceeded"
run 0 plan gpt3-1.3b --on dgx-a100-80gb --tokens 1e9 --json
json "j['deadline_s'] is None and j['in_time'] is True"
clear 2 "--tokens" plan gpt3-1.3b --on dgx-a100-80gb --deadline 30d
clear 2 "--batch-limit" plan gpt2-355m --batch-limit --on rtx-4090 --deadline 30d --tokens 1e9

# A number that no host comes in: the next ones
run 3 plan gpt3-1.3b --gpus 500 --kinds h100-sxm5 --tokens 1e10; has "496 or 504"
run 3 plan gpt3-1.3b --gpus 500 --kinds h100-sxm5 --tokens 1e10 --json
json "j['points'][0]['possible'] is False and j['points'][0]['next_below'] == 496 and j['points'][0]['next_above'] == 504"

# The largest batch is the same wherever it is asked for, and its margin is named
run 0 plan gpt2-124m --batch-limit --on rtx-4090 --on h200-sxm --json; cp "$work/out" "$work/limits"
run 0 predict gpt2-124m --on rtx-4090 --json
json "j['max_micro_batch'] == json.load(open('$work/limits'))['systems'][0]['largest']['batch']"
run 0 compare gpt2-124m --baseline rtx-4090 --on h200-sxm --json
json "[j['baseline']['batch_limit_per_device'], j['systems'][0]['batch_limit_per_device']] == [s['largest']['batch'] for s in json.load(open('$work/limits'))['systems']]"
run 0 plan gpt2-124m --batch-limit --on rtx-4090; has "6 %"
run 0 predict gpt2-124m --on rtx-4090; has "leaves 6 % free: "

# 80 columns, however much money: the table, the axis of the chart, and no chart of one point
run 3 plan llama-3-70b --gpus 64..256 --kinds h100-sxm5,h200-sxm --tokens 15e12 --deadline 30d
has "MUSD"; has "└"; narrow
run 0 plan gpt3-1.3b --gpus 8 --kinds h100-sxm5 --tokens 1e10; lacks "└"
# several hosts: an offer whose hosts are joined, as recommend has it; a deadline that only the middle of an interval keeps is no answer
run 0 plan llama-2-7b --tokens 1e12 --kinds h100-sxm5 --gpus 8..64 --deadline 30d --json
json "[p['plan']['rent']['hosts_not_joined'] for p in j['points']] == [False] * len(j['points'])"
json "j['points'][j['cheapest']]['surely']"
json "all(p['plan']['rent']['gpu_usdps'] * 3600 > 6 for p in j['points'] if p['n_gpus'] > 8) and j['points'][0]['plan']['rent']['gpu_usdps'] * 3600 < 4"
run 0 plan llama-2-7b --tokens 1e12 --kinds h100-sxm5 --gpus 32 --deadline 33d; flat; has "no option is certain to meet them"; has "unsure"
run 0 plan gpt2 --tokens 1e9 --kinds "2x rtx-4090" --gpus 4; flat; has "no network between such hosts is listed"
# What is pasted has whole numbers; a mark beside a stage is no thousand
run 0 plan gpt2-124m --on "8x dgx-h100" --global-batch 3000000 --settings all; has "--global-batch-size 3000000 "
if grep -qE '[0-9][kKM]\b|[0-9]e[+]?[0-9]|[0-9],[0-9]' "$work/out"; then bad "settings with shortened numbers"; else ok; fi
run 0 plan llama-3-8b --on "8x dgx-h100"; flat; has "weights stay gathered"; lacks " 3k"
# Who trains adapters cuts no layers and spreads no experts, unless Megatron is asked for; Megatron-FSDP beside slices is warned of before Blackwell
for way in "--tune qlora" "--tune lora" "--tune lora --framework eager" "--tune lora --framework compiled"; do
	# shellcheck disable=SC2086
	run 0 plan mixtral-8x7b --on "8x h100-sxm5" $way --json
	json "all(p['parallel']['tp'] * p['parallel']['pp'] * p['parallel']['cp'] * p['parallel']['ep'] == 1 for p in j['plans'])"
done
run 0 plan mixtral-8x7b --on "8x h100-sxm5" --tune lora --framework megatron --json; json "j['plans'][0]['parallel']['ep'] > 1"
run 0 plan --assumptions llama-3-8b --on "2x dgx-h100" --fix tp=2,zero=3 --lang en; flat; has "Megatron-LM warns about it before Blackwell"; has "unset CUDA_DEVICE_MAX_CONNECTIONS"; lacks "--tp-comm-overlap"
run 0 plan llama-3-8b --on "2x dgx-b200" --fix tp=2,zero=3 --lang en; flat; lacks "before Blackwell"; has "--tp-comm-overlap"
# a small gain is not rounded up
run 0 plan gpt2-355m --on "2x rtx-4090" --lang en; flat; like "That is 1.1[0-9]x as fast"
# What is printed is what was ranked, generation included
run 0 plan qwen3-8b --on "8x h100-sxm5" --tune full --method grpo --group 8 --generate 2048 --seq 3072 --global-batch 512 --json
json "[p['step_s']['value'] for p in j['plans']] == sorted(p['step_s']['value'] for p in j['plans']) and len(j['plans']) > 2"

finish
