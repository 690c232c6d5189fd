/* jeoul plan: finds the best plan for a training step over parallelism, batches, kinds and numbers of GPUs. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/progress.h"
#include "cli/ask.h"
#include "cli/view.h"
#include "comm/comm.h"
#include "plan/answer.h"

static const char *const precisions[] = { "fp32", "tf32", "fp16", "bf16", "fp8", "any", NULL };
static const char *const frameworks[] = { "eager", "compiled", "megatron", "native", "any", NULL };
static const char *const targets[] = { "megatron", "deepspeed", "torchtitan", "trl", "all", NULL };

/* clang-format off */
const struct jl_option jl_plan_options[] = {
	JL_O_TEXT("on", "SYSTEM", JL_N("the system; several with --batch-limit"), .many = true, JL_TO(jl_request, system)),
	JL_ASK_COUNT("global-batch", JL_N("samples of a step, all workers"), JL_TO(jl_request, global_batch)),
	JL_O_CHOICE("objective", "time|cost|energy|tokens-per-usd", jl_plan_objectives, JL_N("objective (default: time)"), JL_TO(jl_plan_ask, objective)),
	JL_O_AMOUNT("memory-margin", "SHARE", JL_K_FRACTION, JL_N("device memory to keep free (default: 6%)"), JL_WITHIN(0, 0.999, JL_N("must be a share from 0 to below 1, e.g. 6%"))),
	JL_O_TEXT("fix", "LIST", JL_N("fixed settings: tp=8,zero=1,recompute=full,..."), .many = true),
	JL_O_TEXT("forbid", "LIST", JL_N("excluded settings: offload,recompute,fp8,pp,..."), .many = true),
	JL_O_TEXT("gpus", "8..4096", JL_N("numbers of GPUs: a range, or 8,16,32")),
	JL_O_TEXT("kinds", "LIST", JL_N("kinds of GPU or host: h100-sxm5,h200-sxm"), .with = "gpus", .apart = "on"),
	JL_O_AMOUNT("deadline", "TIME", JL_K_TIME, JL_N("the run must end within it, e.g. 30d")),
	JL_O_AMOUNT("budget", "USD", JL_K_USD, JL_N("what the run may cost, e.g. 2MUSD")),
	JL_O_FLAG("batch-limit", JL_N("largest batch that fits, and the fastest, of each --on")),
	JL_O_COUNT("best", "N", 1, JL_PLAN_BEST_MAX, JL_N("how many plans to show (default: 5)"), JL_TO_INT(jl_plan_ask, n_best)),
	JL_O_CHOICE("settings", "megatron|deepspeed|torchtitan|trl|all", targets, JL_N("print only the settings of the best plan")),
	JL_O_CHOICE("precision", "fp32|tf32|fp16|bf16|fp8|any", precisions, JL_N("number format (default: as predict chooses it; any: search all)")),
	JL_O_CHOICE("framework", "eager|compiled|megatron|native|any", frameworks, JL_N("framework (default: eager, or Megatron with model parallelism; any: search all)")),
	JL_O_CHOICE("flash", "yes|no", jl_ask_yes_no, JL_N("flash attention"), JL_TO(jl_request, flash)),
	JL_ASK_TUNE_OPTIONS,
	JL_ASK_OPTIMIZER_OPTION,
	JL_O_COUNT("threads", "N", 1, 256, JL_N("threads of the search (default: all processors)"), JL_TO_INT(jl_plan_ask, n_threads)),
	JL_O_FLAG("no-prune", JL_N("evaluate every way that fits; the answer is the same"), JL_TO(jl_plan_ask, no_prune)),
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_LENGTH_OPTIONS,
	{ 0 },
};
/* clang-format on */

#define SEARCH_FRAC 0.75 /* share of the command's remaining time for the search; the rest is for the answer */

/* Ctrl-C ends the search; results so far are printed. */
static struct jl_budget *_Atomic interrupts;

