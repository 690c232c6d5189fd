#include "train/engine.h"

const char *const jl_train_precision_names[JL_N_TRAIN_PRECISION + 1] = { "fp32", "tf32", "bf16", "fp8", NULL };

const struct jl_engine_kernels *const jl_engines[] = { &jl_engine_cuda, &jl_engine_cpu, NULL };
