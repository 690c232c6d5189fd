/* Reads token files and generates synthetic tokens. */
#include "train/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train/shape.h"

static int32_t token_at(const struct jl_tokens *t, size_t i)
{
	const unsigned char *at = t->file + i * t->token_B;
	uint32_t token = (uint32_t)at[0] | (uint32_t)at[1] << 8;
	if (t->token_B == 4)
		token |= (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
	return token > INT32_MAX ? INT32_MAX : (int32_t)token;
}

static enum jl_status check(const struct jl_tokens *t, const char *path, struct jl_err *err)
{
	if (t->file_B == 0)
		return jl_fail(err, JL_E_DATA, "%s is empty; tokens are %zu-byte little-endian numbers", path,
			       t->token_B);
	if (t->file_B % t->token_B != 0)
		return jl_fail(err, JL_E_DATA,
			       "%s: byte %zu: the file ends inside a token of %zu bytes (.u32: 4, else 2)", path,
			       t->file_B / t->token_B * t->token_B, t->token_B);
	if (t->n_tokens < t->seq + 1)
		return jl_fail(err, JL_E_DATA, "%s has %zu tokens; a sequence of %zu needs %zu", path, t->n_tokens,
			       t->seq, t->seq + 1);
	for (size_t i = 0; i < t->n_tokens; i++)
		if ((size_t)token_at(t, i) >= t->vocab)
			return jl_fail(err, JL_E_DATA, "%s: token %zu (byte %zu) is %d; the vocabulary has 0 to %zu",
				       path, i, i * t->token_B, token_at(t, i), t->vocab - 1);
	return JL_OK;
}

static enum jl_status map(struct jl_tokens *t, const char *path, struct jl_err *err)
{
	struct stat info = { 0 };
	void *memory = NULL;
	enum jl_status status = JL_OK;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &info) != 0) {
		status = jl_fail(err, JL_E_IO, "%s: {%s}", path, strerror(errno));
	} else if (!S_ISREG(info.st_mode)) {
		status = jl_fail(err, JL_E_IO, "%s is not a file", path);
	} else if (info.st_size > 0) {
		memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (memory == MAP_FAILED)
			status = jl_fail(err, JL_E_IO, "%s: {%s}", path, strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	if (status != JL_OK)
		return status;
	t->file = memory;
	t->file_B = (size_t)info.st_size;
	t->n_tokens = t->file_B / t->token_B;
	return JL_OK;
}

enum jl_status jl_tokens_open(struct jl_tokens *ret_tokens, const char *path, size_t vocab, size_t seq,
			      struct jl_err *err)
{
	struct jl_tokens t = { .vocab = vocab, .seq = seq, .seed = 1, .token_B = 2 };
	enum jl_status status = JL_OK;
	if (path) {
		t.token_B = jl_ends(path, ".u32") ? 4 : 2;
		status = map(&t, path, err);
		JL_THEN(status, check(&t, path, err));
	}
	if (status != JL_OK) {
		jl_tokens_close(&t);
		return status;
	}
	*ret_tokens = t;
	return JL_OK;
}

void jl_tokens_close(struct jl_tokens *t)
{
	union {
		const unsigned char *read;
		void *memory;
	} file = { .read = t->file };
	if (t->file)
		munmap(file.memory, t->file_B);
	t->file = NULL;
}

/* cubes 24 random bits, so that small tokens are more frequent */
static uint64_t draw(uint64_t bits, size_t vocab)
{
	uint64_t r = bits >> 40;
	uint64_t cube = (r * r >> 24) * r >> 24;
	return cube * vocab >> 24;
}

void jl_tokens_sample(const struct jl_tokens *t, uint64_t number, int32_t *ret_tokens, int32_t *ret_targets)
{
	size_t n_samples = t->file ? t->n_tokens / (t->seq + 1) : 0;
	size_t begin = n_samples ? (size_t)(number % n_samples) * (t->seq + 1) : 0;
	uint64_t key = jl_train_mix(jl_train_mix(t->seed) + number), token = 0;
	for (size_t i = 0; i <= t->seq; i++) {
		if (t->file) {
			token = (uint64_t)token_at(t, begin + i);
		} else {
			uint64_t bits = jl_train_mix(key + i);
			token = i && (bits & 1) ? (7 * token + 3) % t->vocab : draw(bits, t->vocab);
		}
		if (i < t->seq)
			ret_tokens[i] = (int32_t)token;
		if (i > 0)
			ret_targets[i - 1] = (int32_t)token;
	}
}
