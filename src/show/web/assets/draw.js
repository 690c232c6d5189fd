import { t } from "/words.js";
// Charts as SVG, drawn here and not by the server: they follow a slider, keep a ghost of the baseline and answer the pointer. Colour comes from
// the style sheet alone; each says in words what it shows.
const NS = "http://www.w3.org/2000/svg";
export function svg(tag, attributes = {}, ...children) {
  const e = document.createElementNS(NS, tag);
  for (const [key, value] of Object.entries(attributes)) if (value != null) e.setAttribute(key, value);
  e.append(...children.flat().filter((c) => c != null));
  return e;
}
const text = (x, y, words, attributes = {}) => svg("text", { x, y, ...attributes }, words);
const r1 = (v) => Math.round(v * 10) / 10;

export function canvas(height, name, words, width) {
  const root = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${name}. ${words}` });
  return root;
}
// Parts of a whole as one bar; the one that matters has the accent. `ghost`: the same of a baseline, below it and pale.
// `whisker`: the interval of the whole, { lo, hi }.
export function stack(parts, { width, total, name, show, ghost, ghostName, limit, limitName, whisker }) {
  const h = 26, spread = whisker?.lo < whisker?.hi, gap = spread ? 18 : 6, hasGhost = ghost && ghost.length, height = h + (hasGhost ? 12 + gap : spread ? 12 : 0) + (hasGhost && limit ? 28 : 14);
  const sum = (l) => l.reduce((a, p) => a + p.value, 0);
  const top = Math.max(total ?? 0, limit ?? 0, sum(parts), hasGhost ? sum(ghost) : 0, (whisker?.hi ?? 0) * 1.02) * 1.001 || 1;
  const root = canvas(height, name, parts.map((p) => `${p.name} ${show(p.value)}`).join(", "), width);
  const row = (list, y, hh, cls) => { let x = 0; for (const p of list) { const w = (p.value / top) * width; if (w > 0.2) root.append(svg("rect", { x: r1(x), y, width: r1(Math.max(w - 1.5, 0.5)), height: hh, class: `${cls} look${p.look ?? 5}` }, svg("title", {}, `${p.name}: ${show(p.value)}`))); x += w; } };
  row(parts, 0, h, "part");
  if (hasGhost) { row(ghost, h + gap, 12, "part ghost"); root.append(text(0, h + gap + 26, `↑ ${ghostName}: ${show(sum(ghost))}`, { class: "tick" })); }
  if (limit) { const x = r1((limit / top) * width) - 1; root.append(svg("path", { d: `M${x} -2V${h + (hasGhost ? 12 + gap : spread ? 14 : 0) + 4}`, class: "limit" }), text(x - 4, height - 1, limitName, { "text-anchor": "end", class: "tick" })); }
  if (spread) { const [a, b] = [whisker.lo, whisker.hi].map((v) => r1((v / top) * width)), y = h + 8, d = `M${a} ${y}H${b}M${a} ${y - 4}v8M${b} ${y - 4}v8`; root.append(svg("path", { d, class: "whisker halo" }), svg("path", { d, class: `whisker${whisker.hi > limit ? " over" : ""}` }, svg("title", {}, `${show(whisker.lo)} – ${show(whisker.hi)}`))); }
  return root;
}
// Round figures from lo to hi, about n of them. Counted, not added up: a step may be less than the last bit of lo (milliseconds since 1970).
function nice(lo, hi, n) {
  const raw = (hi - lo) / n;
  if (!(raw > 0) || raw < Math.abs(hi) * 1e-12) return [lo];
  const p = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((k) => k * p >= raw) * p, first = Math.ceil(lo / step - 1e-9), last = Math.floor(hi / step + 1e-9);
  return Array.from({ length: Math.min(last - first + 1, 4 * n) }, (_, i) => (first + i) * step);
}
// The round figure at or below v, and the one at or above.
const ROUND = [1, 2, 3, 5, 10], below = (v) => { const p = 10 ** Math.floor(Math.log10(v) + 1e-9); return ROUND.findLast((k) => k * p <= v * 1.001) * p; }, above = (v) => { const p = 10 ** Math.floor(Math.log10(v) - 1e-9); return ROUND.find((k) => k * p >= v * 0.999) * p; };
function scale({ lo, hi, log, ticks, n = 5 }, from, to) {
  if (log) {
    if (!(lo > 0 && Number.isFinite(lo))) lo = 1e-3; // a figure of nothing or without end has no place here, and no decades are counted for it
    if (!(hi > lo && Number.isFinite(hi))) hi = 10 * lo;
    if (!ticks) [lo, hi] = [below(lo), above(hi)];
    const a = Math.log(lo), b = Math.log(hi);
    const f = (v) => from + ((Math.log(v) - a) / (b - a || 1)) * (to - from);
    for (const steps of ticks ? [] : hi / lo > 300 ? [[1], [1, 3]] : hi / lo > 30 ? [[1, 3], [1, 2, 5]] : [[1, 2, 5]]) { ticks = []; for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++) for (const m of steps) { const v = m * 10 ** e; if (v >= lo * 0.999 && v <= hi * 1.001) ticks.push(v); } if (ticks.length > 2) break; }
    return { f, ticks: ticks.length > 2 ? ticks : nice(lo, hi, 4) };
  }
  return { f: (v) => from + ((v - lo) / (hi - lo || 1)) * (to - from), ticks: ticks ?? nice(lo, hi, n) };
}
// What may stand on a logarithmic axis: a typed target may be zero or negative.
export const positive = (...values) => values.filter((v) => v > 0 && Number.isFinite(v));
// What stands at the ticks of an axis, with as many digits as their distance has; one that reads like its neighbour is not written.
function tickTexts(axis, ticks) {
  const size = Math.max(...ticks.map(Math.abs)), step = Math.min(...ticks.slice(1).map((v, i) => Math.abs(v - ticks[i]))), n = step > 0 && size < 1e6 * step ? Math.max(2, 1 + Math.floor(Math.log10(size) + 1e-9) - Math.floor(Math.log10(step) + 1e-9)) : 2;
  return ticks.map((v) => [v, axis.show(v, n)]).map(([v, label], i, all) => [v, label && label === all[i - 1]?.[1] ? "" : label]);
}
// Where people mark time: minutes, hours, days.
export const timeTicks = (lo, hi) => [60, 600, 3600, 4 * 3600, 12 * 3600, 86400, 3 * 86400, 10 * 86400, 30 * 86400, 100 * 86400, 365 * 86400, 3650 * 86400].filter((v) => v >= lo && v <= hi);
// Lines and points on two axes. series: { name, kind: "line"|"points"|"stairs", points: [{x, y, lo, hi, label, onclick, cls}], cls }
// shade: { from, name }: what lies right of it is something else.
// ends: the names of all lines stand at their right ends.
// square: one scale both ways, so that x = y lies at 45°. names: what the points with a `name` are called stands beside them, where there is room.
export function plot({ width, height = 320, name, words = "", x, y, series, marks = [], legend = true, shade = null, square = false, names = false, ends = false }) {
  const columns = (s) => [...s].reduce((n, c) => n + (c > "\u1100" ? 1.8 : 1), 0), letter = 0.5 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  const narrow = width < 520, right = (narrow ? 12 : 20) + (ends ? Math.max(0, ...series.map((s) => 1.15 * letter * columns(s.name ?? ""))) : 0), top = 26, bottom = 44;
  let sy = scale(y, height - bottom, top);
  const left = Math.max(narrow ? 30 : 48, ...tickTexts(y, sy.ticks).map(([, label]) => letter * columns(label) + 12));
  if (square) { width = Math.min(width, 640); height = width - left - right + top + bottom; sy = scale(y, height - bottom, top); }
  const root = canvas(height, name, words, width);
  const sx = scale({ n: narrow ? 4 : 7, ...x }, left, width - right);
  for (const [v, label] of tickTexts(y, sy.ticks)) root.append(svg("path", { d: `M${left} ${r1(sy.f(v))}H${width - right}`, class: "grid" }), text(left - 8, r1(sy.f(v)) + 4, label, { "text-anchor": "end", class: "tick" }));
  let last = -99;
  for (const [v, label] of tickTexts(x, sx.ticks)) { const px = r1(sx.f(v)); if (px - last < columns(label) * 7 + 10) continue; last = px; root.append(text(Math.min(px, r1(width - 0.55 * letter * columns(label))), height - bottom + 18, label, { "text-anchor": "middle", class: "tick" })); }
  const title = (a) => (a.log ? `${a.label} (${t("log_scale")})` : a.label);
  root.append(text(left, 14, title(y), { class: "axis" }), text(width - right, height - 6, title(x), { "text-anchor": "end", class: "axis" }));
  if (shade) { const x0 = r1(Math.max(left, sx.f(shade.from))); root.append(svg("rect", { x: x0, y: top, width: Math.max(0, r1(width - right - x0)), height: height - bottom - top, class: "shade" }), text(width - right - 6, height - bottom - 8, shade.name, { "text-anchor": "end", class: "tick" })); }
  for (const s of series) drawSeries(root, s, sx.f, sy.f, { left, right: width - right, top, bottom: height - bottom });
  // the name of a level stands at the end, above or below its line, where it is farthest from the curves
  const lines = series.filter((s) => s.kind !== "points").map((s) => s.points.filter((p) => p.x != null && p.y != null).map((p) => [sx.f(p.x), sy.f(p.y)])).filter((l) => l.length);
  const nearest = (x0, x1, y0, y1) => Math.min(99, ...lines.flatMap((l) => l.flatMap(([px, py], i) => [0, 0.25, 0.5, 0.75].map((k) => { const [qx, qy] = l[i + 1] ?? [px, py], ax = px + k * (qx - px), ay = py + k * (qy - py); return ax < x0 - 4 || ax > x1 + 4 ? 99 : Math.max(y0 - ay, ay - y1, 0); }))), ...taken.map((b) => (b[0] < x1 && b[2] > x0 && b[1] < y1 && b[3] > y0 ? -9 : 99)));
  const taken = [[left, 0, left + 1.2 * letter * columns(title(y)), 18]]; // the axis's own name; then lines first: a name that has to cross one is read before it
  for (const x0 of marks.filter((m) => m.x != null).map((m) => sx.f(m.x))) taken.push([x0 - 1, top, x0 + 1, height - bottom]);
  for (const m of marks) if (m.x != null) root.append(svg("path", { d: `M${r1(sx.f(m.x))} ${top}V${height - bottom}`, class: `mark ${m.cls ?? ""}` }));
  for (const m of [...marks].sort((a, b) => (a.x != null) - (b.x != null))) { // levels first: they have fewer places
    const x0 = m.x != null ? sx.f(m.x) : 0, y0 = m.y != null ? sy.f(m.y) : 0, wide = letter * columns(m.name) + 8;
    if (x0) {
      const spots = [[-1, 0], [1, 0], [-1, 1], [1, 1], [-1, 2], [1, 2], [-1, 3], [1, 3]].filter(([side]) => (side < 0 ? x0 - wide > left : x0 + wide < width - right)), box = ([side, row]) => [side < 0 ? x0 - wide : x0 + 4, top - 3 + 16 * row, side < 0 ? x0 - 4 : x0 + wide, top + 14 + 16 * row];
      const free = (s) => { const [a, b, c, d] = box(s); return Math.min(nearest(a, c, b, d), 4); }, [side, row] = spots.length ? spots.reduce((b, s) => (free(s) > free(b) ? s : b)) : [1, 0];
      taken.push(box([side, row]));
      root.append(text(r1(x0) + side * 6, top + 10 + 16 * row, m.name, { class: "tick strong halo", "text-anchor": side < 0 ? "end" : "start" }));
    }
    if (y0 > top && y0 <= height - bottom) {
      const spots = [[0, -5], [1, -5], [0, 13], [1, 13]].map(([end, dy]) => { const a = end ? width - right - 6 - wide : left + 6; return { end, dy, box: [a, y0 + dy - 13, a + wide, y0 + dy + 5] }; });
      const best = spots.reduce((b, s) => { const free = nearest(s.box[0], s.box[2], s.box[1], s.box[3]); return free > b.free + 2 ? { ...s, free } : b; }, { ...spots[0], free: nearest(...[0, 2, 1, 3].map((i) => spots[0].box[i])) });
      taken.push(best.box);
      root.append(svg("path", { d: `M${left} ${r1(y0)}H${width - right}`, class: "mark dash" }), text(best.end ? width - right - 6 : left + 6, r1(y0) + best.dy, m.name, { class: `tick strong halo ${m.cls ?? ""}`, "text-anchor": best.end ? "end" : "start" }));
    }
  }
  if (names) nameOf(root, series.flatMap((s) => s.points), sx.f, sy.f, { left, right: width - right, top, bottom: height - bottom }, (t_) => letter * 1.12 * columns(t_), strokes(series, sx.f, sy.f, width - right));
  reachable(root);
  if (ends) endNames(root, series, sx.f, sy.f, width - right, [top + 6, height - bottom]);
  else if (legend) legendOf(root, series.filter((s) => s.name && s.kind !== "points" && s.points.length), sx.f, sy.f, { left, right: width - right, top, bottom: height - bottom }, (s) => letter * 1.15 * columns(s) + 2, nearest, taken);
  return root;
}
// Marks that differ by shape, not by colour alone.
export const shapes = { round: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`, up: (x, y, r) => `M${x} ${y - 1.2 * r}l${1.2 * r} ${2.1 * r}h${-2.4 * r}z`, square: (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`, diamond: (x, y, r) => `M${x} ${y - 1.35 * r}l${1.35 * r} ${1.35 * r}l${-1.35 * r} ${1.35 * r}l${-1.35 * r} ${-1.35 * r}z` };
function drawSeries(root, s, fx, fy, box) {
  const points = s.points.filter((p) => p.y != null && p.x != null);
  const clampY = (v) => Math.max(box.top - 6, Math.min(box.bottom, fy(v)));
  const line = (list) => list.map((p, i) => `${i ? "L" : "M"}${r1(fx(p.x))} ${r1(clampY(p.y))}`).join("");
  const band = points.filter((p) => p.lo != null && p.hi != null);
  if (band.length > 1 && s.kind !== "points") root.append(svg("path", { d: `M${band.map((p) => `${r1(fx(p.x))} ${r1(clampY(p.hi))}`).join("L")}L${[...band].reverse().map((p) => `${r1(fx(p.x))} ${r1(clampY(p.lo))}`).join("L")}Z`, class: `band ${s.cls ?? ""}` }));
  if (s.kind === "stairs") { let d = ""; points.forEach((p, i) => { d += i ? `H${r1(fx(p.x))}V${r1(clampY(p.y))}` : `M${r1(fx(p.x))} ${r1(clampY(p.y))}`; }); root.append(svg("path", { d: d + `H${box.right}`, class: `line ${s.cls ?? ""}` })); }
  else if (s.kind !== "points") root.append(svg("path", { d: line(points), class: `line ${s.cls ?? ""}` }));
  if (s.dots === false) return;
  for (const p of points.filter((q) => s.kind === "points" && (q.lo != null || q.xlo != null))) { // the interval both ways
    const cx = r1(fx(p.x)), cy = r1(clampY(p.y));
    root.append(svg("path", { d: `${p.lo != null ? `M${cx} ${r1(clampY(p.lo))}V${r1(clampY(p.hi))}` : ""}${p.xlo != null ? `M${r1(Math.max(box.left, fx(p.xlo)))} ${cy}H${r1(Math.min(box.right, fx(p.xhi)))}` : ""}`, class: `error ${p.cls ?? ""}` }));
  }
  for (const p of points) {
    const cx = r1(fx(p.x)), cy = r1(clampY(p.y)), r = p.r ?? s.r ?? 3.5, named = { class: `dot ${s.cls ?? ""} ${p.cls ?? ""}`, "data-value": p.value }, title = p.onclick ? null : svg("title", {}, p.label ?? "");
    const dot = p.shape ? svg("path", { d: shapes[p.shape](cx, cy, r), ...named }, title) : svg("circle", { cx, cy, r, ...named }, title);
    if (p.ring) root.append(svg("circle", { cx, cy, r: r + 6, class: "ring" }));
    dot.at = { cx, cy };
    if (p.onclick) { dot.setAttribute("tabindex", "0"); dot.setAttribute("role", "button"); dot.setAttribute("aria-label", p.label ?? ""); dot.go = p.onclick; root.setAttribute("role", "group"); }
    root.append(dot);
  }
}
// A finger takes the nearest point within 24 px; the keyboard stops once, and goes through the points with the arrows.
function reachable(root) {
  const dots = [...root.querySelectorAll(".dot[tabindex]")].sort((a, b) => a.at.cx - b.at.cx || a.at.cy - b.at.cy);
  if (!dots.length) return;
  dots.forEach((d, i) => { d.setAttribute("tabindex", i ? "-1" : "0"); });
  root.addEventListener("click", (e) => {
    const m = root.getScreenCTM(), far = (d) => Math.hypot(m.a * d.at.cx + m.e - e.clientX, m.d * d.at.cy + m.f - e.clientY), best = dots.reduce((a, b) => (far(b) < far(a) ? b : a));
    if (dots.includes(e.target)) e.target.go(); else if (far(best) <= 24) best.go();
  });
  root.addEventListener("pointerover", (e) => { if (e.target.go && !e.target.firstChild) e.target.append(svg("title", {}, e.target.getAttribute("aria-label"))); }); // a thousand points have theirs when they are looked at
  root.addEventListener("keydown", (e) => {
    if (e.target.go && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); e.target.go(); return; }
    const i = dots.indexOf(e.target), to = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: dots.length - 1 }[e.key];
    if (i < 0 || to === undefined) return;
    e.preventDefault();
    const next = dots[Math.max(0, Math.min(dots.length - 1, to))];
    for (const d of dots) d.setAttribute("tabindex", d === next ? "0" : "-1");
    next.focus();
  });
}
// Names of points, in their order of weight, each where it lies on no other name and no named point.
// Where lines run, as small boxes: what is named lies on none.
const strokes = (series, fx, fy, right) => series.filter((s) => s.kind !== "points").flatMap((s) => s.points.filter((p) => p.y != null).flatMap((p, i, all) => {
  const x = fx(p.x), y = fy(p.y), to = all[i + 1], [x1, y1] = to ? [fx(to.x), fy(to.y)] : [s.kind === "stairs" ? right : x, y], box = (a, b, c, d) => [Math.min(a, c) - 1, Math.min(b, d) - 1, Math.max(a, c) + 1, Math.max(b, d) + 1];
  if (s.kind === "stairs") return [box(x, y, x1, y), box(x1, y, x1, y1), ...(i ? [] : [box(x, 0, x, y)])];
  return Array.from({ length: 16 }, (_, k) => box(x + ((x1 - x) * k) / 16, y + ((y1 - y) * k) / 16, x + ((x1 - x) * (k + 1)) / 16, y + ((y1 - y) * (k + 1)) / 16));
}));
function nameOf(root, points, fx, fy, box, wide, steps) {
  const taken = points.filter((p) => p.name).map((p) => [fx(p.x) - 8, fy(p.y) - 8, fx(p.x) + 8, fy(p.y) + 8]), dots = points.filter((p) => p.x != null && p.y != null).map((p) => [fx(p.x) - 3, fy(p.y) - 3, fx(p.x) + 3, fy(p.y) + 3]), hits = (b, list) => list.some((q) => q[0] < b[2] && q[2] > b[0] && q[1] < b[3] && q[3] > b[1]);
  for (const p of points.filter((q) => q.name)) {
    const w = wide(p.name) + 4, x0 = fx(p.x), y0 = fy(p.y);
    const spots = [[12, -8], [12, 16], [-12 - w, -8], [-12 - w, 16], [-w / 2, -16], [-w / 2, 26], [12, -24], [12, 32], [-12 - w, -24], [-12 - w, 32]].map(([dx, dy]) => [x0 + dx, y0 + dy - 14, x0 + dx + w, y0 + dy + 3]).filter((b) => b[0] >= box.left && b[2] <= box.right + 12 && b[1] >= box.top - 12 && b[3] <= box.bottom && !hits(b, taken)), clear = spots.filter((b) => !hits(b, steps)), spot = clear.find((b) => !hits(b, dots)) ?? clear[0];
    if (!spot) continue; // no room that is free of lines: the point says its name itself
    taken.push(spot);
    root.append(text(r1(spot[0]), r1(spot[3] - 3), p.name, { class: `name ${p.ring ? "strong" : ""}` }));
  }
}
// Every name at the right end of its line, below each other in the order of the ends, with a stroke to it: lines that run side by side.
function endNames(root, series, fx, fy, edge, [top, bottom]) {
  const rows = series.filter((s) => s.name && s.points.length).map((s) => { const last = s.points.reduce((a, b) => (b.x > a.x ? b : a)); return { s, x: fx(last.x), at: fy(last.y), y: fy(last.y) }; }).sort((a, b) => a.y - b.y);
  rows.forEach((r, i) => { r.y = Math.max(r.y, top, i ? rows[i - 1].y + 16 : top); });
  rows.reduceRight((below, r) => (r.y = Math.min(r.y, below)) - 16, bottom);
  for (const r of rows) root.append(svg("path", { d: `M${r1(r.x + 5)} ${r1(r.at)}L${r1(edge)} ${r1(r.y)}`, class: `lead ${r.s.cls ?? ""}` }), text(r1(edge + 4), r1(r.y) + 4, r.s.name, { class: `name ${r.s.cls ?? ""}` }));
}
// Names stand at the ends of their lines, above or below, or farther back: where they lie on no line and no other name.
function legendOf(root, series, fx, fy, box, wide, nearest, taken) {
  for (const s of series) {
    const points = s.points.filter((q) => q.y != null).map((q) => [Math.min(fx(q.x), box.right), fy(q.y)]).sort((a, b) => a[0] - b[0]), w = wide(s.name), last = points.at(-1), first = points[0];
    if (!last) continue;
    const before = first[0] - w - 10 > box.left ? [{ x: first[0] - 10, y: first[1] + 4, box: [first[0] - 10 - w, first[1] - 9, first[0] - 10, first[1] + 9] }] : []; // a line that begins within the picture
    const after = [0, 14, -14].map((dy) => ({ x: last[0] + 10 + w, y: last[1] + 4 + dy, box: [last[0] + 10, last[1] - 9 + dy, last[0] + 10 + w, last[1] + 9 + dy] })).filter((c) => c.box[2] < box.right && c.box[3] <= box.bottom);
    const spots = [...before, ...after, ...[1, 0.8, 0.6, 0.4, 0.2].flatMap((part) => {
      const x = Math.max(first[0] + part * (last[0] - first[0]), box.left + w), i = Math.max(1, points.findIndex((p) => p[0] >= x)), [p, q] = [points[i - 1], points[i] ?? points[i - 1]], y = q[0] > p[0] ? p[1] + ((x - p[0]) / (q[0] - p[0])) * (q[1] - p[1]) : q[1];
      return [-9, 17, -24, 32, -42, 50, -60, 68].map((dy) => ({ x, y: y + dy, box: [x - w, y + dy - 13, x, y + dy + 5] })).filter((c) => c.box[1] >= 0 && c.box[3] <= box.bottom);
    })];
    const free = (c) => Math.min(nearest(c.box[0], c.box[2], c.box[1], c.box[3]), 4), best = spots.reduce((m, c) => (free(c) > free(m) ? c : m), spots[0]);
    if (!best) continue;
    taken.push(best.box);
    root.append(text(r1(best.x), r1(best.y), s.name, { "text-anchor": "end", class: `name ${s.cls ?? ""}` }));
  }
}
// What moves a result: one bar for each input, from its value at 80 % to that at 120 %. An end that is not there lies beyond `limit`; the longest is first.
export function tornado({ width, name, rows, centre, limit, show }) {
  rows = rows.map((r) => ({ ...r, lo: r.lo ?? limit * 1.08, hi: r.hi ?? limit * 1.08 })).sort((a, b) => Math.abs(b.hi - b.lo) - Math.abs(a.hi - a.lo));
  const h = 30, left = Math.min(170, width * 0.42), height = rows.length * h + 26;
  const all = rows.flatMap((r) => [r.lo, r.hi]), lo = Math.min(centre, ...all), hi = Math.max(centre, ...all);
  const letter = 0.55 * parseFloat(getComputedStyle(document.documentElement).fontSize), wide = (of) => 10 + letter * Math.max(...rows.map((r) => [...show(of(r.lo, r.hi))].reduce((n, c) => n + (c > "\u1100" ? 1.8 : 1), 0))), before = wide(Math.min), after = wide(Math.max);
  const f = (v) => left + before + ((v - lo) / (hi - lo || 1)) * (width - left - before - after);
  const root = canvas(height, name, rows.map((r) => `${r.name}: ${show(r.lo)} – ${show(r.hi)}`).join(", "), width);
  rows.forEach((r, i) => {
    const y = i * h + 6, a = f(Math.min(r.lo, r.hi)), b = f(Math.max(r.lo, r.hi));
    root.append(text(0, y + 14, r.name, { class: "tick strong" }), svg("rect", { x: r1(a), y, width: r1(Math.max(b - a, 1)), height: 18, class: i === 0 ? "part strong" : "part shade2" }), text(r1(a) - 4, y + 14, show(Math.min(r.lo, r.hi)), { "text-anchor": "end", class: "tick" }), text(r1(b) + 4, y + 14, show(Math.max(r.lo, r.hi)), { class: "tick" }));
  });
  root.append(svg("path", { d: `M${r1(f(centre))} 0V${height - 18}`, class: "mark" }), text(r1(f(centre)), height - 4, show(centre), { "text-anchor": "middle", class: "tick strong" }));
  return root;
}
// Things in a row each, a value as a dot with its interval, on one axis from zero (logarithmic where they differ by more than 30 times); the best has the
// accent. rows: { name, value, lo, hi, best }; `by`: the size of the unit in which the axis has round figures; `limit`: { value, name }, a line across.
export function dots({ width, name, rows, show, by = 1, tick = show, limit = null }) {
  const h = 28, letter = 0.5 * parseFloat(getComputedStyle(document.documentElement).fontSize), columns = (s) => [...s].reduce((n, c) => n + (c > "\u1100" ? 1.8 : 1), 0), left = Math.min(width * 0.4, Math.max(...rows.map((r) => letter * columns(r.name))) + 14), right = width - Math.max(...rows.map((r) => letter * columns(show(r.value)))) - 16;
  const lo = Math.min(...rows.map((r) => r.lo)), hi = Math.max(limit?.value ?? 0, ...rows.map((r) => r.hi)), log = lo > 0 && hi / lo > 30, bottom = rows.length * h + 6, n = width < 520 ? 3 : 6;
  const { f, ticks } = scale(log ? { lo: lo / by, hi: hi / by, log } : { lo: 0, hi: (hi * 1.02) / by, n }, left + 8, right - 12), at = (v) => r1(f(v / by));
  const root = canvas(bottom + 24, log ? `${name} (${t("log_scale")})` : name, rows.map((r) => `${r.name} ${show(r.value)} (${show(r.lo)} – ${show(r.hi)})`).join(", "), width);
  const [lx, lw] = limit ? [at(limit.value), letter * columns(limit.name) + 8] : [-999, 0];
  if (limit) root.append(svg("path", { d: `M${lx} 2V${bottom + 4}`, class: "limit" }), text(lx + (lx + lw > right ? -6 : 6), bottom + 17, limit.name, { class: "tick strong", "text-anchor": lx + lw > right ? "end" : "start" }));
  let end = -99; // of the figure before: no two lie on each other
  for (const v of ticks) {
    const px = r1(f(v)), label = v ? tick(v * by) : "0", half = 0.55 * letter * columns(label);
    if (limit && px + half > lx - (lx + lw > right ? lw : 4) && px - half < lx + (lx + lw > right ? 4 : lw)) continue; // its name stands there
    root.append(svg("path", { d: `M${px} 2V${bottom}`, class: "grid" }));
    if (px - half < end + 6) continue;
    end = px + half;
    root.append(text(px, bottom + 17, label, { "text-anchor": "middle", class: "tick" }));
  }
  rows.forEach((r, i) => {
    const y = i * h + 18, [a, b] = [at(r.lo), at(r.hi)];
    root.append(text(0, y + 4, r.name, { class: `tick ${r.best ? "strong" : ""}` }), svg("path", { d: `M${a} ${y}H${b}M${a} ${y - 4}v8M${b} ${y - 4}v8`, class: `error solid ${r.best ? "best" : ""}` }), svg("circle", { cx: at(r.value), cy: y, r: 5.5, class: `dot ${r.best ? "main" : ""}`, "data-value": r.value }, svg("title", {}, `${r.name}: ${show(r.value)}`)), text(width, y + 4, show(r.value), { class: "tick strong", "text-anchor": "end" }));
  });
  return root;
}
// A map: a square for each pair of row and column, darker where the value is larger; `pinned` is framed. cells: { row, column, value, label }
export function heat({ width, name, rows, columns, cells, most, show }) {
  const longest = width < 480 ? 13 : 26, shortened = (s) => (s.length > longest ? `${s.slice(0, longest - 1)}…` : s);
  const letter = 0.42 * parseFloat(getComputedStyle(document.documentElement).fontSize), wide = (list) => Math.max(...list.map((c) => shortened(c.name).length)) * letter;
  const left = Math.min(width * 0.36, wide(rows) * 1.25 + 8), w = Math.min(96, (width - left) / columns.length), level = wide(columns) * 1.2 < w - 6, far = level ? 0 : wide(columns) * 0.95 + 6, cell = level ? w : Math.min(w, (width - left - far) / (columns.length - 0.5)), top = level ? 22 : far + 14, h = 26;
  const root = canvas(top + rows.length * h + 4, name, cells.slice(0, 30).map((c) => c.label).join("; "), Math.min(width, left + cell * columns.length + far));
  columns.forEach((c, i) => root.append(text(0, 0, shortened(c.name), { class: `tick ${c.pinned ? "strong" : ""}`, transform: `translate(${r1(left + (i + 0.5) * cell)} ${top - 8})${level ? "" : " rotate(-40)"}`, "text-anchor": level ? "middle" : "start" })));
  rows.forEach((r, i) => root.append(text(left - 6, top + (i + 0.5) * h + 4, shortened(r.name), { class: `tick ${r.pinned ? "strong" : ""}`, "text-anchor": "end" }), svg("path", { d: `M${r1(left)} ${top + (i + 1) * h}h${r1(cell * columns.length)}`, class: "grid" })));
  for (const c of cells) {
    const x = left + columns.findIndex((q) => q.name === c.column) * cell, y = top + rows.findIndex((q) => q.name === c.row) * h, share = Math.min(1, c.value / most);
    root.append(svg("rect", { x: r1(x + 1), y: y + 1, width: r1(cell - 2), height: h - 2, class: "heat", "fill-opacity": r1(10 * (0.06 + 0.64 * share)) / 10 }, svg("title", {}, c.label)));
    if (cell > 24) root.append(text(r1(x + cell / 2), y + h / 2 + 4, show(c.value), { class: "tick strong", "text-anchor": "middle" }));
    if (rows.find((q) => q.name === c.row).pinned && columns.find((q) => q.name === c.column).pinned) root.append(svg("rect", { x: r1(x + 1), y: y + 1, width: r1(cell - 2), height: h - 2, class: "ring" }));
  }
  return root;
}
export const widthOf = (box) => Math.max(280, Math.round(box.clientWidth || 320));
// Draws now and again when the place changes its width.
export function keepDrawn(box, draw) {
  let last = 0;
  new ResizeObserver(() => { const w = widthOf(box); if (Math.abs(w - last) > 2) { last = w; draw(w); } }).observe(box);
}
