/* Options that describe a training run, converted to a request. */
#include "cli/ask.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "catalog/find.h"
#include "catalog/names.h"
#include "parameters/codebase.h"
#include "program/tune.h"

/* Arrays are in the order of their enums. */
const char *const jl_ask_precisions[] = { "fp32", "tf32", "fp16", "bf16", "fp8", NULL };
/* first how PyTorch is run (eager, compiled, ...) and Hugging Face transformers, then named training codebases */
const char *const jl_ask_frameworks[] = {
	"eager",         "compiled",   "megatron", "native",      "unsloth", "transformers",
	"torchtitan",    "torchtune",  "nemo",     "megatron-lm", "litgpt",  "megatron-deepspeed",
	"llama-factory", "axolotl",    "ms-swift", "composer",    "maxtext", "automodel",
	"internevo",     "colossalai", "fms-fsdp", "hai-llm",     "nanogpt", "fsdp-qlora",
	"paddlenlp",     NULL
};
const char *const jl_ask_recomputes[] = { "none", "selective", "full", NULL };
const char *const jl_ask_yes_no[] = { "no", "yes", NULL };
const char *const jl_ask_states[] = { "default", "bf16", NULL };
const char *const jl_ask_optimizers[] = { "foreach", "fused", "adamw8bit", "paged8bit", "adafactor", "lion",
					  "sgd",     "muon",  "galore",    "adamw",     "adam",      NULL };
const char *const jl_ask_tunes[] = { "full", "lora", "qlora", "dora", "qdora", "adapter", "layers", NULL };
const char *const jl_ask_methods[] = { "sft", "dpo", "orpo", "grpo", NULL };
const char *const jl_ask_bases[] = { "16bit", "nf4", "nf4-single", "int8", "gptq4", "gptq8", NULL };
const char *const jl_ask_layouts[] = { "first", "last", NULL };
const char *const jl_ask_inputs[] = { "synthetic", "tokens", "images", "images-gpu", NULL };

static enum jl_status check_words(const struct jl_request *req, struct jl_err *err)
{
	const struct jl_shape *s = &req->shape;
	const struct jl_figures *f = &req->figures;
	const bool figures = !isnan(f->gmac) || !isnan(f->mact) || !isnan(f->params_m) || f->kind;

	if (figures && (isnan(f->gmac) || isnan(f->params_m)))
		return jl_fail(err, JL_E_USAGE, "a network by figures needs --gmacs and --params-m");
	if (figures && req->model)
		return jl_fail(err, JL_E_USAGE,
			       "'%s' is in the catalog with its figures; leave out --gmacs, ..., or the name",
			       req->model);

	if (req->model && !(isnan(s->layers) && isnan(s->hidden) && isnan(s->heads) && isnan(s->kv_heads) &&
			    isnan(s->ffn) && isnan(s->vocab)))
		return jl_fail(err, JL_E_USAGE,
			       "'%s' already has a shape; leave --layers, --hidden, ... out, or the name", req->model);
	if (!isnan(req->samples) + !isnan(req->tokens) + !isnan(req->steps_per_epoch) > 1)
		return jl_fail(err, JL_E_USAGE, "give one of --samples, --tokens and --steps-per-epoch");
	if (!isnan(req->epochs) && isnan(req->samples) && isnan(req->tokens) && isnan(req->steps_per_epoch))
		return jl_fail(err, JL_E_USAGE,
			       "--epochs needs to know an epoch: give --samples, --tokens or --steps-per-epoch");
	return JL_OK;
}

/* Parses "all", "attention", "ffn", or names of products. */
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
	char item[JL_ITEM_MAX];

	while (jl_next_item(&text, item)) {
		size_t i = 0;

		while (i < JL_LEN(words) && strcmp(words[i].name, item) != 0)
			i++;
		if (i == JL_LEN(words))
			return jl_fail(err, JL_E_USAGE,
				       "--targets: '%s' is none; take all, attention, ffn, or of q,k,v,o,gate,up,down",
				       item);
		targets |= words[i].targets;
	}
	*ret_targets = targets;
	return JL_OK;
}

