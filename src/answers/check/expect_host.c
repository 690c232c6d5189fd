/* Expected performance of this host's processors, memory, storage and loopback, estimated from the probe: cores, clock, vector width, caches,
 * the catalog's record of the processor or of the nearest one. Nothing is measured, so the ranges are wide: a thread may be half a core, a
 * neighbour may use half of the memory bandwidth, turbo is not listed. They detect defects, not small losses; the machine's own history
 * replaces them. */
#include "check/expect.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "check/own_params.h"
#include "predict/collective_case.h"

/* Normal range: slowest, typical, fastest. *_frac: fractions of the listed rate; others: absolute values. */
struct three {
	double slow, mid, fast;
};
static const struct three product_frac = { 0.25, 0.75, 1.7 };        /* of cores x FLOP per clock x base clock */
static const struct three product_start_s = { 150e-6, 15e-6, 2e-6 }; /* thread wake-up, per doubling of threads */
static const struct three stream_frac = { 0.25, 0.9,
					  2.5 }; /* share of the bandwidth that outstanding loads of the cores reach */
static const struct three cached_core_Bps = { 2.5e9, 20e9, 200e9 };
static const struct three flow_Bps = { 0.35e9, 3e9,
				       16e9 }; /* one TCP connection over loopback: two copies, two threads */
static const struct three round_s = { 400e-6, 15e-6, 1.5e-6 };
static const struct three meet_s = { 80e-6, 1.2e-6, 0.1e-6 }; /* barrier of spinning processes */
static const struct three shared_core_Bps = { 2e9, 30e9,
					      250e9 }; /* bytes per second of one process inside the caches */
static const double crowded_s = 20e-3;                 /* more processes than cores: each waits for its time slice */

/* Storage kind by device name and rotational flag; a guest's disk may be host memory, or a network volume with a rate limit. */
static const struct drive {
	const char *begins, *en;
	int rotational; /* -1: either */
	struct three read_Bps, write_Bps;
} drives[] = {
	{ "nvme", JL_N("an NVMe drive or volume"), -1, { 0.1e9, 3e9, 16e9 }, { 0.05e9, 1.5e9, 15e9 } },
	{ "sd", JL_N("a hard disk"), 1, { 40e6, 170e6, 6e9 }, { 20e6, 150e6, 6e9 } },
	{ "sd", JL_N("an SSD"), -1, { 60e6, 0.5e9, 12e9 }, { 30e6, 0.4e9, 12e9 } },
	{ "mmcblk", JL_N("a memory card"), -1, { 8e6, 90e6, 0.5e9 }, { 2e6, 40e6, 0.4e9 } },
	{ "vd", JL_N("a guest's drive"), -1, { 20e6, 0.8e9, 40e9 }, { 10e6, 0.4e9, 20e9 } },
	{ "xvd", JL_N("a guest's drive"), -1, { 20e6, 0.3e9, 40e9 }, { 10e6, 0.2e9, 20e9 } },
	{ "", JL_N("storage of an unknown kind"), -1, { 5e6, 0.4e9, 60e9 }, { 2e6, 0.2e9, 60e9 } },
};

struct host {
	struct jl_own_cpu own;
	double n;    /* cores in use */
	double l3_B; /* all sockets; NAN: unknown */
	struct jl_device_expect *e;
	const struct jl_record *r;
};

/* Writes the origin of the range. */
#define say(h, ...) jl_msg_print((h)->e->from_en, (h)->e->from_text, sizeof((h)->e->from_en), __VA_ARGS__)

static void range_of(struct host *h, double slow, double mid, double fast)
{
	struct jl_expect *x = &h->e->range;

	x->lo = slow;
	x->value = mid;
	x->hi = isnan(x->bound) ? fast : fmin(fast, x->bound);
	x->value = fmin(x->value, x->hi);
	x->unproven = true;
}

static void product(struct host *h)
{
	const double flop = 2 * jl_record_number(h->r, "m") * jl_record_number(h->r, "n") * jl_record_number(h->r, "k");
	const double peak = h->n * h->own.cpu.fp32_per_clock.value * h->own.cpu.base_Hz.value,
		     doublings = 1 + log2(h->n);
	char clock[JL_UNITS_TEXT_MAX];

	if (!(flop > 0))
		return;
	range_of(h, flop / (flop / (peak * product_frac.slow) + product_start_s.slow * doublings),
		 flop / (flop / (peak * product_frac.mid) + product_start_s.mid * doublings),
		 flop / (flop / (peak * product_frac.fast) + product_start_s.fast));
	say(h, JL_N("%.0f cores x %g FLOP x %s, plus waking the threads"), h->n, h->own.cpu.fp32_per_clock.value,
	    jl_units_text(clock, h->own.cpu.base_Hz.value, JL_K_FREQUENCY, 3));
}

static void memory(struct host *h)
{
	const double share = h->n / fmax(h->own.cpu.n_core.value, 1),
		     all_Bps = h->own.cpu.mem_Bps.value * fmin(share, 1);
	char rate[JL_UNITS_TEXT_MAX];

	if (jl_record_number(h->r, "size_B") < 2 * h->l3_B) {
		range_of(h, h->n * cached_core_Bps.slow, h->n * cached_core_Bps.mid, h->n * cached_core_Bps.fast);
		say(h, JL_N("%.0f cores, arrays that caches may hold in part"), h->n);
		return;
	}
	range_of(h, all_Bps * stream_frac.slow, all_Bps * stream_frac.mid, all_Bps * stream_frac.fast);
	say(h, JL_N("%.0f cores and memory: about %s"), h->n, jl_units_text(rate, all_Bps, JL_K_BYTE_RATE, 2));
}

static bool is_local(const char *host)
{
	return host && (strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 || strcmp(host, "localhost") == 0);
}

