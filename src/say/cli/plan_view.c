#include "cli/plan_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const char *const jl_plan_objectives[] = { "time", "cost", "energy", "tokens-per-usd", NULL };

static const char *const target_titles[JL_N_PLAN_TARGET] = { [JL_PLAN_MEGATRON] = "Megatron-LM",
							     [JL_PLAN_DEEPSPEED] = "DeepSpeed",
							     [JL_PLAN_TORCHTITAN] = "PyTorch FSDP (torchtitan)" };

static double gib(double bytes)
{
	return bytes / 1073741824.0;
}

static const char *count(char out[JL_UNITS_TEXT_MAX], long long n)
{
	return jl_view_value(out, (double)n, JL_K_NUMBER, false);
}

void jl_view_searched(struct jl_cli *cli, const struct jl_plan_tally *t, double search_s, bool stopped)
{
	char all[JL_UNITS_TEXT_MAX], evaluated[JL_UNITS_TEXT_MAX], memory[JL_UNITS_TEXT_MAX], slower[JL_UNITS_TEXT_MAX];
	char shape[JL_UNITS_TEXT_MAX], time[JL_UNITS_TEXT_MAX], framework[JL_UNITS_TEXT_MAX];

	jl_view_entry(
		cli, "Searched",
		JL_("%s%s ways in %s: %s evaluated; rejected: %s for memory, %s by a bound on their time, %s that no "
		    "framework runs, %s that do not divide"),
		stopped ? JL_("stopped after ") : "", count(all, jl_plan_n_configurations(t)),
		jl_units_text(time, search_s, JL_K_TIME, 2), count(evaluated, t->n_evaluated),
		count(memory, t->n_memory + t->n_host), count(slower, t->n_slower), count(framework, t->n_framework),
		count(shape, t->n_shape));
}

void jl_view_searched_json(struct jl_json *json, const struct jl_plan_tally *t, double search_s, bool stopped)
{
	const long long n = jl_plan_n_configurations(t);

	jl_json_put_integer(json, "n_configurations", n);
	jl_json_put_integer(json, "n_evaluated", t->n_evaluated);
	jl_json_put_object(json, "n_rejected");
	jl_json_put_integer(json, "memory", t->n_memory);
	jl_json_put_integer(json, "host_memory", t->n_host);
	jl_json_put_integer(json, "framework", t->n_framework);
	jl_json_put_integer(json, "slower", t->n_slower);
	jl_json_put_integer(json, "shape", t->n_shape);
	jl_json_end_object(json);
	jl_json_put_number(json, "search_s", search_s);
	jl_json_put_number(json, "configurations_per_s", (double)n / search_s);
	jl_json_put_bool(json, "complete", !stopped);
}

void jl_view_settings(struct jl_cli *cli, const struct jl_case *c, enum jl_plan_target target, size_t indent)
{
	const struct jl_plan_reason absent = jl_plan_settings_absent(target, c);
	struct jl_buf text;
	const char *line;

	if (absent.en) {
		jl_buf_pad(&cli->out, ' ', indent);
		jl_buf_printf(&cli->out, "# %s: %s\n", target_titles[target], jl_msg(absent.en));
		return;
	}
	jl_buf_init(&text, 65536);
	jl_plan_settings(&text, target, c);
	line = jl_buf_text(&text);
	while (*line) {
		const size_t len = strcspn(line, "\n");

		if (len) {
			jl_buf_pad(&cli->out, ' ', indent);
			jl_buf_add(&cli->out, line, len);
		}
		jl_buf_putc(&cli->out, '\n');
		line += len + (line[len] == '\n');
	}
	jl_buf_release(&text);
}

