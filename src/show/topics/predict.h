/* Documents of a prediction: time by part, memory, energy, money, advice; sweeps; collectives; rules of thumb. */
#pragma once

#include "score/near.h"
#include "plan/answer.h"
#include "predict/answer.h"
#include "topics/show.h"

/* "GPT 305M · 10x rtx-3090 · batch 4 a worker · ... · PyTorch eager" */
void jl_show_case(struct jl_doc *doc, const struct jl_case *c);
/* "GPU", "CPU" */
const char *jl_show_device(const struct jl_case *c);
const char *jl_show_card(const struct jl_case *c);      /* "h100-sxm5"; "CPU" for a host without a GPU */
const char *jl_show_framework(const struct jl_case *c); /* "PyTorch eager" */
/* "○ estimated; 80 % intervals ...", then the assumptions. */
void jl_show_confidence(struct jl_doc *doc, const struct jl_notes *notes);

/* "probably fits (65–86 of 80)": a static text or one of the document. */
struct jl_fit_text {
	const char *text;
	enum jl_mark mark;
	bool doubt; /* the interval includes the capacity */
};
struct jl_fit_text jl_show_memory_fit(struct jl_doc *doc, const struct jl_prediction *p, enum jl_room room);
/* Memory and its parts, as an entry. */
void jl_show_memory(struct jl_doc *doc, const struct jl_predicted *x);
/* Memory chart: a waterfall with interval and capacity for one device; stacked bars for several. */
struct jl_named_memory {
	const char *name;
	const struct jl_prediction *prediction;
};
void jl_show_memory_chart(struct jl_doc *doc, const struct jl_named_memory *list, size_t n);
/* Memory over a step, with the capacity. */
void jl_show_memory_over(struct jl_doc *doc, const struct jl_case *c, const struct jl_prediction *p);
/* A prediction that does not fit: required and available memory, and remedies. */
void jl_show_room(struct jl_doc *doc, const struct jl_predicted *x);

/* A step on a time axis, and its pipeline schedule. */
void jl_show_step_charts(struct jl_doc *doc, const struct jl_case *c, const struct jl_step_cost *step);
double jl_forward_frac(const struct jl_plan *plan); /* share of the forward pass in the passes' time */

/* A similar published run. */
struct jl_near_run {
	const struct jl_set_row *row;
	const char *set;
	double distance, ln_ratio;
};
/* Input of jl_show_predicted; near NULL: not shown. */
struct jl_show_predicted {
	const struct jl_predicted *predicted;
	const struct jl_near_run *near;
	size_t n_near;
	const struct jl_plan_hint *plan;  /* NULL: not requested */
	const struct jl_goodput *goodput; /* NULL: not requested */
	bool charts;                      /* only the answer and its charts */
	const struct jl_kernels *kernels; /* for the charts; NULL: no list of operations */
	struct jl_elapsed elapsed;        /* of a whole run, with failures */
};
extern const struct jl_schema jl_show_predicted_fields;

void jl_show_predicted(struct jl_doc *doc, const struct jl_show_predicted *in, long today);
/* Calls and modules of a captured program; nothing otherwise. */
void jl_show_program(struct jl_doc *doc, const struct jl_predicted *x);
/* "RunPod, 2026-08-22", and whether this number of GPUs is offered. */
const char *jl_show_rent(struct jl_doc *doc, const struct jl_rent *rent, int n_gpus, long today);
void jl_show_near(struct jl_doc *doc, const struct jl_show_predicted *in);
/* Reason for an efficiency above 1. */
void jl_show_above(struct jl_doc *doc, const struct jl_scaled_gain *gain);
void jl_show_sweep(struct jl_doc *doc, const struct jl_sweep *sweep);
void jl_show_collective(struct jl_doc *doc, const struct jl_collective_series *series);
void jl_show_explained(struct jl_doc *doc, const struct jl_explained *explained);

/* Two kinds of GPU. */
struct jl_mixed;
void jl_show_mixed(struct jl_doc *doc, const struct jl_mixed *mixed);

/* Its operations. */
struct jl_kernels;
/* Roofline chart: FLOP/s of each operator by arithmetic intensity, below the device's limits. */
void jl_show_roofline(struct jl_doc *doc, const struct jl_case *c, const struct jl_kernels *kernels);
void jl_show_kernels(struct jl_doc *doc, const struct jl_case *c, const struct jl_kernels *kernels);
