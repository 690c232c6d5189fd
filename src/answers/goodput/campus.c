#include "goodput/campus.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "catalog/find.h"

#define HOUR_S     3600.0
#define FLOOR_FRAC 0.6  /* of the clock: below this the voltage is constant and power is proportional to the clock */
#define LEAST_FRAC 0.05 /* share of dynamic power below which nothing runs */
#define DETOUR     2.0  /* dragonfly: traffic between few group pairs takes a path through a third group */

const char *const jl_grids[] = { "korea",  "usa",   "france", "germany", "sweden",    "norway", "finland", "uk",
				 "canada", "japan", "china",  "india",   "singapore", "taiwan", NULL };
static const char *const subjects[] = { JL_N("Korea"),     JL_N("USA"),    JL_N("France"),  JL_N("Germany"),
					JL_N("Sweden"),    JL_N("Norway"), JL_N("Finland"), JL_N("United Kingdom"),
					JL_N("Canada"),    JL_N("Japan"),  JL_N("China"),   JL_N("India"),
					JL_N("Singapore"), JL_N("Taiwan") };
#define DEFAULT_GRIDS 2

struct jl_campus_ask jl_campus_ask_empty(void)
{
	return (struct jl_campus_ask){ NAN, NAN, NAN, JL_UNSET, NAN, NAN, NAN, false };
}

/* Power above idle is proportional to the cube of the clock (frequency times voltage squared). */
static double clock_of(double power_frac)
{
	const double clock = cbrt(power_frac);

	return clock >= FLOOR_FRAC ? clock : power_frac / (FLOOR_FRAC * FLOOR_FRAC);
}

enum jl_status jl_campus_cap(struct jl_campus *campus, const struct jl_campus_ask *ask, const struct jl_job *job,
			     struct jl_err *err)
{
	const struct jl_case *c = &job->how;
	const struct jl_prediction *p = &job->prediction;
	const double idle_W = jl_power_idle_W(&c->machine.dev, &c->machine.power) * c->n_gpus + p->host_power_W;
	const double work_W = p->power_W - idle_W;
	const double left = (ask->cap_W / c->pue - idle_W) / work_W;

	*campus = (struct jl_campus){ .machines_W = p->power_W,
				      .site_W = p->drawn_W,
				      .standing_W = fmin(idle_W * c->pue, p->drawn_W),
				      .cap_W = ask->cap_W,
				      .gpu_frac = 1,
				      .rack_W = ask->rack_W };
	if (isnan(ask->cap_W) || !(p->drawn_W > ask->cap_W))
		return JL_OK;
	if (!(left > LEAST_FRAC))
		return jl_fail(err, JL_E_RANGE, "--power-cap: idle, these machines draw %s already; give more",
			       jl_units_localized(JL_TXT, idle_W * c->pue, JL_K_POWER, 2));
	campus->gpu_frac = left;
	campus->machines_W = ask->cap_W / c->pue;
	campus->site_W = ask->cap_W;
	campus->slow_frac = (1 / clock_of(left) - 1) * p->step.compute_s / p->step.step_s;
	return JL_OK;
}

/* --- racks, energy, rent */

static void weigh_racks(struct jl_campus *campus, const struct jl_catalog *cat, const struct jl_case *c)
{
	const struct jl_sys *sys = &c->machine.sys;
	const int per_node = jl_sys_per_node(sys);
	const double host_W = jl_host_peak_W(&c->machine.host, c->machine.dev.tdp_W * per_node, cat);

	if (isnan(campus->rack_W))
		campus->rack_W = fmax(host_W, jl_figure(cat, "rack-power"));
	campus->hosts_a_rack = fmax(1, floor(campus->rack_W / host_W));
	campus->n_racks = ceil(ceil((double)c->n_gpus / per_node) / campus->hosts_a_rack);
}

static void add_grid(struct jl_campus *campus, const char *grid, double g_per_kWh, const struct jl_rule *rule)
{
	if (campus->n_grids == JL_LEN(campus->grids) || !(g_per_kWh > 0))
		return;
	campus->grids[campus->n_grids].grid = grid;
	campus->grids[campus->n_grids].source = rule ? rule->source : NULL;
	campus->grids[campus->n_grids].date = rule ? rule->date : NULL;
	campus->grids[campus->n_grids].g_per_kWh = g_per_kWh;
	campus->grids[campus->n_grids].co2_g = campus->energy_J / 3.6e6 * g_per_kWh;
	campus->n_grids++;
}

static void weigh_carbon(struct jl_campus *campus, const struct jl_campus_ask *ask, const struct jl_catalog *cat)
{
	const size_t first = ask->grid == JL_UNSET ? 0 : (size_t)ask->grid;
	const size_t n = ask->grid == JL_UNSET ? DEFAULT_GRIDS : 1;
	struct jl_err ignored;
	double value;

	_Static_assert(JL_LEN(subjects) + 1 == JL_LEN(jl_grids), "a name for each");
	add_grid(campus, JL_N("given"), ask->carbon_gpJ * 3.6e6, NULL);
	for (size_t i = 0; isnan(ask->carbon_gpJ) && i < n * cat->n_rules; i++) {
		const struct jl_rule *r = &cat->rules[i % cat->n_rules];

		if (strcmp(r->kind, "carbon") == 0 && strcmp(r->subject, subjects[first + i / cat->n_rules]) == 0 &&
		    jl_units_parse(&value, r->value, JL_K_NUMBER, r->id, &ignored) == JL_OK)
			add_grid(campus, r->subject, value, r);
	}
}

