/* Formats claims' figures for display: 약 5.67시간, 2.1~2.7배, about 300 days. */
#include <ctype.h>
#include <string.h>

#include "notes/claims.h"

struct out {
	char *at, *end;
};

static void put(struct out *o, const char *text, size_t len)
{
	if ((size_t)(o->end - o->at) > len) {
		memcpy(o->at, text, len);
		o->at += len;
	}
	*o->at = '\0';
}

static void puts_to(struct out *o, const char *text)
{
	put(o, text, strlen(text));
}

/* Adds thousands separators from 10,000 on. */
static const char *put_number(struct out *o, const char *at)
{
	size_t n = strspn(at, "0123456789");

	for (size_t i = 0; i < n; i++) {
		put(o, at + i, 1);
		if (n > 4 && i + 1 < n && (n - i - 1) % 3 == 0)
			puts_to(o, ",");
	}
	return at + n;
}

static void put_unit(struct out *o, const char *unit)
{
	bool close;
	const char *said = jl_unit_localized(unit, &close);

	puts_to(o, *unit && !close ? " " : "");
	puts_to(o, said);
}

const char *jl_claim_say(char out[JL_CLAIM_SAY_MAX], const char *text)
{
	static const struct {
		const char *sign, *en;
	} signs[] = { { "~", JL_NC("about", "~") }, { "<=", "≤ " }, { ">=", "≥ " }, { "<", "< " }, { ">", "> " } };
	struct out o = { .at = out, .end = out + JL_CLAIM_SAY_MAX };

	out[0] = '\0';
	for (size_t i = 0; i < JL_LEN(signs); i++)
		if (strncmp(text, signs[i].sign, strlen(signs[i].sign)) == 0) {
			text += strlen(signs[i].sign);
			puts_to(&o, jl_msg(signs[i].en));
		}
	while (isdigit((unsigned char)*text) || *text == '.' || *text == ',') {
		if (isdigit((unsigned char)*text) && (o.at == out || o.at[-1] != '.')) {
			text = put_number(&o, text);
		} else if (strncmp(text, "..", 2) == 0) {
			puts_to(&o, JL_C("to", "–"));
			text += 2;
		} else {
			put(&o, text++, 1);
		}
	}
	while (*text == ' ')
		text++;
	put_unit(&o, text);
	return out;
}
