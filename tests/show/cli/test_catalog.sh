#!/bin/bash
# The catalog commands as a person uses them.
. "$(dirname "$0")/lib.sh"

run 0 catalog list
has "gpus"; has "1229"
run 0 catalog list --json
# what the front pages count is what there is
for page in README.md README.ko.md; do
	json "[int(n.replace(',', '')) for n in __import__('re').findall('[0-9][0-9,]*', [l for l in open('$JEOUL_SOURCE/$page') if l.startswith('| \`jeoul catalog\`')][0])] == [j[k] for k in ('gpus', 'systems', 'links', 'models', 'prices')] or str(j)"
done
json "j['gpus'] >= 82 and j['systems'] >= 147 and j['prices'] == 1229"

run 0 catalog show h100-sxm5 --json
json "abs(j['bf16_dense_flopps']['value'] / 989.4e12 - 1) < 1e-3"
json "abs(j['mem_Bps']['value'] / 3.35e12 - 1) < 1e-3"
json "abs(j['bf16_sparse_flopps']['value'] / j['bf16_dense_flopps']['value'] - 2) < 0.01"
json "j['mem_Bps']['source'] and j['mem_Bps']['date'] and j['mem_Bps']['origin'] == 'listed'"
json "all(s['url'] for s in j['sources']) and j['mem_Bps']['source'] in [s['id'] for s in j['sources']]"
run 0 catalog show h100-sxm5
has "sparse 2:4"; has "3.35 TB/s"; has "sparse quoted as dense"
# what a record says to people is in their language; what programs read is not
run 0 catalog show h100-sxm5 --lang ko
has "sparse 값을 dense로 잘못 인용"
run 0 catalog show k80 --lang ko
has "Tesla K80 (GPU 2개 중 하나)"
run 0 catalog list links --lang ko
has "장치 간"; has "pcie4-no-p2p"
run 0 catalog show nvlink4 --lang ko
has "p2pBandwidthLatencyTest 단방향"
run 0 catalog list links --lang ko --json
json "j['links'][0]['role'] == 'wire' and j['links'][0]['per'] == 'device'"

for name in rtx-3090 "RTX 3090" "GeForce RTX3090" 3090; do
	run 0 catalog show "$name" --json; json "j['id'] == 'rtx-3090'"
done
run 0 catalog show h200 --json; json "j['id'] == 'h200-sxm'"
run 0 catalog show 8xH100 --json; json "j['n_per_node'] == 8 and j['gpu']['id'] == 'h100-sxm5'"
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
has "USD/h/GPU"; has "northeast-"; has "ap-seoul-1"
run 0 catalog prices --gpu h100 --region seoul --json
json "all('northeast' in p['region'] or 'korea' in p['region'].lower() or 'seoul' in p['region'].lower() for p in j['prices'])"
json "[p['on_demand_usdps'] / p['n_gpu'] for p in j['prices']] == sorted(p['on_demand_usdps'] / p['n_gpu'] for p in j['prices'])"
JEOUL_TODAY=2027-06-01 run 0 catalog prices --gpu h100 --region seoul; has "older than 90 days"
run 1 catalog prices --gpu h100 --region atlantis; one_line
run 1 catalog prices --gpu h1oo; one_line

# Rows whose source says only "H100" are not lost: resolved from the item, or marked
run 0 catalog prices --gpu h100 --json
json "sum('h100' in p.get('gpu_text', '').lower() and 'on_demand_usdps' in p for p in j['prices']) >= 70"
json "all(p['gpu'] == 'h100-sxm5' for p in j['prices'] if p['item'] in ('gpu_8x_h100_sxm5', '1x-H100_SXM-32-65536', 'BM.GPU.H100.8'))"
json "any('h100-sxm5' in p['gpu_variants'] and 'h100-pcie' in p['gpu_variants'] for p in j['prices'] if 'gpu' not in p)"
json "all('gpu' in p or p['gpu_variants'] for p in j['prices'])"
run 0 catalog prices --gpu h100 --limit 100; has "H100*"; has "H100 (variant not stated): h100-pcie"
run 0 catalog list prices --json
json "all('sxm' in p['gpu'] for p in j['prices'] if p['provider'] in ('GCP', 'AWS', 'Oracle OCI') and p.get('gpu_text') in ('V100', 'A100', 'H100'))"
json "[p['gpu'] for p in j['prices'] if 'RTX_4070S_Ti' in p['item']] == ['rtx-4070-ti-super']"
run 0 catalog prices --gpu "Qualcomm AI100"; has "dl2q.24xlarge"
run 0 catalog prices --limit 1000 --json; json "len(j['prices']) > 800 and all(p.get('gpu_text') or p.get('gpu') for p in j['prices'])"
mkdir "$work/rent"
cat > "$work/rent/rent.csv" <<'Y'
kind,provider,item,gpu,gpu_count,vcpu,ram_gb,region,on_demand_usd_h,spot_usd_h_min,spot_usd_h_median,price_usd,price_basis,as_of,source_url,notes
cloud,Mine,far,RTX4090,1,,,jerusalem,1,,,,on-demand,2026-11-01,https://example.org/,
cloud,Mine,near,RTX4090,1,,,"Austin, US, NA",1,,,,on-demand,2026-11-01,https://example.org/,
cloud,Mine,bare,,,4,16,us-east-1,0.01,,,,on-demand,2026-11-01,https://example.org/,
Y
run 0 catalog prices --provider Mine --region us --catalog "$work/rent"; has near; lacks far; lacks bare
run 0 catalog prices --provider Mine --catalog "$work/rent"; has far; lacks bare; has "without a GPU, left out: 1"
run 0 catalog prices --gpu h100 --region asia-northeast --json; json "all('asia-northeast' in p['region'] for p in j['prices'])"
run 0 catalog prices --provider azure --region us --json; json "{'westus2', 'southcentralus'} <= {p['region'] for p in j['prices']}"
# The same row laid over the catalog again is still one row
mkdir "$work/twice"; cp "$JEOUL_SOURCE"/catalog/prices/cloud-aws.csv "$JEOUL_SOURCE"/catalog/prices/cloud-gcp.csv "$work/twice"
run 0 catalog list --json --catalog "$work/twice"; json "j['prices'] == 1229"
run 0 catalog list --json --catalog "$work/rent"; json "j['prices'] == 1232"

