/* jeoul recommend: finds a machine for a purpose, a model or an observed run. */
#include <math.h>
#include <string.h>

#include "catalog/find.h"
#include "catalog/place.h"
#include "cli/ask.h"
#include "cli/view.h"
#include "recommend/answer.h"
#include "cost/option.h"

#define DEFAULT_ROWS 10

static const char *const currencies[] = { "USD", "KRW", NULL };

/* clang-format off */
const struct jl_option jl_recommend_options[] = {
	JL_O_TEXT("purpose", "NAME", JL_N("kaggle, learning, cv-research, nlp-research, pretraining, finetune-7b, finetune-70b, serve-70b, startup, cluster")),
	JL_O_TEXT("budget", "MONEY", JL_N("for all the work, e.g. \"3000 USD\", or 400만원")),
	JL_O_AMOUNT("deadline", "TIME", JL_K_TIME, JL_N("one run (serving: one token) takes at most this"), JL_TO(jl_recommend_ask, deadline_s), .above = true),
	JL_O_AMOUNT("power-limit", "POWER", JL_K_POWER, JL_N("most power that bought machines may draw from the wall, e.g. \"1500 W\""), JL_TO(jl_recommend_ask, power_W), .above = true),
	JL_O_TEXT("region", "NAME", JL_N("where to rent: seoul, korea, us, us-east-1"), JL_TO(jl_recommend_ask, region)),
	JL_O_TEXT("only", "LIST", JL_N("only these accelerators: rtx-3090,h100")),
	JL_O_TEXT("how", "LIST", JL_N("only these ways: buy,rent,spot (or buy-new, buy-used)")),
	JL_ASK_COUNT("max-gpus", JL_N("at most N GPUs"), JL_TO_INT(jl_recommend_ask, gpus_max)),
	JL_ASK_COUNT("per-machine", JL_N("exactly N GPUs in a machine"), JL_TO_INT(jl_recommend_ask, per_node)),
	JL_O_AMOUNT("runs-per-month", "N", JL_K_NUMBER, JL_N("training runs a month (default: the purpose's; a model's run is done once)"), JL_TO(jl_recommend_ask, runs_per_month), .above = true),
	JL_O_AMOUNT("months", "N", JL_K_NUMBER, JL_N("for how long (default: the purpose's; the deadline; 12)"), JL_TO(jl_recommend_ask, months), .above = true),
	JL_O_AMOUNT("max-price-age", "TIME", JL_K_TIME, JL_N("older prices are not taken (default: 365 d)"), .above = true),
	JL_O_AMOUNT("util", "SHARE", JL_K_FRACTION, JL_N("utilisation of bought machines: the work pays only its share"), JL_TO(jl_recommend_ask, util_frac), JL_WITHIN(1e-9, 1, JL_N("utilisation is above 0 % and at most 100 %"))),
	JL_O_FLAG("host-owned", JL_N("the host for bought cards is owned already: only the cards are paid"), JL_TO(jl_recommend_ask, host_owned)),
	JL_O_AMOUNT("setup", "TIME", JL_K_TIME, JL_N("set-up time of a rented machine before each run: boot, packages, data (default: 10 min)"), JL_TO(jl_recommend_ask, setup_s)),
	JL_ASK_KWH_OPTION,
	JL_O_TEXT("tariff", "NAME", JL_N("a tariff of the catalog instead: kepco-general, us-california, ... (default: that of --region)"), .apart = "kwh"),
	JL_O_CHOICE("currency", "USD|KRW", currencies, JL_N("currency of the answer (default: that of the budget, else USD)")),
	JL_O_AMOUNT("fx", "N", JL_K_NUMBER, JL_N("won for one dollar"), JL_WITHIN(1, 1e6, JL_N("must be the won for one dollar, e.g. 1400"))),
	JL_O_TEXT("why-not", "SYSTEM", JL_N("explain why this system is not the pick")),
	JL_O_COUNT("limit", "N", 1, 1000, JL_N("rows of the table (default: 10)")),
	JL_O_FLAG("lora", JL_N("train adapters on the frozen model"), .apart = "tune"),
	JL_O_FLAG("serve", JL_N("serve the model instead of training it")),
	JL_ASK_COUNT("users", JL_N("serving: users who ask, read the answer and ask again"), JL_TO(jl_recommend_ask, users), .apart = "concurrency"),
	JL_O_AMOUNT("think", "TIME", JL_K_TIME, JL_N("with --users: time between an answer and the next question (default: 20 s)"), JL_TO(jl_recommend_ask, think_s), .with = "users"),
	JL_ASK_COUNT("concurrency", JL_N("serving: requests at once (default: the purpose's; 32)"), JL_TO(jl_recommend_ask, concurrency)),
	JL_ASK_COUNT("prompt", JL_N("tokens of a question (default: 1024)"), JL_TO(jl_recommend_ask, prompt), .apart = "context"),
	JL_ASK_COUNT("answer", JL_N("tokens of an answer (default: 256)"), JL_TO(jl_recommend_ask, answer), .apart = "context"),
	JL_ASK_COUNT("context", JL_N("serving: tokens of both, a quarter of them the answer's"), JL_TO(jl_recommend_ask, context)),
	JL_O_AMOUNT("tokens-per-s", "N", JL_K_NUMBER, JL_N("serving: output tokens a second that must be reached"), JL_TO(jl_recommend_ask, tokens_per_s), .above = true),
	JL_O_TEXT("baseline", "SYSTEM", JL_N("where --observed was measured"), .with = "observed"),
	JL_ASK_OBSERVED_OPTIONS,
	JL_ASK_COUNT("global-batch", JL_N("samples of a step, all workers"), JL_TO(jl_request, global_batch)),
	JL_ASK_COUNT("micro-batch", JL_N("samples of one pass"), JL_TO(jl_request, micro_batch)),
	JL_O_CHOICE("precision", "fp32|tf32|fp16|bf16|fp8", jl_ask_precisions, JL_N("format of the matrix products; serving: of the weights"), JL_TO(jl_request, dtype)),
	JL_O_CHOICE("framework", "eager|compiled|megatron|native|unsloth", jl_ask_frameworks, JL_N("framework"), JL_TO(jl_request, framework)),
	JL_ASK_TUNE_OPTIONS,
	JL_ASK_OPTIMIZER_OPTION,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_LENGTH_OPTIONS,
	{ 0 },
};
/* Monthly consumption and power of a machine in use, for the marginal price of a tariff. */
#define TARIFF_KWH 500
#define TARIFF_KW  1

