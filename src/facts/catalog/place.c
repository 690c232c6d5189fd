/* Table of places: names, tariff, larger region, and cloud regions. */
#include "catalog/place.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define NAMES_MAX 5
#define PARTS_MAX 12

/* Spellings of a place, its electricity tariff, the next larger region, and parts of the clouds' region names. Azure writes its regions in one
 * word. */
static const struct place {
	const char *names[NAMES_MAX];
	const char *tariff, *wider;
	const char *parts[PARTS_MAX];
} places[] = {
	{ { "seoul", "서울" },
	  "kepco-general",
	  "korea",
	  { "ap-northeast-2", "asia-northeast3", "koreacentral", "ap-seoul", "seoul", "korea" } },
	{ { "korea", "kr", "한국", "대한민국" },
	  "kepco-general",
	  "us",
	  { "ap-northeast-2", "asia-northeast3", "korea", "koreacentral", "ap-seoul", "ap-chuncheon", "seoul" } },
	{ { "tokyo", "도쿄" },
	  NULL,
	  "japan",
	  { "ap-northeast-1", "asia-northeast1", "japaneast", "ap-tokyo", "tokyo" } },
	{ { "japan", "jp", "일본" },
	  NULL,
	  "korea",
	  { "ap-northeast-1", "ap-northeast-3", "asia-northeast1", "asia-northeast2", "japaneast", "japanwest",
	    "ap-tokyo", "ap-osaka", "japan" } },
	{ { "frankfurt", "프랑크푸르트" },
	  "germany",
	  "germany",
	  { "eu-central-1", "europe-west3", "germanywestcentral", "eu-frankfurt", "frankfurt" } },
	{ { "germany", "de", "독일" },
	  "germany",
	  "europe",
	  { "eu-central-1", "europe-west3", "germanywestcentral", "eu-frankfurt", "germany", "DE" } },
	{ { "finland", "fi", "핀란드" }, NULL, "europe", { "eu-north1", "europe-north1", "FIN", "finland", "FI" } },
	{ { "europe", "eu", "유럽" },
	  NULL,
	  "us",
	  { "eu", "europe", "westeurope", "northeurope", "germanywestcentral", "FIN", "germany", "france",
	    "netherlands", "finland", "sweden", "norway" } },
	{ { "virginia", "버지니아" },
	  "us-virginia",
	  "us",
	  { "us-east-1", "us-east4", "eastus", "eastus2", "us-ashburn", "virginia" } },
	{ { "us", "usa", "united states", "미국" },
	  "us-average-2026-forecast",
	  NULL,
	  { "us", "usa", "eastus", "westus", "centralus", "northcentralus", "southcentralus", "westcentralus" } },
	{ { "canada", "캐나다" }, NULL, "us", { "canada", "ca-central-1", "canadacentral", "canadaeast" } },
};

static const struct place *place_called(const char *name)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		for (size_t k = 0; k < NAMES_MAX && places[i].names[k]; k++)
			if (strcasecmp(places[i].names[k], name) == 0)
				return &places[i];
	return NULL;
}

static bool is_wordy(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* True if a word boundary is possible between the two characters. Digits after letters start a word: "asia-northeast" is in "asia-northeast3". */
static bool is_border(char last, char next)
{
	return !is_wordy(last) || !is_wordy(next) || (isdigit((unsigned char)next) && !isdigit((unsigned char)last));
}

bool jl_has_words(const char *text, const char *words)
{
	size_t len = strlen(words);

	for (const char *at = text; (at = strcasestr(at, words)); at++)
		if ((at == text || is_border(at[-1], *words)) && is_border(words[len - 1], at[len]))
			return true;
	return false;
}

const char *jl_place_tariff(const char *name)
{
	const struct place *place = place_called(name);

	return place ? place->tariff : NULL;
}

bool jl_place_is_known(const char *name)
{
	return place_called(name) != NULL;
}

const char *jl_place_wider(const char *name)
{
	const struct place *place = place_called(name);

	return place ? place->wider : NULL;
}

bool jl_place_has(const char *region, const char *wanted)
{
	const struct place *place = region ? place_called(wanted) : NULL;

	for (size_t i = 0; place && i < PARTS_MAX && place->parts[i]; i++)
		if (jl_has_words(region, place->parts[i]))
			return true;
	return region && !place && jl_has_words(region, wanted);
}
