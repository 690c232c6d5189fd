/* cuBLASLt opened at run time: creates plans and chooses algorithms by timing. */
#include "gpu/cublaslt.h"

#include <math.h>
#include <pthread.h>

#include "base/dynlib.h"
#include "base/mem.h"

/* Constants of the library's ABI. */
enum { TYPE_32F = 0, TYPE_16F = 2, TYPE_16BF = 14, TYPE_E4M3 = 28, TYPE_E5M2 = 29 };
enum { COMPUTE_32F = 68, COMPUTE_32F_TF32 = 77 };
enum { DESC_TRANSA = 3, DESC_TRANSB = 4, DESC_EPILOGUE = 7, DESC_BIAS = 8, DESC_AUX = 11, DESC_AUX_LD = 12 };
enum { DESC_A_SCALE = 17, DESC_B_SCALE = 18 };
enum { DESC_AUX_TYPE = 22, DESC_FAST_ACCUM = 25, DESC_BIAS_TYPE = 26 };
enum { PREF_WORKSPACE_B = 1 };
enum { N_CANDIDATES_MAX = 64 };

struct heuristic {
	uint64_t algo[8];
	size_t workspace_B;
	int state;
	float waves;
	int reserved[4];
};

/* Return type, local name, symbol, arguments. */
/* clang-format off */
#define FUNCTIONS(X) \
	X(size_t, GetVersion, "cublasLtGetVersion", void) \
	X(int, Create, "cublasLtCreate", void **handle) \
	X(int, Destroy, "cublasLtDestroy", void *handle) \
	X(int, DescCreate, "cublasLtMatmulDescCreate", void **desc, int compute, int scale) \
	X(int, DescDestroy, "cublasLtMatmulDescDestroy", void *desc) \
	X(int, DescSet, "cublasLtMatmulDescSetAttribute", void *desc, int attribute, const void *value, size_t size_B) \
	X(int, LayoutCreate, "cublasLtMatrixLayoutCreate", void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld) \
	X(int, LayoutDestroy, "cublasLtMatrixLayoutDestroy", void *layout) \
	X(int, PrefCreate, "cublasLtMatmulPreferenceCreate", void **pref) \
	X(int, PrefDestroy, "cublasLtMatmulPreferenceDestroy", void *pref) \
	X(int, PrefSet, "cublasLtMatmulPreferenceSetAttribute", void *pref, int attribute, const void *value, size_t size_B) \
	X(int, Heuristic, "cublasLtMatmulAlgoGetHeuristic", void *handle, void *desc, void *a, void *b, void *c, void *d, void *pref, int n_wanted, struct heuristic *results, int *n_found) \
	X(int, Matmul, "cublasLtMatmul", void *handle, void *desc, const void *alpha, const void *a, void *layout_a, const void *b, void *layout_b, const void *beta, const void *c, void *layout_c, void *d, void *layout_d, const void *algo, void *workspace, size_t workspace_B, struct CUstream_st *stream)
/* clang-format on */
#define MEMBER(RETURNS, NAME, TEXT, ...) RETURNS (*NAME)(__VA_ARGS__);
struct functions {
	FUNCTIONS(MEMBER)
};
#define SYMBOL(RETURNS, NAME, TEXT, ...) { .name = (TEXT), .offset = offsetof(struct functions, NAME) },
static const struct jl_dynlib_symbol symbols[] = { FUNCTIONS(SYMBOL) };

static const char *const names[] = { "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL };

/* The library is large and slow to load, so it is opened once per process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct functions loaded;
static bool is_open;

static enum jl_status open_library(struct jl_err *err)
{
	struct jl_dynlib lib = { 0 };
	enum jl_status status = JL_OK;
	pthread_mutex_lock(&lock);
	if (!is_open && jl_dynlib_open(&lib, "JEOUL_CUBLASLT", names, symbols, JL_LEN(symbols), &loaded, err) != JL_OK)
		status = jl_fail(
			err, JL_E_ABSENT,
			"%s cannot be opened: install the CUDA libraries (cuBLAS) or name it in JEOUL_CUBLASLT",
			names[0]);
	is_open = is_open || status == JL_OK;
	pthread_mutex_unlock(&lock);
	return status;
}

struct jl_lt {
	const struct functions *f;
	void *handle;
	struct jl_gpu_dev *gpu;
	uint64_t workspace;
	size_t workspace_B;
	struct CUevent_st *from, *to;
};

struct jl_matmul {
	struct jl_lt *lt;
	void *desc, *layout_a, *layout_b, *layout_c;
	struct heuristic best;
	double best_s;
	float beta;
	bool has_bias, has_aux, has_scales;
};

static enum jl_status check(int code, const char *what, struct jl_err *err)
{
	if (code == 0)
		return JL_OK;
	return jl_fail(err, JL_E_IO, "%s failed: cuBLAS status %d", what, code);
}

enum jl_status jl_lt_open(struct jl_gpu_dev *gpu, struct jl_lt **ret_lt, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	JL_TRY(open_library(err));
	struct jl_lt *lt = jl_realloc(NULL, sizeof *lt);
	JL_TRY(jl_got(lt, err));
	/* NVIDIA recommends 32 MiB on Hopper and later; split-K candidates of large products need more */
	*lt = (struct jl_lt){ .f = &loaded, .gpu = gpu, .workspace_B = (size_t)64 << 20 };
	status = check(lt->f->Create(&lt->handle), "cublasLtCreate", err);
	JL_THEN(status, jl_gpu_alloc(gpu, lt->workspace_B, &lt->workspace, err));
	JL_THEN(status, jl_gpu_events(gpu, &lt->from, &lt->to, err));
	if (status) {
		jl_lt_close(lt);
		return status;
	}
	*ret_lt = lt;
	return JL_OK;
}

