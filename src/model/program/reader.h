/* Private to the reader of program files: parser state, and the records that describe the step. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "program/program.h"

enum jl_id_table { JL_ID_TENSOR, JL_ID_KIND, JL_ID_MODULE, JL_ID_ASYNC, JL_N_ID };

struct jl_reader_slot { /* hash table from a storage's id to its index */
	uint64_t id;    /* id + 1; 0: free */
	uint32_t storage;
	bool live;
};

#define JL_READER_KNOWN 256

struct jl_reader {
	struct jl_program *p;
	const char *file;
	struct jl_arena *arena;
	struct jl_err *err;
	size_t line;
	const char *begin, *end; /* the current line */
	const char *at;          /* position of the next field; beyond `end`: none */
	const char *field;
	size_t field_len;
	enum jl_step_phase phase;
	uint32_t module; /* module of the last forward call */
	bool ended;
	uint32_t *ids[JL_N_ID]; /* index + 1 by id; 0: unused */
	struct jl_tensor_ref *refs;
	struct jl_attr *attrs;
	int64_t *dims;
	size_t n_refs, n_attrs, n_dims;
	struct jl_reader_slot *slots;
	size_t n_slots;
	struct {
		const char *name;
		const struct jl_operator *op;
	} known[JL_READER_KNOWN];
};

struct jl_counted {
	size_t lines[128], events, allocs, refs, dims;
};

struct jl_where jl_reader_where(const struct jl_reader *r);
/* `en` contains one %.*s, for `text`. */
enum jl_status jl_reader_fail(struct jl_reader *r, const char *en, const char *text, size_t len);
bool jl_reader_next(struct jl_reader *r); /* false: end of the line */
bool jl_digits(const char *text, size_t len, uint64_t most, uint64_t *ret_value);
enum jl_status jl_reader_number(struct jl_reader *r, const char *what, uint64_t most, uint64_t *ret_value);
enum jl_status jl_reader_word(struct jl_reader *r, const char *what, const char **ret_text);

enum jl_status jl_read_tensor(struct jl_reader *r);
enum jl_status jl_read_kind(struct jl_reader *r);
enum jl_status jl_read_module(struct jl_reader *r);
enum jl_status jl_read_storage(struct jl_reader *r);
enum jl_status jl_read_phase(struct jl_reader *r);
enum jl_status jl_read_call(struct jl_reader *r);
enum jl_status jl_read_wait(struct jl_reader *r);
enum jl_status jl_read_collective(struct jl_reader *r);
enum jl_status jl_read_join(struct jl_reader *r);
