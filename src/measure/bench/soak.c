/* Runs one load in windows and judges drift, heat and errors. */
#include "bench/soak.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/cuda.h"
#include "probe/nvml.h"

#define WINDOW_S    1.0
#define CHECK_EVERY 30 /* windows between two checks of the result */
#define HEAT        (JL_THROTTLE_SW_THERMAL | JL_THROTTLE_HW_THERMAL | JL_THROTTLE_HW_SLOWDOWN)
#define POWER       (JL_THROTTLE_POWER_CAP | JL_THROTTLE_POWER_BRAKE)

struct sensors {
	struct jl_nvml *nvml; /* NULL: the load runs on the CPU */
	size_t gpu;
	double n_events; /* thermal events of the CPUs so far */
};

static void memory_errors(const struct sensors *s, double *ret_corrected, double *ret_uncorrected)
{
	double n;

	if (s->nvml) {
		jl_nvml_ecc_errors(s->nvml, s->gpu, ret_corrected, ret_uncorrected);
		return;
	}
	*ret_corrected = jl_noise_sum("/sys/devices/system/edac/mc/mc*/ce_count", &n);
	*ret_uncorrected = jl_noise_sum("/sys/devices/system/edac/mc/mc*/ue_count", &n);
}

static void look(struct sensors *s, struct jl_soak_window *w)
{
	struct jl_nvml_gpu now;
	double n, events;

	w->clock_Hz = w->temperature_C = w->power_W = NAN;
	if (s->nvml) {
		jl_nvml_watch(s->nvml, s->gpu, &now);
		*w = (struct jl_soak_window){ .clock_Hz = now.sm_Hz,
					      .temperature_C = now.temperature_C,
					      .power_W = now.power_W,
					      .throttle = now.throttle > 0 ? now.throttle : 0 };
		return;
	}
	w->clock_Hz = 1e3 * jl_noise_sum("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq", &n) / n;
	w->temperature_C = 1e-3 * jl_noise_sum("/sys/class/thermal/thermal_zone0/temp", &n);
	events = jl_noise_sum("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count", &n);
	w->throttle = events > s->n_events ? JL_THROTTLE_HW_THERMAL : 0;
	s->n_events = events;
}

static void open_sensors(struct sensors *s, const struct jl_bench_task *task, const struct jl_bench_backend *backend)
{
	const struct jl_cuda *cuda;
	char bus[32] = "";
	int device;
	double n;

	*s = (struct sensors){ .n_events = jl_noise_sum(
				       "/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count", &n) };
	if (strcmp(backend->name, "cuda") != 0 || jl_cuda_open(&cuda, NULL) || cuda->DeviceGet(&device, task->device) ||
	    cuda->DeviceGetPCIBusId(bus, (int)sizeof(bus), device))
		return;
	s->nvml = jl_nvml_open_at(bus, &s->gpu);
}

/* Runs the load for one window. */
static enum jl_status work(const struct jl_bench_backend *backend, struct jl_bench_state *state, double work,
			   double window_s, struct jl_soak_window *ret_window, struct jl_err *err)
{
	const double start_s = jl_clock_s();
	struct jl_noise_watch watch;
	struct jl_record_noise noise;
	char why[JL_NOISE_WHY_MAX];
	double n = 0, sum_s = 0, once_s;
	enum jl_status status = JL_OK;

	jl_noise_begin(&watch);
	while (!status && (n == 0 || jl_clock_s() - start_s < window_s)) {
		status = backend->run_once(state, &once_s, err);
		sum_s += once_s;
		n++;
	}
	JL_THEN(status, jl_noise_end(&watch, NULL, &noise, err));
	if (status)
		return status;
	noise.thermal = false; /* heat is a result here, not a disturbance */
	jl_noise_judge(&noise, why);
	ret_window->noisy = noise.noisy && !backend->simulated;
	ret_window->rate = n * work / sum_s;
	return JL_OK;
}

static double median_between(const struct jl_soak *s, size_t n, double from, double to)
{
	const size_t a = (size_t)(from * (double)n), b = (size_t)(to * (double)n);
	double sorted[JL_SOAK_WINDOWS_MAX];

	memcpy(sorted, s->rate + a, (b - a) * sizeof(*sorted));
	return jl_stats_median(sorted, b - a);
}

