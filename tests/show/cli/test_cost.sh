#!/bin/bash
# Buy or rent: the figures of the issue to the cent, the other ways to pay, and input that makes no sense.
. "$(dirname "$0")/lib.sh"

desk="rtx-3090 desktop 2200 USD, watts=450 W"
# 2,200 USD, 450 W, 15 %, 0.12 USD/kWh against 2.14 USD/h: 293 days; why 300 is often told
run 0 cost --buy "$desk" --rent "2.14 USD/h" --util 15% --kwh "0.12 USD/kWh" --lang en
has "293 days (244–369), on 2027-09-04"; has "(range: rent ±20 %)"; lacks "Often told"; has "591 kWh and 70.96 USD a year"
if [ "$(wc -L < "$work/out")" -le 80 ]; then ok; else bad "too wide"; fi
run 0 cost --buy "$desk" --rent "2.14 USD/h" --spot "0.9 USD/h" --util 15% --kwh "0.12 USD/kWh" --json
json "abs(j['break_even'][0]['break_even_days'] - 292.958) < 0.001"
json "abs(j['break_even'][1]['break_even_months'] - 23.73) < 0.005"
json "j['options'][0]['year_kWh'] == 591.3 and j['options'][0]['year_electricity'] == 70.956"
# rent of the first year to the cent: 365 days x 24 h x 15 % x 2.14
json "[p['total'] for p in j['options'][1]['paid'] if p['months'] == 12] == [2811.96]"
json "[p['day'] for p in j['options'][0]['paid'] if p['months'] in (12, 24, 36)] == [365, 731, 1096]"
run 0 cost --buy "$desk" --rent "2.14 USD/h" --util 15% --kwh "0.12 USD/kWh" --lang ko
has "293일"

# The bill of KEPCO, part by part
run 0 cost --bill "350 kWh" --tariff kr-residential-low --month 5 --json
json "j['total'] == 71269 and j['parts'] == {'base': 1600, 'energy': 56190, 'climate': 3150, 'fuel': 1750, 'vat': 6269, 'fund': 2310}"
run 0 cost --bill "350 kWh" --tariff kr-residential-low --month 5 --lang ko; has "71,269원"
# Time of use: all of it off-peak costs less than all of it at the peak
total() { run 0 cost --bill "10000 kWh" --tariff kr-industrial-2-hv-a-1 --demand "50 kW" --month 7 "$@" --json; python3 -c "import json,sys; print(int(json.load(open(sys.argv[1]))['total']))" "$work/out"; }
off=$(total --bands off-peak=100% | tail -1) peak=$(total --bands peak=100% | tail -1) all=$(total | tail -1)
if [ "$off" -lt "$all" ] && [ "$all" -lt "$peak" ]; then ok; else bad "bands: $off $all $peak"; fi

# The tariff has a date, a source, its age, and a newer entry with the rates of 2025
run 0 cost --bill "350 kWh" --tariff kr-residential-low --month 5 --lang en; has "◇ cncityenergy"; has "2024 ⚠"; has "newer: --tariff kr-residential-low-2025"
run 0 cost --bill "1200 kWh" --tariff kepco-2025 --month 1 --json
json "j['parts']['energy'] == 398540 and j['parts']['fund'] == 11410 and j['source'] and j['newer_tariff'] is None"
run 0 cost --own "rtx-3090 desktop" --rent "2 USD/h" --tariff kepco --fx 1400 --currency KRW --lang en; has "Tariff: kr-residential-low"

# Two of one name say what they are
run 0 cost --rent aws:p3.2xlarge --spot aws:p3.2xlarge --lang en; has "aws:p3.2xlarge (rented)"; has "aws:p3.2xlarge (spot)"
# Won in ten thousands, said in the head; both fit 80 columns
run 0 cost --buy "desktop 3000000 KRW" --rent "2.14 USD/h" --fx 1400 --currency KRW --lang ko; has "(만 원)"; has "300"
if [ "$(grep -v 'Often\|http' "$work/out" | wc -L)" -le 80 ]; then ok; else bad "KRW table wider than 80 columns"; fi
run 0 cost --buy "desktop 3000000 KRW" --rent "2.14 USD/h" --fx 1400 --currency KRW --lang en; has "(thousand KRW)"; has "3,000"
# Staff: 2 h at 50 USD are 100 USD a month, beside hosting
run 0 cost --buy "x 1000 USD, watts=0 W, staff=2 h at 50 USD/h, hosting=20 USD/month" --json
json "abs([p['total'] for p in j['options'][0]['paid'] if p['months'] == 12][0] - 1000 - 12 * 120) < 1"
# Interest of a year on the price; a reservation is paid, used or not
run 0 cost --buy "x 1000 USD, watts=0 W, finance=10 %, life=1 y" --horizon "365 d" --json
json "1090 <= j['options'][0]['paid'][-1]['total'] <= 2200"
run 0 cost --reserve "1 USD/h, term=1 y, upfront=100 USD" --horizon "365 d" --util 1% --json
json "j['options'][0]['paid'][-1]['total'] > 8700"

