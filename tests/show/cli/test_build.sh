#!/bin/bash
# Parts lists as people wrote them down, with the findings a person would expect; and what to buy next.
. "$(dirname "$0")/lib.sh"

# Four open-air RTX 3090 in one box: no standard supply, no standard slots, they throttle
run 3 build --gpu "4x rtx-3090" --psu "1600 W" --cooling open-air --lang en
has "does not work as it is"; has "no standard power supply"; has "4 cards of 3 slots need 12"; has "heat each other and throttle"
has "no peer-to-peer"; has "sources disagree"
if [ "$(wc -L < "$work/out")" -le 80 ]; then ok; else bad "wider than 80 columns"; fi
run 3 build --gpu "4x rtx-3090" --psu "1600 W" --cooling open-air --lang ko
has "이대로는 안 됩니다"; has "표준 파워"; has "12슬롯"; has "스로틀링"
run 3 build --gpu "4x rtx-3090" --psu "1600 W" --cooling open-air --json
json "{f['id'] for f in j['findings'] if f['level'] == 'error'} >= {'psu', 'slots', 'cooling'} and j['load_W'] == 1650"

# A supply that is larger than standard ones is there; two-slot cards are not told to be two-slot ones; nothing is certain at 3 %
run 0 build --gpu "4x rtx-3090" --psu "2000 W" --cooling blower --gpu-slots 2 --json
json "'psu-standard' not in {f['id'] for f in j['findings']} and all('2-slot' not in f['text'] for f in j['findings'])"
run 3 build --gpu "4x rtx-3090" --psu "1600 W" --json
json "[f['sure'] for f in j['findings'] if f['id'] == 'psu'] == ['by specification']"
run 3 build --gpu "4x rtx-3090" --psu "1000 W" --json
json "[f['sure'] for f in j['findings'] if f['id'] == 'psu'] == ['certain']"
# The processor, the board and the case count by name
run 0 build --gpu "2x rtx-3090" --cpu i7-10700k --psu "1600 W" --board "ASUS Z490" --case "NZXT H510" --json
json "j['load_W'] == 2 * 350 + 125 + 75 and {f['id']: f['level'] for f in j['findings']}['threads'] == 'ok'"
json "'x8 for each card' in [f['text'] for f in j['findings'] if f['id'] == 'lanes'][0] and any('381 mm' in f['text'] for f in j['findings'])"
run 0 build --gpu "2x rtx-3090" --cpu "some processor" --psu "1600 W" --lang en; has "is not in the catalog: 175 W are assumed"
run 2 build --gpu "2x h100-sxm5" --lang en; one_line; says "not a slot card"
run 0 build --gpu "2x h100-sxm5" --hypothetical --psu "3000 W" --lang en

# Two on a 1,600 W supply: enough
run 0 build --gpu "2x rtx-3090" --psu "1600 W" --ram "64 GiB" --board "Z490" --json
json "j['load_W'] == 950 and [f['level'] for f in j['findings'] if f['id'] == 'psu'] == ['ok']"
json "all(f['text'] and f['sure'] for f in j['findings'])"
# One RTX 3070 on 650 W
run 0 build --gpu "1x rtx-3070" --psu "650 W" --ram "32 GiB" --json
json "[f['level'] for f in j['findings'] if f['id'] == 'psu'] == ['ok']"

# What to buy next: bridges for five pairs of ten cards; what the table cuts stands below in full
run 0 build --upgrade "10x rtx-3090" --budget "500 USD" --lang en
has "Over the budget"; has "2026 ⚠"; flat; like "Best value: NVLink bridges on 5 pairs of cards, [4-6][0-9] % faster for 400.00 USD."
like "1.[1-3][0-9]x → [12].[09][0-9]x of one card"
run 0 build --upgrade "10x rtx-3090 via pcie4-no-p2p" --budget 70만원 --lang ko; flat; like "584,000원에 [4-6][0-9] % 빨라집니다"; has "100만 원당"; lacks "달러당"; has "1,460원 (2025-11-14, 오래됨 ⚠"
run 0 build --upgrade "10x rtx-3090 via pcie4-no-p2p" --budget 70만원 --fx 1400; has "560,000 KRW"
run 0 build --upgrade "10x rtx-3090" --budget "500 USD" --json
json "j['upgrades'][0]['price_usd'] == 400 and j['upgrades'][0]['n_items'] == 5"
json "j['upgrades'][0]['before_samples_per_s'] == j['samples_per_s'] and j['upgrades'][0]['pair_after_samples_per_s'] > j['upgrades'][0]['pair_before_samples_per_s']"
run 0 build --upgrade "10x rtx-3090" --lang ko; has "샘플/초"; has "가격의 ⚠"
if [ "$(wc -L < "$work/out")" -le 80 ]; then ok; else bad "upgrades wider than 80 columns"; fi
# Boards come with their machine
run 0 build --upgrade dgx-h100 --lang en; has "1 more DGX H100"; lacks "instead"; lacks "more H100 SXM5"
# Counts may touch the name; memory is told in GiB
run 0 build --gpu 2xrtx-3090 --psu "1600 W" --ram "64 GiB" --lang en; has "64 GiB of RAM"; has "96 GiB (twice"
# A parts list or an upgrade: options of the other are refused
run 2 build --gpu "2x rtx-3090" --upgrade dgx-h100 --lang en; one_line; says "--gpu"
run 2 build --gpu "2x rtx-3090" --budget "500 USD" --lang en; one_line; says "--upgrade"
# Won are money too
run 0 build --upgrade rtx-4070 --budget 150만원 --json; json "j['n_over_budget'] > 0"
run 2 build --upgrade rtx-4070 --budget "0 USD" --lang en; one_line; says "not a budget"
# as many "!" as the sentence counts; the spacing of a kind of boards is assumed, and said so
run 0 build --gpu "2x rtx-3090" --board z790 --cooling open-air --psu "1600 W"; flat; has "with warnings: 2. Rules disagree on 2."; has "3 apart, as assumed: give board_spacing [rule of thumb]"
if [ "$(grep -o '! [a-z0-9]*:' <<< "$out" | wc -l)" = 4 ]; then ok; else bad "not four marks"; fi
run 0 build --gpu "2x rtx-3090" --board z790 --board-spacing 3 --psu "1600 W"; flat; lacks "as assumed"
# Two of ten cards are two of that machine, in one recipe: no pair is slower than one card by a desktop's lanes, none beats its number
run 0 build --upgrade "10x rtx-3090 via pcie4-no-p2p" --lang en
ask "[0.85 < float(a) and float(b) < 2.04 for a, b in __import__('re').findall(r'(\\d\\.\\d+)x → (\\d\\.\\d+)x of one', text)] == [True]"

finish
