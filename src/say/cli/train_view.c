#include "cli/train_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/view.h"
#include "train/records.h"

#define NOTABLE_FRAC 0.15 /* of a step: worth a sentence */

static void cell(struct jl_buf *out, const char *text, size_t width)
{
	size_t have = jl_utf8_width(text);
	jl_buf_pad(out, ' ', have < width ? width - have : 0);
	jl_buf_puts(out, text);
}

static const char *number(char ret_text[JL_UNITS_TEXT_MAX], double value)
{
	return jl_units_text(ret_text, value, JL_K_NUMBER, 3);
}

static const char *per_cent(char ret_text[16], double frac)
{
	if (isfinite(frac))
		snprintf(ret_text, 16, "%.0f %%", 100 * frac);
	else
		snprintf(ret_text, 16, "–");
	return ret_text;
}

void jl_train_view_head(struct jl_cli *cli, const struct jl_train_run *run, double n_params)
{
	struct jl_buf *out = &cli->out;
	if (cli->json)
		return;
	jl_buf_printf(out, JL_("%s%s%s · %s parameters · batch %zu a worker · sequence %zu"), jl_view_bold(cli),
		      run->model->name ? run->model->name : run->model->id, jl_view_reset(cli),
		      jl_value_text(JL_TXT, n_params, JL_K_NUMBER, false), run->batch, run->seq);
	if (run->n_micro > 1)
		jl_buf_printf(out, JL_(" · %zu accumulated"), run->n_micro);
	jl_buf_printf(out, "\n%s · AdamW · %s · %s\n\n", jl_train_precision_names[run->precision],
		      jl_msg(run->kernels->en), run->tokens ? JL_("tokens from a file") : JL_("synthetic tokens"));
	static const struct {
		const char *en;
		size_t width;
	} heads[] = {
		{ JL_N("workers"), 9 },   { JL_N("mode"), 7 },   { JL_N("samples/s"), 11 }, { JL_N("ideal"), 8 },
		{ JL_N("speed-up"), 10 }, { JL_N("effic."), 8 }, { JL_N("exposed"), 9 },    { JL_N("memory"), 9 },
	};
	for (size_t i = 0; i < JL_LEN(heads); i++)
		cell(out, jl_msg(heads[i].en), heads[i].width);
	jl_buf_puts(out, "\n");
}

static const struct jl_train_row *first_alone(const struct jl_train_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->rows[i].ok && table->rows[i].config.n_workers == 1)
			return &table->rows[i];
	return NULL;
}

static struct jl_train_row row_of(const struct jl_train_result *r, const struct jl_train_run *run, double n_samples)
{
	struct jl_train_row row = { .config = r->config, .ok = r->status == JL_OK };
	if (!row.ok)
		return row;
	row.samples_per_s = r->samples_per_s;
	row.step_s = r->step_s.median;
	row.exposed_s = r->exposed_s;
	row.mem_B = r->mem_B;
	row.gemm_frac = jl_train_gemm_frac(r);
	row.gemm_cpu_frac = jl_train_gemm_cpu_frac(r, run);
	row.predicted = n_samples / r->expect.step_s;
	row.predicted_lo = n_samples / r->expect.hi_s;
	row.predicted_hi = n_samples / r->expect.lo_s;
	row.flop = r->flop;
	row.n_threads = r->n_threads;
	row.update_s = r->update_s;
	row.loss_first = r->loss_first;
	row.loss_last = r->loss_last;
	row.energy_J = r->energy_J;
	row.energy_from = r->energy_from;
	row.n_samples = n_samples;
	row.grad_B = r->grad_B;
	row.rates = r->rates;
	row.noisy = r->noise.noisy;
	return row;
}

static void under_row(struct jl_cli *cli, const struct jl_train_row *row)
{
	struct jl_buf *out = &cli->out;
	jl_buf_printf(out, "%16s%s", "", jl_view_dim(cli));
	jl_buf_printf(out, "loss %.3f → %.3f", row->loss_first, row->loss_last);
	if (isfinite(row->predicted))
		jl_buf_printf(out, JL_(" · predicted %s (%s–%s)"), number(JL_TXT, row->predicted),
			      number(JL_TXT, row->predicted_lo), number(JL_TXT, row->predicted_hi));
	jl_buf_printf(out, "%s%s\n", row->noisy ? " ~" : "", jl_view_reset(cli));
	if (isfinite(row->energy_J))
		jl_buf_printf(out, JL_("%16s%s%s a step · %s a sample · %s (%s)%s\n"), "", jl_view_dim(cli),
			      jl_units_text(JL_TXT, row->energy_J, JL_K_ENERGY, 3),
			      jl_units_text(JL_TXT, row->energy_J / row->n_samples, JL_K_ENERGY, 3),
			      jl_units_text(JL_TXT, row->energy_J / row->step_s, JL_K_POWER, 3), row->energy_from,
			      jl_view_reset(cli));
}

