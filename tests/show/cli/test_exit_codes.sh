#!/bin/bash
# One rule for all commands: 2 for a value that cannot be right (form, unit, range, none of the choices), 1 for a name that is not there, a
# file that does not hold what it should and what fails while running, 3 for a bad verdict, 0 for every other answer.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME="$work/data" JEOUL_STORE="$work/a.db" JEOUL_DATA="$JEOUL_SOURCE/data" JEOUL_MACHINE="$JEOUL_SOURCE/tests/fixtures/machines/gpuless-arm64-vm"
own="rtx-3090 desktop 2200 USD"
clear() { run "$@"; one_line; }

# values that cannot be right
clear 2 compare --observed 0s --observed-batch 4 --baseline rtx-3090 --on rtx-4090
clear 2 predict gpt2-124m --on rtx-4090 --storage 0GB/s
clear 2 predict gpt2-124m --on rtx-4090 --parallel zero=7
clear 2 predict gpt2-124m --on rtx-4090 --batch 0
clear 2 predict gpt2-124m --on rtx-4090 --precision fp99
clear 2 predict gpt2-124m --on "0x rtx-4090"
clear 2 predict gpt2-124m --on "4x rtx-4090 via"
clear 2 predict llama-3-8b --on h100-sxm5 --serve --requests 1,x
clear 2 predict allreduce --on "2x dgx-h100" --size 0GB
clear 2 flops --layers 2 --hidden 65 --heads 8 --vocab 100
clear 2 fit gpt2-124m --on "4x("
clear 2 plan gpt2-124m --gpus 0 --kinds h100-sxm5
clear 2 recommend --purpose foo
clear 2 recommend --purpose kaggle --how steal
clear 2 cost --buy "$own" --rent aws:p3.2xlarge --util 0
clear 2 cost --buy "$own" --rent aws:p3.2xlarge --fx -3
clear 2 cost --buy "$own" --rent aws:p3.2xlarge --horizon "200 y"
clear 2 build --gpu "2x rtx-3090" --ram 5
clear 2 build --gpu "2x rtx-3090" --ram "64 GB" --psu "0 W"
clear 2 import --pattern "{foo}" "$JEOUL_SOURCE/tests/fixtures/logs/plain.log"
clear 2 bench gemm --size 0
clear 2 check allreduce --on "2x dgx-h100" --size 1GB --algbw "5 GB/s" --ranks 3000
clear 2 check gemm --on h100-sxm5 --rate "5 parsec"
clear 2 catalog list nosuch
clear 2 validate --set nosuch

# names that are not there
clear 1 predict gpt2-124m --on nosuch
clear 1 predict gpt2-124m --on "2x rtx-4090 via nosuch"
clear 1 predict nosuch --on rtx-4090
clear 1 catalog show nosuch
clear 1 cost --buy "$own" --rent nosuch
clear 1 store show 01ZZZZ
clear 1 report "$work/nowhere.yaml"
clear 1 probe --from "$work/nowhere"

# files that do not hold what they should: whatever is wrong in them, form, unit or range
printf 'title: [\n' > "$work/bad.yaml"
for command in report build audit; do clear 1 $command "$work/bad.yaml"; done
printf 'gpu: rtx-3090\nram: 5\n' > "$work/unit.yaml"; clear 1 build "$work/unit.yaml"
printf 'a,b\n1,2\n' > "$work/bad.csv"; clear 1 validate "$work/bad.csv"
echo '{' > "$work/bad.json"
clear 1 flops "$work/bad.json"; clear 1 predict "$work/bad.json" --on rtx-4090; clear 1 store import "$work/bad.json"
run 1 import "$work/bad.json"
echo '{"model_type":"llama","num_hidden_layers":-1,"hidden_size":64,"num_attention_heads":4,"vocab_size":100}' > "$work/range.json"
clear 1 flops "$work/range.json"
mkdir "$work/overlay"; printf 'accelerators:\n  - id: x\n    tdp: 5\n' > "$work/overlay/gpus.yaml"
clear 1 predict gpt2-124m --on rtx-4090 --catalog "$work/overlay"
clear 1 import /dev/null
clear 1 calibrate --show

# verdicts; what is only an answer is none
run 3 check gemm --on h100-sxm5 --rate "300 TFLOP/s"
run 3 plan llama-3-70b --on rtx-3090
run 0 predict llama-3-70b --on rtx-3090; has "does not fit"
run 0 predict llama-3-70b --on rtx-3090 --serve; has "does not fit"
run 0 fit llama-3-405b --on rtx-3090; has "Nothing fits"
finish
