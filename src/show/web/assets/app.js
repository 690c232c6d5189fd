import { state, hello, read, set, listen, address, remember } from "/state.js";
import { setLang, t } from "/words.js";
import { digits, dated } from "/format.js";
import { el, keepFocus } from "/dom.js";
import { fault } from "/repair.js";
import { askEarly, caseOf, Refused } from "/api.js";
import { showAsk } from "/ask.js";

const views = ["ask", "whatif", "scaling", "compare", "price", "buy", "serve", "goodput", "trust", "catalogue", "machine", "reports", "audit"];
let leave = null;

// On a phone the views are a list behind the name of the one that is open.
function menu(open) {
  const b = document.getElementById("menu");
  b.setAttribute("aria-expanded", String(open));
  b.parentElement.classList.toggle("open", open);
  b.textContent = t(state.view);
  b.setAttribute("aria-label", `${t("views")}: ${t(state.view)}`);
  b.onclick = () => menu(!open);
}
function frame() {
  setLang(state.lang);
  document.documentElement.lang = state.lang;
  document.title = `${t(state.view)} · jeoul`;
  const nav = document.getElementById("nav");
  nav.setAttribute("aria-label", t("views"));
  keepFocus(nav, () => nav.replaceChildren(...views.map((v) => el("a", { href: address({ view: v }), "aria-current": v === state.view ? "page" : undefined, onclick: (e) => { if (e.metaKey || e.ctrlKey) return; e.preventDefault(); set({ view: v }, true); show(); } }, t(v)))));
  menu(false);
  document.getElementById("skip").textContent = t("skip");
  const lang = document.getElementById("lang"), cur = document.getElementById("cur");
  lang.textContent = t("other_lang");
  lang.lang = state.lang === "ko" ? "en" : "ko";
  lang.onclick = () => { set({ lang: state.lang === "ko" ? "en" : "ko" }); show(); };
  cur.textContent = state.cur === "USD" ? "₩" : "$";
  cur.setAttribute("aria-label", t(state.cur === "USD" ? "in_krw" : "in_usd"));
  cur.onclick = () => { set({ cur: state.cur === "USD" ? "KRW" : "USD" }); show(); };
  document.getElementById("foot").replaceChildren(el("span", {}, t("marks")), el("span", {}, t("foot")), el("span", {}, t("offline")), el("span", {}, `jeoul ${hello.version ?? ""} · `, el("a", { href: "/api/v1/openapi.json" }, "API"), " · ", el("a", { href: "/metrics" }, "metrics"), hello.krw_per_usd ? ` · 1 USD = ${digits(hello.krw_per_usd, 6)} KRW (${dated(hello.krw_per_usd_date)})` : ""));
}
async function show() {
  frame();
  leave?.();
  document.getElementById("pocket")?.remove();
  leave = null;
  const main = document.getElementById("view"), within = main.contains(document.activeElement) && document.activeElement !== main;
  const name = views.includes(state.view) ? state.view : "ask";
  main.className = name;
  delete main.dataset.ready;
  try {
    const view = name === "ask" ? showAsk : (await import(`/${name}.js`)).show;
    main.replaceChildren();
    const update = view(main);
    leave = update ? listen(update) : null;
    if (!main.querySelector("h1")) main.prepend(el("h1", {}, t(name)));
    if (within) main.focus({ preventScroll: true }); // what had the keyboard is gone
    main.dataset.ready = name;
  } catch (e) { main.replaceChildren(el("h1", {}, t(name)), fault(e instanceof TypeError && /import|module/i.test(e.message) ? new Refused(t("lost"), { lost: true }) : e)); main.dataset.ready = name; }
}
addEventListener("popstate", () => { read({ back: true }); show(); });
addEventListener("keydown", (e) => {
  if (e.altKey && /^[1-9]$/.test(e.key) && views[e.key - 1]) { e.preventDefault(); set({ view: views[e.key - 1] }, true); show(); }
});
async function begin() {
  const korean = navigator.language.startsWith("ko");
  remember("lang", korean ? "ko" : "en");
  remember("cur", korean ? "KRW" : "USD");
  read();
  setLang(state.lang);
  const [said] = await Promise.allSettled([fetch("/api/v1/hello").then((r) => r.json()), ...(state.view === "ask" ? [askEarly("predict", caseOf())] : [])]);
  Object.assign(hello, said.value); // without it the first question says what is wrong
  show();
}
begin(); // not awaited here: the other views import from this file
