/* Confines processes with Landlock (files) and seccomp (system calls). */
#include "comm/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* Address and thread sanitizers map terabytes of address space, so no memory limit is set with them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHADOWED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHADOWED true
#endif
#endif
#ifndef SHADOWED
#define SHADOWED false
#endif

#define X32_BIT 0x40000000U /* x32 has a second set of numbers for the same calls */

int jl_confine_landlock(void)
{
	const long abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

bool jl_confine_seccomp(void)
{
#ifdef ARCH
	const uint32_t action = SECCOMP_RET_ERRNO;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#else
	return false;
#endif
}

#define TRUNCATE ((uint64_t)1 << 14) /* since Landlock ABI 3; older headers lack the name */
#define READS    ((uint64_t)LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define OF_FILES ((uint64_t)LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE)
#define ALL_OF_1 (((uint64_t)LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* Starts a Landlock ruleset: handled rights that no rule grants are denied. Returns -1 if the kernel lacks Landlock. */
static int begin_rules(uint64_t *handled)
{
	const int abi = jl_confine_landlock();
	struct landlock_ruleset_attr attr = { .handled_access_fs = *handled };

	if (abi < 1)
		return -1;
	if (abi < 3)
		attr.handled_access_fs &= ~TRUNCATE;
	*handled = attr.handled_access_fs;
	return (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

static void grant(int rules, uint64_t rights, const char *const *paths)
{
	struct stat info;

	for (; rules >= 0 && paths && *paths; paths++) {
		struct landlock_path_beneath_attr path = { .allowed_access = rights,
							   .parent_fd = open(*paths, O_PATH | O_CLOEXEC) };

		if (path.parent_fd < 0)
			continue;
		if (fstat(path.parent_fd, &info) == 0 && !S_ISDIR(info.st_mode))
			path.allowed_access &= OF_FILES;
		(void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &path, 0);
		(void)close(path.parent_fd);
	}
}

static void end_rules(int rules)
{
	if (rules < 0)
		return;
	(void)syscall(SYS_landlock_restrict_self, rules, 0);
	(void)close(rules);
}

#ifdef ARCH
/* clang-format off */
/* Denied system calls; no measurement needs them. */
static const unsigned refused[] = {
	SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_bpf, SYS_userfaultfd, SYS_kexec_load, SYS_init_module,
	SYS_finit_module, SYS_delete_module, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_reboot, SYS_swapon, SYS_swapoff,
	SYS_add_key, SYS_request_key, SYS_keyctl, SYS_open_by_handle_at, SYS_personality, SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_sethostname,
	SYS_setdomainname,
};
/* clang-format on */
#define N_REFUSED (sizeof(refused) / sizeof(*refused))

#define IS(CODE, K, IF, ELSE) ((struct sock_filter)BPF_JUMP(BPF_JMP | (CODE) | BPF_K, (K), (IF), (ELSE)))
#define LOAD(MEMBER)          ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, MEMBER)))
#define ANSWER(WHAT)          ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (WHAT)))
#define REFUSE(WHY)           ANSWER(SECCOMP_RET_ERRNO | (WHY))

/* Loads the system call number. Rejects other architectures and x32. */
static unsigned short begin_filter(struct sock_filter *code)
{
	unsigned short n = 0;

	code[n++] = LOAD(arch);
	code[n++] = IS(BPF_JEQ, ARCH, 1, 0);
	code[n++] = REFUSE(EPERM);
	code[n++] = LOAD(nr);
	code[n++] = IS(BPF_JGE, X32_BIT, 0, 1);
	code[n++] = REFUSE(EPERM);
	return n;
}

static void filter_calls(void)
{
	struct sock_filter code[N_REFUSED + 8];
	struct sock_fprog program = { .filter = code };
	unsigned short n = begin_filter(code);

	for (size_t i = 0; i < N_REFUSED; i++) /* on a match, jumps over the remaining tests and the "allow" */
		code[n++] = IS(BPF_JEQ, refused[i], (unsigned char)(N_REFUSED - i), 0);
	code[n++] = ANSWER(SECCOMP_RET_ALLOW);
	code[n++] = REFUSE(EPERM);
	program.len = n;
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* clang-format off */
/* System calls needed to answer a question. Others fail with ENOSYS, on which the C library falls back to older calls. */
static const unsigned allowed[] = {
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_close, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs,
	SYS_fstatfs, SYS_openat, SYS_readlinkat, SYS_getdents64, SYS_faccessat, SYS_faccessat2, SYS_getcwd, SYS_fcntl, SYS_flock, SYS_ftruncate, SYS_fsync,
	SYS_fdatasync, SYS_fallocate, SYS_unlinkat, SYS_mkdirat, SYS_renameat2, SYS_fchmod, SYS_umask, SYS_dup, SYS_pipe2, SYS_eventfd2, SYS_mmap, SYS_munmap,
	SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_futex, SYS_set_robust_list, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
	SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam, SYS_sched_getscheduler, SYS_getcpu,
	SYS_get_mempolicy, SYS_membarrier, SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrandom,
	SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getrusage, SYS_times, SYS_getpriority,
	SYS_uname, SYS_sysinfo, SYS_ppoll, SYS_pselect6, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_exit, SYS_exit_group, SYS_restart_syscall,
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_open /* old system calls that only some architectures have */
	SYS_open,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_poll,
	SYS_select,
	SYS_unlink,
	SYS_mkdir,
	SYS_rename,
	SYS_getdents,
	SYS_time,
	SYS_arch_prctl,
#endif
};
#define N_ALLOWED (sizeof(allowed) / sizeof(*allowed))

static const unsigned of_sockets[] = {
	SYS_socket, SYS_connect, SYS_getsockopt, SYS_setsockopt, SYS_getsockname, SYS_getpeername, SYS_shutdown, SYS_sendmmsg
};

/* clang-format on */

static unsigned short allow(struct sock_filter *code, unsigned short n, const unsigned *calls, size_t n_calls)
{
	for (size_t i = 0; i < n_calls; i++) {
		code[n++] = IS(BPF_JEQ, calls[i], 0, 1);
		code[n++] = ANSWER(SECCOMP_RET_ALLOW);
	}
	return n;
}

/* Allows a system call if one argument passes a test. */
static unsigned short allow_where(struct sock_filter *code, unsigned short n, unsigned call, unsigned argument,
				  unsigned test, uint32_t value)
{
	code[n++] = IS(BPF_JEQ, call, 0, 4);
	/* lower 32 bits: both architectures are little-endian */
	code[n++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS,
		(uint32_t)(offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t)));
	code[n++] = IS(test, value, 0, 1);
	code[n++] = ANSWER(SECCOMP_RET_ALLOW);
	code[n++] = REFUSE(EPERM);
	return n;
}

static void filter_cell(const struct jl_confine_cell *cell)
{
	struct sock_filter code[2 * (N_ALLOWED + sizeof(of_sockets) / sizeof(*of_sockets)) + 48];
	struct sock_fprog program = { .filter = code };
	unsigned short n = begin_filter(code);
	const uint32_t own = (uint32_t)getpid();

	n = allow(code, n, allowed, N_ALLOWED);
	if (cell->sockets)
		n = allow(code, n, of_sockets, sizeof(of_sockets) / sizeof(*of_sockets));
	if (cell->devices)
		n = allow(code, n, (const unsigned[]){ SYS_ioctl }, 1);
	/* clone3 passes flags in memory, so it gets ENOSYS */
	n = allow_where(code, n, SYS_clone, 0, BPF_JSET, CLONE_THREAD);
	n = allow_where(code, n, SYS_tgkill, 0, BPF_JEQ, own); /* abort raises it */
	n = allow_where(code, n, SYS_prlimit64, 0, BPF_JEQ, 0);
	n = allow_where(code, n, SYS_prctl, 0, BPF_JEQ, PR_SET_NAME);
	n = allow_where(code, n, SYS_setpriority, 1, BPF_JEQ, 0); /* its own priority */
	code[n++] = REFUSE(ENOSYS);
	program.len = n;
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#endif

/* LeakSanitizer traces the process at exit, which a filter would forbid. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_TRACED true
#endif
#endif
#ifndef IS_TRACED
#define IS_TRACED false
#endif

void jl_confine(enum jl_confine what)
{
	if (IS_TRACED && what == JL_CONFINE_PROGRAMS)
		return;
	uint64_t handled = what == JL_CONFINE_FILES ? ALL_OF_1 : LANDLOCK_ACCESS_FS_EXECUTE;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return;
	end_rules(begin_rules(&handled));
#ifdef ARCH
	filter_calls();
#endif
}

static void limit(int what, rlim_t most)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)what, &now) != 0 || now.rlim_max <= most)
		return;
	(void)setrlimit((__rlimit_resource_t)what, &(struct rlimit){ most, most });
}

void jl_confine_cell(const struct jl_confine_cell *cell)
{
	uint64_t handled = ALL_OF_1 | TRUNCATE;
	static const char *const devices[] = { "/dev", NULL };

	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, 64);
	limit(RLIMIT_MEMLOCK, 0);
	if (!cell->writable)
		limit(RLIMIT_FSIZE, 0);
	if (cell->data_B && !SHADOWED)
		limit(RLIMIT_DATA, cell->data_B);
	if (cell->cpu_s)
		limit(RLIMIT_CPU, cell->cpu_s);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return;
	const int rules = begin_rules(&handled);

	grant(rules, handled & READS, cell->readable);
	grant(rules, handled & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE, cell->writable);
	if (cell->devices)
		grant(rules, handled & (READS | LANDLOCK_ACCESS_FS_WRITE_FILE), devices);
	end_rules(rules);
#ifdef ARCH
	filter_cell(cell);
#endif
}
