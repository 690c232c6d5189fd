/* Inside the room: from predicted rows to the lines of the table. */
#pragma once

#include "belief/validate.h"

enum jl_status jl_validate_widths(struct jl_validation *v, const struct jl_validate_options *options,
				  struct jl_err *err);
enum jl_status jl_validate_score(struct jl_validation *v, struct jl_err *err);
