/* A stand-in for cuBLASLt: products on the host, column by column as the library counts, with the epilogues that are
 * used. FAKE_LT_PLAIN=1: it knows no epilogue. The second candidate it offers never runs. */
#include <stdlib.h>

#include "fake_numbers.h"

#define API __attribute__((visibility("default")))
#define FN(name, ...)                                                                                                  \
	API int name(__VA_ARGS__);                                                                                     \
	int name(__VA_ARGS__)

enum { OK = 0, NOT_SUPPORTED = 15 };

struct desc {
	int32_t trans_a, trans_b;
	uint32_t epilogue;
	uint64_t bias, aux;
	int64_t aux_ld;
};

struct layout {
	int type;
	uint64_t rows, cols;
	int64_t ld;
};

struct heuristic {
	uint64_t algo[8];
	size_t workspace_B;
	int state;
	float waves;
	int reserved[4];
};

API size_t cublasLtGetVersion(void);
size_t cublasLtGetVersion(void)
{
	return 130100;
}
FN(cublasLtCreate, void **handle)
{
	*handle = malloc(1);
	return *handle ? OK : 3;
}
FN(cublasLtDestroy, void *handle)
{
	free(handle);
	return OK;
}
FN(cublasLtMatmulDescCreate, void **desc, int compute, int scale)
{
	(void)compute;
	(void)scale;
	struct desc *d = calloc(1, sizeof *d);
	if (d)
		d->epilogue = 1;
	*desc = d;
	return d ? OK : 3;
}
FN(cublasLtMatmulDescDestroy, void *desc)
{
	free(desc);
	return OK;
}
FN(cublasLtMatmulDescSetAttribute, struct desc *d, int attribute, const void *value, size_t size_B)
{
	static const struct {
		int attribute;
		size_t at, size_B;
	} known[] = {
		{ 3, offsetof(struct desc, trans_a), 4 },  { 4, offsetof(struct desc, trans_b), 4 },
		{ 7, offsetof(struct desc, epilogue), 4 }, { 8, offsetof(struct desc, bias), 8 },
		{ 11, offsetof(struct desc, aux), 8 },     { 12, offsetof(struct desc, aux_ld), 8 },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].attribute == attribute) {
			if (size_B != known[i].size_B)
				return 7;
			memcpy((char *)d + known[i].at, value, size_B);
		}
	return OK;
}
FN(cublasLtMatrixLayoutCreate, void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld)
{
	struct layout *l = ld < (int64_t)rows ? NULL : malloc(sizeof *l);
	if (!l)
		return 7;
	static const int types[32] = {
		[0] = FAKE_FP32, [2] = FAKE_FP16, [14] = FAKE_BF16, [28] = FAKE_FP8, [29] = FAKE_FP8
	};
	*l = (struct layout){ types[type & 31], rows, cols, ld };
	*layout = l;
	return OK;
}
FN(cublasLtMatrixLayoutDestroy, void *layout)
{
	free(layout);
	return OK;
}
FN(cublasLtMatmulPreferenceCreate, void **pref)
{
	*pref = malloc(1);
	return *pref ? OK : 3;
}
FN(cublasLtMatmulPreferenceDestroy, void *pref)
{
	free(pref);
	return OK;
}
FN(cublasLtMatmulPreferenceSetAttribute, void *pref, int attribute, const void *value, size_t size_B)
{
	(void)pref;
	(void)attribute;
	(void)value;
	(void)size_B;
	return OK;
}
FN(cublasLtMatmulAlgoGetHeuristic, void *handle, const struct desc *d, void *a, void *b, void *c, void *out, void *pref,
   int n_wanted, struct heuristic *results, int *n_found)
{
	const char *plain = getenv("FAKE_LT_PLAIN");
	(void)handle, (void)a, (void)b, (void)c, (void)out, (void)pref;
	*n_found = 0;
	if (plain && *plain == '1' && d->epilogue != 1)
		return NOT_SUPPORTED;
	for (int i = 0; i < n_wanted && i < 3; i++)
		results[(*n_found)++] = (struct heuristic){ .algo = { (uint64_t)i } };
	return OK;
}

/* A matrix as plain numbers, column after column: each is read once, not once per product. */
static float *numbers(const void *m, const struct layout *l, int32_t trans, uint64_t rows, uint64_t cols)
{
	float *to = malloc((rows * cols + 1) * sizeof *to);
	for (uint64_t col = 0; to && col < cols; col++)
		for (uint64_t row = 0; row < rows; row++)
			to[col * rows + row] = fake_get(
				m, trans ? row * (uint64_t)l->ld + col : col * (uint64_t)l->ld + row, l->type);
	return to;
}

static float gelu(float x)
{
	return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

static float d_gelu(float x)
{
	float t = tanhf(0.79788456f * (x + 0.044715f * x * x * x));
	return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.79788456f * (1.0f + 0.134145f * x * x);
}

FN(cublasLtMatmul, void *handle, struct desc *d, const float *alpha, const void *a, const struct layout *la,
   const void *b, const struct layout *lb, const float *beta, const void *c, const struct layout *lc, void *out,
   const struct layout *lo, const uint64_t *algo, void *workspace, size_t workspace_B, void *stream)
{
	(void)handle, (void)c, (void)lc, (void)workspace, (void)workspace_B, (void)stream;
	uint64_t k = d->trans_a ? la->rows : la->cols;
	void *bias = (void *)(uintptr_t)d->bias, *aux = (void *)(uintptr_t)d->aux;
	if (algo[0] == 1)
		return NOT_SUPPORTED;
	float *x = numbers(a, la, d->trans_a, lo->rows, k), *y = numbers(b, lb, d->trans_b, k, lo->cols);
	float *sums = malloc((lo->rows + 1) * sizeof *sums);
	if (!x || !y || !sums)
		abort();
	for (uint64_t col = 0; col < lo->cols; col++) {
		memset(sums, 0, lo->rows * sizeof *sums);
		for (uint64_t i = 0; i < k; i++)
			for (uint64_t row = 0; row < lo->rows; row++)
				sums[row] += x[i * lo->rows + row] * y[col * k + i];
		for (uint64_t row = 0; row < lo->rows; row++) {
			uint64_t to = col * (uint64_t)lo->ld + row;
			float sum = *alpha * sums[row] + (*beta != 0 ? *beta * fake_get(out, to, lo->type) : 0);
			if (d->epilogue & 4)
				sum += fake_get(bias, row, lo->type);
			if (d->epilogue & 32) {
				fake_put(aux, col * (uint64_t)d->aux_ld + row, sum, lo->type);
				sum = gelu(sum);
			}
			if (d->epilogue & 64)
				sum *= d_gelu(fake_get(aux, col * (uint64_t)d->aux_ld + row, lo->type));
			fake_put(out, to, sum, lo->type);
		}
		if (d->epilogue & 512) {
			float sum = 0;
			for (uint64_t i = 0; i < k; i++)
				sum += y[col * k + i];
			fake_put(bias, col, sum, lo->type);
		}
	}
	free(x);
	free(y);
	free(sums);
	return OK;
}
