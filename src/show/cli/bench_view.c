/* Prints benchmark results. */
#include "cli/bench_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/view.h"
#include "probe/probe.h"

static const int columns[] = { 2, -24, 13, 17, 10, 10 };

void jl_bench_view_machine(struct jl_cli *cli, struct jl_bench_where *where)
{
	const struct jl_probe_machine *machine;
	struct jl_probe_source *source = NULL;
	struct jl_err err = { 0 };

	/* optional: results are valid without it */
	if (jl_source_live(&source, &cli->arena, &err) != JL_OK)
		return;
	if (jl_probe_machine(source, NULL, &(struct jl_probe_options){ .load = false }, &cli->arena, &machine, &err) ==
	    JL_OK) {
		where->machine = jl_arena_strdup(&cli->arena, jl_probe_fingerprint(machine));
		where->machine_name = machine->short_name;
	}
	jl_source_destroy(source);
}

void jl_bench_view_title(struct jl_bench_session *s, const char *what)
{
	const char *versions = s->backend->versions ? s->backend->versions() : NULL;

	if (s->cli->json)
		return;
	jl_buf_printf(&s->cli->out, "%s%s%s · %s%s%s\n\n", s->cli->color ? JL_TABLE_BOLD : "", what,
		      s->cli->color ? JL_TABLE_RESET : "", s->backend->name, versions ? " · " : "",
		      versions ? versions : "");
}

void jl_bench_view_head(struct jl_bench_session *s, enum jl_kind rate)
{
	if (s->cli->json)
		return;
	JL_LIVE(s->cli, columns, "", "", rate == JL_K_FLOP_RATE ? JL_("rate") : JL_("bandwidth"), JL_("95 % interval"),
		JL_("time"), "p95");
	jl_buf_puts(&s->cli->out, "\n");
}

/* Formats an interval like "1.19–1.21" in the unit of the preceding value. */
static const char *interval_text(struct jl_cli *cli, const struct jl_stats *s, enum jl_kind kind)
{
	/* display scale, e.g. 119 / 119e9 */
	const double scale = strtod(jl_units_text(JL_TXT, s->median, kind, 3), NULL) / s->median;

	return jl_arena_printf(&cli->arena, "%s–%s", jl_units_text(JL_TXT, s->lo95 * scale, JL_K_NUMBER, 3),
			       jl_units_text(JL_TXT, s->hi95 * scale, JL_K_NUMBER, 3));
}

void jl_bench_view_row(struct jl_bench_session *s, const char *what, const struct jl_bench_result *r, enum jl_kind kind)
{
	const struct jl_stats rate = jl_bench_rate(r, jl_bench_work(&r->task));
	const char *interval;

	if (s->cli->json || r->n_samples == 0)
		return;
	interval = interval_text(s->cli, &rate, kind);
	JL_LIVE(s->cli, columns, "", what, jl_units_text(JL_TXT, rate.median, kind, 3), interval ? interval : "",
		jl_units_text(JL_TXT, r->time_s.median, JL_K_TIME, 3),
		jl_units_text(JL_TXT, r->time_s.p95, JL_K_TIME, 3));
	if (r->checked && r->n_wrong > 0)
		jl_buf_printf(&s->cli->out, JL_("  %.0f wrong"), r->n_wrong);
	jl_buf_puts(&s->cli->out, r->noise.noisy ? " ~\n" : "\n");
}

void jl_bench_view_end(struct jl_bench_session *s, bool stopped)
{
	struct jl_buf *out = &s->cli->out;
	char why[JL_NOISE_WHY_MAX];

	jl_buf_puts(out, "\n");
	if (stopped && s->n_records)
		jl_buf_puts(out, JL_("  Stopped; what was measured until then is kept.\n"));
	else if (!s->n_records)
		jl_buf_printf(out, JL_("  %s; nothing was measured.\n"), stopped ? JL_("Stopped") : JL_("Ended"));
	if (s->n_noisy) {
		/* otherwise the backend's own reason */
		if (!jl_noise_why((char[JL_NOISE_WHY_MAX]){ 0 }, why, &s->noise))
			(void)snprintf(why, sizeof(why), "%s",
				       jl_lang_is("en") ? s->why : JL_("the measurement was not steady"));
		jl_buf_printf(out, JL_("  ~ noisy: %s.\n    Intervals are wider, and no verdict is built on these.\n"),
			      why);
	}
	if (s->n_stored)
		jl_buf_printf(out, JL_("  Kept: %zu result{/s}, run %s ('jeoul store list').\n"), s->n_stored, s->run);
}

/* --- format of nccl-tests */

