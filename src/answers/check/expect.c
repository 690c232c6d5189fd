#include "check/expect.h"

#include <math.h>
#include <stdio.h>

#include "base/stats.h"
#include "catalog/find.h"
#include "predict/device_case.h"
#include "system/resolve.h"

#define NEAR_MAX        512
#define SIZE_STEPS      30 /* factor 2 each; above the last (1 GiB) only bandwidth matters */
#define STEPS_NEAR      2  /* within a factor of 4 in size */
#define NODES_NEAR      3
#define SMALL_B         8.0
#define MOSTLY_FIXED    0.5
#define SETTLED_B       268435456.0
#define SETTLED_SIDE    4096 /* side of a product above which tiles fill any chip many times */
#define SETTLED_STEP    64
#define ODD_SHAPE_WIDER 3.5 /* heavier tails: 6 of 829 published products lie beyond 2.4 */

/* Healthy devices exceed the listed boost clock by a few per cent. */
static const double clock_gain = 1.10;
/* CPUs without a boost clock are listed at their base clock. */
static const double turbo_gain = 1.5;
/* TCP payload share of Ethernet frames of 1,500 and 9,000 bytes, and of hosts with default settings. */
static const double tcp_lo_frac = 0.80, tcp_mid_frac = 0.93, tcp_hi_frac = 0.99;
/* Large RDMA writes over one NIC: headers take 2 to 4 %, PCIe and small messages the rest. */
static const double rdma_lo_frac = 0.90, rdma_mid_frac = 0.97;
/* Above this rate the host's TCP work is the limit, not the NICs: 40 Gb/s by default, 100 with many streams, 200 tuned. */
static const double tcp_lo_Bps = 5e9, tcp_mid_Bps = 12.5e9, tcp_hi_Bps = 25e9;

static bool within(double a, double b, double times)
{
	return a <= b * times && b <= a * times;
}

/* Index of the power of two of bytes, capped. */
static int step_of(double size_B)
{
	return size_B < 1 ? 0 : (int)fmin(floor(log2(size_B)), SIZE_STEPS);
}

/* True where hosts share the same bottleneck: the network between hosts, the device links inside one. */
static bool is_alike(const struct jl_published *row, const struct jl_collective_case *c, enum jl_wire intra,
		     enum jl_wire inter)
{
	if (row->kind != c->kind || !(row->bound_Bps > 0) || (row->n_nodes > 1) != (c->n_nodes > 1))
		return false;
	if (c->n_nodes > 1)
		return row->inter == inter && within(row->n_nodes, c->n_nodes, NODES_NEAR) &&
		       within(row->n_ranks, c->n_ranks, NODES_NEAR);
	return row->intra == intra && row->n_ranks == c->n_ranks;
}

struct alike {
	const struct jl_published *rows[NEAR_MAX];
	size_t n;
	double bound_Bps; /* bound of the case */
};

static bool is_near(const struct jl_published *row, int step)
{
	const int own = step_of(row->size_B);

	return step == SIZE_STEPS ? own == step : own - step <= STEPS_NEAR && step - own <= STEPS_NEAR;
}

/* Time expected for `size_B` from the published rows near a step: the fixed share of their time unchanged, the rest scaled by the bounds of
 * their system and of this one. Returns the number of rows. */
static size_t near_times(const struct alike *a, int step, double size_B, double *ret_fast_s, double *ret_slow_s)
{
	double time_s[NEAR_MAX];
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct jl_published *r = a->rows[i];
		const double took_s = r->size_B / r->algbw_Bps, frac = r->algbw_Bps / r->bound_Bps;

		if (is_near(r, step))
			time_s[n++] = r->fixed_frac * took_s + (1 - r->fixed_frac) * size_B / (frac * a->bound_Bps);
	}
	*ret_fast_s = INFINITY;
	*ret_slow_s = 0;
	if (n) {
		jl_stats_sort(time_s, n);
		*ret_fast_s = jl_stats_quantile(time_s, n, 0.1);
		*ret_slow_s = jl_stats_quantile(time_s, n, 0.9);
	}
	return n;
}

static void near_fracs(struct jl_coll_expect *e, const struct alike *a, int step)
{
	double frac[NEAR_MAX];
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		if (is_near(a->rows[i], step))
			frac[n++] = a->rows[i]->algbw_Bps / a->rows[i]->bound_Bps;
	jl_stats_sort(frac, n);
	e->near_lo_frac = jl_stats_quantile(frac, n, 0.1);
	e->near_hi_frac = jl_stats_quantile(frac, n, 0.9);
}

