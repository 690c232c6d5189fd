/* A real store with bytes of it changed: each four bytes of the input are where (three) and what (one). Opened, read and merged it gives
 * an error of one line or an answer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static char dir[] = "/dev/shm/jeoul-fuzz-XXXXXX", path[64], other[64];
static unsigned char good[1 << 20];
static size_t n_good;

static void in_dir(char ret_path[64], const char *name)
{
	(void)snprintf(ret_path, 64, "%s/%s", dir, name);
}

static void tidy_up(void)
{
	static const char *const names[] = { "s.db", "s.db-wal", "s.db-shm", "s.db-journal",
					     "o.db", "o.db-wal", "o.db-shm", "o.db-journal" };
	char one[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		in_dir(one, names[i]);
		(void)unlink(one);
	}
	(void)rmdir(dir);
}

static void make_good(void)
{
	static const char line[] =
		"{\"record_version\":1,\"id\":\"01JC00000000000000000000%02d\",\"time_s\":10,\"kind\":\"gemm\","
		"\"backend\":\"cpu\",\"origin\":\"measured\",\"metrics\":[]}";
	struct jl_store *store;
	char text[256];
	FILE *file;

	must(mkdtemp(dir) != NULL);
	(void)atexit(tidy_up);
	in_dir(path, "s.db");
	in_dir(other, "o.db");
	must(jl_store_open(&store, path, NULL) == JL_OK);
	for (int i = 10; i < 40; i++) {
		(void)snprintf(text, sizeof(text), line, i);
		must(jl_store_put_line(store, text, strlen(text), NULL, NULL) == JL_OK);
	}
	jl_store_close(store);
	file = fopen(path, "rb");
	must(file != NULL);
	n_good = fread(good, 1, sizeof(good), file);
	(void)fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char bad[sizeof(good)];
	struct jl_store *store = NULL, *into = NULL;
	struct jl_err err = { .en = "" };
	enum jl_status status;
	FILE *file;

	if (n_good == 0)
		make_good();
	memcpy(bad, good, n_good);
	for (; size >= 4; data += 4, size -= 4)
		bad[((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]) % n_good] = data[3];
	file = fopen(path, "wb");
	must(file && fwrite(bad, 1, n_good, file) == n_good);
	(void)fclose(file);
	must(jl_store_open(&into, other, &err) == JL_OK);
	status = jl_store_open_existing(&store, path, &err);
	if (!status)
		status = jl_store_merge(into, store, &err);
	if (status && (err.en[0] == '\0' || strchr(err.en, '\n')))
		(void)fprintf(stderr, "status %d: [%s]\n", (int)status, err.en);
	must(!status || (err.en[0] != '\0' && !strchr(err.en, '\n')));
	jl_store_close(store);
	jl_store_close(into);
	in_dir(other, "s.db-wal");
	(void)unlink(other);
	in_dir(other, "s.db-shm");
	(void)unlink(other);
	in_dir(other, "o.db");
	return 0;
}
