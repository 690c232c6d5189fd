#include "cli/train_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/view.h"
#include "train/records.h"

#define NOTABLE_FRAC 0.15 /* of a step: worth a sentence */

static const int columns[] = { 9, 7, 11, 8, 10, 8, 9, 9 };

static const char *number(char ret_text[JL_UNITS_TEXT_MAX], double value)
{
	return isfinite(value) ? jl_units_text(ret_text, value, JL_K_NUMBER, 3) : "–";
}

static const char *per_cent(char ret_text[16], double frac)
{
	(void)snprintf(ret_text, 16, isfinite(frac) ? "%.0f %%" : "–", 100 * frac);
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
	JL_LIVE(cli, columns, JL_("workers"), JL_("mode"), JL_("samples/s"), JL_("ideal"), JL_("speed-up"),
		JL_("effic."), JL_("exposed"), JL_("memory"));
	jl_buf_puts(out, "\n");
}

/* One worker by itself; NULL: it was not measured. */
static const struct jl_train_result *first_alone(const struct jl_train_table *table)
{
	for (const struct jl_train_result *r = table->rows; r < table->rows + table->n; r++)
		if (r->status == JL_OK && r->config.n_workers == 1)
			return r;
	return NULL;
}

static void under_row(struct jl_cli *cli, const struct jl_train_result *r)
{
	const double n_samples = r->samples_per_s * r->step_s.median;
	struct jl_buf *out = &cli->out;

	jl_buf_printf(out, "%16s%sloss %.3f → %.3f", "", jl_view_dim(cli), r->loss_first, r->loss_last);
	if (isfinite(r->expect.step_s))
		jl_buf_printf(out, JL_(" · predicted %s (%s–%s)"), number(JL_TXT, n_samples / r->expect.step_s),
			      number(JL_TXT, n_samples / r->expect.hi_s), number(JL_TXT, n_samples / r->expect.lo_s));
	jl_buf_printf(out, "%s%s\n", r->noise.noisy ? " ~" : "", jl_view_reset(cli));
	if (isfinite(r->energy_J))
		jl_buf_printf(out, JL_("%16s%s%s a step · %s a sample · %s (%s)%s\n"), "", jl_view_dim(cli),
			      jl_units_text(JL_TXT, r->energy_J, JL_K_ENERGY, 3),
			      jl_units_text(JL_TXT, r->energy_J / n_samples, JL_K_ENERGY, 3),
			      jl_units_text(JL_TXT, r->energy_J / r->step_s.median, JL_K_POWER, 3), r->energy_from,
			      jl_view_reset(cli));
}

void jl_train_view_row(struct jl_cli *cli, struct jl_train_table *table, const struct jl_train_result *r)
{
	const struct jl_train_result *alone;
	char workers[16], times[16];
	double ideal;

	if (table->n >= JL_TRAIN_CONFIGS_MAX)
		return;
	table->rows[table->n++] = *r;
	if (cli->json)
		return;
	alone = first_alone(table);
	ideal = alone ? alone->samples_per_s * r->config.n_workers : NAN;
	(void)snprintf(workers, sizeof workers, "%d", r->config.n_workers);
	(void)snprintf(times, sizeof times, alone ? "%.2fx" : "–", alone ? r->samples_per_s / alone->samples_per_s : 0);
	jl_view_live(
		cli, columns, 2,
		(const char *const[]){ workers, r->config.n_workers == 1 ? "–" : jl_train_mode_names[r->config.mode] });
	if (r->status != JL_OK) {
		jl_buf_printf(&cli->out, "  %s: %s\n", JL_("failed"), r->err.text);
		return;
	}
	jl_view_live(cli, columns + 2, JL_LEN(columns) - 2,
		     (const char *const[]){ number(JL_TXT, r->samples_per_s), number(JL_TXT, ideal), times,
					    per_cent(JL_TXT, r->samples_per_s / ideal),
					    per_cent(JL_TXT, r->exposed_s / r->step_s.median),
					    jl_units_text(JL_TXT, r->mem_B, JL_K_BYTES, 3) });
	jl_buf_puts(&cli->out, "\n");
	under_row(cli, r);
}

/* The row that the words are about: most workers, and of these the fastest. */
static const struct jl_train_result *largest(const struct jl_train_table *table)
{
	const struct jl_train_result *best = NULL;

	for (const struct jl_train_result *r = table->rows; r < table->rows + table->n; r++)
		if (r->status == JL_OK &&
		    (!best || r->config.n_workers > best->config.n_workers ||
		     (r->config.n_workers == best->config.n_workers && r->samples_per_s > best->samples_per_s)))
			best = r;
	return best;
}

static void why_compute(struct jl_doc *doc, const struct jl_train_result *r, const struct jl_train_run *run)
{
	const double cpu_frac = jl_train_gemm_cpu_frac(r, run);

	if (isfinite(jl_train_gemm_frac(r)))
		jl_tell_entry(
			doc, JL_("Compute"), JL_MEASURED,
			JL_("%s of %s that this machine's own product reaches: %.0f %%%s"),
			jl_units_text(JL_TXT, r->flop / r->step_s.median, JL_K_FLOP_RATE, 3),
			jl_units_text(JL_TXT, r->rates.gemm_flopps, JL_K_FLOP_RATE, 3), 100 * jl_train_gemm_frac(r),
			isfinite(cpu_frac) ? jl_tell_text(doc, JL_("; by CPU time %.0f %%"), 100 * cpu_frac) : "");
}

void jl_train_view_why(struct jl_cli *cli, const struct jl_train_run *run, const struct jl_train_table *table)
{
	const struct jl_train_result *r = largest(table), *alone = first_alone(table);
	struct jl_doc doc;

	if (cli->json || !r)
		return;
	jl_buf_puts(&cli->out, "\n");
	jl_view_page(cli, &doc);
	why_compute(&doc, alone ? alone : r, run);
	if (r->config.n_workers > 1)
		jl_tell_entry(
			&doc, JL_("Exchange"), JL_MEASURED,
			JL_("%.0f %% of the step stands still for other workers: %s of gradients, all-reduce alone "
			    "%s here, %.2g s if nothing hides it"),
			100 * r->exposed_s / r->step_s.median, jl_units_text(JL_TXT, r->grad_B, JL_K_BYTES, 3),
			jl_units_text(JL_TXT, r->rates.allreduce_Bps, JL_K_BYTE_RATE, 3),
			r->grad_B / r->rates.allreduce_Bps);
	/* workers that share the same cores cannot be faster than one that has them all */
	if (strcmp(run->kernels->name, "cpu") == 0 && alone && r->n_threads < alone->n_threads)
		jl_tell_entry(&doc, JL_("Why"), JL_MEASURED,
			      JL_("one worker already uses all %.0f cores; more workers share them. --threads 1 gives "
				  "each one core "
				  "and shows how they scale"),
			      (double)alone->n_threads);
	if (r->config.n_workers > 1 && r->exposed_s > NOTABLE_FRAC * r->step_s.median && run->n_micro == 1)
		JL_ENTRY(&doc, JL_("Try"), JL_MEASURED,
			 "--accumulate 4: gradients are exchanged once for four micro-batches");
	(void)jl_view_show(cli, &doc, NULL); /* its memory is looked at when all is printed */
}
