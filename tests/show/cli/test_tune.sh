#!/bin/bash
# Fine-tuning as a person asks for it, in every command that weighs a training run.
. "$(dirname "$0")/lib.sh"

one=(llama-3-8b --on rtx-4090 --batch 1 --seq 2048)

# What is trained and what is frozen; the parts sum to the whole
run 0 predict "${one[@]}" --tune lora --rank 16 --json
json "j['tune'] == {'kind': 'lora', 'base': '16bit', 'rank': 16, 'trained_params': 41943040, 'method': 'sft'}"
json "j['fits'] and j['recompute'] == 'full' and 14 < j['memory_B']['weights'] / 2**30 < 16 and j['memory_B']['optimizer'] < 0.5e9"
json "abs(sum(j['memory_B'][k] for k in ('weights', 'gradients', 'optimizer', 'activations', 'buffers', 'context')) / j['memory_B']['total'] - 1) < 1e-9"
cp "$work/out" "$work/lora"

# Packed: a third of the memory and slower; all of it trained: does not fit
run 0 predict "${one[@]}" --tune qlora --rank 16 --recompute full --json
json "j['tune']['base'] == 'nf4' and j['memory_B']['weights'] < 0.6 * json.load(open('$work/lora'))['memory_B']['weights']"
json "j['step_s']['value'] > 1.05 * json.load(open('$work/lora'))['step_s']['value']"
run 0 predict "${one[@]}" --tune full --json
json "not j['fits'] and j['tune']['trained_params'] == j['params']"
run 0 predict "${one[@]}" --tune full --states bf16 --optimizer adafactor --recompute full --framework unsloth --json
json "j['memory_B']['optimizer'] < 0.2e9"
run 0 predict "${one[@]/rtx-4090/h100-sxm5}" --tune layers --train-layers 2 --json
json "j['tune']['kind'] == 'layers' and j['fits']"

# Fused kernels take less memory and time than models written out
run 0 predict "${one[@]}" --tune qlora --framework unsloth --recompute full --json
json "j['framework'] == 'unsloth' and j['tune']['kind'] == 'lora'"  # words that an option takes again
cp "$work/out" "$work/fused"
run 0 predict "${one[@]}" --tune qlora --framework eager --recompute full --json
json "json.load(open('$work/fused'))['memory_B']['total'] < j['memory_B']['total'] and json.load(open('$work/fused'))['step_s']['value'] < j['step_s']['value']"

# Samples shorter than the longest cost less time, not less memory; pairs and groups cost more
run 0 predict "${one[@]}" --tune lora --rank 16 --mean-seq 300 --packing yes --json
json "j['step_s']['value'] < 0.5 * json.load(open('$work/lora'))['step_s']['value'] and j['memory_B']['total'] == json.load(open('$work/lora'))['memory_B']['total']"
run 0 predict "${one[@]/rtx-4090/h100-sxm5}" --tune lora --recompute full --json
cp "$work/out" "$work/sft"
for method in orpo dpo grpo; do
	run 0 predict "${one[@]/rtx-4090/h100-sxm5}" --tune lora --recompute full --method $method --json
	json "j['tune']['method'] == '$method' and j['step_s']['value'] > 1.2 * json.load(open('$work/sft'))['step_s']['value']"
	json "(j['breakdown_s']['generation'] > 0) == ('$method' == 'grpo')"
done

# The same words in the other commands
run 0 fit "${one[@]}" --tune qlora --json
run 0 fit "${one[@]}" --tune qlora
has "defaults of 'predict'"
run 0 plan llama-3-8b --on "2x rtx-4090" --global-batch 4 --seq 2048 --tune qlora --json
json "len(j['plans']) > 0 and all(p['fits'] for p in j['plans'])"
run 0 compare llama-3-8b --baseline rtx-3090 --on rtx-4090 --batch 1 --seq 2048 --tune qlora --json
run 0 recommend llama-3-8b --tune qlora --seq 2048 --tokens 10000000 --only rtx-4090 --json