static void weigh_rent(struct jl_campus *campus, const struct jl_campus_ask *ask, const struct jl_job *job, double gpus,
		       double elapsed_s)
{
	const double usdps = job->prediction.rent.usdps;
	const double block = jl_given_or(ask->block_gpus, 1);

	campus->paid_gpus = campus->paid_s = campus->paid_usd = campus->unused_usd = NAN;
	if ((isnan(ask->block_gpus) && isnan(ask->least_s)) || !(elapsed_s > 0))
		return;
	campus->paid_gpus = ceil(gpus / block) * block;
	campus->paid_s = fmax(elapsed_s, jl_given_or(ask->least_s, 0));
	campus->paid_usd = campus->paid_gpus * campus->paid_s * usdps;
	campus->unused_usd = campus->paid_usd - gpus * elapsed_s * usdps;
}

/* --- fabrics */

/* Bandwidth left for rings and for all-to-all when a pod holds `nodes` hosts. A ring in pod order leaves each pod once; with scattered hosts
 * and for all-to-all, the share of traffic outside the pod does. */
struct rates {
	double ring, all;
};
static struct rates rates_of(enum jl_fabric_kind kind, double nodes, double pod, double oversub)
{
	const double outside = fmax(0, 1 - pod / nodes);

	switch (kind) {
	case JL_FABRIC_TAPERED: return (struct rates){ fmin(1, pod / oversub), 1 / fmax(1, oversub * outside) };
	case JL_FABRIC_TAPERED_APART:
		return (struct rates){ 1 / fmax(1, oversub * outside), 1 / fmax(1, oversub * outside) };
	case JL_FABRIC_DRAGONFLY: return (struct rates){ fmin(1, pod / DETOUR), 1 };
	case JL_FABRIC_DRAGONFLY_APART: return (struct rates){ 1 / fmax(1, DETOUR * outside), 1 };
	default: return (struct rates){ 1, 1 };
	}
}

/* The job on `times` as many hosts: as many more replicas, with the same samples per GPU. */
static void grow(struct jl_case *c, double times, struct rates rates)
{
	struct jl_link *inter = &c->machine.fabric.inter;

	c->n_gpus = (int)lround(c->n_gpus * times);
	c->machine.sys.n_nodes = c->machine.fabric.n_nodes = (int)lround(c->machine.sys.n_nodes * times);
	c->plan.dp *= times;
	c->global_batch *= times;
	inter->eff_frac *= rates.ring;
	inter->alltoall_frac = (inter->alltoall_frac > 0 ? inter->alltoall_frac : 1) * rates.all / rates.ring;
}

static void weigh_fabrics(struct jl_campus *campus, const struct jl_catalog *cat, const struct jl_case *job,
			  double oversub)
{
	const double pod = jl_figure(cat, "fabric-pod");

	campus->oversub = jl_given_or(oversub, jl_figure(cat, "fabric-oversubscription"));
	for (double gpus = 1024; gpus <= 131072; gpus *= 2) {
		const double times = gpus / job->n_gpus, dp = job->plan.dp * times;
		struct jl_fabric_row *row = &campus->rows[campus->n_rows];

		if (job->machine.sys.n_nodes < 2 || dp < 1 || dp != floor(dp) || campus->n_rows == JL_FABRIC_ROWS_MAX)
			continue;
		row->n_gpus = gpus;
		for (int k = 0; k < JL_N_FABRIC_KIND; k++) {
			struct jl_prediction p;
			struct jl_case c;

			jl_case_what_if(&c, job);
			grow(&c, times,
			     rates_of((enum jl_fabric_kind)k, c.machine.sys.n_nodes * times, pod, campus->oversub));
			jl_predict(&p, NULL, &c);
			row->step_s[k] = p.step_s.value;
		}
		campus->n_rows++;
	}
}

void jl_campus_weigh(struct jl_campus *campus, const struct jl_campus_ask *ask, const struct jl_job *job,
		     const struct jl_catalog *cat, double n_gpus, double elapsed_s, double useful_frac)
{
	const struct jl_prediction *p = &job->prediction;

	weigh_racks(campus, cat, &job->how);
	campus->tokens_per_MWh = p->tokens_per_s.value * useful_frac * elapsed_s / campus->energy_J * 3.6e9;
	weigh_carbon(campus, ask, cat);
	weigh_rent(campus, ask, job, n_gpus, elapsed_s);
	if (ask->fabrics)
		weigh_fabrics(campus, cat, &job->how, ask->oversub);
}
