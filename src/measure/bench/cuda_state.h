/* State of the measuring backend for one GPU between prepare and finish. Private to bench/cuda*.c. */
#pragma once

#include "bench/backend.h"
#include "gpu/cublaslt.h"
#include "gpu/cuda.h"
#include "probe/nvml.h"

typedef enum jl_status jl_bench_gpu_open(int index, struct jl_gpu_dev **ret_gpu, struct jl_err *err);

struct jl_bench_state {
	struct jl_bench_task task;
	jl_bench_gpu_open *open;       /* opens a GPU of NVIDIA or AMD */
	struct jl_gpu_dev *gpu, *peer; /* peer: the other GPU of a copy between two, or NULL */
	struct CUevent_st *from, *to;
	int n_each;                  /* runs per sample */
	struct CUgraph_st *recorded; /* graph of these runs if they are short; NULL: launched one by one */
	struct CUgraphExec_st *replay;
	uint64_t buffers[3];
	size_t buffer_B[3];
	uint64_t counter; /* device counter of wrong elements */
	void *host;
	bool host_pinned;

	struct jl_lt *lt;
	struct jl_matmul *plan;
	struct jl_matmul_shape shape;
	struct CUfunc_st *kernel; /* for copy and triad; NULL: the copy engine is faster */
	unsigned n_blocks;

	struct jl_nvml *nvml; /* NULL: not available */
	size_t nvml_index;
	char neighbour[JL_NEIGHBOUR_MAX];
};

#define JL_BENCH_SCALE 3.0F /* triad's s */

enum jl_status jl_bench_cuda_gemm_prepare(struct jl_bench_state *s, struct jl_err *err);
enum jl_status jl_bench_cuda_gemm_run(struct jl_bench_state *s, struct jl_err *err);
enum jl_status jl_bench_cuda_gemm_verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err);

enum jl_status jl_bench_cuda_move_prepare(struct jl_bench_state *s, struct jl_err *err);
enum jl_status jl_bench_cuda_move_run(struct jl_bench_state *s, struct jl_err *err);
enum jl_status jl_bench_cuda_move_verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err);

/* For both. */
enum jl_status jl_bench_cuda_alloc(struct jl_bench_state *s, struct jl_gpu_dev *gpu, int i, size_t size_B,
				   struct jl_err *err);
/* Mean time of one run over `n` runs, s, by GPU events. */
enum jl_status jl_bench_cuda_time(struct jl_bench_state *s,
				  enum jl_status (*run)(struct jl_bench_state *s, struct jl_err *err), int n,
				  double *ret_s, struct jl_err *err);
