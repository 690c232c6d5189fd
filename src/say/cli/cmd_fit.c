/* jeoul fit: which techniques make a model fit in a system's memory, and what each costs in time. */
#include <math.h>
#include <stdio.h>

#include "cli/ask.h"
#include "cli/predict_view.h"
#include "predict/kind.h"
#include "predict/technique.h"

const struct jl_option jl_fit_options[] = {
	JL_ASK_RUN_OPTIONS,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_HOST_OPTIONS,
	{ 0 },
};

static void how_cell(struct jl_table *table, const struct jl_technique *row)
{
	const struct jl_plan *p = &row->how.plan;
	char text[64];
	int at = snprintf(text, sizeof(text), "dp %.0f", p->dp);

	if (p->tp > 1 && at > 0)
		at += snprintf(text + at, sizeof(text) - (size_t)at, " tp %.0f", p->tp);
	if (p->pp > 1 && at > 0)
		at += snprintf(text + at, sizeof(text) - (size_t)at, " pp %.0f", p->pp);
	if (p->pp <= 1 && p->n_micro > 1 && at > 0)
		(void)snprintf(text + at, sizeof(text) - (size_t)at, " x %.0f", p->n_micro);
	jl_table_cell(table, text);
}

/* What is offloaded, red where the host has not so much. */
static void host_cell(struct jl_table *table, const struct jl_technique *row)
{
	const bool short_of = row->weight.host_B > JL_HOST_RAM_FRAC * row->how.ram_B;

	if (!(row->weight.host_B > 0))
		jl_table_cell(table, "");
	else
		jl_table_printf(table, short_of ? JL_TABLE_RED "%.0f" JL_TABLE_RESET : "%.0f",
				row->weight.host_B / 1073741824.0);
}

/* Whether the host has the memory that the offloading rows ask for. */
static void host_line(struct jl_cli *cli, const struct jl_technique *rows, size_t n)
{
	const double ram_B = rows[0].how.ram_B;
	double most_B = 0;

	for (size_t i = 0; i < n; i++)
		if (rows[i].possible)
			most_B = fmax(most_B, rows[i].weight.host_B);
	if (!(most_B > 0))
		return;
	if (isnan(ram_B))
		jl_buf_printf(&cli->out, "  %s\n",
			      JL_("Host RAM is not known: say it with --ram, e.g. --ram \"512 GiB\"."));
	else
		jl_buf_printf(&cli->out, JL_("  A host has %.0f GiB of RAM, %.0f %% of it for offloading: %s.\n"),
			      ram_B / 1073741824.0, 100 * JL_HOST_RAM_FRAC,
			      most_B > JL_HOST_RAM_FRAC * ram_B ? JL_("not enough for every row")
								: JL_("enough for every row"));
}