/* Large messages inside one host of eight GPUs behind NVLink switches: identical hardware everywhere, and the host is not involved. Their
 * smaller spread is measured by bench/verdict/catalog.py. */
static bool is_settled_exchange(const struct jl_collective_case *c, enum jl_wire intra)
{
	return c->n_nodes == 1 && c->n_ranks == 8 && c->size_B >= SETTLED_B && intra >= JL_WIRE_NVLINK3 &&
	       intra <= JL_WIRE_NVLINK5;
}

/* Keeps rates monotonic in size: a larger message is never expected to be slower than a smaller one. */
static void take_rows(struct jl_coll_expect *e, const struct jl_coll_ask *ask, enum jl_wire intra, enum jl_wire inter)
{
	const int step = step_of(e->c.size_B);
	struct alike a = { .bound_Bps = e->c.bound_Bps };
	double fast_s, slow_s, other_fast_s, other_slow_s;

	for (size_t i = 0; i < ask->n_rows && a.n < NEAR_MAX; i++)
		if (is_alike(&ask->rows[i], &e->c, intra, inter) &&
		    (!is_settled_exchange(&e->c, intra) || ask->rows[i].size_B >= SETTLED_B))
			a.rows[a.n++] = &ask->rows[i];
	e->n_near = near_times(&a, step, e->c.size_B, &fast_s, &slow_s);
	if (e->n_near) {
		near_fracs(e, &a, step);
		e->near_lo_s = fast_s;
		e->near_hi_s = slow_s;
	}
	for (int k = 0; k <= SIZE_STEPS; k++) {
		(void)near_times(&a, k, ldexp(1, k < step ? k + 1 : k), &other_fast_s, &other_slow_s);
		if (k < step)
			slow_s = fmax(slow_s, other_slow_s);
		else if (k > step)
			fast_s = fmin(fast_s, other_fast_s);
	}
	if (slow_s > 0)
		e->range.low = fmin(e->range.low, e->c.size_B / slow_s);
	e->range.high = fmin(fmax(e->range.high, e->c.size_B / fast_s), e->c.bound_Bps);
}

/* Three standard deviations: beyond them the figure is doubted, not the interval. */
#define JL_VERDICT_MOST 2.34

/* Share of the model's time that is independent of the size. */
static double fixed_frac(const struct jl_coll_expect *e, const struct jl_machine *machine,
			 const struct jl_collective_ask *ask)
{
	struct jl_collective_ask small = *ask;
	struct jl_collective_case c;

	small.size_B = SMALL_B;
	return jl_collective_case(&c, machine, &small, NULL) ? 0 : fmin(c.time_s / e->c.time_s, 1);
}

/* Shortest GPU kernel; a collective is at least one. */
static const double kernel_least_s = 1e-6;

/* A collective over several hosts includes the one inside each host: its rate is limited by that of one host. */
static enum jl_status within_one_host(struct jl_expect *io_range, double *ret_most_Bps,
				      const struct jl_collective_case *c, const struct jl_machine *machine,
				      const struct jl_coll_ask *ask, struct jl_err *err)
{
	struct jl_coll_ask inside = *ask;
	struct jl_coll_expect one;

	if (isnan(c->one_host_Bps.hi)) /* no limit */
		return JL_OK;
	inside.ask.n_ranks = c->n_per_node;
	JL_TRY(jl_check_collective(&one, machine, &inside, err));
	io_range->hi = fmin(io_range->hi, one.range.hi);
	io_range->high = fmax(io_range->hi, fmin(io_range->high, one.range.high));
	*ret_most_Bps = one.range.most > 0 ? one.range.most : INFINITY;
	return JL_OK;
}