static void on_interrupt(int signal_number)
{
	struct jl_budget *const search = interrupts;

	(void)signal_number;
	if (search)
		jl_budget_cancel(search);
}

static void begin_search(struct jl_budget *search)
{
	struct jl_budget *const whole = jl_budget_current();
	const double left_s = whole ? whole->until_s - jl_clock_s() : INFINITY;

	jl_budget_init(search, 0, isfinite(left_s) ? fmax(SEARCH_FRAC * left_s, 1e-3) : 0);
	search->outer = whole;
}

struct display {
	struct jl_cli *cli;
	struct jl_progress progress;
	char label[96];
	bool begun;
	double fleet_done, fleet_total; /* number of searches; total 0: a single one */
};

static void show(void *ctx, const struct jl_plan_progress *at)
{
	struct display *d = ctx;
	const bool fleet = d->fleet_total > 0;
	const double share = at->total > 0 ? at->done / at->total : 0;

	if (!d->begun)
		jl_view_progress(d->cli, &d->progress, d->label, fleet ? d->fleet_total : at->total, true);
	d->begun = true;
	if (!d->progress.options.on)
		return;
	if (at->top && at->top->n && !fleet)
		jl_format(d->label, sizeof(d->label), JL_("best so far %s"),
			  jl_units_text(JL_TXT, at->top->best[0].step_s, JL_K_TIME, 3));
	jl_progress_update(&d->progress, fleet ? d->fleet_done + share : at->done, jl_clock_s());
}

static bool next_point(void *ctx, size_t i, size_t n, const char *kind, int n_gpus)
{
	struct display *d = ctx;

	d->fleet_done = (double)i;
	d->fleet_total = (double)n;
	snprintf(d->label, sizeof(d->label), "%d x %.60s", n_gpus, kind);
	return true; /* an interrupt ends the search in the same round on all ranks */
}

static enum jl_status read_ask(struct jl_plan_ask *ask, struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_given *margin = jl_given(cli, "memory-margin");
	enum jl_status status = JL_OK;

	*ask = (struct jl_plan_ask){ .memory_frac = 1 - (margin ? margin->value : JL_MEMORY_MARGIN_FRAC),
				     .n_best = 5,
				     .mark_value = NAN,
				     .gpu_usdps = NAN };
	JL_READ(ask, jl_plan_ask, cli);
	for (size_t i = 0; !status && i < cli->args.n_given; i++) {
		const struct jl_given *given = &cli->args.given[i];

		if (strcmp(given->option->name, "fix") == 0)
			status = jl_plan_fix(&ask->narrow, given->text, err);
		else if (strcmp(given->option->name, "forbid") == 0)
			status = jl_plan_forbid(&ask->narrow, given->text, err);
	}
	return status ? status : jl_plan_agree(&ask->narrow, err);
}

static bool says_any(struct jl_cli *cli, const char *name)
{
	const char *text = jl_text(cli, name);

	return text && strcmp(text, "any") == 0;
}

static enum jl_status unnamed(struct jl_err *err)
{
	return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on \"8x dgx-h100\", or --gpus and --kinds");
}

static enum jl_status read_machine(struct jl_machine *ret_machine, struct jl_cli *cli, const char *text,
				   struct jl_err *err)
{
	struct jl_sys sys;
	enum jl_status status;

	if (!text)
		return unnamed(err);
	status = jl_sys_parse(&sys, cli->cat, text, &cli->arena, err);
	return status ? status : jl_machine_make(ret_machine, cli->cat, &sys, err);
}

/* --- one system */

/* Prints only the settings, for pasting. */
static enum jl_status print_settings(struct jl_cli *cli, const struct jl_plan_answer *a, const char *name,
				     struct jl_err *err)
{
	if (!a->n)
		return jl_fail(err, JL_E_RANGE, "no plan fits; without --settings the nearest one is shown");
	for (int i = 0; i < JL_N_PLAN_TARGET; i++) {
		const struct jl_plan_setting *setting = &a->plans[0].settings[i];
		const bool all = strcmp(name, "all") == 0;

		if (!all && strcmp(targets[i], name) != 0)
			continue;
		if (all)
			jl_buf_printf(&cli->out, "%s# %s\n", i ? "\n" : "", targets[i]);
		if (setting->text)
			jl_buf_puts(&cli->out, setting->text);
		else
			jl_buf_printf(&cli->out, "# %s: %s\n", jl_plan_target_title((enum jl_plan_target)i),
				      jl_msg(setting->absent));
	}
	return JL_OK;
}

