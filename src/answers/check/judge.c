#include "check/judge.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "catalog/find.h"
#include "check/cells.h"
#include "check/expect.h"
#include "probe/nvml.h"

/* The range from own rates is a 95 % interval (1.96 standard deviations): low at 3.09, high at 1.645. */
#define JL_OWN_NOTICE ((1.96 + 1.645) / (2 * 1.96))

static const struct device_kind {
	const char *kind;
	enum jl_check_kind as;
	const char *metric;
} device_kinds[] = { { "gemm", JL_CHECK_GEMM, "gemm_flopps" },
		     { "memory", JL_CHECK_MEMORY, "mem_Bps" },
		     { "link", JL_CHECK_LINK, "link_Bps" },
		     { "net", JL_CHECK_NET, "net_Bps" } };

const char *jl_check_basis_name(enum jl_check_basis basis)
{
	static const char *const names[] = {
		[JL_BASIS_NONE] = "none", [JL_BASIS_MODEL] = "model",   [JL_BASIS_HISTORY] = "history",
		[JL_BASIS_RUN] = "run",   [JL_BASIS_OWN] = "own_rates", [JL_BASIS_HOST] = "host"
	};

	return names[basis];
}

/* NULL: not a kind of a single device. */
static const struct device_kind *device_kind(const char *kind)
{
	for (size_t i = 0; i < JL_LEN(device_kinds); i++)
		if (strcmp(device_kinds[i].kind, kind) == 0)
			return &device_kinds[i];
	return NULL;
}

bool jl_judge_knows(const char *kind)
{
	enum jl_collective_kind coll;

	return jl_collective_by_name(&coll, kind) || device_kind(kind);
}

static bool is_train(const char *kind)
{
	return strcmp(kind, "train") == 0;
}

/* Metric used for a kind; NULL: the first one. */
static const char *metric_of(const char *kind)
{
	enum jl_collective_kind coll;

	if (is_train(kind) || device_kind(kind))
		return is_train(kind) ? "samples_per_s" : device_kind(kind)->metric;
	return jl_collective_by_name(&coll, kind) ? "algbw_Bps" : NULL;
}

bool jl_judge_can(const struct jl_record *record)
{
	if (is_train(record->kind))
		return jl_figure_of(record, "samples_per_s").value > 0 &&
		       jl_figure_of(record, "predicted_samples_per_s").value > 0;
	return jl_judge_knows(record->kind) && jl_figure_of(record, metric_of(record->kind)).value > 0;
}

/* Results of this machine that the model cannot predict (a collective of one GPU, a format without a catalog rate) do not stop the others. */
static bool is_passed_over(const struct jl_judge *judge, enum jl_status status)
{
	return judge->here && (status == JL_E_DATA || status == JL_E_RANGE);
}

/* ---- collectives */

/* Hosts and GPUs named in the log. */
static enum jl_status system_of_log(const struct jl_sys **ret_sys, const struct jl_judge *judge,
				    const struct jl_record *r, struct jl_err *err)
{
	const char *name = jl_record_text(r, "gpu");
	const double n_ranks = jl_record_number(r, "n_ranks"), n_nodes = jl_record_number(r, "n_nodes");
	const struct jl_gpu *gpu = name ? jl_find_spelt_gpu(judge->cat, name, NULL) : NULL;
	struct jl_sys *sys = jl_arena_alloc(judge->arena, sizeof(*sys));

	JL_TRY(jl_got(sys, err));
	if (!gpu || !(n_ranks >= 2) || !(n_nodes >= 1) || fmod(n_ranks, n_nodes) != 0)
		return jl_fail(err, JL_E_USAGE, "the system is not given: write e.g. --on \"2x aws:p5.48xlarge\"");
	const char *text = jl_arena_printf(judge->arena, "%.0fx(%.0fx %s)", n_nodes, n_ranks / n_nodes, gpu->id);
	JL_TRY(jl_got(text, err));
	*ret_sys = sys;
	return jl_sys_parse(sys, judge->cat, text, judge->arena, err);
}

