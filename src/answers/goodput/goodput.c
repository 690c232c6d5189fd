#include "goodput/goodput.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/find.h"

#define DAY_S        86400.0
#define MONTH_S      (30 * DAY_S)
#define DRAWS        1001
#define RUNS         501 /* as above, for the run time */
#define SEED         48
#define EVENTS       30    /* failures of a run that are drawn individually */
#define SLOT_EVENTS  20000 /* failures in a calendar slot above which they are not drawn */
#define SEEN_HALF_LN 0.03  /* of a run with observed steps: half of an 80 % interval */
#define Z80          1.2815515655446004

struct jl_goodput_ask jl_goodput_ask_empty(void)
{
	return (struct jl_goodput_ask){ .checkpoint = JL_UNSET,
					.recovery = JL_UNSET,
					.checkpoint_B = NAN,
					.interval_s = NAN,
					.store_Bps = NAN,
					.load_Bps = NAN,
					.detect_s = NAN,
					.restart_s = NAN,
					.repair_s = NAN,
					.n_spares = NAN,
					.jitter_frac = NAN,
					.stall_s = NAN,
					.congestion_frac = NAN,
					.planned_per_day = NAN,
					.node_per_day = NAN,
					.job_per_day = NAN,
					.mttf_s = NAN,
					.n_failures = NAN,
					.observed_s = NAN,
					.krw_per_usd = NAN,
					.campus = jl_campus_ask_empty() };
}

/* --- uncertainty of times and rates */

struct unsure {
	double detect_ln, restart_ln, store_ln; /* half of an 80 % interval; 0: given */
};

static struct unsure unsure_of(const struct jl_catalog *cat, const struct jl_goodput_ask *ask)
{
	const bool blocking = ask->checkpoint == JL_CHECKPOINT_BLOCKING;
	const double store_ln = jl_figure(cat, blocking ? "checkpoint-plain-width" : "checkpoint-store-width");

	return (struct unsure){ .detect_ln = isnan(ask->detect_s) ? jl_figure(cat, "failure-detect-width") : 0,
				.restart_ln = isnan(ask->restart_s) ? jl_figure(cat, "failure-restart-width") : 0,
				.store_ln = isnan(ask->store_Bps) || blocking ? store_ln : 0 };
}

static double spread(struct jl_draws *draws, double half_ln)
{
	return exp(jl_draw_normal(draws) / Z80 * half_ln);
}

/* One possible setting. The planned interval stays. */
static double draw_point(struct jl_goodput_point *ret_point, const struct jl_goodput_setting *setting,
			 const struct jl_rates *rates, const struct unsure *unsure, struct jl_draws *draws)
{
	struct jl_goodput_setting s = *setting;
	const double rate_hz = jl_rates_draw_hz(rates, s.n_nodes, s.per_node, draws);

	s.detect_s *= spread(draws, unsure->detect_ln);
	s.restart_s *= spread(draws, unsure->restart_ln);
	const double faster = spread(draws, unsure->store_ln);

	s.store_Bps *= faster;
	s.save_s /= faster;
	jl_goodput_point(ret_point, &s, rate_hz);
	return rate_hz;
}

/* The interval planned at the median rate. */
static struct jl_goodput_setting planned(const struct jl_goodput_setting *setting, const struct jl_goodput_point *at)
{
	struct jl_goodput_setting s = *setting;

	s.interval_s = jl_goodput_written(at)->work_s;
	return s;
}