# Up front on the first day and once a term; a life of three years is not over in its third
run 0 cost --reserve "1.3 USD/h, term=1 y, upfront=1000 USD" --rent "2 USD/h" --util 100% --json
json "[round(p['total'], 2) for p in j['options'][0]['paid'] if p['months'] in (0, 12, 24, 36)] == [1000, 12388, 24807.2, 37195.2]"
run 0 cost --buy "rtx-4090 3500 USD, life=3 y, resale=30 %" --rent "0.2 USD/h" --lang en; has "2,710"; flat; has "is sold when it is replaced and on the last day"; lacks "no resale"
# Days and date are of the same day: the one on which it has paid for itself
run 0 cost --buy "$desk" --rent aws:p3.2xlarge --util 15% --lang en; has "204 days ("; has "2027-06-07 (range: rent ±20 %)"
run 0 cost --buy "x 1000 USD" --rent "1 USD/h" --horizon "20 d" --lang en; has "within 20 days"
# A desktop of the catalog has a host, a card says that it is one
run 0 cost --buy "rtx-3090 desktop" --rent "2 USD/h" --lang en; has "700.00 USD of it"
# What a machine adds to the bill, with the household that is assumed said
run 0 cost --bill-of "rtx-4090 desktop" --util 50% --tariff kepco --lang en; has "--household"; has "300 kWh a month"; has "1 USD ="
run 0 cost --bill-of "rtx-4090 desktop" --util 50% --tariff kepco --household "300 kWh" --json
json "len(j['months']) == 12 and abs(j['year'] - sum(m['more'] for m in j['months'])) < 1 and 700e3 < j['year'] < 900e3"
run 2 cost --bill-of "rtx-4090 desktop" --lang en; one_line; says "goes with --tariff"
# A card comes with the host that recommend gives it, unless that is there already, which the first lines say
run 0 cost --buy "rtx-3090" --rent "2 USD/h" --lang en; has "700.00 USD of it"; has "of a used card"
run 0 cost --buy "rtx-3090, host=owned" --rent "2 USD/h" --json; json "j['options'][0]['price_is_card_only'] and 'price_host_assumed' not in j['options'][0]"
card=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['options'][0]['price'])" "$work/out")
run 0 cost --buy "rtx-3090, host=owned" --rent "2 USD/h" --lang en; out=$(head -4 <<< "$out"); has "is owned already"
run 0 cost --buy "rtx-3090, host=900 USD" --rent "2 USD/h" --json; json "j['options'][0]['price'] == $card + 900"
run 2 cost --buy "rtx-3090, host=later" --rent "2 USD/h"; one_line
# One price rule: what cost takes is what recommend takes, new where shops sell it, and the other stands beside it
run 0 cost --buy rtx-5080 --rent "2 USD/h" --lang en; flat; has "Amazon new"; has "of a new card, a used one is 1,233 USD (resale best"
run 0 cost --buy rtx-5080 --rent "2 USD/h" --json; price=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['options'][0]['price'])" "$work/out")
run 0 recommend --purpose kaggle --how buy --only rtx-5080 --per-machine 1 --json
json "j['pick']['how'] == 'buy-new' and j['pick']['machine_usd'] == $price and any(c['key'] == 'other-price' for c in j['pick']['caveats'])"
run 0 recommend --purpose kaggle --how buy --only rtx-3090 --per-machine 1 --json; json "j['pick']['how'] == 'buy-used' and j['pick']['machine_usd'] == $card + 700"
run 0 recommend --purpose kaggle --how buy-used --only rtx-5080 --per-machine 1 --json; json "j['pick']['how'] == 'buy-used'"
# Whoever buys and whoever rents does the same work, whatever either takes for it
run 0 cost gpt2-124m --tokens 1e9 --buy rtx-5080 --rent h100-sxm5 --util 20% --json
json "abs(j['runs_per_month'] * j['options'][0]['run']['elapsed_s']['value'] / 3600 / 730 - 0.2) < 1e-6"
json "abs([p['total'] for p in j['options'][1]['paid'] if p['months'] == 12][0] / (12 * j['runs_per_month'] * j['options'][1]['run']['elapsed_s']['value'] / 3600 * 3.29) - 1) < 0.001"
run 0 cost gpt2-124m --tokens 1e9 --buy rtx-5080 --rent h100-sxm5 --lang en; flat; like "Each does the same work: [12][0-9] runs a month, what rtx-5080 does in 15 % of the time"
run 0 cost gpt2-124m --tokens 1e9 --buy rtx-5080 --buy rtx-3090 --util 90% --lang en; has "too slow for the same work"

