/* What a process gives up before it reads what strangers send: a bug in a parser then gives an attacker as little of the machine as possible.
 * There is no way back. Where the kernel lacks a part, that part is left out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum jl_confine {
	JL_CONFINE_PROGRAMS, /* no exec, no reading of other processes' memory, no new privileges; files as before */
	JL_CONFINE_FILES     /* ... and no file opened, made or removed any more */
};

/* The threads that are started after it are confined too, those that run already are not. */
void jl_confine(enum jl_confine what);

/* A process that answers one stranger's question after the other. */
struct jl_confine_cell {
	const char *const *
		readable; /* files and folders, with what lies below; ends with NULL; those that are missing are skipped */
	const char *const *writable; /* likewise: read, written, made and removed; NULL: none */
	bool sockets;                /* may connect: a store on a server */
	bool devices;                /* may open devices to write and ask them: a GPU's library */
	size_t data_B;               /* of private memory; 0: no limit */
	unsigned cpu_s;              /* of processor time; 0: no limit */
};
void jl_confine_cell(const struct jl_confine_cell *cell);

/* What this kernel has: the version of Landlock (0: none), and whether it filters system calls. */
int jl_confine_landlock(void);
bool jl_confine_seccomp(void);