static struct jl_estimate effective(const struct jl_goodput_setting *setting, const struct jl_rates *rates,
				    const struct unsure *unsure, double share, double *ret_median_hz)
{
	const double rate_hz = jl_rates_of(rates, setting->n_nodes, setting->per_node, share).value;
	struct jl_draws draws = { SEED };
	struct jl_goodput_point point;
	double values[DRAWS];

	jl_goodput_point(&point, setting, rate_hz);
	const struct jl_goodput_setting fixed = planned(setting, &point);
	const double central = point.effective_frac;

	for (int i = 0; i < DRAWS; i++) {
		draw_point(&point, &fixed, rates, unsure, &draws);
		values[i] = point.effective_frac;
	}
	struct jl_estimate e = jl_quantiles(values, DRAWS, share);

	e.value = fmin(fmax(central, e.lo), e.hi);
	if (ret_median_hz)
		*ret_median_hz = rate_hz;
	return e;
}

struct jl_estimate jl_goodput_effective(const struct jl_catalog *cat, const struct jl_goodput_setting *setting,
					const struct jl_rates *rates, double share)
{
	const struct jl_goodput_ask nothing = jl_goodput_ask_empty();
	const struct unsure unsure = unsure_of(cat, &nothing);

	return effective(setting, rates, &unsure, share, NULL);
}

/* --- the setting of a job */

static double checkpoint_B(const struct jl_case *c)
{
	const double states_B = c->plan.weight_B + c->plan.optimizer_B;
	const double trained = c->plan.trained_frac > 0 ? c->plan.trained_frac : 1;

	return jl_subject_params(&c->subject) * trained * (states_B > 0 ? states_B : 12);
}

static void note_defaults(struct jl_notes *notes, const struct jl_goodput_setting *s, const struct jl_goodput_ask *ask,
			  const struct jl_case *c)
{
	const double tokens = jl_case_tokens(c);

	if (tokens >= 1e6 && !ask->seen)
		jl_note_add(notes, "global-batch", "a step takes %.3g million tokens", tokens / 1e6);
	else if (tokens > 0 && !ask->seen)
		jl_note_add(notes, "global-batch", "a step takes %.0f tokens", tokens);
	if (ask->checkpoint == JL_UNSET)
		jl_note_add(notes, "checkpoint", "asynchronous checkpoints");
	if (isnan(ask->checkpoint_B))
		jl_note_add(notes, "checkpoint-size", "a checkpoint holds weights and optimizer states, %s",
			    jl_units_text(JL_TXT, s->checkpoint_B, JL_K_BYTES, 3));
	if (isnan(ask->store_Bps))
		jl_note_add(notes, "store-rate", "%s to and from shared storage, all nodes together",
			    jl_units_text(JL_TXT, s->store_Bps, JL_K_BYTE_RATE, 2));
	if (isnan(ask->load_Bps))
		jl_note_add(notes, "load-rate", "loading takes %.2g times as long as writing", s->load_ratio);
	if (isnan(ask->restart_s))
		jl_note_add(notes, "restart", "%s to restart, loading not counted (5 to 20 min published)",
			    jl_units_text(JL_TXT, s->restart_s, JL_K_TIME, 2));
	if (isnan(ask->detect_s))
		jl_note_add(notes, "detect", "%s on average until a failure is acted on",
			    jl_units_text(JL_TXT, s->detect_s, JL_K_TIME, 2));
	if (isnan(ask->n_spares))
		jl_note_add(notes, "spares", "%d spare node{/s}; idle ones cost 2 %% of the job's", s->n_spares);
	if (isnan(ask->repair_s))
		jl_note_add(notes, "repair", "%s until a node that was taken out is back",
			    jl_units_text(JL_TXT, s->repair_s, JL_K_TIME, 2));
	if (!c->machine.sys.gpu)
		jl_note_add(notes, "site", "hosts without GPUs: no failure rates of such jobs are published");
}

/* One group of ranks that holds all states: a replica, or the ranks over which states or experts are split. Where that is the whole job, a
 * replica still fails alone and the others lose its part. */
static void set_replicas(struct jl_goodput_setting *s, const struct jl_plan *plan)
{
	const double ranks = fmax(1, plan->dp * plan->cp), cut = plan->shard > 0 ? plan->shard : ranks;
	const double group = fmax(fmax(plan->cp, plan->ep), plan->zero ? cut : 1);

	s->states_cut = group >= ranks;
	s->replica_frac = s->states_cut ? 1 / fmax(1, plan->dp) : group / ranks;
}

