/* Private to hf_*.c: tensors, calls and gradients while a recipe runs. */
#pragma once

#include "base/arena.h"
#include "program/hf.h"
#include "program/program.h"

#define HF_RANK  5
#define HF_NAMES 256

struct hf_val {
	int64_t d[HF_RANK], s[HF_RANK]; /* sizes; strides in elements */
	int32_t store, node;            /* indices; -1: none */
	int8_t rank, elem, out;         /* output index of its node */
	bool grad;
};

struct hf_trace;
struct hf_op;
struct hf_node {
	const struct hf_op *op; /* NULL: a leaf */
	const char *arg;
	struct hf_val meta[4]; /* inputs: shape and format of their gradients */
	struct hf_val save[5]; /* x y z r m; store -1: not kept; for a leaf the first is its autocast copy */
	struct hf_val grad[3]; /* of outputs; store -1: not computed yet */
	int32_t module, deps;
	int8_t n_in;
};

enum hf_form { HF_POINT, HF_MEAN, HF_NEW, HF_LIKE, HF_CODE };
enum hf_cast { HF_PROMOTE, HF_LOWER, HF_WIDE }; /* how autocast treats the inputs */

struct hf_op {
	const char *token, *name;
	int n_in;
	enum hf_form form;
	enum hf_cast cast;
	const char *attrs; /* %s: the argument */
	const char *back;  /* "INPUT RECIPE|INPUT RECIPE": gradients in PyTorch's order */
	void (*run)(struct hf_trace *t, const struct hf_op *op, const char *arg);
	void (*gradient)(struct hf_trace *t, struct hf_node *node);
};
const struct hf_op *hf_op_find(const char *token, size_t len);

struct hf_store {
	double size_B;
	int refs;
	bool listed, initial;
};
struct hf_param {
	int32_t node;
	struct hf_val value, grad;
};
struct hf_names { /* Map from text to number. */
	struct {
		const char *text;
		int id;
	} * slots;
	size_t n, n_slots;
	int *last; /* number of the last lookup */
};

struct hf_trace {
	const struct jl_transformer *model;
	const struct jl_hf_run *run;
	const char *const *recipes; /* recipes, indexed by letter */
	struct jl_arena arena;
	struct jl_buf defs, initial, calls, line, frees;
	struct hf_names tensors, kinds, modules, params_by_name;
	struct hf_store *stores;
	struct hf_node *nodes;
	struct hf_param *params;
	int n_stores, n_nodes, n_params, room_stores, room_nodes, room_params;
	struct hf_val stack[32], *regs, globals[128];
	int n_stack, module, host, depth, layer;
	int cast; /* enum jl_elem of autocast; -1: off */
	bool grad_on, broken, mute, mute_next;
	unsigned target;      /* enum jl_target of the current module */
	int n_saved, stop_at; /* a recomputed layer stops once its last kept tensor exists */
	/* node whose gradient is computed; node whose tensors the next recipe starts with */
	struct hf_node *now, *bind;
	double var[128];
	size_t n_records;
	char where[40]; /* token at which a recipe failed */
};

int hf_intern(struct hf_trace *t, struct hf_names *names, const char *text, bool *ret_new);
void hf_hold(struct hf_trace *t, const struct hf_val *v);
void hf_drop(struct hf_trace *t, const struct hf_val *v);
void hf_push(struct hf_trace *t, struct hf_val v);
struct hf_val hf_pop(struct hf_trace *t);
struct hf_val hf_make(struct hf_trace *t, enum jl_elem elem, int rank, const int64_t *dims);
struct hf_val hf_like(struct hf_trace *t, const struct hf_val *v, int elem); /* same layout; elem -1: same format */
struct hf_val hf_scalar(struct hf_trace *t, enum jl_elem elem);
bool hf_contiguous(const struct hf_val *v);
double hf_count(const struct hf_val *v);
int hf_dims(struct hf_trace *t, const char *arg, int64_t *ret_dims);
void hf_call(struct hf_trace *t, const char *name, const struct hf_val *in, int n_in, struct hf_val *out, int n_out,
	     const char *attrs);
void hf_wait(struct hf_trace *t, const char *reason);
void hf_phase(struct hf_trace *t, const char *name);
/* Records the gradient rule of `out`; `keep`: bits of x y z r m. */
struct hf_node *hf_record(struct hf_trace *t, const struct hf_op *op, const char *arg, const struct hf_val *in,
			  int n_in, struct hf_val *out, int n_out, unsigned keep);
void hf_give(struct hf_trace *t, const struct hf_val *to, struct hf_val grad); /* adds a gradient; takes ownership */
void hf_backward(struct hf_trace *t, int from);
void hf_run(struct hf_trace *t, const char *recipe);
struct hf_val hf_param(struct hf_trace *t, const char *name, enum jl_elem elem, int rank, const int64_t *dims);
struct hf_val hf_autocast(struct hf_trace *t, struct hf_val v, enum hf_cast cast); /* takes and returns a reference */
void hf_end_autocast(struct hf_trace *t); /* frees the cached casts of weights */
struct hf_val hf_cast(struct hf_trace *t, struct hf_val v, int elem, bool recorded);
struct hf_val hf_initial(struct hf_trace *t, const char *kind, enum jl_elem elem, int rank, const int64_t *dims);
/* copies if the strides require it */
struct hf_val hf_view(struct hf_trace *t, struct hf_val v, int rank, const int64_t *dims);
int hf_enter(struct hf_trace *t, const char *name); /* returns the argument for hf_leave */
void hf_leave(struct hf_trace *t, int module);
