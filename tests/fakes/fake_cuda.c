/* A stand-in for libcuda.so.1: memory is the host's, streams run at once, and the kernels of the measuring backends are
 * done here. Kernels of the training step do nothing: what is tested is all that stands around them.
 *
 * FAKE_CUDA_GPUS: how many (2). FAKE_CUDA_MEM_B: memory of each (1 GiB). FAKE_CUDA_FAIL_AT: the n-th call from then on
 * that can fail does. fake_cuda_held() tells what is not yet given back. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fake_numbers.h"

#define API __attribute__((visibility("default")))
#define OK  0

enum { FAILED = 719, NO_MEMORY = 2, BAD_VALUE = 1, NOT_FOUND = 500 };
enum { N_GPUS_MAX = 8, N_BLOCKS_MAX = 4096, N_FUNCTIONS_MAX = 256 };

struct block {
	void *memory;
	size_t size_B;
	int gpu; /* -1: of the host */
};

struct event {
	double s;
	bool recorded;
};

static struct block blocks[N_BLOCKS_MAX];
static size_t used_B[N_GPUS_MAX];
static int current, n_calls, n_things; /* things: streams, events, graphs, modules */
static bool capturing;
static char functions[N_FUNCTIONS_MAX][64];
static int n_functions;

static long from_env(const char *name, long otherwise)
{
	const char *text = getenv(name);
	return text && *text ? atol(text) : otherwise;
}

static int n_gpus(void)
{
	long n = from_env("FAKE_CUDA_GPUS", 2);
	return n > N_GPUS_MAX ? N_GPUS_MAX : (int)n;
}

static bool fails(void)
{
	long at = from_env("FAKE_CUDA_FAIL_AT", 0);
	return ++n_calls == at;
}

#define MAY_FAIL()                                                                                                     \
	do {                                                                                                           \
		if (fails())                                                                                           \
			return FAILED;                                                                                 \
	} while (0)

/* A new count, for FAKE_CUDA_FAIL_AT. Returns how many calls there were. */
API int fake_cuda_recount(void);
int fake_cuda_recount(void)
{
	int n = n_calls;
	n_calls = 0;
	return n;
}

API size_t fake_cuda_held(void);
size_t fake_cuda_held(void)
{
	size_t n = (size_t)n_things;
	for (int i = 0; i < N_BLOCKS_MAX; i++)
		n += blocks[i].memory != NULL;
	return n;
}

#define FN(name, ...)                                                                                                  \
	API int name(__VA_ARGS__);                                                                                     \
	int name(__VA_ARGS__)

FN(cuInit, unsigned flags)
{
	(void)flags;
	return n_gpus() ? OK : 100;
}
FN(cuDriverGetVersion, int *version)
{
	*version = 13000;
	return OK;
}
FN(cuGetErrorString, int error, const char **text)
{
	*text = error == NO_MEMORY ? "out of memory" : error == FAILED ? "unspecified launch failure" : "an error";
	return OK;
}
FN(cuDeviceGetCount, int *count)
{
	*count = n_gpus();
	return OK;
}
FN(cuDeviceGet, int *device, int ordinal)
{
	MAY_FAIL();
	*device = ordinal;
	return ordinal < n_gpus() ? OK : 101;
}
FN(cuDeviceGetName, char *name, int len, int device)
{
	snprintf(name, (size_t)len, "Fake GPU %d", device);
	return OK;
}
FN(cuDeviceTotalMem_v2, size_t *bytes, int device)
{
	(void)device;
	MAY_FAIL();
	*bytes = (size_t)from_env("FAKE_CUDA_MEM_B", 1L << 30);
	return OK;
}
FN(cuDeviceGetAttribute, int *value, int attribute, int device)
{
	(void)device;
	MAY_FAIL();
	*value = attribute == 16   ? 4
		 : attribute == 38 ? 1 << 20
		 : attribute == 75 ? (int)from_env("FAKE_CUDA_CC", 9)
		 : attribute == 97 ? 232448
				   : 0;
	return OK;
}
FN(cuDeviceGetPCIBusId, char *id, int len, int device)
{
	snprintf(id, (size_t)len, "0000:%02x:00.0", 0x10 + device);
	return OK;
}
FN(cuDeviceCanAccessPeer, int *can, int device, int peer)
{
	*can = device != peer && device + peer == 1; /* 0 and 1 reach each other, others do not */
	return OK;
}
FN(cuDevicePrimaryCtxRetain, void **ctx, int device)
{
	static int contexts[N_GPUS_MAX];
	MAY_FAIL();
	*ctx = &contexts[device];
	contexts[device] = device;
	n_things++;
	return OK;
}
FN(cuDevicePrimaryCtxRelease_v2, int device)
{
	(void)device;
	n_things--;
	return OK;
}
FN(cuCtxSetCurrent, const int *ctx)
{
	MAY_FAIL();
	if (ctx) /* NULL: none is current */
		current = *ctx;
	return OK;
}
FN(cuCtxEnablePeerAccess, const int *peer, unsigned flags)
{
	(void)peer;
	(void)flags;
	return OK;
}
FN(cuMemGetInfo_v2, size_t *free_B, size_t *total_B)
{
	*total_B = (size_t)from_env("FAKE_CUDA_MEM_B", 1L << 30);
	*free_B = *total_B - used_B[current];
	return OK;
}

