#include "cli/ask.h"

#include <math.h>
#include <string.h>

#include "model/profile.h"
#include "workload/input.h"
#include "workload/tune.h"

const char *const jl_ask_precisions[] = { "fp32", "tf32", "fp16", "bf16", "fp8", NULL };
const char *const jl_ask_frameworks[] = { "eager", "compiled", "megatron", "native", "unsloth", NULL };
const char *const jl_ask_recomputes[] = { "none", "selective", "full", NULL };
const char *const jl_ask_yes_no[] = { "no", "yes", NULL };
const char *const jl_ask_states[] = { "default", "bf16", NULL };
const char *const jl_ask_optimizers[] = { "foreach", "fused", "adamw8bit", "paged8bit", "adafactor",
					  "lion",    "sgd",   "muon",      "galore",    NULL };
const char *const jl_ask_tunes[] = { "full", "lora", "qlora", "dora", "qdora", "adapter", "layers", NULL };
const char *const jl_ask_methods[] = { "sft", "dpo", "orpo", "grpo", NULL };
const char *const jl_ask_bases[] = { "16bit", "nf4", "nf4-single", "int8", "gptq4", "gptq8", NULL };
const char *const jl_ask_layouts[] = { "first", "last", NULL };
const char *const jl_ask_inputs[] = { "images", "images-gpu", "tokens", "synthetic", NULL };

/* Place of the given choice in its list; JL_UNSET where the option was not given. */
static int choice(const struct jl_cli *cli, const char *name, const char *const *choices)
{
	const char *text = jl_text(cli, name);

	for (int i = 0; text && choices[i]; i++)
		if (strcmp(choices[i], text) == 0)
			return i;
	return JL_UNSET;
}

static void read_counts(struct jl_request *req, const struct jl_cli *cli)
{
	const struct {
		const char *name;
		double *value;
	} counts[] = {
		{ "layers", &req->shape.layers },
		{ "hidden", &req->shape.hidden },
		{ "heads", &req->shape.heads },
		{ "kv-heads", &req->shape.kv_heads },
		{ "ffn", &req->shape.ffn },
		{ "vocab", &req->shape.vocab },
		{ "seq", &req->seq },
		{ "mean-seq", &req->mean_seq },
		{ "rank", &req->rank },
		{ "train-layers", &req->tuned_layers },
		{ "group", &req->group },
		{ "generate", &req->generated },
		{ "batch", &req->batch },
		{ "micro-batch", &req->micro_batch },
		{ "global-batch", &req->global_batch },
		{ "accumulate", &req->accumulate },
		{ "samples", &req->samples },
		{ "tokens", &req->tokens },
		{ "steps-per-epoch", &req->steps_per_epoch },
		{ "epochs", &req->epochs },
		{ "cpu-threads", &req->cpu_threads },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		const struct jl_given *given = jl_given(cli, counts[i].name);

		if (given)
			*counts[i].value = (double)given->count;
	}
}

/* Quantities that must be more than nothing. */
static enum jl_status read_quantities(struct jl_request *req, const struct jl_cli *cli, struct jl_err *err)
{
	const struct {
		const char *name;
		double *value;
	} quantities[] = {
		{ "storage", &req->storage_Bps },       { "sample-size", &req->sample_B },
		{ "decode-time", &req->sample_s },      { "ram", &req->ram_B },
		{ "host-power", &req->host_W },         { "launch", &req->launch_s },
		{ "gmacs", &req->figures.gmac },        { "macts", &req->figures.mact },
		{ "params-m", &req->figures.params_m },
	};

	for (size_t i = 0; i < sizeof(quantities) / sizeof(*quantities); i++) {
		const struct jl_given *given = jl_given(cli, quantities[i].name);

		if (given && !(given->value > 0))
			return jl_fail(err, JL_E_USAGE, "--%s: '%s' is not more than nothing", quantities[i].name,
				       given->text);
		if (given)
			*quantities[i].value = given->value;
	}
	return JL_OK;
}

static enum jl_status check_words(const struct jl_request *req, struct jl_err *err)
{
	const struct jl_shape *s = &req->shape;
	const struct jl_figures *f = &req->figures;
	const bool figures = !isnan(f->gmac) || !isnan(f->mact) || !isnan(f->params_m) || f->kind;

	if (figures && (isnan(f->gmac) || isnan(f->params_m)))
		return jl_fail(err, JL_E_USAGE, "a network by figures needs --gmacs and --params-m");
	if (figures && req->model)
		return jl_fail(err, JL_E_USAGE, "'%s' has figures of its own; leave --gmacs, ... out, or the name",
			       req->model);

	if (req->model && !(isnan(s->layers) && isnan(s->hidden) && isnan(s->heads) && isnan(s->kv_heads) &&
			    isnan(s->ffn) && isnan(s->vocab)))
		return jl_fail(err, JL_E_USAGE,
			       "'%s' already has a shape; leave --layers, --hidden, ... out, or the name", req->model);
	if (!isnan(req->pue) && !(req->pue >= 1 && req->pue <= 5))
		return jl_fail(err, JL_E_USAGE, "--pue is %g; it is 1 (no cooling) to 5, e.g. 1.2", req->pue);
	if (!isnan(req->samples) + !isnan(req->tokens) + !isnan(req->steps_per_epoch) > 1)
		return jl_fail(err, JL_E_USAGE, "give one of --samples, --tokens and --steps-per-epoch");
	if (!isnan(req->epochs) && isnan(req->samples) && isnan(req->tokens) && isnan(req->steps_per_epoch))
		return jl_fail(err, JL_E_USAGE,
			       "--epochs needs to know an epoch: give --samples, --tokens or --steps-per-epoch");
	return JL_OK;
}

