/* Drops a process's rights before it reads untrusted data, so that a parser bug exposes little of the machine. Irreversible. Restrictions that
 * the kernel does not support are skipped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum jl_confine {
	JL_CONFINE_PROGRAMS, /* no exec, no access to other processes' memory, no new privileges; files as before */
	JL_CONFINE_FILES     /* also no opening, creating or removing of files */
};

/* Applies to threads started afterwards, not to those already running. */
void jl_confine(enum jl_confine what);

/* Restrictions for a process that answers untrusted questions. */
struct jl_confine_cell {
	const char *const
		*readable; /* readable files and folders (recursive), NULL-terminated; missing ones are skipped */
	const char *const *writable; /* writable likewise: read, write, create, remove; NULL: none */
	bool sockets;                /* allow connect, for a store on a server */
	bool devices;                /* allow opening devices for ioctl, for a GPU's library */
	size_t data_B;               /* limit of private memory; 0: none */
	unsigned cpu_s;              /* limit of CPU time; 0: none */
};
void jl_confine_cell(const struct jl_confine_cell *cell);

/* Kernel support: Landlock's ABI version (0: none); seccomp filters. */
int jl_confine_landlock(void);
bool jl_confine_seccomp(void);