enum jl_status jl_check_collective(struct jl_coll_expect *ret_expect, const struct jl_machine *machine,
				   const struct jl_coll_ask *ask, struct jl_err *err)
{
	struct jl_coll_expect e = { .near_lo_frac = NAN, .near_hi_frac = NAN, .near_lo_s = NAN, .near_hi_s = NAN };
	const struct jl_sys *sys = &machine->sys;
	double one_most_Bps = INFINITY;

	JL_TRY(jl_collective_case(&e.c, machine, &ask->ask, err));
	const struct jl_estimate *rate = &e.c.algbw_Bps;

	const bool settled = is_settled_exchange(&e.c, jl_wire_of(sys->join));
	if (settled) {
		const double frac = jl_figure(machine->cat, "verdict-exchange-width");

		e.c.half_ln *= frac;
		e.c.fast_ln *= frac;
	}
	const double half_ln = JL_VERDICT_LOW_WIDER * e.c.half_ln;

	e.range = (struct jl_expect){ .lo = settled ? rate->value * exp(-e.c.half_ln) : rate->lo,
				      .value = rate->value,
				      .hi = settled ? fmin(rate->value * exp(e.c.fast_ln), e.c.bound_Bps) : rate->hi,
				      .bound = e.c.bound_Bps,
				      .low = rate->value * exp(-half_ln),
				      .high = fmin(rate->value * exp(JL_VERDICT_WIDER * e.c.fast_ln), e.c.bound_Bps) };
	JL_TRY(within_one_host(&e.range, &one_most_Bps, &e.c, machine, ask, err));
	if (ask->host_s > 0) { /* small messages include the host's launch time */
		const double slow_Bps = e.c.size_B / ask->host_s;

		e.range.value = fmin(e.range.value, slow_Bps);
		e.range.lo = fmin(e.range.lo, slow_Bps * exp(-e.c.half_ln));
		e.range.low = fmin(e.range.low, slow_Bps * exp(-half_ln));
	}
	e.by_time = fixed_frac(&e, machine, &ask->ask) >= MOSTLY_FIXED;
	take_rows(&e, ask, jl_wire_of(sys->join), e.c.n_nodes > 1 ? jl_wire_of(sys->net) : JL_WIRE_NONE);
	e.range.notice = fmin(rate->value * exp(JL_VERDICT_TOP_WIDER * e.c.fast_ln), e.range.bound) / e.range.low;
	if (!e.by_time) /* rates reached by others are plausible */
		e.range.most = fmax(e.range.high, fmin(rate->value * exp(JL_VERDICT_MOST * e.c.fast_ln),
						       fmin(one_most_Bps, e.range.bound)));
	if (sys->gpu && e.c.size_B / kernel_least_s < e.range.bound) {
		e.c.bound_Bps = e.range.bound = e.c.size_B / kernel_least_s;
		e.range.high = fmin(e.range.high, e.range.bound);
		jl_msg_print(e.c.limit_en, e.c.limit_text, sizeof(e.c.limit_en),
			     JL_N("its bytes in 1 µs: no kernel is shorter"));
	}
	*ret_expect = e;
	return JL_OK;
}

/* Text of the bound's origin. */
#define say_bound(e, ...) jl_msg_print((e)->bound_en, (e)->bound_text, sizeof((e)->bound_en), __VA_ARGS__)

static void around(struct jl_expect *range, double value, double answer_half_ln)
{
	const double most = isnan(range->bound) ? INFINITY : range->bound;

	range->value = value;
	range->lo = value * exp(-answer_half_ln);
	range->hi = fmin(value * exp(answer_half_ln), most);
	range->low = value * exp(-JL_VERDICT_LOW_WIDER * answer_half_ln);
	range->notice = exp((JL_VERDICT_LOW_WIDER + JL_VERDICT_TOP_WIDER) * answer_half_ln);
	range->high = fmin(value * exp(JL_VERDICT_WIDER * answer_half_ln), most);
	range->most = fmin(value * exp(JL_VERDICT_MOST * answer_half_ln), most);
}

/* Large 16-bit products with even sides run at the chip's rate, independent of the library. See is_settled_exchange. */
static bool is_settled_product(const struct jl_gemm *g)
{
	const double sides[] = { g->m, g->n, g->k };

	for (size_t i = 0; i < JL_LEN(sides); i++)
		if (!(sides[i] >= SETTLED_SIDE) || fmod(sides[i], SETTLED_STEP) != 0)
			return false;
	return g->dtype == JL_FP16 || g->dtype == JL_BF16;
}