static int take(void **ret, size_t size_B, int gpu)
{
	for (int i = 0; i < N_BLOCKS_MAX; i++)
		if (!blocks[i].memory) {
			blocks[i] = (struct block){ calloc(1, size_B), size_B, gpu };
			*ret = blocks[i].memory;
			return *ret ? OK : NO_MEMORY;
		}
	return NO_MEMORY;
}

static int give(void *memory)
{
	for (int i = 0; i < N_BLOCKS_MAX; i++)
		if (blocks[i].memory == memory) {
			if (blocks[i].gpu >= 0)
				used_B[blocks[i].gpu] -= blocks[i].size_B;
			blocks[i].memory = NULL;
			free(memory);
			return OK;
		}
	return BAD_VALUE;
}

FN(cuMemAlloc_v2, uint64_t *ptr, size_t bytes)
{
	void *memory = NULL;
	MAY_FAIL();
	if (used_B[current] + bytes > (size_t)from_env("FAKE_CUDA_MEM_B", 1L << 30))
		return NO_MEMORY;
	int code = take(&memory, bytes, current);
	if (code == OK)
		used_B[current] += bytes;
	*ptr = (uint64_t)(uintptr_t)memory;
	return code;
}
FN(cuMemFree_v2, uint64_t ptr)
{
	return give((void *)(uintptr_t)ptr);
}
FN(cuMemHostAlloc, void **ptr, size_t bytes, unsigned flags)
{
	(void)flags;
	MAY_FAIL();
	return take(ptr, bytes, -1);
}
FN(cuMemFreeHost, void *ptr)
{
	return give(ptr);
}

static int move(void *to, const void *from, size_t bytes)
{
	if (!capturing)
		memmove(to, from, bytes);
	return OK;
}

