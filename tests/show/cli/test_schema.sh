#!/bin/bash
# The JSON of every command has the form that docs/schema says, and docs/schema is what the tables say.
. "$(dirname "$0")/lib.sh"

here=$(dirname "$0")
fits() { if python3 "$here/schema.py" "$JEOUL_SOURCE/docs/schema/$1.json" "$work/out" > "$work/faults"; then ok; else bad "$1: $(head -3 "$work/faults")"; fi; }

run 0 schema
for name in $(cat "$work/out"); do
	run 0 schema "$name"
	if cmp -s "$work/out" "$JEOUL_SOURCE/docs/schema/$name.json"; then ok; else bad "docs/schema/$name.json is not what the program says: scripts/schema"; fi
done
for file in "$JEOUL_SOURCE"/docs/schema/*.json; do
	run 0 schema "$(basename "$file" .json)"
done
run 1 schema compere; one_line; says "compare"

dgx="4x v100-dgxs-32gb via nvlink2-mesh"
run 0 compare --observed "1.06 s" --observed-batch 128 --batches 19252 --kind cnn --baseline "$dgx" --on rtx-4090 --on cpu:i9-13900k --repeat 10 --tune 50 --json; fits compare
run 0 compare --observed "1.06 s" --observed-batch 128 --baseline "$dgx" --on rtx-4090 --json; fits compare
run 0 compare gpt2-124m --samples 1000000 --batch 8 --seq 1024 --baseline v100-dgxs-32gb --on rtx-4090 --on "3x h100-sxm5" --json; fits compare
run 0 cost --buy "rtx-3090 desktop" --rent aws:p3.2xlarge --spot aws:p3.2xlarge --own "rtx-4090" --json; fits cost
run 0 cost --buy "desktop 3000000 KRW" --rent "2.14 USD/h" --tariff kepco --fx 1400 --currency KRW --json; fits cost
run 0 cost llama-3-8b --tokens 1e9 --buy "8x h100-sxm5 300000 USD" --rent "unknown thing 2 USD/h" --json; fits cost
run 0 audit "$JEOUL_SOURCE/tests/fixtures/notes/cards.md" --json; fits audit-note
sed "s/1800 W/1600 W/" "$JEOUL_SOURCE/tests/fixtures/notes/cards.md" > "$work/wrong.md"
run 0 audit "$work/wrong.md" --json; fits audit-note
run 0 serve llama-3-8b --on h100 --rate 5/s --ttft "1 s" --sweep rate=1,2 --json; fits serve; json "j['names_read']"
run 0 cost --bill "350 kWh" --tariff kepco --month 5 --json; fits cost-bill
run 0 predict llama-3-8b --on "4x rtx-3090" --batch 1 --seq 2048 --parallel zero=3 --offload optimizer,params --recompute full --json; fits predict
few_rows 10 # near ones are looked for among all rows
JEOUL_DATA="$work/few" run 0 predict resnet-50 --on dgx-h100 --batch 256 --samples 1281167 --epochs 90 --near --json; fits predict; json "j['near']"
run 0 predict gpt-305m --on "4x rtx-3090" --batch 4 --sweep gpus=1,4 --json; fits predict-sweep
run 0 predict resnet-50 --on rtx-3090 --with rtx-4090 --batch 8 --json; fits predict-mixed
run 0 predict gpt-305m --on "4x rtx-3090" --batch 4 --explain --json; fits predict-explain
run 0 predict allreduce --on aws:p5.48xlarge --size "16 GB" --sweep nodes=2,125 --json; fits predict-collective
run 0 predict llama-3-70b --on dgx-h100 --serve --weights fp8 --requests 1,16 --json; fits predict-serve
run 0 plan llama-3-8b --on dgx-h100 --json; fits plan
run 0 goodput llama-3-8b --on "2x dgx-h100" --tokens 1000000000000 --json; fits goodput
run 0 goodput llama-3-8b --on "2x dgx-h100" --failures-per-node-day 0 --failures-per-day 0 --checkpoint tiered --json; fits goodput
run 3 goodput llama-3-8b --on "2x dgx-h100" --failures-per-day 1e9 --json; fits goodput
run 3 plan llama-3-70b --on "2x rtx-3090" --forbid offload --json; fits plan
run 0 plan gpt2-124m --gpus 8,16,20 --kinds h100-sxm5 --tokens 1e9 --json; fits plan-fleet
run 0 plan gpt2-124m --batch-limit --on rtx-4090 --on h200-sxm --json; fits plan-batch-limit
run 0 flops mixtral-8x7b --json; fits flops
run 0 flops resnet-50 --json; fits flops
run 0 fit llama-3-8b --on "2x rtx-3090" --json; fits fit
run 0 check allreduce --size "16 GB" --algbw "156 GB/s" --on "125x aws:p5.48xlarge" --json; fits check
run 3 check gemm --rate "20 TFLOP/s" --on h100-sxm5 --json; fits check
run 3 build --gpu "4x rtx-3090" --psu "1000 W" --json; fits build
run 0 build --upgrade "2x rtx-3090" --json; fits build-upgrade
run 0 probe --from "$JEOUL_SOURCE/tests/fixtures/machines/workstation-with-faults" --json; fits probe
run 0 probe --from "$JEOUL_SOURCE/tests/fixtures/machines/gpuless-arm64-vm" --json; fits probe
run 0 validate --set power --leave-out source --worst 2 --json; fits validate
run 0 recommend --purpose kaggle --budget "3000 USD" --json; fits recommend
run 3 recommend --purpose serve-70b --budget "2000 USD" --json; fits recommend

# A document that has not the form is seen
run 0 cost --bill "350 kWh" --tariff kepco --month 5 --json
python3 -c "import json,sys; j=json.load(open(sys.argv[1])); del j['total']; j['month']='May'; j['more']=1; json.dump(j,open(sys.argv[1],'w'))" "$work/out"
if python3 "$here/schema.py" "$JEOUL_SOURCE/docs/schema/cost-bill.json" "$work/out" > "$work/faults"; then bad "a wrong document fits"; else ok; fi
if [ "$(wc -l < "$work/faults")" -eq 3 ]; then ok; else bad "faults: $(cat "$work/faults")"; fi

finish
