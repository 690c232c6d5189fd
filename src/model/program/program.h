/* A program: what one step asks of its device, call by call, with shapes, allocations, modules and where the host waits. Plain data that
 * any producer can fill; it knows nothing of files, devices or times. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "fabric/collective.h"

#define JL_PROGRAM_MAX_B      ((size_t)256 << 20)
#define JL_PROGRAM_CALLS_MAX  4000000
#define JL_PROGRAM_KINDS_MAX  65536 /* of calls, of tensors, of modules: an index is 16 bits */
#define JL_PROGRAM_LIST_MAX   4096  /* distinct entries of one list of tensors */
#define JL_PROGRAM_REPEAT_MAX 65536 /* of one entry */
#define JL_PROGRAM_ALLOCS_MAX 16000000
#define JL_PROGRAM_DEPTH_MAX  200 /* of modules in each other */
#define JL_PROGRAM_RANK_MAX   12
#define JL_PROGRAM_DIM_MAX    (1LL << 40)
#define JL_PROGRAM_ELEMS_MAX  9e15 /* of a tensor, and bytes of a storage: exact in a double */
#define JL_PROGRAM_RANKS_MAX  1000000
#define JL_PROGRAM_CODES_MAX  64 /* likewise units and assumptions */
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
	const int64_t *dims, *strides; /* `rank` of each; strides in elements */
	enum jl_elem elem;
	int rank;
	bool dense;  /* its elements lie side by side, in some order of the dimensions */
	double n;    /* elements */
	double held; /* distinct elements: a dimension of stride 0 counts once */
	double held_B;
};

struct jl_tensor_ref {
	uint32_t tensor; /* index of its kind */
	uint32_t count;  /* so many of it, one behind the other */
};

struct jl_attr {
	const char *key, *value;
};

struct jl_operator;

/* A kind of call: operator, shapes, attributes. */
struct jl_call_kind {
	const char *name;             /* "aten.addmm" */
	const struct jl_operator *op; /* NULL: the table does not know it */
	const struct jl_tensor_ref *in, *out;
	uint32_t n_in, n_out; /* entries */
	const struct jl_attr *attrs;
	uint32_t n_attrs;
};

struct jl_program_module {
	uint32_t parent; /* index; 0 is the root, its own parent */
	uint8_t depth;   /* of the root: 0 */
	const char *name, *type;
};

enum jl_step_phase { JL_PHASE_INPUT, JL_PHASE_FORWARD, JL_PHASE_BACKWARD, JL_PHASE_UPDATE, JL_PHASE_OTHER, JL_N_PHASE };
extern const char *const jl_phase_names[JL_N_PHASE];

enum jl_event_kind {
	JL_EVENT_CALL,
	JL_EVENT_WAIT,       /* the host waits for the device */
	JL_EVENT_COLLECTIVE, /* `kind` is an index of `collectives` */
	JL_EVENT_JOIN        /* the device waits for that collective */
};

struct jl_event {
	uint16_t kind;        /* of the call */
	uint16_t module;      /* index */
	uint32_t host;        /* calls without a kernel before it */
	uint32_t first_alloc; /* its allocations end where those of the next event begin */
	uint8_t what;         /* enum jl_event_kind */
	uint8_t phase;        /* enum jl_step_phase */
	uint8_t entered;      /* modules that are entered with it, in a forward pass */
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
	uint32_t event; /* that allocates it; of kind JL_STORAGE_STEP */
};

struct jl_alloc {
	uint32_t storage : 31;
	uint32_t freed : 1;
};

struct jl_program_collective {
	enum jl_collective_kind kind;
	double size_B;
	int n_ranks;
	bool async; /* it runs beside the calls until it is joined */
};

/* How often a kind of call is made in each phase. */
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
	struct jl_program_unit units[JL_PROGRAM_CODES_MAX]; /* of one step and process; the first is the batch */
	size_t n_units;
	const char *assumes[JL_PROGRAM_CODES_MAX];
	size_t n_assumes;
	int n_ranks, rank;
	double n_params; /* elements of its parameters; those whose storage names no tensor count 4 bytes each */
	bool tf32;       /* products of fp32 tensors may be computed in it; convolutions always may, as in PyTorch */
	bool graph;      /* calls come from CUDA graphs: no host time */

	struct jl_tensor_kind *tensors;
	size_t n_tensors;
	struct jl_call_kind *kinds;
	size_t n_kinds;
	struct jl_program_module *modules; /* the first is the root */
	size_t n_modules;
	struct jl_event *events; /* n_events + 1: the last ends the allocations */
	size_t n_events, n_calls;
	struct jl_alloc *allocs;
	size_t n_allocs;
	struct jl_storage *storages; /* the first n_initial live when the step begins */
	size_t n_storages, n_initial;
	struct jl_program_collective *collectives;
	size_t n_collectives;

	/* jl_program_tally counts these from the events */
	struct jl_kind_use *uses; /* of each kind */
	double n_views[JL_N_PHASE], n_entered, n_waits;
	bool trains;        /* it has a backward pass */
	bool compiled;      /* by torch.compile: operators are written into shared kernels */
	bool channels_last; /* the compiler lays its convolutions' channels last, whatever the code says */
};

/* A producer calls it when everything else is there. */
enum jl_status jl_program_tally(struct jl_program *p, struct jl_arena *arena, struct jl_err *err);

/* An attribute's value as text, NULL: not there; as a number, `fallback` where it is none. */
const char *jl_call_attr(const struct jl_call_kind *kind, const char *key);
double jl_call_number(const struct jl_call_kind *kind, const char *key, double fallback);

/* The i-th tensor of a list, repeats counted; NULL: there are fewer. */
const struct jl_tensor_kind *jl_call_in(const struct jl_program *p, const struct jl_call_kind *kind, size_t i);
const struct jl_tensor_kind *jl_call_out(const struct jl_program *p, const struct jl_call_kind *kind, size_t i);

/* Fills n, held, held_B and dense from the other members. */
void jl_tensor_measure(struct jl_tensor_kind *tensor);

/* Bytes of the storages of one kind that live when the step begins. */
double jl_program_initial_B(const struct jl_program *p, enum jl_storage_kind kind);
