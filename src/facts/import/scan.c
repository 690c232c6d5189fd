/* Scanners of numbers, tokens and JSON shared by the importers. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/format.h"

static enum jl_json_state in_string(struct jl_json_scan *scan, char c)
{
	if ((unsigned char)c < 0x20)
		return JL_JSON_BAD; /* line end inside a string: truncated */
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
	/* the first thing in an object must be a key */
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

static size_t digits(const char *text)
{
	size_t n = 0;

	while (isdigit((unsigned char)text[n]))
		n++;
	return n;
}

bool jl_scan_number(const char **at, struct jl_number *ret_number)
{
	const char *text = *at;
	size_t n_whole = digits(text), n_frac = 0, used = n_whole;
	double exponent = 0, value;
	char copy[48];

	if (text[used] == '.') {
		n_frac = digits(text + used + 1);
		used += 1 + n_frac;
	}
	if (n_whole + n_frac == 0)
		return false;
	if (text[used] == 'e' || text[used] == 'E') {
		size_t sign = text[used + 1] == '+' || text[used + 1] == '-';
		size_t n = digits(text + used + 1 + sign);

		if (n > 0 && n < 4) {
			exponent = strtod(text + used + 1, NULL);
			used += 1 + sign + n;
		}
	}
	if (used >= sizeof(copy))
		return false;
	memcpy(copy, text, used);
	copy[used] = '\0';
	value = strtod(copy, NULL);
	if (!isfinite(value))
		return false;
	*ret_number = (struct jl_number){ .value = value, .half = 0.5 * pow(10, exponent - (double)n_frac) };
	*at = text + used;
	return true;
}

bool jl_scan_token(const char *token, struct jl_number *ret_number)
{
	return jl_scan_number(&token, ret_number) && *token == '\0';
}

bool jl_scan_whole(const char *token, double *ret_value)
{
	size_t n = digits(token);

	if (n == 0 || n > 15 || token[n])
		return false;
	*ret_value = strtod(token, NULL);
	return true;
}

bool jl_scan_after(const struct jl_line *line, const char *key, struct jl_number *ret_number)
{
	const char *at = strstr(line->text, key);
	struct jl_number number;

	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \t");
	if (!jl_scan_number(&at, &number))
		return false;
	/* "12." at the end of a truncated file is incomplete; "12.5x" is not a number */
	if (*at == '\0' ? line->torn : !strchr(" \t,|}])", *at))
		return false;
	if (*at == ',' && isdigit((unsigned char)at[1])) /* 1,234: these tools print no thousands separators */
		return false;
	*ret_number = number;
	return true;
}

size_t jl_scan_split(char *text, char **ret_tokens, size_t max)
{
	size_t n = 0;

	for (char *at = text;;) {
		at += strspn(at, " \t");
		if (!*at)
			return n;
		if (n == max)
			return max + 1;
		ret_tokens[n++] = at;
		at += strcspn(at, " \t");
		if (*at)
			*at++ = '\0';
	}
}

double jl_scan_json(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	struct jl_number number;
	const char *text;

	if (json_is_number(value))
		return json_number_value(value);
	if (!json_is_string(value))
		return NAN;
	text = json_string_value(value); /* "root" is text with leading blanks */
	text += strspn(text, " ");
	if (strcmp(text, "-1") == 0)
		return -1;
	return jl_scan_token(text, &number) ? number.value : NAN;
}

struct jl_stats jl_summarize(double *samples, size_t n)
{
	struct jl_stats s = jl_summary_unknown();
	double sum = 0;

	jl_stats_sort(samples, n);
	for (size_t i = 0; i < n; i++)
		sum += samples[i];
	s.n = n;
	s.mean = sum / (double)n;
	s.min = samples[0];
	s.max = samples[n - 1];
	s.median = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
	s.p95 = samples[(size_t)ceil(0.95 * (double)n) - 1];
	/* order statistics: ranks that enclose the median with 95 %; needs at least six samples */
	if (n >= 6) {
		double spread = 1.96 * sqrt((double)n) / 2, lo = floor((double)n / 2 - spread),
		       hi = ceil((double)n / 2 + spread);

		s.lo95 = samples[lo < 0 ? 0 : (size_t)lo];
		s.hi95 = samples[hi > (double)(n - 1) ? n - 1 : (size_t)hi];
	}
	return s;
}
