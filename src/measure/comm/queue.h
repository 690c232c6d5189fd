/* Runs started calls beside the caller: one thread of the communicator executes them in order. */
#pragma once

#include "comm/comm.h"

enum jl_status jl_queue_create(struct jl_comm_queue **ret_queue, struct jl_comm *comm, struct jl_err *err);
void jl_queue_destroy(struct jl_comm_queue *queue); /* runs the remaining calls first; accepts NULL */
enum jl_status jl_queue_start(struct jl_comm_queue *queue, const struct jl_coll_call *call,
			      struct jl_comm_request **ret_request, struct jl_err *err);
enum jl_status jl_queue_wait(struct jl_comm_queue *queue, struct jl_comm_request *request, struct jl_err *err);
