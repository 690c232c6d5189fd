#!/bin/bash
# Captured programs as models: what is said of one, in both languages, and bad files in one line.
# UPDATE=1 writes what is printed now into tests/golden/program: look at the difference before you commit it.
. "$(dirname "$0")/lib.sh"
cd "$JEOUL_SOURCE/tests/fixtures/programs" || exit 1
expected=$JEOUL_SOURCE/tests/golden/program

golden() {
	if [ -n "${UPDATE-}" ]; then mkdir -p "$expected"; cp "$work/out" "$expected/$1"; ok
	elif diff -u "$expected/$1" "$work/out" > "$work/diff"; then ok
	else bad "$1 differs: $(head -30 "$work/diff")"; fi
}

for lang in en ko; do
	run 0 predict mlp.jprog --on h200-sxm --lang $lang; narrow; golden predict.$lang.txt
	run 0 flops mlp.jprog --lang $lang; narrow; golden flops.$lang.txt
	run 0 predict mlp.jprog --on h200-sxm --kernels --lang $lang; narrow; golden kernels.$lang.txt
done
run 0 predict mlp.jprog --on h200-sxm --charts; has "Memory over the step" "what tensors hold" "backward" "optimizer"
run 0 predict mlp.jprog --on h200-sxm --charts --lang ko; has "스텝 동안의 메모리"
run 0 predict --assumptions mlp.jprog --on h200-sxm; flat
has "transformers 5.17.0, torch 2.11.0 code, captured"
has "1 calls of operators that are not known (mylib.strange) are taken as pointwise"
has "captured with: the loss is read once a step"

# what scripts read: 13 calls, of them one list; two products forward, three back
run 0 predict mlp.jprog --on h200-sxm --json
json "j['step_s']['lo'] < j['step_s']['value'] < j['step_s']['hi']"
json "abs(sum(j['breakdown_s'].values()) / j['step_s']['value'] - 1) < 1e-9"
json "j['program']['n_kernels'] >= 13 and j['program']['flop'] == 5 * 2 * 65536 * 1024 * 1024"
json "0 < j['program']['host_s'] < 1e-3 and j['program']['device_s'] <= j['step_s']['value']"
json "abs(sum(c['device_s'] for c in j['program']['classes'].values()) / j['program']['device_s'] - 1) < 1e-9"
json "abs(sum(j['program']['device_phase_s'].values()) / j['program']['device_s'] - 1) < 1e-9"
# weights, input, both gradients come later: four activations of 128 MiB live with the input
json "j['program']['peak_B'] == 2 * 2097152 + 5 * 134217728 + 512"
json "j['unit'] == 'tokens' and abs(j['units_per_s']['value'] / j['samples_per_s']['value'] - 1024) < 1e-6"
json "j['modules'][0]['depth'] == 0 and [m['name'] for m in j['modules']][1:] == ['TwoLayers', 'layers', '*']"
json "j['params'] == 2097152 and j['global_batch'] == 64 and j['precision'] == 'bf16'"
run 0 predict mlp.jprog --on h200-sxm --launch 2ms --json; json "j['bound_by'] == 'host_launch'"
run 0 predict mlp.jprog --on h200-sxm --host-step 50ms --json; json "j['bound_by'] == 'host_launch'"
run 2 predict mlp.jprog --on h200-sxm --host-step 140us --launch 30us; says 'give one'; one_line
run 2 predict gpt2-124m --on h200-sxm --host-step 140us; says 'captured programs'; one_line
run 0 predict mlp.jprog --on 8x\(h100-sxm5\) --json; json "j['global_batch'] == 512 and j['breakdown_s']['data_parallel'] > 0"
run 0 predict mlp.jprog --on 2x\(rtx-3090\) --sweep gpus=1,2 --json; json "len(j['sweep']) == 2"
run 0 predict mlp.jprog --on h200-sxm --kernels --json
json "j['kernels'][0]['kind'] == 'product' and sum(k['times'] for k in j['kernels']) == 13 and j['kernels'][0]['flop'] > 0"
run 0 flops mlp.jprog --json; json "j['n_calls'] == 13 and j['unknown_calls'] == 1 and j['modules'][0]['n_calls'] == 13"
run 0 fit mlp.jprog --on h200-sxm --json; json "any(t['possible'] and t['fits'] for t in j['techniques'])"

# what is in the program is not asked for
for args in "--batch 32" "--seq 128" "--optimizer adamw" "--precision fp16" "--framework compiled" "--recompute full" "--forward" "--parallel tp=2"; do
	run 2 predict mlp.jprog --on 2x\(h200-sxm\) $args; one_line; says "capture it again"
done
run 0 predict mlp.jprog --on h200-sxm --batch 64

# bad files
sed '$d' mlp.jprog > "$work/cut.jprog"; run 1 predict "$work/cut.jprog" --on h200-sxm; one_line; says "the file is cut"
sed 's/^k 7 0 2/k 77 0 2/' mlp.jprog > "$work/bad.jprog"; run 1 predict "$work/bad.jprog" --on h200-sxm; one_line; says "bad.jprog:47: kind of call '77' is not there"
run 1 flops "$work/none.jprog"; one_line
sed 's/^world 1 0/world 4 1/' mlp.jprog > "$work/four.jprog"; run 2 predict "$work/four.jprog" --on h200-sxm; one_line; says "captured in 4 processes"
finish
