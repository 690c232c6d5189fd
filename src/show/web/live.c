/* Current state of the machine: GPUs by NVML, load and memory by /proc. Read at most twice a second, shared by all clients. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/meminfo.h"
#include "probe/nvml.h"
#include "web/inside.h"

#define FRESH_S   0.5
#define STATE_MAX ((size_t)256 << 10)

static struct {
	pthread_mutex_t lock;
	struct jl_nvml *nvml;
	bool tried;
	double read_s;
	struct jl_buf text;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .read_s = -1, .text = { .limit_B = STATE_MAX } };

static void read_state(void)
{
	struct jl_nvml_snapshot snapshot = { 0 };
	struct jl_arena arena;
	struct jl_json json;
	double load[1] = { NAN };

	if (!state.tried)
		(void)jl_nvml_open(&state.nvml, NULL);
	state.tried = true;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_buf_reset(&state.text);
	jl_json_init(&json, &state.text, false);
	jl_json_pack(&json, "{load?f mem_available_B:f mem_total_B:f gpus:[", getloadavg(load, 1) == 1 ? load[0] : NAN,
		     jl_mem_available_B(), jl_mem_proc_B("/proc/meminfo", "MemTotal"));
	if (!state.nvml || jl_nvml_read(state.nvml, &arena, &snapshot, NULL) != JL_OK)
		snapshot.n_gpus = 0;
	for (const struct jl_nvml_gpu *gpu = snapshot.gpus; gpu < snapshot.gpus + snapshot.n_gpus; gpu++)
		jl_json_pack(&json,
			     "{name:s bus:s busy_frac:f mem_B:f mem_used_B:f power_W:f limit_W:f temperature_C:f "
			     "sm_Hz:f sm_max_Hz:f throttle:i}",
			     gpu->name, gpu->bus, gpu->busy_frac, gpu->mem_B, gpu->mem_used_B, gpu->power_W,
			     gpu->limit_W, gpu->temperature_C, gpu->sm_Hz, gpu->sm_max_Hz, gpu->throttle);
	jl_json_pack(&json, "]}");
	jl_json_finish(&json);
	jl_arena_release(&arena);
}

void jl_web_live(struct jl_web_request *r, struct jl_buf *out)
{
	(void)r;
	jl_buf_puts(out, "retry: 1000\nevent: state\ndata: ");
	pthread_mutex_lock(&state.lock);
	if (!(jl_clock_s() - state.read_s < FRESH_S) || state.read_s < 0) {
		read_state();
		state.read_s = jl_clock_s();
	}
	jl_buf_add(out, jl_buf_text(&state.text), state.text.len);
	pthread_mutex_unlock(&state.lock);
	jl_buf_puts(out, "\n\n");
}

void jl_web_live_close(void)
{
	pthread_mutex_lock(&state.lock);
	jl_nvml_close(state.nvml);
	jl_buf_release(&state.text);
	state.nvml = NULL;
	state.tried = false;
	state.read_s = -1;
	pthread_mutex_unlock(&state.lock);
}
