/* Parses JSON of other programs into a jansson tree. */
#pragma once

#include <jansson.h>

/* A tree takes up to 80 times the memory of its text, so its size is charged to the budget first. NULL: invalid JSON, or above the memory limit. */
json_t *jl_json_load(const char *text, size_t len, size_t flags, json_error_t *why);
