#!/bin/bash
# What is given is used, or refused with one line; what cannot be is not called good.
. "$(dirname "$0")/lib.sh"
refuse() { run 2 "$@"; one_line; }

# networks: the optimizer that was asked for, and what they do not have
run 0 predict --assumptions sdxl --on h100-sxm5 --batch 1 --optimizer adamw8bit; flat; has "adamw8bit, 12.03 bytes of states a parameter"
run 0 predict --assumptions sdxl --on h100-sxm5 --batch 1; flat; has "Adam, 18 bytes of states a parameter"
refuse predict resnet-50 --on rtx-4090 --states bf16; says "--states bf16 is for language models"
refuse predict resnet-50 --on rtx-4090 --optimizer muon; says "--optimizer muon is for language models"
run 0 predict sdxl --on "4x rtx-4090" --batch 1; flat; has "however many there are"; lacks "such GPUs"

# figures that no device can reach
run 3 check gemm --on rtx-4090 --rate "160 TFLOP/s" --shape 128x128x128; has "Impossible:"; has "no kernel is shorter"
run 3 check gemm --on h100-sxm5 --shape 1 --rate "500 TFLOP/s"; has "Impossible:"
run 3 check allreduce --on "2x rtx-4090" --size "8 B" --time "1 ns"; has "Impossible:"
run 0 check allreduce --on "2x rtx-4090" --size "8 B" --time "8 us"; has "Cannot judge yet"
run 0 check gemm --on rtx-4090 --dtype fp16 --rate "300 TFLOP/s"; lacks "Impossible:"
run 3 check gemm --on rtx-4090 --dtype bf16 --rate "300 TFLOP/s"; has "Impossible:"

# a tool that found wrong elements
{
	echo "# nThread 1 nGpus 8 minBytes 1073741824 maxBytes 1073741824 step: 1048576(bytes) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0"
	echo "# Using devices"
	for r in 0 1 2 3 4 5 6 7; do echo "#  Rank  $r Group  0 Pid 1 on host1 device  $r [0x0a] NVIDIA H100 80GB HBM3"; done
	echo "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
	echo "  1073741824     268435456     float     sum      -1   4000.0  268.44  469.76      0   4000.0  268.44  469.76      5"
	echo "# Out of bounds values : 5 FAILED"
} > "$work/nccl.txt"
run 3 check "$work/nccl.txt"; flat; has "Wrong results: the tool's own check failed for 1 of 2 figures"
run 3 check "$work/nccl.txt" --json; json 'j["verdict"] == "wrong"'
run 3 check "$work/nccl.txt" --lang ko; has "결과가 틀렸습니다"
run 3 check "$work/nccl.txt" --lang en; has "1 incorrect"; lacks "1 wrong results"

# options of one kind of tuning
tuned=(predict llama-3-8b --on h100-sxm5 --seq 1024)
refuse "${tuned[@]}" --tune lora --group 4; says "--method grpo"
refuse "${tuned[@]}" --tune qlora --train-layers 2; says "--tune layers"
refuse "${tuned[@]}" --tune full --rank 8; says "--tune lora"
refuse "${tuned[@]}" --tune qlora --base 16bit; says "--tune lora"
run 0 "${tuned[@]}" --tune full --optimizer galore --rank 8
run 0 "${tuned[@]}" --tune lora --method grpo --group 4
run 0 "${tuned[@]}" --assumptions --tune full --optimizer adamw; flat; has "AdamW, 1"
: > "$work/empty.onnx"
run 1 flops "$work/empty.onnx"; one_line; says "it is empty"
run 1 flops "$work/absent.onnx"; one_line; says "No such file"

