/* SHA-256 and HMAC. */
#include "base/sha256.h"

#include <string.h>

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void take_block(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64], s[8];

	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
		       (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		const uint32_t e = s[4], a = s[0];
		const uint32_t one = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
				     rounds[i] + w[i];
		const uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
				     ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

void jl_sha256_begin(struct jl_sha256 *sha)
{
	*sha = (struct jl_sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
					      0x1f83d9ab, 0x5be0cd19 } };
}

void jl_sha256_add(struct jl_sha256 *sha, const void *data, size_t size_B)
{
	const unsigned char *from = data;

	while (size_B) {
		const size_t at = sha->n_B % JL_SHA256_BLOCK_B, room = JL_SHA256_BLOCK_B - at;
		const size_t n = size_B < room ? size_B : room;

		memcpy(sha->block + at, from, n);
		sha->n_B += n;
		from += n;
		size_B -= n;
		if (n == room)
			take_block(sha->state, sha->block);
	}
}

void jl_sha256_end(struct jl_sha256 *sha, unsigned char ret_digest[JL_SHA256_B])
{
	static const unsigned char pad[JL_SHA256_BLOCK_B] = { 0x80 };
	const uint64_t n_bits = 8 * sha->n_B;
	unsigned char length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(n_bits >> (56 - 8 * i));
	jl_sha256_add(sha, pad, 1 + (JL_SHA256_BLOCK_B + 55 - sha->n_B % JL_SHA256_BLOCK_B) % JL_SHA256_BLOCK_B);
	jl_sha256_add(sha, length, sizeof(length));
	for (int i = 0; i < JL_SHA256_B; i++)
		ret_digest[i] = (unsigned char)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

static void keyed(unsigned char ret_digest[JL_SHA256_B], const unsigned char key[JL_SHA256_BLOCK_B], int mask,
		  const void *data, size_t size_B)
{
	unsigned char pad[JL_SHA256_BLOCK_B];
	struct jl_sha256 sha;

	for (int i = 0; i < JL_SHA256_BLOCK_B; i++)
		pad[i] = (unsigned char)(key[i] ^ mask);
	jl_sha256_begin(&sha);
	jl_sha256_add(&sha, pad, sizeof(pad));
	jl_sha256_add(&sha, data, size_B);
	jl_sha256_end(&sha, ret_digest);
}

void jl_hmac_sha256(unsigned char ret_digest[JL_SHA256_B], const void *key, size_t key_B, const void *data,
		    size_t size_B)
{
	unsigned char block[JL_SHA256_BLOCK_B] = { 0 }, inner[JL_SHA256_B];
	struct jl_sha256 sha;

	if (key_B > sizeof(block)) {
		jl_sha256_begin(&sha);
		jl_sha256_add(&sha, key, key_B);
		jl_sha256_end(&sha, block);
	} else {
		memcpy(block, key, key_B);
	}
	keyed(inner, block, 0x36, data, size_B);
	keyed(ret_digest, block, 0x5c, inner, sizeof(inner));
}

bool jl_same_digest(const unsigned char a[JL_SHA256_B], const unsigned char b[JL_SHA256_B])
{
	unsigned differ = 0;

	for (int i = 0; i < JL_SHA256_B; i++)
		differ |= (unsigned)(a[i] ^ b[i]);
	return differ == 0;
}
