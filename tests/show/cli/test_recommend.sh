#!/bin/bash
# Which machine for a purpose: computed from the catalog, within the limits, with its reasons.
. "$(dirname "$0")/lib.sh"

# Every purpose has an answer that fits, in 80 columns, in both languages
sanitized && purposes="cv-research nlp-research startup" || purposes="kaggle learning cv-research nlp-research pretraining finetune-7b finetune-70b serve-70b startup cluster" # the others are asked for below
for p in $purposes; do
	run 0 recommend --purpose $p --lang en
	has "candidates"; has "Cheapest first"; has "Assumed:"; has "▸"
	if [ "$(wc -L < "$work/out")" -le 80 ]; then ok; else bad "$p: wider than 80 columns"; fi
done
# electricity in the currency of the answer
run 0 recommend --purpose startup --currency KRW --lang en; has " KRW/kWh"; lacks "USD/kWh"
run 0 recommend --purpose finetune-7b --lang ko
has "후보"; has "방법별로 가장 나은 것"; has "가정:"
if [ "$(wc -L < "$work/out")" -le 80 ]; then ok; else bad "Korean: wider than 80 columns"; fi

# The whole catalog: at least 20,000 candidates, every one accounted for; the front is a front
run 0 recommend --purpose cluster --json
json "j['n_candidates'] >= 8000 and sum(j['against'].values()) == j['n_candidates']"
json "all(a['cost_usd']['value'] < b['cost_usd']['value'] and a['wall_s']['value'] > b['wall_s']['value'] for a, b in zip(j['front'], j['front'][1:]))"
json "all(c['run_s']['lo'] < c['run_s']['value'] < c['run_s']['hi'] for c in j['front'])"
json "j['pick']['cost_usd']['value'] <= 10 * min(c['cost_usd']['value'] for c in j['front'])"
json "j['pick']['run_s']['value'] <= 60 * 86400"
json "abs(j['pick']['run_cost_usd']['value'] * 12 - j['pick']['cost_usd']['value']) < 1e-6 * j['pick']['cost_usd']['value']"

# Rents by hand: hours x rent x machines
run 0 recommend --purpose kaggle --how rent --json
json "abs(j['pick']['cost_usd']['value'] - j['pick']['wall_s']['value'] / 3600 * 480 * j['pick']['machine_usd_per_hour'] * j['pick']['n_machines']) < 1e-6"
json "list(j['best']) == ['rent']"
# Spot loses 1/30 of its paid time: 5 %/h x 40 min
run 0 recommend --purpose kaggle --how spot --json
json "abs(j['pick']['cost_usd']['value'] / (j['pick']['wall_s']['value'] / 3600 * 480 * j['pick']['machine_usd_per_hour'] * j['pick']['n_machines']) - 30 / 29) < 1e-5"
# Bought: the price once, and electricity
run 0 recommend --purpose kaggle --how buy --kwh "0.2 USD/kWh" --json
json "abs(j['pick']['machine_usd'] * j['pick']['n_machines'] + j['pick']['energy_kWh'] * 0.2 - j['pick']['cost_usd']['value']) < 1e-6 * j['pick']['cost_usd']['value']"
json "set(j['best']) <= {'buy-new', 'buy-used'} and any(c['key'] == 'host-price' for c in j['pick']['caveats'])"

# Limits hold
run 0 recommend --purpose kaggle --budget "1500 USD" --how buy --json
json "j['pick']['cost_usd']['value'] <= 1500 and all(c['cost_usd']['value'] <= 1500 for c in j['front'])"
run 0 recommend --purpose kaggle --budget "200만원" --fx 1400 --how buy --json
json "j['pick']['cost_usd']['value'] <= 2000000 / 1400"
run 0 recommend --purpose cluster --deadline "10 d" --json
json "all(c['run_s']['value'] <= 864000 for c in j['front'])"
run 0 recommend --purpose cv-research --how buy --power-limit "800 W" --json
json "all(c['peak_W'] <= 800 for c in j['front']) and all(1.2 * c['power_W'] < c['peak_W'] for c in j['front'])"
# a limit is one of the wall, at its most, as 'jeoul build' has it: (350 + 175 + 75 W) / 0.92
run 0 recommend --purpose finetune-7b --only rtx-3090 --per-machine 1 --how buy --power-limit "660 W" --lang en; flat; has "at most 652 W from the wall"
run 3 recommend --purpose finetune-7b --only rtx-3090 --per-machine 1 --how buy --power-limit "640 W" --lang en; flat; has "is 652 W: raise --power-limit"
run 0 recommend --purpose finetune-7b --how rent --region seoul --json
json "all(c['region'] and ('northeast' in c['region'] or 'orea' in c['region'].lower() or 'KOREA' in c['region']) for c in j['front'])"
run 0 recommend --purpose finetune-7b --only rtx-3090,rtx-4090 --max-gpus 4 --json
json "all(c['gpu'] in ('rtx-3090', 'rtx-4090') and c['n_gpus'] <= 4 for c in j['front'])"

