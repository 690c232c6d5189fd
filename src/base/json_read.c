/* Parses JSON of other programs within the memory budget. */
#include "base/json_read.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/budget.h"

/* Upper bound on the memory of the parsed tree; measured with jansson 2.14, rounded up. */
static size_t tree_B(const char *text, size_t len)
{
	size_t size_B = 2 * len;
	bool quoted = false;

	for (const char *at = text, *end = text + len; at < end; at++) {
		if (*at == '"')
			quoted = !quoted;
		else if (quoted)
			at += *at == '\\';
		else if (*at == '{')
			size_B += 240;
		else if (*at == '[')
			size_B += 128;
		else if (*at == ',' || *at == ':')
			size_B += 72;
	}
	return size_B;
}

json_t *jl_json_load(const char *text, size_t len, size_t flags, json_error_t *why)
{
	const size_t size_B = tree_B(text, len);
	const bool fits = !jl_budget_hold(size_B) && !jl_budget_spend((unsigned)(size_B / 1000));
	json_t *root = fits ? json_loadb(text, len, flags, why) : NULL;

	if (!fits && why) {
		*why = (json_error_t){ .line = 1, .column = 1 };
		(void)snprintf(why->text, sizeof(why->text), "too many values");
	}
	jl_budget_let_go(size_B);
	return root;
}
