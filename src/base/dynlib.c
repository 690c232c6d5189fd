/* Opens shared libraries at run time. */
#include "base/dynlib.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum jl_status jl_dynlib_named(const char *env, const char **ret_path, struct jl_err *err)
{
	/* NULL in a set-user-ID program: the caller must not choose code that runs with other rights */
	const char *path = secure_getenv(env);

	struct stat info;

	if (path && *path && *path != '/')
		return jl_fail(err, JL_E_ABSENT, "%s=%.200s: not an absolute path, so it is not opened", env, path);
	if (path && *path && stat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* opening a pipe would block */
		return jl_fail(err, JL_E_ABSENT, "%s=%.200s: no plain file, so it is not opened", env, path);
	*ret_path = path && *path ? path : NULL;
	return JL_OK;
}

static enum jl_status open_first(const char *env, const char *const *names, void **ret_handle, const char **ret_name,
				 struct jl_err *err)
{
	const char *path = NULL, *reason;
	enum jl_status status = env ? jl_dynlib_named(env, &path, err) : JL_OK;
	const char *const only[] = { path, NULL };
	void *handle = NULL;

	if (status)
		return status;
	if (path)
		names = only;
	for (size_t i = 0; names[i] && !handle; i++) {
		/* absolute paths and bare names only: dlopen resolves a relative path against the working directory */
		if (*names[i] == '/' || !strchr(names[i], '/'))
			handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		*ret_name = names[i];
	}
	if (handle) {
		*ret_handle = handle;
		return JL_OK;
	}
	reason = dlerror();
	if (path && access(path, F_OK) == 0 && (!reason || strstr(reason, "No such file")))
		return jl_fail(err, JL_E_ABSENT, "%s cannot be opened: is it for another processor?", path);
	if (reason && strstr(reason, "No such file")) /* dlerror is in English, because the program sets no locale */
		return jl_fail(err, JL_E_ABSENT, "%s is not installed", names[0]);
	return jl_fail(err, JL_E_ABSENT, "%s cannot be opened: %s", names[0], reason ? reason : "?");
}

enum jl_status jl_dynlib_open(struct jl_dynlib *ret_lib, const char *env, const char *const *names,
			      const struct jl_dynlib_symbol *symbols, size_t n_symbols, void *ret_functions,
			      struct jl_err *err)
{
	const char *name = NULL;
	void *handle = NULL;

	JL_TRY(open_first(env, names, &handle, &name, err));
	for (size_t i = 0; i < n_symbols; i++) {
		void *address = dlsym(handle, symbols[i].name);
		if (!address && symbols[i].instead)
			address = dlsym(handle, symbols[i].instead);
		if (!address && !symbols[i].optional) {
			jl_fail(err, JL_E_ABSENT, "%s has no function %s: is it an old version?", name,
				symbols[i].name);
			dlclose(handle);
			return JL_E_ABSENT;
		}
		/* copy the pointer: ISO C has no cast from object pointer to function pointer */
		memcpy((char *)ret_functions + symbols[i].offset, &address, sizeof address);
	}
	*ret_lib = (struct jl_dynlib){ .handle = handle, .name = name };
	return JL_OK;
}

void jl_dynlib_close(struct jl_dynlib *lib)
{
	if (lib && lib->handle)
		dlclose(lib->handle);
	if (lib)
		*lib = (struct jl_dynlib){ 0 };
}