# What is shown can be run: the batch divides, and is told where it is not the one asked for
run 0 recommend --purpose kaggle --budget "3000 USD" --json
json "all(c['global_batch'] % c['dp'] == 0 and 128 <= c['global_batch'] <= 140 for c in j['front'])"
json "all((c['global_batch'] == 128) == all(x['key'] != 'batch' for x in c['caveats']) for c in j['front'])"
# A price is as old as its date says; a purchase is told, and must be within the budget
run 0 recommend --purpose kaggle --only h200-nvl --how buy-new --max-gpus 1 --lang en; has "price of 2026-02-07: 281 days old"
run 0 recommend --purpose kaggle --max-gpus 1 --how buy --util 15% --budget "3000 USD" --json
json "all(c['purchase_usd'] <= 3000 for c in j['front'])"
run 0 recommend --purpose kaggle --max-gpus 1 --how buy --util 15% --lang en; has "its share of a purchase of"
# The same rents as predict's, of hosts with a network of their own; no marketplace offer times 64
run 0 recommend llama-3-70b --tokens 1e12 --max-gpus 512 --per-machine 8 --only h100-sxm5 --how rent --deadline 45d --runs-per-month 1 --months 1 --json
json "j['pick']['provider'] != 'Vast.ai' and j['pick']['precision'] == 'bf16'"
rent=$(python3 -c "import json,sys; j=json.load(open(sys.argv[1])); print(j['pick']['machine_usd_per_hour'] / 8)" "$work/out")
system=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['pick']['system'])" "$work/out")
run 0 predict llama-3-70b --on "$system" --tokens 1e12 --json
json "abs(j['rent']['gpu_usdps'] * 3600 - $rent) < 1e-6"
# Serving in the format that was asked for
run 0 recommend llama-3-70b --serve --concurrency 1 --context 8192 --only rtx-3090 --how buy --precision fp16 --json
json "j['pick']['weight_bits'] == 16"

# 70B in 16 bits needs more than one card of 96 GB; in 4 bits one 80 GB card holds it
run 0 recommend --purpose finetune-70b --json
json "all(c['n_gpus'] * 200e9 > 140e9 and c['memory_B'] < 300e9 for c in j['front'])"
run 0 recommend --purpose serve-70b --json
json "all(c['how'] != 'spot' for c in j['front']) and j['pick']['weight_bits'] in (4, 8, 16) and j['pick']['token_s']['value'] <= 0.1"
run 0 recommend llama-3-70b --serve --only rtx-pro-6000-blackwell-server --how buy --per-machine 1 --concurrency 1 --context 4096 --tokens-per-s 1 --json
json "j['pick']['weight_bits'] < 16"

# A run of which only its time is known
run 0 recommend --observed "1.06 s" --observed-batch 128 --batches 19252 --kind cnn --baseline "4x v100-dgxs-32gb via nvlink2-mesh" --json
json "j['task'] == 'observed' and j['n_candidates'] >= 8000 and j['pick']['run_s']['lo'] < j['pick']['run_s']['value'] < j['pick']['run_s']['hi']"
# A model of one's own, by its shape
run 0 recommend --layers 16 --hidden 1024 --heads 16 --seq 512 --global-batch 64 --tokens 100000000 --json
json "j['pick']['n_gpus'] >= 1"

# Nothing will do: said, and a verdict
run 3 recommend --purpose cluster --budget "10 USD" --lang en
flat; has "No option meets your limits"; has "the budget: "; has "Nearest: the cheapest that is fast enough"; has "raise --budget"
run 3 recommend --purpose kaggle --deadline "1 ms" --lang ko; has "--deadline을 늘리세요"
run 3 recommend --purpose serve-70b --budget "2000 USD" --json; json "j['nearest']['misses'] == 'budget' and j['nearest']['cost_usd']['value'] > 2000"

