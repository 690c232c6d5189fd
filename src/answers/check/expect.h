/* Expected performance of a system: a range from the model and from published measurements near it, and the bound of the hardware. Pure. */
#pragma once

#include "check/verdict.h"
#include "parameters/link_params.h"
#include "predict/collective_case.h"
#include "probe/probe.h"

/* A published measurement of a collective, with the bound by the listed rates of its own system. */
struct jl_published {
	enum jl_collective_kind kind;
	double size_B;
	int n_ranks, n_nodes;
	enum jl_wire intra, inter; /* inter: JL_WIRE_NONE for one host */
	double algbw_Bps, bound_Bps;
	double fixed_frac; /* share of its time independent of the size: start, steps (by the model) */
};

struct jl_coll_ask {
	struct jl_collective_ask ask;
	double host_s; /* host time that the tool adds to each, at least; 0: none */
	const struct jl_published *rows;
	size_t n_rows;
};

struct jl_coll_expect {
	struct jl_collective_case c;
	struct jl_expect range;            /* algbw; low and high include the middle four fifths of the rows near it */
	size_t n_near;                     /* number of such rows: same links, similar number of hosts and size */
	double near_lo_frac, near_hi_frac; /* their shares of their own bound; NAN: none */
	double near_lo_s, near_hi_s;       /* times expected from them; NAN: none */
	bool by_time;                      /* start and steps dominate: judged by time instead of rate */
};
enum jl_status jl_check_collective(struct jl_coll_expect *ret_expect, const struct jl_machine *machine,
				   const struct jl_coll_ask *ask, struct jl_err *err);

/* Figures of a single device or link. */
enum jl_check_kind { JL_CHECK_GEMM, JL_CHECK_MEMORY, JL_CHECK_LINK, JL_CHECK_NET, JL_N_CHECK_KIND };

#define JL_CHECK_TEXT_MAX 200

struct jl_device_ask {
	enum jl_check_kind kind;
	enum jl_dtype dtype;  /* gemm */
	double m, n, k;       /* gemm */
	double size_B;        /* memory: sizes that fit a cache are not limited by memory; NAN: large */
	bool copy;            /* memory: copy instead of triad */
	bool between_devices; /* link: device to device instead of host and device */
	bool same_device;     /* with it: a copy within one device's memory */
	bool pageable;        /* link: pageable host memory, which the driver copies */
	double rate_Bps;      /* net: the figure itself, which shows the transport; NAN: not known */
	double n_threads;     /* CPU: threads in use; 0 or NAN: all */
};

struct jl_device_expect {
	struct jl_expect range;
	bool by_rdma;    /* net: too fast for TCP, judged by one NIC's own rate */
	bool half_lanes; /* link: a card may have half of its lanes, as in jl_fabric */
	char bound_en[JL_CHECK_TEXT_MAX], bound_text[JL_CHECK_TEXT_MAX]; /* where the bound comes from */
	char from_en[JL_CHECK_TEXT_MAX], from_text[JL_CHECK_TEXT_MAX];   /* origin of a host's range; "": the model */
};
enum jl_status jl_check_device(struct jl_device_expect *ret_expect, const struct jl_catalog *cat,
			       const struct jl_sys *sys, const struct jl_device_ask *ask, struct jl_err *err);

/* Upper bound of a CPU whose usual rate only the machine's history can tell: the range stays unknown. */
void jl_check_cpu_bound(struct jl_device_expect *ret_expect, const struct jl_cpu *cpu, int n_sockets,
			const struct jl_device_ask *ask);

/* TCP through one NIC of `nic_Bps` on a host with `all_Bps` in total. */
void jl_check_tcp(struct jl_expect *ret_range, double nic_Bps, double all_Bps);

/* What this host should do, before anything was measured on it. */
/* Fills the range and its origin for a figure of the host: products and memory of the CPUs, loopback and NICs, processes over shared memory.
 * An existing bound is kept. Other kinds are left unchanged. */
void jl_check_host(struct jl_device_expect *io_expect, const struct jl_catalog *cat,
		   const struct jl_probe_machine *here, const struct jl_record *record);