void jl_view_settings_json(struct jl_json *json, const struct jl_case *c)
{
	jl_json_put_object(json, "settings");
	for (int i = 0; i < JL_N_PLAN_TARGET; i++) {
		const enum jl_plan_target target = (enum jl_plan_target)i;
		const struct jl_plan_reason absent = jl_plan_settings_absent(target, c);
		struct jl_buf text;

		jl_json_put_object(json, jl_plan_target_name(target));
		if (absent.en) {
			jl_json_put_string(json, "absent", absent.en);
		} else {
			jl_buf_init(&text, 65536);
			jl_plan_settings(&text, target, c);
			jl_json_put_string(json, "text", jl_buf_text(&text));
			jl_buf_release(&text);
		}
		jl_json_end_object(json);
	}
	jl_json_end_object(json);
}

/* Columns of the table of plans; those that say nothing (all 1, all none, all the same) are left out. */
enum column {
	C_RANK,
	C_VALUE,
	C_TP,
	C_PP,
	C_CP,
	C_EP,
	C_DP,
	C_MICRO,
	C_ZERO,
	C_RECOMPUTE,
	C_OFFLOAD,
	C_FORMAT,
	C_MEMORY,
	N_COLUMN
};

static void offload_cell(struct jl_table *table, unsigned offload)
{
	jl_table_printf(table, "%s%s%s%s", offload ? "" : "–", offload & JL_OFFLOAD_OPTIMIZER ? "o" : "",
			offload & JL_OFFLOAD_PARAMS ? "w" : "", offload & JL_OFFLOAD_ACTIVATIONS ? "a" : "");
}

static void setting_cell(struct jl_table *table, const struct jl_case *c, enum column column)
{
	const struct jl_plan *p = &c->plan;
	const char *const recomputes[JL_N_RECOMPUTE] = { "–", JL_("some"), JL_("full") };

	switch (column) {
	case C_TP: jl_table_printf(table, "%.0f%s", p->tp, p->tp_async ? " so" : p->sp ? " s" : ""); break;
	case C_PP:
		if (p->n_chunks > 1)
			jl_table_printf(table, "%.0f×%.0f", p->pp, p->n_chunks);
		else
			jl_table_printf(table, "%.0f", p->pp);
		break;
	case C_CP: jl_table_printf(table, "%.0f", p->cp); break;
	case C_EP: jl_table_printf(table, "%.0f", p->ep); break;
	case C_DP: jl_table_printf(table, "%.0f", p->dp); break;
	case C_MICRO: jl_table_printf(table, "%.0f", c->shard.micro_batch); break;
	case C_ZERO:
		jl_table_printf(table, "%d%s%s", p->zero, p->shard > 0 ? "h" : "", p->keep_gathered ? "k" : "");
		break;
	case C_RECOMPUTE: jl_table_cell(table, recomputes[p->recompute]); break;
	case C_OFFLOAD: offload_cell(table, p->offload); break;
	default: jl_table_cell(table, jl_dtype_name(c->shard.dtype));
	}
}

/* Does a column tell the plans apart, or anything at all? */
static bool is_told(const struct jl_plan_answer *a, enum column column)
{
	for (int i = 0; i < a->result->top.n; i++) {
		const struct jl_case *c = &a->how[i];

		if ((column == C_CP && c->plan.cp > 1) || (column == C_EP && c->plan.ep > 1) ||
		    (column == C_OFFLOAD && c->plan.offload) || (column == C_RECOMPUTE && c->plan.recompute) ||
		    (column == C_FORMAT && c->shard.dtype != a->how[0].shard.dtype))
			return true;
	}
	return column != C_CP && column != C_EP && column != C_OFFLOAD && column != C_RECOMPUTE && column != C_FORMAT;
}

/* What the search minimised, as a person reads it. */
static void value_cell(struct jl_table *table, const struct jl_plan_answer *a, int i)
{
	const struct jl_prediction *p = &a->prediction[i];
	char text[JL_RANGE_TEXT_MAX], about[JL_UNITS_TEXT_MAX];
	const double tokens = a->how[i].global_batch * a->how[i].shard.seq;

	switch (a->ask->objective) {
	case JL_PLAN_COST: jl_table_cell(table, jl_estimate_text(text, &p->cost_usd, JL_K_USD)); break;
	case JL_PLAN_ENERGY: jl_table_cell(table, jl_estimate_text(text, &p->energy_J, JL_K_ENERGY)); break;
	case JL_PLAN_TOKENS_PER_USD:
		jl_table_printf(table, "%s/USD", jl_about_text(about, tokens / a->result->top.best[i].value));
		break;
	default: jl_table_cell(table, jl_estimate_text(text, &p->step_s, JL_K_TIME));
	}
}

