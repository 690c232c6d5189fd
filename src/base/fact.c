/* Names and marks of the origins of facts. */
#include "base/fact.h"

#include <math.h>
#include <stddef.h>

static const struct {
	const char *name, *mark;
} origins[] = {
	[JL_ORIGIN_NONE] = { "unknown", "?" }, [JL_MEASURED] = { "measured", "●" },
	[JL_PUBLISHED] = { "published", "◆" }, [JL_LISTED] = { "listed", "◇" },
	[JL_ESTIMATED] = { "estimated", "○" },
};

static size_t row(enum jl_origin origin)
{
	return (size_t)origin < sizeof(origins) / sizeof(origins[0]) ? (size_t)origin : JL_ORIGIN_NONE;
}

bool jl_fact_known(const struct jl_fact *fact)
{
	return !isnan(fact->value);
}

const char *jl_origin_name(enum jl_origin origin)
{
	return origins[row(origin)].name;
}

const char *jl_origin_mark(enum jl_origin origin)
{
	return origins[row(origin)].mark;
}
