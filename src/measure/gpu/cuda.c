/* Opens the CUDA driver and counts its GPUs. */
#include "gpu/cuda.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dynlib.h"

#define SYMBOL(NAME, TEXT, OLDER, ...) { .name = (TEXT), .offset = offsetof(struct jl_cuda, NAME), .instead = (OLDER) },
static const struct jl_dynlib_symbol symbols[] = { JL_CUDA_FUNCTIONS(SYMBOL) };

#define DRIVER_MAX_MS 60000 /* machines with many GPUs and no persistence mode start slowly */

static const char *const names[] = { "libcuda.so.1", "libcuda.so", NULL };

/* Opened once and kept until the process ends: contexts and libraries depend on the driver. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct jl_cuda functions;
static bool is_open;

static enum jl_status open_locked(struct jl_err *err)
{
	struct jl_dynlib lib = { 0 };
	struct jl_cuda loaded = { 0 };
	enum jl_status status = jl_dynlib_open(&lib, "JEOUL_CUDA", names, symbols, JL_LEN(symbols), &loaded, NULL);
	if (status != JL_OK)
		return jl_fail(err, JL_E_ABSENT, "no NVIDIA driver: %s cannot be opened; install the driver of the GPU",
			       names[0]);
	int n_gpus = 0;
	int code = loaded.Init(0);
	if (code == JL_CU_OK)
		code = loaded.DeviceGetCount(&n_gpus);
	if (code != JL_CU_OK || n_gpus == 0) {
		const char *text = NULL;
		if (code == JL_CU_OK || loaded.GetErrorString(code, &text) != JL_CU_OK || !text)
			text = "no device";
		status = jl_fail(err, JL_E_ABSENT, "the NVIDIA driver finds no usable GPU: %s", text);
		jl_dynlib_close(&lib);
		return status;
	}
	functions = loaded;
	is_open = true;
	return JL_OK;
}

enum jl_status jl_cuda_open(const struct jl_cuda **ret_cuda, struct jl_err *err)
{
	pthread_mutex_lock(&lock);
	enum jl_status status = is_open ? JL_OK : open_locked(err);
	pthread_mutex_unlock(&lock);
	if (status == JL_OK)
		*ret_cuda = &functions;
	return status;
}

int jl_cuda_count(const struct jl_cuda *cuda)
{
	int n = 0;
	return cuda->DeviceGetCount(&n) == JL_CU_OK ? n : 0;
}

int jl_cuda_driver_version(const struct jl_cuda *cuda)
{
	int version = 0;
	return cuda->DriverGetVersion(&version) == JL_CU_OK ? version : 0;
}

enum jl_status jl_cuda_check(const struct jl_cuda *cuda, int code, const char *what, struct jl_err *err)
{
	if (code == JL_CU_OK)
		return JL_OK;
	const char *text = NULL;
	if (cuda->GetErrorString(code, &text) != JL_CU_OK || !text)
		text = "?";
	return jl_fail(err, code == JL_CU_OUT_OF_MEMORY ? JL_E_NOMEM : JL_E_IO, "%s failed: %s (%s error %d)", what,
		       text, cuda->amd ? "HIP" : "CUDA", code);
}

bool jl_gpu_has_kernels(void)
{
	return jl_fatbins[0].name != NULL;
}

/* Result of the child process, sent through a pipe. */
struct answer {
	enum jl_status status;
	int n_gpus;
	struct jl_err err;
};

static void ask_driver(int to)
{
	struct answer answer = { .status = JL_OK };
	answer.status = open_locked(&answer.err);
	answer.n_gpus = answer.status == JL_OK ? jl_cuda_count(&functions) : 0;
	ssize_t n = write(to, &answer, sizeof answer);
	_exit(n == (ssize_t)sizeof answer ? 0 : 1);
}

static struct answer listen_to(pid_t child, int from)
{
	struct answer answer = { 0 };
	struct pollfd poll_fd = { .fd = from, .events = POLLIN };
	ssize_t n = poll(&poll_fd, 1, DRIVER_MAX_MS) == 1 ? read(from, &answer, sizeof answer) : 0;
	if (n == 0)
		kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof answer)
		answer.status = jl_fail(&answer.err, JL_E_ABSENT, "the NVIDIA driver does not answer");
	return answer;
}

/* Tests in a child process: a process that has initialised CUDA cannot fork workers that use it. */
static struct answer present_locked(void)
{
	struct answer answer = { 0 };
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0) {
		answer.status = jl_fail(&answer.err, JL_E_IO, "no pipe: {%s}", strerror(errno));
		return answer;
	}
	pid_t child = fork();
	if (child == 0)
		ask_driver(ends[1]);
	close(ends[1]);
	if (child < 0)
		answer.status = jl_fail(&answer.err, JL_E_IO, "cannot fork: {%s}", strerror(errno));
	else
		answer = listen_to(child, ends[0]);
	close(ends[0]);
	return answer;
}

/* Tests once and caches the result; the caller holds `lock`. */
static const struct answer *known_locked(void)
{
	static struct answer known;
	static bool is_known;
	if (!is_known) {
		known = present_locked();
		is_known = true;
	}
	return &known;
}

enum jl_status jl_gpu_present(struct jl_err *err)
{
	if (!jl_gpu_has_kernels())
		return jl_fail(
			err, JL_E_ABSENT,
			"built without CUDA kernels: nvcc was not there; install the CUDA toolkit and build again");
	pthread_mutex_lock(&lock);
	const struct answer *known = is_open ? NULL : known_locked();
	enum jl_status status = known ? known->status : JL_OK;
	if (status != JL_OK && err)
		*err = known->err;
	pthread_mutex_unlock(&lock);
	return status;
}

int jl_gpu_count(void)
{
	if (!jl_gpu_has_kernels())
		return 0;
	pthread_mutex_lock(&lock);
	int n = is_open ? jl_cuda_count(&functions) : known_locked()->n_gpus;
	pthread_mutex_unlock(&lock);
	return n;
}
