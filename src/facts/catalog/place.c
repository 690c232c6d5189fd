#include "catalog/place.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* What people call a place, the electricity tariff there, and the clouds' names for their regions there. */
static const struct {
	const char *name, *tariff;
	const char *parts[10];
} places[] = {
	{ "seoul",
	  "kepco-general",
	  { "ap-northeast-2", "asia-northeast3", "koreacentral", "ap-seoul", "seoul", "korea" } },
	{ "korea",
	  "kepco-general",
	  { "ap-northeast-2", "asia-northeast3", "korea", "koreacentral", "ap-seoul", "ap-chuncheon", "seoul" } },
	{ "frankfurt",
	  "germany",
	  { "eu-central-1", "europe-west3", "germanywestcentral", "eu-frankfurt", "frankfurt" } },
	{ "germany",
	  "germany",
	  { "eu-central-1", "europe-west3", "germanywestcentral", "eu-frankfurt", "germany", "DE" } },
	{ "europe",
	  NULL,
	  { "eu", "europe", "FIN", "germany", "france", "netherlands", "finland", "sweden", "norway" } },
	{ "virginia", "us-virginia", { "us-east-1", "us-east4", "eastus", "eastus2", "us-ashburn", "virginia" } },
	{ "us", "us-average-2026-forecast", { "us", "usa", "eastus", "westus", "centralus" } },
	/* Azure writes its regions in one word */
	{ "us", "us-average-2026-forecast", { "northcentralus", "southcentralus", "westcentralus" } },
};

static bool is_wordy(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* True where a word may end between these two. A number behind letters is another word: "asia-northeast" is in "asia-northeast3". */
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

const char *jl_place_tariff(const char *place)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (strcasecmp(places[i].name, place) == 0)
			return places[i].tariff;
	return NULL;
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