# Any kind can be shown; the better kind wins, and near names come from all kinds
run 1 catalog show DGX-1; one_line; says "3 systems"; says "dgx-1-v100-16gb"
run 0 catalog show '4*rtx-3090' --json; json "j['text'] == '4x rtx-3090'"
run 1 catalog show bert; one_line; says bert-base; says bert-large
run 1 catalog show deepseek; one_line; says deepseek-v3
run 1 catalog show epyc; one_line; says epyc-7742
run 1 catalog show deepsek-v3; one_line; says deepseek-v3
run 0 catalog show hopper; has "h100-sxm5"; has "per clock and SM"
run 0 catalog show hopper --json; json "j['id'] == 'hopper'"
run 1 catalog show "4x rtx-3090 via qqqqqqqqqqqq"; one_line; says "jeoul catalog list links"
# Networks that are no transformers
run 0 catalog show resnet-50; has "25,557,032"; has "4.111 GMAC"
run 0 catalog show ResNet-50 --json; json "j['id'] == 'resnet-50' and abs(j['fwd_mac_per_item'] / 4.09e9 - 1) < 0.01"
run 1 catalog show resnet; one_line; says resnet-50
run 0 catalog search resnet; has resnet-50; has "ssd300-resnet50"
run 0 catalog list models; has resnet-50; has "8,030,261,248"
run 0 catalog list models --json; json "len(j['networks']) > 90 and len(j['models']) > 90"
run 0 catalog show llama-3-8b; has "8,030,261,248"

# The tree: the last branch, the network of one host, a join that the card does not have
run 0 catalog show cpu:neoverse-v1; has "└─ bandwidth"
run 0 catalog show aws:p5.48xlarge; has "efa-v2  400 GB/s one way"
run 2 catalog show "4x rtx-3090 via nvlink4-switch"
run 0 catalog show "4x rtx-3090 via nvlink4-switch" --hypothetical; has "○ [3]"; has "hypothetical: this card has no such port"
run 0 catalog show "4x rtx-3090 via nvlink-bridge"; lacks hypothetical

run 0 catalog search nvswitch; has "link"
run 1 catalog search xyzzy-no-such-thing; one_line
run 0 catalog sources; has "techpowerup"
run 0 catalog sources agner-microarchitecture; has "origin: listed"
run 1 catalog sources no-such-id; one_line

run 0 catalog validate; has "clean"; has "no files are laid over it"
run 0 catalog validate "$JEOUL_SOURCE/catalog" --alone; has "clean"; has "by themselves: "
run 2 catalog validate --alone; one_line
run 0 catalog validate "$JEOUL_SOURCE/catalog"; has "1229 prices"

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
XDG_CONFIG_HOME="$XDG_CONFIG_HOME" run 0 catalog validate; has "laid over it: 1"
# both are in force
run 0 catalog validate --catalog "$work/own" --json; json "j['n_files'] == 2 and j['n_findings'] == 0"
run 1 catalog show rtx-3090 --catalog "$work/nowhere"; one_line; says "nowhere"
run 0 catalog prices --sort spot --limit 100000 --json; json "all(p.get(\"spot_min_usdps\", p.get(\"spot_median_usdps\")) < p[\"on_demand_usdps\"] for p in j[\"prices\"] if \"on_demand_usdps\" in p)"

# names as people write them: the model, or which ones are near
while read -r name params; do
	run 0 flops "$name" --json; json "j['params'] == $params"
done <<'EOF'
vit-b-16 86567656
ViT-B/16 86567656
vit_h_14 632045800
google/vit-base-patch16-224 86567656
sd-1.5 1066235307
stable-diffusion-1.5 1066235307
runwayml/stable-diffusion-v1-5 1066235307
stabilityai/stable-diffusion-xl-base-1.0 3468837867
flux-1-dev 11901408320
flux.1-dev 11901408320
black-forest-labs/FLUX.1-dev 11901408320
openai/whisper-large-v3 1543490560
resnet50 25557032
llama3-8b 8030261248
gpt2 124439808
qwen2.5-7b-instruct 7615616512
mistral 7241732096
mixtral 46702792704
EOF
run 1 flops whisper; one_line; says "did you mean whisper_tiny, whisper_base, whisper_small?"
run 1 flops bert; one_line; says "bert-base, bert-large"
run 1 flops resnet; one_line; says "did you mean resnet-50"
run 1 flops vit-b; one_line; says "did you mean vit-b-16"
run 1 flops t5-base; one_line; says "'t5-base'"
# what has an id is shown by it
run 0 catalog show us-massachusetts --lang en; has "value: 0.3116 USD/kWh"
run 0 catalog show build-cpu-power --json; json "j['record'] == 'rule' and j['value'] == '150 to 200'"
run 0 catalog show conv.attention_frac --lang en; has "value: 0.7"
finish