# Bad input: one clear line
run 2 recommend --purpose kaggel --lang en; one_line; says "kaggle"
run 2 recommend --lang en; one_line; says "--purpose kaggle"
run 2 recommend llama-2-7b --lang en; one_line; says "--tokens"
run 2 recommend --purpose kaggle --util 150% --lang en; one_line; says "100 %"
run 0 recommend --purpose kaggle --budget 3000 --lang en; flat; has "'--budget 3000' is read as 3000 USD"
run 2 recommend --purpose kaggle --budget "-5 USD" --lang en; one_line
run 0 recommend --purpose kaggle --budget "100만원" --lang en; has "thousand KRW"; has "USD in all"; has "1 USD = 1,460 KRW (2025-11-14"
run 0 recommend --purpose kaggle --why-not t4g --lang en; has "Why not"; has "ARM"
run 0 recommend --purpose kaggle --why-not rtx-a5000 --lang en; has "it is the pick"
run 1 recommend --purpose kaggle --why-not dgx-h100 --lang en; one_line; says "write --why-not \"8x h100-sxm5\""
run 2 recommend --purpose kaggle --deadline "0 s" --lang en; one_line; says "above zero"
# one number of months where nobody says one: what is served and what was observed too
run 0 recommend --help; has "12)"
run 0 recommend --observed "1.06 s" --observed-batch 128 --batches 19252 --baseline dgx-station-v100-32gb --json; json "j['months'] == 12"
run 0 recommend llama-3-8b --serve --users 8 --json; json "j['months'] == 12"
run 2 recommend --purpose kaggle --months 0 --lang en; one_line; says "above zero"
run 2 recommend --purpose kaggle --how steal --lang en; one_line; says "buy-new"
run 1 recommend --purpose kaggle --region atlantis --lang en; one_line; says "seoul"
run 2 recommend llama-3-70b --serve --precision tf32 --lang en; one_line; says "fp16, bf16 or fp8"
run 0 recommend --help --lang ko; has "400만원"
run 1 recommend --purpose kaggle --only rtx-9999 --lang en; one_line
run 2 recommend resnet-50 --samples 1000 --lora --lang en; one_line; says "LoRA"
run 2 recommend resnet-50 --tokens 1e10 --lang en; one_line; says "--tokens is for language models"
run 2 recommend --purpose kaggle --observed "1 s" --lang en; one_line; says "--observed-batch"
# What a run is is said; the purpose's sentence is not where an option replaced it
run 0 recommend --purpose kaggle --how buy --util 40% --kwh "150 KRW/kWh" --budget 400만원 --lang en; flat
has "a run: 100,000 samples × 20 epochs (--samples, --epochs)"
# The pick that something beats by little is not among what nothing beats, and says why that was not taken
run 0 recommend llama-3-70b --tokens 1e12 --deadline "120 d" --how rent --lang en; flat
has "the cost, but it needs more accelerators"
if [ "$(grep -c "^  *▸" "$work/out")" = 1 ]; then ok; else bad "the pick stands in a list of what nothing beats"; fi
run 0 recommend --purpose serve-70b --concurrency 50 --lang en; flat; has "50 requests at once (--concurrency)"; has "questions of about 3072 tokens"; lacks "32 users"
# Users are people, as infer has them: the same questions and answers, and as many requests at once as the machine's own pace leaves
run 0 infer llama-3-8b --on rtx-4090 --users 200 --weights fp8 --json; token_s=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['tpot_s']['mean']['value'])" "$work/out")
run 0 recommend llama-3-8b --serve --users 200 --only rtx-4090 --per-machine 1 --precision fp8 --json
json "j['load'] | dict(concurrency=0, tokens_per_s=0) == dict(users=200, think_s=20, concurrency=0, context_tokens=1280, prompt_tokens=1024, answer_tokens=256, tokens_per_s=0)"
json "j['pick']['n_gpus'] == 1 and 48 < j['pick']['n_requests'] < 64 and abs(j['pick']['token_s']['value'] / $token_s - 1) < 0.15"
run 0 recommend llama-3-8b --serve --users 200 --prompt 2048 --answer 512 --think "5 s" --json; json "j['load']['context_tokens'] == 2560 and j['load']['think_s'] == 5"
run 2 recommend llama-3-8b --serve --users 200 --prompt 2048 --context 4096; one_line; says "not both"
run 2 recommend llama-3-8b --serve --answer 1; one_line; says "serve --rate"
run 0 recommend llama-3-8b --serve --users 1 --lang en; flat; has "1 user reading for 20 s between answers: 1 request at once"
run 0 recommend llama-3-8b --serve --users 200 --lang en; flat; has "200 users reading for 20 s between answers: 54 requests at once"; has "answers of about 256 (--answer)"; has "at least 1,130 tokens/s in all"; has "bits"; like "([1-9] of [1-9] shown)"
run 0 recommend llama-3-8b --serve --users 2000 --why-not rtx-4090 --lang en; flat; like "too little memory for 18[0-9][0-9] requests at once of 1280 tokens"
# every place with its reason, what was asked about, and what was rejected: as fields too
run 0 recommend llama-3-70b --serve --users 2000 --why-not rtx-4090 --json
json "all(j[k]['why'] for k in ('pick', 'runner_up', 'cheapest', 'fastest', 'why_not')) and j['why_not']['misses'] == 'memory'"
json "j['cheapest']['cost_usd']['value'] == j['front'][0]['cost_usd']['value'] and j['fastest']['token_s'] == j['front'][-1]['token_s']"
run 0 recommend --purpose serve-70b --users 50 --lang ko; flat; has "사용자 50명"; has "동시 요청 38건"
run 2 recommend --purpose serve-70b --users 50 --concurrency 40; one_line
# One region's quote far below the same offer elsewhere is not counted on: Seoul's p5en is reckoned at the median of all regions
run 0 recommend --purpose pretraining --how spot --region seoul --only h200 --per-machine 8 --json; json "j['pick']['machine_usd_per_hour'] > 26"
# a whole host is not back at once; many days on spot are taken only where they are asked for
run 0 recommend --purpose pretraining --how spot --only h200 --per-machine 8 --lang en; flat; has "60 min until it is back"
run 0 recommend --purpose cluster --json; json "j['pick']['how'] != 'spot' and 'spot' not in j['best']"
run 0 recommend --purpose cluster --how spot --json; json "j['pick']['how'] == 'spot' and j['pick']['run_s']['value'] > 3 * 86400"
# One machine needs no network to be known; of several, the fact that is missing is named, and where it goes
run 0 recommend llama-3-8b --tokens 1e10 --why-not gcp:a2-ultragpu-4g --lang en; flat; has "Why not rent 4x a100-sxm4-80gb, "; has "acceptable: "
run 0 recommend llama-3-8b --tokens 1e10 --why-not "2x gcp:a2-ultragpu-4g" --lang en; flat; has "the rate of gvnic is not in the catalog"; has "CONTRIBUTING.md"
# Whole machines have dated prices; a bridge is paid where one for that connector is listed
run 0 recommend llama-3-8b --tokens 1e11 --how buy --only h100-sxm5,b200 --max-price-age "900 d" --lang en; flat; has "Buy "; has "hgx-h100-8gpu"
run 0 recommend llama-2-7b --tokens 1e8 --seq 2048 --global-batch 64 --only rtx-3090 --how buy --max-gpus 2 --json; json "any('nvlink' in c['system'] for c in j['front'])"
run 0 recommend llama-2-7b --tokens 1e8 --seq 2048 --global-batch 64 --only h200-nvl,h100-pcie --how buy --max-gpus 4 --json; json "not any('bridge' in c['system'] for c in j['front'])"
# A budget in won is answered in won, dollars beside it; three digits at most; a range only where there is one
run 0 recommend --purpose kaggle --budget 100만원 --lang ko; has "만 원"; has "달러"
run 0 recommend --purpose kaggle --budget "1000 USD" --lang en; has "134 USD (113–160)"; lacks "KRW"
run 0 recommend --purpose kaggle --budget "1000 USD" --region seoul --lang en; has "KRW in all"
run 0 recommend --purpose kaggle --how buy --lang en; lacks "(1,550–1,560)"
run 0 recommend --purpose learning --budget 100만원 --lang ko; has "원 (8,"; lacks "0.525만"
# nobody sells it new any more: used, and a budget that new cards miss hears of used ones
run 3 recommend --purpose learning --how buy --budget "900 USD" --lang en; flat; has "Nearest: the cheapest that is fast enough (buy used, 1x rtx-3060)"
run 3 recommend --purpose learning --how buy --budget "900 USD" --lang en; lacks "--how buy-used"
# whoever has the host pays the card alone, and the first line says so
run 0 recommend llama-3-8b --tune qlora --samples 10000 --epochs 3 --framework unsloth --how buy-used --budget 150만원 --host-owned --lang en; flat; has "for the host that is there"; has "(--host-owned)"
run 0 recommend llama-3-8b --tune qlora --samples 10000 --epochs 3 --framework unsloth --how buy-used --budget 150만원 --host-owned --json; json "j['pick']['host_assumed_usd'] == 0"
# Spot is said first; the pick is the best of its way; one is not several
run 0 recommend --purpose finetune-70b --budget 3000만원 --lang en; flat
has "Rent (spot) 8x b200"; has "a run: 50,000,000 tokens (--tokens)"
run 0 recommend --purpose finetune-70b --budget 3000만원 --json; json "dict(j['best']['spot'], why=0) == dict(j['pick'], why=0)"
run 0 recommend --purpose finetune-70b --budget 3000만원 --lang ko; flat; has "스팟으로 빌리세요"
run 0 recommend llama-2-7b --tokens 1e9 --deadline 20d --lang en; flat; has "for 1 run in 1 month."
run 0 recommend llama-3-70b --serve --concurrency 200 --context 4096 --tokens-per-s 2000 --why-not "8x l40s" --lang ko; flat
has "초당 2000토큰 중 8"; lacks "e+0"
# without a deadline no more hosts than are had on demand; whoever asks gets more
run 0 recommend llama-2-7b --tokens 1e12 --json; json "j['pick']['n_machines'] <= 8 and max(c['n_machines'] for c in j['front']) > 8"
run 0 recommend llama-2-7b --tokens 1e12; flat; has "are seldom available on demand"
run 0 recommend llama-2-7b --tokens 1e12 --deadline "5 d" --json; json "j['pick']['n_machines'] > 8"
# memory that surely does: the best of the safe ways, and the answer says so
run 0 recommend --purpose finetune-7b --only rtx-5090 --how rent --max-gpus 1 --json
json "j['pick']['micro_batch'] > 1 and j['pick']['run_s']['value'] < 7 * 3600 and 'room' in [c['key'] for c in j['pick']['caveats']]"
# requests at once, and how old the rate is
run 0 recommend llama-3-70b --serve --concurrency 500; flat; has "for 500 requests at once"; lacks "user "; run 0 recommend --purpose kaggle --region seoul --lang en; flat; has "1,460 KRW (2025-11-14, old ⚠: give today's with --fx)"
run 0 recommend llama-3-70b --serve --concurrency 500 --lang ko --fx 1400; flat; has "동시 요청 500건"; has "1,400원"; lacks "오래됨 ⚠: 오늘"; lacks "예산 안에서"
# won as Korean counts them; an old price can be allowed
run 0 recommend llama-2-7b --tokens 1e12 --lang ko --budget 10억원 --fx 1460; grep -qE '[0-9]억 [0-9],[0-9]{3}만 원' "$work/out" && ok || bad "hundred millions of won: $(head -2 "$work/out")"; lacks "0,000만 원:"
run 3 recommend --only rtx-4090 --how buy --purpose finetune-7b; flat; has "the price is too old: 4 (--max-price-age)"
run 0 recommend --only rtx-4090 --how buy --purpose finetune-7b --max-price-age 3y; has "Buy 1x rtx-4090"

