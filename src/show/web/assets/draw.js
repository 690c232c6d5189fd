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
  const h = 26, gap = 6, hasGhost = ghost && ghost.length, height = h + (hasGhost ? 12 + gap : 0) + (hasGhost && limit ? 28 : 14);
  const sum = (l) => l.reduce((a, p) => a + p.value, 0);
  const top = Math.max(total ?? 0, limit ?? 0, sum(parts), hasGhost ? sum(ghost) : 0, (whisker?.hi ?? 0) * 1.02) * 1.001 || 1;
  const root = canvas(height, name, parts.map((p) => `${p.name} ${show(p.value)}`).join(", "), width);
  const row = (list, y, hh, cls) => { let x = 0; for (const p of list) { const w = (p.value / top) * width; if (w > 0.2) root.append(svg("rect", { x: r1(x), y, width: r1(Math.max(w - 1.5, 0.5)), height: hh, class: `${cls} look${p.look ?? 5}` }, svg("title", {}, `${p.name}: ${show(p.value)}`))); x += w; } };
  row(parts, 0, h, "part");
  if (hasGhost) { row(ghost, h + gap, 12, "part ghost"); root.append(text(0, h + gap + 26, `↑ ${ghostName}: ${show(sum(ghost))}`, { class: "tick" })); }
  if (limit) { const x = r1((limit / top) * width) - 1; root.append(svg("path", { d: `M${x} -2V${h + (hasGhost ? 12 + gap : 0) + 4}`, class: "limit" }), text(x - 4, height - 1, limitName, { "text-anchor": "end", class: "tick" })); }
  if (whisker?.lo < whisker?.hi) { const [a, b] = [whisker.lo, whisker.hi].map((v) => r1((v / top) * width)), d = `M${a} ${h / 2}H${b}M${a} ${h / 2 - 5}v10M${b} ${h / 2 - 5}v10`; root.append(svg("path", { d, class: "whisker halo" }), svg("path", { d, class: `whisker${whisker.hi > limit ? " over" : ""}` }, svg("title", {}, `${show(whisker.lo)} – ${show(whisker.hi)}`))); }
  return root;
}
// Round figures from lo to hi, about n of them. Counted, not added up: a step may be less than the last bit of lo (milliseconds since 1970).
function nice(lo, hi, n) {
  const raw = (hi - lo) / n;
  if (!(raw > 0) || raw < Math.abs(hi) * 1e-12) return [lo];
  const p = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 2.5, 5, 10].find((k) => k * p >= raw) * p, first = Math.ceil(lo / step - 1e-9), last = Math.floor(hi / step + 1e-9);
  return Array.from({ length: Math.min(last - first + 1, 4 * n) }, (_, i) => (first + i) * step);
}
function scale({ lo, hi, log, ticks, n = 5 }, from, to) {
  if (log) {
    const a = Math.log(lo), b = Math.log(hi);
    const f = (v) => from + ((Math.log(v) - a) / (b - a || 1)) * (to - from);
    for (const steps of ticks ? [] : hi / lo > 300 ? [[1], [1, 3]] : hi / lo > 30 ? [[1, 3], [1, 2, 5]] : [[1, 2, 5]]) { ticks = []; for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++) for (const m of steps) { const v = m * 10 ** e; if (v >= lo * 0.999 && v <= hi * 1.001) ticks.push(v); } if (ticks.length > 2) break; }
    return { f, ticks: ticks.length > 2 ? ticks : nice(lo, hi, 4) };
  }
  return { f: (v) => from + ((v - lo) / (hi - lo || 1)) * (to - from), ticks: ticks ?? nice(lo, hi, n) };
}
// What may stand on a logarithmic axis: a typed target may be zero or negative.
export const positive = (...values) => values.filter((v) => v > 0 && Number.isFinite(v));
// Lines and points on two axes. series: { name, kind: "line"|"points"|"stairs", points: [{x, y, lo, hi, label, onclick, cls}], cls }
// Where people mark time: minutes, hours, days.
export const timeTicks = (lo, hi) => [60, 600, 3600, 4 * 3600, 12 * 3600, 86400, 3 * 86400, 10 * 86400, 30 * 86400, 100 * 86400, 365 * 86400, 3650 * 86400].filter((v) => v >= lo && v <= hi);
// shade: { from, name }: what lies right of it is something else.
// square: one scale both ways, so that x = y lies at 45°. names: what the points with a `name` are called stands beside them, where there is room.
export function plot({ width, height = 320, name, words = "", x, y, series, marks = [], legend = true, shade = null, square = false, names = false }) {
  const narrow = width < 520, right = narrow ? 12 : 20, top = 26, bottom = 44;
  let sy = scale(y, height - bottom, top);
  const columns = (s) => [...s].reduce((n, c) => n + (c > "\u1100" ? 1.8 : 1), 0), letter = 0.5 * parseFloat(getComputedStyle(document.documentElement).fontSize), left = Math.max(narrow ? 30 : 48, ...sy.ticks.map((v) => letter * columns(y.show(v)) + 12));
  if (square) { width = Math.min(width, 640); height = width - left - right + top + bottom; sy = scale(y, height - bottom, top); }
  const root = canvas(height, name, words, width);
  const sx = scale({ n: narrow ? 4 : 7, ...x }, left, width - right);
  for (const v of sy.ticks) root.append(svg("path", { d: `M${left} ${r1(sy.f(v))}H${width - right}`, class: "grid" }), text(left - 8, r1(sy.f(v)) + 4, y.show(v), { "text-anchor": "end", class: "tick" }));
  let last = -99;
  for (const v of sx.ticks) { const px = r1(sx.f(v)), label = x.show(v); if (px - last < columns(label) * 7 + 10) continue; last = px; root.append(text(Math.min(px, r1(width - 0.55 * letter * columns(label))), height - bottom + 18, label, { "text-anchor": "middle", class: "tick" })); }
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
  if (names) nameOf(root, series.flatMap((s) => s.points), sx.f, sy.f, { left, right: width - right, top, bottom: height - bottom }, (t_) => letter * columns(t_));
  reachable(root);
  if (legend) legendOf(root, series.filter((s) => s.name && s.kind !== "points" && s.points.length), sx.f, sy.f, { left, right: width - right, top, bottom: height - bottom }, (s) => letter * 1.15 * columns(s) + 2, nearest, taken);
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
  if (s.kind === "stairs") { let d = ""; points.forEach((p, i) => { d += i ? `H${r1(fx(p.x))}V${r1(clampY(p.y))}` : `M${r1(fx(p.x))} ${box.top}V${r1(clampY(p.y))}`; }); root.append(svg("path", { d: d + `H${box.right}`, class: `line ${s.cls ?? ""}` })); }
  else if (s.kind !== "points") root.append(svg("path", { d: line(points), class: `line ${s.cls ?? ""}` }));
  if (s.dots === false) return;
  for (const p of points.filter((q) => s.kind === "points" && (q.lo != null || q.xlo != null))) { // the interval both ways
    const cx = r1(fx(p.x)), cy = r1(clampY(p.y));
    root.append(svg("path", { d: `${p.lo != null ? `M${cx} ${r1(clampY(p.lo))}V${r1(clampY(p.hi))}` : ""}${p.xlo != null ? `M${r1(Math.max(box.left, fx(p.xlo)))} ${cy}H${r1(Math.min(box.right, fx(p.xhi)))}` : ""}`, class: `error ${p.cls ?? ""}` }));
  }
  for (const p of points) {
    const cx = r1(fx(p.x)), cy = r1(clampY(p.y)), r = p.r ?? s.r ?? 3.5, named = [{ class: `dot ${s.cls ?? ""} ${p.cls ?? ""}`, "data-value": p.value }, svg("title", {}, p.label ?? "")];
    const dot = p.shape ? svg("path", { d: shapes[p.shape](cx, cy, r), ...named[0] }, named[1]) : svg("circle", { cx, cy, r, ...named[0] }, named[1]);
    if (p.ring) root.append(svg("circle", { cx, cy, r: r + 6, class: "ring" }));
    dot.at = { cx, cy };
    if (p.onclick) { dot.setAttribute("tabindex", "0"); dot.setAttribute("role", "button"); dot.setAttribute("aria-label", p.label ?? ""); dot.go = p.onclick; dot.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); p.onclick(); } }); root.setAttribute("role", "group"); }
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
  root.addEventListener("keydown", (e) => {
    const i = dots.indexOf(e.target), to = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: dots.length - 1 }[e.key];
    if (i < 0 || to === undefined) return;
    e.preventDefault();
    const next = dots[Math.max(0, Math.min(dots.length - 1, to))];
    for (const d of dots) d.setAttribute("tabindex", d === next ? "0" : "-1");
    next.focus();
  });
}
// Names of points, in their order of weight, each where it lies on no other name and no named point.
function nameOf(root, points, fx, fy, box, wide) {
  const taken = points.filter((p) => p.name).map((p) => [fx(p.x) - 8, fy(p.y) - 8, fx(p.x) + 8, fy(p.y) + 8]);
  for (const p of points.filter((q) => q.name)) {
    const w = wide(p.name) + 4, x0 = fx(p.x), y0 = fy(p.y);
    const spot = [[12, -8], [12, 16], [-12 - w, -8], [-12 - w, 16], [-w / 2, -16], [-w / 2, 26], [12, -24], [12, 32], [-12 - w, -24], [-12 - w, 32]].map(([dx, dy]) => [x0 + dx, y0 + dy - 11, x0 + dx + w, y0 + dy + 3]).find((b) => b[0] >= box.left && b[2] <= box.right + 12 && b[1] >= box.top - 12 && b[3] <= box.bottom && !taken.some((q) => q[0] < b[2] && q[2] > b[0] && q[1] < b[3] && q[3] > b[1]));
    if (!spot) continue;
    taken.push(spot);
    root.append(text(r1(spot[0]), r1(spot[3] - 3), p.name, { class: `name ${p.ring ? "strong" : ""}` }));
  }
}
// Names stand at the ends of their lines, above or below, or farther back: where they lie on no line and no other name.
function legendOf(root, series, fx, fy, box, wide, nearest, taken) {
  for (const s of series) {
    const points = s.points.filter((q) => q.y != null).map((q) => [Math.min(fx(q.x), box.right), fy(q.y)]), w = wide(s.name), last = points.at(-1);
    if (!last) continue;
    const spots = [1, 0.8, 0.6, 0.4].flatMap((part) => {
      const x = Math.max(box.left + part * (last[0] - box.left), box.left + w), i = Math.max(1, points.findIndex((p) => p[0] >= x)), [p, q] = [points[i - 1], points[i] ?? points[i - 1]], y = q[0] > p[0] ? p[1] + ((x - p[0]) / (q[0] - p[0])) * (q[1] - p[1]) : q[1];
      return [-9, 17, -24, 32].map((dy) => ({ x, y: y + dy, box: [x - w, y + dy - 13, x, y + dy + 5] })).filter((c) => c.box[1] >= 0 && c.box[3] <= box.bottom);
    });
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
  const f = (v) => left + 48 + ((v - lo) / (hi - lo || 1)) * (width - left - 118);
  const root = canvas(height, name, rows.map((r) => `${r.name}: ${show(r.lo)} – ${show(r.hi)}`).join(", "), width);
  rows.forEach((r, i) => {
    const y = i * h + 6, a = f(Math.min(r.lo, r.hi)), b = f(Math.max(r.lo, r.hi));
    root.append(text(0, y + 14, r.name, { class: "tick strong" }), svg("rect", { x: r1(a), y, width: r1(Math.max(b - a, 1)), height: 18, class: i === 0 ? "part strong" : "part shade2" }), text(r1(a) - 4, y + 14, show(Math.min(r.lo, r.hi)), { "text-anchor": "end", class: "tick" }), text(r1(b) + 4, y + 14, show(Math.max(r.lo, r.hi)), { class: "tick" }));
  });
  root.append(svg("path", { d: `M${r1(f(centre))} 0V${height - 18}`, class: "mark" }), text(r1(f(centre)), height - 4, show(centre), { "text-anchor": "middle", class: "tick strong" }));
  return root;
}
// Things in a row each, a value as a dot with its interval; the best has the accent. rows: { name, value, lo, hi, best }
export function dots({ width, name, rows, show }) {
  const h = 30, letter = 0.5 * parseFloat(getComputedStyle(document.documentElement).fontSize), columns = (s) => [...s].reduce((n, c) => n + (c > "\u1100" ? 1.8 : 1), 0), left = Math.min(width * 0.4, Math.max(...rows.map((r) => letter * columns(r.name))) + 14), right = width - Math.max(...rows.map((r) => letter * columns(show(r.value)))) - 12;
  const lo = Math.min(...rows.map((r) => r.lo)), hi = Math.max(...rows.map((r) => r.hi)), f = (v) => left + 8 + ((Math.log(v) - Math.log(lo)) / (Math.log(hi) - Math.log(lo) || 1)) * (right - left - 20);
  const root = canvas(rows.length * h + 4, `${name} (${t("log_scale")})`, rows.map((r) => `${r.name} ${show(r.value)} (${show(r.lo)} – ${show(r.hi)})`).join(", "), width);
  rows.forEach((r, i) => {
    const y = i * h + 16;
    root.append(svg("path", { d: `M${left} ${y}H${right}`, class: "grid" }), text(0, y + 4, r.name, { class: `tick ${r.best ? "strong" : ""}` }), svg("path", { d: `M${r1(f(r.lo))} ${y}H${r1(f(r.hi))}M${r1(f(r.lo))} ${y - 4}v8M${r1(f(r.hi))} ${y - 4}v8`, class: `error solid ${r.best ? "best" : ""}` }), svg("circle", { cx: r1(f(r.value)), cy: y, r: 5.5, class: `dot ${r.best ? "main" : ""}`, "data-value": r.value }, svg("title", {}, `${r.name}: ${show(r.value)}`)), text(right + 8, y + 4, show(r.value), { class: "tick strong" }));
  });
  return root;
}
// A map: a square for each pair of row and column, darker where the value is larger; `pinned` is framed. cells: { row, column, value, n, label }
export function heat({ width, name, rows, columns, cells, most, show }) {
  const longest = width < 480 ? 13 : 24, shortened = (s) => (s.length > longest ? `${s.slice(0, longest - 1)}…` : s);
  const letter = 0.42 * parseFloat(getComputedStyle(document.documentElement).fontSize), left = Math.min(width * 0.42, Math.max(...rows.map((r) => shortened(r.name).length)) * letter * 1.25 + 8), far = Math.max(...columns.map((c) => shortened(c.name).length)) * letter * 0.95 + 14, top = far + 14, w = (width - left - far) / columns.length, h = 24;
  const root = canvas(top + rows.length * h + 4, name, cells.slice(0, 30).map((c) => c.label).join("; "), width);
  columns.forEach((c, i) => root.append(text(0, 0, shortened(c.name), { class: `tick ${c.pinned ? "strong" : ""}`, transform: `translate(${r1(left + (i + 0.5) * w)} ${top - 8}) rotate(-40)` })));
  rows.forEach((r, i) => root.append(text(left - 6, top + (i + 0.5) * h + 4, shortened(r.name), { class: `tick ${r.pinned ? "strong" : ""}`, "text-anchor": "end" })));
  for (const c of cells) {
    const x = left + columns.findIndex((q) => q.name === c.column) * w, y = top + rows.findIndex((q) => q.name === c.row) * h;
    root.append(svg("rect", { x: r1(x + 1), y: y + 1, width: r1(w - 2), height: h - 2, class: "heat", "fill-opacity": r1(10 * Math.min(1, 0.08 + c.value / most)) / 10 }, svg("title", {}, c.label)));
    if (w > 34) root.append(text(r1(x + w / 2), y + h / 2 + 4, show(c.value), { class: "tick strong", "text-anchor": "middle" }));
    if (rows.find((q) => q.name === c.row).pinned && columns.find((q) => q.name === c.column).pinned) root.append(svg("rect", { x: r1(x + 1), y: y + 1, width: r1(w - 2), height: h - 2, class: "ring" }));
  }
  return root;
}
export const widthOf = (box) => Math.max(280, Math.round(box.clientWidth || 320));
// Draws now and again when the place changes its width.
export function keepDrawn(box, draw) {
  let last = 0;
  new ResizeObserver(() => { const w = widthOf(box); if (Math.abs(w - last) > 2) { last = w; draw(w); } }).observe(box);
}