static enum jl_status print_answer(struct jl_cli *cli, const struct jl_plan_answer *a, struct jl_err *err)
{
	const char *settings = jl_text(cli, "settings");
	struct jl_doc doc;

	if (a->effort.stopped)
		cli->exit_code = 130; /* exit code of a program ended by Ctrl-C */
	else if (!a->n || !a->in_time || !a->in_budget)
		cli->exit_code = 3;
	if (cli->json)
		return jl_view_fields(cli, &jl_plan_fields, a);
	if (settings)
		return print_settings(cli, a, settings, err);
	jl_view_page(cli, &doc);
	jl_show_plan(&doc, a, cli->today);
	return jl_view_show(cli, &doc, err);
}

static enum jl_status plan_one(struct jl_cli *cli, const struct jl_request *req, const struct jl_subject *subject,
			       struct jl_plan_ask *ask, struct display *display, struct jl_err *err)
{
	struct jl_plan_site *site = jl_arena_alloc(&cli->arena, sizeof(*site));
	struct jl_plan_result result;
	struct jl_machine machine;
	struct jl_plan_answer answer = { .ask = ask,
					 .result = &result,
					 .batch_given = !isnan(req->global_batch),
					 .deadline_s = jl_value(cli, "deadline"),
					 .budget_usd = jl_value(cli, "budget") };
	enum jl_status status = JL_OK;

	JL_TRY(site ? read_machine(&machine, cli, req->system, err) : jl_fail_nomem(err));
	JL_TRY(jl_plan_site_make(site, cli->cat, req, subject, &machine, err));
	site->any_format = says_any(cli, "precision");
	site->any_framework = says_any(cli, "framework");
	ask->site = site;
	ask->gpu_usdps = jl_rent_find(cli->cat, &machine.sys).usdps;
	if (isnan(ask->gpu_usdps) && (ask->objective == JL_PLAN_COST || ask->objective == JL_PLAN_TOKENS_PER_USD))
		return jl_fail(err, JL_E_NOTFOUND, "no rent is known for %s; take --objective time or energy",
			       req->system);
	if (isnan(ask->gpu_usdps) && !isnan(answer.budget_usd))
		return jl_fail(err, JL_E_NOTFOUND,
			       "no rent is known for %s, so --budget cannot be judged; leave it out", req->system);
	status = jl_plan_search(&result, ask, err);
	jl_progress_clear(&display->progress);
	JL_THEN(status, jl_plan_answer_make(&answer, cli->cat, &cli->arena, err));
	return status ? status : print_answer(cli, &answer, err);
}

/* --- kinds and numbers of GPUs */

static enum jl_status read_kinds(struct jl_fleet_ask *fleet, struct jl_cli *cli, const char *text, struct jl_err *err)
{
	char kind[JL_ITEM_MAX];

	while (text && jl_next_item(&text, kind)) {
		if (fleet->n_kinds == JL_FLEET_KINDS_MAX)
			return jl_fail(err, JL_E_LIMIT, "--kinds: more than %d", JL_FLEET_KINDS_MAX);
		fleet->kinds[fleet->n_kinds] = jl_arena_strdup(&cli->arena, kind);
		JL_TRY(jl_got(fleet->kinds[fleet->n_kinds++], err));
	}
	return JL_OK;
}