/* One host named, several filled by the ranks: multiplies it. */
static enum jl_status machine_for(struct jl_machine *ret_machine, const struct jl_judge *judge,
				  const struct jl_sys *sys, double n_ranks, struct jl_err *err)
{
	const int per_node = jl_sys_per_node(sys);
	int n_nodes = sys->n_nodes;

	if (sys->n_nodes == 1 && n_ranks > per_node && fmod(n_ranks, per_node) == 0 &&
	    n_ranks / per_node <= JL_NODES_MAX)
		n_nodes = (int)(n_ranks / per_node);
	return jl_machine_hosts(ret_machine, judge->cat, sys, n_nodes, judge->arena, err);
}

static enum jl_status judge_collective(struct jl_judged *j, struct jl_judge *judge, enum jl_collective_kind kind,
				       struct jl_err *err)
{
	const struct jl_record *r = j->record;
	const double n_ranks = jl_record_number(r, "n_ranks");
	struct jl_coll_ask ask = { .ask = { .kind = kind, .size_B = jl_record_number(r, "size_B") } };
	struct jl_machine *machine = jl_arena_alloc(judge->arena, sizeof(*machine));
	double x[JL_COLL_MAX_PARAMS];

	JL_TRY(jl_got(machine, err));
	if (!j->sys)
		JL_TRY(system_of_log(&j->sys, judge, r, err));
	JL_TRY(machine_for(machine, judge, j->sys, n_ranks, err));
	if (!judge->n_rows)
		JL_TRY(jl_published_rows(&judge->rows, &judge->n_rows, judge->cat, judge->arena, err));
	j->sys = &machine->sys;
	ask.rows = judge->rows;
	ask.n_rows = judge->n_rows;
	ask.ask.n_ranks = n_ranks >= 1 && n_ranks < INT_MAX ? (int)n_ranks : 0;
	if (strcmp(r->backend, "nccl-tests") == 0) {
		jl_coll_read(judge->cat, x);
		ask.host_s = jl_coll_host_s(x, JL_TOOL_NCCL, machine->sys.n_per_node);
	}
	const enum jl_status status = jl_check_collective(&j->coll, machine, &ask, err);

	if (status)
		return is_passed_over(judge, status) ? JL_OK : status;
	j->is_coll = true;
	j->basis = JL_BASIS_MODEL;
	j->expect = j->coll.range;
	j->half_lanes = j->coll.c.half_lanes;
	j->bound_en = jl_arena_strdup(judge->arena, j->coll.c.limit_en);
	j->bound_text = jl_arena_strdup(judge->arena, j->coll.c.limit_text);
	j->verdict = jl_verdict_of(&j->figure, &j->expect);
	return j->bound_en && j->bound_text ? JL_OK : jl_fail_nomem(err);
}

/* ---- devices */

static enum jl_status ask_of(struct jl_device_ask *ret_ask, const struct jl_record *r, enum jl_check_kind kind,
			     struct jl_err *err)
{
	const char *test = jl_record_text(r, "test"), *dtype = jl_record_text(r, "dtype");
	const double peer = jl_record_number(r, "peer");
	struct jl_device_ask ask = { .kind = kind,
				     .m = jl_record_number(r, "m"),
				     .n = jl_record_number(r, "n"),
				     .k = jl_record_number(r, "k"),
				     .size_B = jl_record_number(r, "size_B"),
				     .n_threads = jl_record_number(r, "n_threads"),
				     .copy = test && strcmp(test, "copy") == 0,
				     .between_devices = test && (strcmp(test, "d2d") == 0 ||
								 strstr(test, "device_to_device") != NULL),
				     .same_device = !isnan(peer) && peer == jl_record_number(r, "device"),
				     .pageable = jl_record_number(r, "pinned") == 0 };
	int d = 0;

	while (kind == JL_CHECK_GEMM && d < JL_N_DTYPE &&
	       (!dtype || strcmp(jl_dtype_name((enum jl_dtype)d), dtype) != 0))
		d++;
	if (d == JL_N_DTYPE)
		return jl_fail(err, JL_E_USAGE,
			       "number format '%s' is not known; write fp32, tf32, fp16, bf16, fp8, int8",
			       dtype ? dtype : "");
	ask.dtype = (enum jl_dtype)d;
	*ret_ask = ask;
	return JL_OK;
}