/* The job's settings, with defaults where none are given. */
static void job_setting(struct jl_goodput_setting *s, const struct jl_catalog *cat, const struct jl_case *c,
			const struct jl_step_cost *step)
{
	const double per_node = fmin(jl_sys_per_tray(&c->machine.sys), c->n_gpus);

	jl_goodput_default(s, cat, ceil(c->n_gpus / per_node), per_node, checkpoint_B(c), step->step_s);
	s->n_gpus = c->n_gpus;
	set_replicas(s, &c->plan);
	s->exchange_frac = (step->tp_s + step->cp_s + step->ep_s + step->dp_s + step->send_s) / step->step_s;
}

/* Values given or observed, for any size; spares are a share of the nodes. */
static void take_given(struct jl_goodput_setting *s, const struct jl_goodput_ask *ask, const struct jl_catalog *cat,
		       double own_nodes)
{
	s->interval_s = ask->interval_s;
	s->stall_s = ask->stall_s;
	s->load_Bps = ask->load_Bps;
	s->planned_hz = jl_given_or(ask->planned_per_day / DAY_S, s->planned_hz);
	if (!isnan(ask->n_spares))
		s->paid_spares = s->n_spares = (int)round(ask->n_spares * s->n_nodes / own_nodes);
	if (!isnan(ask->jitter_frac)) {
		/* predicted steps have what the usual spread takes on a few nodes */
		const double known = jl_slowest_of(fmin(s->n_nodes, jl_figure(cat, "straggler-nodes")));

		s->straggle_frac = fmax(0, ask->jitter_frac * jl_slowest_of(s->n_nodes) -
						   jl_figure(cat, "straggler-jitter") * known);
	}
	if (ask->seen && isnan(ask->jitter_frac)) /* observed steps include slow nodes; stalls are separate */
		s->straggle_frac = (ask->seen->stall_s + ask->seen->warmup_s) / ask->seen->useful_s;
	s->straggle_frac += s->exchange_frac * jl_given_or(ask->congestion_frac, 0);
	s->store_Bps = jl_given_or(ask->store_Bps, s->store_Bps);
}

/* Each of 8 groups holds what the whole job held before. */
static bool groups_fit(const struct jl_prediction *p, const struct jl_plan *plan)
{
	const struct jl_memory *m = &p->memory;
	const double cut_B = m->optimizer_B + (plan->zero > 1 ? m->gradients_B : 0) +
			     (plan->zero > 2 ? m->weights_B : 0);

	return m->total_B + 7 * cut_B < 0.95 * p->capacity_B;
}

static void read_setting(struct jl_goodput *g, const struct jl_catalog *cat, const struct jl_goodput_ask *ask)
{
	const struct jl_case *c = &g->job->how;
	struct jl_goodput_setting *s = &g->setting;

	job_setting(s, cat, c, &g->job->prediction.step);
	s->checkpoint_B = jl_given_or(ask->checkpoint_B, s->checkpoint_B);
	if (ask->checkpoint != JL_UNSET)
		s->checkpoint = (enum jl_checkpoint)ask->checkpoint;
	if (ask->recovery != JL_UNSET)
		s->recovery = (enum jl_recovery)ask->recovery;
	take_given(s, ask, cat, s->n_nodes);
	if (g->whole_run)
		s->most_s = fmax(s->step_s, g->plain_s);
	s->detect_s = jl_given_or(ask->detect_s, s->detect_s);
	s->restart_s = jl_given_or(ask->restart_s, s->restart_s);
	s->repair_s = jl_given_or(ask->repair_s, s->repair_s);
	s->groups_fit = groups_fit(&g->job->prediction, &c->plan);
	note_defaults(&g->notes, s, ask, c);
}

