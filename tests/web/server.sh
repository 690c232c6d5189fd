# Sourced: start_server [OPTIONS] starts `jeoul web` on a free port; sets $base (URL), $server (pid), $work (its folder).
work=$(mktemp -d)
server=""
stop_server() { if [ -n "$server" ]; then kill "$server" 2>/dev/null; wait "$server"; fi; }
trap 'stop_server; rm -rf "$work"' EXIT
start_server() {
	local port try
	for try in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 30000))
		# the background process truncates the file: wait until the previous server's output is gone
		rm -f "$work/out"
		"$JEOUL" web --port "$port" "$@" > "$work/out" 2> "$work/err" &
		server=$!
		for _ in $(seq 200); do
			grep -qs 'jeoul web: http' "$work/out" && { base=http://127.0.0.1:$port; return 0; }
			kill -0 "$server" 2>/dev/null || break
			sleep 0.05
		done
		wait "$server" 2>/dev/null
		server=""
		grep -q taken "$work/err" || return 1
	done
	return 1
}