/* "all", "attention", "ffn" or products by name. */
static enum jl_status read_targets(unsigned *ret_targets, const char *text, struct jl_err *err)
{
	static const struct {
		const char *name;
		unsigned targets;
	} words[] = {
		{ "all", JL_TARGETS_ALL }, { "attention", 15 },        { "ffn", 112 },       { "q", JL_TARGET_Q },
		{ "k", JL_TARGET_K },      { "v", JL_TARGET_V },       { "o", JL_TARGET_O }, { "gate", JL_TARGET_GATE },
		{ "up", JL_TARGET_UP },    { "down", JL_TARGET_DOWN },
	};
	unsigned targets = 0;

	while (*text) {
		const size_t len = strcspn(text, ",");
		size_t i = 0;

		while (i < sizeof(words) / sizeof(*words) &&
		       !(strlen(words[i].name) == len && strncmp(words[i].name, text, len) == 0))
			i++;
		if (i == sizeof(words) / sizeof(*words))
			return jl_fail(
				err, JL_E_USAGE,
				"--targets: '%.*s' is none; take all, attention, ffn, or of q,k,v,o,gate,up,down",
				(int)len, text);
		targets |= words[i].targets;
		text += len + (text[len] == ',');
	}
	*ret_targets = targets;
	return JL_OK;
}

/* Fine-tuning: qlora and qdora are their plain forms over a base of 4 bits. */
static enum jl_status read_tune(struct jl_request *req, const struct jl_cli *cli, struct jl_err *err)
{
	static const struct {
		enum jl_tune_kind kind;
		int base;
	} tunes[] = { { JL_TUNE_FULL, JL_UNSET },  { JL_TUNE_LORA, JL_UNSET },    { JL_TUNE_LORA, JL_BASE_NF4 },
		      { JL_TUNE_DORA, JL_UNSET },  { JL_TUNE_DORA, JL_BASE_NF4 }, { JL_TUNE_ADAPTER, JL_UNSET },
		      { JL_TUNE_LAYERS, JL_UNSET } };
	static const char *const needs[] = { "rank", "targets", "base", "train-layers", "method", "group", "generate" };
	const int tune = choice(cli, "tune", jl_ask_tunes), base = choice(cli, "base", jl_ask_bases);

	req->packed = choice(cli, "packing", jl_ask_yes_no);
	req->method = choice(cli, "method", jl_ask_methods);
	for (size_t i = 0; tune == JL_UNSET && i < sizeof(needs) / sizeof(*needs); i++)
		if (jl_given(cli, needs[i]))
			return jl_fail(err, JL_E_USAGE,
				       "--%s is of fine-tuning: say which with --tune lora, qlora, ...", needs[i]);
	if (tune == JL_UNSET)
		return JL_OK;
	req->tune = (int)tunes[tune].kind;
	req->base = base != JL_UNSET ? base : tunes[tune].base;
	return jl_text(cli, "targets") ? read_targets(&req->targets, jl_text(cli, "targets"), err) : JL_OK;
}

enum jl_status jl_ask_request(struct jl_request *ret_req, struct jl_cli *cli, struct jl_err *err)
{
	static const enum jl_input_kind inputs[] = { JL_INPUT_IMAGES, JL_INPUT_IMAGES_GPU, JL_INPUT_TOKENS,
						     JL_INPUT_SYNTHETIC };
	/* The choices are written in the order of the enums. */
	static const enum jl_dtype dtypes[] = { JL_FP32, JL_TF32, JL_FP16, JL_BF16, JL_FP8 };
	static const enum jl_framework frameworks[] = { JL_FW_EAGER, JL_FW_COMPILED, JL_FW_MEGATRON, JL_FW_NATIVE,
							JL_FW_FUSED };
	static const enum jl_recompute recomputes[] = { JL_RECOMPUTE_NONE, JL_RECOMPUTE_SELECTIVE, JL_RECOMPUTE_FULL };
	struct jl_request req = jl_request_empty();
	const char *parallel = jl_text(cli, "parallel"), *offload = jl_text(cli, "offload");
	const struct jl_given *pue = jl_given(cli, "pue");
	enum jl_status status;
	int i;

	req.model = cli->args.n_operands ? cli->args.operands[0] : NULL;
	req.system = jl_text(cli, "on");
	req.figures.kind = jl_text(cli, "operators");
	req.forward = jl_flag(cli, "forward");
	read_counts(&req, cli);
	if ((i = choice(cli, "precision", jl_ask_precisions)) != JL_UNSET)
		req.dtype = (int)dtypes[i];
	if ((i = choice(cli, "framework", jl_ask_frameworks)) != JL_UNSET)
		req.framework = (int)frameworks[i];
	if ((i = choice(cli, "recompute", jl_ask_recomputes)) != JL_UNSET)
		req.recompute = (int)recomputes[i];
	req.flash = choice(cli, "flash", jl_ask_yes_no);
	req.states = choice(cli, "states", jl_ask_states);
	req.optimizer = choice(cli, "optimizer", jl_ask_optimizers);
	req.layout = choice(cli, "layout", jl_ask_layouts);
	if ((i = choice(cli, "input", jl_ask_inputs)) != JL_UNSET)
		req.input = (int)inputs[i];
	if (pue)
		req.pue = pue->value;
	if (jl_given(cli, "expert-load"))
		req.expert_load = jl_value(cli, "expert-load");
	status = read_quantities(&req, cli, err);
	if (!status)
		status = read_tune(&req, cli, err);
	if (!status && parallel)
		status = jl_request_parallel(&req.plan, parallel, err);
	if (!status && offload)
		status = jl_request_offload(&req.offload, offload, err);
	if (!status)
		status = check_words(&req, err);
	if (!status)
		*ret_req = req;
	return status;
}
