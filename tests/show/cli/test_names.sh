#!/bin/bash
# Names as people type them: the usual kind with the assumption said, or a question; the older name of a command.
. "$(dirname "$0")/lib.sh"

for text in h100 H100 "H100 80GB"; do
	run 0 predict llama-3-8b --on "$text" --lang en; flat; has "'$text' is read as h100-sxm5; for another write h100-pcie, h100-nvl"
done
for text in 8xH100 "8 x H100" "8 H100s" H100x8 H100:8 "8 x NVIDIA H100 80GB HBM3"; do
	run 0 predict llama-3-8b --on "$text" --json; json "j['system'] == '8x h100-sxm5'"
done
run 0 predict llama-3-8b --on 8xH100 --json; json "j['names_read'] == [{'written': 'H100', 'meant': 'h100-sxm5', 'otherwise_write': 'h100-pcie, h100-nvl'}]"
run 0 predict llama-3-8b --on h100-sxm5 --json; json "'names_read' not in j"
run 0 predict llama-3-8b --on h100 --lang ko; flat; has "'h100'"; has "h100-sxm5"; lacks "is read as"
for command in "fit llama-3-8b" "serve llama-3-8b"; do
	run 0 $command --on h100 --lang en; flat; has "'h100' is read as h100-sxm5"
done
# a name that several share: the usual one, and which it is
run 0 predict llama-3-8b --on 8xA100 --lang en; flat; has "'A100' is read as a100-sxm4-80gb; for another write a100-sxm4-40gb, a100-pcie-80gb, a100-pcie-40gb"
run 0 predict resnet-50 --on v100 --lang en; flat; has "'v100' is read as v100-sxm2-16gb; for another write v100-sxm2-32gb"
# more than any host holds are a cluster of the usual hosts
for text in "16384x h100-sxm5" "16384x h100" "16384 H100"; do
	run 0 fit llama-3-8b --on "$text" --lang en; flat; has "is read as 2048x(8x h100-sxm5)"
done
run 2 predict llama-3-8b --on "12x h100-sxm5" --lang en; one_line; says "2x(8x h100-sxm5)"
# one question with what to choose from
run 1 predict llama-3-8b --on "mac studio" --lang en; one_line; says "apple-m3-ultra, apple-m4-max"; [[ "$err" != *gaudi* ]] && ok || bad "$err"
run 1 predict llama-3-8b --on "jetson orin" --lang en; one_line; says "jetson-agx-orin-64gb"
# systems that were missing
run 0 serve llama-3-8b --on "mac studio m2 ultra" --json; json "j['system'] == 'apple-m2-ultra' and j['fits']"
run 0 serve llama-3.2-1b --on "jetson orin nano" --json; json "j['system'] == 'jetson-orin-nano-8gb' and j['fits']"
run 0 serve llama-3-8b --on "strix halo" --json; json "j['system'] == 'radeon-8060s'"
run 0 predict llama-3-8b --on v5e-256 --json; json "j['system'] == '256x tpu-v5e'"
run 0 predict llama-3-8b --on v5p-512 --lang en; flat; has "'v5p-512' is read as 256x tpu-v5p; for another write 512x tpu-v5p"
# models: quantised names say the format of the weights, which --weights outdoes
run 0 serve llama3:70b-instruct-q4_K_M --on h100-sxm5 --json; json "j['model'] == 'llama-3-70b' and j['weights'] == 'q4_k_m'"
run 0 serve Meta-Llama-3-8B-Instruct-Q4_K_M.gguf --on rtx-4090 --json; json "j['model'] == 'llama-3-8b' and j['weights'] == 'q4_k_m' and len(j['names_read']) == 1"
run 0 serve TheBloke/Llama-2-7B-Chat-AWQ --on rtx-4090 --weights int8 --json; json "j['weights'] == 'int8' and 'names_read' not in j"
run 1 serve no-such-model-Q4_K_M.gguf --on rtx-4090; one_line; says "no-such-model-Q4_K_M.gguf"
run 1 serve ./Meta-Llama-3-8B-Instruct-Q4_K_M.gguf --on rtx-4090; one_line
run 0 flops efficientnet_v2_s --json; json "j['model'] == 'efficientnetv2_s'"
# a number where dollars are wanted; a loss that says what is tuned
run 0 plan llama-3-8b --on dgx-h100 --tokens 1e9 --budget 300000 --lang en; flat; has "'--budget 300000' is read as 300000 USD"
run 2 plan llama-3-8b --on dgx-h100 --tokens 1e9 --budget 300000EUR; one_line
run 0 predict qwen3-8b --on dgx-h100 --method grpo --lang en; flat; has "'--method grpo' is read as --tune full; for another write --tune lora"
run 2 predict qwen3-8b --on dgx-h100 --group 8; one_line; says "--method grpo"
# infer is the older name of serve
run 0 serve llama-3-8b --on h100-sxm5 --json; new=$out
run 0 infer llama-3-8b --on h100-sxm5 --json; [ "$out" = "$new" ] && ok || bad "infer answers otherwise than serve"
run 0 schema serve; new=$out; run 0 schema infer; [ "$out" = "$new" ] && ok || bad "another schema"
run 0 help infer; has "jeoul serve"; run 0 man infer; has "serve"; run 0 infer --help; has "jeoul serve"
run 0 help; has "  serve "; lacks "  infer "
finish
