#include "cli/predict_collective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/predict_view.h"
#include "predict/collective_case.h"

enum jl_status jl_sweep_parse(struct jl_sweep_list *ret_list, const char *text, struct jl_err *err)
{
	static const char *const keys[JL_N_SWEEP] = { [JL_SWEEP_GPUS] = "gpus=", [JL_SWEEP_NODES] = "nodes=" };
	struct jl_sweep_list list = { .over = JL_N_SWEEP };
	const char *at = text;

	for (int i = 0; i < JL_N_SWEEP; i++)
		if (strncmp(text, keys[i], strlen(keys[i])) == 0) {
			list.over = (enum jl_sweep_over)i;
			at += strlen(keys[i]);
		}
	if (list.over == JL_N_SWEEP)
		return jl_fail(err, JL_E_USAGE,
			       "--sweep: '%s' does not begin with gpus= or nodes=; write e.g. gpus=1,2,4,8", text);
	while (*at) {
		size_t len = strcspn(at, ",");
		char piece[32];
		long long n;
		enum jl_status status;

		snprintf(piece, sizeof(piece), "%.*s", (int)(len < 31 ? len : 31), at);
		status = jl_units_parse_count(&n, piece, 1, JL_NODES_MAX, "--sweep", err);
		if (status)
			return status;
		if (list.n == JL_SWEEP_MAX)
			return jl_fail(err, JL_E_LIMIT, "--sweep: more than %d sizes", JL_SWEEP_MAX);
		list.values[list.n++] = (int)n;
		at += len + (at[len] == ',');
	}
	if (!list.n)
		return jl_fail(err, JL_E_USAGE, "--sweep: no size; write e.g. gpus=1,2,4,8");
	*ret_list = list;
	return JL_OK;
}

struct series {
	struct jl_sys sys;
	size_t n;
	struct jl_collective_case *cases;
};

static enum jl_status case_of(struct jl_cli *cli, struct series *series, const struct jl_collective_ask *ask,
			      const struct jl_sweep_list *list, size_t i, struct jl_err *err)
{
	struct jl_collective_ask each = *ask;
	struct jl_machine machine;
	const bool nodes = list && list->over == JL_SWEEP_NODES;
	enum jl_status status = jl_machine_hosts(&machine, cli->cat, &series->sys,
						 nodes ? list->values[i] : series->sys.n_nodes, &cli->arena, err);

	if (list && !nodes)
		each.n_ranks = list->values[i];
	return status ? status : jl_collective_case(&series->cases[i], &machine, &each, err);
}

static enum jl_status run_series(struct jl_cli *cli, struct series *series, const struct jl_collective_ask *ask,
				 struct jl_err *err)
{
	const char *sweep = jl_text(cli, "sweep"), *system = jl_text(cli, "on");
	struct jl_sweep_list list = { .n = 1 };
	enum jl_status status = JL_OK;

	if (!system)
		return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on aws:p5.48xlarge");
	if (sweep)
		status = jl_sweep_parse(&list, sweep, err);
	if (!status)
		status = jl_sys_parse(&series->sys, cli->cat, system, &cli->arena, err);
	if (status)
		return status;
	series->n = list.n;
	series->cases = jl_arena_array(&cli->arena, list.n, sizeof(*series->cases));
	if (!series->cases)
		return jl_fail_nomem(err);
	for (size_t i = 0; !status && i < list.n; i++)
		status = case_of(cli, series, ask, sweep ? &list : NULL, i, err);
	return status;
}

/* The unit of all rates in a table: small messages reach so little that GB/s would be all zeros. */
struct rate_unit {
	double Bps;
	const char *name;
};

static struct rate_unit rate_unit_of(const struct series *series)
{
	static const struct rate_unit units[] = { { 1e9, "GB/s" }, { 1e6, "MB/s" }, { 1e3, "kB/s" } };
	double most_Bps = 0;
	size_t i = 0;

