/* One record against what its system, published rows, its history or another run lets expect. */
#pragma once

#include "check/next.h"
#include "probe/probe.h"

enum jl_check_basis {
	JL_BASIS_NONE,    /* nothing to judge by, or a bound only */
	JL_BASIS_MODEL,   /* the model, with published rows where there are some */
	JL_BASIS_HISTORY, /* earlier results of the same machine */
	JL_BASIS_RUN,     /* one other run */
	JL_BASIS_OWN,     /* rates of the same machine, measured with it: train */
	JL_BASIS_HOST     /* estimated from the host's parts: wide */
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
	const char *from_en, *from_text;   /* JL_BASIS_HOST: from which parts; else NULL */
	const struct jl_sys *sys;          /* the system that it was judged on; NULL: none */
	bool by_rdma;                      /* net: judged by one NIC's own rate, not by what TCP reaches */
	bool half_lanes;                   /* a card is taken to have half of its PCIe lanes, or all */
	bool is_coll;                      /* with `coll` */
	struct jl_coll_expect coll;
	struct jl_history history;
	const struct jl_record *before; /* JL_BASIS_RUN */
	struct jl_change change;
	struct jl_bitext cause,
		neighbour; /* of a GPU: what holds its clock down; who else is on it. Empty: nothing seen */
	struct jl_next next;
	double age_s; /* of a result of this machine; NAN: not known */
};

/* From where on the verdict is low, or good: a figure without an interval of its own gets the benefit of the doubt. */
double jl_judged_turn(const struct jl_judged *j, bool low);

struct jl_judge {
	const struct jl_catalog *cat;
	struct jl_arena *arena;              /* results point into it */
	const struct jl_sys *sys;            /* of --on; NULL: none was named */
	const struct jl_probe_machine *here; /* records of this machine are judged; else NULL */
	const struct jl_sys *here_sys;       /* its GPUs as a system; NULL: none */
	const struct jl_record *const *past; /* newest first */
	size_t n_past;
	struct jl_steadiness steadiness; /* of `past` */
	double now_s;                    /* with `here`: when it is judged */
	const struct jl_published *rows; /* read with the first collective */
	size_t n_rows;
};

/* A figure of a collective that was given as busbw or time: answered so. */
#define JL_PARAM_ASKED "asked"

/* Refused: a record that needs a system where none is known. */
enum jl_status jl_judge(struct jl_judged *ret_judged, struct jl_judge *judge, const struct jl_record *record,
			struct jl_err *err);
/* The same against another run's record of the same thing. */
enum jl_status jl_judge_change(struct jl_judged *ret_judged, struct jl_judge *judge, const struct jl_record *record,
			       const struct jl_record *before, struct jl_err *err);
/* gemm, memory, link, net, collectives: kinds that a system lets expect something of. */
bool jl_judge_knows(const char *kind);
/* Such a record with the figure that is judged in it, or a training run that carries what its machine lets expect. */
bool jl_judge_can(const struct jl_record *record);

/* Is something like it among those that were judged? Of several results of one thing only the newest counts. */
bool jl_judged_has(const struct jl_judged *judged, size_t n, const struct jl_record *record);

/* The one that counts: impossible before low before the rest; the largest of the same verdict. */
const struct jl_judged *jl_check_worst(const struct jl_judged *judged, size_t n);

/* published.c: collectives that others measured and published. They are inside the program: a verdict is the same in every folder and on
 * every machine. */
enum jl_status jl_published_rows(const struct jl_published **ret_rows, size_t *ret_n, const struct jl_catalog *cat,
				 struct jl_arena *arena, struct jl_err *err);
