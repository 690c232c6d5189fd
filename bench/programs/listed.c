/* Lists the operators of drawn transformers without a capture. Usage: listed LIST.tsv DIR. A line of LIST.tsv has an id and key=value pairs of a
 * draw (written by listed.py); src/model/program/hf.h converts it to DIR/ID.jprog, which score.py scores like a capture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/hf.h"

static const char *word(const char *row, const char *key, char out[64])
{
	char want[40];
	const char *at;

	snprintf(want, sizeof(want), "\t%s=", key);
	at = strstr(row, want);
	if (!at)
		return NULL;
	snprintf(out, 64, "%.*s", (int)strcspn(at + strlen(want), "\t\n"), at + strlen(want));
	return out;
}

static double number(const char *row, const char *key, double fallback)
{
	char out[64];
	const char *text = word(row, key, out);

	return text ? atof(text) : fallback;
}

static int is(const char *row, const char *key, const char *value)
{
	char out[64];
	const char *text = word(row, key, out);

	return text && strcmp(text, value) == 0;
}

static enum jl_status list(struct jl_buf *text, const char *row, struct jl_err *err)
{
	const double hidden = number(row, "hidden", 0), heads = number(row, "heads", 1),
		     ffn = number(row, "ffn", 4 * hidden);
	const struct jl_transformer model = {
		.n_layers = number(row, "layers", 0),
		.hidden = hidden,
		.heads = heads,
		.kv_heads = number(row, "kv_heads", heads),
		.head_dim = number(row, "head_dim", hidden / heads),
		.ffn = ffn,
		.vocab = number(row, "vocab", 0),
		.n_positions = number(row, "positions", 0),
		.bias = number(row, "bias", 0) > 0,
		.tied = number(row, "tied", 0) > 0,
		.qk_norm = number(row, "qk_norm", 0) > 0,
		.causal = number(row, "causal", 1) > 0,
		.window = number(row, "window", 0),
		.local_frac = number(row, "local", 1),
		.moe = { .n_experts = number(row, "experts", 0), .top_k = number(row, "top", 0), .expert_ffn = ffn }
	};
	char family[64];
	const struct jl_hf_run run = {
		.type = word(row, "family", family),
		.batch = number(row, "batch", 1),
		.seq = number(row, "seq", 1),
		.accumulate = number(row, "accumulate", 1),
		.dtype = is(row, "precision", "bf16") || is(row, "precision", "amp-bf16") ? JL_BF16
			 : is(row, "precision", "amp-fp16")                               ? JL_FP16
			 : is(row, "precision", "tf32")                                   ? JL_TF32
											  : JL_FP32,
		.autocast = is(row, "precision", "amp-bf16") || is(row, "precision", "amp-fp16"),
		.forward = is(row, "mode", "forward"),
		.checkpoint = number(row, "checkpoint", 0) > 0,
		.eager_attention = is(row, "attention", "eager"),
		.fused = is(row, "optimizer", "adamw-fused"),
		.clip = number(row, "clip", 0) > 0,
		.cache = number(row, "use_cache", 1) > 0,
		.expert_loop = is(row, "experts_code", "eager"),
		.classes = is(row, "task", "classes"),
		.mask = is(row, "mask", "ones")     ? JL_HF_MASK_ONES
			: is(row, "mask", "padded") ? JL_HF_MASK_PADDED
						    : JL_HF_MASK_NONE,
	};

	return jl_hf_program(text, &model, &run, err);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
	static char row[8192], path[4096];
	int n_bad = 0;

	if (!file) {
		fprintf(stderr, "listed LIST.tsv DIR\n");
		return 2;
	}
	while (fgets(row, sizeof(row), file)) {
		struct jl_err err = { 0 };
		struct jl_buf text;

		jl_buf_init(&text, (size_t)256 << 20);
		snprintf(path, sizeof(path), "%s/%.*s.jprog", argv[2], (int)strcspn(row, "\t\n"), row);
		if (list(&text, row, &err) || jl_buf_write_file(&text, path, &err)) {
			fprintf(stderr, "%.*s: %s\n", (int)strcspn(row, "\t\n"), row, err.en);
			n_bad++;
		}
		jl_buf_release(&text);
	}
	fclose(file);
	return n_bad > 0;
}
