/* Reads program files in two passes: counts lines, so that each table is allocated once, then parses. */
#include "program/read.h"

#include <string.h>

#include "base/budget.h"
#include "base/utf8.h"
#include "program/reader.h"

static const char magic[] = "jeoul-program ";
static const int version = 1;

bool jl_program_is(const char *text, size_t len)
{
	return len >= sizeof(magic) - 1 && memcmp(text, magic, sizeof(magic) - 1) == 0;
}

struct jl_where jl_reader_where(const struct jl_reader *r)
{
	return (struct jl_where){ .file = r->file, .line = r->line };
}

enum jl_status jl_reader_fail(struct jl_reader *r, const char *en, const char *text, size_t len)
{
	const struct jl_where where = jl_reader_where(r);

	return jl_fail_at(r->err, JL_E_PARSE, &where, en, (int)(len < 40 ? len : 40), text);
}

bool jl_reader_next(struct jl_reader *r)
{
	const char *c = r->at;

	if (c > r->end)
		return false;
	while (c < r->end && *c != ' ') /* fields are short: faster than memchr */
		c++;
	r->field = r->at;
	r->field_len = (size_t)(c - r->at);
	r->at = c + 1;
	return true;
}

bool jl_digits(const char *text, size_t len, uint64_t most, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (len == 0 || len > 19)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	*ret_value = value;
	return value <= most;
}

enum jl_status jl_reader_number(struct jl_reader *r, const char *what, uint64_t most, uint64_t *ret_value)
{
	const bool there = jl_reader_next(r);

	if (there && jl_digits(r->field, r->field_len, most, ret_value))
		return JL_OK;
	const struct jl_where where = jl_reader_where(r);

	if (!there)
		return jl_fail_at(r->err, JL_E_PARSE, &where, JL_N("the line ends before %s"), what);
	return jl_fail_at(r->err, JL_E_PARSE, &where, JL_N("%s '%.*s' is not a whole number of at most %llu"), what,
			  (int)(r->field_len < 40 ? r->field_len : 40), r->field, (unsigned long long)most);
}

enum jl_status jl_reader_word(struct jl_reader *r, const char *what, const char **ret_text)
{
	const struct jl_where where = jl_reader_where(r);

	if (!jl_reader_next(r) || r->field_len == 0)
		return jl_fail_at(r->err, JL_E_PARSE, &where, JL_N("the line ends before %s"), what);
	if (r->field_len > JL_PROGRAM_TEXT_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &where, JL_N("%s has more than %d bytes"), what,
				  JL_PROGRAM_TEXT_MAX);
	*ret_text = jl_arena_strndup(r->arena, r->field, r->field_len);
	return jl_got(*ret_text, r->err);
}

static enum jl_status read_rest(struct jl_reader *r, const char *what, const char **ret_text)
{
	const struct jl_where where = jl_reader_where(r);
	const size_t len = r->at < r->end ? (size_t)(r->end - r->at) : 0;

	if (len == 0 || len > JL_PROGRAM_TEXT_MAX)
		return jl_fail_at(r->err, JL_E_PARSE, &where, JL_N("%s has %zu bytes; it has 1 to %d"), what, len,
				  JL_PROGRAM_TEXT_MAX);
	*ret_text = jl_arena_strndup(r->arena, r->at, len);
	r->at = r->end + 1;
	return jl_got(*ret_text, r->err);
}

static enum jl_status full(struct jl_reader *r, const char *what)
{
	const struct jl_where where = jl_reader_where(r);

	return jl_fail_at(r->err, JL_E_LIMIT, &where, JL_N("more than %d lines '%s'"), JL_PROGRAM_CODES_MAX, what);
}

static enum jl_status read_title(struct jl_reader *r)
{
	return read_rest(r, "title", &r->p->title);
}

static enum jl_status read_code(struct jl_reader *r)
{
	return r->p->n_codes == JL_PROGRAM_CODES_MAX ? full(r, "code")
						     : read_rest(r, "code", &r->p->code[r->p->n_codes++]);
}

