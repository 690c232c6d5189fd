/* Maps our collectives, types and operations to NCCL's. */
#pragma once

#include "comm/comm.h"
#include "gpu/cuda.h"
#include "gpu/nccl.h"

/* Queues `call` on a stream; returns NCCL's result code. */
int jl_nccl_queue(const struct jl_nccl *nccl, const struct jl_coll_call *call, int rank, int n_ranks,
		  struct ncclComm *comm, struct CUstream_st *stream);
/* Waits for the event. A dead rank blocks the others inside NCCL, so this polls and aborts the communicator after JL_COMM_STUCK_S. */
enum jl_status jl_nccl_wait(const struct jl_nccl *nccl, struct ncclComm **comm, const struct jl_gpu_dev *gpu,
			    struct CUevent_st *event, const char *what, struct jl_err *err);