/* Of the whole job, on average; NAN where the log has none. */
static double log_tokens_per_s(const struct jl_runlog *log, double n_gpus)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < log->n_steps; i++)
		if (log->steps[i].tokens_per_s > 0) {
			sum += log->steps[i].tokens_per_s * (log->steps[i].per_gpu ? n_gpus : 1);
			n++;
		}
	return sum / n;
}

enum jl_status jl_goodput_take_log(struct jl_job *io_job, struct jl_goodput_ask *io_ask, const struct jl_runlog *log,
				   const struct jl_run_spent *spent, struct jl_err *err)
{
	struct jl_prediction *p = &io_job->prediction;
	const double last = log->n_steps ? log->steps[log->n_steps - 1].step : NAN;
	const double step_s = spent->step_s, unhurt = 1 + spent->evaluation_s / spent->useful_s;
	const double ratio = jl_job_work_ratio(io_job, log_tokens_per_s(log, io_job->how.n_gpus), NAN, step_s);
	const double asked = p->whole_run ? p->run_s.value / p->step_s.value / ratio : NAN;
	const double total = log->n_total > 0 ? log->n_total : asked;

	if (!(step_s > 0) || !(spent->useful_s > 0) || !(last >= 0))
		return jl_fail(err, JL_E_DATA, "--log: its lines have neither times nor the time of a step");
	io_ask->seen = spent;
	io_ask->seen_steps = last;
	io_ask->left_steps = isnan(total) ? NAN : fmax(0, total - last);
	p->step_s = (struct jl_estimate){ step_s, step_s, step_s };
	p->step.step_s = step_s;
	if (!isnan(total)) {
		p->whole_run = true;
		p->run_s = jl_estimate_around(fmax(step_s, io_ask->left_steps * step_s * unhurt), SEEN_HALF_LN);
	}
	io_ask->interval_s = jl_given_or(io_ask->interval_s, spent->interval_steps * step_s);
	io_ask->stall_s = spent->stall_each_s;
	if (spent->n_restarts && spent->restart_s > 0 && isnan(io_ask->restart_s)) {
		/* from the last step to the next: includes detection and loading */
		io_ask->detect_s = 0;
		io_ask->load_Bps = INFINITY;
		io_ask->restart_s = spent->restart_s / (double)spent->n_restarts;
		io_ask->repair_s = jl_given_or(io_ask->repair_s, 0); /* includes waiting for a node */
	}
	return JL_OK;
}

static enum jl_status read_rates(struct jl_goodput *g, const struct jl_catalog *cat, const struct jl_goodput_ask *ask,
				 struct jl_err *err)
{
	JL_TRY(ask->site ? jl_rates_site(&g->rates, cat, ask->site, err) : jl_rates_pool(&g->rates, cat, NULL, err));
	if (!isnan(ask->n_failures))
		jl_rates_learn(&g->rates, ask->n_failures, ask->observed_s, g->setting.n_nodes, g->setting.per_node);
	else if (ask->seen && !ask->site && isnan(ask->mttf_s))
		jl_rates_learn(&g->rates, (double)ask->seen->n_restarts, ask->seen->elapsed_s, g->setting.n_nodes,
			       g->setting.per_node);
	jl_rates_given(&g->rates, ask->node_per_day, ask->job_per_day);
	if (!isnan(ask->mttf_s))
		jl_rates_total(&g->rates, ask->mttf_s, g->setting.n_nodes, g->setting.per_node);
	if (g->rates.n_sites > 0)
		jl_note_add(&g->notes, "site", "failures of an unknown site, from %.0f published ones",
			    g->rates.n_sites);
	return JL_OK;
}

/* --- the run */

/* The plain run as one possible value from its interval. */
static double draw_plain_s(const struct jl_goodput *g, struct jl_draws *draws)
{
	const struct jl_estimate *run_s = &g->run_s;
	const double z = jl_draw_normal(draws) / Z80;

	if (!g->whole_run)
		return g->plain_s;
	return run_s->value * pow(z > 0 ? run_s->hi / run_s->value : run_s->value / run_s->lo, z);
}

