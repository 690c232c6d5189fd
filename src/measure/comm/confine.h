/* What a program gives up when it begins to listen: whoever finds a mistake in how it reads messages has as little of the machine as can be.
 * There is no way back. Where the kernel lacks a part, that part is left out. */
#pragma once

#include <stdbool.h>

enum jl_confine {
	JL_CONFINE_PROGRAMS, /* no other program is started, nobody's memory read, no rights gained; files as before */
	JL_CONFINE_FILES     /* ... and no file opened, made or removed any more */
};

/* The threads that are started after it are confined too, those that run already are not. */
void jl_confine(enum jl_confine what);

/* What this kernel has: the version of Landlock (0: none), and whether it filters system calls. */
int jl_confine_landlock(void);
bool jl_confine_seccomp(void);
