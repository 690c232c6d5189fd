/* Load on a server at loopback: N connections, each with one question after the other. Usage: load PORT SECONDS CONNECTIONS same|different|healthz|heavy|names
 * [EVERY_MS]. One line: requests, a second, p50 and p99 in ms, what was not 200, connections lost. EVERY_MS: each connection waits as long between questions. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 4096
#define SAMPLES_MAX     (4u << 20)

struct client {
	int fd;
	double asked_s, next_s;
	size_t got, want; /* bytes of the answer; want 0: its head is not whole yet */
	bool waits;
	char head[2048];
};

static struct client clients[CONNECTIONS_MAX];
static struct pollfd polls[CONNECTIONS_MAX];
static float *samples;
static size_t n_samples, n_done, n_bad, n_lost;
static int port;
static const char *mode;
static unsigned long long state = 88172645463325252ULL;

static double now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned chance(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % n);
}

static bool ask(struct client *c)
{
	char body[256], request[640];
	int n;

	if (strcmp(mode, "healthz") == 0) {
		n = snprintf(request, sizeof(request), "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
	} else {
		if (strcmp(mode, "heavy") == 0)
			n = snprintf(body, sizeof(body),
				     "{\"model\":\"gpt2-124m\",\"on\":\"rtx-4090\",\"with\":\"rtx-3090\",\"global-"
				     "batch\":%u}",
				     999000000 + chance(1000000));
		else if (strcmp(mode, "different") == 0)
			n = snprintf(body, sizeof(body),
				     "{\"model\":\"gpt2-124m\",\"on\":\"rtx-4090\",\"batch\":%u,\"seq\":%u}",
				     1 + chance(128), 64 + chance(8128));
		else
			n = snprintf(body, sizeof(body), "{\"model\":\"gpt2-124m\",\"on\":\"rtx-4090\",\"batch\":4}");
		n = snprintf(request, sizeof(request),
			     "POST /api/v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
			     "application/json\r\nContent-Length: %d\r\n\r\n%s",
			     n, body);
	}
	c->got = c->want = 0;
	c->waits = true;
	c->asked_s = now_s();
	return send(c->fd, request, (size_t)n, MSG_NOSIGNAL) == n;
}

static bool open_client(struct client *c)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons((uint16_t)port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	c->waits = false;
	return c->fd >= 0 && connect(c->fd, (const void *)&to, sizeof(to)) == 0;
}

/* False: the connection is gone. */
static bool take(struct client *c, double pause_s)
{
	char rest[65536];
	const bool head = c->want == 0;
	const ssize_t n = recv(c->fd, head ? c->head + c->got : rest,
			       head ? sizeof(c->head) - 1 - c->got : sizeof(rest), MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	c->got += (size_t)n;
	if (head) {
		const char *end, *len;

		c->head[c->got] = '\0';
		end = strstr(c->head, "\r\n\r\n");
		len = strcasestr(c->head, "content-length:");
		if (!end || !len)
			return c->got < sizeof(c->head) - 1;
		c->want = (size_t)(end + 4 - c->head) + strtoul(len + 15, NULL, 10);
	}
	if (c->got < c->want)
		return true;
	n_done++;
	n_bad += strncmp(c->head, "HTTP/1.1 200", 12) != 0;
	if (n_samples < SAMPLES_MAX)
		samples[n_samples++] = (float)(now_s() - c->asked_s);
	c->waits = false;
	c->next_s = now_s() + pause_s;
	return true;
}

static int by_size(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Names that fall together under 64-bit FNV-1a in a table of 800,001 places: tests/bench/web_attack.py makes a file of them. */
static int names(void)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&()*+,-./:;<=>?@[]^_{|}~";
	const size_t n = sizeof(letters) - 1;

	for (size_t i = 0; i < n * n * n * n; i++) {
		const char name[4] = { letters[i % n], letters[i / n % n], letters[i / n / n % n],
				       letters[i / n / n / n] };
		uint64_t hash = 1469598103934665603U;

		for (size_t k = 0; k < sizeof(name); k++)
			hash = (hash ^ (unsigned char)name[k]) * 1099511628211U;
		if (hash % 800001 < 8000)
			(void)fwrite(name, 1, sizeof(name), stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	if (strcmp(argv[4], "names") == 0)
		return names();
	port = atoi(argv[1]);
	const double seconds = atof(argv[2]), pause_s = argc > 5 ? 1e-3 * atof(argv[5]) : 0;
	const int n = atoi(argv[3]) < CONNECTIONS_MAX ? atoi(argv[3]) : CONNECTIONS_MAX;

	mode = argv[4];
	state += (unsigned long long)getpid() * 2654435761U;
	samples = malloc(SAMPLES_MAX * sizeof(*samples));
	for (int i = 0; i < n; i++)
		if (!open_client(&clients[i]))
			return 1;
	const double begin_s = now_s();

	while (now_s() - begin_s < seconds) {
		for (int i = 0; i < n; i++) {
			struct client *c = &clients[i];

			if (c->fd < 0 || (!c->waits && now_s() >= c->next_s && !ask(c))) {
				n_lost++;
				(void)close(c->fd);
				if (!open_client(c))
					c->fd = -1;
			}
			polls[i] = (struct pollfd){ .fd = c->waits ? c->fd : -1, .events = POLLIN };
		}
		if (poll(polls, (nfds_t)n, pause_s > 0 ? 2 : 100) <= 0)
			continue;
		for (int i = 0; i < n; i++)
			if (polls[i].revents && !take(&clients[i], pause_s)) {
				n_lost++;
				(void)close(clients[i].fd);
				if (!open_client(&clients[i]))
					clients[i].fd = -1;
			}
	}
	const double took_s = now_s() - begin_s;

	qsort(samples, n_samples, sizeof(*samples), by_size);
	printf("%zu requests, %.1f a second, p50 %.2f ms, p99 %.2f ms, not 200: %zu, lost: %zu\n", n_done,
	       (double)n_done / took_s, n_samples ? 1e3 * (double)samples[n_samples / 2] : 0,
	       n_samples ? 1e3 * (double)samples[n_samples * 99 / 100] : 0, n_bad, n_lost);
	return 0;
}