# A rented machine is set up for every run; a named place pays its own tariff, and machines are bought where no rent is listed
run 0 recommend --purpose learning --setup "1 h" --how rent --json; json "3600 < j['pick']['wall_s']['value'] - j['pick']['run_s']['value'] < 3700"
run 0 recommend --purpose learning --how buy --json; json "1 < j['pick']['wall_s']['value'] / j['pick']['run_s']['value'] < 1.01"
run 0 recommend --purpose kaggle --how buy --region seoul --lang en; flat; has "(kr-general-1-low; --tariff)"
run 0 recommend --purpose kaggle --region frankfurt --lang en; has "Rent "; flat; has "no rents of frankfurt are known: those of europe are used"; has "0.41 USD/kWh (germany"; lacks "KRW"
run 0 recommend --purpose kaggle --how buy --tariff us-virginia --lang en; has "(us-virginia; --tariff)"
run 2 recommend --purpose kaggle --tariff us-virginia --kwh "0.1 USD/kWh" --lang en; one_line
run 0 recommend --purpose kaggle --how buy --host-owned --budget "350 USD" --lang en; has "1x rtx-3060"
# Below 300 dollars there are used cards, priced by their market and day; without a host the answer says what the host costs
for region in seoul frankfurt; do
	run 0 recommend --purpose learning --budget "250 USD" --region $region --how buy --host-owned --json
	json "j['pick']['how'] == 'buy-used' and j['pick']['provider'] == 'used market' and j['pick']['price_date'] >= '2026' and j['pick']['machine_usd'] < 250"