# Two kinds of GPU: the slowest sets the pace; shared by speed it is faster, and the samples are the same
run 0 predict resnet-50 --on "2x rtx-3090" --with "2x rtx-4090" --batch 64 --json
json "j['global_batch'] == 256 and j['even_step_s'] == max(j['first']['even_step_s'], j['second']['even_step_s'])"
json "j['shared_samples_per_s'] > 1.1 * j['even_samples_per_s'] and j['first']['samples'] < 64 < j['second']['samples']"
json "2 * j['first']['samples'] + 2 * j['second']['samples'] == 256 and j['shared_step_s'] == max(j['first']['step_s'], j['second']['step_s'])"
run 0 predict resnet-50 --on rtx-3090 --with rtx-4090 --batch 64; flat; has "each step waits for the rtx-3090"
# a run has its length on two kinds, too
run 0 predict gpt2-124m --on "1x rtx-3090 + 1x rtx-4090" --tokens 1e9 --epochs 2 --json
json "j['steps'] == 2 * -(-10**9 // (1024 * j['global_batch'])) and abs(j['even_run_s']['value'] - j['steps'] * j['even_step_s']) < 1e-6 * j['even_run_s']['value'] and j['shared_run_s']['hi'] < j['even_run_s']['hi']"
run 0 predict gpt2-124m --on "1x rtx-3090 + 1x rtx-4090" --samples 1000000 --lang en; flat; has " for 31,250 steps"
run 0 predict gpt2-124m --on "1x rtx-3090 + 1x rtx-4090" --json; json "'steps' not in j"
run 0 predict resnet-50 --on "1x rtx-3090 + 1x rtx-4090" --batch 64 --json; cp "$work/out" "$work/plus"
run 0 predict resnet-50 --on rtx-3090 --with rtx-4090 --batch 64 --json; cmp -s "$work/out" "$work/plus" || bad "A + B is --on A --with B"
run 0 predict gpt2 --on "1x rtx-3090 + 1x rtx-4090" --batch 8 --seq 512 --json # one card of each: joined as two of them would be
json "j['even_step_s'] == max(j['first']['even_step_s'], j['second']['even_step_s']) and j['shared_step_s'] < j['even_step_s']"
json "j['first']['samples'] + j['second']['samples'] == j['global_batch'] == 16 and j['second']['samples'] > j['first']['samples']"
run 0 predict gpt2 --on "1x rtx-3090 + 1x rtx-4090" --batch 8 --seq 512 --lang ko; narrow; has "rtx-3090을"; has "속도에 맞춘 배치"
run 2 predict gpt2 --on "rtx-3090 + rtx-4090 + t4" --batch 8; one_line; says "two kinds"
run 2 predict resnet-50 --on rtx-3090 --with "2x dgx-h100" --batch 64; one_line; says "of one host"
run 2 predict resnet-50 --on rtx-3090 --with rtx-4090 --global-batch 65; one_line; says "not divisible"

# States on drives: not in host memory, and slower than there; experts that are fuller than others
run 0 predict llama-3-8b --on rtx-4090 --batch 1 --seq 1024 --recompute full --offload optimizer,params --ram "256 GiB" --json; cp "$work/out" "$work/host"
run 0 predict llama-3-8b --on rtx-4090 --batch 1 --seq 1024 --recompute full --offload optimizer,params,nvme --ram "256 GiB" --json
json "j['host_memory_B']['offloaded'] < json.load(open('$work/host'))['host_memory_B']['offloaded']"
json "j['step_s']['value'] > json.load(open('$work/host'))['step_s']['value']"
run 2 predict llama-3-8b --on rtx-4090 --offload nvme; one_line; says "optimizer,nvme"
run 0 predict mixtral-8x7b --on "8x dgx-h100" --global-batch 64 --json; cp "$work/out" "$work/even"
run 0 predict mixtral-8x7b --on "8x dgx-h100" --global-batch 64 --expert-load 1.5 --json
json "j['step_s']['value'] > 1.1 * json.load(open('$work/even'))['step_s']['value']"
run 2 predict llama-3-8b --on rtx-4090 --expert-load 2; one_line; says "no experts"
run 2 predict mixtral-8x7b --on "8x dgx-h100" --expert-load 9; one_line; says "1 (balanced) to 8"

