/* Command line of an engine for the evaluated settings: one row of options per engine. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "catalog/find.h"
#include "serve/infer.h"

#define GIB        1073741824.0
#define NAME_MAX_B 200

/* In the order of JL_ENGINE_OPTIONS. */
#define JL_X(option) OPTION_##option,
enum option { JL_ENGINE_OPTIONS(JL_X) N_OPTION };
#undef JL_X
#define JL_X(option) offsetof(struct jl_engine_start, option),
static const size_t options[N_OPTION] = { JL_ENGINE_OPTIONS(JL_X) };
#undef JL_X

static const char *option_of(const struct jl_engine_start *start, size_t i)
{
	return *(const char *const *)(const void *)((const char *)start + options[i]);
}

/* Quotes for a shell, including apostrophes. */
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

/* Model argument of an engine: the user's own path, or the hub name in this format; else a description of what is missing. */
static void loaded(char out[NAME_MAX_B], const struct jl_infer_ask *ask, bool as_is)
{
	const char *name = ask->path ? ask->path : ask->model && as_is ? jl_model_hub(ask->model) : NULL;

	if (name)
		quoted(out, name);
	else
		(void)snprintf(out, NAME_MAX_B, "<folder or Hugging Face id of %.80s%s%.20s>", ask->model_name,
			       as_is ? "" : " in ", as_is ? "" : ask->weights);
}

static void start(struct jl_infer *a, const struct jl_infer_ask *ask, const char *name,
		  const struct jl_engine_start *start, const double values[N_OPTION], const char *role)
{
	char *out = a->flags[a->n_flags];
	const size_t size = sizeof(a->flags[0]);
	size_t used = (size_t)snprintf(out, size, start->command, name);

	for (size_t i = 0; i < OPTION_draft && used < size; i++) {
		char text[96];

		if (isnan(values[i]) || !option_of(start, i))
			continue;
		(void)snprintf(text, sizeof(text), option_of(start, i), values[i]);
		used += (size_t)snprintf(out + used, size - used, " %s", text);
	}
	const char *draft = !ask->draft ? NULL : ask->draft_model ? start->draft : start->head;

	if (draft && used < size) {
		const char *hub = ask->draft_model ? jl_model_hub(ask->draft_model) : NULL;

		used += (size_t)snprintf(out + used, size - used, " ");
		used += (size_t)snprintf(out + used, size - used, draft, hub ? hub : ask->draft, ask->n_draft);
	}
	if (role && used < size)
		(void)snprintf(out + used, size - used, " %s", role);
	a->n_flags++;
}

/* Separate machines for prompts: same width, their own tokens per pass. */
static void start_prompts(struct jl_infer *a, const struct jl_infer_ask *ask, const struct jl_engine_info *info,
			  const char *name, double values[N_OPTION])
{
	const double tokens = values[OPTION_tokens], dp = values[OPTION_dp];

	values[OPTION_tp] = ask->prompt_gpus;
	values[OPTION_dp] = isnan(dp) ? NAN : (double)ask->prompt_gpus;
	if (!isnan(dp) && info->policy.prompt_budget > 0 && ask->batched_tokens <= 0)
		values[OPTION_tokens] = info->policy.prompt_budget *
					(info->policy.shared_limits ? ask->prompt_gpus : 1.0);
	start(a, ask, name, &info->start, values, info->start.prompts);
	values[OPTION_tokens] = tokens;
	values[OPTION_dp] = dp;
}

/* The server's context is shared by all requests. */
static void start_llama_cpp(struct jl_infer *a, const struct jl_infer_ask *ask)
{
	const double n = fmax(ask->kind == JL_LOAD_CLOSED ? ask->concurrency / a->n_copies : a->batch_max, 1);
	const double each = ceil((ask->prompt + ask->answer) * 1.25 / 256) * 256; /* reserved from memory at once */

	char path[NAME_MAX_B];

	quoted(path, ask->path ? ask->path : "FILE.gguf");
	(void)snprintf(a->flags[a->n_flags++], sizeof(a->flags[0]),
		       "llama-server -m %s --parallel %.0f --ctx-size %.0f%s", path, n, n * fmin(each, ask->context),
		       a->processor ? "" : " -ngl 99");
}

/* Requested lengths are means: a turn of four times the length must still fit, and a short conversation. Limited by the model's context and
 * the memory. */
