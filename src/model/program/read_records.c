/* Reads the records of a program file that describe the step: tensors, kinds of calls, modules, storages, calls. */
#include <string.h>

#include "base/hash.h"
#include "program/operators.h"
#include "program/reader.h"

static const char *const id_names[JL_N_ID] = { "tensor", "kind of call", "module", "async" };

/* Reads an id and checks that it is new. */
static enum jl_status new_id(struct jl_reader *r, enum jl_id_table table, uint64_t *ret_id)
{
	JL_TRY(jl_reader_number(r, id_names[table], JL_PROGRAM_KINDS_MAX, ret_id));
	if (r->ids[table][*ret_id])
		return jl_reader_fail(r, JL_N("the id '%.*s' is there already"), r->field, r->field_len);
	return JL_OK;
}

static enum jl_status find(struct jl_reader *r, enum jl_id_table table, const char *text, size_t len,
			   uint32_t *ret_index)
{
	uint64_t id;

	if (!jl_digits(text, len, JL_PROGRAM_KINDS_MAX, &id) || !r->ids[table][id]) {
		const struct jl_where where = jl_reader_where(r);

		return jl_fail_at(r->err, JL_E_PARSE, &where, JL_N("%s '%.*s' is not there before this line"),
				  id_names[table], (int)(len < 40 ? len : 40), text);
	}
	*ret_index = r->ids[table][id] - 1;
	return JL_OK;
}

static enum jl_status find_next(struct jl_reader *r, enum jl_id_table table, uint32_t *ret_index)
{
	if (!jl_reader_next(r))
		return jl_reader_fail(r, JL_N("'%.*s' ends too early"), r->begin, (size_t)(r->end - r->begin));
	return find(r, table, r->field, r->field_len, ret_index);
}

static bool is_field(const struct jl_reader *r, const char *word)
{
	return strlen(word) == r->field_len && memcmp(word, r->field, r->field_len) == 0;
}

/* Index of the field among `n` words; n: no match. */
static size_t choose(const struct jl_reader *r, const char *const *words, size_t n)
{
	size_t i = 0;

	while (i < n && !is_field(r, words[i]))
		i++;
	return i;
}

/* "8x1024x64": at most JL_PROGRAM_RANK_MAX numbers; "-": a scalar. */
static enum jl_status read_dims(struct jl_reader *r, int64_t *dims, int *ret_rank)
{
	const char *at = r->field, *end = r->field + r->field_len;
	int rank = 0;

	if (is_field(r, "-"))
		end = at - 1;
	while (at <= end) {
		const char *x = memchr(at, 'x', (size_t)(end - at));
		uint64_t value;

		x = x ? x : end;
		if (rank == JL_PROGRAM_RANK_MAX ||
		    !jl_digits(at, (size_t)(x - at), (uint64_t)JL_PROGRAM_DIM_MAX, &value))
			return jl_reader_fail(
				r, JL_N("'%.*s' is not a shape: up to 12 numbers of at most 2^40, as 8x1024, or -"),
				r->field, r->field_len);
		dims[rank++] = (int64_t)value;
		at = x + 1;
	}
	*ret_rank = rank;
	return JL_OK;
}

enum jl_status jl_read_tensor(struct jl_reader *r)
{
	struct jl_tensor_kind t = { .elem = JL_N_ELEM };
	int64_t *dims = r->dims + r->n_dims, next = 1;
	uint64_t id;
	int n_strides;