/* Simulates one run with random failures. Large numbers of failures are approximated by a normal distribution, so that 100,000 GPUs take no
 * longer than 1,000; small numbers are drawn individually. */
static double draw_elapsed_s(const struct jl_goodput *g, const struct jl_goodput_setting *fixed,
			     const struct unsure *unsure, struct jl_draws *draws)
{
	struct jl_goodput_point p;
	struct jl_run_out run;
	const double rate_hz = draw_point(&p, fixed, &g->rates, unsure, draws);
	const double work_s = draw_plain_s(g, draws) * (1 + g->setting.straggle_frac + g->setting.throttle_frac);
	const double long_run_s = work_s / p.effective_frac;
	const double still = p.frac[JL_CAUSE_DETECT] + p.frac[JL_CAUSE_WAIT];
	const double n = rate_hz * long_run_s * (1 - still);

	if (!(n < INFINITY))
		return long_run_s;
	if (n <= EVENTS) {
		jl_cycle_run(&run, &(struct jl_run_in){ p.cycle, work_s, INFINITY, NULL }, draws);
		return fmax(work_s, jl_spent_sum(&run.spent) * (1 + g->setting.planned_hz * p.planned_s));
	}
	const double each_s = (p.frac[JL_CAUSE_LOST] + still + p.frac[JL_CAUSE_RESTART]) * long_run_s / n;
	const double segment_s = jl_goodput_written(&p)->work_s;

	return fmax(work_s,
		    long_run_s + jl_draw_normal(draws) * sqrt(n * (each_s * each_s + segment_s * segment_s / 12)));
}

static void weigh_run(struct jl_goodput *g, const struct unsure *unsure)
{
	const struct jl_goodput_setting fixed = planned(&g->setting, &g->point);
	struct jl_draws draws = { SEED };
	double values[RUNS];

	if (!g->whole_run) {
		g->elapsed_s = (struct jl_estimate){ MONTH_S, MONTH_S, MONTH_S };
		g->plain_s = MONTH_S * g->point.frac[JL_CAUSE_USEFUL];
		return;
	}
	for (int i = 0; i < RUNS; i++)
		values[i] = draw_elapsed_s(g, &fixed, unsure, &draws);
	g->elapsed_s = jl_quantiles(values, RUNS, 0.8);
	g->elapsed_s.value = fmin(fmax(g->plain_s / g->point.frac[JL_CAUSE_USEFUL], g->elapsed_s.lo), g->elapsed_s.hi);
}

struct jl_elapsed jl_goodput_elapsed(const struct jl_catalog *cat, const struct jl_case *c,
				     const struct jl_prediction *prediction)
{
	const struct jl_goodput_ask nothing = jl_goodput_ask_empty();
	const struct unsure unsure = unsure_of(cat, &nothing);
	const struct jl_estimate *run_s = &prediction->run_s;
	struct jl_elapsed e = { .useful_frac = NAN, .time_s = *run_s, .cost_usd = prediction->cost_usd };
	struct jl_goodput g = { .whole_run = prediction->whole_run, .run_s = *run_s, .plain_s = run_s->value };
	struct jl_err ignored;

	if (!prediction->whole_run || jl_rates_pool(&g.rates, cat, NULL, &ignored))
		return e;
	job_setting(&g.setting, cat, c, &prediction->step);
	g.setting.most_s = fmax(g.setting.step_s, g.plain_s);
	jl_goodput_point(&g.point, &g.setting, jl_rates_median_hz(&g.rates, g.setting.n_nodes, g.setting.per_node));
	e.useful_frac = fmax(g.point.frac[JL_CAUSE_USEFUL], JL_GOODPUT_LEAST_FRAC);
	if (g.point.frac[JL_CAUSE_USEFUL] > JL_GOODPUT_LEAST_FRAC) {
		weigh_run(&g, &unsure);
		e.time_s = g.elapsed_s;
	} else {
		e.time_s = jl_estimate_times(e.time_s, 1 / e.useful_frac);
	}
	e.cost_usd = jl_estimate_times(e.time_s, prediction->cost_usd.value / run_s->value);
	return e;
}

