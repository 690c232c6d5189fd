/* Training logs of which one line says all of a step: each trainer is a row. Private to src/facts/import. */
#pragma once

#include "import/runlog.h"
#include "import/series.h"

/* False: a line of none of them. */
bool jl_log_step(struct jl_step *ret_step, const struct jl_line *line);
/* A checkpoint, an evaluation or a start from a checkpoint, of any trainer. */
bool jl_log_pause(struct jl_run_pause *ret_pause, const struct jl_line *line);
