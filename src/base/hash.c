/* SipHash-1-3 (Aumasson, Bernstein 2012) with a random key per process. Knows nothing of tables. */
#include "base/hash.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static uint64_t key[2];
static pthread_once_t drawn = PTHREAD_ONCE_INIT;

static void draw_key(void)
{
	struct timespec now;

	if (getrandom(key, sizeof(key), GRND_NONBLOCK) == (ssize_t)sizeof(key))
		return;
	/* fallback early at boot without entropy: the clock and the load address */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	key[0] ^= (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u;
	key[1] ^= (uint64_t)(uintptr_t)&now ^ (uint64_t)(uintptr_t)draw_key << 17;
}

static uint64_t turn(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = turn(v[1], 13) ^ v[0];
	v[3] = turn(v[3], 16) ^ v[2];
	v[0] = turn(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = turn(v[1], 17) ^ v[2];
	v[3] = turn(v[3], 21) ^ v[0];
	v[2] = turn(v[2], 32);
}

uint64_t jl_hash_keyed(const void *data, size_t len)
{
	const unsigned char *at = data;
	uint64_t word, last = (uint64_t)len << 56;

	(void)pthread_once(&drawn, draw_key);
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
			  key[1] ^ 0x7465646279746573u };

	for (; len >= 8; at += 8, len -= 8) {
		memcpy(&word, at, 8);
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	for (size_t i = 0; i < len; i++)
		last |= (uint64_t)at[i] << (8 * i);
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