done
run 3 recommend --purpose learning --budget "250 USD" --region frankfurt --how buy --lang en; flat; has "of it are for a host: --host-owned"
run 0 recommend --purpose kaggle --region korea --json; json "len(j['rejected']) >= 1 and all(c['why'] and c['misses'] for c in j['rejected'])"
# A place without known rents is not an impossible one: said, with the nearest that has some; names are one table, Korean ones too
qlora='recommend llama-3-8b --tune qlora --tokens 20M --budget 8000USD'
run 1 $qlora --region frankfurt --how rent --lang en; one_line; says "no rents of frankfurt are known"; says "--region europe"
run 0 $qlora --region frankfurt --lang en; flat; has "no rents of frankfurt are known"
run 0 $qlora --region eu --how rent --json; cp "$work/out" "$work/eu.json"
run 0 $qlora --region europe --how rent --json; json "j['pick'] == json.load(open('$work/eu.json'))['pick']"
run 0 $qlora --region seoul --how rent --json; cp "$work/out" "$work/seoul.json"
run 0 $qlora --region 서울 --how rent --json; json "j['pick'] == json.load(open('$work/seoul.json'))['pick']"

# The end of the search is said where more hosts might do or were allowed; what nobody asked for is no remedy
large='recommend llama-3.1-405b --tokens 15.6T --region us --lang en --budget 500MUSD'
run 3 $large --deadline 90d; flat; has "at most 512 hosts, 4,096 GPUs of this kind"; has "'jeoul plan' and 'jeoul predict' take more"; lacks "lower --runs-per-month"
run 3 $large --deadline 90d --max-gpus 20000; flat; has "at most 512 hosts, 4,096 GPUs"
run 3 $large --deadline 90d --max-gpus 256; lacks "Searched"
run 0 recommend llama-3-8b --tune qlora --tokens 20M --budget 8000USD --lang en; lacks "Searched"