void jl_lt_close(struct jl_lt *lt)
{
	if (!lt)
		return;
	jl_gpu_event_free(lt->gpu, lt->from);
	jl_gpu_event_free(lt->gpu, lt->to);
	jl_gpu_free(lt->gpu, lt->workspace, lt->workspace_B);
	if (lt->handle)
		lt->f->Destroy(lt->handle);
	jl_free(lt);
}

size_t jl_lt_version(void)
{
	return is_open ? loaded.GetVersion() : 0;
}

static int data_type(enum jl_matmul_type type)
{
	static const int types[JL_N_MM_TYPE] = {
		[JL_MM_FP32] = TYPE_32F,  [JL_MM_TF32] = TYPE_32F, [JL_MM_FP16] = TYPE_16F,
		[JL_MM_BF16] = TYPE_16BF, [JL_MM_FP8] = TYPE_E4M3,
	};
	return types[type];
}

static int set_epilogue(struct jl_matmul *plan, const struct jl_matmul_shape *shape)
{
	static const uint32_t epilogues[JL_N_MM_EPILOGUE] = {
		[JL_MM_NONE] = 1,        [JL_MM_BIAS] = 4,         [JL_MM_GELU_BIAS] = 32 | 128 | 4,
		[JL_MM_GELU] = 32 | 128, [JL_MM_DGELU] = 64 | 128, [JL_MM_BGRAD] = 512,
	};
	const struct functions *f = plan->lt->f;
	uint32_t epilogue = epilogues[shape->epilogue];
	int64_t aux_ld = (int64_t)shape->ldc;
	int32_t type = data_type(shape->c_type);
	int code = f->DescSet(plan->desc, DESC_EPILOGUE, &epilogue, sizeof epilogue);
	if (code == 0 && plan->has_bias)
		code = f->DescSet(plan->desc, DESC_BIAS_TYPE, &type, sizeof type);
	if (code == 0 && plan->has_aux)
		code = f->DescSet(plan->desc, DESC_AUX_LD, &aux_ld, sizeof aux_ld);
	if (code == 0 && plan->has_aux)
		code = f->DescSet(plan->desc, DESC_AUX_TYPE, &type, sizeof type);
	return code;
}

/* The library is column-major: it computes the transpose of our C, so A and B are exchanged. */
static enum jl_status describe(struct jl_matmul *plan, const struct jl_matmul_shape *s, struct jl_err *err)
{
	const struct functions *f = plan->lt->f;
	int ab = data_type(s->type), c = data_type(s->c_type);
	int32_t trans_a = s->tb, trans_b = s->ta;
	int8_t fast = !s->wide; /* gradients need full-precision sums */
	int code = f->DescCreate(&plan->desc, s->type == JL_MM_TF32 ? COMPUTE_32F_TF32 : COMPUTE_32F, TYPE_32F);
	if (code == 0)
		code = f->DescSet(plan->desc, DESC_TRANSA, &trans_a, sizeof trans_a);
	if (code == 0)
		code = f->DescSet(plan->desc, DESC_TRANSB, &trans_b, sizeof trans_b);
	if (code == 0 && s->type == JL_MM_FP8)
		code = f->DescSet(plan->desc, DESC_FAST_ACCUM, &fast, sizeof fast);
	if (code == 0)
		code = set_epilogue(plan, s);
	if (code == 0)
		code = f->LayoutCreate(&plan->layout_a, ab, s->tb ? s->k : s->n, s->tb ? s->n : s->k, (int64_t)s->ldb);
	if (code == 0)
		code = f->LayoutCreate(&plan->layout_b, s->wide ? TYPE_E5M2 : ab, s->ta ? s->m : s->k,
				       s->ta ? s->k : s->m, (int64_t)s->lda);
	if (code == 0)
		code = f->LayoutCreate(&plan->layout_c, c, s->n, s->m, (int64_t)s->ldc);
	return check(code, "cublasLtMatmulDesc", err);
}

