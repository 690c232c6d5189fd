#!/bin/bash
# A PostgreSQL server of our own in a folder, on a Unix socket there: pg_server.sh start DIR | stop DIR. `start` prints its URL.
# Exit 77 with the reason where there is no server to start. As root it runs as the user postgres or nobody.
set -u
dir=$2
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -n "$bin" ] || bin=$(dirname "$(command -v initdb 2>/dev/null)" 2>/dev/null)
if [ ! -x "$bin/initdb" ]; then echo "no PostgreSQL server here (package postgresql)"; exit 77; fi
as=()
if [ "$(id -u)" = 0 ]; then
	user=postgres; id -u $user >/dev/null 2>&1 || user=nobody
	command -v setpriv >/dev/null || { echo "no setpriv: root cannot start a PostgreSQL server"; exit 77; }
	as=(setpriv --reuid="$(id -u $user)" --regid="$(id -g $user)" --clear-groups env HOME="$dir")
fi
case $1 in
start)
	if [ ! -d "$dir/data" ]; then
		mkdir -p "$dir"
		[ ${#as[@]} = 0 ] || chown "$(id -u $user)" "$dir"
		(cd "$dir" && "${as[@]}" "$bin/initdb" -D "$dir/data" -U jeoul -A trust -E UTF8 --locale=C --no-sync) >"$dir/initdb.log" 2>&1 ||
			{ cat "$dir/initdb.log"; exit 1; }
		echo "local all guarded scram-sha-256" | cat - "$dir/data/pg_hba.conf" > "$dir/hba" && cat "$dir/hba" > "$dir/data/pg_hba.conf"
	fi
	(cd "$dir" && "${as[@]}" "$bin/pg_ctl" -D "$dir/data" -s -w -t 60 -l "$dir/data/server.log" \
		-o "-c listen_addresses='' -c unix_socket_directories='$dir' -c shared_buffers=16MB -c max_connections=20" start) >"$dir/start.log" 2>&1 </dev/null ||
		{ cat "$dir/start.log" "$dir/data/server.log"; exit 1; }
	echo "postgresql://jeoul@/postgres?host=$dir"
	;;
stop)
	(cd "$dir" && "${as[@]}" "$bin/pg_ctl" -D "$dir/data" -s -w -t 60 -m immediate stop) </dev/null
	;;
*) echo "usage: pg_server.sh start|stop DIR" >&2; exit 2 ;;
esac