	for (size_t k = 0; k < series->n; k++)
		most_Bps = fmax(most_Bps, series->cases[k].algbw_Bps.value);
	while (i + 1 < sizeof(units) / sizeof(*units) && most_Bps < 0.1 * units[i].Bps)
		i++;
	return units[i];
}

/* Below 10 whole numbers say too little. */
static const char *rate_text(char out[JL_UNITS_TEXT_MAX], double value_Bps, const struct rate_unit *unit)
{
	const double value = value_Bps / unit->Bps;

	snprintf(out, JL_UNITS_TEXT_MAX, value < 9.95 ? "%.2g" : "%.0f", value);
	return out;
}

static enum jl_status print_table(struct jl_cli *cli, const struct series *series, struct jl_err *err)
{
	const struct rate_unit unit = rate_unit_of(series), large = { 1e9, "GB/s" };
	char algbw[32], bound[32];
	const struct jl_table_column columns[] = {
		{ .head = JL_("hosts"), .align = JL_RIGHT },
		{ .head = "GPU", .align = JL_RIGHT },
		{ .head = algbw },
		{ .head = "busbw", .align = JL_RIGHT },
		{ .head = bound, .align = JL_RIGHT },
		{ .head = JL_("of it"), .align = JL_RIGHT },
		{ .head = JL_("time"), .align = JL_RIGHT },
		{ .head = JL_("way, steps") },
	};
	struct jl_table table;

	snprintf(algbw, sizeof(algbw), "algbw %s", unit.name);
	jl_format(bound, sizeof(bound), "%s%s", JL_("bound"), unit.Bps < large.Bps ? " GB/s" : "");
	jl_table_init(&table, &cli->arena, columns, 8);
	for (size_t i = 0; i < series->n; i++) {
		const struct jl_collective_case *c = &series->cases[i];
		char a[JL_UNITS_TEXT_MAX], lo[JL_UNITS_TEXT_MAX], hi[JL_UNITS_TEXT_MAX], time[JL_UNITS_TEXT_MAX];

		jl_table_printf(&table, "%d", c->n_nodes);
		jl_table_printf(&table, "%d", c->n_ranks);
		jl_table_printf(&table, "%s (%s–%s)", rate_text(a, c->algbw_Bps.value, &unit),
				rate_text(lo, c->algbw_Bps.lo, &unit), rate_text(hi, c->algbw_Bps.hi, &unit));
		jl_table_cell(&table, rate_text(a, c->algbw_Bps.value * c->busbw_factor, &unit));
		jl_table_cell(&table, rate_text(a, c->bound_Bps, &large));
		jl_table_printf(&table, "%.0f %%", 100 * c->algbw_Bps.value / c->bound_Bps);
		jl_table_cell(&table, jl_units_text(time, c->time_s, JL_K_TIME, 2));
		jl_table_printf(&table, "%s, %.0f", jl_algorithm_name(c->algorithm), c->n_steps);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

/* Why more hosts are slower, from the first and the last row. */
static void why(struct jl_cli *cli, const struct series *series)
{
	const struct jl_collective_case *first = &series->cases[0], *last = &series->cases[series->n - 1];

	jl_view_entry(cli, "Bound by", "%s", last->limit_text);
	if (series->n > 1 && last->n_nodes > first->n_nodes && last->bound_Bps < 0.98 * first->bound_Bps)
		jl_view_entry(cli, "Why",
			      JL_("with more hosts every byte crosses the network more often, up to twice: the bound "
				  "falls from %.0f to %.0f GB/s; %.0f steps follow each other instead of %.0f"),
			      first->bound_Bps / 1e9, last->bound_Bps / 1e9, last->n_steps, first->n_steps);
	if (last->kind == JL_ALLREDUCE)
		jl_view_entry(cli, "Note", "%s",
			      last->in_network
				      ? JL_("the switches may reduce on the way: counted")
				      : JL_("a value above the bound is no algbw of this system: no algorithm reaches "
					    "it without reduction in the network"));
	jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
		      JL_("⚠ estimated; 80 % intervals, checked on published runs (jeoul validate)."),
		      jl_view_reset(cli));
	if (!last->seen)
		jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
			      JL_("No published measurement has this pair of links: the interval is wider."),
			      jl_view_reset(cli));
}