/* Rejects options that belong to another kind of tuning or another method. */
static enum jl_status check_tune(const struct jl_request *req, const struct jl_cli *cli, int tune, struct jl_err *err)
{
	const bool packed = strncmp(jl_ask_tunes[tune], "q", 1) == 0;
	const bool lora = req->tune == (int)JL_TUNE_LORA || req->tune == (int)JL_TUNE_DORA ||
			  req->tune == (int)JL_TUNE_ADAPTER;
	const struct jl_idle rules[] = {
		{ .when = req->method != JL_METHOD_GRPO, .options = "group generate", .with = "--method grpo" },
		{ .when = req->tune != (int)JL_TUNE_LAYERS, .options = "train-layers", .with = "--tune layers" },
		{ .when = !lora, .options = "targets", .with = "--tune lora" },
		{ .when = !lora && req->optimizer != JL_OPT_GALORE, .options = "rank", .with = "--tune lora" },
	};

	JL_TRY(jl_check_idle(cli, rules, JL_LEN(rules), err));
	if (packed && req->base == (int)JL_BASE_SAME)
		return jl_fail(err, JL_E_USAGE, "--tune %s keeps its base in 4 bits; with --base 16bit it is --tune %s",
			       jl_ask_tunes[tune], jl_ask_tunes[tune] + 1);
	return JL_OK;
}

/* Reads fine-tuning options; qlora and qdora are lora and dora on a 4-bit base. */
static enum jl_status read_tune(struct jl_request *req, const struct jl_cli *cli, struct jl_err *err)
{
	static const struct {
		enum jl_tune_kind kind;
		int base;
	} tunes[] = { { JL_TUNE_FULL, JL_UNSET },  { JL_TUNE_LORA, JL_UNSET },    { JL_TUNE_LORA, JL_BASE_NF4 },
		      { JL_TUNE_DORA, JL_UNSET },  { JL_TUNE_DORA, JL_BASE_NF4 }, { JL_TUNE_ADAPTER, JL_UNSET },
		      { JL_TUNE_LAYERS, JL_UNSET } };
	const int base = jl_chosen(cli, "base", jl_ask_bases);
	const struct jl_idle of_grpo = { .when = true, .options = "group generate", .with = "--method grpo" };
	const char *method = jl_text(cli, "method");
	int tune = jl_chosen(cli, "tune", jl_ask_tunes);
	char written[64];

	if (tune == JL_UNSET && !method)
		return jl_check_idle(cli, &of_grpo, 1, err);
	if (tune == JL_UNSET) { /* a tuning loss without --tune: all weights are tuned */
		tune = 0;
		snprintf(written, sizeof(written), "--method %.40s", method);
		jl_reading_add(cli->cat, written, "--tune full", "--tune lora");
	}
	req->tune = (int)tunes[tune].kind;
	req->base = base != JL_UNSET ? base : tunes[tune].base;
	JL_TRY(check_tune(req, cli, tune, err));
	return jl_text(cli, "targets") ? read_targets(&req->targets, jl_text(cli, "targets"), err) : JL_OK;
}

enum jl_status jl_ask_request(struct jl_request *ret_req, struct jl_cli *cli, struct jl_err *err)
{
	const char *parallel = jl_text(cli, "parallel"), *offload = jl_text(cli, "offload");
	struct jl_request req = jl_request_empty();

	req.model = cli->args.n_operands ? cli->args.operands[0] : NULL;
	JL_READ(&req, jl_request, cli);
	if (req.framework > JL_FW_NATIVE) { /* a codebase uses the default profile */
		const int codebase = jl_codebase_by_id(jl_ask_frameworks[req.framework]);

		req.code = jl_codebases[codebase].id;
		req.framework = strcmp(req.code, "transformers") == 0 ? (int)JL_FW_HUB
								      : (int)jl_codebases[codebase].framework;
	}
	if (req.optimizer >= (int)JL_N_OPTIMIZER) /* adamw and adam: PyTorch's implementation */
		req.optimizer = JL_OPT_FOREACH;
	JL_TRY(read_tune(&req, cli, err));
	JL_TRY(parallel ? jl_request_parallel(&req.plan, parallel, err) : JL_OK);
	JL_TRY(offload ? jl_request_offload(&req.offload, offload, err) : JL_OK);
	JL_TRY(check_words(&req, err));
	*ret_req = req;
	return JL_OK;
}

/* --- an observed run with known step time only */

const char *const jl_ask_kinds[] = { /* in the order of enum jl_mix_kind */ "cnn", "transformer", "unknown", NULL };

