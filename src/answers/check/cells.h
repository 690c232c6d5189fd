/* Tables of rates between devices (nvbandwidth): finds one device far below all others. Uses no model: devices are compared with each other. */
#pragma once

#include "check/machine_findings.h"
#include "record/record.h"

/* False: none found, or the table mixes several kinds of paths. Names the devices in the cause; returns the slowest one's rate. */
bool jl_check_cells(struct jl_bitext *ret_cause, double *ret_worst_Bps, const struct jl_record *record);
