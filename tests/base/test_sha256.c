/* Test vectors of FIPS 180-4 and RFC 4231, and input in pieces of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/sha256.h"

static const char *hex(char out[2 * JL_SHA256_B + 1], const unsigned char digest[JL_SHA256_B])
{
	for (size_t i = 0; i < JL_SHA256_B; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
	return out;
}

static void is(const void *data, size_t size_B, const char *wanted)
{
	unsigned char digest[JL_SHA256_B];
	char text[2 * JL_SHA256_B + 1];
	struct jl_sha256 sha;

	for (size_t cut = 0; cut <= size_B; cut += 1 + size_B / (JL_TEST_SANITIZED && size_B > 1000 ? 5 : 100)) {
		jl_sha256_begin(&sha);
		jl_sha256_add(&sha, data, cut);
		jl_sha256_add(&sha, (const char *)data + cut, size_B - cut);
		jl_sha256_end(&sha, digest);
		assert_string_equal(hex(text, digest), wanted);
	}
}

static void digests(void **state)
{
	static char million[1000000];

	(void)state;
	is("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	is("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
	   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(million, 'a', sizeof(million));
	is(million, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	is(million, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
	is(million, sizeof(million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void hmac_is(const void *key, size_t key_B, const void *data, size_t size_B, const char *wanted)
{
	unsigned char digest[JL_SHA256_B];
	char text[2 * JL_SHA256_B + 1];

	jl_hmac_sha256(digest, key, key_B, data, size_B);
	assert_string_equal(hex(text, digest), wanted);
}

static void keyed_digests(void **state)
{
	unsigned char key[131], data[50];
	static const char long_key[] = "Test Using Larger Than Block-Size Key - Hash Key First";

	(void)state;
	memset(key, 0x0b, 20);
	hmac_is(key, 20, "Hi There", 8, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	hmac_is("Jefe", 4, "what do ya want for nothing?", 28,
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	memset(data, 0xdd, sizeof(data));
	hmac_is(key, 20, data, sizeof(data), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
	hmac_is(key, sizeof(key), long_key, sizeof(long_key) - 1,
		"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void digests_compare(void **state)
{
	unsigned char a[JL_SHA256_B] = { 0 }, b[JL_SHA256_B] = { 0 };

	(void)state;
	assert_true(jl_same_digest(a, b));
	for (size_t i = 0; i < JL_SHA256_B; i++) {
		b[i] = 0x80;
		assert_false(jl_same_digest(a, b));
		b[i] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests),
		cmocka_unit_test(keyed_digests),
		cmocka_unit_test(digests_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
