/* Checks that hardware exists. A request may name a card with ports it does not have, baseboard GPUs in slots, or more GPUs than any host holds. */
#pragma once

#include "catalog/sysexpr.h"

/* JL_OK, or a one-line error with the reason and the nearest existing system. Catalog systems always pass. */
enum jl_status jl_sys_possible(const struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err);

/* Number of full hosts of the usual size for n accelerators that one host cannot hold. 0: one host holds them, or they do not divide evenly. */
int jl_hosts_of(const struct jl_gpu *gpu, const struct jl_catalog *cat, long n);

/* The same check for one accelerator in a desktop or parts list. */
enum jl_status jl_card_possible(const struct jl_gpu *gpu, const struct jl_catalog *cat, struct jl_err *err);

/* Fits in a slot; baseboard GPUs and superchips come only in whole systems. */
bool jl_gpu_is_card(const struct jl_gpu *gpu);
bool jl_gpu_is_passive(const struct jl_gpu *gpu); /* passively cooled: needs a server's air flow */