/* A simulation at the median rate, long enough for 10,000 failures: checks the closed form. */
static double simulate(const struct jl_goodput_point *p, double planned)
{
	struct jl_draws draws = { SEED };
	struct jl_run_out run;
	const double share = jl_cycle_spent(&p->cycle).useful;

	if (!(p->cycle.rate_hz > 0) || !(share > JL_GOODPUT_LEAST_FRAC))
		return share / (1 + planned);
	jl_cycle_run(&run, &(struct jl_run_in){ p->cycle, share * 10000 / p->cycle.rate_hz, INFINITY, NULL }, &draws);
	return run.spent.useful / jl_spent_sum(&run.spent) / (1 + planned);
}

/* One run at the median rate, day by day or in slots of a usual length. */
static void draw_calendar(struct jl_goodput *g)
{
	static const double slots_s[] = {
		3600, 3 * 3600, 6 * 3600, 12 * 3600, DAY_S, 2 * DAY_S, 7 * DAY_S, 30 * DAY_S
	};
	const double stops = g->setting.planned_hz * g->elapsed_s.value;
	const double work_s = g->elapsed_s.value * g->point.effective_frac;
	struct jl_draws draws = { SEED };
	struct jl_run_out run;
	size_t k = 0;

	while (k + 1 < JL_LEN(slots_s) && g->elapsed_s.value > 45 * slots_s[k])
		k++;
	g->calendar.slot_s = fmax(slots_s[k], g->elapsed_s.value / 45);
	g->calendar.planned_s = g->point.planned_s;
	g->calendar.every_s = g->setting.planned_hz > 0 ? 1 / g->setting.planned_hz : 0;
	if (g->point.cycle.rate_hz * g->elapsed_s.value + stops < 100 * SLOT_EVENTS)
		jl_cycle_run(&run, &(struct jl_run_in){ g->point.cycle, work_s, 2 * g->elapsed_s.value, &g->calendar },
			     &draws);
}

static void account(struct jl_goodput *g)
{
	const struct jl_prediction *p = &g->job->prediction;
	const double elapsed_s = g->elapsed_s.value, gpus = g->setting.n_gpus;

	for (int i = 0; i < JL_N_CAUSE; i++) {
		const double time_s = g->point.frac[i] * elapsed_s;
		const bool stands = i >= JL_CAUSE_DETECT && i <= JL_CAUSE_PLANNED;

		g->parts[i] = (struct jl_goodput_part){ .key = jl_causes[i].key,
							.en = jl_causes[i].en,
							.frac = g->point.frac[i],
							.time_s = time_s,
							.gpu_s = time_s * gpus,
							.energy_J = time_s *
								    (stands ? g->campus.standing_W : g->campus.site_W),
							.cost_usd = time_s * gpus * p->rent.usdps };
	}
	g->spare_gpu_s = elapsed_s * g->setting.paid_spares * g->setting.per_node;
	g->spare_usd = g->spare_gpu_s * p->rent.usdps;
	g->rent_usd = elapsed_s * gpus * p->rent.usdps + g->spare_usd;
}

