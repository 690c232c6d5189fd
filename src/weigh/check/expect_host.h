/* What this host should do, before anything was measured on it. */
#pragma once

#include "check/expect.h"
#include "probe/probe.h"

/* Fills the range and where it is from for a figure of the host itself: products and memory of the CPUs, loopback and NICs, processes over
 * shared pages. A bound that is there stays and holds. What it knows nothing of is left alone. */
void jl_check_host(struct jl_device_expect *io_expect, const struct jl_catalog *cat,
		   const struct jl_probe_machine *here, const struct jl_record *record);
