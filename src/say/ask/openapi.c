/* OpenAPI 3.1 of everything that may be asked. Nothing is written twice: options come from the commands' tables, answers from their schemas. */
#include <string.h>

#include "ask/ask.h"
#include "base/json.h"

static void value_type(struct jl_json *json, const struct jl_option *o)
{
	switch (o->type) {
	case JL_OPT_FLAG: jl_json_put_string(json, "type", "boolean"); break;
	case JL_OPT_COUNT:
		jl_json_put_array(json, "type");
		jl_json_string(json, "integer");
		jl_json_string(json, "string");
		jl_json_end_array(json);
		jl_json_put_integer(json, "minimum", o->min);
		jl_json_put_integer(json, "maximum", o->max);
		break;
	case JL_OPT_CHOICE:
		jl_json_put_array(json, "enum");
		for (const char *const *c = o->choices; *c; c++)
			jl_json_string(json, *c);
		jl_json_end_array(json);
		break;
	case JL_OPT_QUANTITY:
	case JL_OPT_TEXT:
		jl_json_put_array(json, "type");
		jl_json_string(json, "string");
		jl_json_string(json, "number");
		jl_json_end_array(json);
		break;
	}
}

static void option_json(struct jl_json *json, const struct jl_option *o)
{
	if (o->local || !jl_ask_option(o))
		return;
	jl_json_put_object(json, o->name);
	jl_json_put_string(json, "description", o->en);
	if (!o->many) {
		value_type(json, o);
	} else {
		jl_json_put_string(json, "type", "array");
		jl_json_put_object(json, "items");
		value_type(json, o);
		jl_json_end_object(json);
	}
	jl_json_end_object(json);
}

static void of_type(struct jl_json *json, const char *key, const char *type, const char *about)
{
	jl_json_put_object(json, key);
	jl_json_put_string(json, "type", type);
	jl_json_put_string(json, "description", about);
	jl_json_end_object(json);
}

static void request_json(struct jl_json *json, const struct jl_askable *a, const struct jl_command *c)
{
	jl_json_put_object(json, "requestBody");
	jl_json_put_object(json, "content");
	jl_json_put_object(json, "application/json");
	jl_json_put_object(json, "schema");
	jl_json_put_string(json, "type", "object");
	jl_json_put_bool(json, "additionalProperties", false);
	jl_json_put_object(json, "properties");
	if (a->operands && c->n_max == 1)
		of_type(json, a->operands, "string", c->operands);
	else if (a->operands)
		of_type(json, a->operands, "array", c->operands);
	for (const struct jl_option *o = c->options; o && o->name; o++)
		if (!a->operands || strcmp(o->name, a->operands) != 0)
			option_json(json, o);
	for (const struct jl_option *o = jl_global_options; o->name; o++)
		option_json(json, o);
	of_type(json, "files", "object", "texts of the files that arguments name");
	of_type(json, "as", "string", "json (default), html: a fragment of a page, or text");
	for (int i = 0; i < 5; i++)
		jl_json_end_object(json);
}

static void response_json(struct jl_json *json, const char *code, const char *about)
{
	jl_json_put_object(json, code);
	jl_json_put_string(json, "description", about);
	jl_json_end_object(json);
}

static void path_json(struct jl_json *json, const struct jl_askable *a, const struct jl_command *c)
{
	char path[96] = "/api/v1/";

	strncat(path, a->command, sizeof(path) - strlen(path) - 1);
	for (char *at = path; (at = strchr(at, ' '));)
		*at = '/';
	jl_json_put_object(json, path);
	jl_json_put_object(json, "post");
	jl_json_put_string(json, "operationId", a->command);
	jl_json_put_string(json, "summary", c->en);
	request_json(json, a, c);
	jl_json_put_object(json, "responses");
	response_json(json, "200", "what the command prints with --json; 'jeoul schema' has its JSON Schema");
	response_json(json, "400", "the request is wrong: {\"error\": {\"status\", \"text\", \"en\"}}");
	response_json(json, "422", "it could not be answered: the same");
	for (int i = 0; i < 3; i++)
		jl_json_end_object(json);
}

void jl_ask_openapi(struct jl_buf *out, const struct jl_front *front, const char *version)
{
	struct jl_json json;
	const struct jl_command *c;

	jl_json_init(&json, out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "openapi", "3.1.0");
	jl_json_put_object(&json, "info");
	jl_json_put_string(&json, "title", "jeoul");
	jl_json_put_string(&json, "version", version);
	jl_json_end_object(&json);
	jl_json_put_object(&json, "paths");
	for (const struct jl_askable *a = front->askable; a->command; a++)
		if (jl_ask_find(front, a->command, &c))
			path_json(&json, a, c);
	jl_json_end_object(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}
