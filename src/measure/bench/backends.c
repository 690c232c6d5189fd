/* The table of measuring backends. */
#include "bench/backend.h"

const struct jl_bench_backend *const jl_bench_backends[] = {
	&jl_bench_cpu,  &jl_bench_disk, &jl_bench_shm,  &jl_bench_tcp,  &jl_bench_mpi, &jl_bench_cuda,
	&jl_bench_nccl, &jl_bench_hip,  &jl_bench_rccl, &jl_bench_fake, NULL,
};