static void take_expect(struct jl_judged *j, const struct jl_device_expect *e)
{
	j->expect = e->range;
	j->half_lanes = e->half_lanes;
	j->by_rdma = e->by_rdma;
	if (!isnan(e->range.bound)) {
		j->bound_en = e->bound_en;
		j->bound_text = e->bound_text;
	}
	if (e->from_en[0]) {
		j->from_en = e->from_en;
		j->from_text = e->from_text;
	}
	j->basis = isnan(e->range.lo) ? JL_BASIS_NONE : j->from_en ? JL_BASIS_HOST : JL_BASIS_MODEL;
	j->verdict = jl_verdict_of(&j->figure, &j->expect);
}

static enum jl_status judge_device(struct jl_judged *j, struct jl_judge *judge, enum jl_check_kind kind,
				   struct jl_err *err)
{
	struct jl_device_expect *e = jl_arena_alloc(judge->arena, sizeof(*e));
	const struct jl_probe_machine *here = judge->here;
	struct jl_device_ask ask;
	enum jl_status status = JL_OK;

	JL_TRY(e ? ask_of(&ask, j->record, kind, err) : jl_fail_nomem(err));
	ask.rate_Bps = j->figure.value;
	*e = (struct jl_device_expect){ .range = JL_EXPECT_NONE };
	if (j->sys)
		status = jl_check_device(e, judge->cat, j->sys, &ask, err);
	else if (here && here->listed_cpu && !jl_check_on_gpu(j->record) && kind != JL_CHECK_NET)
		jl_check_cpu_bound(e, here->listed_cpu, here->cpu.n_sockets > 0 ? here->cpu.n_sockets : 1, &ask);
	if (is_passed_over(judge, status)) {
		e->range = JL_EXPECT_NONE;
		status = JL_OK;
	}
	if (status)
		return status;
	if (isnan(e->range.lo) && !jl_check_on_gpu(j->record) && here)
		jl_check_host(e, judge->cat, here, j->record);
	take_expect(j, e);
	return JL_OK;
}

/* Processes on this machine's CPUs, and kinds without a model, such as latency. */
static enum jl_status judge_host(struct jl_judged *j, struct jl_judge *judge, struct jl_err *err)
{
	struct jl_device_expect *e = jl_arena_alloc(judge->arena, sizeof(*e));

	JL_TRY(jl_got(e, err));
	*e = (struct jl_device_expect){ .range = JL_EXPECT_NONE };
	jl_check_host(e, judge->cat, judge->here, j->record);
	take_expect(j, e);
	return JL_OK;
}

/* ---- training */

/* The record carries its expectation: from the machine's own rates of the same run. */
static void judge_train(struct jl_judged *j)
{
	const struct jl_figure p = jl_figure_of(j->record, "predicted_samples_per_s");

	j->expect = (struct jl_expect){ .lo = p.lo95, .value = p.value, .hi = p.hi95, .bound = NAN };
	j->expect.notice = pow(p.hi95 / p.lo95, JL_OWN_NOTICE);
	if (isnan(p.lo95) || isnan(p.hi95))
		return;
	j->basis = JL_BASIS_OWN;
	j->verdict = jl_verdict_of(&j->figure, &j->expect);
}

/* With three quiet runs the machine's history is used, unless the model already calls the figure bad or detects smaller slow-downs. */
static void judge_by_past(struct jl_judged *j, const struct jl_judge *judge)
{
	jl_check_history(&j->history, j->record, judge->past, judge->n_past, judge->steadiness.n_jumps > 0);
	if (!j->history.n)
		return;
	struct jl_expect past = j->history.expect;
	past.bound = j->expect.bound;
	enum jl_verdict verdict = jl_verdict_of(&j->figure, &past);
	const bool sharper = !past.unproven && (!jl_expect_can_judge(&j->expect) || past.notice < j->expect.notice),
		   open = j->verdict == JL_VERDICT_NORMAL || j->verdict == JL_VERDICT_GOOD ||
			  j->verdict == JL_VERDICT_UNJUDGED;

	if (j->basis == JL_BASIS_NONE || (open && sharper)) {
		j->basis = JL_BASIS_HISTORY;
		j->expect = past;
		j->verdict = verdict;
	}
}