void jl_bench_view_coll_head(struct jl_bench_session *s, const struct jl_sweep *sweep, const struct jl_comm *comm)
{
	struct jl_buf *out = &s->cli->out;
	const struct jl_bench_plan *plan = &sweep->plan;
	const int n = comm ? comm->n_ranks : sweep->n_ranks;

	if (s->cli->json || s->silent)
		return;
	jl_buf_printf(out, "# jeoul bench %s, backend %s, %d ranks minBytes %zu maxBytes %zu warmup iters: %zu iters: ",
		      jl_coll_name(sweep->task.coll), s->backend->name, n, sweep->sizes_B[0],
		      sweep->sizes_B[sweep->n_sizes - 1], plan->n_warmup ? plan->n_warmup : 5);
	if (plan->n_iters)
		jl_buf_printf(out, "%zu", plan->n_iters);
	else
		jl_buf_puts(out, "auto");
	jl_buf_printf(out, " validation: %d\n#\n", plan->check);
	jl_buf_printf(out,
		      "# %10s  %12s  %8s  %6s  %6s           out-of-place                       in-place          \n",
		      "", "", "", "", "");
	jl_buf_printf(out, "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s %6s  %7s  %6s  %6s %6s\n", "size", "count",
		      "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong");
	jl_buf_printf(out, "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %5s  %7s  %6s  %6s  %5s\n", "(B)", "(elements)",
		      "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "");
}

/* Like nccl-tests, shows the mean time. */
static void half_row(struct jl_buf *out, const struct jl_bench_result *r, bool has)
{
	const double us = 1e6 * r->time_s.mean, algbw = jl_bench_work(&r->task) / r->time_s.mean / 1e9;
	char wrong[24] = "N/A";

	if (!has) {
		jl_buf_printf(out, "  %7s  %6s  %6s  %5s", "N/A", "N/A", "N/A", "N/A");
		return;
	}
	if (r->checked)
		(void)snprintf(wrong, sizeof(wrong), "%.0f", r->n_wrong);
	jl_buf_printf(out, "  %7.*f  %6.2f  %6.2f  %5s",
		      us >= 10000 ? 0
		      : us >= 100 ? 1
				  : 2,
		      us, algbw, algbw * jl_coll_bus_factor(r->task.coll, r->n_ranks), wrong);
}

void jl_bench_view_coll_row(struct jl_bench_session *s, const struct jl_sweep_row *row)
{
	const struct jl_bench_task *task = &row->out.task;
	const bool rooted = jl_coll_shapes[task->coll].rooted;
	struct jl_buf *out = &s->cli->out;

	if (s->cli->json || s->silent)
		return;
	jl_buf_printf(out, "%12zu  %12zu  %8s  %6s  %6d", row->size_B, row->count, jl_comm_type_name(task->type),
		      jl_coll_reduces(task->coll) ? jl_redop_name(task->op) : "none", rooted ? task->root : -1);
	half_row(out, &row->out, row->has_out);
	half_row(out, &row->in, row->has_in);
	jl_buf_puts(out, "\n");
}

static void coll_detail(struct jl_buf *out, const struct jl_bench_result *r, const char *place)
{
	const struct jl_stats bw = jl_bench_rate(r, jl_bench_work(&r->task));

	jl_buf_printf(out, "# %10zu  %-12s  %9.2f  %9.2f  %9.2f  %7.2f  %7.2f  %7.2f  %4zu%s\n", r->task.size_B, place,
		      1e6 * r->time_s.median, 1e6 * r->time_s.p95, 1e6 * r->time_s.min, bw.median / 1e9, bw.lo95 / 1e9,
		      bw.hi95 / 1e9, r->time_s.n, r->noise.noisy ? " ~" : "");
}

void jl_bench_view_coll_end(struct jl_bench_session *s, const struct jl_sweep_row *rows, size_t n_rows)
{
	struct jl_buf *out = &s->cli->out;
	double sum = 0, n = 0;

	if (s->cli->json || s->silent)
		return;
	for (size_t i = 0; i < n_rows; i++)
		for (int in_place = 0; in_place < 2; in_place++) {
			const struct jl_bench_result *r = in_place ? &rows[i].in : &rows[i].out;

			if (in_place ? !rows[i].has_in : !rows[i].has_out)
				continue;
			sum += jl_bench_work(&r->task) / r->time_s.mean * jl_coll_bus_factor(r->task.coll, r->n_ranks) /
			       1e9;
			n++;
		}
	jl_buf_printf(out, "# Out of bounds values : %.0f %s\n", s->n_wrong, s->n_wrong > 0 ? "FAILED" : "OK");
	jl_buf_printf(out, "# Avg bus bandwidth    : %g \n#\n", n > 0 ? sum / n : 0);
	jl_buf_printf(out, "# %10s  %-12s  %9s  %9s  %9s  %7s  %7s  %7s  %4s\n", "size", "", "median", "p95", "min",
		      "algbw", "lo95", "hi95", "n");
	jl_buf_printf(out, "# %10s  %-12s  %9s  %9s  %9s  %7s  %7s  %7s\n", "(B)", "", "(us)", "(us)", "(us)", "(GB/s)",
		      "(GB/s)", "(GB/s)");
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].has_out)
			coll_detail(out, &rows[i].out, "out-of-place");
		if (rows[i].has_in)
			coll_detail(out, &rows[i].in, "in-place");
	}
}

enum jl_status jl_bench_view_matrix(struct jl_bench_session *s, const char *title, const double *Bps, int n,
				    struct jl_err *err)
{
	struct jl_show_head heads[JL_TABLE_COLUMNS_MAX] = { { title, JL_COLUMN_KEEP } };
	const int n_shown = n < JL_TABLE_COLUMNS_MAX - 1 ? n : JL_TABLE_COLUMNS_MAX - 1;
	struct jl_doc doc;

	if (s->cli->json)
		return JL_OK;
	jl_view_page(s->cli, &doc);
	for (int j = 0; j < n_shown; j++)
		heads[j + 1] = (struct jl_show_head){ jl_doc_format(&doc, "GPU%d", j), JL_COLUMN_FIGURE };
	jl_show_columns(&doc, NULL, heads, (size_t)n_shown + 1);
	for (int i = 0; i < n; i++) {
		jl_doc_cell_name(&doc, jl_doc_format(&doc, "GPU%d", i));
		for (int j = 0; j < n_shown; j++) {
			const double value = Bps[i * n + j] / 1e9;

			jl_doc_cell_name(
				&doc, isnan(value) ? "-" : jl_doc_format(&doc, value < 100 ? "%.1f" : "%.0f", value));
		}
		jl_doc_end_row(&doc, false);
	}
	return jl_view_show(s->cli, &doc, err);
}