static void case_json(struct jl_json *json, const struct jl_collective_case *c)
{
	const struct jl_estimate busbw = { c->algbw_Bps.value * c->busbw_factor, c->algbw_Bps.lo * c->busbw_factor,
					   c->algbw_Bps.hi * c->busbw_factor };

	jl_json_object(json);
	jl_json_put_integer(json, "n_nodes", c->n_nodes);
	jl_json_put_integer(json, "n_ranks", c->n_ranks);
	jl_json_put_number(json, "time_s", c->time_s);
	jl_view_estimate_json(json, "algbw_Bps", &c->algbw_Bps);
	jl_view_estimate_json(json, "busbw_Bps", &busbw);
	jl_json_put_number(json, "busbw_factor", c->busbw_factor);
	jl_json_put_number(json, "bound_algbw_Bps", c->bound_Bps);
	jl_json_put_string(json, "bound_by", c->limit == JL_LIMIT_NETWORK ? "network" : "link");
	jl_json_put_string(json, "bound_text", c->limit_en);
	jl_json_put_bool(json, "in_network_reduction", c->in_network);
	jl_json_put_string(json, "algorithm", jl_algorithm_name(c->algorithm));
	jl_json_put_number(json, "n_steps", c->n_steps);
	jl_json_put_bool(json, "links_seen", c->seen);
	jl_json_end_object(json);
}

static void print_json(struct jl_cli *cli, const struct series *series, const struct jl_collective_ask *ask)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "collective", jl_collective_name(ask->kind));
	jl_json_put_number(&json, "size_B", ask->size_B);
	jl_json_put_string(&json, "system", series->sys.text);
	jl_json_put_array(&json, "series");
	for (size_t i = 0; i < series->n; i++)
		case_json(&json, &series->cases[i]);
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

enum jl_status jl_predict_collective(struct jl_cli *cli, enum jl_collective_kind kind, struct jl_err *err)
{
	const struct jl_given *size = jl_given(cli, "size");
	struct jl_collective_ask ask = { .kind = kind, .size_B = size ? size->value : NAN };
	struct series series = { 0 };
	char text[JL_UNITS_TEXT_MAX];
	enum jl_status status;

	if (!size)
		return jl_fail(err, JL_E_USAGE, "%s needs a size: --size \"16 GB\"", jl_collective_name(kind));
	for (size_t i = 0; i < cli->args.n_given; i++) {
		static const char *const ours[] = { "on", "size", "sweep", "json", "lang", "catalog", "no-color" };
		const char *name = cli->args.given[i].option->name;
		size_t k = 0;

		while (k < sizeof(ours) / sizeof(*ours) && strcmp(ours[k], name) != 0)
			k++;
		if (k == sizeof(ours) / sizeof(*ours))
			return jl_fail(err, JL_E_USAGE, "--%s is for a model; %s takes --on, --size and --sweep", name,
				       jl_collective_name(kind));
	}
	status = run_series(cli, &series, &ask, err);
	if (status)
		return status;
	if (cli->json) {
		print_json(cli, &series, &ask);
		return JL_OK;
	}
	jl_buf_printf(&cli->out, JL_("%s%s of %s%s · %s\n\n"), jl_view_bold(cli), jl_collective_name(kind),
		      jl_units_text(text, ask.size_B, JL_K_BYTES, 4), jl_view_reset(cli), series.sys.text);
	status = print_table(cli, &series, err);
	jl_buf_putc(&cli->out, '\n');
	why(cli, &series);
	return status;
}