static enum jl_status expect_gemm(struct jl_device_expect *e, const struct jl_machine *machine,
				  const struct jl_gemm_shared *sh, const struct jl_device_ask *ask, struct jl_err *err)
{
	const struct jl_device_case product = { .kind = JL_GEMM_PRODUCT,
						.gemm = { .m = ask->m,
							  .n = ask->n,
							  .k = ask->k,
							  .batch = 1,
							  .dtype = ask->dtype,
							  .out_B = fmax(2, jl_dtype_B(ask->dtype)),
							  .alone = 1 } };
	const struct jl_gpu *gpu = machine->sys.gpu;
	const double listed = machine->dev.peak_flopps[ask->dtype], flop = 2 * ask->m * ask->n * ask->k;
	/* fp16 may accumulate in fp16, which some chips do at twice the rate */
	const double peak = gpu && ask->dtype == JL_FP16 ? fmax(listed, gpu->fp16_dense_flopps.value) : listed;
	char text[JL_UNITS_TEXT_MAX];

	if (!(peak > 0))
		return jl_fail(err, JL_E_DATA, "the catalog lists no %s rate for this device",
			       jl_dtype_name(ask->dtype));
	e->range.bound = peak * clock_gain;
	say_bound(e, JL_N("listed dense peak %s and 10 %% for clocks"), jl_units_text(text, peak, JL_K_FLOP_RATE, 4));
	if (gpu && flop / kernel_least_s < e->range.bound) {
		e->range.bound = flop / kernel_least_s;
		say_bound(e, JL_N("a product of %s in 1 µs: no kernel is shorter"),
			  jl_units_text(text, flop, JL_K_FLOP, 3));
	}
	struct jl_device_answer answer = jl_device_of(machine, sh, &product);
	struct jl_machine hot = *machine;

	const bool settled = is_settled_product(&product.gemm);
	if (settled)
		answer.half_ln *= jl_figure(machine->cat, "verdict-product-width");

	/* One product alone stays below the power cap; the same one repeated for seconds does not. The figure does not say which: the range
	 * covers both, around the sustained rate. */
	hot.dev.fit.burst_frac[ask->dtype] = 1;
	around(&e->range, flop / jl_device_of(&hot, sh, &product).time_s, answer.half_ln);
	e->range.hi = fmin(flop / answer.time_s * exp(answer.half_ln), e->range.bound);
	e->range.high = fmin(flop / answer.time_s * exp(JL_VERDICT_WIDER * answer.half_ln), e->range.bound);
	if (!settled) /* a bad kernel choice of the library is not a defect */
		e->range.low = e->range.value * exp(-ODD_SHAPE_WIDER * answer.half_ln);
	e->range.notice = fmin(flop / answer.time_s * exp(JL_VERDICT_TOP_WIDER * answer.half_ln), e->range.bound) /
			  e->range.low;
	/* the listed peak assumes clocks that the power limit may not allow */
	e->range.most = fmin(flop / answer.time_s *
				     exp((settled ? JL_VERDICT_MOST : ODD_SHAPE_WIDER) * answer.half_ln) * peak /
				     listed,
			     e->range.bound);
	return JL_OK;
}

/* The driver copies pageable memory to pinned memory before the transfer: one core's copy, in sequence with the link. */
static const double staged_lo_frac = 0.08, staged_frac = 0.25, one_core_Bps = 10e9;

/* Where a card may have only half of the lanes, half of the rate is normal. */
static enum jl_status take_lanes(struct jl_device_expect *e, const struct jl_machine *machine, struct jl_err *err)
{
	struct jl_machine whole;

	JL_TRY(jl_machine_make(&whole, machine->cat, &machine->sys, err));
	e->half_lanes = whole.alone.half_lanes;
	if (e->half_lanes) {
		e->range.lo /= 2;
		e->range.low /= 2;
		e->range.notice *= 2;
	}
	return JL_OK;
}

