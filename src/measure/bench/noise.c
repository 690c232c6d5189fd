/* Measures disturbances by other processes and by the machine during a benchmark. */
#include "bench/noise.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

#define CPUS          "/sys/devices/system/cpu/cpu[0-9]*/"
#define TICKS_LEAST_S 0.2  /* minimum CPU time of all CPUs needed for a judgement */
#define WAKING_FRAC   0.01 /* share of waiting that frequent wake-ups cause anyway */

static bool read_small(const char *path, char *ret_text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, ret_text, size - 1);

	if (fd >= 0)
		(void)close(fd);
	ret_text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* Reads the first line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks. */
static void read_stat(struct jl_noise_watch *w)
{
	char text[512];
	unsigned long long t[8] = { 0 };
	const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);

	w->work_s = w->steal_s = w->all_s = NAN;
	if (!read_small("/proc/stat", text, sizeof(text)) ||
	    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6],
		   &t[7]) < 7)
		return;
	w->work_s = (double)(t[0] + t[1] + t[2]) * tick_s;
	w->steal_s = (double)t[7] * tick_s;
	w->all_s = (double)(t[0] + t[1] + t[2] + t[3] + t[4] + t[5] + t[6] + t[7]) * tick_s;
}

static double own_cpu_s(void)
{
	struct rusage use;

	if (getrusage(RUSAGE_SELF, &use) != 0)
		return NAN;
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	       1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* Reads this process's threads from /proc/self/task. */
static size_t read_threads(struct jl_noise_thread *ret_threads, size_t max)
{
	DIR *dir = opendir("/proc/self/task");
	size_t n = 0;

	for (struct dirent *entry; dir && n < max && (entry = readdir(dir)) != NULL;) {
		char path[64], text[96];
		double ran_ns, waited_ns;
		const long id = strtol(entry->d_name, NULL, 10);

		(void)snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", id);
		if (id > 0 && read_small(path, text, sizeof(text)) && sscanf(text, "%lf %lf", &ran_ns, &waited_ns) == 2)
			ret_threads[n++] = (struct jl_noise_thread){ id, 1e-9 * ran_ns, 1e-9 * waited_ns };
	}
	if (dir)
		(void)closedir(dir);
	return n;
}

/* A thread's counters when the watch began; 0 for later threads. */
static struct jl_noise_thread before(const struct jl_noise_watch *w, long id)
{
	for (size_t i = 0; i < w->n_threads; i++)
		if (w->threads[i].id == id)
			return w->threads[i];
	return (struct jl_noise_thread){ .id = id };
}

/* CPU time and waiting time of this process's threads since the watch began. */
static void read_waits(const struct jl_noise_watch *w, double took_s, double *ret_ran_s, double *ret_waited_s)
{
	struct jl_noise_thread now[JL_NOISE_THREADS_MAX];
	const size_t n = read_threads(now, JL_NOISE_THREADS_MAX);

	*ret_ran_s = *ret_waited_s = w->n_threads && n ? 0 : NAN;
	for (size_t i = 0; i < n; i++) {
		const struct jl_noise_thread was = before(w, now[i].id);
		const double waited_s = now[i].waited_s - was.waited_s;

		*ret_ran_s += now[i].ran_s - was.ran_s;
		*ret_waited_s += waited_s > WAKING_FRAC * took_s ? waited_s : 0;
	}
}

double jl_noise_sum(const char *pattern, double *ret_n)
{
	glob_t found;
	double sum = NAN, n = 0, value;

	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			FILE *file = fopen(found.gl_pathv[i], "re");

			if (file && fscanf(file, "%lf", &value) == 1) {
				sum = n > 0 ? sum + value : value;
				n++;
			}
			if (file)
				(void)fclose(file);
		}
		globfree(&found);
	}
	*ret_n = n;
	return sum;
}

