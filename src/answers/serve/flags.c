/* How an engine is started with the settings that were weighed: one row of options for each. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "catalog/find.h"
#include "serve/infer.h"

#define GIB        1073741824.0
#define NAME_MAX_B 200

enum option { TP, SEQS, TOKENS, LENGTH, FP8, KV8, PP, EP, DP, HOST, N_OPTION };
static const struct {
	enum jl_engine engine;
	const char *start;
	const char *options[N_OPTION]; /* with their figure, where they have one; NULL: only in a file of its own */
	const char *role[2];           /* of a machine for answers, for prompts, where they are apart */
} engines[] = {
	{ JL_ENGINE_VLLM,
	  "vllm serve %s",
	  { "--tensor-parallel-size %.0f", "--max-num-seqs %.0f", "--max-num-batched-tokens %.0f",
	    "--max-model-len %.0f", "--quantization fp8", "--kv-cache-dtype fp8", "--pipeline-parallel-size %.0f",
	    "--enable-expert-parallel", "--data-parallel-size %.0f", "--kv-offloading-size %.0f" },
	  { "--kv-transfer-config '{\"kv_connector\":\"NixlConnector\",\"kv_role\":\"kv_consumer\"}'",
	    "--kv-transfer-config '{\"kv_connector\":\"NixlConnector\",\"kv_role\":\"kv_producer\"}'" } },
	{ JL_ENGINE_SGLANG,
	  "python -m sglang.launch_server --model-path %s",
	  { "--tp %.0f", "--max-running-requests %.0f", "--chunked-prefill-size %.0f", "--context-length %.0f",
	    "--quantization fp8", "--kv-cache-dtype fp8_e4m3", "--pp-size %.0f", "--ep-size %.0f",
	    "--enable-dp-attention --dp-size %.0f", "--enable-hierarchical-cache --hicache-size %.0f" },
	  { "--disaggregation-mode decode", "--disaggregation-mode prefill" } },
	{ JL_ENGINE_TRTLLM,
	  "trtllm-serve %s",
	  { "--tp_size %.0f", "--max_batch_size %.0f", "--max_num_tokens %.0f", "--max_seq_len %.0f", NULL,
	    "--kv_cache_dtype fp8", "--pp_size %.0f", "--ep_size %.0f", NULL, NULL },
	  { "--server_role GENERATION", "--server_role CONTEXT" } },
};

/* As a shell takes it for one word, apostrophes and all. */
static void quoted(char out[NAME_MAX_B], const char *name)
{
	size_t n = 0;

	if (!strpbrk(name, " \t\"'$&;()<>|*?`!#\\~[]{}")) {
		(void)snprintf(out, NAME_MAX_B, "%.180s", name);
		return;
	}
	out[n++] = '\'';
	for (; *name && n < NAME_MAX_B - 6; name++) {
		if (*name == '\'') {
			memcpy(out + n, "'\\'", 3);
			n += 3;
		}
		out[n++] = *name;
	}
	out[n++] = '\'';
	out[n] = '\0';
}

/* What an engine loads: a folder or file of the reader's own, or the name on the hub where that is of this format; else it says what is missing. */
static void loaded(char out[NAME_MAX_B], const struct jl_infer_ask *ask, bool as_is)
{
	const char *name = ask->path ? ask->path : ask->model && as_is ? jl_model_hub(ask->model) : NULL;

	if (name)
		quoted(out, name);
	else
		(void)snprintf(out, NAME_MAX_B, "<folder or Hugging Face id of %.80s%s%.20s>", ask->model_name,
			       as_is ? "" : " in ", as_is ? "" : ask->weights);
}