static enum jl_status expect_link(struct jl_device_expect *e, const struct jl_machine *machine,
				  const struct jl_gemm_shared *sh, const struct jl_device_ask *ask, struct jl_err *err)
{
	const bool between = ask->between_devices;
	const struct jl_sys *sys = &machine->sys;
	const enum jl_wire wire = between ? jl_wire_of(sys->join) : JL_WIRE_NONE;
	const struct jl_device_case link = { .kind = JL_GEMM_LINK,
					     .path = !between                    ? JL_PATH_HOST
						     : wire == JL_WIRE_PCIE_HOST ? JL_PATH_VIA_HOST
						     : wire == JL_WIRE_PCIE_P2P  ? JL_PATH_PCIE
										 : JL_PATH_NVLINK };
	const double rate = between ? sys->join_oneway_Bps.value : machine->dev.host_Bps;
	struct jl_machine as_joined = *machine; /* the link of this system, not of the device */
	char text[JL_UNITS_TEXT_MAX];

	if (!(rate > 0))
		return jl_fail(err, JL_E_DATA, "the catalog does not say how fast that link of %s is", sys->text);
	e->range.bound = rate;
	say_bound(e, JL_N("the link is listed at %s one way"), jl_units_text(text, rate, JL_K_BYTE_RATE, 4));
	as_joined.dev.link_Bps = as_joined.dev.host_Bps = rate;
	const struct jl_device_answer answer = jl_device_of(&as_joined, sh, &link);

	/* over PCIe the host matters: sockets, memory, virtualization; higher rates than usual are plausible */
	around(&e->range, 1 / answer.time_s,
	       link.path == JL_PATH_NVLINK ? answer.half_ln
					   : fmax(answer.half_ln, jl_figure(machine->cat, "verdict-pcie-width")));
	e->range.most = 0;
	if (ask->pageable) {
		e->range.value = fmin(rate * staged_frac, one_core_Bps);
		e->range.lo = e->range.low = fmin(rate * staged_lo_frac, one_core_Bps / 4);
		e->range.unproven = true; /* limited by the host's core, not the link */
	}
	return take_lanes(e, machine, err);
}

void jl_check_tcp(struct jl_expect *ret_range, double nic_Bps, double all_Bps)
{
	ret_range->bound = all_Bps;
	ret_range->value = fmin(nic_Bps, tcp_mid_Bps) * tcp_mid_frac;
	ret_range->lo = fmin(nic_Bps * tcp_lo_frac, tcp_lo_Bps);
	ret_range->hi = fmin(all_Bps * tcp_hi_frac, fmax(tcp_hi_Bps, ret_range->value));
	ret_range->notice = ret_range->hi / ret_range->lo;
	ret_range->unproven = nic_Bps * tcp_lo_frac > tcp_lo_Bps; /* depends on the host's configuration */
}

/* A rate above TCP's range was moved by RDMA if the NIC supports it: judged by one NIC's listed rate. */
static bool is_rdma(const struct jl_sys *sys, const struct jl_expect *tcp, double nic_Bps, double rate_Bps)
{
	const enum jl_wire wire = jl_wire_of(sys->net);

	return (wire == JL_WIRE_IB || wire == JL_WIRE_ROCE || wire == JL_WIRE_EFA) && rate_Bps > tcp->hi &&
	       rate_Bps <= nic_Bps;
}

/* One flow uses one NIC, and TCP is limited by the host: the sum of many fast NICs is for RDMA. */
static enum jl_status expect_net(struct jl_device_expect *e, const struct jl_sys *sys, double rate_Bps,
				 struct jl_err *err)
{
	const double rate = sys->net_oneway_Bps.value;
	/* one flow of a bond uses one port */
	const double ports = sys->net && sys->net->n_links.value > 1 ? sys->net->n_links.value : 1;
	const double nic_Bps = rate / (sys->n_net > 0 ? sys->n_net : 1) / ports;
	char text[JL_UNITS_TEXT_MAX];

	if (!sys->net || !(rate > 0))
		return jl_fail(err, JL_E_USAGE, "a network needs two hosts: write e.g. --on \"2x dgx-h100\"");
	say_bound(e, JL_N("one host's network is listed at %s"), jl_units_text(text, rate, JL_K_BYTE_RATE, 4));
	jl_check_tcp(&e->range, nic_Bps, rate);
	e->by_rdma = is_rdma(sys, &e->range, nic_Bps, rate_Bps);
	if (e->by_rdma) {
		e->range = (struct jl_expect){ .lo = nic_Bps * rdma_lo_frac,
					       .value = nic_Bps * rdma_mid_frac,
					       .hi = nic_Bps,
					       .bound = nic_Bps,
					       .notice = 1 / rdma_lo_frac };
		say_bound(e, JL_N("one NIC is listed at %s"), jl_units_text(text, nic_Bps, JL_K_BYTE_RATE, 4));
	}
	return JL_OK;
}

