/* A day's load on copies of a served model: simulates one copy at several rates; day.c runs the day. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "serve/trial.h"

#define OVERLOAD  4.0 /* multiple of the held rate: gives the maximum throughput */
#define WAIT_FRAC 0.2 /* of the first token's target: longer waits for a copy miss it */

/* Share of the simulated requests within the targets; ttft: including the first token. */
static double within(const struct jl_trial *t, const struct jl_infer_ask *ask, bool ttft)
{
	size_t n = 0;

	for (size_t i = 0; i < t->r.n_ended + t->r.n_refused; i++) {
		const struct jl_served_request *s = &t->served[i];
		const double tpot_s = s->answer > 1 ? (s->last_s - s->first_s) / (s->answer - 1) : 0;

		n += !isnan(s->last_s) && !(ttft && s->first_s - s->arrival_s > ask->ttft_max_s) &&
		     !(tpot_s > ask->tpot_max_s);
	}
	return (double)n / (double)(t->r.n_ended + t->r.n_refused);
}

/* One copy at rates from light to slightly above its limit within the targets; then overloaded. */
static enum jl_status table_of(struct jl_day_copy *c, struct jl_trial *t, struct jl_infer_ask *own, int n_gpus,
			       struct jl_err *err)
{
	static const double at[] = { 0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.35 };

	own->rate_hz = OVERLOAD * c->held_hz;
	JL_TRY(jl_trial_run(t, n_gpus, 1, err));
	c->most_hz = fmax(t->r.requests_per_s, c->held_hz);
	c->most_within_frac = within(t, own, false);
	c->most_in_flight = t->r.batch_mean;
	c->wait_max_s = isnan(own->ttft_max_s) ? INFINITY : WAIT_FRAC * own->ttft_max_s;
	for (size_t i = 0; i < JL_LEN(at) && at[i] * c->held_hz < c->most_hz; i++) {
		own->rate_hz = at[i] * c->held_hz;
		JL_TRY(jl_trial_run(t, n_gpus, 1, err));
		if (at[i] > 1 && !jl_trial_keeps_up(t))
			break;
		c->hz[c->n] = own->rate_hz;
		c->within_frac[c->n] = within(t, own, true);
		c->in_flight[c->n++] = own->rate_hz * t->r.e2e_s.mean; /* Little's law */
	}
	return JL_OK;
}

static void say_policy(struct jl_day *d, int engine)
{
	const char *load = jl_engine_info(engine)->start.load;

	(void)snprintf(d->policy, sizeof(d->policy),
		       "# KEDA ScaledObject\n"
		       "pollingInterval: 15\nminReplicaCount: %d\nmaxReplicaCount: %d\n"
		       "advanced:\n  horizontalPodAutoscalerConfig:\n    behavior:\n"
		       "      scaleUp: {stabilizationWindowSeconds: 0}\n"
		       "      scaleDown: {stabilizationWindowSeconds: 300}\n"
		       "triggers:\n- type: prometheus\n  metricType: AverageValue\n  metadata:\n    query: %s\n    "
		       "threshold: \"%.*f\"",
		       d->scaled.least, d->scaled.most > d->fixed.most ? d->scaled.most : d->fixed.most,
		       load ? load : "<requests under way and waiting, all copies>", d->target < 10 ? 1 : 0, d->target);
}

static void say_size(struct jl_day_size *s, const struct jl_infer *a)
{
	s->gpu_h = s->mean * 24 * a->day.gpus;
	s->usd = a->rent.usdps > 0 ? s->gpu_h * 3600 * a->rent.usdps : NAN;
}

enum jl_status jl_infer_day(struct jl_infer *a, const struct jl_catalog *cat, const struct jl_machine *machine,
			    const struct jl_infer_ask *ask, struct jl_err *err)
{
	struct jl_infer_ask own = *ask;
	struct jl_day_copy copy = { .held_hz = a->rate_max_hz / fmax(a->n_copies, 1) };
	struct jl_day *const d = &a->day;
	struct jl_trial t;

	if (!a->fits)
		return JL_OK;
	if (!(a->rate_max_hz > 0))
		return jl_fail(err, JL_E_RANGE, "--day: a copy meets the targets at no rate: take wider ones");
	own.engine = jl_serve_engine(ask->engine, ask->weights, machine);
	own.kind = JL_LOAD_OPEN;
	own.n_gpus = a->n_gpus;
	own.n_stages = a->n_stages;
	JL_TRY(jl_trial_begin(&t, cat, machine, &own, err));
	t.served = jl_realloc(NULL, JL_TRIAL_REQUESTS * sizeof(*t.served));
	enum jl_status status = jl_got(t.served, err);

	JL_THEN(status, table_of(&copy, &t, &own, a->n_gpus, err));
	jl_free(t.served);
	jl_free(t.room);
	if (status)
		return status;
	*d = (struct jl_day){ .asked = true,
			      .peak_hz = ask->day->peak_hz,
			      .mean_hz = ask->day->mean_hz,
			      .load_s = a->weights_B * a->n_gpus / JL_NVME_BPS,
			      .copy_hz = copy.held_hz,
			      .gpus = a->n_gpus * a->n_stages };
	d->start_s = isnan(ask->start_s) ? JL_DAY_READY_S + d->load_s : ask->start_s;
	jl_day_weigh(d, ask->day, &copy);
	say_size(&d->fixed, a);
	say_size(&d->scaled, a);
	say_size(&d->same, a);
	say_policy(d, own.engine);
	return JL_OK;
}
