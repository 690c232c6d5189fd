#!/usr/bin/env python3
"""The benchmark's GPT in plain PyTorch, written as usual with the features of this PyTorch version. Prints one line of JSON."""
import argparse
import json
import resource
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

MODELS = {
    "gpt-305m": dict(layers=16, hidden=1024, heads=16, vocab=50257, positions=512, tied=False),
    "gpt2-124m": dict(layers=12, hidden=768, heads=12, vocab=50257, positions=1024, tied=True),
}


class Block(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x, mask):
        n, seq, hidden = x.shape
        q, k, v = (t.view(n, seq, self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        if hasattr(F, "scaled_dot_product_attention"):
            att = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            att = torch.softmax(q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5) + mask, -1) @ v
        x = x + self.out(att.transpose(1, 2).reshape(n, seq, hidden))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, layers, hidden, heads, vocab, positions, tied):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, hidden), nn.Embedding(positions, hidden)
        self.blocks = nn.ModuleList(Block(hidden, heads) for _ in range(layers))
        self.norm, self.logits = nn.LayerNorm(hidden), nn.Linear(hidden, vocab, bias=False)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
        if tied:
            self.logits.weight = self.tokens.weight
        self.register_buffer("mask", torch.full((positions, positions), float("-inf")).triu(1))

    def forward(self, tokens, targets):
        seq = tokens.shape[1]
        x = self.tokens(tokens) + self.positions.weight[:seq]
        for block in self.blocks:
            x = block(x, self.mask[:seq, :seq])
        return F.cross_entropy(self.logits(self.norm(x)).flatten(0, 1), targets.flatten())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="gpt-305m")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seq", type=int, default=512)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    model = GPT(**MODELS[args.model])
    n_params = sum(p.numel() for p in model.parameters())
    step_of = torch.compile(model) if args.compile else model
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    rows = torch.randint(0, 50257, (args.batch, args.seq + 1))
    wall, cpu = [], []
    for step in range(args.steps + 1):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.precision == "bf16"):
            loss = step_of(rows[:, :-1], rows[:, 1:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step:  # the first one warms up
            wall.append(time.perf_counter() - begin)
            cpu.append(time.process_time() - begin_cpu)
    print(json.dumps(dict(version=torch.__version__.split("+")[0], n_params=n_params, n_threads=torch.get_num_threads(),
                          step_s=sorted(wall)[len(wall) // 2], cpu_s=sorted(cpu)[len(cpu) // 2], loss=loss.item(),
                          peak_B=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)))


if __name__ == "__main__":
    main()
