/* Inside the room: from predicted rows to the lines of the table. */
#ifndef JL_BELIEF_VALIDATE_SCORE_H
#define JL_BELIEF_VALIDATE_SCORE_H

#include "belief/validate.h"

enum jl_status jl_validate_widths(struct jl_validation *v, const struct jl_validate_options *options,
				  struct jl_err *err);
enum jl_status jl_validate_score(struct jl_validation *v, struct jl_err *err);

#endif
