/* A program that listens cannot start another one, look into one, or open a file; it goes on with what it holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/confine.h"

/* Bits of what went wrong in a child that confined itself. */
static int child(enum jl_confine what)
{
	char *const argv[] = { (char[]){ "true" }, NULL };
	int wrong = 0, fds[2], file;
	char c;
	pid_t pid = fork();

	if (pid == 0) {
		jl_confine(what);
		(void)execv("/bin/true", argv);
		wrong |= errno == EPERM || errno == EACCES ? 0 : 1;
		wrong |= ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1 && errno == EPERM ? 0 : 2;
		file = open("/etc/passwd", O_RDONLY);
		wrong |= (file >= 0) == (what == JL_CONFINE_PROGRAMS) ? 0 : 4;
		wrong |= socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 && write(fds[0], "x", 1) == 1 &&
					 read(fds[1], &c, 1) == 1
				 ? 0
				 : 8;
		_exit(wrong);
	}
	assert_true(pid > 0 && waitpid(pid, &wrong, 0) == pid);
	assert_true(WIFEXITED(wrong));
	return WEXITSTATUS(wrong);
}

static void little_is_left(void **state)
{
	(void)state;
	if (!jl_confine_seccomp() || !jl_confine_landlock())
		skip();
	assert_int_equal(child(JL_CONFINE_PROGRAMS), 0);
	assert_int_equal(child(JL_CONFINE_FILES), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(little_is_left) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