# What is surely faster and no dearer is taken; a rate alone says how many ask at once; 50 million dollars find their machines; a bare budget is dollars
run 0 recommend gpt2-xl --tokens 1e10 --budget 1000 --region seoul --json
json "not [c for c in j['front'] if c['how'] == j['pick']['how'] and c['cost_usd']['value'] <= j['pick']['cost_usd']['value'] and c['wall_s']['hi'] < j['pick']['wall_s']['lo']]"
run 0 recommend mixtral-8x7b --serve --tokens-per-s 5000 --budget "200000 USD" --months 12 --region virginia --json; json "j['pick']['cost_usd']['value'] < 200000"
run 0 recommend llama-3-70b --tokens 15e12 --budget "50000000 USD" --deadline 180d --region virginia --json; json "j['pick']['run_s']['value'] < 180 * 86400"
# several hosts at a batch that nobody asked for leave at least as many steps as a warm-up takes; a batch that is said is taken
run 0 recommend llama-3-8b --tokens 1e10 --how rent --json; json "all(c['n_machines'] == 1 or 1e10 / (8192 * c['global_batch']) >= 2000 for c in j['front'] + [j['fastest']]) and j['fastest']['n_machines'] > 4 and j['against']['steps'] > 0"
run 0 recommend llama-3-8b --tokens 1e10 --how rent --global-batch 4096 --json; json "j['against']['steps'] == 0 and j['fastest']['global_batch'] == 4096"
finish