/* The cost of a failure depends on its kind: detection time, and whether a node must be replaced. */
static void account_kinds(struct jl_goodput *g, const struct jl_catalog *cat, const struct jl_goodput_ask *ask)
{
	const double usdps = g->job->prediction.rent.usdps;
	const double n_failures = g->point.cycle.rate_hz * g->elapsed_s.value *
				  (1 - g->point.frac[JL_CAUSE_DETECT] - g->point.frac[JL_CAUSE_WAIT]);
	const double each_s = (g->point.frac[JL_CAUSE_LOST] + g->point.frac[JL_CAUSE_RESTART]) * g->elapsed_s.value /
			      fmax(n_failures, 1e-300);
	double shares[JL_N_FAILURE];

	jl_failure_shares(shares, cat, g->setting.per_node);
	for (int i = 0; i < JL_N_FAILURE; i++) {
		const double detect_s = isnan(ask->detect_s) ? jl_figure(cat, jl_failures[i].detect) : ask->detect_s;
		const double wait_s = jl_failures[i].takes_node ? g->point.wait_s / g->setting.node_frac : 0;
		const double lost_s = shares[i] * n_failures * (each_s + detect_s + wait_s) * g->setting.n_gpus;

		g->kinds[i] = (struct jl_goodput_kind){ .key = jl_failures[i].key,
							.en = jl_failures[i].en,
							.share_frac = shares[i],
							.n_failures = shares[i] * n_failures,
							.lost_gpu_s = lost_s,
							.cost_usd = lost_s * usdps };
	}
}

/* --- the same job on other numbers of nodes: fourfold steps around the one that is asked for */

#define SIZE_STEP      4
#define SIZES_BELOW    2
#define SIZES_ABOVE    4
#define SIZES_MOST_GPU 131072

static void weigh_sizes(struct jl_goodput *g, const struct jl_catalog *cat, const struct jl_goodput_ask *ask,
			const struct unsure *unsure)
{
	double last = 0;

	for (int i = -SIZES_BELOW; i <= SIZES_ABOVE; i++) {
		const bool own = i == 0;
		const double nodes = own ? g->setting.n_nodes
					 : fmin(round(g->setting.n_nodes * pow(SIZE_STEP, i)),
						floor(SIZES_MOST_GPU / g->setting.per_node));
		struct jl_goodput_size *size = &g->sizes[g->n_sizes];
		struct jl_goodput_setting s = g->setting;
		struct jl_goodput_point point;
		double rate_hz;

		if (nodes < 1 || (!own && nodes <= last))
			continue;
		last = nodes;
		if (!own) {
			jl_goodput_default(&s, cat, nodes, g->setting.per_node, g->setting.checkpoint_B,
					   g->setting.step_s);
			s.checkpoint = g->setting.checkpoint;
			s.exchange_frac = g->setting.exchange_frac;
			take_given(&s, ask, cat, g->setting.n_nodes);
			s.detect_s = g->setting.detect_s;
			s.restart_s = g->setting.restart_s;
			s.repair_s = g->setting.repair_s;
			s.recovery = g->setting.recovery;
			s.throttle_frac = g->setting.throttle_frac;
			s.replica_frac = fmin(1, g->setting.replica_frac * g->setting.n_gpus / s.n_gpus);
		}
		const struct jl_estimate hz = jl_rates_of(&g->rates, nodes, g->setting.per_node, 0.8);

		size->n_gpus = own ? g->setting.n_gpus : nodes * g->setting.per_node;
		size->own = own;
		size->mttf_s = (struct jl_estimate){ 1 / hz.value, 1 / hz.hi, 1 / hz.lo };
		size->effective_frac = effective(&s, &g->rates, unsure, 0.8, &rate_hz);
		jl_goodput_point(&point, &s, rate_hz);
		size->interval_s = planned(&s, &point).interval_s;
		memcpy(size->frac, point.frac, sizeof(size->frac));
		g->n_sizes++;
	}
}