	JL_TRY(new_id(r, JL_ID_TENSOR, &id));
	if (!jl_reader_next(r))
		return jl_reader_fail(r, JL_N("'%.*s' has no number format"), r->begin, (size_t)(r->end - r->begin));
	for (int e = 0; e < JL_N_ELEM; e++)
		t.elem = is_field(r, jl_elem_name((enum jl_elem)e)) ? (enum jl_elem)e : t.elem;
	if (t.elem == JL_N_ELEM)
		return jl_reader_fail(r, JL_N("'%.*s' is not a number format; write f32, bf16, i64, ..."), r->field,
				      r->field_len);
	if (!jl_reader_next(r))
		return jl_reader_fail(r, JL_N("'%.*s' has no shape"), r->begin, (size_t)(r->end - r->begin));
	JL_TRY(read_dims(r, dims, &t.rank));
	t.dims = dims;
	t.strides = dims + t.rank;
	for (int d = t.rank - 1; d >= 0; d--) {
		dims[t.rank + d] = next;
		/* saturates: a tensor above the limit is refused below */
		const int64_t dim = dims[d] > 0 ? dims[d] : 1;

		next = next <= JL_PROGRAM_DIM_MAX / dim ? next * dim : JL_PROGRAM_DIM_MAX + 1;
	}
	if (jl_reader_next(r)) {
		JL_TRY(read_dims(r, dims + t.rank, &n_strides));
		if (n_strides != t.rank)
			return jl_reader_fail(r, JL_N("the strides '%.*s' are not as many as the dimensions"), r->field,
					      r->field_len);
	}
	jl_tensor_measure(&t);
	if (t.n > JL_PROGRAM_ELEMS_MAX)
		return jl_reader_fail(r, JL_N("'%.*s': a tensor has at most 9e15 elements"), r->begin,
				      (size_t)(r->end - r->begin));
	r->n_dims += 2 * (size_t)t.rank;
	r->p->tensors[r->p->n_tensors++] = t;
	r->ids[JL_ID_TENSOR][id] = (uint32_t)r->p->n_tensors;
	return JL_OK;
}

/* "4,1,2*12": tensors by id. */
static enum jl_status read_list(struct jl_reader *r, const struct jl_tensor_ref **ret_refs, uint32_t *ret_n)
{
	struct jl_tensor_ref *refs = r->refs + r->n_refs;
	uint32_t n = 0;

	if (!jl_reader_next(r))
		return jl_reader_fail(r, JL_N("'%.*s' ends too early"), r->begin, (size_t)(r->end - r->begin));
	const char *at = r->field, *end = r->field + r->field_len;

	if (is_field(r, "-"))
		end = at - 1;
	while (at <= end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end, *star = memchr(at, '*', (size_t)(stop - at));
		uint64_t count = 1;

		if (n == JL_PROGRAM_LIST_MAX)
			return jl_reader_fail(r, JL_N("'%.*s' ... has more than 4096 entries"), r->field, r->field_len);
		JL_TRY(find(r, JL_ID_TENSOR, at, (size_t)((star ? star : stop) - at), &refs[n].tensor));
		if (star &&
		    (!jl_digits(star + 1, (size_t)(stop - star - 1), JL_PROGRAM_REPEAT_MAX, &count) || count == 0))
			return jl_reader_fail(r, JL_N("'%.*s' is not repeated 1 to 65536 times"), at,
					      (size_t)(stop - at));
		refs[n++].count = (uint32_t)count;
		at = stop + 1;
	}
	r->n_refs += n;
	*ret_refs = refs;
	*ret_n = n;
	return JL_OK;
}

static enum jl_status read_attr(struct jl_reader *r, struct jl_attr *ret_attr)
{
	const char *equals = memchr(r->field, '=', r->field_len);

	if (!equals || equals == r->field || r->field_len > JL_PROGRAM_TEXT_MAX)
		return jl_reader_fail(r, JL_N("'%.*s' is not a KEY=VALUE"), r->field, r->field_len);
	ret_attr->key = jl_arena_strndup(r->arena, r->field, (size_t)(equals - r->field));
	ret_attr->value = jl_arena_strndup(r->arena, equals + 1, (size_t)(r->field + r->field_len - equals - 1));
	return jl_got(ret_attr->key && ret_attr->value, r->err);
}

/* Cached lookup: many kinds share a name, so the last result per hash is tried first. */
static const struct jl_operator *find_operator(struct jl_reader *r, const char *name)
{
	uint32_t hash = 5381;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	const uint32_t at = hash % JL_READER_KNOWN;

	if (!r->known[at].name || strcmp(r->known[at].name, name) != 0) {
		r->known[at].name = name;
		r->known[at].op = jl_operator_find(name);
	}
	return r->known[at].op;
}