static enum jl_status print_rows(struct jl_cli *cli, const struct jl_technique *rows, size_t n, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_("technique"), .flexible = true, .min_width = 16 },
		{ .head = JL_("cut") },
		{ .head = JL_("GiB/GPU"), .align = JL_RIGHT },
		{ .head = "" },
		{ .head = JL_("host"), .align = JL_RIGHT },
		{ .head = JL_("step"), .align = JL_RIGHT },
		{ .head = JL_C("time", "cost"), .align = JL_RIGHT },
	};
	static const struct {
		const char *colour, *en;
	} rooms[] = { { JL_TABLE_GREEN, JL_NC("verdict", "fits") },
		      { JL_TABLE_YELLOW, JL_NC("verdict", "tight") },
		      { JL_TABLE_RED, JL_NC("verdict", "no") } };

	struct jl_table table;
	char time[JL_UNITS_TEXT_MAX];

	jl_table_init(&table, &cli->arena, columns, 7);
	for (size_t i = 0; i < n; i++) {
		const struct jl_technique *r = &rows[i];

		jl_table_cell(&table, jl_msg(r->en));
		if (!r->possible) {
			jl_table_cell(&table, JL_("not possible"));
			jl_table_end_row(&table);
			continue;
		}
		how_cell(&table, r);
		jl_table_printf(&table, "%.1f", r->weight.memory.total_B / 1073741824.0);
		jl_table_printf(&table, "%s%s" JL_TABLE_RESET, rooms[r->room].colour, jl_msg(rooms[r->room].en));
		host_cell(&table, r);
		jl_table_cell(&table, jl_units_text(time, r->weight.step.step_s, JL_K_TIME, 2));
		if (r->room == JL_ROOM_NONE || isnan(r->cost_frac))
			jl_table_cell(&table, "");
		else if (r->cost_frac < 0.005)
			jl_table_cell(&table, JL_("fastest"));
		else
			jl_table_printf(&table, "%+.0f %%", 100 * r->cost_frac);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void print_json(struct jl_cli *cli, const struct jl_technique *rows, size_t n)
{
	static const char *const rooms[] = { "fits", "tight", "no" };
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_array(&json, "techniques");
	for (size_t i = 0; i < n; i++) {
		const struct jl_technique *r = &rows[i];

		jl_json_object(&json);
		jl_json_put_string(&json, "technique", r->key);
		jl_json_put_bool(&json, "possible", r->possible);
		if (r->possible) {
			jl_json_put_bool(&json, "fits", r->room != JL_ROOM_NONE);
			jl_json_put_string(&json, "room", rooms[r->room]);
			jl_json_put_number(&json, "memory_B", r->weight.memory.total_B);
			jl_json_put_number(&json, "capacity_B", r->how.machine.dev.mem_B);
			jl_json_put_number(&json, "host_memory_B", r->weight.host_B);
			jl_json_put_number(&json, "host_capacity_B", r->how.ram_B);
			jl_json_put_number(&json, "offload_s", r->weight.step.offload_s);
			jl_json_put_number(&json, "step_s", r->weight.step.step_s);
			jl_json_put_number(&json, "cost_frac", r->room == JL_ROOM_NONE ? NAN : r->cost_frac);
			jl_view_case_json(&json, &r->how);
		} else {
			jl_json_put_string(&json, "why", r->why.en);
		}
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

/* What would fit the device if the host had the memory: said as such. NAN: nothing would. */
static double host_needed_B(const struct jl_technique *rows, size_t n)
{
	double least_B = NAN;

	for (size_t i = 0; i < n; i++)
		if (rows[i].possible && rows[i].weight.host_B > JL_HOST_RAM_FRAC * rows[i].how.ram_B &&
		    rows[i].weight.memory.total_B <= JL_TIGHT_FRAC * rows[i].how.machine.dev.mem_B)
			least_B = fmin(isnan(least_B) ? INFINITY : least_B, rows[i].weight.host_B);
	return least_B;
}

static void nothing_fits(struct jl_cli *cli, const struct jl_technique *rows, size_t n)
{
	const double host_B = host_needed_B(rows, n);

	if (!isnan(host_B))
		jl_buf_printf(&cli->out,
			      JL_("  Nothing fits: host memory is the limit. Offloading needs %.0f GiB of RAM, the "
				  "host has %.0f.\n"),
			      host_B / 1073741824.0 / JL_HOST_RAM_FRAC, rows[0].how.ram_B / 1073741824.0);
	else if (rows[0].how.shard.micro_batch > 1)
		jl_buf_printf(&cli->out, "  %s\n",
			      JL_("Nothing fits: it needs more GPUs, GPUs with more memory, or a smaller batch."));
	else
		jl_buf_printf(&cli->out, "  %s\n", JL_("Nothing fits: it needs more GPUs, or GPUs with more memory."));
}

static void summary(struct jl_cli *cli, const struct jl_technique *rows, size_t n)
{
	const struct jl_technique *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (rows[i].possible && rows[i].room != JL_ROOM_NONE &&
		    (!best || rows[i].weight.step.step_s < best->weight.step.step_s))
			best = &rows[i];
	jl_buf_putc(&cli->out, '\n');
	if (best)
		jl_buf_printf(&cli->out, JL_("  Fastest that fits: %s.\n"),
			      jl_msg(best->en) + (best->en[0] == '+' ? 2 : 0));
	else
		nothing_fits(cli, rows, n);
	for (size_t i = 0; i < n; i++)
		if (rows[i].possible && rows[i].room == JL_ROOM_TIGHT) {
			jl_buf_printf(&cli->out, JL_("  Tight: less than %.0f %% of the memory stays free.\n"),
				      100 * JL_MEMORY_MARGIN_FRAC);
			break;
		}
	host_line(cli, rows, n);
	jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
		      !rows[0].how.subject.kind->is_cut
			      ? JL_("⚠ estimated; 'jeoul predict' gives the interval of each.")
			      : JL_("⚠ estimated; 'jeoul predict' gives the interval of each.\n"
				    "  All but fp32 in mixed precision, AdamW; host: GiB offloaded to one host."),
		      jl_view_reset(cli));
	jl_view_assumed(cli, &rows[0].how);
}

enum jl_status jl_cmd_fit(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_technique *rows = jl_arena_array(&cli->arena, JL_TECHNIQUES_MAX, sizeof(*rows));
	struct jl_request req;
	struct jl_subject subject;
	struct jl_machine machine;
	struct jl_sys sys;
	size_t n = 0;
	char params[JL_PARAMS_TEXT_MAX];
	char capacity[JL_UNITS_TEXT_MAX];
	enum jl_status status = rows ? jl_ask_request(&req, cli, err) : jl_fail_nomem(err);

	if (!status)
		status = jl_subject_find(&subject, cli->cat, &req, &cli->arena, err);
	if (!status && !req.system)
		status = jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on dgx-h100");
	if (!status)
		status = jl_sys_parse(&sys, cli->cat, req.system, &cli->arena, err);
	if (!status)
		status = jl_machine_make(&machine, cli->cat, &sys, err);
	if (!status)
		status = jl_techniques(rows, &n, cli->cat, &subject, &machine, &req, err);
	if (status)
		return status;
	if (cli->json) {
		print_json(cli, rows, n);
		return JL_OK;
	}
	jl_buf_printf(&cli->out, JL_("%s%s%s · %s parameters · %s · %s a GPU\n"), jl_view_bold(cli), subject.name,
		      jl_view_reset(cli), jl_params_text(params, jl_subject_params(&subject)), machine.sys.text,
		      jl_view_value(capacity, machine.dev.mem_B, JL_K_BYTES, true));
	jl_buf_printf(&cli->out, JL_("global batch %.0f · micro-batch %.0f"), rows[0].how.global_batch,
		      rows[0].how.shard.micro_batch);
	if (subject.kind->has_tokens)
		jl_buf_printf(&cli->out, JL_(" · sequence %.0f"), rows[0].how.shard.seq);
	jl_buf_printf(&cli->out, " · %s\n\n", jl_dtype_name(rows[0].how.shard.dtype));
	status = print_rows(cli, rows, n, err);
	summary(cli, rows, n);
	return status;
}
