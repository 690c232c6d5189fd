/* Parses and evaluates expressions of claims. */
#include "notes/claims_expr.h"

#include <ctype.h>
#include <string.h>

#include "base/near.h"
#include "base/num.h"

struct parser {
	struct jl_expr_scope *scope;
	const char *at;
	int depth;
	struct jl_err *err;
};

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

/* Length of a name: letters, digits, _ and inner dots, as in cost.break_even, ddp.n10 */
static size_t name_len(const char *at)
{
	size_t n = 0;

	while (is_name_start(at[n]) || (n && isdigit((unsigned char)at[n])) ||
	       (n && at[n] == '.' && is_name_start(at[n + 1])))
		n++;
	return n;
}

static enum jl_status unexpected(struct parser *p)
{
	if (!*p->at)
		return jl_fail(p->err, JL_E_PARSE, "the expression ends too early");
	return jl_fail(p->err, JL_E_PARSE, "'%.20s' is not expected here", p->at);
}

static enum jl_status sum(struct jl_val *ret_val, struct parser *p);

/* Parses a number, a range 0.4..0.6 or a percentage, with its unit: 24 h, 80 GB. */
static enum jl_status number(struct jl_val *ret_val, struct parser *p)
{
	double value[2];
	int n = 0;
	struct jl_val r, unit;
	size_t len;

	do {
		size_t used = 0;
		char *comma, text[40] = "";

		if (n)
			p->at += 2;
		strncpy(text, p->at, sizeof text - 1);
		if ((comma = strchr(text, ','))) /* a comma separates arguments, never thousands */
			*comma = '\0';
		if ((comma = strstr(text, "..")))
			*comma = '\0';
		if (jl_num_parse(text, &value[n], &used) != JL_NUM_OK || !used)
			return unexpected(p);
		p->at += used;
	} while (++n < 2 && p->at[0] == '.' && p->at[1] == '.');
	if (n == 2 && value[0] > value[1])
		return jl_fail(p->err, JL_E_RANGE, "a range goes upward: %g..%g", value[1], value[0]);
	r = n == 1 ? jl_val_number(value[0])
		   : jl_val_range((value[0] + value[1]) / 2, value[0], value[1], JL_K_NUMBER, false);
	skip_blanks(p);
	if (*p->at == '%') {
		p->at++;
		unit = jl_val_number(0.01);
		return jl_val_apply(ret_val, '*', &r, &unit, p->err);
	}
	if ((len = name_len(p->at)) && jl_unit_value(&unit, p->at, len)) {
		p->at += len;
		return jl_val_apply(ret_val, '*', &r, &unit, p->err);
	}
	*ret_val = r;
	return JL_OK;
}

/* Splits arguments at commas and the closing parenthesis. They stay text, since names contain dashes and spaces. */
static enum jl_status arguments(struct jl_call *call, struct parser *p)
{
	int depth = 0;
	const char *start = p->at;

	for (;; p->at++) {
		const char *end = p->at;

		if (!*p->at)
			return jl_fail(p->err, JL_E_PARSE, "%s( has no )", call->name);
		if (depth == 0 && (*p->at == ',' || *p->at == ')')) {
			while (start < end && *start == ' ')
				start++;
			while (end > start && end[-1] == ' ')
				end--;
			if (end == start)
				return jl_fail(p->err, JL_E_PARSE, "%s(): an empty argument", call->name);
			if (call->n_args == JL_EXPR_ARGS_MAX)
				return jl_fail(p->err, JL_E_LIMIT, "%s(): too many arguments", call->name);
			if (!(call->args[call->n_args++] = jl_arena_strndup(p->scope->arena, start,
									    (size_t)(end - start))))
				return jl_fail_nomem(p->err);
			start = p->at + 1;
			if (*p->at == ')')
				break;
		}
		depth += *p->at == '(';
		depth -= *p->at == ')';
	}
	p->at++;
	return JL_OK;
}

static enum jl_status call_function(struct jl_val *ret_val, struct parser *p, const char *name)
{
	struct jl_call call = { .name = name, .depth = p->depth };
	size_t len;

	JL_TRY(arguments(&call, p));
	if (*p->at == '.' && (len = name_len(p->at + 1))) {
		if (!(call.field = jl_arena_strndup(p->scope->arena, p->at + 1, len)))
			return jl_fail_nomem(p->err);
		p->at += 1 + len;
	}
	return jl_call_eval(ret_val, p->scope, &call, p->err);
}

static enum jl_status unknown_name(struct parser *p, const char *name)
{
	const char *names[JL_INPUTS_MAX];
	size_t near;

	for (size_t i = 0; i < p->scope->n_inputs; i++)
		names[i] = p->scope->inputs[i].name;
	if (jl_near_rank(name, names, p->scope->n_inputs, &near, 1))
		return jl_fail(p->err, JL_E_NOTFOUND, "'%.60s' is neither an input nor a unit; did you mean %.60s?",
			       name, names[near]);
	return jl_fail(p->err, JL_E_NOTFOUND, "'%.60s' is neither an input nor a unit; name it under inputs:", name);
}

static enum jl_status named(struct jl_val *ret_val, struct parser *p)
{
	const size_t len = name_len(p->at);
	const char *name = jl_arena_strndup(p->scope->arena, p->at, len);