void jl_noise_look(struct jl_noise_watch *w)
{
	double n, clock_Hz = jl_noise_sum(CPUS "cpufreq/scaling_cur_freq", &n) * 1e3;

	if (isnan(clock_Hz))
		return;
	clock_Hz /= n;
	w->clock_low_Hz = isnan(w->clock_low_Hz) ? clock_Hz : fmin(w->clock_low_Hz, clock_Hz);
	w->clock_high_Hz = isnan(w->clock_high_Hz) ? clock_Hz : fmax(w->clock_high_Hz, clock_Hz);
}

void jl_noise_begin(struct jl_noise_watch *w)
{
	double n;

	*w = (struct jl_noise_watch){ .start_s = jl_clock_s(), .clock_low_Hz = NAN, .clock_high_Hz = NAN };
	read_stat(w);
	w->own_s = own_cpu_s();
	w->n_threads = read_threads(w->threads, JL_NOISE_THREADS_MAX);
	w->n_throttled = jl_noise_sum(CPUS "thermal_throttle/core_throttle_count", &n);
	jl_quota_find(&w->quota, "/sys/fs/cgroup", "/proc/self/cgroup");
}

/* The kernel counts in ticks of 10 ms. After a short measurement this watches a little longer, so that a busy process is noticed. */
static void look_on(const struct jl_noise_watch *w, struct jl_noise_watch *ret_now)
{
	read_stat(ret_now);
	for (int i = 0; i < 12 && ret_now->all_s - w->all_s <= TICKS_LEAST_S; i++) {
		const struct timespec nap = { .tv_nsec = 20000000 };

		(void)nanosleep(&nap, NULL);
		read_stat(ret_now);
	}
}

/* Counts the CPUs that the ranks may use, over all hosts. Bound ranks have separate CPUs; CPUs shared by all ranks of a host count once. */
static enum jl_status count_cpus(double *ret_n, struct jl_comm *comm, struct jl_err *err)
{
	cpu_set_t set;
	double own, which = 0, extreme[2], n[2];

	CPU_ZERO(&set);
	(void)sched_getaffinity(0, sizeof(set), &set);
	own = fmax(1, CPU_COUNT(&set));
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		which += CPU_ISSET(i, &set) ? (double)((i + 1) * (i + 1)) : 0;
	extreme[0] = which; /* equal sets give equal numbers */
	extreme[1] = -which;
	n[0] = own;
	n[1] = !comm || comm->local_rank == 0 ? own : 0;
	JL_TRY(jl_comm_agree(comm, extreme, 2, JL_RED_MAX, err));
	JL_TRY(jl_comm_agree(comm, n, 2, JL_RED_SUM, err));
	*ret_n = extreme[0] == -extreme[1] ? n[1] : n[0];
	return JL_OK;
}

double jl_noise_wait_frac(double waited_s, double ran_s, double took_s, double n_cpus)
{
	return ran_s + waited_s <= (n_cpus + 0.5) * took_s ? fmin(1, waited_s / took_s) : NAN;
}

enum jl_status jl_noise_end(struct jl_noise_watch *w, struct jl_comm *comm, struct jl_record_noise *ret_noise,
			    struct jl_err *err)
{
	struct jl_noise_watch now = { .start_s = 0 };
	const bool speaks = !comm || comm->local_rank == 0; /* one rank per host reports */
	const double took_s = jl_clock_s() - w->start_s;
	const double stopped_s = jl_quota_stopped_s(&w->quota), n_online = (double)sysconf(_SC_NPROCESSORS_ONLN);
	double n, n_cpus, all[8];

