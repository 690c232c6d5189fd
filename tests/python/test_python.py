#!/usr/bin/env python3
"""The package as somebody installs it (PYTHONPATH is an unpacked wheel): answers are the program's, typed, from many threads; results as
text, page and table; the hook for loops."""
import inspect
import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import typing
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["JEOUL_SOURCE"], "tests", "show", "request"))
import asking  # noqa: E402
import jeoul  # noqa: E402

bad = []


def check(holds, what):
    if not holds:
        bad.append(what)
        print("FAILED:", what)


def refused(kind, call, text):
    try:
        call()
        check(False, "no %s: %s" % (kind.__name__, text))
    except kind as error:
        check(text in str(error), "%r lacks %r" % (str(error), text))


def function(command):
    return getattr(jeoul, command.replace(" ", "_"))



def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not re.fullmatch("elapsed_s|search_s|configurations_per_s", k)}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def same_as_program(requests):
    """What each gives as a dict is the JSON that the program prints, what it refuses is refused with the same words."""
    n_answered = 0
    for command, asked in requests:
        done = subprocess.run([os.environ["JEOUL"], *asking.argv(command, asked)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        try:
            got = function(command)(**{key.replace("-", "_"): value for key, value in asked.items()})
        except jeoul.JeoulError as error:
            check(done.returncode in (1, 2) and done.stderr == "jeoul: %s\n" % error, "%s %s: %s" % (command, asked, error))
            continue
        n_answered += 1
        check(without_times(got.to_dict()) == without_times(json.loads(done.stdout)), "differs: %s %s" % (command, asked))
        check(got.bad == (done.returncode == 3), "verdict of %s %s" % (command, asked))
    print("%d of %d requests answered, all as the program does" % (n_answered, len(requests)))
    check(n_answered > 0.6 * len(requests), "too few answers")


def same_from_threads(requests, n_threads=8):
    """Every thread asks everything, each in another order, and gets what one thread gets."""
    def outcome(command, asked):
        try:
            return without_times(function(command)(**asked).to_dict())
        except jeoul.JeoulError as error:
            return str(error)

    wanted, wrong = [outcome(*r) for r in requests], []

    def work(k):
        for i in range(len(requests)):
            at = (i * 7 + k * 13) % len(requests)
            if outcome(*requests[at]) != wanted[at]:
                wrong.append((k, requests[at]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(n_threads)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not wrong, "threads: %s" % wrong[:3])
    print("%d threads, %d requests each: %d differ" % (n_threads, len(requests), len(wrong)))


def typed():
    p = jeoul.predict("llama-3-8b", on="8x h100-sxm5", batch=1)
    check(isinstance(p, jeoul.results.Predict) and isinstance(p.step_s, jeoul.Estimate), "predict is typed: %r" % p)
    check(p.step_s.lo < p.step_s.value < p.step_s.hi and p.step_s.value in p.step_s and 10 * p.step_s.hi not in p.step_s, "an interval")
    check(isinstance(p.memory_B, jeoul.Record) and p.memory_B.total > p.memory_B.weights > 0, "parts are records")
    check(p.advice and p.advice[0].text and isinstance(p.assumptions, tuple), "lists are tuples of records")
    check(typing.get_type_hints(jeoul.predict)["batch"] == (int | str | None), "keywords have types")
    check("fp8" in str(inspect.signature(jeoul.predict)), "choices are in the signature")
    check(isinstance(jeoul.compare("gpt2-124m", samples=10**6, baseline="v100-dgxs-32gb", on=["rtx-4090", "h200-sxm"]).systems, tuple), "options given twice")
    check(isinstance(jeoul.check("allreduce", on="125x aws:p5.48xlarge", size="16GB", algbw="90 GB/s"), jeoul.results.Check), "check is typed")
    check(jeoul.catalog_show("h100-sxm5").mem_Bps.value == 3.35e12, "without a schema keys are attributes")
    text = subprocess.run([os.environ["JEOUL"], "predict", "llama-3-8b", "--on", "8x h100-sxm5", "--batch", "1"], stdout=subprocess.PIPE,
                          encoding="utf-8").stdout
    check(str(p) == text, "str() is what the program prints")
    page = p._repr_html_()
    check('data-origin="estimated"' in page and page.startswith('<div class="jeoul">'), "a notebook shows the document")
    check('data-origin="listed"' in jeoul.catalog_show("h100-sxm5")._repr_html_(), "and a record of the catalog as well")
    check(jeoul.schema("predict")._repr_html_().count("<pre>") == 1, "and text where there is none")
    check("에너지" in str(jeoul.predict("gpt2-124m", on="rtx-4090", lang="ko")) or "단계" in str(jeoul.predict("gpt2-124m", on="rtx-4090", lang="ko")), "Korean")
    refused(jeoul.UsageError, lambda: jeoul.predict("gpt2-124m", on="rtx-4090", batch="many"), "batch")
    refused(jeoul.NotFoundError, lambda: jeoul.predict("gpt2-124m", on="rtx-409"), "rtx-4090")
    refused(TypeError, lambda: jeoul.predict("gpt2-124m", onn="rtx-4090"), "onn")


def model_files(folder):
    """Files that are no text, folders and indices: as the program answers; of what was not named nothing is read."""
    def key(name, value):
        return struct.pack("<Q", len(name)) + name + (struct.pack("<II", 4, value) if isinstance(value, int) else struct.pack("<IQ", 8, len(value)) + value)

    keys = {b"general.architecture": b"llama", b"llama.block_count": 32, b"llama.embedding_length": 4096, b"llama.feed_forward_length": 14336,
            b"llama.attention.head_count": 32, b"llama.attention.head_count_kv": 8, b"llama.context_length": 8192, b"llama.vocab_size": 128256}
    tensor = struct.pack("<Q", 17) + b"token_embd.weight" + struct.pack("<IQQIQ", 2, 4096, 128256, 12, 0)
    (folder / "model.gguf").write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 1, len(keys)) + b"".join(map(key, keys, keys.values())) + tensor)
    weights = folder / "weights"
    weights.mkdir()
    shapes = {"model.embed_tokens.weight": [32000, 512]}
    shapes.update({"model.layers.0.self_attn.%s_proj.weight" % k: [512, 512] for k in "qkvo"})
    shapes.update({"model.layers.0.mlp.%s_proj.weight" % k: [512, 2048] if k == "down" else [2048, 512] for k in ("gate", "up", "down")})
    header = json.dumps({k: {"dtype": "BF16", "shape": s, "data_offsets": [0, 2 * s[0] * s[1]]} for k, s in shapes.items()}).encode()
    (weights / "part-1.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    (weights / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {k: "part-1.safetensors" for k in shapes}}))
    onnx = Path(os.environ["JEOUL_SOURCE"], "tests", "fixtures", "onnx", "resnet50.onnx")
    for path in (folder / "model.gguf", weights, weights / "part-1.safetensors", weights / "model.safetensors.index.json", onnx):
        wanted = subprocess.run([os.environ["JEOUL"], "flops", path, "--json"], stdout=subprocess.PIPE, encoding="utf-8").stdout
        check(all(jeoul.flops(p).to_dict() == json.loads(wanted) for p in (path, str(path))), "%s: as the program" % path)
    check(jeoul.predict(str(folder / "model.gguf"), on="8x h100-sxm5").step_s.value > 0.01, "a step of a file's model")
    text = subprocess.run([os.environ["JEOUL"], "flops", folder / "model.gguf"], stdout=subprocess.PIPE, encoding="utf-8").stdout
    check(str(jeoul.flops(folder / "model.gguf")) == text, "as text, too")
    os.chdir(weights)
    for path in (Path("."), Path("..") / "weights", Path("model.safetensors.index.json"), "model.safetensors.index.json", "part-1.safetensors"):
        check(jeoul.flops(path).params > 1e7, "by a name from here: %s" % path)
    os.chdir(folder.parent)
    check(jeoul.flops(Path(folder.name)).params > 1e7, "a folder beside")
    refused(jeoul.JeoulError, lambda: jeoul.flops(folder / "none.gguf"), "none.gguf: cannot be read: No such file")
    ask = jeoul.Jeoul().ask
    for path in (str(folder / "model.gguf"), str(weights / ".." / "model.gguf")):
        refused(jeoul.NotFoundError, lambda: ask("flops", {"model": path}, [str(weights), "", str(folder / "model")]), "no such file in the request")


def files():
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.json"
        config.write_text(json.dumps({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,
                                      "num_key_value_heads": 8, "intermediate_size": 2048, "vocab_size": 32000, "max_position_embeddings": 2048}))
        for given in (config, str(config), Path(folder), folder, folder + "/"):
            check(jeoul.flops(given).params > 1e7, "a model from a file or folder: %s" % given)
        model_files(Path(folder))
        own = Path(folder) / "catalog"
        own.mkdir()
        source = Path(os.environ["JEOUL_SOURCE"], "catalog", "gpus")
        text = next(t for t in (f.read_text() for f in sorted(source.glob("*.yaml"))) if re.search(r"^  *-? *id: rtx-4090$", t, re.M))
        (own / "mine.yaml").write_text(text.replace("id: rtx-4090\n", "id: my-own-gpu\n"))
        try:
            check(jeoul.catalog_show("my-own-gpu", using=jeoul.Jeoul(catalog=[own])).to_dict(), "a catalog of one's own")
        except jeoul.JeoulError as error:
            check("my-own-gpu" not in str(error), "a catalog of one's own: %s" % error)
        refused(jeoul.NotFoundError, lambda: jeoul.catalog_show("my-own-gpu"), "my-own-gpu")


def tables():
    swept = jeoul.predict("gpt-305m", on="10x rtx-3090 via pcie4-no-p2p", batch=4, seq=512, sweep="gpus=1,2,4,8,10")
    rows = swept.rows()
    check([r["n_gpus"] for r in rows] == [1, 2, 4, 8, 10] and all(r["step_s_lo"] < r["step_s"] < r["step_s_hi"] for r in rows), "a row a point")
    many = jeoul.sweep(jeoul.predict, model=["gpt2-124m", "llama-3-8b"], on=["rtx-4090", "8x h100-sxm5", "nope"], seq=1024)
    check(len(many) == 6 and len(many.rows()) == 6, "all combinations")
    check([r["on"] for r in many.rows() if "error" in r] == ["nope", "nope"], "what cannot be weighed says why")
    try:
        import pandas
    except ImportError:
        refused(ImportError, swept.to_frame, "pandas")
        return
    frame = many.to_frame()
    check(isinstance(frame, pandas.DataFrame) and list(frame.columns[:2]) == ["model", "on"] and frame["step_s"].notna().sum() == 4, "a frame")
    check(list(swept.to_frame()["n_gpus"]) == [1, 2, 4, 8, 10], "a frame of a sweep")


def watched():
    said = io.StringIO()
    with jeoul.watch("gpt2-124m", on="rtx-4090", batch=4, seq=512, warmup=1, file=said) as w:
        for _ in range(6):
            time.sleep(3 * w.prediction.step_s.hi)
            w.step()
    seen = w.summary()
    check(seen.n_steps == 5 and seen.verdict == "slower" and seen.ratio > 2 and seen.bound_by == w.prediction.bound_by, "slow steps: %s" % seen)
    check("bound by " in said.getvalue() and "slower" in said.getvalue() and "try: " in said.getvalue(), said.getvalue())
    check(abs(sum(seen.shares.values()) - 1) < 1e-9 and list(seen.shares.values()) == sorted(seen.shares.values(), reverse=True), "shares")
    with jeoul.watch("gpt2-124m", on="rtx-4090", batch=4, seq=512, warmup=0, file=None) as w:
        w.steps[:] = [w.prediction.step_s.value] * 5
    check(w.summary().verdict == "as predicted", str(w.summary()))
    w.steps[:] = [w.prediction.step_s.lo / 2] * 5
    check(w.summary().verdict == "faster", str(w.summary()))
    w.steps[:] = [1.0]
    check(w.summary().verdict == "too few steps" and "at least 3" in str(w.summary()), str(w.summary()))
    with jeoul.watch("gpt2-124m", on="rtx-4090 + rtx-3090", batch=4, seq=512, warmup=0, file=None) as w:
        w.steps[:] = [w.prediction.even_step_s] * 5
    two = w.summary()
    check(two.verdict == "as predicted" and two.predicted_s.hi == w.prediction.even_step_hi_s and "rtx-3090" in two.bound_by and "by speed" in str(two), str(two))
    refused(jeoul.UsageError, lambda: jeoul.watch("gpt2-124m", on="4x rtx-4090", sweep="gpus=1,2"), "one step")
    calls = []
    with jeoul.watch("gpt2-124m", on="this", batch=1, seq=64, warmup=0, sync=lambda: calls.append(1), file=None) as w:
        for _ in range(3):
            w.step()
    check(len(calls) == 4 and w.summary().n_steps == 3, "sync is called before the clock is read")


def complete():
    """Every command that may be asked is a function, every schema a class."""
    run = lambda *args: subprocess.run([os.environ["JEOUL"], *args], stdout=subprocess.PIPE, encoding="utf-8").stdout
    for c in json.loads(run("help", "--json"))["commands"]:
        name = c["command"].replace(" ", "_")
        check(callable(getattr(jeoul, name, None)) == ("asked_with" in c), "function " + name)
    for name in run("schema").split():
        check(hasattr(jeoul.results, "".join(w.capitalize() for w in name.split("-"))), "class of " + name)
    check(jeoul.__version__ == json.loads(run("version", "--json"))["version"], "version")


typed()
files()
tables()
watched()
complete()
same_as_program(asking.many(200, seed=22))
same_from_threads(asking.many(40, seed=8))
print("%d failed" % len(bad))
sys.exit(bool(bad))