# One clear line
run 2 predict "${one[@]}" --rank 16
one_line; says "goes with --tune"
run 2 predict "${one[@]}" --tune full --base nf4
one_line; says "only frozen weights are packed"
run 2 predict "${one[@]}" --tune lora --targets q,x
one_line; says "'x' is none"
run 2 predict "${one[@]}" --tune lora --mean-seq 4000
one_line; says "at most 2048 tokens"
run 2 compare llama-3-8b --baseline rtx-3090 --on rtx-4090 --batch 1 --tune lore
one_line; says "neither a number of trials"
# what people tune with, said, the same from every command; the model's own where it is shorter
for c in "predict llama-3-8b --on rtx-4090" "fit llama-3-8b --on rtx-4090" "plan llama-3-8b --on rtx-4090" "recommend llama-3-8b --tokens 1e8"; do
	# shellcheck disable=SC2086
	run 0 $c --tune qlora --lang en; flat; has "sequence 2048"; lacks "sequence 8192"
done
run 0 predict gpt2-124m --on rtx-4090 --tune lora --lang en; has "sequence 1024"
run 0 predict llama-3-8b --on h100-sxm5 --tune lora --mean-seq 3000 --lang en; has "sequence 3000"
# adapters take as long in recommend as in predict
run 0 predict llama-3-8b --tune lora --on h100-sxm5 --tokens 1e8 --json; cp "$work/out" "$work/predicted"
run 0 recommend llama-3-8b --tune lora --only h100-sxm5 --how rent --max-gpus 1 --tokens 1e8 --json
json "abs(j['pick']['run_s']['value'] / json.load(open('$work/predicted'))['run_s']['value'] - 1) < 1e-6"
# Adapters run whole layers in plain PyTorch: no plan cuts them, and what is to be pasted has them
run 0 plan llama-3-8b --on "8x a100-sxm4-80gb" --tune qlora --json
json "all(p['parallel']['tp'] == p['parallel']['pp'] == p['parallel']['cp'] == 1 and p['framework'] == 'eager' for p in j['plans'])"
json "'--load_in_4bit' in j['plans'][0]['settings']['trl']['text'] and 'absent' in j['plans'][0]['settings']['megatron']"
run 0 plan llama-3-8b --on "2x rtx-4090" --tune dora --method dpo --targets q,v --settings trl
has "trl dpo"; has "--use_dora --lora_target_modules q_proj v_proj"; lacks "load_in"
run 0 plan llama-3-8b --on "8x a100-sxm4-80gb" --settings trl --lang en; has "# TRL (Hugging Face): TRL tunes models"
run 0 predict llama-3-8b --on "2x rtx-4090" --tune qlora --lang en; has "fused fine-tuning kernels"; lacks "torch.compile instead"
# Kernels that are fused for tuning are a way to make it fit; a sentence about weights that fit does not ask for more of them
run 0 fit exaone-3.5-32b --on rtx-4090 --tune qlora --seq 2048 --lang en; has "Fastest: kernels of Unsloth"; has "'jeoul plan' combines several"; lacks "selective"
run 0 predict exaone-3.5-32b --on rtx-3090 --tune qlora --framework unsloth --seq 131072 --lang en; has "one sample's activations do not"; lacks "alone need"
run 0 fit gpt-oss-120b --on "8x h100-sxm5" --tune lora --seq 2048 --global-batch 32 --lang en; lacks " ep 8"; lacks "tensor parallel"
run 0 fit gpt-oss-120b --on "8x h100-sxm5" --tune lora --framework megatron --seq 2048 --global-batch 32 --lang en; has "dp 8 ep 8"; has "tensor parallel"
run 0 predict exaone-3.5-7.8b --on a100-sxm4-80gb --tune layers --seq 2048 --lang en; lacks "e+02"
# millions are counted as each language counts them
run 0 predict --assumptions llama-3-8b --on h100-sxm5 --tune lora --lang ko; flat; has "파라미터 4,190만 개"; lacks "백만"
run 0 predict --assumptions llama-3-8b --on h100-sxm5 --tune lora --lang en; flat; has "41.9M trained parameters"
finish