static void expect_memory(struct jl_device_expect *e, const struct jl_machine *machine, const struct jl_gemm_shared *sh,
			  const struct jl_device_ask *ask)
{
	const struct jl_device *dev = &machine->dev;
	const struct jl_device_case copy = { .kind = JL_GEMM_COPY };
	char text[JL_UNITS_TEXT_MAX];

	struct jl_device_answer answer = jl_device_of(machine, sh, &copy);
	const double lasting = 1 / answer.time_s;

	answer.half_ln = fmax(answer.half_ln * jl_figure(machine->cat, "verdict-memory-width"),
			      jl_figure(machine->cat, "verdict-memory-least"));

	if (ask->same_device) { /* every byte is read and written */
		e->range.bound = dev->mem_Bps / 2;
		around(&e->range, lasting / 2, answer.half_ln);
	} else if (ask->size_B < 4 * dev->l2_B) { /* partly served by a cache, and launch time matters */
		around(&e->range, lasting, answer.half_ln);
		e->range.lo = ask->size_B / (dev->fit.kernel_s + ask->size_B / e->range.lo);
		e->range.low = ask->size_B / (dev->fit.kernel_s + ask->size_B / e->range.low);
		e->range.hi = e->range.high = fmax(e->range.high, dev->fit.l2_Bps * exp(answer.half_ln));
		e->range.most = 0;
		e->range.unproven = true;
		return;
	} else {
		e->range.bound = dev->mem_Bps;
		around(&e->range, ask->copy ? lasting : dev->mem_Bps * dev->fit.mem_frac, answer.half_ln);
	}
	say_bound(e, JL_N("memory is listed at %s"), jl_units_text(text, dev->mem_Bps, JL_K_BYTE_RATE, 4));
}

enum jl_status jl_check_device(struct jl_device_expect *ret_expect, const struct jl_catalog *cat,
			       const struct jl_sys *sys, const struct jl_device_ask *ask, struct jl_err *err)
{
	struct jl_device_expect e = { .range = JL_EXPECT_NONE };
	struct jl_machine machine = { .cat = cat, .sys = *sys };
	struct jl_gemm_shared shared;
	double x[JL_GEMM_MAX_PARAMS];
	enum jl_status status = JL_OK;

	if (!sys->gpu && ask->kind != JL_CHECK_NET) {
		jl_check_cpu_bound(&e, sys->cpu, 1, ask);
		*ret_expect = e;
		return JL_OK;
	}
	if (sys->gpu) {
		jl_resolve_device(&machine.dev, cat, sys->gpu);
		jl_widths_read(&machine.widths, cat);
		(void)jl_gemm_shipped(cat, sys->gpu->id, &machine.dev);
		(void)jl_gemm_read(cat, sys->gpu->id, x);
		jl_gemm_shared_at(x, &shared);
		if (ask->kind == JL_CHECK_GEMM)
			status = expect_gemm(&e, &machine, &shared, ask, err);
		else if (ask->kind == JL_CHECK_MEMORY || ask->same_device)
			expect_memory(&e, &machine, &shared, ask);
		else if (ask->kind == JL_CHECK_LINK)
			status = expect_link(&e, &machine, &shared, ask, err);
	}
	if (ask->kind == JL_CHECK_NET)
		status = expect_net(&e, sys, ask->rate_Bps, err);
	if (!status)
		*ret_expect = e;
	return status;
}

void jl_check_cpu_bound(struct jl_device_expect *ret_expect, const struct jl_cpu *cpu, int n_sockets,
			const struct jl_device_ask *ask)
{
	struct jl_device_expect e = { .range = JL_EXPECT_NONE };
	const double n_core = ask->n_threads >= 1 ? ask->n_threads : cpu->n_core.value * n_sockets;
	const double clock_Hz = isnan(cpu->boost_Hz.value) ? cpu->base_Hz.value * turbo_gain : cpu->boost_Hz.value;
	char text[JL_UNITS_TEXT_MAX];

	if (ask->kind == JL_CHECK_GEMM && ask->dtype == JL_FP32) {
		char how[96];

		e.range.bound = n_core * cpu->fp32_per_clock.value * clock_Hz;
		snprintf(how, sizeof(how), "%.0f x %g FLOP x %s", n_core, cpu->fp32_per_clock.value,
			 jl_units_text(text, clock_Hz, JL_K_FREQUENCY, 3));
		say_bound(&e, JL_N("threads x FLOP per clock x highest clock: %s"), how);
	} else if (ask->kind == JL_CHECK_MEMORY && !(ask->size_B < 2 * cpu->l3_B.value)) {
		e.range.bound = cpu->mem_Bps.value * n_sockets;
		say_bound(&e, JL_N("memory of the whole processor is listed at %s"),
			  jl_units_text(text, e.range.bound, JL_K_BYTE_RATE, 4));
	}
	*ret_expect = e;
}