static void summarise(struct jl_soak *s)
{
	double scratch[JL_SOAK_WINDOWS_MAX];
	size_t n = 0, n_hot = 0, n_capped = 0;

	s->clock_low_Hz = s->clock_high_Hz = s->temperature_C = s->power_W = s->drift_frac = NAN;
	for (size_t i = 0; i < s->n; i++) {
		const struct jl_soak_window *w = &s->windows[i];

		if (!w->noisy)
			s->rate[n++] = w->rate;
		s->clock_low_Hz = fmin(s->clock_low_Hz, w->clock_Hz); /* fmin ignores NAN */
		s->clock_high_Hz = fmax(s->clock_high_Hz, w->clock_Hz);
		s->temperature_C = fmax(s->temperature_C, w->temperature_C);
		s->power_W = fmax(s->power_W, w->power_W);
		n_hot += (w->throttle & HEAT) != 0;
		n_capped += (w->throttle & POWER) != 0;
	}
	s->n_noisy = s->n - n;
	/* all windows are noisy: use them, without a verdict */
	for (size_t i = 0; s->n_noisy == s->n && i < s->n; i++)
		s->rate[n++] = s->windows[i].rate;
	s->hot_frac = (double)n_hot / (double)s->n;
	s->capped_frac = (double)n_capped / (double)s->n;
	jl_stats_of(&s->stats, s->rate, n, scratch);
	if (n >= 10 && s->n_noisy < s->n)
		s->drift_frac = median_between(s, n, 0.8, 1) / median_between(s, n, 0.2, 0.4) - 1;
}

enum jl_status jl_soak_run(struct jl_soak *ret_soak, const struct jl_bench_backend *backend,
			   const struct jl_bench_task *task, const struct jl_bench_plan *plan, struct jl_err *err)
{
	struct jl_soak *s = ret_soak;
	struct jl_bench_state *state = NULL;
	struct sensors sensors;
	const double start_s = jl_clock_s(), amount = jl_bench_work(task);
	double corrected, uncorrected;
	size_t n_wrong;
	enum jl_status status = JL_OK;

	JL_TRY(jl_bench_can(backend, task, err));
	JL_TRY(backend->prepare(task, &state, err));
	*s = (struct jl_soak){ .window_s = fmax(fmin(WINDOW_S, plan->time_s / 20),
						plan->time_s / JL_SOAK_WINDOWS_MAX) };
	open_sensors(&sensors, task, backend);
	memory_errors(&sensors, &corrected, &uncorrected);
	while (!status && !s->stopped && s->n < JL_SOAK_WINDOWS_MAX &&
	       (s->n < 2 || jl_clock_s() - start_s < plan->time_s)) {
		struct jl_soak_window *w = &s->windows[s->n], seen = { 0 };

		status = work(backend, state, amount, s->window_s, w, err);
		look(&sensors, &seen);
		seen.rate = w->rate, seen.noisy = w->noisy;
		*w = seen;
		s->n += !status;
		s->stopped = plan->stop && plan->stop(plan->ctx);
		if (!status && backend->verify && (s->n % CHECK_EVERY == 1 || s->stopped)) {
			status = backend->verify(state, &n_wrong, err);
			s->n_wrong += (double)n_wrong;
			s->n_checks++;
		}
		if (plan->progress)
			plan->progress(plan->ctx, fmin(1, (jl_clock_s() - start_s) / plan->time_s));
	}
	memory_errors(&sensors, &s->n_corrected, &s->n_uncorrected);
	s->n_corrected -= corrected;
	s->n_uncorrected -= uncorrected;
	jl_nvml_close(sensors.nvml);
	backend->finish(state);
	if (!status)
		summarise(s);
	return status;
}

bool jl_soak_is_bad(const struct jl_soak *s)
{
	return s->n_wrong > 0 || s->n_uncorrected > 0 || s->hot_frac > 0 || s->drift_frac < -JL_SOAK_DRIFT_FRAC;
}