/* Inside the winner's interval, nobody can say that it is worse. */
static bool is_tied(const struct jl_plan_answer *a, int i)
{
	const struct jl_prediction *p = &a->prediction[0];
	const struct jl_estimate *e = a->ask->objective == JL_PLAN_ENERGY ? &p->energy_J : &p->step_s;

	return a->result->top.best[i].value <= a->result->top.best[0].value * e->hi / e->value;
}

static enum jl_status plans_table(struct jl_cli *cli, const struct jl_plan_answer *a, struct jl_err *err)
{
	const char *const values[JL_N_PLAN_OBJECTIVE] = { JL_("step"), JL_("cost"), JL_("energy"), JL_("tokens") };
	const struct jl_table_column all[N_COLUMN] = {
		[C_RANK] = { .head = "", .align = JL_RIGHT },
		[C_VALUE] = { .head = values[a->ask->objective] },
		[C_TP] = { .head = "TP" },
		[C_PP] = { .head = "PP", .align = JL_RIGHT },
		[C_CP] = { .head = "CP", .align = JL_RIGHT },
		[C_EP] = { .head = "EP", .align = JL_RIGHT },
		[C_DP] = { .head = "DP", .align = JL_RIGHT },
		[C_MICRO] = { .head = JL_("micro"), .align = JL_RIGHT },
		[C_ZERO] = { .head = "ZeRO" },
		[C_RECOMPUTE] = { .head = JL_("recomp.") },
		[C_OFFLOAD] = { .head = JL_("offl.") },
		[C_FORMAT] = { .head = JL_("form.") },
		[C_MEMORY] = { .head = "GiB", .align = JL_RIGHT },
	};
	struct jl_table_column columns[N_COLUMN];
	struct jl_table table;
	size_t n = 0;