static enum jl_status read_assume(struct jl_reader *r)
{
	return r->p->n_assumes == JL_PROGRAM_CODES_MAX ? full(r, "assume")
						       : read_rest(r, "assume", &r->p->assumes[r->p->n_assumes++]);
}

static enum jl_status read_unit(struct jl_reader *r)
{
	struct jl_program_unit unit;
	uint64_t count;

	if (r->p->n_units == JL_PROGRAM_CODES_MAX)
		return full(r, "unit");
	JL_TRY(jl_reader_word(r, "a unit", &unit.name));
	JL_TRY(jl_reader_number(r, "count", (uint64_t)JL_PROGRAM_DIM_MAX, &count));
	if (count == 0)
		return jl_reader_fail(r, JL_N("a step of no '%.*s'"), unit.name, strlen(unit.name));
	unit.count = (double)count;
	r->p->units[r->p->n_units++] = unit;
	return JL_OK;
}

static enum jl_status read_world(struct jl_reader *r)
{
	uint64_t n, rank;

	JL_TRY(jl_reader_number(r, "processes", JL_PROGRAM_RANKS_MAX, &n));
	JL_TRY(jl_reader_number(r, "rank", JL_PROGRAM_RANKS_MAX, &rank));
	if (n == 0 || rank >= n)
		return jl_reader_fail(r, JL_N("'%.*s': the rank is below the number of processes"), r->begin,
				      (size_t)(r->end - r->begin));
	r->p->n_ranks = (int)n;
	r->p->rank = (int)rank;
	return JL_OK;
}

static enum jl_status read_graph(struct jl_reader *r)
{
	uint64_t yes;

	JL_TRY(jl_reader_number(r, "graph", 1, &yes));
	r->p->graph = yes;
	return JL_OK;
}

static enum jl_status read_tf32(struct jl_reader *r)
{
	uint64_t yes;

	JL_TRY(jl_reader_number(r, "tf32", 1, &yes));
	r->p->tf32 = yes;
	return JL_OK;
}

static enum jl_status read_end(struct jl_reader *r)
{
	uint64_t n;

	JL_TRY(jl_reader_number(r, "number of calls", JL_PROGRAM_CALLS_MAX, &n));
	if (n != r->p->n_events) {
		const struct jl_where where = jl_reader_where(r);

		return jl_fail_at(r->err, JL_E_PARSE, &where, JL_N("'end %llu', but %zu call{/s} before it"),
				  (unsigned long long)n, r->p->n_events);
	}
	r->ended = true;
	return JL_OK;
}

static const struct record {
	const char *name;
	enum jl_status (*read)(struct jl_reader *r);
} records[] = {
	{ "k", jl_read_call },    { "t", jl_read_tensor }, { "o", jl_read_kind }, { "m", jl_read_module },
	{ "a", jl_read_storage }, { "p", jl_read_phase },  { "w", jl_read_wait }, { "c", jl_read_collective },
	{ "x", jl_read_join },    { "title", read_title }, { "code", read_code }, { "unit", read_unit },
	{ "world", read_world },  { "graph", read_graph }, { "tf32", read_tf32 }, { "assume", read_assume },
	{ "end", read_end },
};

static enum jl_status read_line(struct jl_reader *r)
{
	if (r->ended)
		return jl_reader_fail(r, JL_N("'%.*s' comes after the end line"), r->begin,
				      (size_t)(r->end - r->begin));
	if (r->begin < r->end && *r->begin == '#')
		return JL_OK;
	(void)jl_reader_next(r);
	for (size_t i = 0; i < JL_LEN(records); i++)
		if (strlen(records[i].name) == r->field_len && memcmp(records[i].name, r->field, r->field_len) == 0) {
			JL_TRY(records[i].read(r));
			return r->at > r->end ? JL_OK
					      : jl_reader_fail(r, JL_N("'%.*s' is more than the line holds"), r->at,
							       (size_t)(r->end - r->at));
		}
	return jl_reader_fail(r, JL_N("no record begins with '%.*s' in version 1"), r->field, r->field_len);
}