/* --tariff, otherwise the tariff of --region; regions without one keep the flat price. */
static enum jl_status read_tariff(struct jl_recommend_ask *ask, const struct jl_cli *cli, struct jl_err *err)
{
	const char *named = jl_text(cli, "tariff"), *id;
	const char *name = named ? named : ask->region ? jl_place_tariff(ask->region) : NULL;
	const struct jl_tariff_use none = { .month = 5 };
	struct jl_money month;

	if (!name)
		return JL_OK;
	JL_TRY(jl_tariff_find(&id, ask->cat, name, err));
	JL_TRY(jl_tariff_marginal(&month, ask->cat, id, &none, TARIFF_KWH * 1000LL, TARIFF_KW, err));
	ask->usd_per_kWh = jl_ask_usd(month, cli) / TARIFF_KWH;
	ask->tariff = id;
	return JL_OK;
}

static enum jl_status read_money(struct jl_recommend_ask *ask, bool *io_won, const struct jl_cli *cli,
				 struct jl_err *err)
{
	const char *currency = jl_text(cli, "currency");

	JL_TRY(jl_ask_budget(&ask->budget_usd, io_won, cli, err));
	if (currency)
		*io_won = strcmp(currency, "KRW") == 0;
	JL_TRY(jl_ask_kwh(&ask->usd_per_kWh, cli, err));
	return jl_given(cli, "kwh") ? JL_OK : read_tariff(ask, cli, err);
}

