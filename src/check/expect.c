#include "check/expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "catalog/find.h"
#include "model/op.h"
#include "physics/device_params.h"
#include "system/resolve.h"

#define NEAR_MAX   512
#define LARGE_B    1e9 /* from here on only bandwidth counts: sizes are alike */
#define SIZE_NEAR  4   /* times as large or small */
#define NODES_NEAR 3

/* Clocks above the listed boost: listed rates are passed by a few per cent on healthy devices. */
static const double clock_gain = 1.10;
/* CPUs are listed at their base clock where no boost is known. */
static const double turbo_gain = 1.5;
/* TCP payload on Ethernet frames of 1,500 and of 9,000 bytes; what hosts with a usual setting reach. */
static const double tcp_lo_frac = 0.80, tcp_mid_frac = 0.93, tcp_hi_frac = 0.99;

static bool within(double a, double b, double times)
{
	return a <= b * times && b <= a * times;
}

/* Hosts alike in what bounds them: between hosts the network decides, inside one the links of the devices. */
static bool is_near(const struct jl_published *row, const struct jl_collective_case *c, enum jl_wire intra,
		    enum jl_wire inter)
{
	if (row->kind != c->kind || !(row->bound_Bps > 0) || (row->n_nodes > 1) != (c->n_nodes > 1))
		return false;
	if (!(row->size_B >= LARGE_B && c->size_B >= LARGE_B) && !within(row->size_B, c->size_B, SIZE_NEAR))
		return false;
	if (c->n_nodes > 1)
		return row->inter == inter && within(row->n_nodes, c->n_nodes, NODES_NEAR) &&
		       within(row->n_ranks, c->n_ranks, NODES_NEAR);
	return row->intra == intra && row->n_ranks == c->n_ranks;
}

static void take_rows(struct jl_coll_expect *e, const struct jl_coll_ask *ask, enum jl_wire intra, enum jl_wire inter)
{
	double frac[NEAR_MAX];
	size_t n = 0;

	for (size_t i = 0; i < ask->n_rows && n < NEAR_MAX; i++)
		if (is_near(&ask->rows[i], &e->c, intra, inter))
			frac[n++] = ask->rows[i].algbw_Bps / ask->rows[i].bound_Bps;
	e->n_near = n;
	if (!n)
		return;
	jl_stats_sort(frac, n);
	e->near_lo_frac = jl_stats_quantile(frac, n, 0.1);
	e->near_hi_frac = jl_stats_quantile(frac, n, 0.9);
	e->range.lo = fmin(e->range.lo, e->near_lo_frac * e->c.bound_Bps);
	e->range.hi = fmin(fmax(e->range.hi, e->near_hi_frac * e->c.bound_Bps), e->c.bound_Bps);
}

enum jl_status jl_check_collective(struct jl_coll_expect *ret_expect, const struct jl_machine *machine,
				   const struct jl_coll_ask *ask, struct jl_err *err)
{
	struct jl_coll_expect e = { .near_lo_frac = NAN, .near_hi_frac = NAN };
	const struct jl_sys *sys = &machine->sys;
	enum jl_status status = jl_collective_case(&e.c, machine, &ask->ask, err);

	if (status)
		return status;
	e.range = (struct jl_expect){
		.lo = e.c.algbw_Bps.lo, .value = e.c.algbw_Bps.value, .hi = e.c.algbw_Bps.hi, .bound = e.c.bound_Bps
	};
	if (ask->host_s > 0) { /* small ones wait for the host that starts them */
		const double slow_Bps = e.c.size_B / ask->host_s;

		e.range.value = fmin(e.range.value, slow_Bps);
		e.range.lo = fmin(e.range.lo, slow_Bps * exp(-e.c.half_ln));
	}
	take_rows(&e, ask, jl_wire_of(sys->join), e.c.n_nodes > 1 ? jl_wire_of(sys->net) : JL_WIRE_NONE);
	*ret_expect = e;
	return JL_OK;
}

static void say_bound(struct jl_device_expect *e, const char *en, const char *ko, const char *value)
{
	snprintf(e->bound_en, sizeof(e->bound_en), en, value);
	snprintf(e->bound_ko, sizeof(e->bound_ko), ko, value);
}

