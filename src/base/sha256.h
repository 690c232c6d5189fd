/* SHA-256 (FIPS 180-4) and HMAC (RFC 2104), for challenge-response authentication of peers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JL_SHA256_B       32
#define JL_SHA256_BLOCK_B 64

struct jl_sha256 {
	uint32_t state[8];
	uint64_t n_B;
	unsigned char block[JL_SHA256_BLOCK_B];
};

void jl_sha256_begin(struct jl_sha256 *sha);
void jl_sha256_add(struct jl_sha256 *sha, const void *data, size_t size_B);
void jl_sha256_end(struct jl_sha256 *sha, unsigned char ret_digest[JL_SHA256_B]);

void jl_hmac_sha256(unsigned char ret_digest[JL_SHA256_B], const void *key, size_t key_B, const void *data,
		    size_t size_B);

/* Constant-time comparison. */
bool jl_same_digest(const unsigned char a[JL_SHA256_B], const unsigned char b[JL_SHA256_B]);
