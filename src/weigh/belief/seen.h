/* What the rows of a set are measurements of, as catalog data ("seen."; physics/interval.h): ids of their kinds with the number of rows,
 * and how small and large they are. */
#pragma once

#include "belief/set.h"

#define JL_SEEN_A_ROW (JL_N_LABEL + JL_N_EXTENT)

struct jl_seen_list {
	const char **ids; /* ascending, each once */
	size_t n;
	size_t (*at)[JL_SEEN_A_ROW]; /* of each row: places in `ids`; n: none */
};
enum jl_status jl_seen_make(struct jl_seen_list *ret_list, const struct jl_set_rows *rows, struct jl_arena *arena,
			    struct jl_err *err);

/* Those that the rows have whose use[item] is not 0 (NULL: all); ret_params has room for list->n. Returns how many. */
size_t jl_seen_count(const struct jl_seen_list *list, const struct jl_set_rows *rows, const unsigned char *use,
		     struct jl_param_info *ret_params);
