/* Maps place names as users write them ("seoul") to cloud regions (ap-northeast-2). */
#pragma once

#include <stdbool.h>

/* True if a cloud's region (may be NULL) is in the named place: seoul, frankfurt, us ..., or part of a region name. */
bool jl_place_has(const char *region, const char *wanted);

/* Name of a place's electricity tariff; NULL: unknown. */
const char *jl_place_tariff(const char *place);

/* True if the name is known: seoul, 서울, eu. */
bool jl_place_is_known(const char *place);

/* Fallback for a place without data: a region that contains it or is nearby; NULL: none. */
const char *jl_place_wider(const char *place);

/* True if `text` contains `words` as whole words: "us" is in "us-east-1" and "Oregon, US, NA", not in "jerusalem". */
bool jl_has_words(const char *text, const char *words);
