/* What `jeoul validate` prints. */
#pragma once

#include "belief/validate.h"
#include "cli/command.h"

struct jl_validate_show {
	const char *set; /* only this line; NULL: all */
	size_t n_worst;
};

enum jl_status jl_validate_print(struct jl_cli *cli, const struct jl_validation *v, const struct jl_validate_show *show,
				 struct jl_err *err);
enum jl_status jl_validate_json(struct jl_cli *cli, const struct jl_validation *v, const struct jl_validate_show *show,
				struct jl_err *err);

/* What both forms share. */
bool jl_validate_shown(const struct jl_validate_show *show, const struct jl_validate_line *line);
const struct jl_validate_file *jl_validate_file_of(const struct jl_validation *v, const struct jl_validate_line *line,
						   size_t index);

/* Every file of published measurements that is there; with `set` those that are fitted together with it. */
enum jl_status jl_validate_add_shipped(struct jl_cli *cli, struct jl_validation *v, const char *set,
				       struct jl_err *err);
