/* Derived values of a program: counts, contiguity, layout. */
#include "program/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	double size_B;
} elems[JL_N_ELEM] = {
	[JL_ELEM_F64] = { "f64", 8 },   [JL_ELEM_F32] = { "f32", 4 },    [JL_ELEM_F16] = { "f16", 2 },
	[JL_ELEM_BF16] = { "bf16", 2 }, [JL_ELEM_E4M3] = { "e4m3", 1 },  [JL_ELEM_E5M2] = { "e5m2", 1 },
	[JL_ELEM_I64] = { "i64", 8 },   [JL_ELEM_I32] = { "i32", 4 },    [JL_ELEM_I16] = { "i16", 2 },
	[JL_ELEM_I8] = { "i8", 1 },     [JL_ELEM_U8] = { "u8", 1 },      [JL_ELEM_B8] = { "b8", 1 },
	[JL_ELEM_C64] = { "c64", 8 },   [JL_ELEM_C128] = { "c128", 16 },
};

const char *const jl_phase_names[JL_N_PHASE] = { "input", "forward", "backward", "update", "other" };
const char *const jl_storage_names[JL_N_STORAGE_KIND] = {
	"param", "grad", "state", "buffer", "input", "other", "step"
};

double jl_elem_B(enum jl_elem elem)
{
	return elems[elem].size_B;
}

const char *jl_elem_name(enum jl_elem elem)
{
	return elems[elem].name;
}

const char *jl_call_attr(const struct jl_call_kind *kind, const char *key)
{
	for (uint32_t i = 0; i < kind->n_attrs; i++)
		if (strcmp(kind->attrs[i].key, key) == 0)
			return kind->attrs[i].value;
	return NULL;
}

double jl_call_number(const struct jl_call_kind *kind, const char *key, double fallback)
{
	const char *text = jl_call_attr(kind, key);
	char *end;

	if (!text || !*text)
		return fallback;
	const double value = strtod(text, &end);

	return *end || !isfinite(value) ? fallback : value;
}

static const struct jl_tensor_kind *at(const struct jl_program *p, const struct jl_tensor_ref *refs, uint32_t n,
				       size_t i)
{
	for (uint32_t r = 0; r < n; i -= refs[r++].count)
		if (i < refs[r].count)
			return &p->tensors[refs[r].tensor];
	return NULL;
}

const struct jl_tensor_kind *jl_call_in(const struct jl_program *p, const struct jl_call_kind *kind, size_t i)
{
	return at(p, kind->in, kind->n_in, i);
}

const struct jl_tensor_kind *jl_call_out(const struct jl_program *p, const struct jl_call_kind *kind, size_t i)
{
	return at(p, kind->out, kind->n_out, i);
}

/* Dense: sorted by stride, each dimension starts where the previous one ends. */
static bool is_dense(const struct jl_tensor_kind *t)
{
	int64_t next = 1;
	unsigned done = 0;

	for (int left = t->rank; left > 0; left--) {
		int found = -1;

		for (int d = 0; d < t->rank && found < 0; d++)
			if (!(done >> d & 1) && (t->dims[d] == 1 || t->strides[d] == next))
				found = d;
		if (found < 0)
			return false;
		done |= 1u << found;
		next *= t->dims[found];
	}
	return true;
}

void jl_tensor_measure(struct jl_tensor_kind *t)
{
	t->n = t->held = 1;
	for (int d = 0; d < t->rank; d++) {
		t->n *= (double)t->dims[d];
		t->held *= t->strides[d] == 0 && t->dims[d] > 0 ? 1 : (double)t->dims[d];
	}
	t->held_B = t->held * jl_elem_B(t->elem);
	t->dense = t->n == 0 || (t->n <= JL_PROGRAM_ELEMS_MAX && t->held == t->n && is_dense(t));
}

double jl_program_initial_B(const struct jl_program *p, enum jl_storage_kind kind)
{
	double sum_B = 0;

	for (size_t i = 0; i < p->n_initial; i++)
		sum_B += p->storages[i].kind == kind ? p->storages[i].size_B : 0;
	return sum_B;
}

/* torch.compile uses channels last, except with groups wider than a channel and, in training, if a filter halves the channels or all layers are
 * narrow. */
static void find_layout(struct jl_program *p)
{
	static const int64_t narrow = 64;
	bool wide = false, off = false;

	for (size_t i = 0; i < p->n_kinds; i++) {
		const struct jl_call_kind *kind = &p->kinds[i];
		const struct jl_tensor_kind *weight = jl_call_in(p, kind, 1);

		p->compiled |= strcmp(kind->name, "jeoul.fused") == 0;
		if (strcmp(kind->name, "aten.convolution") != 0 || !weight || weight->rank < 4)
			continue;
		const bool wide_out = weight->dims[0] > narrow, halves = weight->dims[0] * 2 <= weight->dims[1];

		wide |= wide_out || weight->dims[1] > narrow;
		off |= jl_call_number(kind, "groups", 1) > 1 && weight->dims[1] > 1;
		off |= p->trains && halves && weight->dims[2] > 1;
	}
	p->channels_last = p->compiled && wide && !off;
}

enum jl_status jl_program_tally(struct jl_program *p, struct jl_arena *arena, struct jl_err *err)
{
	p->uses = jl_arena_array(arena, p->n_kinds + 1, sizeof(*p->uses));
	JL_TRY(jl_got(p->uses, err));
	for (size_t i = 0; i < p->n_events; i++) {
		const struct jl_event *e = &p->events[i];

		p->n_waits += e->what == JL_EVENT_WAIT;
		if (e->what != JL_EVENT_CALL)
			continue;
		p->uses[e->kind].n[e->phase]++;
		p->n_views[e->phase] += e->host;
		p->trains |= e->phase == JL_PHASE_BACKWARD;
		p->n_entered += e->entered;
	}
	find_layout(p);
	return JL_OK;
}