static void weigh_point(struct jl_goodput *g, const struct unsure *unsure)
{
	const struct jl_cycle *c = &g->point.cycle;
	double rate_hz;

	const struct jl_estimate hz = jl_rates_of(&g->rates, g->setting.n_nodes, g->setting.per_node, 0.8);

	g->failures_per_day = jl_estimate_times(hz, DAY_S);
	g->mttf_s = (struct jl_estimate){ 1 / hz.value, 1 / hz.hi, 1 / hz.lo };
	g->effective_frac = effective(&g->setting, &g->rates, unsure, 0.8, &rate_hz);
	jl_goodput_point(&g->point, &g->setting, rate_hz);
	g->goodput_frac = jl_estimate_times(g->effective_frac,
					    1 / (1 + g->setting.straggle_frac + g->setting.throttle_frac));
	const double stall_s = jl_goodput_written(&g->point)->stall_s;
	const double back_hz = g->point.goes_on ? rate_hz * (1 - c->memory_frac) : rate_hz;

	g->interval_best_s = jl_interval_best_s(back_hz, stall_s);
	g->interval_young_s = jl_interval_young_s(back_hz, stall_s);
	g->interval_daly_s = jl_interval_daly_s(back_hz, stall_s);
	g->store_interval_s = g->point.copies ? c->store.work_s : NAN;
	g->simulated_frac = simulate(&g->point, g->setting.planned_hz * g->point.planned_s);
	g->progresses = g->point.frac[JL_CAUSE_USEFUL] > JL_GOODPUT_LEAST_FRAC;
}

/* In a log without named checkpoints their time is counted among the stalls. */
static bool has_checkpoints_as_stalls(const struct jl_goodput_ask *ask)
{
	return ask->seen && !ask->seen->n_checkpoints && isnan(ask->jitter_frac);
}

static void part_stalls(struct jl_goodput_setting *s, const struct jl_goodput_point *p)
{
	s->straggle_frac = fmax(0, s->straggle_frac - p->frac[JL_CAUSE_CHECKPOINT] / p->effective_frac);
}

enum jl_status jl_goodput_weigh(struct jl_goodput *ret_goodput, const struct jl_catalog *cat, const struct jl_job *job,
				const struct jl_goodput_ask *ask, struct jl_err *err)
{
	struct jl_goodput *g = ret_goodput;
	const struct unsure unsure = unsure_of(cat, ask);

	*g = (struct jl_goodput){
		.job = job, .ask = *ask, .whole_run = job->prediction.whole_run, .run_s = job->prediction.run_s
	};
	g->plain_s = g->whole_run ? g->run_s.value : NAN;
	read_setting(g, cat, ask);
	JL_TRY(jl_campus_cap(&g->campus, &ask->campus, job, err));
	g->setting.throttle_frac = g->campus.slow_frac;
	JL_TRY(read_rates(g, cat, ask, err));
	weigh_point(g, &unsure);
	if (has_checkpoints_as_stalls(ask)) {
		part_stalls(&g->setting, &g->point);
		weigh_point(g, &unsure);
	}
	weigh_sizes(g, cat, ask, &unsure);
	g->spares_enough = g->setting.n_spares;
	if (!g->progresses) {
		g->elapsed_s = (struct jl_estimate){ NAN, NAN, NAN };
		jl_goodput_advise(g);
		return JL_OK;
	}
	weigh_run(g, &unsure);
	draw_calendar(g);
	account(g);
	account_kinds(g, cat, ask);
	for (int i = 0; i < JL_N_CAUSE; i++)
		g->campus.energy_J += g->parts[i].energy_J;
	jl_campus_weigh(&g->campus, &ask->campus, job, cat,
			job->how.n_gpus + g->setting.paid_spares * g->setting.per_node, g->elapsed_s.value,
			g->point.frac[JL_CAUSE_USEFUL]);
	if (!isnan(g->campus.paid_gpus)) {
		g->unused_gpu_s = g->campus.paid_gpus * g->campus.paid_s - g->setting.n_gpus * g->elapsed_s.value -
				  g->spare_gpu_s;
		g->unused_usd = g->campus.unused_usd;
		g->rent_usd = g->campus.paid_usd;
	}
	jl_goodput_advise(g);
	return JL_OK;
}
