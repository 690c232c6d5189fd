#!/bin/bash
# probe as a person uses it: captured machines against what is expected of them, this machine, captures, bad input.
# UPDATE=1 writes what is printed now into tests/fixtures/machines: look at the difference before you commit it.
. "$(dirname "$0")/lib.sh"
machines=$JEOUL_SOURCE/tests/fixtures/machines
unset JEOUL_NVML JEOUL_MACHINE

# Predicted figures follow the fit; their place is compared, not their value.
mask() { sed -E 's/[0-9]+\.[0-9]{2}(x|배)/N.NN\1/g; s/("predicted_speedup_[a-z]+": )[-+0-9.e]+/\1N/'; }
golden() {
	mask < "$work/out" > "$work/masked"
	if [ -n "${UPDATE-}" ]; then cp "$work/masked" "$1"; ok
	elif diff -u "$1" "$work/masked" > "$work/diff"; then ok
	else bad "$1 differs: $(head -30 "$work/diff")"; fi
}

for machine in supermicro-10x-rtx3090 server-4x-rtx-pro-6000 dgx-station-v100 hgx-h100-8gpu workstation-with-faults gpuless-arm64-vm; do
	for lang in en ko; do
		run 0 probe --from "$machines/$machine" --lang $lang
		narrow
		golden "$machines/$machine/expected.$lang.txt"
		run 0 probe --from "$machines/$machine" --lang $lang --json
		json "j['record'] == 'machine' and len(j['fingerprint']) == 16 and j['name']"
		[ $lang = en ] && golden "$machines/$machine/expected.json"
	done
	# the fixtures are what their generator writes
	[ "$machine" = gpuless-arm64-vm ] && continue
	python3 "$machines/generate.py" "$work/made" || bad "generate.py"
	for part in machine.txt nvml.json; do cmp -s "$work/made/$machine/$part" "$machines/$machine/$part" && ok || bad "$machine/$part is not what generate.py writes"; done
done

run 0 probe --from "$machines/supermicro-10x-rtx3090" --json
json "j['system'] == '10x rtx-3090 via pcie4-no-p2p' and j['network'] == '10gbe-lacp2'"
json "all(c in ('X', 'CNS') for r in j['p2p']['read'] for c in r) and len(j['p2p']['atomics']) == 10"
json "j['gpu_paths'][1][2] == 'PIX' and j['gpu_paths'][0][9] == 'SYS'"
json "next(f for f in j['findings'] if f['key'] == 'nvlink_bridge')['predicted_speedup_then'] > 1.2"
json "'uuid' not in j['gpus'][0]"

# A capture replays to the same; a second capture of the replay is the same text
run 0 probe --from "$machines/hgx-h100-8gpu" --capture "$work/copy"; has "Captured into"; has "left out"
run 0 probe --from "$machines/hgx-h100-8gpu" --json; cp "$work/out" "$work/first"
run 0 probe --from "$work/copy" --json
cmp -s "$work/out" "$work/first" && ok || bad "a capture of a replay replays differently"

# This machine, whatever it is
run 0 probe --no-load; has "CPU"; has "NUMA"
run 0 probe --no-load --json
json "j['cpu']['n_threads'] >= 1 and j['memory']['total_B'] > 1e8 and j['software']['kernel']"
json "'hostname' not in j"
run 0 probe --no-load --with-names --json; json "j['hostname'] == open('/proc/sys/kernel/hostname').read().strip()"
run 0 probe --no-load --capture "$work/mine"
grep -rq "$(cat /proc/sys/kernel/hostname)" "$work/mine" 2>/dev/null && [ "$(wc -c < /proc/sys/kernel/hostname)" -gt 6 ] && bad "the host name is in the capture" || ok
run 0 probe --from "$work/mine"

# With the stand-in for NVML
JEOUL_NVML=/nowhere/libnvidia-ml.so.1 JEOUL_ROCM_SMI=$JEOUL_FAKE_ROCM_SMI run 0 probe --no-load --json; json "[(g['name'], g['catalog']) for g in j['gpus'][:2]] == 2 * [('AMD Instinct MI300X', 'mi300x')]" # others may be on the bus
json "j['software']['amd_driver'] == 'amdgpu 6.8.5' and j['software']['nvidia_driver'] is None"
JEOUL_NVML=/nowhere/libnvidia-ml.so.1 JEOUL_ROCM_SMI=$JEOUL_FAKE_ROCM_SMI run 0 probe --no-load; has "AMD driver 6.8.5"; has "2x Instinct MI300X"; has "rocm-smi --setpoweroverdrive 750"
export JEOUL_NVML=$JEOUL_FAKE_NVML
FAKE_NVML_GPUS=2 FAKE_NVML_NVLINK=4 run 0 probe --no-load --json
json "j['system'] == '2x rtx-3090 via nvlink-bridge' and j['gpus'][1]['bus'] == '0000:11:00.0'"
json "j['gpus'][0]['link_now']['gen'] == 1 and j['gpus'][0]['link_under_load'] is False"
FAKE_NVML_GPUS=1 FAKE_NVML_NAME="NVIDIA Nonesuch 9000" run 0 probe --no-load --json
json "j['system'] is None and j['system_why'] == 'its GPU is not in the catalog' and j['gpus'][0]['catalog'] is None"
FAKE_NVML_GPUS=2 FAKE_NVML_P2P=1 run 0 probe --no-load; has "no P2P (chipset, state CNS)"; has "GPU1"
FAKE_NVML_GPUS=1 FAKE_NVML_INIT=9 run 0 probe --no-load; has "Driver Not Loaded"
unset JEOUL_NVML

# The word `this`
export JEOUL_MACHINE=$machines/supermicro-10x-rtx3090
run 0 predict gpt-305m --on this --batch 4; has "10x rtx-3090 via pcie4-no-p2p"
run 0 predict gpt-305m --on "2x(this) over 10gbe-lacp2" --batch 4; has "2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2"
JEOUL_MACHINE=$machines/gpuless-arm64-vm
run 0 predict gpt-305m --on this; flat; has "no GPU: as listed for 2 of the 64 cores"
run 0 predict gpt-305m --on this --lang ko; has "GPU 없음"
JEOUL_MACHINE=$work/nowhere
run 1 predict gpt-305m --on this; one_line
unset JEOUL_MACHINE

# Bad input: one clear line
run 1 probe --from "$work/nowhere"; one_line; says "--capture"
run 1 probe --from "$machines/generate.py"; one_line
mkdir -p "$work/bad"; head -50 "$machines/hgx-h100-8gpu/machine.txt" > "$work/bad/machine.txt"
run 1 probe --from "$work/bad"; one_line; says "ends early"
run 1 probe --from "$work/bad" --lang ko; one_line; says "중간에 끝났습니다"
ln -sf machine.txt "$work/bad/machine.txt"
run 1 probe --from "$work/bad"; one_line
printf 'jeoul capture 1\nfile /sys/../../etc/passwd\nend 1\n' > "$work/evil"; rm "$work/bad/machine.txt"; mv "$work/evil" "$work/bad/machine.txt"
run 1 probe --from "$work/bad"; one_line; says "machine.txt:2"
run 1 probe --no-load --capture /proc/nowhere/x; one_line
run 2 probe extra; one_line
run 2 probe --form x; one_line; says "--from"
finish
