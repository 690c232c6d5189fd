#!/bin/bash
# Parts lists as people wrote them down, with the findings a person would expect; and what to buy next.
. "$(dirname "$0")/lib.sh"

# Four open-air RTX 3090 in one box: no standard supply, no standard slots, they throttle
run 3 build --gpu "4x rtx-3090" --psu "1600 W" --cooling open-air --lang en
has "does not work as it is"; has "no standard power supply"; has "4 cards of 3 slots need 12"; has "heat each other and throttle"
has "no peer-to-peer"; has "opinions differ"
if [ "$(wc -L < "$work/out")" -le 80 ]; then ok; else bad "wider than 80 columns"; fi
run 3 build --gpu "4x rtx-3090" --psu "1600 W" --cooling open-air --lang ko
has "이대로는 안 됨"; has "표준 파워"; has "12슬롯"; has "스로틀링"
run 3 build --gpu "4x rtx-3090" --psu "1600 W" --cooling open-air --json
json "{f['id'] for f in j['findings'] if f['level'] == 'error'} >= {'psu', 'slots', 'cooling'} and j['load_W'] == 1650"

# Two on a 1,600 W supply: enough
run 0 build --gpu "2x rtx-3090" --psu "1600 W" --ram "64 GiB" --board "Z490" --json
json "j['load_W'] == 950 and [f['level'] for f in j['findings'] if f['id'] == 'psu'] == ['ok']"
json "all(f['text'] and f['sure'] for f in j['findings'])"
# One RTX 3070 on 650 W
run 0 build --gpu "1x rtx-3070" --psu "650 W" --ram "32 GiB" --json
json "[f['level'] for f in j['findings'] if f['id'] == 'psu'] == ['ok']"

# What to buy next: bridges for five pairs of ten cards; what the table cuts stands below in full
run 0 build --upgrade "10x rtx-3090" --budget "500 USD" --lang en
has "NVLink bridges on 5 pair(s)"; has "over the budget"; has "1: NVLink bridges on 5 pair(s) of cards"
run 0 build --upgrade "10x rtx-3090" --budget "500 USD" --json
json "j['upgrades'][0]['price_usd'] == 400 and j['upgrades'][0]['n_items'] == 5"
finish