static double longest(const struct jl_infer *a, const struct jl_infer_ask *ask)
{
	static const double times = 4, talk = 8192;
	const double tokens = fmax(ask->turns > 1 ? ceil(a->longest * 1.25 / 256) * 256 : a->longest,
				   fmax(talk, ceil((ask->prompt + ask->answer) * times / 256) * 256));

	return fmin(fmin(tokens, ask->context), a->context_max > 0 ? a->context_max : INFINITY);
}

/* Of the representative engines none runs on a CPU as users serve from one, or on such a device. */
static bool only_llama_cpp(const struct jl_gpu *gpu)
{
	bool one = false;

	for (int e = 0; gpu && e < jl_n_engine(); e++) {
		const struct jl_engine_info *info = jl_engine_info(e);
		const bool runs = info->start.command && jl_serve_engine_runs(info, gpu);

		if (runs && !info->gguf)
			return false;
		one |= runs;
	}
	return one || !gpu;
}

/* "vLLM, SGLang": each once. */
static void add_name(struct jl_infer *a, const char *name)
{
	const size_t used = strlen(a->started);

	if (!strstr(a->started, name))
		(void)snprintf(a->started + used, sizeof(a->started) - used, "%s%s", used ? ", " : "", name);
}

void jl_infer_flags(struct jl_infer *a, const struct jl_infer_ask *ask, const struct jl_serve_job *job,
		    const struct jl_gpu *gpu)
{
	const double at_once = ask->turns > 1
				       ? 0
				       : a->concurrency / a->n_copies; /* sessions: most of them wait for tools */
	const double seqs = 8 * ceil(fmax(a->batch_max, at_once) / 8);
	double values[N_OPTION] = {
		[OPTION_tp] = a->n_gpus,
		[OPTION_seqs] = ask->max_seqs > 0 ? ask->max_seqs : fmin(fmax(16, seqs), 1024),
		[OPTION_length] = longest(a, ask),
		[OPTION_fp8] = ask->weights && strcasecmp(ask->weights, "fp8") == 0 ? 1 : NAN,
		[OPTION_kv8] = job->format.kv_B <= 1 ? 1 : NAN,
		[OPTION_pp] = a->n_stages > 1 ? (double)a->n_stages : NAN,
		[OPTION_ep] = a->n_ep > 1 ? (double)a->n_ep : NAN,
		[OPTION_dp] = a->dp_attention ? (double)a->n_gpus : NAN,
		[OPTION_host] = ask->host_B > 0 ? ceil(ask->host_B / GIB) : NAN,
		[OPTION_loras] = ask->n_adapters > 0 ? (double)ask->n_adapters : NAN,
		[OPTION_embeds] = a->embeds ? 1 : NAN,
		[OPTION_lora_rank] = ask->n_adapters > 0 ? (double)ask->adapter_rank : NAN,
	};

	const bool narrow = job->format.weight_B < 2 || job->format.expert_B < 2;
	char name[NAME_MAX_B];

	a->started[0] = '\0';
	a->n_flags = 0;
	a->flags_rate_hz = 0;
	if (a->embeds && (jl_engine_info(ask->engine)->gguf || only_llama_cpp(gpu)))
		return;
	if (jl_engine_info(ask->engine)->gguf || (ask->engine == JL_ENGINE_GENERAL && only_llama_cpp(gpu))) {
		add_name(a, "llama.cpp");
		start_llama_cpp(a, ask);
		return;
	}
	for (int e = 0; e < jl_n_engine(); e++) {
		const struct jl_engine_info *info = jl_engine_info(e);
		const struct jl_engine_start *s = &info->start;
		const bool asked = ask->engine == e, today = info->operators && !info->until && !info->vendor;

		/* separate prompt machines: both commands of one engine */
		if (!s->command || !jl_serve_engine_runs(info, gpu) || (ask->n_adapters > 0 && !s->loras) ||
		    (a->embeds && !s->embeds) ||
		    (!asked && (ask->engine != JL_ENGINE_GENERAL || !today || (ask->prompt_gpus > 0 && a->n_flags))) ||
		    a->n_flags + (ask->prompt_gpus > 0) >= (int)JL_LEN(a->flags))
			continue;
		add_name(a, info->name);
		values[OPTION_tokens] = ask->batched_tokens > 0 ? ask->batched_tokens : info->policy.token_budget;
		values[OPTION_tp] = a->n_gpus;
		loaded(name, ask, !narrow || a->published || (values[OPTION_fp8] > 0 && s->fp8));
		start(a, ask, name, s, values, ask->prompt_gpus > 0 ? s->answers : NULL);
		if (ask->prompt_gpus > 0)
			start_prompts(a, ask, info, name, values);
	}
}