	for (int k = 0; k < N_COLUMN; k++)
		if (is_told(a, (enum column)k))
			columns[n++] = all[k];
	jl_table_init(&table, &cli->arena, columns, n);
	for (int i = 0; i < a->result->top.n; i++) {
		jl_table_printf(&table, "%s%d", is_tied(a, i) && i ? "≈ " : "", i + 1);
		value_cell(&table, a, i);
		for (int k = C_TP; k < C_MEMORY; k++)
			if (is_told(a, (enum column)k))
				setting_cell(&table, &a->how[i], (enum column)k);
		jl_table_printf(&table, "%.0f", gib(a->prediction[i].memory.total_B));
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void tied_line(struct jl_cli *cli, const struct jl_plan_answer *a)
{
	int n = 0;

	for (int i = 1; i < a->result->top.n; i++)
		n += is_tied(a, i);
	if (n)
		jl_view_entry(cli, "Sure?", JL_("%d of the others (≈) lie inside the interval of plan 1: try them too"),
			      n);
	else if (a->result->top.n > 1)
		jl_view_entry(cli, "Sure?", "%s", JL_("no other plan lies inside the interval of plan 1"));
}

/* The best plan that is of another kind than the winner: other parallelisms, not other degrees. 0: none shown. */
static int other_kind(const struct jl_plan_answer *a)
{
	const struct jl_plan *first = &a->how[0].plan;

	for (int i = 1; i < a->result->top.n; i++) {
		const struct jl_plan *p = &a->how[i].plan;

		if ((p->tp > 1) != (first->tp > 1) || (p->pp > 1) != (first->pp > 1) ||
		    (p->cp > 1) != (first->cp > 1) || (p->ep > 1) != (first->ep > 1) ||
		    (p->zero == 3) != (first->zero == 3))
			return i;
	}
	return a->result->top.n > 1;
}

/* The part that differs most from `second`, of those where the first is shorter (sign 1) or longer (-1). */
static size_t part_apart(const struct jl_step_cost *first, const struct jl_step_cost *second, double sign,
			 unsigned done)
{
	const double least_s = 0.002 * first->step_s;
	size_t best = JL_N_PART;
	double most_s = least_s;

	for (size_t i = 0; i < JL_N_PART; i++) {
		const double less_s = sign * (jl_part_s(second, i) - jl_part_s(first, i));

		if (!(done >> i & 1) && less_s > most_s) {
			most_s = less_s;
			best = i;
		}
	}
	return best;
}

/* Against the next plan of another kind: two parts of a step that shrink, and one that grows for it. */
static void why_line(struct jl_cli *cli, const struct jl_plan_answer *a)
{
	static const double signs[] = { 1, 1, -1 };
	const int other = other_kind(a);
	const struct jl_step_cost *first = &a->prediction[0].step, *second = &a->prediction[other].step;
	char text[256] = "", time[JL_UNITS_TEXT_MAX];
	size_t len = 0;
	unsigned done = 0;

	if (!other)
		return;
	for (size_t n = 0; n < sizeof(signs) / sizeof(*signs); n++) {
		const size_t i = part_apart(first, second, signs[n], done);

		if (i == JL_N_PART || len >= sizeof(text))
			continue;
		done |= 1u << i;
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s%s %s%s", len ? ", " : "", jl_msg(jl_parts[i].en),
			signs[n] > 0 ? "−" : "+",
			jl_units_text(time, fabs(jl_part_s(first, i) - jl_part_s(second, i)), JL_K_TIME, 2));
	}
	if (len)
		jl_view_entry(cli, "Why", JL_("against plan %d: %s"), other + 1, text);
	else
		jl_view_entry(cli, "Why", JL_("plan %d differs by less than it can be known"), other + 1);
}

static void no_plan(struct jl_cli *cli, const struct jl_plan_answer *a)
{
	const struct jl_plan_ask *ask = a->ask;
	const struct jl_plan_found *miss = &a->result->miss;
	const double limit_B = ask->site->base.machine.dev.mem_B * ask->memory_frac;
	struct jl_case c;

	jl_buf_printf(&cli->out, "%s · %s\n\n", ask->site->base.subject.name, ask->site->base.machine.sys.text);
	if (!(miss->value < INFINITY)) {
		jl_view_entry(cli, "No plan",
			      JL_("nothing divides: %d GPUs, global batch %.0f; change --global-batch or --fix"),
			      ask->site->base.n_gpus, ask->site->global_batch);
		return;
	}
	jl_plan_way_case(&c, ask->site, &miss->way);
	jl_view_entry(cli, "No plan", JL_("fits. The nearest needs %.1f GiB a GPU of %.1f: it lacks %.1f GiB"),
		      gib(miss->memory_B), gib(limit_B), gib(miss->memory_B - limit_B));
	jl_view_plan_case(cli, &c);
}

/* The plan in a line of its own words, as predict writes a case. */
void jl_view_plan_case(struct jl_cli *cli, const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;
	const char *const zeros[] = { "DDP", "ZeRO-1", "ZeRO-2", "FSDP" };
	char text[320];
	size_t n = 0;

#define ADD(...) (n += n < sizeof(text) ? (size_t)snprintf(text + n, sizeof(text) - n, __VA_ARGS__) : 0)
	ADD("%s %.0f", p->shard > 0 ? "HSDP" : zeros[p->zero], p->dp);
	if (p->tp > 1)
		ADD(" · TP %.0f%s%s", p->tp, p->sp ? "+SP" : "", p->tp_async ? JL_(" overlapped") : "");
	if (p->pp > 1)
		ADD(" · PP %.0f", p->pp);
	if (p->n_chunks > 1)
		ADD("×%.0f", p->n_chunks);
	if (p->cp > 1)
		ADD(" · CP %.0f", p->cp);
	if (p->ep > 1)
		ADD(" · EP %.0f", p->ep);
	ADD(JL_(" · micro-batch %.0f"), c->shard.micro_batch);
	if (p->recompute)
		ADD(" · %s", p->recompute == JL_RECOMPUTE_FULL ? JL_("full recompute") : JL_("selective recompute"));
	if (p->offload)
		ADD(" · %s%s%s%s", JL_("offload"), p->offload & JL_OFFLOAD_OPTIMIZER ? JL_(" optimizer") : "",
		    p->offload & JL_OFFLOAD_PARAMS ? JL_(" weights") : "",
		    p->offload & JL_OFFLOAD_ACTIVATIONS ? JL_(" activations") : "");
	ADD(" · %s", jl_dtype_name(c->shard.dtype));
#undef ADD
	jl_view_entry(cli, NULL, "%s", text);
}

static void legend(struct jl_cli *cli)
{
	jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
		      JL_("TP s: sequence parallel, o: overlapped · PP 8×3: 3 chunks a stage"), jl_view_reset(cli));
	jl_buf_printf(&cli->out, "  %s%s%s\n\n", jl_view_dim(cli),
		      JL_("ZeRO h: inside a host, k: weights stay gathered · offload: o w a"), jl_view_reset(cli));
}

