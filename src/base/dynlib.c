#include "base/dynlib.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *open_first(const char *env, const char *const *names, const char **ret_name)
{
	const char *path = env ? getenv(env) : NULL;
	if (path && *path) {
		*ret_name = path;
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	for (size_t i = 0; names[i]; i++) {
		void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		*ret_name = names[i];
		if (handle)
			return handle;
	}
	*ret_name = names[0];
	return NULL;
}

enum jl_status jl_dynlib_open(struct jl_dynlib *ret_lib, const char *env, const char *const *names,
			      const struct jl_dynlib_symbol *symbols, size_t n_symbols, void *ret_functions,
			      struct jl_err *err)
{
	const char *name = NULL;
	void *handle = open_first(env, names, &name);
	if (!handle) {
		const char *reason = dlerror();
		return jl_fail(err, JL_E_ABSENT, "%s cannot be opened: %s", "%s을(를) 열 수 없음: %s", name,
			       reason ? reason : "?");
	}
	for (size_t i = 0; i < n_symbols; i++) {
		void *address = dlsym(handle, symbols[i].name);
		if (!address && symbols[i].instead)
			address = dlsym(handle, symbols[i].instead);
		if (!address && !symbols[i].optional) {
			jl_fail(err, JL_E_ABSENT, "%s has no function %s: is it an old version?",
				"%s에 함수 %s이(가) 없음: 오래된 버전일 수 있음", name, symbols[i].name);
			dlclose(handle);
			return JL_E_ABSENT;
		}
		/* an object pointer as a function pointer: POSIX allows it, ISO C only through memory */
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
