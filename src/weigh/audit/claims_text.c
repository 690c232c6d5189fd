/* Figures of claims as a person reads them: 약 5.67시간, 2.1~2.7배, about 300 days. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "audit/claims.h"

static const struct {
	const char *unit, *ko;
} korean_units[] = {
	{ "s", "초" },
	{ "min", "분" },
	{ "h", "시간" },
	{ "days", "일" },
	{ "months", "개월" },
	{ "years", "년" },
	{ "x", "배" },
	{ "KRW", "원" },
	{ "USD", "달러" },
	{ "USD/h", "달러/시간" },
	{ "USD/kWh", "달러/kWh" },
	{ "samples/s", "샘플/초" },
};

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

/* Thousands apart from ten thousand on; smaller ones read well as they are. */
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

static void put_unit(struct out *o, const char *unit, enum jl_lang lang)
{
	const bool tight = strcmp(unit, "x") == 0;

	for (size_t i = 0; lang == JL_KO && i < sizeof korean_units / sizeof korean_units[0]; i++)
		if (strcmp(korean_units[i].unit, unit) == 0) {
			puts_to(o, korean_units[i].ko);
			return;
		}
	if (*unit && !tight)
		puts_to(o, " ");
	puts_to(o, unit);
}

const char *jl_claim_say(char out[JL_CLAIM_SAY_MAX], const char *text, enum jl_lang lang)
{
	static const struct {
		const char *sign, *en, *ko;
	} signs[] = { { "~", "~", "약 " },
		      { "<=", "≤ ", "≤ " },
		      { ">=", "≥ ", "≥ " },
		      { "<", "< ", "< " },
		      { ">", "> ", "> " } };
	struct out o = { .at = out, .end = out + JL_CLAIM_SAY_MAX };

	out[0] = '\0';
	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (strncmp(text, signs[i].sign, strlen(signs[i].sign)) == 0) {
			text += strlen(signs[i].sign);
			puts_to(&o, JL_T(lang, signs[i].en, signs[i].ko));
		}
	while (isdigit((unsigned char)*text) || *text == '.' || *text == ',') {
		if (isdigit((unsigned char)*text) && (o.at == out || o.at[-1] != '.')) {
			text = put_number(&o, text);
		} else if (strncmp(text, "..", 2) == 0) {
			puts_to(&o, JL_T(lang, "–", "~"));
			text += 2;
		} else {
			put(&o, text++, 1);
		}
	}
	while (*text == ' ')
		text++;
	put_unit(&o, text, lang);
	return out;
}
