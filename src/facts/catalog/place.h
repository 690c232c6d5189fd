/* Where a price is paid: people say "seoul", clouds say ap-northeast-2. */
#pragma once

#include <stdbool.h>

/* Does a cloud's own name for a region (which may be NULL) lie in the place a person named: seoul, korea, us, or a part of the
 * cloud's name? */
bool jl_place_has(const char *region, const char *wanted);

/* Does `text` hold `words` as words: "us" is in "us-east-1" and "Oregon, US, NA", not in "jerusalem"? */
bool jl_has_words(const char *text, const char *words);
