/* JSON that others wrote, as jansson's tree. */
#pragma once

#include <jansson.h>

/* A tree takes up to eighty times its text: it is weighed against the budget before it is made. NULL: no JSON, or too much. */
json_t *jl_json_load(const char *text, size_t len, size_t flags, json_error_t *why);