/* Steps per epoch from any of the options that give it. */
static enum jl_status read_length(struct jl_observed *run, const struct jl_cli *cli, struct jl_err *err)
{
	const double batches = jl_count(cli, "batches"), steps = jl_count(cli, "steps-per-epoch"),
		     samples = jl_count(cli, "samples");

	if (!isnan(batches) + !isnan(steps) + !isnan(samples) > 1)
		return jl_fail(err, JL_E_USAGE, "give one of --batches, --steps-per-epoch and --samples");
	run->batches = !isnan(batches) ? batches : !isnan(steps) ? steps : samples / run->batch;
	if (isnan(run->batches) && jl_given(cli, "epochs"))
		return jl_fail(err, JL_E_USAGE, "--epochs needs to know an epoch: give --batches or --samples");
	return JL_OK;
}

enum jl_status jl_ask_observed(struct jl_observed *ret_run, const struct jl_cli *cli, struct jl_err *err)
{
	struct jl_observed run = jl_observed_empty();

	JL_READ(&run, jl_observed, cli);
	run.dtype = jl_chosen(cli, "precision", jl_ask_precisions);
	if (isnan(run.batch))
		return jl_fail(err, JL_E_USAGE, "--observed needs the samples of that step: --observed-batch N");
	JL_TRY(read_length(&run, cli, err));
	*ret_run = run;
	return JL_OK;
}

enum jl_status jl_ask_observed_on(struct jl_observed *ret_run, struct jl_machine *ret_base, struct jl_cli *cli,
				  struct jl_err *err)
{
	const char *baseline = jl_text(cli, "baseline");
	struct jl_observed run;
	struct jl_sys sys;

	JL_TRY(jl_ask_observed(&run, cli, err));
	if (!baseline)
		return jl_fail(err, JL_E_USAGE,
			       "--observed needs the system it was seen on: --baseline \"4x v100-dgxs-32gb\"");
	JL_TRY(jl_sys_parse(&sys, cli->cat, baseline, &cli->arena, err));
	JL_TRY(jl_machine_make(ret_base, cli->cat, &sys, err));
	JL_TRY(jl_observed_check(&run, ret_base, err));
	*ret_run = run;
	return JL_OK;
}

double jl_ask_krw_per_usd(const struct jl_cli *cli)
{
	return jl_given(cli, "fx") ? jl_value(cli, "fx") : jl_figure(cli->cat, "krw-per-usd");
}

const char *jl_ask_fx_date(const struct jl_cli *cli)
{
	return jl_given(cli, "fx") ? "--fx" : jl_rule_by_id(cli->cat, "krw-per-usd")->date;
}

double jl_ask_usd(struct jl_money money, const struct jl_cli *cli)
{
	return jl_money_value(money) / (money.currency == JL_KRW ? jl_ask_krw_per_usd(cli) : 1);
}

enum jl_status jl_ask_kwh(double *io_usd_per_kWh, const struct jl_cli *cli, struct jl_err *err)
{
	const char *kwh = jl_text(cli, "kwh");
	struct jl_money money;

	if (!kwh)
		return JL_OK;
	JL_TRY(jl_kwh_price_parse(&money, kwh, "--kwh", err));
	*io_usd_per_kWh = jl_ask_usd(money, cli);
	return JL_OK;
}

enum jl_status jl_ask_budget(double *io_usd, bool *io_won, const struct jl_cli *cli, struct jl_err *err)
{
	const char *budget = jl_text(cli, "budget");
	char dollars[64];
	struct jl_quantity q;
	double bare_usd;
	size_t used;

	if (!budget)
		return JL_OK;
	/* main.c warns that it was read as dollars */
	if (jl_num_parse(budget, &bare_usd, &used) == JL_NUM_OK && !budget[used]) {
		snprintf(dollars, sizeof(dollars), "%.40s USD", budget);
		budget = dollars;
	}
	JL_TRY(jl_quantity_parse(&q, budget, JL_K_MONEY, "--budget", err));
	if (!(q.value > 0 && q.value < 1e15))
		return jl_fail(err, JL_E_RANGE, "--budget: '%s' is not a budget", budget);
	*io_won = q.kind == JL_K_KRW;
	*io_usd = jl_ask_usd(jl_money_from(fmin(q.value, 3e12), *io_won ? JL_KRW : JL_USD), cli);
	return JL_OK;
}
