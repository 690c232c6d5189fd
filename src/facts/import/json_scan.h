/* Where a JSON document ends, byte by byte, without keeping it: also tells at once that something is none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define JL_JSON_SCAN_DEPTH_MAX 512

enum jl_json_state { JL_JSON_MORE, JL_JSON_DONE, JL_JSON_BAD };

struct jl_json_scan {
	size_t depth;
	bool in_string, escaped;
	bool started; /* something follows the first brace */
};

enum jl_json_state jl_json_scan(struct jl_json_scan *scan, char c);