static void around(struct jl_expect *range, double value, double half_ln)
{
	range->value = value;
	range->lo = value * exp(-half_ln);
	range->hi = fmin(value * exp(half_ln), isnan(range->bound) ? INFINITY : range->bound);
}

/* Nine tenths of the published figures of single devices lie this close; devices without any are less known. */
static double device_half_ln(const struct jl_catalog *cat, bool seen)
{
	const struct jl_param_info *p90 = jl_param_by_id(cat, "fit.gemm_membw.p90_abs_ln");

	return (p90 ? p90->value : 0.17) * (seen ? 1 : 1.6);
}

static enum jl_status expect_gemm(struct jl_device_expect *e, const struct jl_device *dev, double half_ln,
				  const struct jl_device_ask *ask, struct jl_err *err)
{
	const struct jl_gemm gemm = { .m = ask->m,
				      .n = ask->n,
				      .k = ask->k,
				      .batch = 1,
				      .dtype = ask->dtype,
				      .out_B = fmax(2, jl_dtype_B(ask->dtype)),
				      .alone = 1 };
	const double peak = dev->peak_flopps[ask->dtype], flop = 2 * ask->m * ask->n * ask->k;
	char text[JL_UNITS_TEXT_MAX];

	if (!(peak > 0))
		return jl_fail(err, JL_E_DATA, "the catalog lists no %s rate for this device",
			       "카탈로그에 이 장치의 %s 속도가 없습니다", jl_dtype_name(ask->dtype));
	e->range.bound = peak * clock_gain;
	say_bound(e, "listed dense peak %s and 10 %% for clocks", "명시된 dense 최고 속도 %s + 클럭 여유 10 %%",
		  jl_units_text(text, peak, JL_K_FLOP_RATE, 4));
	around(&e->range, flop / jl_gemm_s(dev, &gemm), half_ln);
	return JL_OK;
}

static enum jl_status expect_link(struct jl_device_expect *e, const struct jl_device *dev, const struct jl_sys *sys,
				  const struct jl_gemm_shared *sh, double half_ln, bool between, struct jl_err *err)
{
	const enum jl_wire wire = between ? jl_wire_of(sys->join) : JL_WIRE_NONE;
	const double rate = between ? sys->join_oneway_Bps.value : dev->host_Bps;
	const double frac = !between                    ? sh->host_frac
			    : wire == JL_WIRE_PCIE_HOST ? sh->via_host_frac
			    : wire == JL_WIRE_PCIE_P2P  ? sh->pcie_frac
							: sh->nvlink_frac;
	char text[JL_UNITS_TEXT_MAX];

	if (!(rate > 0))
		return jl_fail(err, JL_E_DATA, "the catalog does not say how fast that link of %s is",
			       "카탈로그에 %s의 해당 링크 속도가 없습니다", sys->text);
	e->range.bound = rate;
	say_bound(e, "the link is listed at %s one way", "링크의 명시된 단방향 속도 %s",
		  jl_units_text(text, rate, JL_K_BYTE_RATE, 4));
	around(&e->range, rate * frac, half_ln);
	return JL_OK;
}

static enum jl_status expect_net(struct jl_device_expect *e, const struct jl_sys *sys, struct jl_err *err)
{
	const double rate = sys->net_oneway_Bps.value;
	char text[JL_UNITS_TEXT_MAX];

	if (!sys->net || !(rate > 0))
		return jl_fail(err, JL_E_USAGE, "a network needs two hosts: write e.g. --on \"2x dgx-h100\"",
			       "네트워크에는 호스트가 2대 이상 필요합니다. 예: --on \"2x dgx-h100\"");
	e->range.bound = rate;
	say_bound(e, "one host's network is listed at %s", "호스트당 네트워크의 명시된 속도 %s",
		  jl_units_text(text, rate, JL_K_BYTE_RATE, 4));
	e->range.value = rate * tcp_mid_frac;
	e->range.lo = rate * tcp_lo_frac;
	e->range.hi = rate * tcp_hi_frac;
	return JL_OK;
}

