/* Documents of a prediction: time and where it goes, memory, energy, money, advice; series of predictions; a collective; estimates by hand. */
#pragma once

#include "score/near.h"
#include "plan/answer.h"
#include "predict/answer.h"
#include "topics/show.h"

/* "GPT 305M · 10x rtx-3090 · batch 4 a worker · ... · PyTorch eager" */
void jl_show_case(struct jl_doc *doc, const struct jl_case *c);
/* "GPU", "CPU" */
const char *jl_show_device(const struct jl_case *c);
const char *jl_show_card(const struct jl_case *c);      /* "h100-sxm5"; of a host without a GPU "CPU" */
const char *jl_show_framework(const struct jl_case *c); /* "PyTorch eager" */
/* "○ estimated; 80 % intervals ...", then what was assumed. */
void jl_show_confidence(struct jl_doc *doc, const struct jl_notes *notes);

/* "probably fits (65–86 of 80)": a static text or one of the document's. */
struct jl_fit_text {
	const char *text;
	enum jl_mark mark;
	bool doubt; /* the interval holds the capacity */
};
struct jl_fit_text jl_show_memory_fit(struct jl_doc *doc, const struct jl_prediction *p, enum jl_room room);
/* Memory and what takes it, as an entry. */
void jl_show_memory(struct jl_doc *doc, const struct jl_predicted *x);
/* Memory as a chart: for one device a waterfall with its interval against the capacity; for several a stacked bar each. */
struct jl_named_memory {
	const char *name;
	const struct jl_prediction *prediction;
};
void jl_show_memory_chart(struct jl_doc *doc, const struct jl_named_memory *list, size_t n);
/* What a step holds from its beginning to its end against the capacity. */
void jl_show_memory_over(struct jl_doc *doc, const struct jl_case *c, const struct jl_prediction *p);
/* A prediction that does not fit: memory needed, memory there, and what would make it fit. */
void jl_show_room(struct jl_doc *doc, const struct jl_predicted *x);

/* A step on an axis of time, and the schedule of its pipeline. */
void jl_show_step_charts(struct jl_doc *doc, const struct jl_case *c, const struct jl_step_cost *step);
double jl_forward_frac(const struct jl_plan *plan); /* of the passes' time, the forward one's */

/* A published run near it. */
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
	const struct jl_plan_hint *plan;  /* NULL: not asked for */
	const struct jl_goodput *goodput; /* NULL: not asked for */
	bool charts;                      /* the answer and its pictures instead of all the rest */
	const struct jl_kernels *kernels; /* of the charts; NULL: its operations are not listed */
	struct jl_elapsed elapsed;        /* of a whole run, with failures */
};
extern const struct jl_schema jl_show_predicted_fields;

void jl_show_predicted(struct jl_doc *doc, const struct jl_show_predicted *in, long today);
/* Calls and modules of a captured program; nothing for other subjects. */
void jl_show_program(struct jl_doc *doc, const struct jl_predicted *x);
/* "RunPod, 2026-08-22", and whether anybody offers so many. */
const char *jl_show_rent(struct jl_doc *doc, const struct jl_rent *rent, int n_gpus, long today);
void jl_show_near(struct jl_doc *doc, const struct jl_show_predicted *in);
/* A sentence: why an efficiency lies above 1. */
void jl_show_above(struct jl_doc *doc, const struct jl_scaled_gain *gain);
void jl_show_sweep(struct jl_doc *doc, const struct jl_sweep *sweep);
void jl_show_collective(struct jl_doc *doc, const struct jl_collective_series *series);
void jl_show_explained(struct jl_doc *doc, const struct jl_explained *explained);

/* Two kinds of GPU. */
struct jl_mixed;
void jl_show_mixed(struct jl_doc *doc, const struct jl_mixed *mixed);

/* Its operations. */
struct jl_kernels;
/* Roofline chart: FLOP/s of each operator over its arithmetic intensity, below the device's limits. */
void jl_show_roofline(struct jl_doc *doc, const struct jl_case *c, const struct jl_kernels *kernels);
void jl_show_kernels(struct jl_doc *doc, const struct jl_case *c, const struct jl_kernels *kernels);
