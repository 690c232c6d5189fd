#include "catalog/place.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* What people call a place, and how it is written in the clouds' own names for their regions there. */
static const struct {
	const char *name;
	const char *parts[10];
} places[] = {
	{ "seoul", { "ap-northeast-2", "asia-northeast3", "koreacentral", "ap-seoul", "seoul", "korea" } },
	{ "korea",
	  { "ap-northeast-2", "asia-northeast3", "korea", "koreacentral", "ap-seoul", "ap-chuncheon", "seoul" } },
	{ "us", { "us", "usa", "eastus", "westus", "centralus" } },
	/* Azure writes its regions in one word */
	{ "us", { "northcentralus", "southcentralus", "westcentralus" } },
};

static bool is_wordy(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* May a word end between these two? A number behind letters is a word of its own: "asia-northeast" is in "asia-northeast3". */
static bool is_border(char last, char next)
{
	return !is_wordy(last) || !is_wordy(next) || (isdigit((unsigned char)next) && !isdigit((unsigned char)last));
}

/* "us" is in "us-east-1" and "Oregon, US, NA", not in "jerusalem". */
bool jl_has_words(const char *text, const char *words)
{
	size_t len = strlen(words);

	for (const char *at = text; (at = strcasestr(at, words)); at++)
		if ((at == text || is_border(at[-1], *words)) && is_border(words[len - 1], at[len]))
			return true;
	return false;
}

bool jl_place_has(const char *region, const char *wanted)
{
	bool is_place = false;

	for (size_t i = 0; region && i < sizeof(places) / sizeof(*places); i++) {
		if (strcasecmp(places[i].name, wanted) != 0)
			continue;
		is_place = true;
		for (const char *const *p = places[i].parts; *p; p++)
			if (jl_has_words(region, *p))
				return true;
	}
	return region && !is_place && jl_has_words(region, wanted);
}