/* Causes of a lowered GPU clock, with the command that removes them. */
static const struct {
	const char *held_by;
	bool power; /* reported with the power limit instead of the clock */
	const char *en;
} causes[] = {
	{ JL_HELD_LOCKED, false, JL_N("clock locked at %s of %s: nvidia-smi -rgc") },
	{ JL_HELD_APP_CLOCKS, false, JL_N("application clocks hold it at %s of %s: nvidia-smi -rac") },
	{ JL_HELD_POWER_LIMIT, true, JL_N("power limit %s of %s: nvidia-smi -pl WATTS") },
	{ JL_HELD_POWER_BRAKE, false,
	  JL_N("the power supply or the board holds the clock at %s of %s: nvidia-smi -q -d "
	       "PERFORMANCE,POWER; cables, PSU") },
	{ JL_HELD_HEAT, false, JL_N("heat holds the clock at %s of %s: airflow, fans; nvidia-smi -q -d TEMPERATURE") },
};

static void name_cause(struct jl_judged *j)
{
	const struct jl_record_noise *n = &j->record->noise;
	char now[JL_UNITS_TEXT_MAX], most[JL_UNITS_TEXT_MAX];

	for (size_t i = 0; n->held_by && i < JL_LEN(causes); i++) {
		const bool power = causes[i].power;

		if (strcmp(causes[i].held_by, n->held_by) != 0)
			continue;
		jl_msg_print(
			j->cause.en, j->cause.text, sizeof(j->cause.en), causes[i].en,
			jl_units_text(now, power ? n->limit_W : n->clock_Hz, power ? JL_K_POWER : JL_K_FREQUENCY, 4),
			jl_units_text(most, power ? n->limit_default_W : n->clock_max_Hz,
				      power ? JL_K_POWER : JL_K_FREQUENCY, 4));
	}
	if (n->throttled_frac > JL_NOISE_STOPPED_FRAC)
		jl_msg_print(j->cause.en, j->cause.text, sizeof(j->cause.en),
			     JL_N("CPU quota of %.3g of %.0f CPUs: throttled %.0f %% of the CPU time"), n->quota_cpus,
			     n->n_cpus, 100 * n->throttled_frac);
	if (n->neighbour && isnan(n->neighbour_B))
		jl_msg_print(j->neighbour.en, j->neighbour.text, sizeof(j->neighbour.en),
			     JL_N("%s runs on the same GPU"), n->neighbour);
	else if (n->neighbour)
		jl_msg_print(j->neighbour.en, j->neighbour.text, sizeof(j->neighbour.en),
			     JL_N("%s runs on the same GPU, with %s of its memory"), n->neighbour,
			     jl_units_text(now, n->neighbour_B, JL_K_BYTES, 3));
}

static void advise(struct jl_judged *j)
{
	const struct jl_sys *sys = j->sys;

	jl_check_next(&j->next, &(struct jl_next_ask){
					.kind = j->record->kind,
					.verdict = j->verdict,
					.value = j->figure.value,
					.is_here = !isnan(j->age_s) || j->basis == JL_BASIS_HOST,
					.n_history = j->history.n,
					.on_gpu = jl_check_on_gpu(j->record) || (sys && sys->gpu),
					.n_workers = jl_record_number(j->record, "n_workers"),
					.coll = j->is_coll ? &j->coll : NULL,
					.intra = sys ? jl_wire_of(sys->join) : JL_WIRE_NONE,
					.inter = sys ? jl_wire_of(sys->net) : JL_WIRE_NONE,
				});
}

enum jl_status jl_judge(struct jl_judged *ret_judged, struct jl_judge *judge, const struct jl_record *record,
			struct jl_err *err)
{
	struct jl_judged j = { .record = record,
			       .metric = jl_judge_can(record) ? metric_of(record->kind) : record->metrics[0].name,
			       .expect = JL_EXPECT_NONE,
			       .verdict = JL_VERDICT_FIRST,
			       .history = { .drift_frac = NAN },
			       .age_s = judge->here ? judge->now_s - record->time_s : NAN,
			       .sys = judge->sys };
	enum jl_collective_kind coll;
	enum jl_status status = JL_OK;
	double worst_Bps;