# The work: a model, and a run that was only observed
run 0 cost resnet-50 --samples 1281167 --epochs 90 --buy "rtx-3090 2200 USD" --rent aws:p3.2xlarge --json
json "all(o['run']['run_cost']['lo'] < o['run']['run_cost']['value'] < o['run']['run_cost']['hi'] for o in j['options'])"
json "abs(j['options'][0]['run']['run_kWh']['value'] - j['options'][0]['active_W'] / 1000 * j['options'][0]['run']['elapsed_s']['value'] / 3600) < 1e-6 and 'run_kWh' not in j['options'][1]['run']"
json "j['options'][0]['active_W_origin'] == 'predicted' and 300 < j['options'][0]['active_W'] < 500"
run 0 cost resnet-50 --samples 1281167 --buy "rtx-3090 2200 USD, watts=450 W" --json; json "j['options'][0]['active_W'] == 450 and j['options'][0]['active_W_origin'] == 'given'"
# What a run draws is what predict says
run 0 cost llama-3-8b --tokens 1e9 --buy "8x h100-sxm5 300000 USD" --json
kwh=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['options'][0]['run']['run_kWh']['value'])" "$work/out")
run 0 predict llama-3-8b --on "8x h100-sxm5" --tokens 1e9 --json; json "abs(j['energy_J']['value'] / 3.6e6 / $kwh - 1) < 0.02"
run 0 cost --observed "1.06 s" --observed-batch 128 --batches 19252 --kind cnn --baseline "4x v100-dgxs-32gb via nvlink2-mesh" --buy "rtx-3090 2200 USD" --rent aws:p3.2xlarge --json
json "all(o['run']['run_s']['lo'] < o['run']['run_s']['value'] for o in j['options'])"