/* Parses "rtx-3090,h100": all accelerators that match a word. */
static enum jl_status read_only(struct jl_recommend_ask *ask, struct jl_cli *cli, struct jl_err *err)
{
	const char *text = jl_text(cli, "only");
	char word[JL_ITEM_MAX];

	while (text && jl_next_item(&text, word)) {
		const struct jl_gpu *found[JL_RECOMMEND_ONLY_MAX], *one;
		const size_t n = jl_find_gpus(found, JL_RECOMMEND_ONLY_MAX, cli->cat, word);

		if (n == 0)
			return jl_find_gpu(&one, cli->cat, word, err);
		if (ask->n_only + n > JL_RECOMMEND_ONLY_MAX)
			return jl_fail(err, JL_E_LIMIT, "--only: more than %d accelerators", JL_RECOMMEND_ONLY_MAX);
		for (size_t i = 0; i < n; i++)
			ask->only[ask->n_only++] = found[i];
	}
	return JL_OK;
}

static enum jl_status read_how(struct jl_recommend_ask *ask, const struct jl_cli *cli, struct jl_err *err)
{
	const char *text = jl_text(cli, "how");
	char word[JL_ITEM_MAX];

	while (text && jl_next_item(&text, word)) {
		unsigned bits = 0;

		for (int h = 0; h < JL_N_HOW; h++) {
			const char *key = jl_how_key((enum jl_how)h);

			if (strcmp(key, word) == 0 || (strcmp(word, "buy") == 0 && strncmp(key, "buy", 3) == 0))
				bits |= 1U << h;
		}
		if (!bits)
			return jl_fail(err, JL_E_USAGE, "--how '%s' is none of buy, buy-new, buy-used, rent, spot",
				       word);
		ask->hows |= bits;
	}
	return JL_OK;
}

static bool only_rents(const struct jl_recommend_ask *ask)
{
	return ask->hows && !(ask->hows & (1U << JL_HOW_NEW | 1U << JL_HOW_USED));
}

static enum jl_status read_purpose(const struct jl_purpose **ret_purpose, struct jl_recommend_ask *ask,
				   struct jl_cli *cli, struct jl_err *err)
{
	const char *name = jl_text(cli, "purpose");
	struct jl_purposes list;

	if (!name)
		return JL_OK;
	JL_TRY(jl_purposes_embedded(&list, &cli->arena, err));
	JL_TRY(jl_purpose_find(ret_purpose, &list, name, err));
	jl_recommend_purpose(ask, *ret_purpose);
	return JL_OK;
}

static enum jl_status check_options(const struct jl_recommend_ask *ask, const struct jl_cli *cli, struct jl_err *err)
{
	const bool serves = ask->task == JL_TASK_SERVE;
	const struct jl_idle rules[] = {
		{ .when = !serves, .options = "users concurrency prompt answer context tokens-per-s", .with = "--serve" },
		{ .when = serves,
		  .options = "lora tune global-batch micro-batch framework optimizer mean-seq seq samples tokens "
			     "steps-per-epoch epochs runs-per-month",
		  .beside = JL_N("serving") },
		{ .when = ask->seen,
		  .options = "lora tune global-batch micro-batch framework optimizer mean-seq seq tokens layers gmacs",
		  .beside = "--observed" },
	};

	return jl_check_idle(cli, rules, JL_LEN(rules), err);
}

static enum jl_status read_work(struct jl_recommend_ask *ask, const struct jl_purpose **ret_purpose, struct jl_cli *cli,
				struct jl_err *err)
{
	struct jl_observed *run = jl_arena_alloc(&cli->arena, sizeof(*run));
	struct jl_machine *base = jl_arena_alloc(&cli->arena, sizeof(*base));
	const bool observed = jl_given(cli, "observed") != NULL;

