/* NCCL opened at run time: collectives between GPUs of one or several processes. Numbers are those of its ABI. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "gpu/cuda.h"

struct ncclComm;

#define JL_NCCL_ID_B        128
#define JL_NCCL_OK          0
#define JL_NCCL_IN_PROGRESS 7

struct jl_nccl_id {
	char bytes[JL_NCCL_ID_B];
};

enum jl_nccl_type {
	JL_NCCL_INT8,
	JL_NCCL_UINT8,
	JL_NCCL_INT32,
	JL_NCCL_UINT32,
	JL_NCCL_INT64,
	JL_NCCL_UINT64,
	JL_NCCL_HALF,
	JL_NCCL_FLOAT,
	JL_NCCL_DOUBLE,
	JL_NCCL_BF16
};
enum jl_nccl_op { JL_NCCL_SUM, JL_NCCL_PROD, JL_NCCL_MAX, JL_NCCL_MIN, JL_NCCL_AVG };

/* One member per function, named as in NCCL without its prefix: return type, arguments. */
/* clang-format off */
#define JL_NCCL_FUNCTIONS(X) \
	X(int, GetVersion, int *version) \
	X(int, GetUniqueId, struct jl_nccl_id *id) \
	X(const char *, GetErrorString, int code) \
	X(int, CommInitAll, struct ncclComm **comms, int n, const int *devices) \
	X(int, CommInitRank, struct ncclComm **comm, int n_ranks, struct jl_nccl_id id, int rank) \
	X(int, CommDestroy, struct ncclComm *comm) \
	X(int, CommAbort, struct ncclComm *comm) \
	X(int, CommGetAsyncError, struct ncclComm *comm, int *code) \
	X(int, GroupStart, void) \
	X(int, GroupEnd, void) \
	X(int, AllReduce, const void *send, void *recv, size_t count, int type, int op, struct ncclComm *comm, struct CUstream_st *stream) \
	X(int, AllGather, const void *send, void *recv, size_t count, int type, struct ncclComm *comm, struct CUstream_st *stream) \
	X(int, ReduceScatter, const void *send, void *recv, size_t count, int type, int op, struct ncclComm *comm, struct CUstream_st *stream) \
	X(int, Broadcast, const void *send, void *recv, size_t count, int type, int root, struct ncclComm *comm, struct CUstream_st *stream) \
	X(int, Reduce, const void *send, void *recv, size_t count, int type, int op, int root, struct ncclComm *comm, struct CUstream_st *stream) \
	X(int, Send, const void *send, size_t count, int type, int peer, struct ncclComm *comm, struct CUstream_st *stream) \
	X(int, Recv, void *recv, size_t count, int type, int peer, struct ncclComm *comm, struct CUstream_st *stream)
/* clang-format on */
#define JL_NCCL_MEMBER(RETURNS, NAME, ...) RETURNS (*NAME)(__VA_ARGS__);
struct jl_nccl {
	JL_NCCL_FUNCTIONS(JL_NCCL_MEMBER)
};

/* Opens libnccl.so.2 (or the library named by JEOUL_NCCL) once. */
enum jl_status jl_nccl_open(const struct jl_nccl **ret_nccl, struct jl_err *err);
/* AMD's library with the same functions: librccl.so.1, or the one named by JEOUL_RCCL. */
enum jl_status jl_rccl_open(const struct jl_nccl **ret_nccl, struct jl_err *err);
enum jl_status jl_nccl_check(const struct jl_nccl *nccl, int code, const char *what, struct jl_err *err);