enum jl_status jl_read_kind(struct jl_reader *r)
{
	struct jl_call_kind kind = { .attrs = r->attrs + r->n_attrs };
	uint64_t id;

	JL_TRY(new_id(r, JL_ID_KIND, &id));
	JL_TRY(jl_reader_word(r, "an operator", &kind.name));
	JL_TRY(read_list(r, &kind.in, &kind.n_in));
	JL_TRY(read_list(r, &kind.out, &kind.n_out));
	while (jl_reader_next(r)) {
		JL_TRY(read_attr(r, &r->attrs[r->n_attrs++]));
		kind.n_attrs++;
	}
	kind.op = find_operator(r, kind.name);
	r->p->kinds[r->p->n_kinds++] = kind;
	r->ids[JL_ID_KIND][id] = (uint32_t)r->p->n_kinds;
	return JL_OK;
}

enum jl_status jl_read_module(struct jl_reader *r)
{
	struct jl_program_module module = { .parent = 0 };
	uint64_t id, parent;

	JL_TRY(new_id(r, JL_ID_MODULE, &id));
	if (id == 0)
		return jl_reader_fail(r, JL_N("'%.*s': 0 is the root"), r->begin, (size_t)(r->end - r->begin));
	JL_TRY(jl_reader_number(r, "parent", JL_PROGRAM_KINDS_MAX, &parent));
	if (parent)
		JL_TRY(find(r, JL_ID_MODULE, r->field, r->field_len, &module.parent));
	module.depth = (uint8_t)(r->p->modules[module.parent].depth + 1);
	if (module.depth > JL_PROGRAM_DEPTH_MAX)
		return jl_reader_fail(r, JL_N("'%.*s': modules lie at most 200 deep in each other"), r->begin,
				      (size_t)(r->end - r->begin));
	JL_TRY(jl_reader_word(r, "a name", &module.name));
	JL_TRY(jl_reader_word(r, "a class", &module.type));
	r->p->modules[r->p->n_modules++] = module;
	r->ids[JL_ID_MODULE][id] = (uint32_t)r->p->n_modules;
	return JL_OK;
}

static struct jl_reader_slot *slot_of(struct jl_reader *r, uint64_t id)
{
	size_t at = (size_t)jl_hash_keyed(&id, sizeof(id)) & (r->n_slots - 1);

	while (r->slots[at].id && r->slots[at].id != id + 1)
		at = (at + 1) & (r->n_slots - 1);
	return &r->slots[at];
}

static enum jl_status add_storage(struct jl_reader *r, uint64_t id, double size_B, enum jl_storage_kind kind,
				  uint32_t *ret_index)
{
	struct jl_reader_slot *slot = slot_of(r, id);

	if (slot->live)
		return jl_reader_fail(r, JL_N("'%.*s': that storage is there already"), r->field, r->field_len);
	*slot = (struct jl_reader_slot){ .id = id + 1, .storage = (uint32_t)r->p->n_storages, .live = true };
	*ret_index = slot->storage;
	r->p->storages[r->p->n_storages++] =
		(struct jl_storage){ .size_B = size_B, .kind = kind, .event = (uint32_t)r->p->n_events };
	return JL_OK;
}

#define STORAGE_ID_MAX ((uint64_t)1 << 62)

enum jl_status jl_read_storage(struct jl_reader *r)
{
	uint64_t id, size_B;
	uint32_t index, tensor = 0;

	JL_TRY(jl_reader_number(r, "storage", STORAGE_ID_MAX, &id));
	JL_TRY(jl_reader_number(r, "bytes", (uint64_t)JL_PROGRAM_ELEMS_MAX, &size_B));
	const size_t kind = jl_reader_next(r) ? choose(r, jl_storage_names, JL_STORAGE_STEP) : JL_STORAGE_STEP;

