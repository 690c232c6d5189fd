/* What a process that answers strangers can still do: each attempt in a process of its own, which says errno by its exit code. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "comm/confine.h"

static char folder[] = "/tmp/jeoul-confine-XXXXXX", file[64];
static pid_t parent;

static int opens(const char *path, int flags)
{
	return open(path, flags | O_CLOEXEC, 0600) >= 0 ? 0 : errno;
}
static int try_read_granted(void)
{
	return opens("/etc/passwd", O_RDONLY);
}
static int try_read(void)
{
	return opens(file, O_RDONLY);
}
static int try_climb(void)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/proc/self/../..%s", file);
	return opens(path, O_RDONLY);
}
static int try_memory(void) /* the server's, with its token */
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld/mem", (long)parent);
	return opens(path, O_RDONLY);
}
static int try_environment(void)
{
	char path[64], c;

	(void)snprintf(path, sizeof(path), "/proc/%ld/environ", (long)parent);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : read(fd, &c, 1) == 1 ? 0 : EACCES;
}
static int try_own_status(void)
{
	return opens("/proc/self/status", O_RDONLY);
}
static int try_write(void)
{
	return opens(file, O_WRONLY);
}
static int try_make(void)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/new", folder);
	return opens(path, O_WRONLY | O_CREAT);
}
static int try_unlink(void)
{
	return unlink(file) == 0 ? 0 : errno;
}
static int try_link(void)
{
	return symlink("/etc/passwd", "/tmp/jeoul-confine-link") == 0 ? 0 : errno;
}
static int try_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 0 : errno;
}
static int try_unix(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : errno;
}
static int try_fork(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0 ? 0 : errno;
}
static int try_program(void)
{
	static char name[] = "/bin/true";

	(void)execv(name, (char *[]){ name, NULL });
	return errno;
}
static int try_kill(void)
{
	return kill(parent, 0) == 0 ? 0 : errno;
}
static int try_slow_down(void)
{
	return setpriority(PRIO_PROCESS, (id_t)parent, 0) == 0 ? 0 : errno;
}
static int try_own_priority(void)
{
	return setpriority(PRIO_PROCESS, 0, 0) == 0 ? 0 : errno;
}
static int try_more_files(void)
{
	return setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 4096, 4096 }) == 0 ? 0 : errno;
}

static const struct attempt {
	const char *what;
	int (*try)(void);
	bool may, files; /* files: Landlock keeps it off */
} attempts[] = {
	{ "read what was granted", try_read_granted, true, false },
	{ "read what it is itself", try_own_status, true, false },
	{ "its own priority", try_own_priority, true, false },
	{ "read another file", try_read, false, true },
	{ "read it by a path that climbs", try_climb, false, true },
	{ "the memory of the server", try_memory, false, true },
	{ "its environment", try_environment, false, true },
	{ "write a file", try_write, false, true },
	{ "make a file", try_make, false, true },
	{ "delete a file", try_unlink, false, true },
	{ "lay a link", try_link, false, false },
	{ "a connection", try_socket, false, false },
	{ "a connection within the machine", try_unix, false, false },
	{ "a process", try_fork, false, false },
	{ "a program", try_program, false, false },
	{ "a signal to the server", try_kill, false, false },
	{ "the server's priority", try_slow_down, false, false },
	{ "more files than it was given", try_more_files, false, false },
};

static int outcome(const struct attempt *a)
{
	static const char *const readable[] = { "/etc/passwd", "/proc/self", NULL };
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0) {
		jl_confine_cell(&(struct jl_confine_cell){ .readable = readable });
		_exit(a->try() & 0xff);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void test_attempts(void **state)
{
	(void)state;
	if (!jl_confine_seccomp())
		skip();
	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		const int why = outcome(&attempts[i]);

		if (attempts[i].files && !jl_confine_landlock())
			continue;
		if ((why == 0) != attempts[i].may)
			fail_msg("%s: %d", attempts[i].what, why);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_attempts) };
	int fd, failed;

	parent = getpid();
	if (!mkdtemp(folder))
		return 1;
	(void)snprintf(file, sizeof(file), "%s/file", folder);
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	(void)close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(file);
	(void)rmdir(folder);
	return failed;
}