	JL_TRY(jl_ask_request(&ask->run, cli, err));
	JL_TRY(jl_got(run && base, err));
	if (observed && cli->args.n_operands)
		return jl_fail(err, JL_E_USAGE, "a model or an observed run, not both: leave '%s' or --observed out",
			       cli->args.operands[0]);
	if (observed) {
		JL_TRY(jl_ask_observed_on(run, base, cli, err));
		ask->seen = run;
		ask->seen_on = base;
		ask->seen_epochs = isnan(ask->run.epochs) ? 1 : ask->run.epochs;
	}
	if (!jl_given(cli, "purpose") && !observed && !cli->args.n_operands && !jl_given(cli, "layers"))
		return jl_fail(err, JL_E_USAGE,
			       "name a purpose or a model, e.g. --purpose kaggle, or llama-2-7b --tokens 1000000000");
	JL_TRY(read_purpose(ret_purpose, ask, cli, err));
	if (jl_flag(cli, "serve"))
		ask->task = JL_TASK_SERVE;
	else if (ask->task != JL_TASK_SERVE &&
		 (jl_flag(cli, "lora") || (ask->run.tune != JL_UNSET && ask->run.tune != JL_TUNE_FULL)))
		ask->task = JL_TASK_LORA;
	JL_TRY(check_options(ask, cli, err));
	jl_recommend_defaults(ask);
	return JL_OK;
}

static enum jl_status find_why_not(struct jl_recommended *answer, const struct jl_sys *sys, struct jl_err *err)
{
	answer->why_not = sys->text ? jl_recommend_find(answer->found, sys) : -1;
	if (!sys->text || answer->why_not >= 0)
		return JL_OK;
	if (sys->system && sys->gpu && sys->n_nodes == 1)
		return jl_fail(err, JL_E_NOTFOUND,
			       "--why-not %s: hosts are priced by their GPUs: write --why-not \"%dx %s\"", sys->text,
			       sys->n_per_node, sys->gpu->id);
	return jl_fail(err, JL_E_NOTFOUND,
		       "--why-not %s: the catalog has no price of it in this number; 'jeoul catalog prices --gpu "
		       "%s' has what there is",
		       sys->text, sys->gpu ? sys->gpu->id : sys->text);
}

enum jl_status jl_cmd_recommend(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_recommend_ask *ask = jl_arena_alloc(&cli->arena, sizeof(*ask));
	bool won = false;
	struct jl_recommended answer = { .ask = ask, .krw_per_usd = NAN, .why_not = -1 };
	struct jl_recommendation result;
	struct jl_sys why_not = { .text = NULL };

	JL_TRY(jl_got(ask, err));
	*ask = jl_recommend_ask_empty();
	ask->cat = cli->cat;
	ask->today = cli->today;
	JL_READ(ask, jl_recommend_ask, cli);
	if (jl_given(cli, "max-price-age"))
		ask->rent_days_max = lround(fmin(jl_value(cli, "max-price-age") / 86400, 1e6));
	JL_TRY(read_money(ask, &won, cli, err));
	JL_TRY(read_only(ask, cli, err));
	JL_TRY(read_how(ask, cli, err));
	if (ask->region)
		JL_TRY(jl_cost_check_region(cli->cat, ask->region, only_rents(ask), err));
	JL_TRY(read_work(ask, &answer.purpose, cli, err));
	ask->pue = isnan(ask->run.pue) ? 1 : ask->run.pue;
	if (won)
		answer.krw_per_usd = jl_ask_krw_per_usd(cli);
	if (jl_given(cli, "why-not"))
		JL_TRY(jl_sys_parse(&why_not, cli->cat, jl_text(cli, "why-not"), &cli->arena, err));
	ask->why_not = why_not.gpu;
	JL_TRY(jl_recommend_run(&result, ask, &cli->arena, err));
	answer.found = &result;
	answer.assumed_kwh = !jl_given(cli, "kwh");
	answer.fx = jl_ask_krw_per_usd(cli);
	answer.fx_date = jl_ask_fx_date(cli);
	answer.limit = (int)jl_whole(cli, "limit", DEFAULT_ROWS);
	JL_TRY(find_why_not(&answer, &why_not, err));
	JL_TRY(jl_recommend_answer(&answer, &cli->arena, err));
	cli->exit_code = result.pick < 0 ? 3 : cli->exit_code;
	JL_ANSWER(cli, err, &jl_recommend_fields, &answer, jl_show_recommended(&doc, &answer));
}