void jl_train_view_row(struct jl_cli *cli, const struct jl_train_run *run, struct jl_train_table *table,
		       const struct jl_train_result *r)
{
	struct jl_buf *out = &cli->out;
	char text[JL_UNITS_TEXT_MAX];
	if (table->n >= JL_TRAIN_CONFIGS_MAX)
		return;
	struct jl_train_row *row = &table->rows[table->n++];
	*row = row_of(r, run, r->samples_per_s * r->step_s.median);
	if (cli->json)
		return;
	const struct jl_train_row *alone = first_alone(table);
	double ideal = alone ? alone->samples_per_s * r->config.n_workers : NAN;
	snprintf(text, sizeof text, "%d", r->config.n_workers);
	cell(out, text, 9);
	cell(out, r->config.n_workers == 1 ? "–" : jl_train_mode_names[r->config.mode], 7);
	if (!row->ok) {
		jl_buf_printf(out, "  %s: %s\n", JL_("failed"), r->err.text);
		return;
	}
	cell(out, number(text, row->samples_per_s), 11);
	cell(out, isfinite(ideal) ? number(text, ideal) : "–", 8);
	snprintf(text, sizeof text, "%.2fx", row->samples_per_s / (alone ? alone->samples_per_s : NAN));
	cell(out, alone ? text : "–", 10);
	cell(out, per_cent(JL_TXT, row->samples_per_s / ideal), 8);
	cell(out, per_cent(JL_TXT, row->exposed_s / row->step_s), 9);
	cell(out, jl_units_text(text, row->mem_B, JL_K_BYTES, 3), 9);
	jl_buf_puts(out, "\n");
	under_row(cli, row);
}

/* The row that the words are about: most workers, and of these the fastest. */
static const struct jl_train_row *largest(const struct jl_train_table *table)
{
	const struct jl_train_row *best = NULL;
	for (size_t i = 0; i < table->n; i++) {
		const struct jl_train_row *row = &table->rows[i];
		if (row->ok &&
		    (!best || row->config.n_workers > best->config.n_workers ||
		     (row->config.n_workers == best->config.n_workers && row->samples_per_s > best->samples_per_s)))
			best = row;
	}
	return best;
}

static void why_compute(struct jl_doc *doc, const struct jl_train_row *row)
{
	char a[JL_UNITS_TEXT_MAX], b[JL_UNITS_TEXT_MAX], by_cpu[64] = "";
	if (!isfinite(row->gemm_frac))
		return;
	if (isfinite(row->gemm_cpu_frac))
		jl_format(by_cpu, sizeof by_cpu, JL_("; by CPU time %.0f %%"), 100 * row->gemm_cpu_frac);
	jl_tell_entry(doc, JL_("Compute"), JL_MEASURED,
		      JL_("%s of %s that this machine's own product reaches: %.0f %%%s"),
		      jl_units_text(a, row->flop / row->step_s, JL_K_FLOP_RATE, 3),
		      jl_units_text(b, row->rates.gemm_flopps, JL_K_FLOP_RATE, 3), 100 * row->gemm_frac, by_cpu);
}

static void why_exposed(struct jl_doc *doc, const struct jl_train_row *row)
{
	double grad_B = row->grad_B;
	if (row->config.n_workers < 2)
		return;
	jl_tell_entry(
		doc, JL_("Exchange"), JL_MEASURED,
		JL_("%.0f %% of the step stands still for other workers: %s of gradients, all-reduce alone %s here, "
		    "%.2g s if nothing hides it"),
		100 * row->exposed_s / row->step_s, jl_units_text(JL_TXT, grad_B, JL_K_BYTES, 3),
		jl_units_text(JL_TXT, row->rates.allreduce_Bps, JL_K_BYTE_RATE, 3), grad_B / row->rates.allreduce_Bps);
}

/* Workers that share the same cores cannot be faster than one that has them all. */
static void why_cores(struct jl_doc *doc, const struct jl_train_row *alone, const struct jl_train_row *row)
{
	if (alone && row->n_threads < alone->n_threads)
		jl_tell_entry(doc, JL_("Why"), JL_MEASURED,
			      JL_("one worker already uses all %.0f cores; more workers share them. --threads 1 gives "
				  "each one core "
				  "and shows how they scale"),
			      alone->n_threads);
}

void jl_train_view_why(struct jl_cli *cli, const struct jl_train_run *run, const struct jl_train_table *table)
{
	const struct jl_train_row *row = largest(table), *alone = first_alone(table);
	struct jl_doc doc;

	if (cli->json || !row)
		return;
	jl_buf_puts(&cli->out, "\n");
	jl_view_page(cli, &doc);
	why_compute(&doc, alone ? alone : row);
	why_exposed(&doc, row);
	if (strcmp(run->kernels->name, "cpu") == 0)
		why_cores(&doc, alone, row);
	if (row->config.n_workers > 1 && row->exposed_s > NOTABLE_FRAC * row->step_s && run->n_micro == 1)
		jl_tell_entry(&doc, JL_("Try"), JL_MEASURED, "%s",
			      JL_("--accumulate 4: gradients are exchanged once for four micro-batches"));
	(void)jl_view_show(cli, &doc, NULL); /* its memory is looked at when all is printed */
}