# Zero, negative, absurd, missing: one clear line each
run 2 cost --buy "x 2200" --rent "2 USD/h" --lang en; one_line; says "no currency"
run 2 cost --buy "x 2200 USD, life=0 y" --lang en; one_line; says "life=0 y"
run 2 cost --buy "x 2200 USD" --util 150% --lang en; one_line; says "100 %"
run 2 cost --buy "x 2200 USD" --util 0% --lang en; one_line
run 2 cost --buy "x -5 USD" --lang en; one_line; says "above zero"
run 2 cost --buy "x 1e30 USD" --lang en; one_line; says "four trillion"
run 2 cost --buy "x 2200 USD" --horizon "0 d" --lang en; one_line
run 2 cost --buy "x 2200 USD" --kwh 0.12 --lang en; one_line; says "USD/kWh"
run 2 cost --buy "x 2200 USD" --tariff kepco --bands peak=50% --lang en; one_line; says "100 %"
run 2 cost --buy "x 2200 USD" --bands peak=100% --lang en; one_line; says "--tariff"
run 2 cost --buy "x 2200 USD, staff=10 h" --lang en; one_line; says "staff=10 h at 50 USD/h"
run 1 cost --rent "2 USD/h" --region atlantis --lang en; one_line; says "seoul"
run 2 cost --rent "2 USD/h" --pue 100 --lang en; one_line; says "1 (no cooling) to 5"
run 2 cost --rent "-2 USD/h" --lang en; one_line; says "above zero"
run 2 cost --lang en; one_line; says "--buy"
# A mistyped price is not the catalog's, an unknown thing is not free
for price in "20O0 USD" "inf USD" "nan USD" "1e400 USD"; do run 2 cost --buy "rtx-4090 $price" --rent "2 USD/h" --lang en; one_line; says "no price"; done
run 2 cost --buy rtx-4090 --rent "inf USD/h" --lang en; one_line; says "no price"
run 2 cost --buy rtx-4090 --rent "2 USD/h" --own xyz --lang en; one_line; says "is not known"
run 0 cost --own "my server, watts=700 W" --rent "2 USD/h" --lang en; has "my server"
run 2 cost --lang ko; one_line; says "비교할 것"
# a break-even that may never come says so; tuning is a run too; what does not do the work is no rival
run 0 cost --buy rtx-5090 --rent "0.99 USD/h" --util 30%; flat; has "after 911 days (748 or more, perhaps never), on 2029-05-1"; has "(range: rent ±20 %)"
run 0 cost --buy rtx-5090 --rent "0.99 USD/h" --util 30% --currency KRW --lang ko; flat; has "빠르면 748일, 늦으면 기간 안에는 없음"
run 0 cost llama-2-7b --tokens 5e7 --tune lora --buy rtx-5090 --rent "0.99 USD/h" --json; json "j['options'][0]"
run 0 cost llama-2-7b --tokens 5e7 --tune lora --buy rtx-5090 --rent "0.99 USD/h"; flat; has "rtx-5090 costs"; lacks "is cheapest"
run 0 cost --buy "rtx-5090 300000 USD" --rent "20 USD/h" --currency KRW --lang ko; flat; has "억"; has "만 원,"
# money that there is no rate of exchange for is refused, not read as part of a name
for price in "2000 EUR" "€2000" "2000€" "1500 GBP" "30만 유로 2000 유로"; do run 2 cost --buy "rtx-4090 $price" --rent "2 USD/h" --lang en; one_line; says "prices are in USD or KRW"; done
run 2 cost --rent "2 EUR/h" --lang ko; one_line; says "달러(USD)나 원(KRW)"
# What does not fit says so first, and what would help; it has no break-even and no price
run 0 cost llama-3-8b --tokens 1e9 --buy "$desk" --rent aws:p3.2xlarge --runs-per-month 3 --lang en
[[ "$out" == "rtx-3090 desktop: it does not fit: it needs 150 GiB"* ]] && ok || bad "not said first: ${out:0:200}"
flat; has "with this it would: --offload optimizer"; has "15 % utilisation (--util)"; lacks "costs less"; lacks "is cheapest"; lacks "one training run"
run 0 cost llama-3-8b --tokens 1e9 --buy "$desk" --rent aws:p3.2xlarge --json; json "not j['break_even'] and 'does not fit' in j['options'][0]['run']['unknown_because']"
run 0 cost llama-3-8b --tokens 1e9 --buy "$desk" --lang ko; has "메모리에 들어가지 않습니다"
# of samples there is no price of a token; what no option can do anything with is refused; a shape is a model too
run 0 cost gpt2-124m --samples 1e6 --buy "$desk" --lang en; has "one training run"; lacks "per Mtoken"
run 0 cost gpt2-124m --tokens 1e9 --buy "$desk" --lang en; has "per Mtoken"
run 2 cost resnet-50 --tokens 1e9 --buy "$desk" --lang en; one_line; says "--tokens is for language models"
run 2 cost gpt2-124m --buy "$desk" --runs-per-month 3 --lang en; one_line; says "give --tokens, --samples"
run 0 cost --layers 12 --hidden 768 --heads 12 --seq 1024 --tokens 1e9 --buy "$desk" --runs-per-month 3 --lang en; has "One run on rtx-3090 desktop"
run 2 cost gpt2-124m --tokens 1e9 --buy "$desk" --runs-per-month 3 --util 30% --lang en; one_line; says "not both"
# a machine of two kinds of GPU is not taken for one of the first
for two in "2x rtx-3090 + 2x rtx-4090 desktop" "rtx-3090 and rtx-4090" "rtx-3090+rtx-4090" "2x rtx-3090,2x rtx-4090"; do
	run 2 cost --buy "$two 5000 USD" --rent "2 USD/h" --lang en; one_line; says "mixes rtx-3090 and rtx-4090"
