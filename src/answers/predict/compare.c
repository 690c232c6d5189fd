/* Predicts one run on several systems and compares them. */
#include "predict/compare.h"

#include <math.h>

static const struct jl_estimate unknown = { NAN, NAN, NAN };

/* Half-width of an interval, as ln. */
static double half_ln(const struct jl_estimate *e)
{
	return 0.5 * log(e->hi / e->lo);
}

/* Derives epoch, run, scenarios, speedup over `base_samples_per_s` and energy from the step time. base_half_ln: the baseline's uncertainty;
 * common errors of the model cancel in the ratio. */
static void follow_up(struct jl_compare_at *at, const struct jl_compare *compare, double base_samples_per_s,
		      double base_half_ln)
{
	const struct jl_estimate *s = &at->step_s;
	const double ratio_ln = jl_ratio_half_ln(&compare->rows[0].machine.widths, half_ln(s), base_half_ln);
	const double speedup = at->batch / s->value / base_samples_per_s;

	at->epoch_s = isnan(at->batches) ? unknown : jl_estimate_times(*s, at->batches);
	at->run_s = jl_estimate_times(at->epoch_s, compare->epochs);
	at->repeat_s = jl_estimate_times(at->run_s, compare->repeat);
	at->tune_s = jl_estimate_times(at->run_s, compare->tune);
	/* keeps the asymmetry of the step's interval; against a measured baseline it is inverted */
	const double share = half_ln(s) > 0 ? ratio_ln / half_ln(s) : 0;
	const double slower = share > 0 ? share * log(s->hi / s->value) : ratio_ln,
		     faster = share > 0 ? share * log(s->value / s->lo) : ratio_ln;

	at->speedup = (struct jl_estimate){ speedup, speedup * exp(-slower), speedup * exp(faster) };
	at->energy_J = jl_energy_of(isnan(at->batches) ? *s : at->run_s, at->power_W * compare->pue, at->power_half_ln);
}

static void carry_row(struct jl_compare *compare, struct jl_compare_row *row, const struct jl_observed *run)
{
	const struct jl_machine *base = &compare->rows[0].machine;
	const double largest = fmax(1, row->limit) * row->n_devices;

	for (int a = 0; a < JL_N_AT; a++) {
		struct jl_compare_at *at = &row->at[a];
		const double batch = a == JL_AT_SAME_BATCH ? run->batch : largest;
		struct jl_carried c;

		jl_observed_carry(&c, run, base, &row->machine, batch, row->limit);
		*at = (struct jl_compare_at){ .possible = true,
					      .fits = row->limit >= 1,
					      .batch = c.batch,
					      .micro_batch = c.micro_batch,
					      .n_passes = c.n_passes,
					      .step_s = c.step_s,
					      .part_s = c.part_s,
					      .power_W = c.power_W,
					      .power_half_ln = jl_power_half_ln(&row->machine, c.power_W),
					      .host_power = c.host_power,
					      .batches = jl_observed_batches(run, batch) };
		follow_up(at, compare, run->batch / run->step_s, 0);
		if (at->step_s.lo == at->step_s.hi && !isnan(run->watts_W)) /* both were measured */
			at->energy_J.lo = at->energy_J.hi = at->energy_J.value;
	}
}

static void note_observed(struct jl_compare *compare, const struct jl_observed *run)
{
	const struct jl_mix *mix = &jl_mixes[run->kind];
	const bool billions = mix->params_most >= 1e9;
	bool hosts = true;

	for (size_t i = 0; i < compare->n_rows; i++)
		hosts &= compare->rows[i].at[JL_AT_SAME_BATCH].host_power;
	if (isnan(run->sample_B))
		jl_note_add(&compare->notes, "memory-per-sample",
			    "a batch of %.0f filled one baseline device at most, so others take at least as much as "
			    "their memory allows",
			    isnan(run->batch_limit) ? ceil(run->batch / compare->rows[0].n_devices) : run->batch_limit);
	if (isnan(run->params))
		jl_note_add(&compare->notes, "params",
			    "%.3gM parameters (%.0fM to %.3g%s): gradients that are exchanged, fixed memory",
			    mix->params / 1e6, mix->params_least / 1e6, mix->params_most / (billions ? 1e9 : 1e6),
			    billions ? "B" : "M");
	if (run->dtype == JL_UNSET)
		jl_note_add(&compare->notes, "precision",
			    "format not known: the middle of fp32 and fp16, and the interval spans both");
	if (!hosts)
		jl_note_add(&compare->notes, "watts",
			    isnan(run->watts_W) ? JL_N("energy of the devices alone, without the rest of the host")
						: JL_N("energy as measured for the baseline; of the devices alone, "
						       "without their hosts, for the others"));
	if (hosts)
		jl_note_add(&compare->notes, "watts",
			    isnan(run->watts_W) ? JL_N("energy counts the hosts, as such machines draw")
						: JL_N("energy as measured for the baseline; the others with their "
						       "hosts, as such machines draw"));
	for (size_t i = 0; i < compare->n_rows; i++)
		if (!compare->rows[i].machine.sys.gpu) {
			jl_note_add(&compare->notes, "on",
				    "a CPU computes in fp32 and has all the memory that it can take");
			break;
		}
}

