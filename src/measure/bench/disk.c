/* The measuring backend for storage: writes and flushes, or reads, an unnamed file in the given folder with direct I/O. The file disappears with
 * the process. */
#include "bench/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define PIECE_B      ((size_t)8 << 20) /* bytes per call: the kernel splits them and keeps all parts in flight */
#define BLOCK_B      ((size_t)4096)
#define IN_MEMORY(t) ((t) == 0x01021994 || (t) == 0x858458f6) /* tmpfs, ramfs */
#define STACKED_MAX  8                                        /* maximum depth of stacked volumes */

struct jl_bench_state {
	int fd;
	bool writes;
	bool (*stop)(void *ctx); /* NULL: not interruptible */
	size_t size_B, piece_B;
	uint64_t *piece;
	uint64_t n_written; /* passes over the file so far */
};

static enum jl_status present(struct jl_err *err)
{
	(void)err; /* prepare reports an unwritable folder */
	return JL_OK;
}

static bool supports(const struct jl_bench_task *task)
{
	return (task->kind == JL_BENCH_READ || task->kind == JL_BENCH_WRITE) && task->dir && task->size_B >= BLOCK_B &&
	       task->size_B % BLOCK_B == 0;
}

/* Stamps each block with its position and pass. The rest is random, so that no drive or file system can compress or deduplicate it. */
static void stamp(const struct jl_bench_state *s, size_t at_B)
{
	for (size_t i = 0; i < s->piece_B; i += BLOCK_B)
		s->piece[i / sizeof(*s->piece)] = (at_B + i) ^ s->n_written << 48;
}

static void fill(const struct jl_bench_state *s)
{
	uint64_t x = 1;

	for (size_t i = 0; i < s->piece_B / sizeof(*s->piece); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		s->piece[i] = x;
	}
}

/* Size of the piece at `at_B`; the last one may be shorter. */
static size_t piece_at(const struct jl_bench_state *s, size_t at_B)
{
	return s->size_B - at_B < s->piece_B ? s->size_B - at_B : s->piece_B;
}

static enum jl_status move_piece(const struct jl_bench_state *s, bool writes, size_t at_B, struct jl_err *err)
{
	const size_t n_B = piece_at(s, at_B);

	for (size_t done = 0; done < n_B;) {
		char *from = (char *)s->piece + done;
		const off_t at = (off_t)(at_B + done);
		const ssize_t n = writes ? pwrite(s->fd, from, n_B - done, at) : pread(s->fd, from, n_B - done, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < (ssize_t)BLOCK_B)
			return jl_fail(err, JL_E_IO, "storage: after %zu bytes: %s", at_B + done,
				       strerror(n < 0 ? errno : EIO));
		done += (size_t)n / BLOCK_B * BLOCK_B; /* continue at a block boundary */
	}
	return JL_OK;
}

/* Reads or writes the whole file, or until the user stops; *ret_done_B: progress. */
static enum jl_status move_all(struct jl_bench_state *s, bool writes, size_t *ret_done_B, struct jl_err *err)
{
	size_t at = 0;

	s->n_written += writes;
	while (at < s->size_B && !(at && s->stop && s->stop(NULL))) {
		if (writes)
			stamp(s, at);
		JL_TRY(move_piece(s, writes, at, err));
		at += piece_at(s, at);
	}
	*ret_done_B = at;
	return !writes || fdatasync(s->fd) == 0 ? JL_OK
						: jl_fail(err, JL_E_IO, "storage: a flush failed: %s", strerror(errno));
}

static enum jl_status run_once(struct jl_bench_state *s, double *ret_s, struct jl_err *err)
{
	size_t done_B = 0;

	/* measures writing a new file, not overwriting */
	if (s->writes && ftruncate(s->fd, 0) != 0)
		return jl_fail(err, JL_E_IO, "storage: after %zu bytes: %s", (size_t)0, strerror(errno));
	const double start_s = jl_clock_s();
	JL_TRY(move_all(s, s->writes, &done_B, err));
	*ret_s = (jl_clock_s() - start_s) * (double)s->size_B / (double)done_B;
	return JL_OK;
}

/* Counts blocks that differ from the last ones written. */
static enum jl_status verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	struct jl_bench_state want = *s;
	enum jl_status status = JL_OK;

	*ret_n_wrong = 0;
	want.piece = jl_realloc(NULL, s->piece_B);
	JL_TRY(jl_got(want.piece, err));
	fill(&want);
	for (size_t at = 0; at < s->size_B && !status; at += s->piece_B) {
		status = move_piece(s, false, at, err);
		stamp(&want, at);
		for (size_t i = 0; i < piece_at(s, at) && !status; i += BLOCK_B)
			*ret_n_wrong += memcmp((char *)s->piece + i, (char *)want.piece + i, BLOCK_B) != 0;
	}
	jl_free(want.piece);
	fill(s);
	return status;
}

