#include "import/json_scan.h"

#include <string.h>

static enum jl_json_state in_string(struct jl_json_scan *scan, char c)
{
	if ((unsigned char)c < 0x20)
		return JL_JSON_BAD; /* a line end inside a string: it was torn */
	if (scan->escaped)
		scan->escaped = false;
	else if (c == '\\')
		scan->escaped = true;
	else if (c == '"')
		scan->in_string = false;
	return JL_JSON_MORE;
}

enum jl_json_state jl_json_scan(struct jl_json_scan *scan, char c)
{
	if (scan->in_string)
		return in_string(scan, c);
	if (c == '\0' || !strchr("{}[]:,\" \t\r\n0123456789+-.eEtrufalsn", c))
		return JL_JSON_BAD;
	/* the first thing in an object is a name */
	if (scan->depth == 1 && !scan->started && !strchr("\"} \t\r\n", c))
		return JL_JSON_BAD;
	switch (c) {
	case '"':
		scan->in_string = true;
		scan->started = true;
		break;
	case '{':
	case '[':
		if (++scan->depth > JL_JSON_SCAN_DEPTH_MAX)
			return JL_JSON_BAD;
		break;
	case '}':
	case ']':
		if (--scan->depth == 0)
			return JL_JSON_DONE;
		break;
	default: break;
	}
	return JL_JSON_MORE;
}
