/* Which drive a folder is on. */
#pragma once

#include "bench/backend.h"

/* "nvme0n1", "sda", "md0"; "": no single block device (a network's file system, one of several drives). */
void jl_disk_under(const char *dir, char ret_name[JL_DISK_NAME_MAX]);