/* Sets the pointers that are not operands: bias, aux, scales. */
static int point(struct jl_matmul *plan, const struct jl_matmul_buffers *b)
{
	const struct functions *f = plan->lt->f;
	int code = 0;
	if (plan->has_bias)
		code = f->DescSet(plan->desc, DESC_BIAS, &b->bias, sizeof b->bias);
	if (code == 0 && plan->has_aux)
		code = f->DescSet(plan->desc, DESC_AUX, &b->aux, sizeof b->aux);
	if (code == 0 && plan->has_scales) /* A and B are exchanged */
		code = f->DescSet(plan->desc, DESC_A_SCALE, &b->b_scale, sizeof b->b_scale);
	if (code == 0 && plan->has_scales)
		code = f->DescSet(plan->desc, DESC_B_SCALE, &b->a_scale, sizeof b->a_scale);
	return code;
}

static int launch(struct jl_matmul *plan, const struct heuristic *algo, const struct jl_matmul_buffers *b,
		  struct CUstream_st *stream)
{
	struct jl_lt *lt = plan->lt;
	const float alpha = 1.0F;
	int code = point(plan, b);
	if (code != 0)
		return code;
	return lt->f->Matmul(lt->handle, plan->desc, &alpha, (const void *)(uintptr_t)b->b, plan->layout_a,
			     (const void *)(uintptr_t)b->a, plan->layout_b, &plan->beta, (const void *)(uintptr_t)b->c,
			     plan->layout_c, (void *)(uintptr_t)b->c, plan->layout_c, algo->algo,
			     (void *)(uintptr_t)lt->workspace, lt->workspace_B, stream);
}

static int launch_many(struct jl_matmul *plan, const struct heuristic *algo, const struct jl_matmul_buffers *b, int n)
{
	int code = 0;
	for (int i = 0; code == 0 && i < n; i++)
		code = launch(plan, algo, b, plan->lt->gpu->stream);
	return code;
}

/* Records `n` products as one graph. NULL: the caller launches them one by one. */
static struct CUgraphExec_st *record(struct jl_matmul *plan, const struct heuristic *algo,
				     const struct jl_matmul_buffers *b, int n)
{
	const struct jl_cuda *cu = plan->lt->gpu->cuda;
	struct CUstream_st *stream = plan->lt->gpu->stream;
	struct CUgraph_st *graph = NULL;
	struct CUgraphExec_st *replay = NULL;
	if (cu->StreamBeginCapture(stream, JL_CU_CAPTURE_RELAXED) != JL_CU_OK)
		return NULL;
	bool whole = launch_many(plan, algo, b, n) == 0;
	whole = cu->StreamEndCapture(stream, &graph) == JL_CU_OK && whole;
	if (!whole || cu->GraphInstantiate(&replay, graph, 0) != JL_CU_OK)
		replay = NULL;
	if (graph)
		cu->GraphDestroy(graph);
	return replay;
}

#define SHORT_S 200e-6 /* launching one takes a host 5 to 30 µs, a busy one longer */

/* Mean time of one product over `n`; negative: this candidate does not run. Products shorter than SHORT_S (`about_s`) are replayed as a graph;
 * otherwise host launches would be timed. */
static double time_candidate(struct jl_matmul *plan, const struct heuristic *algo, const struct jl_matmul_buffers *b,
			     int n, double about_s)
{
	struct jl_lt *lt = plan->lt;
	const struct jl_cuda *cu = lt->gpu->cuda;
	struct CUstream_st *stream = lt->gpu->stream;
	struct CUgraphExec_st *replay = about_s < SHORT_S ? record(plan, algo, b, n) : NULL;
	float ms = 0.0F;
	int code = replay ? cu->GraphLaunch(replay, stream) : launch(plan, algo, b, stream);
	if (code == 0)
		code = cu->EventRecord(lt->from, stream);
	if (code == 0)
		code = replay ? cu->GraphLaunch(replay, stream) : launch_many(plan, algo, b, n);
	if (code == 0)
		code = cu->EventRecord(lt->to, stream);
	if (code == 0)
		code = cu->EventSynchronize(lt->to);
	if (code == 0)
		code = cu->EventElapsedTime(&ms, lt->from, lt->to);
	if (replay)
		cu->GraphExecDestroy(replay);
	return code == 0 ? (double)ms * 1e-3 / n : -1.0;
}

#define FINAL_S 0.01 /* time per finalist */

