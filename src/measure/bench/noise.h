/* Disturbances during a measurement: CPU time of other processes, waits for a CPU, steal, falling clocks, throttling. */
#pragma once

#include "comm/comm.h"
#include "record/record.h"

/* What the scheduler counts for one thread: on a CPU, and ready without one. */
struct jl_noise_thread {
	long id;
	double ran_s, waited_s;
};

#define JL_NOISE_THREADS_MAX 512

struct jl_noise_watch {
	double start_s;
	double work_s, steal_s, all_s; /* of all CPUs since boot; NAN: cannot be seen */
	double own_s;                  /* of this process and its threads */
	double n_throttled;            /* events counted by the CPUs */
	double clock_low_Hz, clock_high_Hz;
	struct jl_noise_thread threads[JL_NOISE_THREADS_MAX];
	size_t n_threads;
};

void jl_noise_begin(struct jl_noise_watch *watch);
/* Clocks are looked at now and then. */
void jl_noise_look(struct jl_noise_watch *watch);
/* `ret_noise` without drift, noisy and why. With a communicator the figures are those of all hosts together. */
enum jl_status jl_noise_end(struct jl_noise_watch *watch, struct jl_comm *comm, struct jl_record_noise *ret_noise,
			    struct jl_err *err);

/* Share of `took_s` that our threads waited for a CPU; while one waits, the others wait for it. NAN: unknown, or more threads than CPUs, which
 * then wait for each other. */
double jl_noise_wait_frac(double waited_s, double ran_s, double took_s, double n_cpus);

/* Sum and count of the numbers in the files that a pattern names; NAN: there are none. */
double jl_noise_sum(const char *pattern, double *ret_n);

#define JL_NOISE_WHY_MAX 160
/* Why a measurement is noisy, in English and as a person reads it; false: it is not. */
bool jl_noise_why(char ret_en[JL_NOISE_WHY_MAX], char ret_text[JL_NOISE_WHY_MAX], const struct jl_record_noise *n);
/* Sets `noisy`, and the reason in one line (English, for records) if it is. `ret_why` is empty otherwise. */
void jl_noise_judge(struct jl_record_noise *noise, char ret_why[JL_NOISE_WHY_MAX]);
