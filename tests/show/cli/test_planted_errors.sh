#!/bin/bash
# Each kind of mistake in a catalog file is refused with file:line:column and what would be right.
. "$(dirname "$0")/lib.sh"

head='gpus:
  - id: my-gpu
    name: My GPU
    vendor: NVIDIA
    family: hopper
    source: by-definition
    date: 2026-01-01
'
# refused NAME LINE:COLUMN HINT <<< YAML
refused() {
	mkdir -p "$work/$1"; cat > "$work/$1/bad.yaml"
	run 1 catalog validate "$work/$1"
	has "bad.yaml:$2"; has "$3"
	run 1 catalog show rtx-3090 --catalog "$work/$1"; one_line; says "bad.yaml:$2"
}
refused unknown-key 8:5 "mem_speed" <<< "$head    mem_speed: 900 GB/s"
refused missing-unit 8:10 "GB" <<< "$head    mem: 80"
refused wrong-unit 8:10 "GB" <<< "$head    mem: 80 GB/s"
refused duplicate-id 9:9 "my-gpu" <<< "$head    mem: 80 GB
  - id: my-gpu
    name: Again
    vendor: NVIDIA
    family: hopper
    source: by-definition
    date: 2026-01-01"
refused sparse-as-dense 10:17 "sparse" <<< "$head    sms: 132
    boost: 1830 MHz
    bf16_dense: 1979 TFLOP/s"
refused missing-source 7:10 "source" <<< 'gpus:
  - id: my-gpu
    name: My GPU
    vendor: NVIDIA
    family: hopper
    date: 2026-01-01
    mem: 80 GB'
refused bad-date 7:11 "2026" <<< 'gpus:
  - id: my-gpu
    name: My GPU
    vendor: NVIDIA
    family: hopper
    source: by-definition
    date: yesterday
    mem: 80 GB'
refused unknown-reference 5:13 "hoper" <<< 'gpus:
  - id: my-gpu
    name: My GPU
    vendor: NVIDIA
    family: hoper
    source: by-definition
    date: 2026-01-01
    mem: 80 GB'
refused unknown-source 8:10 "nobody" <<< "$head    mem: 80 GB @nobody"

refused rents-nothing 6:12 "h100-sxm9" <<< 'rules:
  - id: rents-me
    kind: rents-out
    name: H100
    subject: Me
    value: h100-sxm9
    date: 2026-01-01
    source: provider-docs'
refused prior-missing 8:7 "priors.vector_frac" <<< 'families:
  - id: my-family
    name: Mine
    vendor: Me
    sparsity: false
    source: by-definition
    priors:
      n_sm: 100'

# An overlay in force is checked without being named
mkdir -p "$work/config/jeoul/catalog"; cp "$work/missing-unit/bad.yaml" "$work/config/jeoul/catalog/"
XDG_CONFIG_HOME="$work/config" run 1 catalog validate; has "bad.yaml:8:10"; has "files read: 1"
run 1 catalog validate --catalog "$work/wrong-unit"; has "bad.yaml:8:10"

# A file is known by what is in it, not by its name
mkdir "$work/named"; cp "$work/missing-unit/bad.yaml" "$work/named/convnets.yaml"
run 1 catalog validate "$work/named"; has "convnets.yaml:8:10"
mkdir "$work/nets"; cp "$JEOUL_SOURCE/catalog/models/convnets.yaml" "$work/nets/mine.yaml"
run 0 catalog validate "$work/nets"

# What lies in the folder and is not read is said
mkdir "$work/dangling" "$work/capital"
ln -s "$work/nothing.yaml" "$work/dangling/gone.yaml"; run 1 catalog validate "$work/dangling"; has "gone.yaml"; has "leads nowhere"
run 1 catalog show rtx-3090 --catalog "$work/dangling"; one_line; says "gone.yaml"
echo "gpus:" > "$work/capital/X.YML"; run 1 catalog validate "$work/capital"; has "X.YML"; has "small letters"
finish
