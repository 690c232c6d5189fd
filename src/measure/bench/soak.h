/* Runs one load for a long time and checks whether rate, clocks and results stay as they were. */
#pragma once

#include "bench/backend.h"
#include "bench/core.h"

#define JL_SOAK_WINDOWS_MAX 600

struct jl_soak_window {
	double rate;                             /* the task's work per second */
	double clock_Hz, temperature_C, power_W; /* NAN: unavailable */
	int throttle; /* enum jl_throttle of a GPU; JL_THROTTLE_HW_THERMAL of a CPU that counted throttling events */
	bool noisy;
};

struct jl_soak {
	struct jl_soak_window windows[JL_SOAK_WINDOWS_MAX];
	size_t n, n_noisy;
	double window_s;
	double rate[JL_SOAK_WINDOWS_MAX]; /* quiet windows in order */
	struct jl_stats stats;            /* statistics of rate */
	/* last fifth over the second fifth of the quiet windows (the first warms up), minus 1; NAN: too few */
	double drift_frac;
	double n_checks, n_wrong;
	double n_corrected, n_uncorrected; /* memory errors counted meanwhile; NAN: no counter */
	double clock_low_Hz, clock_high_Hz, temperature_C, power_W;
	double hot_frac, capped_frac; /* share of windows throttled by heat; by the power limit */
	bool stopped;
};

enum jl_status jl_soak_run(struct jl_soak *ret_soak, const struct jl_bench_backend *backend,
			   const struct jl_bench_task *task, const struct jl_bench_plan *plan, struct jl_err *err);
/* True if the rate fell, results were wrong or the device was too hot. */
#define JL_SOAK_DRIFT_FRAC 0.05
bool jl_soak_is_bad(const struct jl_soak *soak);
