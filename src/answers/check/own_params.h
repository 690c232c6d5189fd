/* This machine's own measurements as parameters of the model: a catalog overlay that is laid over the shipped
 * one where a question is about this machine. */
#pragma once

#include "base/buf.h"
#include "check/expect.h"
#include "check/machine_findings.h"
#include "kernels/op.h"
#include "probe/probe.h"

#define JL_OWN_MAX       12
#define JL_OWN_SOURCE_ID "this-machine" /* the source of what such an overlay says */
#define JL_OWN_CPU_ID    "this"         /* its CPU as a device, where there is no GPU */

struct jl_own_figure {
	const struct jl_record *record;
	double before;               /* what the model had for it; NAN: nothing */
	char param[80];              /* id of the parameter; "": a fact of the CPU's record */
	double value, lo, hi, prior; /* of the parameter */
	bool clamped;                /* at the end of what the parameter may be */
};

struct jl_own {
	struct jl_own_figure figures[JL_OWN_MAX];
	size_t n, n_noisy;           /* n_noisy: records that were passed over */
	const struct jl_gpu *gpu;    /* NULL: the CPU is the device */
	double fp32_flopps, mem_Bps; /* CPU: rates that make the model give what was measured */
};

struct jl_own_ask {
	const struct jl_catalog *cat;
	const struct jl_probe_machine *here;
	const struct jl_sys *sys;               /* its GPUs; NULL: none that the catalog knows */
	const struct jl_record *const *records; /* of this machine, newest first; NULL: none */
	size_t n_records;
	bool with_noisy;
};

/* Its CPU as a device, whatever is known of it: what was measured here, else what is listed for its model, else what
 * its cores, clock and vector units let expect. */
struct jl_own_cpu {
	struct jl_cpu cpu;
	bool measured;         /* all of it here */
	bool noisy;            /* there are results, but of a disturbed machine */
	struct jl_bitext note; /* where its rates are from */
};
void jl_own_cpu(struct jl_own_cpu *ret_cpu, const struct jl_own_ask *ask);

/* Refused (JL_E_NOTFOUND) where what is needed was not measured: the message says which benchmark does it. */
enum jl_status jl_own_make(struct jl_own *ret_own, const struct jl_own_ask *ask, struct jl_err *err);
/* The overlay as text, a file for its source and one for its figures; date: YYYY-MM-DD. */
void jl_own_source_yaml(struct jl_buf *out, const struct jl_own *own, const struct jl_probe_machine *here,
			const char *date);
void jl_own_figures_yaml(struct jl_buf *out, const struct jl_own *own, const struct jl_probe_machine *here,
			 const char *date);

/* Rates of a device that make the model give what was measured: of one product, of streams; NAN leaves what is there. */
void jl_own_solve(struct jl_device *dev, const struct jl_catalog *cat, const char *gpu_id, const struct jl_gemm *gemm,
		  double gemm_flopps, double mem_Bps);

/* A CPU that nobody measured: listed, or estimated from its cores, clock and vector units. */
/* What the machine itself says of its processor: cores, memory and cache; no rates. */
void jl_own_cpu_plain(struct jl_cpu *ret_cpu, const struct jl_probe_machine *here);
/* The same with rates, and where they are from. */
void jl_own_cpu_guess(struct jl_own_cpu *ret_cpu, const struct jl_own_ask *ask);