	if (kind == JL_STORAGE_STEP)
		return jl_reader_fail(r, JL_N("'%.*s' does not say param, grad, state, buffer, input or other"),
				      r->begin, (size_t)(r->end - r->begin));
	if (r->p->n_events)
		return jl_reader_fail(r, JL_N("'%.*s' comes after the first call"), r->begin,
				      (size_t)(r->end - r->begin));
	double n = (double)size_B / 4;

	if (jl_reader_next(r)) { /* "t 12" or "12" */
		if (is_field(r, "t"))
			(void)jl_reader_next(r);
		JL_TRY(find(r, JL_ID_TENSOR, r->field, r->field_len, &tensor));
		n = r->p->tensors[tensor].n;
	}
	JL_TRY(add_storage(r, id, (double)size_B, (enum jl_storage_kind)kind, &index));
	r->p->n_initial++;
	r->p->n_params += kind == JL_STORAGE_PARAM ? n : 0;
	return JL_OK;
}

enum jl_status jl_read_phase(struct jl_reader *r)
{
	const size_t phase = jl_reader_next(r) ? choose(r, jl_phase_names, JL_N_PHASE) : JL_N_PHASE;

	if (phase == JL_N_PHASE)
		return jl_reader_fail(r, JL_N("'%.*s' does not say input, forward, backward, update or other"),
				      r->begin, (size_t)(r->end - r->begin));
	r->phase = (enum jl_step_phase)phase;
	return JL_OK;
}

static struct jl_event *add_event(struct jl_reader *r, enum jl_event_kind what, uint32_t kind)
{
	struct jl_event *event = &r->p->events[r->p->n_events++];

	*event = (struct jl_event){ .what = (uint8_t)what,
				    .kind = (uint16_t)kind,
				    .phase = (uint8_t)r->phase,
				    .first_alloc = (uint32_t)r->p->n_allocs };
	return event;
}

/* "+91:8388608" allocates, "-88" frees. */
static enum jl_status read_alloc(struct jl_reader *r)
{
	const char *text = r->field + 1, *colon = memchr(r->field, ':', r->field_len);
	const size_t len = r->field_len - 1;
	struct jl_alloc alloc = { .freed = r->field_len && *r->field == '-' };
	uint64_t id, size_B;
	uint32_t index = 0;

	if (r->field_len && *r->field == '+' && colon && jl_digits(text, (size_t)(colon - text), STORAGE_ID_MAX, &id) &&
	    jl_digits(colon + 1, (size_t)(r->field + r->field_len - colon - 1), (uint64_t)JL_PROGRAM_ELEMS_MAX,
		      &size_B)) {
		JL_TRY(add_storage(r, id, (double)size_B, JL_STORAGE_STEP, &index));
	} else if (alloc.freed && jl_digits(text, len, STORAGE_ID_MAX, &id)) {
		struct jl_reader_slot *slot = slot_of(r, id);

		if (!slot->live) /* freed here but allocated before the step or on the host: ignore */
			return JL_OK;
		slot->live = false;
		index = slot->storage;
	} else {
		return jl_reader_fail(r, JL_N("'%.*s' is neither +STORAGE:BYTES nor -STORAGE"), r->field, r->field_len);
	}
	alloc.storage = index & 0x7fffffff;
	r->p->allocs[r->p->n_allocs++] = alloc;
	return JL_OK;
}

/* Number of modules on the path from the root to `to` that are not on the path to `from`. */
static uint8_t count_entered(const struct jl_program *p, uint32_t from, uint32_t to)
{
	int a = p->modules[from].depth, b = p->modules[to].depth, entered = 0;

	while (from != to) {
		const bool up = b >= a;

		entered += up;
		if (b >= a) {
			to = p->modules[to].parent;
			b--;
		} else {
			from = p->modules[from].parent;
			a--;
		}
	}
	return (uint8_t)entered;
}

enum jl_status jl_read_call(struct jl_reader *r)
{
	uint32_t kind = 0, module = 0;
	uint64_t host;

