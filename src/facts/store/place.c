/* Resolves a user-given database name: a path, sqlite:PATH, postgresql://... or key=value pairs as in psql. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "store/backend.h"

char *jl_store_copy(const char *text)
{
	size_t size = strlen(text) + 1;
	char *new = jl_realloc(NULL, size);

	return new ? memcpy(new, text, size) : NULL;
}

static char *join(const char *a, const char *b, const char *c)
{
	size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
	char *new = jl_realloc(NULL, size);

	if (new)
		(void)snprintf(new, size, "%s%s%s", a, b, c);
	return new;
}

/* Path of `name` in $XDG_DATA_HOME/jeoul, else ~/.local/share/jeoul. */
static enum jl_status in_data_home(char **ret_path, const char *name, struct jl_err *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	char *path;

	if (data && data[0] == '/') /* the XDG standard says to ignore relative paths */
		path = join(data, "/jeoul/", name);
	else if (home && *home == '/')
		path = join(home, "/.local/share/jeoul/", name);
	else
		return jl_fail(err, JL_E_USAGE, "where should results be kept? Set JEOUL_STORE, XDG_DATA_HOME or HOME");
	JL_TRY(jl_got(path, err));
	*ret_path = path;
	return JL_OK;
}

enum jl_status jl_store_make_parents(const char *path, struct jl_err *err)
{
	char *dir = jl_store_copy(path);
	enum jl_status status = JL_OK;

	JL_TRY(jl_got(dir, err));
	for (char *slash = strchr(dir + 1, '/'); slash && !status; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(dir, 0700) != 0 && errno != EEXIST && errno != EISDIR && errno != EROFS)
			status = jl_fail(err, JL_E_IO, "%s: the folder cannot be made: {%s}", dir, strerror(errno));
		*slash = '/';
	}
	jl_free(dir);
	return status;
}

void jl_store_folders(struct jl_store_folders *ret_folders, const char *url)
{
	struct jl_store_folders folders = { 0 };
	struct jl_store_place place = { 0 };
	const struct jl_store_backend *backend = NULL;
	char *slash;

	if (in_data_home(&folders.own, "", NULL))
		folders.own = NULL;
	if (jl_store_place_init(&place, &backend, url, NULL) == JL_OK) {
		folders.on_server = backend != &jl_store_sqlite;
		folders.of_store = jl_store_copy(folders.on_server ? place.spool : place.target);
		slash = folders.of_store ? strrchr(folders.of_store, '/') : NULL;
		if (slash)
			slash[slash == folders.of_store] = '\0';
		else if (folders.of_store)
			memcpy(folders.of_store, ".", 2);
	}
	jl_store_place_release(&place);
	*ret_folders = folders;
}

enum jl_status jl_store_check_form(const char *shown, long long form, int least, struct jl_err *err)
{
	if (form > JL_STORE_SCHEMA)
		return jl_fail(err, JL_E_DATA,
			       "%s: made by a newer jeoul (form %lld, this one knows %d); use that, or export there "
			       "and import here",
			       shown, form, JL_STORE_SCHEMA);
	if (form < least)
		return jl_fail(err, JL_E_DATA,
			       "%s: the store says that it has form %lld, which no jeoul makes; it was not touched",
			       shown, form);
	return JL_OK;
}

static enum jl_status server_place(struct jl_store_place *place, const char *url, struct jl_err *err)
{
	char name[48];

	JL_TRY(jl_store_postgres_shown(&place->shown, url, err));
	/* hash of the shown URL: a changed password must not orphan waiting results */
	(void)snprintf(name, sizeof(name), "spool-%016llx.jsonl",
		       (unsigned long long)jl_hash(JL_HASH_START, place->shown, strlen(place->shown)));
	JL_TRY(in_data_home(&place->spool, name, err));
	place->refused = join(place->spool, ".refused", "");
	place->target = jl_store_copy(url);
	return place->target && place->refused ? JL_OK : jl_fail_nomem(err);
}

static enum jl_status file_place(struct jl_store_place *place, const char *url, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	if (!url) {
		status = in_data_home(&place->target, "jeoul.db", err);
	} else {
		if (strncmp(url, "sqlite:", 7) == 0)
			url += strncmp(url, "sqlite://", 9) == 0 ? 9 : 7;
		place->target = jl_store_copy(url);
		if (!place->target)
			status = jl_fail_nomem(err);
		else if (!*place->target)
			status = jl_fail(err, JL_E_USAGE, "a store needs a path: sqlite:results.db");
		/* SQLite would open an in-memory database or read settings from these; a stored result must be durable */
		else if (*url == ':' || strncmp(url, "file:", 5) == 0)
			status = jl_fail(
				err, JL_E_USAGE,
				"a store is a file that stays; '%.80s' is none: write its path, e.g. ./results.db",
				url);
	}
	if (status)
		return status;
	place->shown = place->target ? jl_store_copy(place->target) : NULL;
	return place->shown ? JL_OK : jl_fail_nomem(err);
}

/* True for a URL with an unsupported scheme: a path with "://" is a mistake. */
static bool is_foreign_url(const char *url)
{
	return strstr(url, "://") && strncmp(url, "sqlite://", 9) != 0;
}

enum jl_status jl_store_place_init(struct jl_store_place *ret_place, const struct jl_store_backend **ret_backend,
				   const char *url, struct jl_err *err)
{
	struct jl_store_place place = { 0 };
	const struct jl_store_backend *backend = &jl_store_sqlite;
	enum jl_status status;

	if (!url || !*url)
		url = getenv("JEOUL_STORE");
	if (url && !*url)
		url = NULL;
	if (url && jl_utf8_unshown(url))
		return jl_fail(err, JL_E_USAGE, "the store's name has a control character; take it out");
	if (url && (strncmp(url, "postgresql:", 11) == 0 || strncmp(url, "postgres:", 9) == 0)) {
		backend = &jl_store_postgres;
		status = server_place(&place, url, err);
	} else if (url && is_foreign_url(url)) {
		status = jl_fail(err, JL_E_USAGE,
				 "a store is a path, or postgresql://USER@HOST/DB; '%.*s' is not known",
				 (int)(strstr(url, "://") - url), url);
	} else {
		status = file_place(&place, url, err);
	}
	if (status) {
		jl_store_place_release(&place);
		return status;
	}
	place.named = url != NULL;
	*ret_place = place;
	*ret_backend = backend;
	return JL_OK;
}

void jl_store_place_release(struct jl_store_place *place)
{
	jl_free(place->target);
	jl_free(place->shown);
	jl_free(place->spool);
	jl_free(place->refused);
	*place = (struct jl_store_place){ 0 };
}
