#!/usr/bin/env python3
"""Exports networks with torch and counts them with torch, for `jeoul flops FILE`.

    python3 bench/onnx/export.py OUT [NAME...]

writes OUT/NAME.onnx (weights taken out: sizes alone; needs the package onnx), OUT/NAME.json (the graph of torch.export; torch 2.1 or
later) and OUT/counts.json: parameters, and multiply-adds as torch.utils.flop_counter has them. What is missing is said and left out.
`tests/fixtures/onnx` holds what it wrote, of the small ones.
"""
import json
import os
import sys

import torch
from torch import nn


class Block(nn.Module):
    """A layer of BERT or GPT-2: norms before or after, attention by plain products."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (c // self.heads) ** 0.5
        if self.causal:
            scores = scores + torch.full((t, t), -1e4).triu(1)
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Tokens(nn.Module):
    def __init__(self, vocab, width, layers, heads, positions, causal):
        super().__init__()
        self.token, self.position = nn.Embedding(vocab, width), nn.Embedding(positions, width)
        self.blocks = nn.Sequential(*[Block(width, heads, causal) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        x = self.token(ids) + self.position(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.blocks(x)))


class UNetBlock(nn.Module):
    """The structure of a diffusion U-Net: down, attention in the middle, up."""

    def __init__(self, c=64):
        super().__init__()
        self.first = nn.Conv2d(4, c, 3, padding=1)
        self.norm, self.conv = nn.GroupNorm(32, c), nn.Conv2d(c, c, 3, padding=1)
        self.down, self.mid = nn.Conv2d(c, 2 * c, 3, stride=2, padding=1), Block(2 * c, 4, False)
        self.up, self.last = nn.ConvTranspose2d(2 * c, c, 2, stride=2), nn.Conv2d(2 * c, 4, 3, padding=1)

    def forward(self, x):
        x = self.first(x)
        x = x + self.conv(nn.functional.silu(self.norm(x)))
        y = self.down(x)
        b, c, h, w = y.shape
        y = self.mid(y.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(b, c, h, w)
        return self.last(torch.cat([x, self.up(y)], 1))


def networks():
    image = torch.zeros(1, 3, 224, 224)
    ids = torch.zeros(1, 128, dtype=torch.long)
    made = {
        "bert": (lambda: Tokens(30522, 768, 12, 12, 512, False), ids),
        "gpt2": (lambda: Tokens(50257, 768, 12, 12, 1024, True), ids),
        "unet_block": (UNetBlock, torch.zeros(1, 4, 32, 32)),
    }
    try:
        import torchvision

        for name in ("resnet50", "vit_b_16", "mobilenet_v2", "convnext_tiny", "swin_t"):
            made[name] = (getattr(torchvision.models, name), image)
    except ImportError:
        print("no torchvision: resnet50, vit_b_16, ... are left out")
    return made


def write_onnx(path, model, sample):
    import onnx

    torch.onnx.export(model, sample, path, opset_version=14, do_constant_folding=True,
                      training=torch.onnx.TrainingMode.EVAL)
    graph = onnx.load(path)
    for tensor in graph.graph.initializer:  # sizes suffice; integers are shapes and are kept
        if tensor.data_type != onnx.TensorProto.INT64:
            tensor.ClearField("raw_data")
            tensor.ClearField("float_data")
    onnx.save(graph, path)


def main():
    out, wanted = sys.argv[1], sys.argv[2:]
    os.makedirs(out, exist_ok=True)
    counts = {}
    for name, (make, sample) in networks().items():
        if wanted and name not in wanted:
            continue
        torch.manual_seed(0)
        model = make().eval()
        counts[name] = {"params": sum(p.numel() for p in model.parameters())}
        try:
            from torch.utils.flop_counter import FlopCounterMode

            with FlopCounterMode(display=False) as counter, torch.no_grad():
                model(sample)
            counts[name]["mac"] = counter.get_total_flops() // 2
        except ImportError:
            print("no torch.utils.flop_counter in torch", torch.__version__)
        for suffix, write in ((".onnx", write_onnx), (".json", write_graph)):
            try:
                write(os.path.join(out, name + suffix), model, sample)
            except Exception as why:  # older torch, or a missing package
                print(name + suffix, "not written:", str(why).splitlines()[0][:100])
        print(name, counts[name])
    with open(os.path.join(out, "counts.json"), "w") as file:
        json.dump({"torch": torch.__version__, "networks": counts}, file, indent=1)


def write_graph(path, model, sample):
    import io
    import zipfile

    program = torch.export.export(model, (sample,))
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    with zipfile.ZipFile(buffer) as archive:
        names = archive.namelist()
        name = [n for n in names if n.endswith("model.json") or n.endswith("serialized_exported_program.json")][0]
        with open(path, "wb") as file:
            file.write(archive.read(name))


if __name__ == "__main__":
    main()
