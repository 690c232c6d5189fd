/* Tables of rates between devices (nvbandwidth): one device whose rates are far below all others'. It knows no model: the devices are compared with each
 * other. */
#pragma once

#include "check/machine_findings.h"
#include "record/record.h"

/* False: none, or the table holds paths of several kinds. The cause names the devices; the slowest one's rate. */
bool jl_check_cells(struct jl_bitext *ret_cause, double *ret_worst_Bps, const struct jl_record *record);
