/* A program: calls of one training or inference step with shapes, allocations, modules and host waits. Plain data from any producer; knows no
 * files, devices or times. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "fabric/collective.h"

#define JL_PROGRAM_MAX_B      ((size_t)256 << 20)
#define JL_PROGRAM_CALLS_MAX  4000000
#define JL_PROGRAM_KINDS_MAX  65536 /* kinds of calls, tensors, modules: an index has 16 bits */
#define JL_PROGRAM_LIST_MAX   4096  /* distinct entries of one tensor list */
#define JL_PROGRAM_REPEAT_MAX 65536 /* repeats of one entry */
#define JL_PROGRAM_ALLOCS_MAX 16000000
#define JL_PROGRAM_DEPTH_MAX  200 /* nesting of modules */
#define JL_PROGRAM_RANK_MAX   12
#define JL_PROGRAM_DIM_MAX    (1LL << 40)
#define JL_PROGRAM_ELEMS_MAX  9e15 /* elements of a tensor, bytes of a storage: exact in a double */
#define JL_PROGRAM_RANKS_MAX  1000000
#define JL_PROGRAM_CODES_MAX  64 /* also of units and assumptions */
#define JL_PROGRAM_TEXT_MAX   300

enum jl_elem {
	JL_ELEM_F64,
	JL_ELEM_F32,
	JL_ELEM_F16,
	JL_ELEM_BF16,
	JL_ELEM_E4M3,
	JL_ELEM_E5M2,
	JL_ELEM_I64,
	JL_ELEM_I32,
	JL_ELEM_I16,
	JL_ELEM_I8,
	JL_ELEM_U8,
	JL_ELEM_B8,
	JL_ELEM_C64,
	JL_ELEM_C128,
	JL_N_ELEM
};
double jl_elem_B(enum jl_elem elem);
const char *jl_elem_name(enum jl_elem elem);

struct jl_tensor_kind {
	const int64_t *dims, *strides; /* `rank` values each; strides in elements */
	enum jl_elem elem;
	int rank;
	bool dense;  /* elements are contiguous in some order of the dimensions */
	double n;    /* number of elements */
	double held; /* distinct elements: dimensions of stride 0 count once */
	double held_B;
};

struct jl_tensor_ref {
	uint32_t tensor; /* index of the tensor kind */
	uint32_t count;  /* number of repeats */
};

struct jl_attr {
	const char *key, *value;
};

struct jl_operator;

/* A kind of call: operator, shapes, attributes. */
struct jl_call_kind {
	const char *name;             /* "aten.addmm" */
	const struct jl_operator *op; /* NULL: not in the table */
	const struct jl_tensor_ref *in, *out;
	uint32_t n_in, n_out; /* number of entries in each list */
	const struct jl_attr *attrs;
	uint32_t n_attrs;
};

struct jl_program_module {
	uint32_t parent; /* index; 0 is the root, its own parent */
	uint8_t depth;   /* depth in the tree; root: 0 */
	const char *name, *type;
};

enum jl_step_phase { JL_PHASE_INPUT, JL_PHASE_FORWARD, JL_PHASE_BACKWARD, JL_PHASE_UPDATE, JL_PHASE_OTHER, JL_N_PHASE };
extern const char *const jl_phase_names[JL_N_PHASE];

enum jl_event_kind {
	JL_EVENT_CALL,
	JL_EVENT_WAIT,       /* the host waits for the device */
	JL_EVENT_COLLECTIVE, /* `kind` indexes `collectives` */
	JL_EVENT_JOIN        /* the device waits for that collective */
};

struct jl_event {
	uint16_t kind;        /* index of the call's kind */
	uint16_t module;      /* index of the module */
	uint32_t host;        /* calls without a kernel before it */
	uint32_t first_alloc; /* first allocation; they end where those of the next event begin */
	uint8_t what;         /* enum jl_event_kind */
	uint8_t phase;        /* enum jl_step_phase */
	uint8_t entered;      /* modules entered with it, forward only */
};

enum jl_storage_kind {
	JL_STORAGE_PARAM,
	JL_STORAGE_GRAD,
	JL_STORAGE_STATE,
	JL_STORAGE_BUFFER,
	JL_STORAGE_INPUT,
	JL_STORAGE_OTHER,
	JL_STORAGE_STEP, /* allocated by a call of the step */
	JL_N_STORAGE_KIND
};
extern const char *const jl_storage_names[JL_N_STORAGE_KIND];

struct jl_storage {
	double size_B;
	enum jl_storage_kind kind;
	uint32_t event; /* JL_STORAGE_STEP: event that allocates it */
};

struct jl_alloc {
	uint32_t storage : 31;
	uint32_t freed : 1;
};

struct jl_program_collective {
	enum jl_collective_kind kind;
	double size_B;
	int n_ranks;
	bool async; /* runs concurrently until joined */
};

/* Number of calls of a kind per phase. */
struct jl_kind_use {
	uint32_t n[JL_N_PHASE];
};

struct jl_program_unit {
	const char *name;
	double count;
};

struct jl_program {
	const char *title;
	const char *code[JL_PROGRAM_CODES_MAX]; /* "torch 2.11.0" */
	size_t n_codes;
	struct jl_program_unit units[JL_PROGRAM_CODES_MAX]; /* per step and process; the first is the batch */
	size_t n_units;
	const char *assumes[JL_PROGRAM_CODES_MAX];
	size_t n_assumes;
	int n_ranks, rank;
	double n_params; /* elements of the parameters; a storage without a tensor counts 4 bytes per element */
	bool tf32;       /* products of fp32 tensors may use TF32; convolutions always may, as in PyTorch */
	bool graph;      /* replayed as CUDA graphs: no host time */

	struct jl_tensor_kind *tensors;
	size_t n_tensors;
	struct jl_call_kind *kinds;
	size_t n_kinds;
	struct jl_program_module *modules; /* the first is the root */
	size_t n_modules;
	struct jl_event *events; /* n_events + 1: the last marks the end of the allocations */
	size_t n_events, n_calls;
	struct jl_alloc *allocs;
	size_t n_allocs;
	struct jl_storage *storages; /* the first n_initial are alive at the start of the step */
	size_t n_storages, n_initial;
	struct jl_program_collective *collectives;
	size_t n_collectives;

	/* computed from the events by jl_program_tally: */
	struct jl_kind_use *uses; /* use of each kind of call */
	double n_views[JL_N_PHASE], n_entered, n_waits;
	bool trains;        /* has a backward pass */
	bool compiled;      /* by torch.compile: operators fused into shared kernels */
	bool channels_last; /* the compiler uses channels last for convolutions, whatever the code requests */
};

/* To be called by a producer after filling everything else. */
enum jl_status jl_program_tally(struct jl_program *p, struct jl_arena *arena, struct jl_err *err);

/* Attribute as text, NULL: missing; as a number, `fallback` if missing or not a number. */
const char *jl_call_attr(const struct jl_call_kind *kind, const char *key);
double jl_call_number(const struct jl_call_kind *kind, const char *key, double fallback);

/* The i-th tensor of a list, repeats counted; NULL: out of range. */
const struct jl_tensor_kind *jl_call_in(const struct jl_program *p, const struct jl_call_kind *kind, size_t i);
const struct jl_tensor_kind *jl_call_out(const struct jl_program *p, const struct jl_call_kind *kind, size_t i);

/* Computes n, held, held_B and dense from the other members. */
void jl_tensor_measure(struct jl_tensor_kind *tensor);

/* Bytes of the storages of one kind that are alive at the start of the step. */
double jl_program_initial_B(const struct jl_program *p, enum jl_storage_kind kind);