#define COPY(name, target, source, to, from)                                                                           \
	FN(name, target, source, size_t bytes)                                                                         \
	{                                                                                                              \
		MAY_FAIL();                                                                                            \
		return move((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);                              \
	}                                                                                                              \
	FN(FAKE_ASYNC(name), target, source, size_t bytes, void *stream)                                               \
	{                                                                                                              \
		(void)stream;                                                                                          \
		MAY_FAIL();                                                                                            \
		return move((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);                              \
	}
#define FAKE_ASYNC(name)           FAKE_ASYNC_##name
#define FAKE_ASYNC_cuMemcpyHtoD_v2 cuMemcpyHtoDAsync_v2
#define FAKE_ASYNC_cuMemcpyDtoH_v2 cuMemcpyDtoHAsync_v2
#define FAKE_ASYNC_cuMemcpyDtoD_v2 cuMemcpyDtoDAsync_v2

COPY(cuMemcpyHtoD_v2, uint64_t to, const void *from, to, from)
COPY(cuMemcpyDtoH_v2, void *to, uint64_t from, to, from)
COPY(cuMemcpyDtoD_v2, uint64_t to, uint64_t from, to, from)

FN(cuMemcpyPeerAsync, uint64_t to, void *to_ctx, uint64_t from, void *from_ctx, size_t bytes, void *stream)
{
	(void)to_ctx;
	(void)from_ctx;
	(void)stream;
	MAY_FAIL();
	return move((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
}
FN(cuMemsetD8Async, uint64_t to, unsigned char value, size_t n, void *stream)
{
	(void)stream;
	MAY_FAIL();
	if (!capturing)
		memset((void *)(uintptr_t)to, value, n);
	return OK;
}

static int make(void **ret, size_t size_B)
{
	*ret = calloc(1, size_B);
	n_things += *ret != NULL;
	return *ret ? OK : NO_MEMORY;
}

static int unmake(void *thing)
{
	free(thing);
	n_things--;
	return OK;
}

FN(cuStreamCreate, void **stream, unsigned flags)
{
	(void)flags;
	MAY_FAIL();
	return make(stream, 1);
}
FN(cuStreamDestroy_v2, void *stream)
{
	return unmake(stream);
}
FN(cuStreamSynchronize, void *stream)
{
	(void)stream;
	MAY_FAIL();
	return OK;
}
FN(cuStreamWaitEvent, void *stream, void *event, unsigned flags)
{
	(void)stream;
	(void)event;
	(void)flags;
	MAY_FAIL();
	return OK;
}
FN(cuEventCreate, void **event, unsigned flags)
{
	(void)flags;
	MAY_FAIL();
	return make(event, sizeof(struct event));
}
FN(cuEventDestroy_v2, void *event)
{
	return unmake(event);
}
FN(cuEventRecord, struct event *event, void *stream)
{
	struct timespec t;
	(void)stream;
	MAY_FAIL();
	clock_gettime(CLOCK_MONOTONIC, &t);
	*event = (struct event){ (double)t.tv_sec + (double)t.tv_nsec * 1e-9, true };
	return OK;
}
FN(cuEventRecordWithFlags, struct event *event, void *stream, unsigned flags)
{
	(void)flags;
	return cuEventRecord(event, stream);
}
FN(cuEventQuery, struct event *event)
{
	(void)event;
	MAY_FAIL();
	return OK;
}
FN(cuEventSynchronize, struct event *event)
{
	(void)event;
	MAY_FAIL();
	return OK;
}
FN(cuEventElapsedTime, float *ms, const struct event *from, const struct event *to)
{
	MAY_FAIL();
	if (!from->recorded || !to->recorded)
		return 400;
	*ms = (float)((to->s - from->s) * 1e3);
	return OK;
}
FN(cuModuleLoadData, void **module, const void *image)
{
	MAY_FAIL();
	return image ? make(module, 1) : BAD_VALUE;
}
FN(cuModuleUnload, void *module)
{
	return unmake(module);
}
/* A function is its name. */
FN(cuModuleGetFunction, void **function, void *module, const char *name)
{
	(void)module;
	MAY_FAIL();
	for (int i = 0; i < n_functions; i++)
		if (!strcmp(functions[i], name)) {
			*function = functions[i];
			return OK;
		}
	if (n_functions == N_FUNCTIONS_MAX)
		return NOT_FOUND;
	snprintf(functions[n_functions], sizeof functions[0], "%s", name);
	*function = functions[n_functions++];
	return OK;
}
FN(cuFuncSetAttribute, void *function, int attribute, int value)
{
	(void)function;
	(void)attribute;
	MAY_FAIL();
	return value <= 232448 ? OK : BAD_VALUE;
}
FN(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *n, void *function, int n_threads, size_t shared_B)
{
	(void)function;
	(void)n_threads;
	(void)shared_B;
	*n = 2;
	return OK;
}

/* --- the kernels of the measuring backends (src/measure/gpu/bench_kernels.cu), on the host */
#define PTR(i)  ((void *)(uintptr_t) * (const uint64_t *)params[i])
#define SIZE(i) (*(const size_t *)params[i])
#define INT(i)  (*(const int *)params[i])

static uint32_t mix(uint64_t i, uint32_t seed)
{
	uint64_t x = i * 0x9E3779B97F4A7C15ull + seed;
	x ^= x >> 32;
	x *= 0xD6E8FEB86659FD93ull;
	return (uint32_t)(x ^ x >> 32);
}

static void fill_numbers(void **params)
{
	for (size_t i = 0; i < SIZE(1); i++) {
		uint32_t r = mix(i, (uint32_t)INT(4));
		fake_put(PTR(0), i, INT(3) ? (float)(r % 5) - 2.0f : (float)(r >> 8) * 0x1p-23f - 1.0f, INT(2));
	}
}
static void check_gemm(void **params)
{
	size_t m = SIZE(3), n = SIZE(4), k = SIZE(5);
	for (size_t i = 0; i < m * n; i++) {
		float sum = 0;
		unsigned char rounded[4];
		for (size_t j = 0; j < k; j++)
			sum += fake_get(PTR(0), i / n * k + j, INT(6)) *
			       fake_get(PTR(1), INT(8) ? i % n * k + j : j * n + i % n, INT(6));
		fake_put(rounded, 0, sum, INT(7));
		*(unsigned long long *)PTR(10) += fake_get(PTR(2), i, INT(7)) != fake_get(rounded, 0, INT(7));
	}
}
static void copy(void **params)
{
	memcpy(PTR(0), PTR(1), SIZE(2) * 16);
}
static void triad(void **params)
{
	for (size_t i = 0; i < SIZE(4) * 4; i++)
		((float *)PTR(0))[i] = ((float *)PTR(1))[i] + *(float *)params[3] * ((float *)PTR(2))[i];
}
static void fill_words(void **params)
{
	for (size_t i = 0; i < SIZE(1); i++)
		((uint32_t *)PTR(0))[i] = mix(i, (uint32_t)INT(2));
}
static void check_words(void **params)
{
	for (size_t i = 0; i < SIZE(1); i++)
		*(unsigned long long *)PTR(3) += ((uint32_t *)PTR(0))[i] != mix(i, (uint32_t)INT(2));
}
static void check_triad(void **params)
{
	for (size_t i = 0; i < SIZE(4); i++)
		*(unsigned long long *)PTR(5) += ((float *)PTR(0))[i] !=
						 ((float *)PTR(1))[i] + *(float *)params[3] * ((float *)PTR(2))[i];
}

/* Collectives: floats only; other types are filled with zeros and not looked at. */
static float value_at(int rank, size_t i, int n_ranks, int op)
{
	unsigned mixed = (unsigned)(i % 251) + (unsigned)rank * 7;
	if (op == 1)
		return mixed % 3 == 0 ? 2 : 1;
	float v = (float)(1 + mixed % (n_ranks <= 32 ? 5 : 2));
	return op == 4 ? v * (float)n_ranks : v;
}
static void coll_fill(void **params)
{
	for (size_t i = 0; INT(2) == 7 && i < SIZE(1); i++)
		((float *)PTR(0))[i] = value_at(INT(4), i, INT(5), INT(3));
}
static float reduced(size_t i, int op, int n_ranks)
{
	float all = value_at(0, i, n_ranks, op);
	for (int q = 1; q < n_ranks; q++) {
		float v = value_at(q, i, n_ranks, op);
		all = op == 1 ? all * v : op == 2 ? fmaxf(all, v) : op == 3 ? fminf(all, v) : all + v;
	}
	return op == 4 ? all / (float)n_ranks : all;
}
static void coll_check(void **params)
{
	size_t first = SIZE(2), count = SIZE(3);
	int from = INT(4), op = INT(6), n_ranks = INT(7);
	for (size_t i = 0; INT(5) == 7 && i < SIZE(1); i++) {
		size_t at = first + (count ? i % count : i);
		float v = from < 0 ? reduced(at, op, n_ranks)
				   : value_at(count ? (int)(i / count) : from, at, n_ranks, op);
		*(unsigned long long *)PTR(8) += ((float *)PTR(0))[i] != v;
	}
}

FN(cuLaunchKernel, const char *name, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
   unsigned shared_B, void *stream, void **params, void **extra)
{
	static const struct {
		const char *name;
		void (*run)(void **params);
	} known[] = {
		{ "jl_fill_numbers", fill_numbers },
		{ "jl_check_gemm", check_gemm },
		{ "jl_copy", copy },
		{ "jl_triad", triad },
		{ "jl_fill_words", fill_words },
		{ "jl_check_words", check_words },
		{ "jl_check_triad", check_triad },
		{ "jl_coll_fill", coll_fill },
		{ "jl_coll_check", coll_check },
	};
	(void)stream;
	(void)extra;
	MAY_FAIL();
	if (!gx || !gy || !gz || !bx || bx * by * bz > 1024 || shared_B > 232448)
		return BAD_VALUE;
	for (size_t i = 0; !capturing && i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].name, name))
			known[i].run(params);
	return OK;
}
FN(cuStreamBeginCapture_v2, void *stream, int mode)
{
	(void)stream;
	(void)mode;
	MAY_FAIL();
	capturing = true;
	return OK;
}
FN(cuStreamEndCapture, void *stream, void **graph)
{
	(void)stream;
	capturing = false;
	MAY_FAIL();
	return make(graph, 1);
}
FN(cuGraphInstantiateWithFlags, void **exec, void *graph, unsigned long long flags)
{
	(void)graph;
	(void)flags;
	MAY_FAIL();
	return make(exec, 1);
}
FN(cuGraphLaunch, void *exec, void *stream)
{
	(void)exec;
	(void)stream;
	MAY_FAIL();
	(void)usleep(100); /* nothing is computed, but a step takes some time on any GPU */
	return OK;
}
FN(cuGraphExecDestroy, void *exec)
{
	return unmake(exec);
}
FN(cuGraphDestroy, void *graph)
{
	return unmake(graph);
}
FN(cuGraphGetNodes, void *graph, void **nodes, size_t *n_nodes)
{
	(void)graph;
	(void)nodes;
	*n_nodes = 0;
	return OK;
}
