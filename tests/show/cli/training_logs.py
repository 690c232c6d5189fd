"""Training logs as trainers write them, with planted stalls, drifts, shifts and pauses.

training_logs.py TRAINER [WHAT] [SEED] writes one; training_logs.py --check JEOUL SEEDS judges all trainers with all plants: 90 of 100 plants must be
found, at most 2 of 100 healthy logs blamed. SEEDS 0: every trainer once, every plant twice. Times are drawn, no line is copied from a real run.
"""
import datetime
import json
import math
import random
import subprocess
import sys

START = datetime.datetime(2026, 3, 4, 5, 6, 7)
EVERY = {"torchtitan": 10, "Megatron-LM": 10, "NeMo": 5, "DeepSpeed": 10, "LLaMA-Factory": 10, "tqdm": 1, "Lightning": 1, "nanoGPT": 10, "MaxText": 1, "llm.c": 1, "it/s": 1, "Axolotl": 1}


def steps(what, seed, n):
	"""(seconds, kind) of each step."""
	rng = random.Random(seed)
	base = rng.choice([0.31, 0.8, 2.4, 6.5])
	sd = rng.choice([0.004, 0.012, 0.025])
	period, at = rng.choice([25, 50, 100]), rng.randrange(n // 3, 2 * n // 3)
	for i in range(1, n + 1):
		s = base * math.exp(rng.gauss(0, sd)) * (6 if i == 1 else 1.8 if i < 4 else 1)
		kind = ""
		if what == "periodic" and i % period == 0:
			s += base * rng.uniform(2.5, 4)
		elif what == "stalls" and i > 20 and rng.random() < 0.02:
			s += base * rng.uniform(2.5, 12)
		elif what == "drift":
			s *= 1 + 0.22 * i / n
		elif what == "shift" and i >= at:
			s *= 1.25
		elif what == "block" and at <= i < at + n // 10:
			s *= 1.5
		elif what == "checkpoints" and i % 100 == 0:
			kind = "checkpoint"
		yield i, s, kind, base


def stamp(t):
	return (START + datetime.timedelta(seconds=t)).strftime("%Y-%m-%d %H:%M:%S")


def clock(t):
	t = int(t)
	return "%d:%02d:%02d" % (t // 3600, t // 60 % 60, t % 60) if t >= 3600 else "%02d:%02d" % (t // 60, t % 60)


def write(trainer, what, seed, out, every=None):
	every = every or EVERY[trainer]
	n = 60 * every if every > 1 else 600
	t, since, sep = 0.0, 0.0, "\n"
	for i, s, kind, base in steps(what, seed, n):
		t += s
		since += s
		ms = ",%03d" % (t % 1 * 1000)
		mean, loss = since / every, 7 - math.log(i + 1)
		if i % every == 0:
			since = 0.0
			if trainer == "torchtitan":
				out.write("\x1b[32m[rank0]:[titan] %s%s - root - INFO - \x1b[31mstep: %2d  \x1b[32mloss: %7.4f  \x1b[33mmemory: 41.93GiB(53.01%%)  \x1b[34mtps: %s  \x1b[36mtflops: %.2f  \x1b[35mmfu: %.2f%%\x1b[39m\n"
					  % (stamp(t), ms, i, loss, "{:,}".format(round(8192 / mean)), 400 / mean, 41 / mean))
			elif trainer == "Megatron-LM":
				out.write(" [%s] iteration %8d/ %8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | throughput per GPU (TFLOP/s/GPU): %.1f | learning rate: 3.0E-04 | global batch size:   256 | lm loss: %.6E | loss scale: 1.0 | grad norm: 1.201 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
					  % (stamp(t), i, n, 256 * i, mean * 1e3, 400 / mean, loss))
			elif trainer == "NeMo":
				out.write("Training epoch 0, iteration %d/%d | lr: 3e-04 | global_batch_size: 512 | global_step: %d | reduced_train_loss: %.3f | train_step_timing in s: %.4f | consumed_samples: %d\n" % (i - 1, n - 1, i - 1, loss, mean, 512 * i))
			elif trainer == "DeepSpeed":
				out.write("[%s%s] [INFO] [timer.py:264:stop] epoch=0/micro_step=%d/global_step=%d, RunningAvgSamplesPerSec=%.10f, CurrSamplesPerSec=%.10f, MemAllocated=8.31GB, MaxMemAllocated=61.07GB\n" % (stamp(t), ms, 2 * i, i, 64 / mean, 64 / mean))
			elif trainer == "LLaMA-Factory":
				out.write(json.dumps({"current_steps": i, "total_steps": n, "loss": round(loss, 4), "lr": 1e-5, "epoch": round(i / n, 3), "percentage": round(100 * i / n, 2), "elapsed_time": clock(t), "remaining_time": "0:10:00", "throughput": round(4096 / mean, 2), "total_tokens": 4096 * i}) + "\n")
			elif trainer in ("tqdm", "Lightning", "Axolotl"):
				out.write("%s%3d%%|%s| %d/%d [%s<%s, %s]%s" % ("Epoch 0: " if trainer == "Lightning" else "", 100 * i // n, "█" * (10 * i // n), i, n, clock(t), clock(base * (n - i)),
					  "%.2fs/it" % mean if mean >= 1 else "%.2fit/s" % (1 / mean), "\n" if trainer == "Axolotl" else "\r"))
				if trainer == "Axolotl":
					out.write("{'loss': %.4f, 'grad_norm': 0.9, 'learning_rate': 2e-05, 'memory/max_mem_active(gib)': 21.4, 'tokens_per_second_per_gpu': %.2f, 'epoch': %.2f}\n" % (loss, 4096 / mean, i / n))
			elif trainer == "nanoGPT":
				out.write("iter %d: loss %.4f, time %.2fms, mfu %.2f%%\n" % (i, loss, mean * 1e3, 41 / mean))
			elif trainer == "MaxText":
				out.write("completed step: %d, seconds: %.3f, TFLOP/s/device: %.3f, Tokens/s/device: %.3f, total_weights: 65536, loss: %.3f\n" % (i, mean, 400 / mean, 8192 / mean, loss))
			elif trainer == "llm.c":
				out.write("step %4d/%d | loss %.6f (-0.31z)| norm 0.41 (+0.11z)| lr 6.0e-04 | %.2f ms | %.1f%% bf16 MFU | %.0f tok/s\n" % (i, n, loss, mean * 1e3, 41 / mean, 524288 / mean))
			else:
				out.write("step %d/%d loss %.3f %.4f it/s\n" % (i, n, loss, 1 / mean))
		if kind == "checkpoint":
			out.write("[%s] saving checkpoint at iteration %d\n" % (stamp(t), i))
			t += 9 * base
			since += 9 * base if EVERY[trainer] == 1 or trainer in ("torchtitan", "DeepSpeed") else 0
			out.write("[%s] successfully saved checkpoint from iteration %d in %.2f seconds\n" % (stamp(t), i, 9 * base))
	if sep == "\r":
		out.write("\n")


EXPECT = {"periodic": ("periodic_stalls",), "stalls": ("stalls", "jitter"), "drift": ("drift",), "shift": ("shift",), "block": ("slow_block",), "checkpoints": ("checkpoints",)}


def main():
	if sys.argv[1] != "--check":
		write(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", int(sys.argv[3]) if len(sys.argv) > 3 else 1, sys.stdout)
		return
	import io
	jeoul, n_seeds, bad, total = sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 3, [], {}
	plants = ("", "periodic", "stalls", "drift", "shift", "block", "checkpoints")
	for i, trainer in enumerate(EVERY):
		for what in plants if n_seeds else (plants[i % len(plants)],):
			for seed in range(max(1, n_seeds)):
				text = io.StringIO()
				# a line for ten steps hides single stalls in their mean: those need a line a step, or every fifth
				write(trainer, what, seed, text, 1 if what in ("periodic", "stalls", "checkpoints") else None)
				p = subprocess.run([jeoul, "check", "-", "--json"], input=text.getvalue(), capture_output=True, text=True)
				got = [f["key"] for f in json.loads(p.stdout)["findings"]] if p.stdout.startswith("{") else ["?? " + p.stderr.strip()]
				ok = not got if not what else any(k in got for k in EXPECT[what])
				a = total.setdefault("planted" if what else "healthy", [0, 0])
				a[0] += ok
				a[1] += 1
				if not ok:
					bad.append("%s %s seed %d: %s" % (trainer, what or "healthy", seed, ", ".join(got) or "nothing"))
	for line in bad:
		print(line)
	print(", ".join("%s: %d of %d right" % (k, v[0], v[1]) for k, v in total.items()))
	sys.exit(not (total["planted"][0] >= 0.9 * total["planted"][1] and total["healthy"][0] >= 0.98 * total["healthy"][1]))


main()
