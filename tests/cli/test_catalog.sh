#!/bin/bash
# The catalog commands as a person uses them.
. "$(dirname "$0")/lib.sh"

run 0 catalog list
has "gpus"; has "1220"
run 0 catalog list --json
json "j['gpus'] >= 82 and j['systems'] >= 147 and j['prices'] == 1220"

run 0 catalog show h100-sxm5 --json
json "abs(j['bf16_dense_flopps']['value'] / 989.4e12 - 1) < 1e-3"
json "abs(j['mem_Bps']['value'] / 3.35e12 - 1) < 1e-3"
json "abs(j['bf16_sparse_flopps']['value'] / j['bf16_dense_flopps']['value'] - 2) < 0.01"
json "j['mem_Bps']['source'] and j['mem_Bps']['date'] and j['mem_Bps']['origin'] == 'listed'"
json "all(s['url'] for s in j['sources']) and j['mem_Bps']['source'] in [s['id'] for s in j['sources']]"
run 0 catalog show h100-sxm5
has "sparse 2:4"; has "3.35 TB/s"

for name in rtx-3090 "RTX 3090" "GeForce RTX3090" 3090; do
	run 0 catalog show "$name" --json; json "j['id'] == 'rtx-3090'"
done
run 0 catalog show h200 --json; json "j['id'] == 'h200-sxm'"
run 1 catalog show a100; one_line; says "a100-sxm4-80gb"; says "a100-pcie-40gb"
run 1 catalog show rtx-309; one_line; says "rtx-3090"

run 0 catalog show "2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2"
has "20 GPUs"; has "pcie4-no-p2p"; has "2.5 GB/s one way, per host"; has "[1]"
run 0 catalog show "2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2" --json
json "j['n_nodes'] == 2 and j['n_per_node'] == 10 and j['network_oneway_Bps']['value'] == 2.5e9"
run 0 catalog show "125x aws:p5.48xlarge" --json
json "j['n_nodes'] == 125 and j['gpu']['id'] == 'h100-sxm5' and j['network_oneway_Bps']['value'] == 400e9"
run 0 catalog show dgx-h100 --json; json "j['system']['id'] == 'dgx-h100' and j['n_per_node'] == 8"
run 0 catalog show "4x v100-dgxs-32gb via nvlink2-mesh"; has "4 GPUs"
run 0 catalog show "cpu:neoverse-v1"; has "Neoverse"
run 0 catalog show "cpu:i9-13900k"; has "13900K"

run 0 catalog prices --gpu h100 --region seoul
has "USD/h/GPU"; has "ap-northeast"
run 0 catalog prices --gpu h100 --region seoul --json
json "all('northeast' in p['region'] or 'korea' in p['region'].lower() or 'seoul' in p['region'].lower() for p in j['prices'])"
json "[p['on_demand_usdps'] / p['n_gpu'] for p in j['prices']] == sorted(p['on_demand_usdps'] / p['n_gpu'] for p in j['prices'])"
JEOUL_TODAY=2027-06-01 run 0 catalog prices --gpu h100 --region seoul; has "older than 90 days"
run 1 catalog prices --gpu h100 --region atlantis; one_line
run 1 catalog prices --gpu h1oo; one_line

run 0 catalog search nvswitch; has "link"
run 1 catalog search xyzzy-no-such-thing; one_line
run 0 catalog sources; has "techpowerup"
run 1 catalog sources no-such-id; one_line

run 0 catalog validate; has "clean"
run 0 catalog validate "$JEOUL_SOURCE/catalog" --alone; has "clean"

# Overlay: a record amended and one added
mkdir "$work/own"
cat > "$work/own/mine.yaml" <<'Y'
gpus:
  - id: rtx-3090
    tdp: 280 W @by-definition
Y
run 0 catalog show rtx-3090 --json --catalog "$work/own"; json "j['tdp_W']['value'] == 280 and j['mem_Bps']['value'] > 9e11"
XDG_CONFIG_HOME="$work/config"; mkdir -p "$XDG_CONFIG_HOME/jeoul/catalog"; cp "$work/own/mine.yaml" "$XDG_CONFIG_HOME/jeoul/catalog/"
XDG_CONFIG_HOME="$XDG_CONFIG_HOME" run 0 catalog show rtx-3090 --json; json "j['tdp_W']['value'] == 280"
run 1 catalog show rtx-3090 --catalog "$work/nowhere"; one_line; says "nowhere"
finish