static enum jl_status plan_fleet(struct jl_cli *cli, struct jl_request *req, const struct jl_subject *subject,
				 const struct jl_plan_ask *ask, struct display *display, struct jl_err *err)
{
	struct jl_fleet_ask fleet_ask = { .cat = cli->cat,
					  .req = req,
					  .subject = subject,
					  .plan = *ask,
					  .deadline_s = jl_value(cli, "deadline"),
					  .budget_usd = jl_value(cli, "budget"),
					  .any_format = says_any(cli, "precision"),
					  .any_framework = says_any(cli, "framework"),
					  .next = next_point,
					  .next_ctx = display };
	struct jl_fleet fleet;
	struct jl_fleet_answer answer = { .ask = &fleet_ask, .fleet = &fleet };
	enum jl_status status = read_kinds(&fleet_ask, cli, jl_text(cli, "kinds"), err);

	if (!status && !fleet_ask.n_kinds && !req->system)
		status = unnamed(err);
	JL_THEN(status, jl_fleet_sizes(&fleet_ask, jl_text(cli, "gpus"), err));
	JL_THEN(status, jl_fleet_batch(&req->global_batch, &fleet_ask, &cli->arena, err));
	JL_THEN(status, jl_fleet_search(&fleet, &fleet_ask, &cli->arena, err));
	jl_progress_clear(&display->progress);
	if (status)
		return status;
	cli->exit_code = fleet.stopped ? 130 : fleet.cheapest < 0 && fleet.fastest < 0 ? 3 : 0;
	answer.effort = (struct jl_plan_effort){ fleet.tally, fleet.search_s, fleet.stopped };
	JL_ANSWER(cli, err, &jl_fleet_fields, &answer, jl_show_fleet(&doc, &answer, cli->today));
}

/* --- largest and fastest batch */

#define SYSTEMS_MAX 64

static enum jl_status batch_rows(struct jl_cli *cli, const struct jl_request *req, const struct jl_subject *subject,
				 const struct jl_plan_ask *ask, struct jl_batch_row *rows, size_t *ret_n,
				 struct jl_err *err)
{
	struct jl_plan_site *site = jl_arena_alloc(&cli->arena, sizeof(*site));
	enum jl_status status = site ? JL_OK : jl_fail_nomem(err);

	*ret_n = 0;
	for (const struct jl_given *g = NULL; !status && (g = jl_given_next(cli, "on", g));) {
		struct jl_machine machine = { 0 };

		if (*ret_n == SYSTEMS_MAX)
			return jl_fail(err, JL_E_LIMIT, "more than %d systems", SYSTEMS_MAX);
		JL_TRY(read_machine(&machine, cli, g->text, err));
		JL_TRY(jl_plan_site_make(site, cli->cat, req, subject, &machine, err));
		rows[*ret_n].system = machine.sys.text;
		jl_plan_batch_limit(&rows[*ret_n].limit, &(struct jl_batch_ask){ .cat = cli->cat,
										 .site = site,
										 .narrow = &ask->narrow,
										 .memory_frac = ask->memory_frac });
		(*ret_n)++;
	}
	if (!status && *ret_n == 0)
		return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on rtx-4090 --on h200-sxm");
	return status;
}

static enum jl_status plan_batches(struct jl_cli *cli, const struct jl_request *req, const struct jl_subject *subject,
				   const struct jl_plan_ask *ask, struct jl_err *err)
{
	struct jl_batch_answer answer = { .subject = subject,
					  .memory_frac = ask->memory_frac,
					  .rows = jl_arena_array(&cli->arena, SYSTEMS_MAX, sizeof(*answer.rows)) };

	JL_TRY(answer.rows ? batch_rows(cli, req, subject, ask, answer.rows, &answer.n, err) : jl_fail_nomem(err));
	JL_ANSWER(cli, err, &jl_batch_fields, &answer, jl_show_batches(&doc, &answer));
}

/* --- with mpirun */

static enum jl_status gather(void *ctx, const void *mine, size_t size_B, void *ret_all, struct jl_err *err)
{
	return jl_comm_share(ctx, mine, ret_all, size_B, err);
}

