#!/bin/bash
# What is given is used, or refused with one line; what cannot be is not called good.
. "$(dirname "$0")/lib.sh"
refuse() { run 2 "$@"; one_line; }

# networks: the optimizer that was asked for, and what they do not have
run 0 predict sdxl --on h100-sxm5 --batch 1 --optimizer adamw8bit; flat; has "adamw8bit, 12.03 bytes of states a parameter"
run 0 predict sdxl --on h100-sxm5 --batch 1; flat; has "Adam, 18 bytes of states a parameter"
refuse predict resnet-50 --on rtx-4090 --states bf16; says "--states bf16 is for language models"
refuse predict resnet-50 --on rtx-4090 --optimizer muon; says "--optimizer muon is for language models"
run 0 predict sdxl --on "4x rtx-4090" --batch 1; flat; has "however many there are"; lacks "such GPUs"

# figures that no device can reach
run 3 check gemm --on rtx-4090 --rate "160 TFLOP/s" --shape 128x128x128; has "It cannot be"; has "no kernel is shorter"
run 3 check gemm --on h100-sxm5 --shape 1 --rate "500 TFLOP/s"; has "It cannot be"
run 3 check allreduce --on "2x rtx-4090" --size "8 B" --time "1 ns"; has "It cannot be"
run 0 check allreduce --on "2x rtx-4090" --size "8 B" --time "8 us"; has "Normal"
run 0 check gemm --on rtx-4090 --dtype fp16 --rate "300 TFLOP/s"; lacks "It cannot be"
run 3 check gemm --on rtx-4090 --dtype bf16 --rate "300 TFLOP/s"; has "It cannot be"

# a tool that found wrong elements
{
	echo "# nThread 1 nGpus 8 minBytes 1073741824 maxBytes 1073741824 step: 1048576(bytes) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0"
	echo "# Using devices"
	for r in 0 1 2 3 4 5 6 7; do echo "#  Rank  $r Group  0 Pid 1 on host1 device  $r [0x0a] NVIDIA H100 80GB HBM3"; done
	echo "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
	echo "  1073741824     268435456     float     sum      -1   4000.0  268.44  469.76      0   4000.0  268.44  469.76      5"
	echo "# Out of bounds values : 5 FAILED"
} > "$work/nccl.txt"
run 3 check "$work/nccl.txt"; flat; has "Results are wrong: the tool's own check failed for 1 of 2 figures"
run 3 check "$work/nccl.txt" --json; json 'j["verdict"] == "wrong"'
run 3 check "$work/nccl.txt" --lang ko; has "결과가 틀렸습니다"

# options of one kind of tuning
tuned=(predict llama-3-8b --on h100-sxm5 --seq 1024)
refuse "${tuned[@]}" --tune lora --group 4; says "--method grpo"
refuse "${tuned[@]}" --tune qlora --train-layers 2; says "--tune layers"
refuse "${tuned[@]}" --tune full --rank 8; says "--tune lora"
refuse "${tuned[@]}" --tune qlora --base 16bit; says "--tune lora"
run 0 "${tuned[@]}" --tune full --optimizer galore --rank 8
run 0 "${tuned[@]}" --tune lora --method grpo --group 4
run 0 "${tuned[@]}" --tune full --optimizer adamw; flat; has "AdamW, 1"
: > "$work/empty.onnx"
run 1 flops "$work/empty.onnx"; one_line; says "it is empty"
run 1 flops "$work/absent.onnx"; one_line; says "No such file"
finish