	read_waits(w, took_s, &all[6], &all[7]); /* before watching longer, which is not part of the measurement */
	look_on(w, &now);
	all[0] = speaks ? now.work_s - w->work_s : 0;
	all[1] = speaks ? now.steal_s - w->steal_s : 0;
	all[2] = speaks ? now.all_s - w->all_s : 0;
	all[3] = own_cpu_s() - w->own_s;
	all[4] = speaks && jl_noise_sum(CPUS "thermal_throttle/core_throttle_count", &n) > w->n_throttled ? 1 : 0;
	all[5] = speaks && w->clock_low_Hz < JL_NOISE_CLOCK_FRAC * w->clock_high_Hz ? 1 : 0;
	JL_TRY(jl_comm_agree(comm, all, 8, JL_RED_SUM, err));
	JL_TRY(count_cpus(&n_cpus, comm, err));
	*ret_noise = jl_record_noise_unknown();
	ret_noise->wait_frac = jl_noise_wait_frac(all[7], all[6], took_s, n_cpus);
	ret_noise->clock_frac = w->clock_low_Hz / w->clock_high_Hz;
	ret_noise->thermal = all[4] > 0;
	if (w->quota.cpus < n_online) { /* of this host: the others say so of theirs */
		ret_noise->quota_cpus = w->quota.cpus;
		ret_noise->n_cpus = n_online;
		ret_noise->throttled_frac = fmin(1, fmax(0, stopped_s / (took_s * n_online)));
	}
	if (all[5] > 0 && !(ret_noise->clock_frac < JL_NOISE_CLOCK_FRAC))
		ret_noise->clock_frac = JL_NOISE_CLOCK_FRAC; /* the low clock was on another host */
	if (all[2] > TICKS_LEAST_S) {
		ret_noise->cpu_other_frac = fmin(1, fmax(0, (all[0] - all[3]) / all[2]));
		ret_noise->steal_frac = fmin(1, fmax(0, all[1] / all[2]));
	}
	return JL_OK;
}

bool jl_noise_why(char ret_en[JL_NOISE_WHY_MAX], char ret_text[JL_NOISE_WHY_MAX], const struct jl_record_noise *n)
{
	const char *plain = NULL;

	ret_en[0] = ret_text[0] = '\0';
	if (n->throttled_frac > JL_NOISE_STOPPED_FRAC)
		jl_msg_print(ret_en, ret_text, JL_NOISE_WHY_MAX,
			     JL_N("CPU quota of %.3g of %.0f CPUs: throttled %.0f %% of the CPU time"), n->quota_cpus,
			     n->n_cpus, 100 * n->throttled_frac);
	else if (n->cpu_other_frac > JL_NOISE_CPU_OTHER_FRAC)
		jl_msg_print(ret_en, ret_text, JL_NOISE_WHY_MAX, JL_N("other processes took %.0f %% of the CPU time"),
			     100 * n->cpu_other_frac);
	else if (n->wait_frac > JL_NOISE_WAIT_FRAC)
		jl_msg_print(ret_en, ret_text, JL_NOISE_WHY_MAX,
			     JL_N("its threads waited for a CPU %.0f %% of the time"), 100 * n->wait_frac);
	else if (n->steal_frac > JL_NOISE_STEAL_FRAC)
		jl_msg_print(ret_en, ret_text, JL_NOISE_WHY_MAX, JL_N("the hypervisor took %.0f %% of the CPU time"),
			     100 * n->steal_frac);
	else if (n->thermal)
		plain = JL_N("clocks were lowered because of heat");
	else if (n->power)
		plain = JL_N("clocks were lowered because of the power limit");
	else if (n->clock_frac <= JL_NOISE_CLOCK_FRAC)
		jl_msg_print(ret_en, ret_text, JL_NOISE_WHY_MAX, JL_N("the clock fell to %.0f %% of what it was"),
			     100 * n->clock_frac);
	else if (fabs(n->drift_frac) > JL_NOISE_DRIFT_FRAC)
		jl_msg_print(ret_en, ret_text, JL_NOISE_WHY_MAX, JL_N("the times drifted by %+.0f %% while it ran"),
			     100 * n->drift_frac);
	if (plain)
		jl_msg_print(ret_en, ret_text, JL_NOISE_WHY_MAX, "{%s}", plain);
	return ret_en[0] != '\0';
}

void jl_noise_judge(struct jl_record_noise *noise, char ret_why[JL_NOISE_WHY_MAX])
{
	char text[JL_NOISE_WHY_MAX];

	noise->noisy = jl_noise_why(ret_why, text, noise);
}