	if (!j.sys && judge->here && jl_check_on_gpu(record))
		j.sys = judge->here_sys;
	const bool can = jl_judge_can(record), is_coll = jl_collective_by_name(&coll, record->kind);

	j.figure = jl_figure_of(record, j.metric);
	if (j.figure.noisy)
		j.verdict = JL_VERDICT_NOISY;
	const bool odd = strcmp(j.metric, "link_Bps") == 0 && jl_check_cells(&j.cause, &worst_Bps, record);

	j.figure.value = odd ? worst_Bps : j.figure.value;
	/* the model does not cover processes on the CPUs of this machine */
	if (can && is_coll && (!judge->here || j.sys) && !(judge->here && strcmp(record->backend, "shm") == 0))
		status = judge_collective(&j, judge, coll, err);
	else if (can && is_train(record->kind))
		judge_train(&j);
	else if (can && !is_coll && device_kind(record->kind))
		status = judge_device(&j, judge, device_kind(record->kind)->as, err);
	else if (judge->here && !jl_check_on_gpu(record))
		status = judge_host(&j, judge, err);
	if (status)
		return status;
	if (judge->here)
		judge_by_past(&j, judge);
	if (jl_record_number(record, "n_wrong") > 0)
		j.verdict = JL_VERDICT_WRONG;
	j.expect.low = j.expect.low > 0 ? j.expect.low : j.expect.lo;
	j.expect.high = j.expect.high > 0 ? j.expect.high : j.expect.hi;
	name_cause(&j);
	if (odd && j.verdict != JL_VERDICT_WRONG)
		j.verdict = JL_VERDICT_LOW;
	advise(&j);
	*ret_judged = j;
	return JL_OK;
}

enum jl_status jl_judge_change(struct jl_judged *ret_judged, struct jl_judge *judge, const struct jl_record *record,
			       const struct jl_record *before, struct jl_err *err)
{
	struct jl_judged j = { .record = record,
			       .before = before,
			       .metric = record->metrics[0].name,
			       .figure = jl_figure_of(record, NULL),
			       .expect = JL_EXPECT_NONE,
			       .age_s = judge->here ? judge->now_s - record->time_s : NAN,
			       .basis = JL_BASIS_RUN };

	jl_check_history(&j.history, record, judge->past, judge->n_past, judge->steadiness.n_jumps > 0);
	JL_TRY(jl_check_change(&j.change, record, before, j.history.spread_ln, judge->arena, err));
	j.verdict = j.change.verdict;
	j.expect.value = before->metrics[0].value.median;
	name_cause(&j);
	advise(&j);
	*ret_judged = j;
	return JL_OK;
}

double jl_judged_turn(const struct jl_judged *j, bool low)
{
	const double doubt = isnan(j->figure.lo95) ? 1 + JL_EDGE_FRAC : 1;

	return low ? j->expect.low / doubt : j->expect.high * doubt;
}

static double size_of(const struct jl_judged *j)
{
	const double size_B = jl_record_number(j->record, "size_B"), m = jl_record_number(j->record, "m");

	return isnan(size_B) ? (isnan(m) ? 0 : m) : size_B;
}

bool jl_judged_has(const struct jl_judged *judged, size_t n, const struct jl_record *record)
{
	for (size_t i = 0; i < n; i++)
		if (jl_check_alike(record, judged[i].record))
			return true;
	return false;
}

const struct jl_judged *jl_check_worst(const struct jl_judged *judged, size_t n)
{
	const struct jl_judged *worst = n ? &judged[0] : NULL;

	for (size_t i = 1; i < n; i++) {
		const int more = jl_verdict_weight(judged[i].verdict) - jl_verdict_weight(worst->verdict);

		if (more > 0 || (more == 0 && size_of(&judged[i]) > size_of(worst)))
			worst = &judged[i];
	}
	return worst;
}