/* Two rounds: all candidates briefly, then the five best for longer, since noise of a few microseconds would decide otherwise. */
static void tune(struct jl_matmul *plan, const struct jl_matmul_buffers *b, struct heuristic *found, int n_found)
{
	enum { N_FINAL = 5 };
	int finalists[N_FINAL] = { 0 };
	double times[N_CANDIDATES_MAX], first_s[N_FINAL];
	int n_final = 0, n_again = 1;
	for (int i = 0; i < n_found; i++) {
		times[i] = time_candidate(plan, &found[i], b, 1, INFINITY);
		if (times[i] >= 0.0 && times[i] < 1e-3)
			times[i] = time_candidate(plan, &found[i], b, times[i] < SHORT_S / 4 ? 20 : 4, times[i]);
	}
	for (; n_final < N_FINAL; n_final++) {
		int best = -1;
		for (int i = 0; i < n_found; i++)
			if (times[i] >= 0.0 && (best < 0 || times[i] < times[best]))
				best = i;
		if (best < 0)
			break;
		if (n_final == 0)
			n_again = times[best] > FINAL_S / 2     ? 2
				  : times[best] < FINAL_S / 100 ? 100
								: (int)(FINAL_S / times[best]);
		first_s[n_final] = times[best];
		finalists[n_final] = best;
		times[best] = -1.0;
	}
	for (int i = 0; i < n_final; i++) {
		double once_s = time_candidate(plan, &found[finalists[i]], b, n_again, first_s[i]);
		if (once_s >= 0.0 && (isnan(plan->best_s) || once_s < plan->best_s)) {
			plan->best_s = once_s;
			plan->best = found[finalists[i]];
		}
	}
}

static enum jl_status choose(struct jl_matmul *plan, const struct jl_matmul_buffers *b, int n_try, struct jl_err *err)
{
	struct jl_lt *lt = plan->lt;
	struct heuristic found[N_CANDIDATES_MAX];
	int n_found = 0;
	void *pref = NULL;
	int code = point(plan, b);
	if (code == 0)
		code = lt->f->PrefCreate(&pref);
	if (code == 0)
		code = lt->f->PrefSet(pref, PREF_WORKSPACE_B, &lt->workspace_B, sizeof lt->workspace_B);
	int n_wanted = n_try < 1 ? 1 : n_try > N_CANDIDATES_MAX ? N_CANDIDATES_MAX : n_try;
	if (code == 0)
		code = lt->f->Heuristic(lt->handle, plan->desc, plan->layout_a, plan->layout_b, plan->layout_c,
					plan->layout_c, pref, n_wanted, found, &n_found);
	if (pref)
		lt->f->PrefDestroy(pref);
	if (code != 0 || n_found < 1)
		return jl_fail(err, JL_E_ABSENT, "cuBLASLt has no algorithm for this matrix product (status %d)", code);
	plan->best = found[0];
	if (n_try <= 1)
		return JL_OK;
	tune(plan, b, found, n_found);
	if (isnan(plan->best_s))
		return jl_fail(err, JL_E_ABSENT, "no algorithm of cuBLASLt ran for this matrix product");
	return JL_OK;
}

enum jl_status jl_matmul_plan(struct jl_lt *lt, const struct jl_matmul_shape *shape,
			      const struct jl_matmul_buffers *buffers, int n_try, struct jl_matmul **ret_plan,
			      struct jl_err *err)
{
	enum jl_matmul_epilogue e = shape->epilogue;
	struct jl_matmul *plan = jl_realloc(NULL, sizeof *plan);
	JL_TRY(jl_got(plan, err));
	*plan = (struct jl_matmul){
		.lt = lt,
		.best_s = NAN,
		.beta = shape->accumulate ? 1.0F : 0.0F,
		.has_bias = e == JL_MM_BIAS || e == JL_MM_GELU_BIAS || e == JL_MM_BGRAD,
		.has_aux = e == JL_MM_GELU || e == JL_MM_GELU_BIAS || e == JL_MM_DGELU,
		.has_scales = buffers->a_scale != 0,
	};
	enum jl_status status = describe(plan, shape, err);
	JL_THEN(status, choose(plan, buffers, n_try, err));
	if (status) {
		jl_matmul_free(plan);
		return status;
	}
	*ret_plan = plan;
	return JL_OK;
}

void jl_matmul_free(struct jl_matmul *plan)
{
	if (!plan)
		return;
	const struct functions *f = plan->lt->f;
	if (plan->layout_a)
		f->LayoutDestroy(plan->layout_a);
	if (plan->layout_b)
		f->LayoutDestroy(plan->layout_b);
	if (plan->layout_c)
		f->LayoutDestroy(plan->layout_c);
	if (plan->desc)
		f->DescDestroy(plan->desc);
	jl_free(plan);
}

double jl_matmul_best_s(const struct jl_matmul *plan)
{
	return plan->best_s;
}

enum jl_status jl_matmul_run(struct jl_matmul *plan, const struct jl_matmul_buffers *buffers,
			     struct CUstream_st *stream, struct jl_err *err)
{
	return check(launch(plan, &plan->best, buffers, stream), "cublasLtMatmul", err);
}
