/* This machine's own measurements as model parameters: a catalog overlay for questions about this machine. */
#pragma once

#include "base/buf.h"
#include "check/expect.h"
#include "check/machine_findings.h"
#include "kernels/op.h"
#include "probe/probe.h"

#define JL_OWN_MAX       12
#define JL_OWN_SOURCE_ID "this-machine" /* source id of the overlay */
#define JL_OWN_CPU_ID    "this"         /* its CPU as a device, without GPUs */

struct jl_own_figure {
	const struct jl_record *record;
	double before;               /* the model's previous value; NAN: none */
	char param[80];              /* parameter id; "": a property of the CPU's record */
	double value, lo, hi, prior; /* of the parameter */
	bool clamped;                /* limited by the parameter's bounds */
};

struct jl_own {
	struct jl_own_figure figures[JL_OWN_MAX];
	size_t n, n_noisy;           /* n_noisy: records ignored */
	const struct jl_gpu *gpu;    /* NULL: the device is the CPU */
	double fp32_flopps, mem_Bps; /* CPU: rates with which the model reproduces the measurements */
};

struct jl_own_ask {
	const struct jl_catalog *cat;
	const struct jl_probe_machine *here;
	const struct jl_sys *sys;               /* its GPUs; NULL: none in the catalog */
	const struct jl_record *const *records; /* records of this machine, newest first; NULL: none */
	size_t n_records;
	bool with_noisy;
};

/* Its CPU as a device: measured rates, else the listed ones of its model, else an estimate from cores, clock and vector units. */
struct jl_own_cpu {
	struct jl_cpu cpu;
	bool measured;         /* all rates measured here */
	bool noisy;            /* only noisy results exist */
	struct jl_bitext note; /* origin of the rates */
};
void jl_own_cpu(struct jl_own_cpu *ret_cpu, const struct jl_own_ask *ask);

/* JL_E_NOTFOUND if a measurement is missing: the message names the benchmark. */
enum jl_status jl_own_make(struct jl_own *ret_own, const struct jl_own_ask *ask, struct jl_err *err);
/* The overlay as text: one file for its source, one for its figures; date: YYYY-MM-DD. */
void jl_own_source_yaml(struct jl_buf *out, const struct jl_own *own, const struct jl_probe_machine *here,
			const char *date);
void jl_own_figures_yaml(struct jl_buf *out, const struct jl_own *own, const struct jl_probe_machine *here,
			 const char *date);

/* Device rates with which the model reproduces a measured product and stream; NAN keeps the rate. */
void jl_own_solve(struct jl_device *dev, const struct jl_catalog *cat, const char *gpu_id, const struct jl_gemm *gemm,
		  double gemm_flopps, double mem_Bps);

/* A CPU without measurements: listed, or estimated from its cores, clock and vector units. */
/* The processor by the probe: cores, memory and cache; no rates. */
void jl_own_cpu_plain(struct jl_cpu *ret_cpu, const struct jl_probe_machine *here);
/* With rates and their origin. */
void jl_own_cpu_guess(struct jl_own_cpu *ret_cpu, const struct jl_own_ask *ask);