/* What was asked of the run, and whether the best plan keeps it. */
static void limit_lines(struct jl_cli *cli, const struct jl_plan_answer *a)
{
	const struct jl_prediction *p = &a->prediction[0];
	char is[JL_UNITS_TEXT_MAX], may[JL_UNITS_TEXT_MAX];

	if (!isnan(a->deadline_s))
		jl_view_entry(cli, "Deadline",
			      a->in_time ? JL_("kept: %s of %s") : JL_("missed: %s, but %s are allowed"),
			      jl_units_text(is, p->run_s.value, JL_K_TIME, 2),
			      jl_units_text(may, a->deadline_s, JL_K_TIME, 3));
	if (!isnan(a->budget_usd))
		jl_view_entry(cli, "Budget",
			      a->in_budget ? JL_("kept: %s of %s") : JL_C("budget", "missed: %s, but %s are allowed"),
			      jl_units_text(is, p->cost_usd.value, JL_K_USD, 2),
			      jl_units_text(may, a->budget_usd, JL_K_USD, 6));
	if (!a->in_time || !a->in_budget)
		jl_view_entry(cli, NULL, "%s",
			      JL_("other numbers or kinds of GPUs: --gpus 64..4096 --kinds h100-sxm5"));
}

static void best_lines(struct jl_cli *cli, const struct jl_plan_answer *a)
{
	const struct jl_prediction *p = &a->prediction[0];
	const struct jl_case *c = &a->how[0];
	char step[JL_RANGE_TEXT_MAX], run[JL_RANGE_TEXT_MAX], rate[JL_UNITS_TEXT_MAX], date[JL_DATED_MAX];

	jl_view_entry(cli, "Best", JL_("%s%s%s a step · %s samples/s · MFU %.2g %%"), jl_view_bold(cli),
		      jl_estimate_text(step, &p->step_s, JL_K_TIME), jl_view_reset(cli),
		      jl_about_text(rate, p->samples_per_s.value), 100 * p->mfu_frac);
	jl_view_plan_case(cli, c);
	if (p->whole_run && !isnan(p->cost_usd.value))
		jl_view_entry(cli, "Run", "%s · %s", jl_estimate_text(step, &p->run_s, JL_K_TIME),
			      jl_estimate_text(run, &p->cost_usd, JL_K_USD));
	else if (p->whole_run)
		jl_view_entry(cli, "Run", "%s", jl_estimate_text(step, &p->run_s, JL_K_TIME));
	if (!isnan(p->rent.usdps) &&
	    (p->whole_run || a->ask->objective == JL_PLAN_COST || a->ask->objective == JL_PLAN_TOKENS_PER_USD))
		jl_view_entry(cli, "Rent", JL_("%.2f USD/h a GPU (%s, %s)"), p->rent.usdps * 3600, p->rent.provider,
			      jl_dated_text(date, p->rent.date, cli->today));
	limit_lines(cli, a);
	jl_buf_putc(&cli->out, '\n');
}