	JL_TRY(find_next(r, JL_ID_KIND, &kind));
	if (!jl_reader_next(r))
		return jl_reader_fail(r, JL_N("'%.*s' ends too early"), r->begin, (size_t)(r->end - r->begin));
	if (!is_field(r, "0"))
		JL_TRY(find(r, JL_ID_MODULE, r->field, r->field_len, &module));
	JL_TRY(jl_reader_number(r, "calls of the host", UINT32_MAX, &host));
	struct jl_event *event = add_event(r, JL_EVENT_CALL, kind);

	r->p->n_calls++;
	event->module = (uint16_t)module;
	event->host = (uint32_t)host;
	if (r->phase == JL_PHASE_FORWARD) {
		event->entered = count_entered(r->p, r->module, module);
		r->module = module;
	}
	r->p->n_events--; /* the storages belong to this call */
	while (jl_reader_next(r))
		JL_TRY(read_alloc(r));
	r->p->n_events++;
	return JL_OK;
}

enum jl_status jl_read_wait(struct jl_reader *r)
{
	const char *reason;

	JL_TRY(jl_reader_word(r, "a reason", &reason));
	(void)add_event(r, JL_EVENT_WAIT, 0);
	return JL_OK;
}

static const struct {
	const char *name;
	enum jl_collective_kind kind;
} collectives[] = {
	{ "all_reduce", JL_ALLREDUCE }, { "all_gather", JL_ALLGATHER }, { "reduce_scatter", JL_REDUCESCATTER },
	{ "broadcast", JL_BROADCAST },  { "reduce", JL_REDUCE },        { "all_to_all", JL_ALLTOALL },
	{ "send", JL_SENDRECV },        { "recv", JL_SENDRECV },        { "barrier", JL_ALLREDUCE },
	{ "gather", JL_ALLGATHER },     { "scatter", JL_BROADCAST },
};

enum jl_status jl_read_collective(struct jl_reader *r)
{
	struct jl_program_collective c = { .kind = JL_N_COLLECTIVE };
	uint64_t size_B, n_ranks, id = JL_PROGRAM_KINDS_MAX + 1;
	static const char async[] = "async=";

	(void)jl_reader_next(r);
	for (size_t i = 0; i < JL_LEN(collectives); i++)
		c.kind = is_field(r, collectives[i].name) ? collectives[i].kind : c.kind;
	if (c.kind == JL_N_COLLECTIVE)
		return jl_reader_fail(r, JL_N("'%.*s' is not a collective; write all_reduce, all_gather, ..."),
				      r->field, r->field_len);
	JL_TRY(jl_reader_number(r, "bytes", (uint64_t)JL_PROGRAM_ELEMS_MAX, &size_B));
	JL_TRY(jl_reader_number(r, "ranks", JL_PROGRAM_RANKS_MAX, &n_ranks));
	if (r->p->n_collectives == JL_PROGRAM_KINDS_MAX)
		return jl_reader_fail(r, JL_N("more than 65536 collectives at '%.*s'"), r->begin,
				      (size_t)(r->end - r->begin));
	if (jl_reader_next(r)) {
		const size_t skip = sizeof(async) - 1;

		if (r->field_len <= skip || memcmp(r->field, async, skip) != 0 ||
		    !jl_digits(r->field + skip, r->field_len - skip, JL_PROGRAM_KINDS_MAX, &id))
			return jl_reader_fail(r, JL_N("'%.*s' is not async=ID"), r->field, r->field_len);
		r->ids[JL_ID_ASYNC][id] = (uint32_t)r->p->n_collectives + 1;
	}
	c.async = id <= JL_PROGRAM_KINDS_MAX;
	c.size_B = (double)size_B;
	c.n_ranks = (int)n_ranks;
	(void)add_event(r, JL_EVENT_COLLECTIVE, (uint32_t)r->p->n_collectives);
	r->p->collectives[r->p->n_collectives++] = c;
	return JL_OK;
}

enum jl_status jl_read_join(struct jl_reader *r)
{
	uint32_t collective = 0;

	JL_TRY(find_next(r, JL_ID_ASYNC, &collective));
	(void)add_event(r, JL_EVENT_JOIN, collective);
	return JL_OK;
}