static void expect_memory(struct jl_device_expect *e, const struct jl_device *dev, const struct jl_gemm_shared *sh,
			  double half_ln, const struct jl_device_ask *ask)
{
	const double rate = dev->mem_Bps * dev->fit.mem_frac * (ask->copy ? sh->copy_frac : 1);
	char text[JL_UNITS_TEXT_MAX];

	if (ask->size_B < 4 * dev->l2_B) /* a cache may serve a part of it */
		return;
	e->range.bound = dev->mem_Bps;
	say_bound(e, "memory is listed at %s", "메모리의 명시된 대역폭 %s",
		  jl_units_text(text, dev->mem_Bps, JL_K_BYTE_RATE, 4));
	around(&e->range, rate, half_ln);
}

enum jl_status jl_check_device(struct jl_device_expect *ret_expect, const struct jl_catalog *cat,
			       const struct jl_sys *sys, const struct jl_device_ask *ask, struct jl_err *err)
{
	struct jl_device_expect e = { .range = JL_EXPECT_NONE };
	struct jl_device dev;
	struct jl_gemm_shared shared;
	double x[JL_GEMM_MAX_PARAMS];
	const char *gpu_id = sys->gpu ? sys->gpu->id : NULL;
	enum jl_status status = JL_OK;

	if (!sys->gpu && ask->kind != JL_CHECK_NET) {
		jl_check_cpu_bound(&e, sys->cpu, 1, ask);
		*ret_expect = e;
		return JL_OK;
	}
	if (sys->gpu) {
		jl_resolve_device(&dev, cat, sys->gpu);
		const double half_ln = device_half_ln(cat, jl_gemm_shipped(cat, gpu_id, &dev));

		(void)jl_gemm_read(cat, gpu_id, x);
		jl_gemm_shared_at(x, &shared);
		if (ask->kind == JL_CHECK_GEMM)
			status = expect_gemm(&e, &dev, half_ln, ask, err);
		else if (ask->kind == JL_CHECK_MEMORY)
			expect_memory(&e, &dev, &shared, half_ln, ask);
		else if (ask->kind == JL_CHECK_LINK)
			status = expect_link(&e, &dev, sys, &shared, half_ln, ask->between_devices, err);
	}
	if (ask->kind == JL_CHECK_NET)
		status = expect_net(&e, sys, err);
	if (!status)
		*ret_expect = e;
	return status;
}

void jl_check_cpu_bound(struct jl_device_expect *ret_expect, const struct jl_cpu *cpu, int n_sockets,
			const struct jl_device_ask *ask)
{
	struct jl_device_expect e = { .range = JL_EXPECT_NONE };
	const double n_core = isnan(ask->n_threads) ? cpu->n_core.value * n_sockets : ask->n_threads;
	const double clock_Hz = isnan(cpu->boost_Hz.value) ? cpu->base_Hz.value * turbo_gain : cpu->boost_Hz.value;
	char text[JL_UNITS_TEXT_MAX];

	if (ask->kind == JL_CHECK_GEMM && ask->dtype == JL_FP32) {
		char how[96];

		e.range.bound = n_core * cpu->fp32_per_clock.value * clock_Hz;
		snprintf(how, sizeof(how), "%.0f x %g FLOP x %s", n_core, cpu->fp32_per_clock.value,
			 jl_units_text(text, clock_Hz, JL_K_FREQUENCY, 3));
		say_bound(&e, "threads x FLOP per clock x highest clock: %s", "스레드 x 클럭당 FLOP x 최고 클럭: %s",
			  how);
	} else if (ask->kind == JL_CHECK_MEMORY && !(ask->size_B < 2 * cpu->l3_B.value)) {
		e.range.bound = cpu->mem_Bps.value * n_sockets;
		say_bound(&e, "memory of the whole processor is listed at %s",
			  "프로세서 전체 메모리의 명시된 대역폭 %s",
			  jl_units_text(text, e.range.bound, JL_K_BYTE_RATE, 4));
	}
	*ret_expect = e;
}
