# Sourced: finds Chromium and its driver, or skips with a reason.
skip() { echo "skipped: $1"; exit 77; }
command -v node >/dev/null || skip "no node"
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no chromium"
PLAYWRIGHT_AT=""
for place in "${JEOUL_PLAYWRIGHT:-}" "$source/build/web" /usr/share/nodejs /usr/lib/node_modules /usr/local/lib/node_modules; do
	[ -n "$place" ] || continue
	[ -d "$place/node_modules/playwright-core" ] && PLAYWRIGHT_AT=$place && break
	[ -d "$place/playwright-core" ] && PLAYWRIGHT_AT=$place/playwright-core && break
done
[ -n "$PLAYWRIGHT_AT" ] || skip "no playwright-core; scripts/setup test puts it under build/web"
export CHROMIUM PLAYWRIGHT_AT
