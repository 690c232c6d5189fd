/* What NCCL calls our types and reductions. */
#pragma once

#include "comm/comm.h"

extern const int jl_nccl_types[JL_N_COMM_TYPE];
extern const int jl_nccl_ops[JL_N_REDOP];