static void finish(struct jl_bench_state *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		(void)close(s->fd);
	if (s->piece != MAP_FAILED)
		(void)munmap(s->piece, s->piece_B);
	jl_free(s);
}

static enum jl_status open_in(const char *dir, size_t size_B, int *ret_fd, struct jl_err *err)
{
	char path[PATH_MAX];
	struct statfs kind;
	struct statvfs room;
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR) &&
	    snprintf(path, sizeof(path), "%s/.jeoul-XXXXXX", dir) < (int)sizeof(path)) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			(void)unlink(path);
	}
	*ret_fd = fd;
	if (fd < 0)
		return jl_fail(err, errno == EACCES || errno == EROFS ? JL_E_ABSENT : JL_E_IO,
			       "storage: no file can be made in '%s': %s; --dir names another folder", dir,
			       strerror(errno));
	const double room_B = fstatvfs(fd, &room) == 0 ? (double)room.f_bavail * (double)room.f_frsize : INFINITY;
	if (room_B < 2 * (double)size_B)
		return jl_fail(err, JL_E_IO,
			       "storage: '%s' has less than twice the file free; --size \"%.0f MiB\" fits", dir,
			       floor(room_B / 4 / 1048576));
	if ((fstatfs(fd, &kind) == 0 && IN_MEMORY(kind.f_type)) || fcntl(fd, F_SETFL, O_DIRECT) != 0)
		return jl_fail(
			err, JL_E_ABSENT,
			"storage: '%s' is in memory or cannot bypass the page cache; --dir names a folder on a disk",
			dir);
	return JL_OK;
}

static enum jl_status prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state, struct jl_err *err)
{
	struct jl_bench_state *s = jl_realloc(NULL, sizeof(*s));
	enum jl_status status;
	size_t done_B = 0;

	JL_TRY(jl_got(s, err));
	*s = (struct jl_bench_state){
		.fd = -1, .writes = task->kind == JL_BENCH_WRITE, .stop = task->stop, .size_B = task->size_B
	};
	s->piece_B = task->size_B < PIECE_B ? task->size_B : PIECE_B;
	s->piece = mmap(NULL, s->piece_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	status = s->piece == MAP_FAILED ? jl_fail_nomem(err) : open_in(task->dir, task->size_B, &s->fd, err);
	if (!status)
		fill(s);
	if (!status && !s->writes) { /* creates the data to read */
		status = move_all(s, true, &done_B, err);
		if (!status && done_B < s->size_B)
			status = jl_fail(err, JL_E_IO, "storage: stopped before there was anything to read");
	}
	if (status)
		finish(s);
	else
		*ret_state = s;
	return status;
}

/* Follows a logical or encrypted volume to the device below, if there is exactly one. */
static bool step_down(char path[PATH_MAX])
{
	char slaves[PATH_MAX], below[PATH_MAX] = "";
	size_t n = 0;

	if (snprintf(slaves, sizeof(slaves), "%s/slaves", path) >= (int)sizeof(slaves))
		return false;
	DIR *dir = opendir(slaves);
	for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
		if (e->d_name[0] != '.') {
			n++;
			if (snprintf(below, sizeof(below), "%s/%s", slaves, e->d_name) >= (int)sizeof(below))
				n = 2;
		}
	if (dir)
		(void)closedir(dir);
	return n == 1 && realpath(below, path);
}

void jl_disk_under(const char *dir, char ret_name[JL_DISK_NAME_MAX])
{
	char path[PATH_MAX], link[64], part[PATH_MAX];
	struct stat st;

	ret_name[0] = '\0';
	if (stat(dir, &st) != 0)
		return;
	(void)snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	if (!realpath(link, path))
		return;
	for (int i = 0; i < STACKED_MAX; i++) {
		char *last = strrchr(path, '/');

		if (snprintf(part, sizeof(part), "%s/partition", path) < (int)sizeof(part) && access(part, F_OK) == 0)
			*last = '\0'; /* partition to drive */
		if (!step_down(path))
			break;
	}
	(void)snprintf(ret_name, JL_DISK_NAME_MAX, "%.*s", JL_DISK_NAME_MAX - 1, strrchr(path, '/') + 1);
}

const struct jl_bench_backend jl_bench_disk = {
	.name = "disk",
	.en = JL_N("reading and writing of a folder's storage, bypassing the page cache"),
	.present = present,
	.supports = supports,
	.prepare = prepare,
	.run_once = run_once,
	.verify = verify,
	.finish = finish,
};
