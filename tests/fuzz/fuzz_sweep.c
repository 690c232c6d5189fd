/* Any bytes as what rank 0 tells the others: refused and nothing taken, or a sweep that this host can do. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/sweep.h"

#define FREE_B 1e9

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	double numbers[JL_SWEEP_NUMBERS] = { [JL_SWEEP_SIZES] = 1, [JL_N_SWEEP_NUMBER] = 1024 };
	struct jl_sweep sweep = { .n_sizes = 7777 };
	struct jl_err err = { .en = "" };

	memcpy(numbers, data, size < sizeof(numbers) ? size : sizeof(numbers));
	if (jl_sweep_take(&sweep, numbers, 4, FREE_B, &err)) {
		must(err.en[0] && err.text[0] && sweep.n_sizes == 7777);
		return 0;
	}
	must(sweep.task.type < JL_N_COMM_TYPE && sweep.task.op < JL_N_REDOP);
	must(sweep.task.root >= 0 && sweep.task.root < 4);
	must(sweep.n_sizes >= 1 && sweep.n_sizes <= JL_SWEEP_ROWS_MAX);
	must(sweep.plan.n_iters <= JL_BENCH_SAMPLES_MAX && sweep.plan.n_warmup <= JL_SWEEP_WARMUP_MAX);
	must(sweep.plan.time_s >= 0 && sweep.plan.time_s <= 86400);
	for (size_t i = 0; i < sweep.n_sizes; i++)
		must(sweep.sizes_B[i] >= jl_comm_type_B(sweep.task.type) && (double)sweep.sizes_B[i] <= 0.25 * FREE_B);
	return 0;
}