# what does nothing in a call is refused, whichever command it is given to
idle() { local said=$1; shift; run 2 "$@" --lang en; one_line; says "$said"; }
infer=(infer llama-3-8b --on h100-sxm5)
idle "--accept goes with --draft N" "${infer[@]}" --accept 50%
idle "--think goes with --users N" "${infer[@]}" --think "5 s"
idle "--burst has no effect here; it is for --rate" "${infer[@]}" --burst 4
idle "--seq has no effect here; it is for --layers" "${infer[@]}" --seq 512
idle "not both" "${infer[@]}" --sweep rate=1,2 --compare-weights
run 0 "${infer[@]}" --draft 4 --accept 50%; run 0 "${infer[@]}" --rate 3/s --burst 4
idle "--lora has no effect with serving" recommend llama-2-7b --serve --lora
idle "--lora has no effect with serving" recommend --purpose serve-70b --lora
idle "--tokens has no effect with serving" recommend llama-2-7b --serve --tokens 1e9
idle "--users has no effect here; it is for --serve" recommend --purpose kaggle --users 9
idle "give --lora or --tune, not both" recommend llama-2-7b --tokens 1e8 --lora --tune full
idle "--hidden goes with --layers N" recommend --purpose kaggle --hidden 768
idle "--packing goes with --mean-seq N" predict gpt2-124m --on rtx-4090 --packing yes
idle "--mean-seq is for language models" predict resnet-50 --on rtx-4090 --mean-seq 300
idle "--expert-load is for language models" predict resnet-50 --on rtx-4090 --expert-load 2
mixed=(predict gpt2-124m --on "1x rtx-3090 + 1x rtx-4090" --batch 4)
for option in explain kernels near "pue=1.2" "sweep=gpus=1"; do idle "has no effect with two kinds of GPU" "${mixed[@]}" --$option; done
idle "only zero= can be said" "${mixed[@]}" --parallel tp=2
idle "--tokens has no effect with --kernels" predict gpt2-124m --on rtx-4090 --kernels --tokens 1e9
idle "--near has no effect with --explain" predict gpt2-124m --on rtx-4090 --explain --near
idle "--size has no effect here; it is for a collective" predict gpt2-124m --on rtx-4090 --size 1GB
idle "--optimizer has no effect with --forward" predict resnet-50 --on rtx-4090 --forward --optimizer lion
idle "--buy has no effect with --bill;" cost --bill "350 kWh" --tariff kepco --buy rtx-3090
idle "--runs-per-month has no effect with --bill-of" cost gpt2-124m --bill-of "rtx-4090 desktop" --tariff kepco --runs-per-month 3
idle "--tokens has no effect here; it is for a model" cost --buy rtx-3090 --tokens 1e9
idle "--household goes with --tariff" cost --buy rtx-3090 --household "300 kWh"
idle "--region has no effect here; it is for --rent" cost --buy rtx-3090 --region seoul
idle "--threads has no effect with --batch-limit" plan llama-3-8b --on "4x h100-sxm5" --batch-limit --threads 2
idle "--budget has no effect with --batch-limit" plan llama-3-8b --on "4x h100-sxm5" --batch-limit --budget "5 USD"
idle "--time has no effect with gemm" check gemm --on rtx-4090 --rate "100 TFLOP/s" --time "1 ms"
idle "--dtype has no effect with allreduce" check allreduce --on "4x rtx-4090" --size 1GB --time "100 ms" --dtype fp16
idle "--run has no effect with gemm" check gemm --on rtx-4090 --rate "100 TFLOP/s" --run abcd
idle "--launch has no effect here; it is for a model" compare --baseline rtx-3090 --observed "1 s" --observed-batch 64 --on rtx-4090 --launch "30 us"
idle "a number of trials" compare --baseline rtx-3090 --observed "1 s" --observed-batch 64 --on rtx-4090 --tune lora
idle "unknown option" fit llama-3-8b --on rtx-4090 --cpu-threads 4
run 2 "${infer[@]}" --burst 4 --lang ko; one_line; says "--burst는 여기서 쓰이지 않습니다. --rate에 쓰는 옵션입니다"
run 2 "${mixed[@]}" --near --lang ko; one_line; says "두 종류의 GPU에서는 쓰이지 않으니 빼세요"
finish
