# Sourced: finds Firefox and its driver, or skips with a reason.
skip() { echo "skipped: $1"; exit 77; }
command -v node >/dev/null || skip "no node"
FIREFOX=$(command -v firefox-esr || command -v firefox) || skip "no firefox"
"$FIREFOX" --version >/dev/null 2>&1 || skip "$FIREFOX does not start" # Ubuntu's may be a stub for a missing snap
PUPPETEER_AT=""
for place in "${JEOUL_PUPPETEER:-}" "$source/build/web/node_modules" /usr/share/nodejs /usr/lib/node_modules /usr/local/lib/node_modules; do
	[ -n "$place" ] && [ -d "$place/puppeteer-core" ] && PUPPETEER_AT=$place && break
done
[ -n "$PUPPETEER_AT" ] || skip "no puppeteer-core; scripts/setup test puts it under build/web"
export FIREFOX PUPPETEER_AT