static void start(struct jl_infer *a, const char *name, size_t engine, const double values[N_OPTION], const char *role)
{
	char *out = a->flags[a->n_flags];
	const size_t size = sizeof(a->flags[0]);
	size_t used = (size_t)snprintf(out, size, engines[engine].start, name);

	for (size_t i = 0; i < N_OPTION && used < size; i++) {
		char option[96];

		if (isnan(values[i]) || !engines[engine].options[i])
			continue;
		(void)snprintf(option, sizeof(option), engines[engine].options[i], values[i]);
		used += (size_t)snprintf(out + used, size - used, " %s", option);
	}
	if (role && used < size)
		(void)snprintf(out + used, size - used, " %s", role);
	a->n_flags++;
}

/* Its server's context is that of all requests together. */
static void start_llama_cpp(struct jl_infer *a, const struct jl_infer_ask *ask)
{
	const double n = fmax(ask->kind == JL_LOAD_CLOSED ? ask->concurrency / a->n_copies : a->batch_max, 1);
	const double each = ceil((ask->prompt + ask->answer) * 1.25 / 256) * 256; /* is taken from memory at once */

	(void)snprintf(a->flags[a->n_flags++], sizeof(a->flags[0]),
		       "llama-server -m %s --parallel %.0f --ctx-size %.0f%s", ask->path ? ask->path : "FILE.gguf", n,
		       n * fmin(each, ask->context), a->processor ? "" : " -ngl 99");
}

/* What was said is a mean: a turn of four times as much is still answered, and a short talk. No more than the model was made for, or fits. */
static double longest(const struct jl_infer *a, const struct jl_infer_ask *ask)
{
	static const double times = 4, talk = 8192;
	const double tokens = fmax(a->longest, fmax(talk, ceil((ask->prompt + ask->answer) * times / 256) * 256));

	return fmin(fmin(tokens, ask->context), a->context_max > 0 ? a->context_max : INFINITY);
}

void jl_infer_flags(struct jl_infer *a, const struct jl_infer_ask *ask, const struct jl_serve_job *job)
{
	const double seqs = 8 * ceil(fmax(a->batch_max, a->concurrency / a->n_copies) / 8);
	double values[N_OPTION] = {
		[TP] = a->n_gpus,
		[SEQS] = ask->max_seqs > 0 ? ask->max_seqs : fmin(fmax(16, seqs), 1024),
		[LENGTH] = longest(a, ask),
		[FP8] = ask->weights && strcasecmp(ask->weights, "fp8") == 0 ? 1 : NAN,
		[KV8] = job->format.kv_B <= 1 ? 1 : NAN,
		[PP] = a->n_stages > 1 ? (double)a->n_stages : NAN,
		[EP] = a->n_ep > 1 ? (double)a->n_ep : NAN,
		[DP] = a->dp_attention ? (double)a->n_gpus : NAN,
		[HOST] = ask->host_B > 0 ? ceil(ask->host_B / GIB) : NAN,
	};

	const bool narrow = job->format.weight_B < 2 || job->format.expert_B < 2;
	char name[NAME_MAX_B];

	if (ask->engine == JL_ENGINE_LLAMACPP || (ask->engine == JL_ENGINE_GENERAL && a->processor)) {
		start_llama_cpp(a, ask);
		return;
	}
	for (size_t i = 0; i < JL_LEN(engines); i++) {
		const bool asked = ask->engine == engines[i].engine;

		/* machines of two kinds: both commands of one engine */
		if (!asked && (ask->engine != JL_ENGINE_GENERAL || (ask->prompt_gpus > 0 && i > 0)))
			continue;
		values[TOKENS] = ask->batched_tokens > 0 ? ask->batched_tokens
							 : jl_policy_of(engines[i].engine)->token_budget;
		values[TP] = a->n_gpus;
		loaded(name, ask, !narrow || a->published || (values[FP8] > 0 && engines[i].options[FP8]));
		start(a, name, i, values, ask->prompt_gpus > 0 ? engines[i].role[0] : NULL);
		values[TP] = ask->prompt_gpus;
		if (ask->prompt_gpus > 0)
			start(a, name, i, values, engines[i].role[1]);
	}
}
