/* Places: people write "seoul", clouds write ap-northeast-2. */
#pragma once

#include <stdbool.h>

/* True if a cloud's region (may be NULL) lies in the named place: seoul, frankfurt, us ..., or a part of the cloud's name. */
bool jl_place_has(const char *region, const char *wanted);

/* The electricity tariff of a named place, as the tariffs call it; NULL: not known. */
const char *jl_place_tariff(const char *place);

/* True if it has a name here: seoul, 서울, eu. */
bool jl_place_is_known(const char *place);

/* Where to look when nothing is known of the place: what contains it, or lies next to it; NULL: nowhere. */
const char *jl_place_wider(const char *place);

/* True where `text` contains `words` as whole words: "us" is in "us-east-1" and "Oregon, US, NA", not in "jerusalem". */
bool jl_has_words(const char *text, const char *words);
