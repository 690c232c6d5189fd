/* Judges one record by its system, published rows, its history or another run. */
#pragma once

#include "check/next.h"
#include "probe/probe.h"

enum jl_check_basis {
	JL_BASIS_NONE,    /* no expectation, or only a bound */
	JL_BASIS_MODEL,   /* the model, with published rows if any */
	JL_BASIS_HISTORY, /* earlier results of the machine */
	JL_BASIS_RUN,     /* one other run */
	JL_BASIS_OWN,     /* rates of the machine from the same run: train */
	JL_BASIS_HOST     /* estimated from the host's components: wide */
};
const char *jl_check_basis_name(enum jl_check_basis basis); /* in JSON */

struct jl_judged {
	const struct jl_record *record;
	const char *metric; /* its name */
	struct jl_figure figure;
	enum jl_verdict verdict;
	enum jl_check_basis basis;
	struct jl_expect expect;
	const char *bound_en, *bound_text; /* NULL: no bound */
	const char *from_en, *from_text;   /* JL_BASIS_HOST: the components; else NULL */
	const struct jl_sys *sys;          /* the system used; NULL: none */
	bool by_rdma;                      /* net: judged by one NIC's own rate instead of TCP */
	bool half_lanes;                   /* assumes that a card has half or all of its PCIe lanes */
	bool is_coll;                      /* with `coll` */
	struct jl_coll_expect coll;
	struct jl_history history;
	const struct jl_record *before; /* JL_BASIS_RUN */
	struct jl_change change;
	struct jl_bitext cause, neighbour; /* cause of a lowered GPU clock; other process on the GPU. Empty: none */
	struct jl_next next;
	double age_s; /* of a result of this machine; NAN: not known */
};

/* Thresholds of low and good: a figure without its own interval is given a tolerance. */
double jl_judged_turn(const struct jl_judged *j, bool low);

struct jl_judge {
	const struct jl_catalog *cat;
	struct jl_arena *arena;              /* owns the results' memory */
	const struct jl_sys *sys;            /* system of --on; NULL: none */
	const struct jl_probe_machine *here; /* set: records of this machine; else NULL */
	const struct jl_sys *here_sys;       /* GPUs of this machine as a system; NULL: none */
	const struct jl_record *const *past; /* newest first */
	size_t n_past;
	struct jl_steadiness steadiness; /* of `past` */
	double now_s;                    /* with `here`: time of judging */
	const struct jl_published *rows; /* loaded with the first collective */
	size_t n_rows;
};

/* For a collective given as busbw or time: the answer uses the same metric. */
#define JL_PARAM_ASKED "asked"

/* Fails for a record that needs a system if none is known. */
enum jl_status jl_judge(struct jl_judged *ret_judged, struct jl_judge *judge, const struct jl_record *record,
			struct jl_err *err);
/* Judges it relative to another run's record of the same thing. */
enum jl_status jl_judge_change(struct jl_judged *ret_judged, struct jl_judge *judge, const struct jl_record *record,
			       const struct jl_record *before, struct jl_err *err);
/* gemm, memory, link, net, collectives: kinds with an expectation from the system. */
bool jl_judge_knows(const char *kind);
/* Such a record with the judged metric, or a training run with the expectation of its machine. */
bool jl_judge_can(const struct jl_record *record);

/* True if a result of the same thing was judged: only the newest counts. */
bool jl_judged_has(const struct jl_judged *judged, size_t n, const struct jl_record *record);

/* The most severe verdict; the largest of the same verdict. */
const struct jl_judged *jl_check_worst(const struct jl_judged *judged, size_t n);

/* published.c: published collectives. They are compiled in, so that a verdict does not depend on the folder or machine. */
enum jl_status jl_published_rows(const struct jl_published **ret_rows, size_t *ret_n, const struct jl_catalog *cat,
				 struct jl_arena *arena, struct jl_err *err);
