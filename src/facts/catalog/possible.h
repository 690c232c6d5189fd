/* Can such hardware be had? What a person writes may name a card with ports that it does not have, boards in slots, or more of them than
 * any host holds. */
#pragma once

#include "catalog/sysexpr.h"

/* JL_OK, or one line that says why not and what the nearest is that exists. Catalog systems exist. */
enum jl_status jl_sys_possible(const struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err);

/* The same of one accelerator in a desktop or a parts list. */
enum jl_status jl_card_possible(const struct jl_gpu *gpu, const struct jl_catalog *cat, struct jl_err *err);

/* Goes into a slot; boards and superchips come only in whole systems. */
bool jl_gpu_is_card(const struct jl_gpu *gpu);
bool jl_gpu_is_passive(const struct jl_gpu *gpu); /* a card that needs the air flow of a server */
