/* Interpreter of network texts: assignments, loops, blocks with parameters, and expressions over numbers and lists. */
#include "program/network.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/num.h"
#include "program/network_ops.h"

#define STEPS_MAX 200000
#define DEPTH_MAX 24
#define DEFS_MAX  48
#define DEF_ARGS  10

struct def {
	struct jl_net_word name;
	const char *args, *args_end, *body, *body_end;
};

struct vm {
	struct jl_net_state state; /* state shared with the operators; its variables are the text's */
	struct def defs[DEFS_MAX];
	size_t n_defs, steps, depth;
};

static void fail(struct vm *vm, const char *at, size_t len, const char *en)
{
	if (vm->state.status)
		return;
	vm->state.status = jl_fail(vm->state.err, JL_E_PARSE, JL_N("network %.40s: {%s}: '%.*s'"), vm->state.name, en,
				   (int)(len < 40 ? len : 40), at);
}

static bool is_name_char(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

/* False: the name is too long. */
static bool take_name(struct jl_net_word *ret, const char *at, size_t len)
{
	*ret = (struct jl_net_word){ 0 };
	if (len < sizeof(ret->text))
		memcpy(ret->text, at, len);
	return len < sizeof(ret->text);
}

static struct jl_net_value one(double value)
{
	struct jl_net_value v = { .n = 1 };

	v.v[0] = value;
	return v;
}

struct expr {
	struct vm *vm;
	const char *at, *end;
	size_t depth;
};

static double comparison(struct expr *e);

static double fold(const struct jl_net_value *v, const char *name, bool *ret_known)
{
	const double a = v->v[0], b = v->n > 1 ? v->v[1] : 0;
	double sum = 0, most = a, least = a;

	*ret_known = true;
	for (size_t i = 0; i < v->n; i++) {
		sum += v->v[i];
		most = fmax(most, v->v[i]);
		least = fmin(least, v->v[i]);
	}
	if (strcmp(name, "sum") == 0)
		return sum;
	if (strcmp(name, "max") == 0)
		return most;
	if (strcmp(name, "min") == 0)
		return least;
	if (strcmp(name, "len") == 0)
		return (double)v->n;
	if (strcmp(name, "ceil") == 0)
		return ceil(a);
	if (strcmp(name, "floor") == 0)
		return floor(a);
	if (strcmp(name, "sqrt") == 0)
		return sqrt(a);
	if (strcmp(name, "pick") == 0) /* conditional: pick(condition,then,else) */
		return a != 0 ? b : v->v[2];
	if (strcmp(name, "near") == 0) { /* near(x,d): the nearest multiple of d that is at least 0.9 x */
		const double d = b > 0 ? b : 8, up = fmax(d, floor((a + d / 2) / d) * d);

		return up < 0.9 * a ? up + d : up;
	}
	*ret_known = false;
	return NAN;
}

static void list(struct expr *e, struct jl_net_value *ret)
{
	ret->n = 0;
	do {
		if (ret->n && e->at < e->end)
			e->at++;
		if (ret->n == JL_NET_LIST_MAX) {
			fail(e->vm, e->at, 0, JL_N("a list is too long"));
			return;
		}
		ret->v[ret->n++] = comparison(e);
	} while (e->at < e->end && *e->at == ',' && !e->vm->state.status);
}

static double named(struct expr *e)
{
	struct vm *vm = e->vm;
	const char *begin = e->at;
	struct jl_net_word word, inner;
	bool known = false;

	while (e->at < e->end && is_name_char(*e->at))
		e->at++;
	const size_t len = (size_t)(e->at - begin);

	if (!take_name(&word, begin, len)) {
		fail(vm, begin, len, JL_N("a name is too long"));
		return NAN;
	}
	const char next = e->at < e->end ? *e->at : '\0';

	if (next == '(') {
		struct jl_net_value args = { 0 };
		const char *close = ++e->at;
		const struct jl_net_value *whole;

		/* a name without an index means the whole list */
		while (close < e->end && is_name_char(*close))
			close++;
		whole = close < e->end && *close == ')' && take_name(&inner, e->at, (size_t)(close - e->at)) &&
					inner.text[0]
				? jl_net_var(&vm->state, inner.text)
				: NULL;
		if (whole) {
			args = *whole;
			e->at = close;
		} else {
			list(e, &args);
		}
		if (e->at < e->end && *e->at == ')')
			e->at++;
		const double value = fold(&args, word.text, &known);

		if (!known)
			fail(vm, begin, len, JL_N("no such function"));
		return value;
	}
	const struct jl_net_value *var = jl_net_var(&vm->state, word.text);

	if (!var) {
		fail(vm, begin, len, JL_N("has no value here"));
		return NAN;
	}
	if (next != '[')
		return var->v[0];
	e->at++;
	const double index = comparison(e);

	if (e->at < e->end && *e->at == ']')
		e->at++;
	if (!(index >= 0 && index < (double)var->n)) {
		fail(vm, begin, len, JL_N("a list is shorter than that"));
		return NAN;
	}
	return var->v[(size_t)index];
}

static double factor(struct expr *e)
{
	double value = NAN;
	size_t used = 0;
	char text[32] = "";
	size_t n = 0;

	if (e->at >= e->end || ++e->depth > DEPTH_MAX) {
		fail(e->vm, e->at, 0, JL_N("an expression ends too early or is too deep"));
		return NAN;
	}
	if (*e->at == '(') {
		e->at++;
		value = comparison(e);
		if (e->at < e->end && *e->at == ')')
			e->at++;
	} else if (*e->at == '-') {
		e->at++;
		value = -factor(e);
	} else if (isdigit((unsigned char)*e->at)) {
		while (e->at + n < e->end && n < sizeof(text) - 1 &&
		       (isdigit((unsigned char)e->at[n]) || e->at[n] == '.' || e->at[n] == 'e' ||
			(n && e->at[n - 1] == 'e' && (e->at[n] == '-' || e->at[n] == '+'))))
			n++;
		memcpy(text, e->at, n);
		if (jl_num_parse(text, &value, &used) != JL_NUM_OK || text[used] != '\0')
			fail(e->vm, e->at, n, JL_N("not a number"));
		e->at += n;
	} else if (is_name_char(*e->at)) {
		value = named(e);
	} else {
		fail(e->vm, e->at, 1, JL_N("a number or name is expected here"));
	}
	e->depth--;
	return value;
}

/* Operators by precedence, lowest first. */
static const char *const levels[] = { "&|", "<>=!", "+-", "*/%" };
#define N_LEVELS (JL_LEN(levels))

static double apply(char op, bool equal, double a, double b)
{
	switch (op) {
	case '&': return a != 0 && b != 0;
	case '|': return a != 0 || b != 0;
	case '<': return equal ? a <= b : a < b;
	case '>': return equal ? a >= b : a > b;
	case '=': return a == b;
	case '!': return a != b;
	case '+': return a + b;
	case '-': return a - b;
	case '*': return a * b;
	case '/': return a / b;
	default: return fmod(a, b);
	}
}

static double binary(struct expr *e, size_t level)
{
	double value = level + 1 < N_LEVELS ? binary(e, level + 1) : factor(e);

	while (e->at < e->end && strchr(levels[level], *e->at) && !e->vm->state.status) {
		const char op = *e->at++;
		const bool equal = strchr(levels[1], op) && e->at < e->end && *e->at == '=';

		e->at += equal;
		value = apply(op, equal, value, level + 1 < N_LEVELS ? binary(e, level + 1) : factor(e));
	}
	return value;
}

static double comparison(struct expr *e)
{
	return binary(e, 0);
}

static struct jl_net_value evaluate(struct vm *vm, const char *at, const char *end)
{
	struct expr e = { .vm = vm, .at = at, .end = end };
	struct jl_net_value v = { .n = 0 };

	list(&e, &v);
	if (e.at < end)
		fail(vm, at, (size_t)(end - at), JL_N("not an expression"));
	return v;
}

bool jl_net_next_word(const char **io_at, const char *end, const char **ret_word, size_t *ret_len)
{
	const char *at = *io_at;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	*ret_word = at;
	while (at < end && *at != ' ' && *at != '\t')
		at++;
	*ret_len = (size_t)(at - *ret_word);
	*io_at = at;
	return *ret_len > 0;
}

const char *jl_net_assigned(const char *word, size_t len)
{
	size_t n = 0;

	while (n < len && is_name_char(word[n]))
		n++;
	return n > 0 && n + 1 < len && word[n] == '=' && word[n + 1] != '=' && !isdigit((unsigned char)word[0])
		       ? word + n
		       : NULL;
}

static void assign(struct vm *vm, const char *word, size_t len, bool usual)
{
	const char *eq = jl_net_assigned(word, len);
	struct jl_net_word name;

	if (!eq || !take_name(&name, word, (size_t)(eq - word))) {
		fail(vm, word, len, JL_N("not an assignment"));
		return;
	}
	if (usual && jl_net_var(&vm->state, name.text))
		return;
	const struct jl_net_value value = evaluate(vm, eq + 1, word + len);

	if (!vm->state.status && !jl_net_set(&vm->state, name.text, &value))
		fail(vm, word, len, JL_N("there are too many variables"));
}

static void run(struct vm *vm, const char *at, const char *end);

static void read_args(struct vm *vm, const char *at, const char *end, struct jl_net_args *ret)
{
	const char *word;
	size_t len;

	*ret = (struct jl_net_args){ 0 };
	while (jl_net_next_word(&at, end, &word, &len) && !vm->state.status) {
		const char *eq = jl_net_assigned(word, len);
		struct jl_net_arg *arg = &ret->args[ret->n];

		if (ret->n == JL_NET_ARGS_MAX || !take_name(&arg->name, word, eq ? (size_t)(eq - word) : 0)) {
			fail(vm, word, len, JL_N("one argument too many"));
			return;
		}
		arg->value = evaluate(vm, eq ? eq + 1 : word, word + len);
		ret->n++;
	}
}

/* Calls a block of the text: its parameters are variables whose old values are restored afterwards. */
static void call(struct vm *vm, const struct def *def, const struct jl_net_args *args)
{
	struct jl_net_value old[DEF_ARGS];
	struct jl_net_word names[DEF_ARGS];
	size_t n = 0, positional = 0;
	const char *at = def->args, *word;
	size_t len;

	while (n < DEF_ARGS && jl_net_next_word(&at, def->args_end, &word, &len) && !vm->state.status) {
		const char *eq = jl_net_assigned(word, len);
		const struct jl_net_value *given = NULL;

		if (!take_name(&names[n], word, eq ? (size_t)(eq - word) : len)) {
			fail(vm, word, len, JL_N("a name is too long"));
			break;
		}
		for (size_t a = 0; a < args->n && !given; a++)
			if (strcmp(args->args[a].name.text, names[n].text) == 0)
				given = &args->args[a].value;
		while (!given && positional < args->n && args->args[positional].name.text[0])
			positional++;
		if (!given && positional < args->n)
			given = &args->args[positional++].value;
		const struct jl_net_value usual = given ? *given : eq ? evaluate(vm, eq + 1, word + len) : one(NAN);
		const struct jl_net_value *now = jl_net_var(&vm->state, names[n].text);

		if (!given && !eq)
			fail(vm, word, len, JL_N("an argument is missing"));
		old[n] = now ? *now : one(0);
		if (!jl_net_set(&vm->state, names[n].text, &usual))
			fail(vm, word, len, JL_N("there are too many variables"));
		n++;
	}
	run(vm, def->body, def->body_end);
	while (n-- > 0)
		jl_net_set(&vm->state, names[n].text, &old[n]);
}

/* Position of the brace that closes the block; NULL: unclosed. */
static const char *block_end(const char *at, const char *end)
{
	size_t open = 1;

	(void)jl_budget_spend((unsigned)(end - at) / 1000);
	for (; at < end; at++) {
		if (*at == '{')
			open++;
		if (*at == '}' && --open == 0)
			return at;
	}
	return NULL;
}

static bool is_word(const char *word, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(word, text, len) == 0;
}

/* Runs `for NAME COUNT {...}`. */
static void loop(struct vm *vm, const char *at, const char *end, const char *body, const char *body_end)
{
	struct jl_net_args args;
	struct jl_net_word name;
	const char *word;
	size_t len;

	if (!jl_net_next_word(&at, end, &word, &len) || !take_name(&name, word, len)) {
		fail(vm, at, 0, JL_N("write: for NAME COUNT and a block"));
		return;
	}
	read_args(vm, at, end, &args);
	const double n = args.n == 1 ? args.args[0].value.v[0] : NAN;

	if (!(n >= 0 && n <= STEPS_MAX))
		fail(vm, word, len, JL_N("write: for NAME COUNT and a block"));
	for (double i = 0; i < n && !vm->state.status; i++) {
		const struct jl_net_value value = one(i);

		jl_net_set(&vm->state, name.text, &value);
		run(vm, body, body_end);
	}
}

static void define(struct vm *vm, const char *at, const char *end, const char *body, const char *body_end)
{
	struct jl_net_word name;
	const char *word;
	size_t len;

	if (vm->n_defs == DEFS_MAX || !jl_net_next_word(&at, end, &word, &len) || !take_name(&name, word, len)) {
		fail(vm, at, 0, JL_N("too many blocks, or one without a name"));
		return;
	}
	vm->defs[vm->n_defs++] =
		(struct def){ .name = name, .args = at, .args_end = end, .body = body, .body_end = body_end };
}

/* A statement with a block; *io_at: position after it. */
static void block(struct vm *vm, const char *word, size_t len, const char *rest, const char *brace, const char **io_at,
		  const char *end)
{
	const char *close = block_end(brace + 1, end), *next, *key;
	size_t key_len;

	if (!close) {
		fail(vm, word, len, JL_N("a block is not closed"));
		return;
	}
	*io_at = close + 1;
	if (is_word(word, len, "for")) {
		loop(vm, rest, brace, brace + 1, close);
	} else if (is_word(word, len, "def")) {
		define(vm, rest, brace, brace + 1, close);
	} else if (is_word(word, len, "side")) { /* "side": the shape is restored after the block */
		struct jl_net_value shape[JL_NET_SHAPE];

		for (size_t i = 0; i < JL_NET_SHAPE; i++)
			shape[i] = vm->state.vars[i].value;
		run(vm, brace + 1, close);
		for (size_t i = 0; i < JL_NET_SHAPE; i++)
			vm->state.vars[i].value = shape[i];
	} else if (is_word(word, len, "frozen") || is_word(word, len, "idle")) {
		bool *flag = *word == 'f' ? &vm->state.frozen : &vm->state.idle;
		const bool before = *flag;

		*flag = true;
		run(vm, brace + 1, close);
		*flag = before;
	} else if (is_word(word, len, "if")) {
		struct jl_net_args args;

		read_args(vm, rest, brace, &args);
		const bool holds = args.n == 1 && args.args[0].value.v[0] != 0;

		if (holds)
			run(vm, brace + 1, close);
		next = *io_at;
		while (next < end && isspace((unsigned char)*next))
			next++;
		key = next;
		if (jl_net_next_word(&next, end, &key, &key_len) && is_word(key, key_len, "else")) {
			while (next < end && isspace((unsigned char)*next))
				next++;
			close = next < end && *next == '{' ? block_end(next + 1, end) : NULL;
			if (!close) {
				fail(vm, key, key_len, JL_N("a block is not closed"));
				return;
			}
			*io_at = close + 1;
			if (!holds)
				run(vm, next + 1, close);
		}
	} else {
		fail(vm, word, len, JL_N("only for, if, side, frozen, idle and def have blocks"));
	}
}

static void simple(struct vm *vm, const char *word, size_t len, const char *rest, const char *end)
{
	struct jl_net_args args;
	struct jl_net_word name;
	const bool usual = is_word(word, len, "default"); /* "default" assigns only to undefined variables */

	if (jl_net_assigned(word, len) || (usual && jl_net_next_word(&rest, end, &word, &len))) {
		do
			assign(vm, word, len, usual);
		while (jl_net_next_word(&rest, end, &word, &len) && !vm->state.status);
		return;
	}
	read_args(vm, rest, end, &args);
	if (vm->state.status)
		return;
	for (size_t i = vm->n_defs; i-- > 0;)
		if (is_word(word, len, vm->defs[i].name.text)) {
			call(vm, &vm->defs[i], &args);
			return;
		}
	(void)take_name(&name, word, len);
	if (!jl_net_operator(&vm->state, name.text, &args))
		fail(vm, word, len, JL_N("no such operator or block"));
}

static void run(struct vm *vm, const char *at, const char *end)
{
	if (++vm->depth > DEPTH_MAX)
		fail(vm, at, 0, JL_N("blocks are too deep"));
	if (++vm->steps > STEPS_MAX) /* counted here too, because a block may be empty */
		fail(vm, at, (size_t)(end - at), JL_N("does not come to an end"));
	if (jl_budget_spend(1) && !vm->state.status)
		vm->state.status = jl_budget_fail(vm->state.err);
	while (at < end && !vm->state.status) {
		const char *stop, *word, *rest;
		size_t len;

		while (at < end && (isspace((unsigned char)*at) || *at == ';'))
			at++;
		if (at < end && *at == '#') {
			while (at < end && *at != '\n')
				at++;
			continue;
		}
		for (stop = at; stop < end && *stop != '\n' && *stop != ';' && *stop != '{'; stop++)
			;
		rest = at;
		if (!jl_net_next_word(&rest, stop, &word, &len))
			break;
		if (++vm->steps > STEPS_MAX) {
			fail(vm, word, len, JL_N("does not come to an end"));
		} else if (stop < end && *stop == '{') {
			block(vm, word, len, rest, stop, &at, end);
		} else {
			simple(vm, word, len, rest, stop);
			at = stop;
		}
	}
	vm->depth--;
}

enum jl_status jl_network_expand(struct jl_network *ret_net, const char *name, const char *program,
				 const char *settings, struct jl_arena *arena, struct jl_err *err)
{
	struct vm *vm = jl_realloc(NULL, sizeof(*vm));
	struct jl_conv_op *ops = jl_realloc(NULL, JL_NETWORK_OPS_MAX * sizeof(*ops));
	enum jl_status status = vm && ops ? JL_OK : jl_fail_nomem(err);

	if (!status) {
		memset(vm, 0, sizeof(*vm));
		jl_net_begin(&vm->state, name, ops, err);
		if (settings)
			run(vm, settings, settings + strlen(settings));
		run(vm, program, program + strlen(program));
		status = jl_net_finish(&vm->state, ret_net, arena);
	}
	jl_free(vm);
	jl_free(ops);
	return status;
}
