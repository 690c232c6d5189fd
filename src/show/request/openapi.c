/* Generates OpenAPI 3.1 of all requests: options from the command tables, answers from their schemas. */
#include <string.h>

#include "request/ask.h"
#include "base/json.h"

static void value_type(struct jl_json *json, const struct jl_option *o)
{
	switch (o->type) {
	case JL_OPT_FLAG: jl_json_put_string(json, "type", "boolean"); break;
	case JL_OPT_COUNT:
		jl_json_pack(json, "type:[s s] minimum:l maximum:l", "integer", "string", o->min, o->max);
		break;
	case JL_OPT_CHOICE:
		jl_json_pack(json, "enum:[");
		for (const char *const *c = o->choices; *c; c++)
			jl_json_string(json, *c);
		jl_json_pack(json, "]");
		break;
	case JL_OPT_QUANTITY:
	case JL_OPT_TEXT: jl_json_pack(json, "type:[s s]", "string", "number"); break;
	}
}

static void option_json(struct jl_json *json, const struct jl_option *o)
{
	if (o->local || !jl_ask_option(o))
		return;
	jl_json_put_object(json, o->name);
	jl_json_pack(json, o->many ? "description:s type:s items:{" : "description:s", o->en, "array");
	value_type(json, o);
	jl_json_pack(json, o->many ? "}}" : "}");
}

static void request_json(struct jl_json *json, const struct jl_askable *a, const struct jl_command *c)
{
	jl_json_pack(json, "requestBody:{content:{application/json:{schema:{type:s additionalProperties:b properties:{",
		     "object", false);
	if (a->operands) {
		jl_json_key(json, a->operands);
		jl_json_pack(json, "{type:s description:s}", c->n_max == 1 ? "string" : "array", c->operands);
	}
	for (const struct jl_option *o = c->options; o && o->name; o++)
		if (!a->operands || strcmp(o->name, a->operands) != 0)
			option_json(json, o);
	for (const struct jl_option *o = jl_global_options; o->name; o++)
		option_json(json, o);
	jl_json_pack(json, "files:{type:s description:s} as:{type:s description:s}}}}}}", "object",
		     "texts of the files that arguments name", "string",
		     "json (default), html: a fragment of a page, or text");
}

static void path_json(struct jl_json *json, const struct jl_askable *a, const struct jl_command *c)
{
	char path[96] = "/api/v1/";

	strncat(path, a->command, sizeof(path) - strlen(path) - 1);
	for (char *at = path; (at = strchr(at, ' '));)
		*at = '/';
	jl_json_put_object(json, path);
	jl_json_pack(json, "post:{operationId:s summary:s", a->command, c->en);
	request_json(json, a, c);
	jl_json_pack(json, "responses:{200:{description:s} 400:{description:s} 422:{description:s}}}}",
		     "what the command prints with --json; 'jeoul schema' has its JSON Schema",
		     "the request is wrong: {\"error\": {\"status\", \"text\", \"en\"}}",
		     "it could not be answered: the same");
}

void jl_ask_openapi(struct jl_buf *out, const struct jl_front *front, const char *version)
{
	struct jl_json json;
	const struct jl_command *c;

	jl_json_init(&json, out, true);
	jl_json_pack(&json, "{openapi:s info:{title:s version:s} paths:{", "3.1.0", "jeoul", version);
	for (const struct jl_askable *a = front->askable; a->command; a++)
		if (jl_ask_find(front, a->command, &c))
			path_json(&json, a, c);
	jl_json_pack(&json, "}}");
	jl_json_finish(&json);
}