done
run 0 cost --buy "rtx-3090 desktop 2,200 USD" --rent "2 USD/h" --lang en; has "(450 W assumed"
# Money as it is written in Korea: all of the amount is the price, and what is left over of one is no name
run 0 cost --buy "h100 8장 서버 4억 5천만원" --rent "20 USD/h" --lang ko; has "450,000,000원"
run 0 cost --buy "box 1억 2천만 원" --rent "1만 2천원/h" --lang ko; has "120,000,000원"; has "12,000원"
run 2 cost --buy "box 2만 3억원" --rent "2 USD/h"; one_line; says "no price can be read"
run 2 cost --buy "box 3000 USD" --rent "r 100만원/월"; one_line; says "2.14 USD/h"
# Interruptions lose something, also where it is not said what: the default is stated
run 0 cost --spot "mine 2 USD/h, interrupts=20 %/h" --rent "theirs 2 USD/h" --util 15% --json; cp "$work/out" "$work/assumed.json"
run 0 cost --spot "mine 2 USD/h, interrupts=20 %/h, lost=30 min, restart=10 min" --rent "theirs 2 USD/h" --util 15% --json
ask "json.loads(text)['options'] == json.load(open('$work/assumed.json'))['options'] or str(json.loads(text)['options'])"
run 0 cost --spot "mine 2 USD/h, interrupts=20 %/h" --rent "theirs 2 USD/h" --util 15% --lang en; flat; has "mine: taken away 20 %/h, 30 min lost, 10 min until it is back"

# The provider that is named is the one whose price is taken; another's is no substitute
run 0 cost --buy "dgx-h100 350000 USD" --rent "8x h100 lambda" --util 80% --json; json "j['options'][1]['price_source'].startswith('Lambda') and j['options'][1]['rent_per_hour'] == 31.92"
run 0 cost --rent "8x h100-sxm5 server on RunPod" --json; json "j['options'][0]['price_source'].startswith('RunPod')"
run 1 cost --rent "8x h100 coreweave" --lang en; one_line; says "no prices of 'coreweave'"
run 1 cost --rent "8x b200 samsung" --lang en; one_line; says "no rent of"
# A reservation is never at the on-demand price
run 1 cost --rent aws:p5.48xlarge --reserve "aws:p5.48xlarge, term=1 y" --util 90% --lang en; one_line; says "no reserved prices"; says "term=1 y"
# Machines of different sizes: said before anything is compared; a price alone beside one GPU is that of one
run 0 cost --buy "8x h100 server 280000 USD, watts=10 kW" --rent "lambda 2.99 USD/h" --util 70% --lang en
[[ "$out" == "These machines differ in size"* ]] && ok || bad "not said first: ${out:0:200}"
flat; has "8x h100 server has 8 GPUs; how many GPUs lambda has is not known."
run 0 cost --buy "2x dgx-h100 700000 USD" --rent aws:p5.48xlarge --lang en; flat; has "2x dgx-h100 has 16 GPUs; aws:p5.48xlarge has 8 GPUs."
run 0 cost --buy "rtx-4090 desktop" --rent aws:p5.48xlarge --json; json "[o['n_gpus'] for o in j['options']] == [1, 8]"
run 0 cost --buy "dgx-h100 350000 USD" --rent "8x h100 lambda" --lang en; lacks "differ in size"
run 0 cost --buy "$desk" --rent "2.14 USD/h" --lang en; lacks "differ in size"

# "kepco" is a household's tariff for a desktop and the general one for what no household has; a named one is taken as named
run 0 cost --buy "dgx-h100 350000 USD" --rent "8x h100-sxm5" --tariff kepco --util 80% --json; json "j['tariff'] == 'kr-general-1-low' and j['options'][0]['year_electricity'] / j['options'][0]['year_kWh'] < 0.2"
run 0 cost --buy "dgx-h100 350000 USD" --rent "8x h100-sxm5" --tariff kepco --util 80% --lang en; flat; like "dgx-h100 draws [0-9.]* kW, more than the 3 kW of a household: the general tariff is taken"; lacks "the household already uses"
run 0 cost --bill-of "dgx-h100" --util 50% --tariff 한전 --lang en; flat; has "the general tariff is taken"; has "0 kWh a month used there already"
run 0 cost --buy "dgx-h100 350000 USD" --rent "8x h100-sxm5" --tariff kepco-residential --json; json "j['tariff'] == 'kr-residential-low-2025'"
run 0 cost --own "rtx-3090 desktop" --rent "2 USD/h" --tariff kepco --json; json "j['tariff'] == 'kr-residential-low-2025'"
# the sentence says the table's figures, the other currency no more digits than its rate has
run 0 cost --buy rtx-4090 --rent rtx-4090 --util 60% --horizon "3 y" --lang en; total=$(sed -n 's/.*rtx-4090 (rented)  .* \([0-9,]*\)$/\1/p' "$work/out" | head -1); flat; has "rtx-4090 (rented) $total USD"; like "rented) [0-9]*,000 KRW"

finish