	if (!name)
		return jl_fail_nomem(p->err);
	p->at += len;
	if (*p->at == '(') {
		p->at++;
		return call_function(ret_val, p, name);
	}
	for (size_t i = 0; i < p->scope->n_inputs; i++)
		if (strcmp(p->scope->inputs[i].name, name) == 0) {
			*ret_val = p->scope->inputs[i].val;
			return JL_OK;
		}
	if (jl_unit_value(ret_val, name, len))
		return JL_OK;
	return unknown_name(p, name);
}

static enum jl_status primary(struct jl_val *ret_val, struct parser *p)
{
	skip_blanks(p);
	if (isdigit((unsigned char)*p->at))
		return number(ret_val, p);
	if (is_name_start(*p->at))
		return named(ret_val, p);
	if (*p->at == '-' || *p->at == '(') {
		const bool minus = *p->at++ == '-';

		if (++p->depth > JL_EXPR_DEPTH_MAX)
			return jl_fail(p->err, JL_E_LIMIT, "the expression is nested too deeply");
		JL_TRY(minus ? primary(ret_val, p) : sum(ret_val, p));
		p->depth--;
		if (minus) {
			*ret_val = jl_val_negated(ret_val);
			return JL_OK;
		}
		skip_blanks(p);
		if (*p->at != ')')
			return unexpected(p);
		p->at++;
		return JL_OK;
	}
	return unexpected(p);
}

/* Parses operators of one precedence, left to right. */
static enum jl_status chain(struct jl_val *ret_val, struct parser *p, const char *ops,
			    enum jl_status (*operand)(struct jl_val *ret_val, struct parser *p))
{
	struct jl_val left, right;

	JL_TRY(operand(&left, p));
	for (skip_blanks(p); *p->at && strchr(ops, *p->at); skip_blanks(p)) {
		const char op = *p->at++;

		JL_TRY(operand(&right, p));
		JL_TRY(jl_val_apply(&left, op, &left, &right, p->err));
	}
	*ret_val = left;
	return JL_OK;
}

static enum jl_status product(struct jl_val *ret_val, struct parser *p)
{
	return chain(ret_val, p, "*/", primary);
}

static enum jl_status sum(struct jl_val *ret_val, struct parser *p)
{
	return chain(ret_val, p, "+-", product);
}

bool jl_has_control(const char *text)
{
	while (*text && !iscntrl((unsigned char)*text))
		text++;
	return *text != '\0';
}

enum jl_status jl_expr_eval_at(struct jl_val *ret_val, struct jl_expr_scope *scope, const char *text, int depth,
			       struct jl_err *err)
{
	struct parser p = { .scope = scope, .at = text, .depth = depth, .err = err };
	struct jl_val r;

	if (strlen(text) > JL_EXPR_LEN_MAX)
		return jl_fail(err, JL_E_LIMIT, "an expression of more than %d bytes", JL_EXPR_LEN_MAX);
	if (jl_has_control(text))
		return jl_fail(err, JL_E_PARSE, "an expression is one line without control characters");
	if (depth > JL_EXPR_DEPTH_MAX)
		return jl_fail(err, JL_E_LIMIT, "the expression is nested too deeply");
	JL_TRY(sum(&r, &p));
	skip_blanks(&p);
	if (*p.at)
		return unexpected(&p);
	*ret_val = r;
	return JL_OK;
}

enum jl_status jl_expr_eval(struct jl_val *ret_val, struct jl_expr_scope *scope, const char *text, struct jl_err *err)
{
	return jl_expr_eval_at(ret_val, scope, text, 0, err);
}

static enum jl_status read_input(struct jl_expr_scope *scope, const struct jl_yaml *node, struct jl_err *err)
{
	struct jl_expr_input *in = &scope->inputs[scope->n_inputs];
	struct jl_err inner;
	enum jl_status status;
	struct jl_val unit;

	if (node->kind != JL_YAML_TEXT)
		return jl_fail_at(err, JL_E_PARSE, &node->where, "inputs: %s: one value is required, e.g. 1.06 s",
				  node->key);
	if (name_len(node->key) != strlen(node->key) || jl_unit_value(&unit, node->key, strlen(node->key)))
		return jl_fail_at(err, JL_E_PARSE, &node->where,
				  "inputs: '%.60s' is not a name (letters, digits, _; not a unit)", node->key);
	if ((status = jl_expr_eval(&in->val, scope, node->text, &inner)))
		return jl_fail_from(err, status, &node->where, &inner, "inputs: %s: {}", node->key);
	in->name = node->key;
	in->text = node->text;
	in->where = node->where;
	scope->n_inputs++;
	return JL_OK;
}

enum jl_status jl_expr_read_inputs(struct jl_expr_scope *scope, const struct jl_yaml *inputs, struct jl_err *err)
{
	if (!inputs)
		return JL_OK;
	if (inputs->kind != JL_YAML_MAP || inputs->n_items > JL_INPUTS_MAX)
		return jl_fail_at(err, JL_E_PARSE, &inputs->where, "inputs: at most %d names with their values",
				  JL_INPUTS_MAX);
	scope->inputs = jl_arena_array(scope->arena, inputs->n_items + 1, sizeof *scope->inputs);
	JL_TRY(jl_got(scope->inputs, err));
	for (const struct jl_yaml *node = inputs->items; node; node = node->next)
		JL_TRY(read_input(scope, node, err));
	return JL_OK;
}
