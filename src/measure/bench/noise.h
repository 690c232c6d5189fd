/* Disturbances during a measurement: CPU time of other processes, waits for a CPU, steal, falling clocks, throttling. */
#pragma once

#include "bench/quota.h"
#include "comm/comm.h"
#include "record/record.h"

/* Scheduler times of one thread: running, and ready without a CPU. */
struct jl_noise_thread {
	long id;
	double ran_s, waited_s;
};

#define JL_NOISE_THREADS_MAX 512

struct jl_noise_watch {
	double start_s;
	double work_s, steal_s, all_s; /* all CPUs since boot; NAN: unavailable */
	double own_s;                  /* this process with all threads */
	double n_throttled;            /* thermal throttling events of the CPUs */
	double clock_low_Hz, clock_high_Hz;
	struct jl_quota quota;
	struct jl_noise_thread threads[JL_NOISE_THREADS_MAX];
	size_t n_threads;
};

void jl_noise_begin(struct jl_noise_watch *watch);
/* Samples the clocks; call repeatedly. */
void jl_noise_look(struct jl_noise_watch *watch);
/* Fills `ret_noise` except drift, noisy and why. With a communicator the values cover all hosts. */
enum jl_status jl_noise_end(struct jl_noise_watch *watch, struct jl_comm *comm, struct jl_record_noise *ret_noise,
			    struct jl_err *err);

/* Share of `took_s` that our threads waited for a CPU; while one waits, the others wait for it. NAN: unknown, or more threads than CPUs, which
 * compete with each other. */
double jl_noise_wait_frac(double waited_s, double ran_s, double took_s, double n_cpus);

/* Sum and number of the values in files that match the pattern; NAN: no file. */
double jl_noise_sum(const char *pattern, double *ret_n);

#define JL_NOISE_WHY_MAX 160
/* Reason why a measurement is noisy, in English and in the user's language; false: not noisy. */
bool jl_noise_why(char ret_en[JL_NOISE_WHY_MAX], char ret_text[JL_NOISE_WHY_MAX], const struct jl_record_noise *n);
/* Sets `noisy` and, if it is, the reason in one line (English, for records); otherwise `ret_why` is empty. */
void jl_noise_judge(struct jl_record_noise *noise, char ret_why[JL_NOISE_WHY_MAX]);