static void loopback(struct host *h)
{
	const double streams = fmax(jl_record_number(h->r, "n_streams"), 1),
		     half = jl_record_number(h->r, "both_ways") == 1 ? 2 : 1;
	const double pairs = fmin(streams, fmax(h->own.cpu.n_core.value / 2, 1));

	if (strcmp(h->r->metrics[0].name, "latency_s") == 0) {
		range_of(h, round_s.fast, round_s.mid, round_s.slow); /* less is better */
		say(h, JL_N("two wake-ups and two passes through this host's kernel"));
		return;
	}
	range_of(h, flow_Bps.slow / half, flow_Bps.mid * pairs / half, flow_Bps.fast * pairs);
	say(h, JL_N("%.0f connections on %.0f cores, two copies in the kernel each"), streams, h->own.cpu.n_core.value);
}

/* Fastest NIC that is up, and the sum. */
static void network(struct host *h, const struct jl_probe_machine *here)
{
	double nic_Bps = 0, all_Bps = 0;
	char rate[JL_UNITS_TEXT_MAX];

	for (size_t i = 0; i < here->n_nics; i++)
		if (here->nics[i].up && here->nics[i].Bps > 0 && !here->nics[i].bond_mode) {
			nic_Bps = fmax(nic_Bps, here->nics[i].Bps);
			all_Bps += here->nics[i].Bps;
		}
	if (!(nic_Bps > 0) || strcmp(h->r->metrics[0].name, "latency_s") == 0)
		return;
	jl_check_tcp(&h->e->range, nic_Bps, all_Bps);
	h->e->range.bound = NAN; /* the other host may be this one under another name */
	say(h, JL_N("TCP through a NIC of %s"), jl_units_text(rate, nic_Bps, JL_K_BYTE_RATE, 3));
}

/* Processes over shared memory: each reads the others' data and writes its part. */
static void shared_pages(struct host *h, enum jl_collective_kind kind)
{
	const double size_B = jl_record_number(h->r, "size_B"), n = fmax(jl_record_number(h->r, "n_ranks"), 1);
	const double passes = kind == JL_ALLREDUCE ? 3 : 2, moved_B = passes * size_B,
		     over = n / fmax(h->own.cpu.n_core.value, 1);
	const bool cached = !(2 * n * size_B > h->l3_B / 2);
	const double core_Bps = h->own.cpu.mem_Bps.value / fmin(n, h->own.cpu.n_core.value), steps = 1 + log2(n);
	double slow_s = meet_s.slow * steps, mid_s = meet_s.mid * steps;

	if (!(size_B > 0))
		return;
	if (over > 1) {
		slow_s += crowded_s * over * steps;
		mid_s += crowded_s / 20 * over;
	}
	slow_s += moved_B * fmax(over, 1) / fmin(shared_core_Bps.slow, core_Bps * stream_frac.slow);
	mid_s += moved_B * fmax(over, 1) / (cached ? shared_core_Bps.mid : core_Bps);
	range_of(h, size_B / slow_s, size_B / mid_s, size_B / (meet_s.fast + moved_B / shared_core_Bps.fast));
	say(h, JL_N("%.0f processes on %.0f cores, {%s}"), n, h->own.cpu.n_core.value,
	    cached ? JL_N("messages that the caches may hold") : JL_N("messages that go through memory"));
}

static void storage(struct host *h, const struct jl_probe_machine *here)
{
	const char *name = jl_record_text(h->r, "disk"), *test = jl_record_text(h->r, "test");
	const struct drive *d = drives;
	const struct three *Bps;
	int rotational = -1;

	name = name ? name : "";
	for (size_t i = 0; i < here->n_disks; i++)
		if (strcmp(here->disks[i].name, name) == 0)
			rotational = here->disks[i].rotational;
	while (strncmp(name, d->begins, strlen(d->begins)) != 0 || (d->rotational >= 0 && d->rotational != rotational))
		d++;
	Bps = test && strcmp(test, "write") == 0 ? &d->write_Bps : &d->read_Bps;
	range_of(h, Bps->slow, Bps->mid, Bps->fast);
	say(h, JL_N("{%s}"), d->en);
}

void jl_check_host(struct jl_device_expect *io_expect, const struct jl_catalog *cat,
		   const struct jl_probe_machine *here, const struct jl_record *r)
{
	struct host h = { .e = io_expect, .r = r, .l3_B = NAN };
	const double n_threads = jl_record_number(r, "n_threads");
	const char *host = jl_record_text(r, "host"), *dtype = jl_record_text(r, "dtype");
	enum jl_collective_kind coll;

	if (!r->n_metrics)
		return;
	jl_own_cpu_guess(&h.own, &(struct jl_own_ask){ .cat = cat, .here = here });
	h.n = n_threads >= 1 ? fmin(n_threads, h.own.cpu.n_core.value) : h.own.cpu.n_core.value;
	for (size_t i = 0; i < here->cpu.n_caches; i++)
		if (here->cpu.caches[i].level == 3)
			h.l3_B = here->cpu.caches[i].size_B * fmax(here->cpu.caches[i].n, 1);
	if (strcmp(r->kind, "gemm") == 0 && dtype && strcmp(dtype, "fp32") == 0)
		product(&h);
	else if (strcmp(r->kind, "memory") == 0)
		memory(&h);
	else if (strcmp(r->kind, "storage") == 0)
		storage(&h, here);
	else if (strcmp(r->kind, "net") == 0 && is_local(host))
		loopback(&h);
	else if (strcmp(r->kind, "net") == 0)
		network(&h, here);
	else if (jl_collective_by_name(&coll, r->kind) && strcmp(r->backend, "shm") == 0)
		shared_pages(&h, coll);
}