enum jl_status jl_view_plans(struct jl_cli *cli, const struct jl_plan_answer *a, struct jl_err *err)
{
	const struct jl_plan_site *site = a->ask->site;
	enum jl_plan_target target;
	enum jl_status status;

	if (a->result->top.n == 0) {
		no_plan(cli, a);
		jl_view_searched(cli, &a->result->tally, a->result->search_s, a->result->stopped);
		return JL_OK;
	}
	jl_buf_printf(&cli->out, JL_("%s · %s · global batch %.0f%s · sequence %.0f\n\n"), site->base.subject.name,
		      site->base.machine.sys.text, site->global_batch, a->batch_given ? "" : JL_(" (assumed)"),
		      site->base.shard.seq);
	best_lines(cli, a);
	status = plans_table(cli, a, err);
	if (status)
		return status;
	legend(cli);
	why_line(cli, a);
	tied_line(cli, a);
	jl_view_searched(cli, &a->result->tally, a->result->search_s, a->result->stopped);
	target = jl_plan_settings_of(&a->how[0]);
	jl_view_entry(cli, "Settings", JL_("%s (others: --settings)"), target_titles[target]);
	jl_view_settings(cli, &a->how[0], target, 12);
	jl_view_assumed(cli, &a->how[0]);
	return JL_OK;
}

void jl_view_plans_json(struct jl_json *json, const struct jl_plan_answer *a)
{
	const struct jl_plan_ask *ask = a->ask;
	const struct jl_case *base = &ask->site->base;

	jl_json_put_string(json, "model", base->subject.id);
	jl_json_put_string(json, "system", base->machine.sys.text);
	jl_json_put_integer(json, "n_gpus", base->n_gpus);
	jl_json_put_number(json, "global_batch", ask->site->global_batch);
	jl_json_put_string(json, "objective", jl_plan_objectives[ask->objective]);
	jl_json_put_number(json, "memory_margin_frac", 1 - ask->memory_frac);
	jl_json_put_number(json, "deadline_s", a->deadline_s);
	jl_json_put_number(json, "budget_usd", a->budget_usd);
	if (a->result->top.n) {
		jl_json_put_bool(json, "in_time", a->in_time);
		jl_json_put_bool(json, "in_budget", a->in_budget);
	}
	jl_view_searched_json(json, &a->result->tally, a->result->search_s, a->result->stopped);
	jl_json_put_integer(json, "n_threads", a->result->n_threads);
	jl_json_put_array(json, "plans");
	for (int i = 0; i < a->result->top.n; i++) {
		const struct jl_plan *p = &a->how[i].plan;

		jl_json_object(json);
		jl_json_put_integer(json, "rank", i + 1);
		jl_json_put_number(json, "value", a->result->top.best[i].value);
		jl_json_put_bool(json, "indistinguishable", is_tied(a, i));
		jl_fields_put(json, &jl_case_fields, &a->how[i]);
		jl_json_put_bool(json, "tp_overlap", p->tp_async);
		jl_json_put_bool(json, "keep_gathered", p->keep_gathered);
		jl_fields_put(json, &jl_prediction_fields, &a->prediction[i]);
		jl_view_settings_json(json, &a->how[i]);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	if (a->result->top.n == 0 && a->result->miss.value < INFINITY) {
		struct jl_case c;

		jl_plan_way_case(&c, ask->site, &a->result->miss.way);
		jl_json_put_object(json, "nearest_miss");
		jl_json_put_number(json, "memory_B", a->result->miss.memory_B);
		jl_json_put_number(json, "lacks_B",
				   a->result->miss.memory_B - base->machine.dev.mem_B * ask->memory_frac);
		jl_fields_put(json, &jl_case_fields, &c);
		jl_json_end_object(json);
	}
	if (a->result->top.n)
		jl_fields_put(json, &jl_assumed_fields, &a->how[0]);
}