/* Upper bounds of a line's allocations, by its first letter. */
static void count_fields(struct jl_counted *n, const char *line, const char *end)
{
	const char letter = *line;

	for (const char *c = line + 1; letter == 'k' && c < end; c++)
		n->allocs += (*c == '+' || *c == '-') && c[-1] == ' ';
	for (const char *c = line; (letter == 'o' || letter == 't') && c < end; c++) {
		n->refs += letter == 'o' && (*c == ' ' || *c == ',');
		n->dims += letter == 't' && (*c == ' ' || *c == 'x');
	}
}

/* Counts lines by their first letters, before any validation; rejects control characters. */
static enum jl_status count_lines(struct jl_reader *r, const char *text, size_t len, struct jl_counted *n)
{
	unsigned char high = 0;
	size_t bad_at;

	for (const char *line = text; line < text + len;) {
		const char *end = memchr(line, '\n', (size_t)(text + len - line));
		unsigned control = 0;

		end = end ? end : text + len;
		r->line++;
		for (const char *c = line; c < end; c++) {
			control |= (unsigned char)*c < 0x20 || *c == 0x7f;
			high |= (unsigned char)*c;
		}
		if (control) {
			size_t before = 0;

			while ((unsigned char)line[before] >= 0x20 && line[before] != 0x7f)
				before++;
			return jl_reader_fail(r, JL_N("a control character behind '%.*s'"), line, before);
		}
		if (end - line > 1 && line[1] == ' ') {
			n->lines[(unsigned char)line[0] & 0x7f]++;
			count_fields(n, line, end);
		}
		line = end + 1;
	}
	if ((high & 0x80) && !jl_utf8_valid(text, len, &bad_at))
		return jl_fail(r->err, JL_E_PARSE, "%s: byte %zu is not UTF-8", r->file, bad_at + 1);
	n->events = n->lines['k'] + n->lines['w'] + n->lines['c'] + n->lines['x'];
	return JL_OK;
}

static enum jl_status check_counts(struct jl_reader *r, const struct jl_counted *n)
{
	const struct {
		const char *what;
		size_t n, most;
	} limits[] = {
		{ JL_N("calls"), n->events, JL_PROGRAM_CALLS_MAX },
		{ JL_N("kinds of calls"), n->lines['o'], JL_PROGRAM_KINDS_MAX },
		{ JL_N("kinds of tensors"), n->lines['t'], JL_PROGRAM_KINDS_MAX },
		{ JL_N("modules"), n->lines['m'], JL_PROGRAM_KINDS_MAX - 1 },
		{ JL_N("allocations"), n->allocs + n->lines['a'], JL_PROGRAM_ALLOCS_MAX },
	};

	for (size_t i = 0; i < JL_LEN(limits); i++)
		if (limits[i].n > limits[i].most)
			return jl_fail(r->err, JL_E_LIMIT, "%s: %zu {%s}; at most %zu are read", r->file, limits[i].n,
				       limits[i].what, limits[i].most);
	return JL_OK;
}

static enum jl_status allocate(struct jl_reader *r, const struct jl_counted *n)
{
	struct jl_program *p = r->p;
	struct jl_arena *a = r->arena;
	const size_t n_storages = n->allocs + n->lines['a'];
	size_t n_slots = 64;

