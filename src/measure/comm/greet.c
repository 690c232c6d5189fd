/* The greeting: each side proves that it has the same secret, or that neither has one. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "comm/wire.h"

#define SECRET_MIN_B 16
#define SECRET_MAX_B 4096

enum jl_status jl_wire_random(void *ret, size_t size_B, struct jl_err *err)
{
	if (getrandom(ret, size_B, 0) != (ssize_t)size_B)
		return jl_fail(err, JL_E_IO, "no random numbers: {%s}", strerror(errno));
	return JL_OK;
}

static ssize_t read_whole(int fd, unsigned char *ret, size_t room_B)
{
	size_t n = 0;
	ssize_t got;

	while (n < room_B && (got = read(fd, ret + n, room_B - n)) != 0) {
		if (got < 0 && errno != EINTR)
			return -1;
		n += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)n;
}

enum jl_status jl_wire_read_secret(struct jl_wire_secret *ret_secret, const char *path, struct jl_err *err)
{
	unsigned char text[SECRET_MAX_B + 1];
	struct jl_wire_secret secret = { .given = true };
	struct jl_sha256 sha;

	*ret_secret = (struct jl_wire_secret){ .given = false };
	if (!path)
		return JL_OK;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read_whole(fd, text, sizeof(text));
	int why = errno;
	if (fd >= 0)
		(void)close(fd);
	if (n < 0)
		return jl_fail(err, JL_E_IO, "%s: {%s}", path, strerror(why));
	if (n > SECRET_MAX_B)
		return jl_fail(err, JL_E_LIMIT, "%s: a secret has %d bytes at most", path, SECRET_MAX_B);
	while (n > 0 && isspace(text[n - 1]))
		n--;
	if (n < SECRET_MIN_B)
		return jl_fail(err, JL_E_RANGE,
			       "%s: a secret of %d characters can be guessed; write %d or more, e.g. head -c 24 "
			       "/dev/urandom | base64",
			       path, (int)n, SECRET_MIN_B);
	jl_sha256_begin(&sha);
	jl_sha256_add(&sha, text, (size_t)n);
	jl_sha256_end(&sha, secret.key);
	explicit_bzero(text, sizeof(text));
	*ret_secret = secret;
	return JL_OK;
}

void jl_wire_proof(uint64_t ret_proof[4], const struct jl_wire_secret *secret, enum jl_wire_side who,
		   const unsigned char hello[JL_WIRE_MESSAGE_B], const struct jl_wire_message *challenge)
{
	unsigned char said[1 + 2 * JL_WIRE_MESSAGE_B], digest[JL_SHA256_B];

	said[0] = (unsigned char)who; /* role byte: one side's proof cannot be replayed as the other's */
	memcpy(said + 1, hello, JL_WIRE_MESSAGE_B);
	jl_wire_pack(said + 1 + JL_WIRE_MESSAGE_B, challenge);
	jl_hmac_sha256(digest, secret->key, sizeof(secret->key), said, sizeof(said));
	memcpy(ret_proof, digest, sizeof(digest));
}

bool jl_wire_proves(const struct jl_wire_message *m, const uint64_t proof[4])
{
	unsigned char a[JL_SHA256_B], b[JL_SHA256_B];

	memcpy(a, m->n, sizeof(a));
	memcpy(b, proof, sizeof(b));
	return jl_same_digest(a, b);
}

enum jl_status jl_wire_refused(const struct jl_wire_message *m, const char *host, const char *what,
			       const struct jl_wire_secret *secret, struct jl_err *err)
{
	if (m->version != JL_WIRE_VERSION || m->word == JL_WIRE_VERSION_IS)
		return jl_fail(err, JL_E_IO, "%s runs another version of jeoul: use the same on all hosts", host);
	if (m->word == JL_WIRE_BUSY)
		return jl_fail(err, JL_E_LIMIT, "%s is busy with another client; try again later", host);
	if (m->word == JL_WIRE_OTHER && m->n[0] == 1)
		return jl_fail(err, JL_E_USAGE, "%s was started with other options: give the same on all hosts", host);
	if (m->word == JL_WIRE_OTHER)
		return jl_fail(err, JL_E_USAGE, "%s waits for 'jeoul %s --to', not for '%s'", host, m->text, what);
	if (m->word == JL_WIRE_SECRET && !secret->given)
		return jl_fail(err, JL_E_USAGE, "%s asks for a secret: give its file here too, --secret-file FILE",
			       host);
	if (m->word == JL_WIRE_SECRET && m->n[0] == 0)
		return jl_fail(err, JL_E_USAGE, "%s has no secret: start it with --secret-file too", host);
	if (m->word == JL_WIRE_SECRET)
		return jl_fail(err, JL_E_USAGE, "%s has another secret: give the same file on all hosts", host);
	return jl_wire_from(jl_wire_nonsense(err), host, err);
}

enum jl_status jl_wire_greet(int fd, const char *host, struct jl_wire_message *hello,
			     const struct jl_wire_secret *secret, const struct jl_wire_wait *wait, struct jl_err *err)
{
	unsigned char bytes[JL_WIRE_MESSAGE_B];
	struct jl_wire_message challenge, prove = { .word = JL_WIRE_PROVE }, proven;
	uint64_t theirs[4];
	enum jl_status status = jl_wire_random(&hello->n[3], 2 * sizeof(*hello->n), err);

	hello->word = JL_WIRE_HELLO;
	hello->n[2] = JL_WIRE_BYTE_ORDER;
	jl_wire_pack(bytes, hello);
	JL_THEN(status, jl_wire_send(fd, hello, err));
	JL_THEN(status, jl_wire_receive(fd, wait, &challenge, err));
	status = jl_wire_from(status, host, err);
	if (!status && challenge.word != JL_WIRE_CHALLENGE)
		status = jl_wire_refused(&challenge, host, hello->text, secret, err);
	if (status)
		return status;
	jl_wire_proof(prove.n, secret, JL_WIRE_CONNECTS, bytes, &challenge);
	jl_wire_proof(theirs, secret, JL_WIRE_LISTENS, bytes, &challenge);
	status = jl_wire_send(fd, &prove, err);
	JL_THEN(status, jl_wire_receive(fd, wait, &proven, err));
	status = jl_wire_from(status, host, err);
	if (!status && proven.word != JL_WIRE_PROVEN)
		return jl_wire_refused(&proven, host, hello->text, secret, err);
	if (!status && !jl_wire_proves(&proven, theirs))
		return jl_fail(err, JL_E_DATA, "%s does not know the secret", host);
	return status;
}