/* Joins the ranks, which share the search space; ranks of a host share its processors. *ret_comm NULL: a single process. */
static enum jl_status join_team(struct jl_comm **ret_comm, struct jl_plan_team *team, struct jl_plan_ask *ask,
				struct jl_err *err)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);

	*ret_comm = NULL;
	if (!jl_comm_mpi_wanted())
		return JL_OK;
	JL_TRY(jl_comm_mpi(ret_comm, err));
	*team = (struct jl_plan_team){
		.rank = (*ret_comm)->rank, .n = (*ret_comm)->n_ranks, .gather = gather, .ctx = *ret_comm
	};
	ask->team = team;
	if (ask->n_threads == 0 && (*ret_comm)->n_local > 0)
		ask->n_threads = cores / (*ret_comm)->n_local > 1 ? (int)(cores / (*ret_comm)->n_local) : 1;
	return JL_OK;
}

/* Rejects --deadline and --budget for a run of unknown length. */
static enum jl_status check_limits(const struct jl_cli *cli, const struct jl_request *req, struct jl_err *err)
{
	const bool length = !isnan(req->tokens) || !isnan(req->samples) || !isnan(req->steps_per_epoch);

	if (!jl_given(cli, "deadline") && !jl_given(cli, "budget"))
		return JL_OK;
	if (!length)
		return jl_fail(err, JL_E_USAGE,
			       "--deadline and --budget apply to a whole run: give its length with --tokens");
	return JL_OK;
}

enum jl_status jl_cmd_plan(struct jl_cli *cli, struct jl_err *err)
{
	struct display display = { .cli = cli };
	struct jl_request req;
	struct jl_subject subject;
	struct jl_plan_ask ask;
	struct jl_plan_team team;
	struct jl_budget search;
	struct jl_comm *comm = NULL;
	struct sigaction action = { .sa_handler = on_interrupt }, before;
	const bool batches = jl_flag(cli, "batch-limit"), fleet = jl_given(cli, "gpus") || jl_given(cli, "kinds");
	const struct jl_idle of_search = { .when = batches,
					   .options = "global-batch objective gpus kinds deadline budget best settings "
						      "threads no-prune",
					   .beside = "--batch-limit" };
	enum jl_status status = jl_check_idle(cli, &of_search, 1, err);

	JL_THEN(status, jl_ask_request(&req, cli, err));
	if (status)
		return status;
	req.dtype = jl_chosen(cli, "precision", jl_ask_precisions); /* unset or "any" */
	req.framework = jl_chosen(cli, "framework", jl_ask_frameworks);
	jl_format(display.label, sizeof(display.label), "%s", JL_("searching"));
	JL_THEN(status, read_ask(&ask, cli, err));
	JL_THEN(status, check_limits(cli, &req, err));
	JL_THEN(status, jl_subject_find(&subject, cli->cat, &req, &cli->arena, err));
	if (status)
		return status;
	if (!batches && jl_given_next(cli, "on", NULL) != jl_given(cli, "on"))
		return jl_fail(err, JL_E_USAGE,
			       "one --on at a time; several only with --batch-limit, kinds with --kinds");
	if (batches)
		return plan_batches(cli, &req, &subject, &ask, err);
	if (!cli->asked)
		JL_TRY(join_team(&comm, &team, &ask, err));
	if (!comm || comm->rank == 0) {
		ask.progress = cli->asked ? NULL : show;
		ask.progress_ctx = &display;
	}
	begin_search(&search);
	ask.budget = &search;
	if (!cli->asked) {
		interrupts = &search;
		sigaction(SIGINT, &action, &before);
	}
	status = fleet ? plan_fleet(cli, &req, &subject, &ask, &display, err)
		       : plan_one(cli, &req, &subject, &ask, &display, err);
	if (!cli->asked) {
		sigaction(SIGINT, &before, NULL);
		interrupts = NULL;
	}
	cli->cut = atomic_load(&search.end) != JL_BUDGET_OPEN;
	if (comm && comm->rank > 0) /* only rank 0 prints */
		jl_buf_reset(&cli->out);
	jl_comm_destroy(comm);
	return status;
}