	while (n_slots < 2 * n_storages)
		n_slots *= 2;
	p->tensors = jl_arena_array(a, n->lines['t'] + 1, sizeof(*p->tensors));
	p->kinds = jl_arena_array(a, n->lines['o'] + 1, sizeof(*p->kinds));
	p->modules = jl_arena_array(a, n->lines['m'] + 1, sizeof(*p->modules));
	p->events = jl_arena_array(a, n->events + 1, sizeof(*p->events));
	p->collectives = jl_arena_array(a, n->lines['c'] + 1, sizeof(*p->collectives));
	p->allocs = jl_arena_array(a, n->allocs + 1, sizeof(*p->allocs));
	p->storages = jl_arena_array(a, n_storages + 1, sizeof(*p->storages));
	r->refs = jl_arena_array(a, n->refs + 1, sizeof(*r->refs));
	r->attrs = jl_arena_array(a, n->refs + 1, sizeof(*r->attrs));
	r->dims = jl_arena_array(a, 2 * n->dims + 2, sizeof(*r->dims));
	r->slots = jl_arena_array(a, n_slots, sizeof(*r->slots));
	r->n_slots = n_slots;
	for (int i = 0; i < JL_N_ID; i++)
		r->ids[i] = jl_arena_array(a, JL_PROGRAM_KINDS_MAX + 1, sizeof(*r->ids[i]));
	return jl_got(p->tensors && p->kinds && p->modules && p->events && p->collectives && p->allocs && p->storages &&
			      r->refs && r->attrs && r->dims && r->slots && r->ids[JL_ID_TENSOR] &&
			      r->ids[JL_ID_KIND] && r->ids[JL_ID_MODULE] && r->ids[JL_ID_ASYNC],
		      r->err);
}

static enum jl_status read_lines(struct jl_reader *r, const char *text, size_t len)
{
	for (const char *line = text; line < text + len; line = r->end + 1) {
		const char *end = memchr(line, '\n', (size_t)(text + len - line));

		r->line++;
		r->begin = r->at = line;
		r->end = end ? end : text + len;
		if (!end)
			return jl_reader_fail(r, JL_N("the file is cut in '%.*s': it ends with a line 'end'"), line,
					      (size_t)(r->end - line));
		if (jl_budget_spend(1))
			return jl_budget_fail(r->err);
		if (r->line > 1)
			JL_TRY(read_line(r));
	}
	if (!r->ended)
		return jl_fail(r->err, JL_E_PARSE, "%s: the file is cut: it ends with a line 'end'", r->file);
	return JL_OK;
}

static enum jl_status check_head(struct jl_reader *r, const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);
	const size_t skip = sizeof(magic) - 1;
	uint64_t v;

	r->line = 1;
	if (!jl_program_is(text, len) || !end || !jl_digits(text + skip, (size_t)(end - text) - skip, 1000000, &v))
		return jl_reader_fail(r, JL_N("'%.*s' is not 'jeoul-program 1'"), text,
				      end ? (size_t)(end - text) : len);
	if (v != (uint64_t)version)
		return jl_reader_fail(r, JL_N("version %.*s of the format; this program reads version 1"), text + skip,
				      (size_t)(end - text) - skip);
	r->line = 0;
	return JL_OK;
}

enum jl_status jl_program_read(struct jl_program *ret_program, const char *text, size_t len, const char *file,
			       struct jl_arena *arena, struct jl_err *err)
{
	struct jl_program program = { .n_ranks = 1 };
	struct jl_reader r = { .p = &program, .file = file, .arena = arena, .err = err, .phase = JL_PHASE_OTHER };
	struct jl_counted n = { .events = 0 };

	if (len > JL_PROGRAM_MAX_B)
		return jl_fail(err, JL_E_LIMIT, "%s: %zu MB; at most 256 MB are read", file, len >> 20);
	JL_TRY(check_head(&r, text, len));
	JL_TRY(count_lines(&r, text, len, &n));
	JL_TRY(check_counts(&r, &n));
	JL_TRY(allocate(&r, &n));
	r.line = 0;
	program.modules[0] = (struct jl_program_module){ .name = "", .type = "" };
	program.n_modules = 1;
	JL_TRY(read_lines(&r, text, len));
	if (program.n_calls == 0)
		return jl_fail(err, JL_E_DATA, "%s: no call: nothing was captured", file);
	program.events[program.n_events].first_alloc = (uint32_t)program.n_allocs;
	if (!program.title)
		program.title = file;
	JL_TRY(jl_program_tally(&program, arena, err));
	*ret_program = program;
	return JL_OK;
}
