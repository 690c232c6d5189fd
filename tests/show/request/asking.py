"""Random requests, and the command line that a person would type for each."""
import random
import re

MODELS = ["gpt2-124m", "gpt2-355m", "gpt-305m", "llama-2-7b", "llama-3-8b", "llama-3-70b", "resnet-50"]
SYSTEMS = ["rtx-3090", "rtx-4090", "2x rtx-4090", "4x a100-sxm4-80gb", "dgx-h100", "2x dgx-a100-80gb", "10x rtx-3090 via pcie4-no-p2p",
           "8x h100-sxm5", "aws:p3.2xlarge", "no-such-gpu"]


def one(rng):
    kind = rng.choice(["predict"] * 5 + ["sweep", "fit", "flops", "compare", "cost", "serve", "check", "catalog show", "catalog list",
                                         "catalog search", "catalog prices", "recommend", "goodput"])
    model, on = rng.choice(MODELS), rng.choice(SYSTEMS)
    if kind in ("predict", "sweep", "fit"):
        asked = {"model": model, "on": on}
        for key, values in {"batch": [1, 2, 4, 16], "seq": [128, 1024, 2048], "precision": ["fp32", "fp16", "bf16", "fp8"], "flash": ["yes", "no"],
                            "recompute": ["none", "selective", "full"], "framework": ["eager", "compiled", "megatron"]}.items():
            if rng.random() < 0.3 and not (kind == "fit" and key in ("flash", "recompute", "batch", "framework", "precision")):
                asked[key] = rng.choice(values)
        if kind != "fit":
            if rng.random() < 0.4:
                asked["tokens"] = rng.choice([10**9, 3 * 10**10])
            if rng.random() < 0.2:
                asked["pue"] = 1.25
        if kind == "sweep":
            asked["sweep"] = "gpus=1,2,4"
        elif kind == "predict" and rng.random() < 0.2:
            asked[rng.choice(["explain", "kernels"])] = True
        return ("fit" if kind == "fit" else "predict"), asked
    if kind == "flops":
        return kind, {"model": model, "seq": rng.choice([512, 2048])}
    if kind == "compare":
        return kind, {"model": "gpt2-124m", "samples": rng.choice([10**6, 10**7]), "baseline": "v100-dgxs-32gb", "on": rng.sample(SYSTEMS[:5], 2)}
    if kind == "cost":
        return kind, {"buy": "rtx-3090 desktop 2200 USD", "rent": "aws:p3.2xlarge", "util": rng.choice(["15%", "60%"])}
    if kind == "goodput":
        return kind, {"model": model, "on": on, "checkpoint": rng.choice(["blocking", "async", "tiered"]), "failures-per-day": rng.choice([0, 3, 10**9])}
    if kind == "serve":
        return kind, {"model": rng.choice(["llama-3-8b", "llama-2-7b"]), "on": rng.choice(["rtx-4090", "dgx-h100"]), "users": rng.choice([1, 8, 40])}
    if kind == "check":
        return kind, {"kind": "allreduce", "on": "125x aws:p5.48xlarge", "size": "16GB", "algbw": rng.choice(["156 GB/s", "90 GB/s"])}
    if kind == "catalog show":
        return kind, {"name": rng.choice(["rtx-3090", "h100-sxm5", "dgx-a100-80gb", "nope"])}
    if kind == "catalog list":
        return kind, {"kind": rng.choice(["gpus", "systems", "links", "models"])}
    if kind == "catalog search":
        return kind, {"words": rng.sample(["a100", "80gb", "ampere", "nvlink"], 2)}
    if kind == "catalog prices":
        return kind, {"gpu": rng.choice(["h100", "a100"])}
    return kind, {"purpose": rng.choice(["kaggle", "finetune-7b"]), "region": "seoul"}


def argv(command, asked):
    """The operands last, behind nothing that could be taken for an option."""
    operand = {"predict": "model", "goodput": "model", "fit": "model", "flops": "model", "compare": "model", "serve": "model", "recommend": "model", "check": "kind",
               "catalog show": "name", "catalog list": "kind", "catalog search": "words"}.get(command)
    args = command.split()
    for key, value in asked.items():
        for v in value if isinstance(value, list) else [value]:
            if key == operand:
                args.append(str(v))
            elif v is True:
                args.append("--" + key)
            else:
                args += ["--" + key, str(v)]
    return args + ["--json"]


def timeless(answer):
    """Without how long it took to find."""
    return re.sub(rb'"(elapsed_s|search_s|configurations_per_s)": [^,\n]*', b"", answer)


def many(n, seed=20):
    rng = random.Random(seed)
    asked = [one(rng) for _ in range(n)]
    return [(command, {**request, "lang": "ko"} if i % 4 == 0 else request) for i, (command, request) in enumerate(asked)]
