#!/bin/bash
# Korean messages: a particle follows its word without a blank, and both forms stand only behind words that are inserted.
. "$(dirname "$0")/lib.sh"
if python3 - "$JEOUL_SOURCE/src" <<'P'
import pathlib, re, sys
both = r"(?:을\(를\)|은\(는\)|이\(가\)|와\(과\)|\(으\)로)"
apart = re.compile(r"[A-Za-z0-9_')] " + both + r"|[A-Za-z0-9_] (?:을|를|와|과|으로|로)(?=[ .,;:\\])")
literal = re.compile(r"[가-힣]" + both)  # the final sound of a word that stands there is known
bad = 0
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.[ch]")):
    text = path.read_text(encoding="utf-8")
    for m in re.finditer(r'"(?:[^"\\\n]|\\.)*"', text):
        if apart.search(m.group()) or literal.search(m.group()):
            print(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {m.group()[:100]}")
            bad += 1
sys.exit(bad > 0)
P
then ok; else bad "particles"; fi

# What programs read is English whatever the reader's language; only what says so ("said") is his.
machines=$JEOUL_SOURCE/tests/fixtures/machines
while read -r command; do
	for lang in en ko; do eval "\"$JEOUL\" $command --json --lang $lang" > "$work/$lang"; done
	if python3 - "$work/en" "$work/ko" <<'P'
import json, sys
def plain(v):
    return {k: plain(x) for k, x in v.items() if k not in ("said", "elapsed_s")} if isinstance(v, dict) else [plain(x) for x in v] if isinstance(v, list) else v
en, ko = (json.load(open(name)) for name in sys.argv[1:])
sys.exit(plain(ko) != plain(en) or '"said"' in json.dumps(en))
P
	then ok; else bad "JSON of $command in Korean"; fi
done <<'EOF'
probe --from "$machines/supermicro-10x-rtx3090"
probe --from "$machines/gpuless-arm64-vm"
recommend --purpose kaggle --how buy --budget "1500 USD"
recommend --purpose finetune-7b --region seoul
cost --rent aws:p3.2xlarge --spot aws:p3.2xlarge --buy "rtx-3090 desktop 3000000 KRW"
predict llama-3-8b --on "8x h100-sxm5"
infer llama-3-8b --on rtx-4090
check allreduce --on "125x aws:p5.48xlarge" --size 16GB --algbw "300 GB/s"
validate --set power
help predict
help
EOF
finish
