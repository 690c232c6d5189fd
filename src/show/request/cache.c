/* A fixed-size cache of answers. */
#include "request/cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define N_SETS       512
#define N_WAYS       4
#define N_LOCKS      16
#define KEY_MAX_B    ((size_t)2048)
#define ANSWER_MAX_B ((size_t)32 << 10) /* short answers: at most 64 MiB in total */
#define LONG_MAX_B   ((size_t)4 << 20)  /* long answers: limit per answer */
#define LONG_ALL_B   ((size_t)32 << 20) /* long answers: total limit */

struct place {
	uint64_t hash;
	char *key, *text;
	size_t key_len, len;
	int code;
};

struct jl_ask_cache {
	pthread_mutex_t locks[N_LOCKS];
	struct place places[N_SETS][N_WAYS];
	unsigned char next[N_SETS]; /* entry to be replaced next, per set */
	atomic_size_t long_B;       /* bytes of long answers in the cache */
};

struct jl_ask_cache *jl_ask_cache_create(void)
{
	struct jl_ask_cache *cache = jl_realloc(NULL, sizeof(*cache));

	if (!cache)
		return NULL;
	memset(cache->places, 0, sizeof(cache->places));
	memset(cache->next, 0, sizeof(cache->next));
	atomic_init(&cache->long_B, 0);
	for (size_t i = 0; i < N_LOCKS; i++)
		(void)pthread_mutex_init(&cache->locks[i], NULL);
	return cache;
}

static size_t long_B(size_t len)
{
	return len > ANSWER_MAX_B ? len : 0;
}

static void empty(struct jl_ask_cache *cache, struct place *place)
{
	atomic_fetch_sub(&cache->long_B, long_B(place->len));
	jl_free(place->key);
	jl_free(place->text);
	*place = (struct place){ 0 };
}

void jl_ask_cache_destroy(struct jl_ask_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < (size_t)N_SETS * N_WAYS; i++)
		empty(cache, &cache->places[i / N_WAYS][i % N_WAYS]);
	for (size_t i = 0; i < N_LOCKS; i++)
		(void)pthread_mutex_destroy(&cache->locks[i]);
	jl_free(cache);
}

/* Builds the key: command, language, day, request; 0: too long to be cached. */
static size_t write_key(char out[KEY_MAX_B], const struct jl_ask_key *key)
{
	const char *command = key->command ? key->command : "";
	const size_t n = strlen(command) + 1, fixed = n + sizeof(key->lang) + sizeof(key->today);

	if (fixed + key->len > KEY_MAX_B)
		return 0;
	memcpy(out, command, n);
	memcpy(out + n, &key->lang, sizeof(key->lang));
	memcpy(out + n + sizeof(key->lang), &key->today, sizeof(key->today));
	memcpy(out + fixed, key->request, key->len);
	return fixed + key->len;
}

bool jl_ask_cache_get(struct jl_ask_cache *cache, const struct jl_ask_key *key, int *ret_code, struct jl_buf *ret_out)
{
	char bytes[KEY_MAX_B];
	const size_t len = write_key(bytes, key);
	const uint64_t hash = jl_hash_keyed(bytes, len);
	const struct place *place = cache->places[hash % N_SETS], *end = place + N_WAYS;
	pthread_mutex_t *lock = &cache->locks[hash % N_LOCKS];
	bool found = false;

	if (!len)
		return false;
	pthread_mutex_lock(lock);
	while (place < end &&
	       !(place->key && place->hash == hash && place->key_len == len && memcmp(place->key, bytes, len) == 0))
		place++;
	if (place < end) {
		jl_buf_add(ret_out, place->text, place->len);
		*ret_code = place->code;
		found = !ret_out->failed;
	}
	pthread_mutex_unlock(lock);
	return found;
}

void jl_ask_cache_put(struct jl_ask_cache *cache, const struct jl_ask_key *key, int code, const struct jl_buf *out)
{
	char bytes[KEY_MAX_B];
	const size_t len = write_key(bytes, key);
	const uint64_t hash = jl_hash_keyed(bytes, len);
	pthread_mutex_t *lock = &cache->locks[hash % N_LOCKS];

	if (!len || out->failed || !out->data || out->len > LONG_MAX_B)
		return;
	if (atomic_fetch_add(&cache->long_B, long_B(out->len)) + long_B(out->len) > LONG_ALL_B) {
		atomic_fetch_sub(&cache->long_B, long_B(out->len));
		return;
	}
	struct place made = { .hash = hash, .key_len = len, .len = out->len, .code = code };

	made.key = jl_realloc(NULL, len);
	made.text = jl_realloc(NULL, out->len ? out->len : 1);
	if (!made.key || !made.text) {
		empty(cache, &made);
		return;
	}
	memcpy(made.key, bytes, len);
	memcpy(made.text, out->data, out->len);
	pthread_mutex_lock(lock);
	struct place *place = &cache->places[hash % N_SETS][cache->next[hash % N_SETS]++ % N_WAYS];
	struct place old = *place;

	*place = made;
	pthread_mutex_unlock(lock);
	empty(cache, &old);
}