static void set_defaults(struct jl_compare *compare, double epochs)
{
	compare->notes.n = 0;
	if (isnan(compare->epochs))
		compare->epochs = epochs;
	if (isnan(compare->pue))
		compare->pue = 1;
	for (size_t i = 0; i < compare->n_rows; i++) {
		struct jl_compare_row *row = &compare->rows[i];

		row->system = row->machine.sys.text;
		row->n_devices = jl_sys_n_devices(&row->machine.sys);
		row->baseline = i == 0;
		row->observed = false;
		row->plan = (struct jl_plan){ .dp = 0 };
	}
}

enum jl_status jl_compare_observed(struct jl_compare *compare, const struct jl_observed *run, struct jl_err *err)
{
	const struct jl_machine *base = &compare->rows[0].machine;

	JL_TRY(jl_observed_check(run, base, err));
	set_defaults(compare, JL_COMPARE_OBSERVED_EPOCHS);
	for (size_t i = 1; i < compare->n_rows; i++)
		JL_TRY(jl_observed_check_target(run, &compare->rows[i].machine, err));
	for (size_t i = 0; i < compare->n_rows; i++) {
		struct jl_compare_row *row = &compare->rows[i];

		row->limit = jl_observed_limit(run, base, &row->machine);
		if (i == 0) /* an observed run is not split into passes */
			row->limit = fmax(row->limit, ceil(run->batch / row->n_devices));
		row->observed = i == 0;
		carry_row(compare, row, run);
	}
	note_observed(compare, run);
	compare->subject = NULL;
	compare->seen.run = *run;
	jl_observed_split(&compare->seen.mix, run, base);
	return JL_OK;
}

static void from_case(struct jl_compare_at *at, const struct jl_case *c, const struct jl_catalog *cat, double samples)
{
	struct jl_prediction p;

	jl_predict(&p, cat, c);
	*at = (struct jl_compare_at){ .possible = true,
				      .fits = p.room != JL_ROOM_NONE,
				      .batch = c->global_batch,
				      .micro_batch = c->shard.micro_batch,
				      .n_passes = c->plan.n_micro,
				      .step_s = p.step_s,
				      .power_W = p.power_W,
				      .power_half_ln = jl_power_half_ln(&c->machine, p.power_W),
				      .host_power = !isnan(c->machine.host_idle_W),
				      .part_s = { NAN, NAN, NAN, NAN },
				      .batches = ceil(samples / c->global_batch - 1e-9) };
}

/* Samples per epoch from samples, tokens or steps; NAN: not given. */
static double epoch_samples(const struct jl_request *req, const struct jl_case *base)
{
	if (!isnan(req->samples))
		return req->samples;
	if (!isnan(req->tokens))
		return req->tokens / base->shard.seq;
	return req->steps_per_epoch * base->global_batch;
}

static void weigh_row(struct jl_compare *compare, struct jl_compare_row *row, const struct jl_catalog *cat,
		      struct jl_case *c, double samples, const struct jl_case *base)
{
	const double base_rate = base->global_batch / jl_case_price(base).step.step_s;

	from_case(&row->at[JL_AT_SAME_BATCH], c, cat, samples);
	const double base_half_ln = half_ln(&compare->rows[0].at[JL_AT_SAME_BATCH].step_s); /* row 0 is the baseline */

	follow_up(&row->at[JL_AT_SAME_BATCH], compare, base_rate, base_half_ln);
	if (row->baseline) /* no uncertainty against itself */
		row->at[JL_AT_SAME_BATCH].speedup = (struct jl_estimate){ 1, 1, 1 };
	row->plan = c->plan;
	row->framework = c->framework;
	row->limit = jl_case_max_micro_batch(c);
	if (row->at[JL_AT_SAME_BATCH].fits) /* as requested, even within the memory margin */
		row->limit = fmax(row->limit, c->shard.micro_batch);
	if (!(row->limit >= 1)) {
		row->at[JL_AT_LARGEST_BATCH] = row->at[JL_AT_SAME_BATCH];
		return;
	}
	/* a pipeline keeps its number of passes; otherwise the batch is run in one pass */
	if (c->plan.pp > 1)
		row->limit = c->shard.micro_batch;
	c->shard.micro_batch = row->limit;
	c->plan.n_micro = c->plan.pp > 1 ? c->plan.n_micro : 1;
	c->global_batch = c->shard.micro_batch * c->plan.n_micro * c->plan.dp;
	from_case(&row->at[JL_AT_LARGEST_BATCH], c, cat, samples);
	follow_up(&row->at[JL_AT_LARGEST_BATCH], compare, base_rate, base_half_ln);
}

enum jl_status jl_compare_model(struct jl_compare *compare, const struct jl_catalog *cat,
				const struct jl_subject *subject, const struct jl_request *req, struct jl_err *err)
{
	struct jl_case base, c;
	struct jl_request same = *req;
	double samples;

	JL_TRY(jl_case_choose(&base, cat, subject, &compare->rows[0].machine, req, err));
	set_defaults(compare, 1);
	samples = epoch_samples(req, &base);
	same.global_batch = base.global_batch;
	same.batch = same.accumulate = same.micro_batch = NAN;
	for (size_t i = 0; i < compare->n_rows; i++) {
		struct jl_compare_row *row = &compare->rows[i];
		struct jl_err why = { 0 };

		c = base;
		if (i && jl_case_choose(&c, cat, subject, &row->machine, &same, &why)) {
			row->limit = NAN;
			row->at[JL_AT_SAME_BATCH] = row->at[JL_AT_LARGEST_BATCH] = (struct jl_compare_at){ .why = why };
			continue;
		}
		weigh_row(compare, row, cat, &c, samples, &base);
	}
	compare->notes = base.notes;
	compare->subject = subject;
	return JL_OK;
}
