/** Draws the thread. `draw` may be called at any time with any state and touches what changed. */

import { cardFor } from "./cards.js";
import { el, icon, reconcile } from "./dom.js";
import { languageOf } from "./format.js";
import { asksAboutDraft, choiceAt } from "./state.js";

const SLOTS = ["date", "start_time", "duration_minutes", "capacity", "building", "floor", "room", "features", "title"];
const REQUIRED = new Set(["date", "start_time", "duration_minutes", "capacity"]);
const NEAR_END = 96;

/**
 * page: the elements by id; desk: { f, bookings }; act: { answer(item, value, text), correct(slot),
 * again(text), withdraw(id) }; pendingAnswer(interruptId) -> value or undefined.
 */
export function view({ page, desk, act, pendingAnswer }) {
  const { f } = desk;
  const { word } = f;

  function message(item, { card, retry, waits }) {
    const lang = languageOf(item.text, f.language);
    const note = word(item.pending ? "notSentYet" : "queued");
    const who = item.role === "user" ? "speakerYou" : "speakerAssistant";
    const time = item.at && f.said(item.at, new Date());
    return el(
      "li",
      { class: `message ${item.role} ${item.kind}`, tabindex: "-1" },
      el("span", { class: "visually-hidden" }, word(who)),
      item.text && el("p", { class: "bubble", lang }, item.kind === "error" && icon("alert"), item.text),
      card && cardFor(item, desk, card),
      retry &&
        el("button", { type: "button", class: "button quiet small", onclick: () => act.again(retry) }, word("tryAgain")),
      (time || item.pending) &&
        el(
          "p",
          { class: "meta" },
          time && el("time", { datetime: item.at }, time),
          (item.pending || waits) && el("span", {}, note),
          waits &&
            el("button", { type: "button", class: "link", onclick: () => act.withdraw(item.key) }, word("takeBack")),
        ),
    );
  }

  /** A question can be answered while it is the open one, nothing runs, and no answer is under way. */
  function cardState(state, item, index) {
    const waiting = pendingAnswer(item.interruptId);
    const live = state.status === "waiting" && state.open === item.interruptId && waiting === undefined;
    const choice = waiting ?? choiceAt(state.items, index);
    const last = index === state.items.length - 1 && state.status === "idle";
    const answer = (value, text) => act.answer(item, value, text);
    return { live, last, choice: live ? null : choice, answer, say: act.again };
  }

  /** An answer without words of its own is worded here. */
  function worded(item) {
    if (item.text || item.role !== "user") return item;
    const { room, approved, text } = item.data.value ?? {};
    const words = room ?? text ?? (approved === undefined ? "" : word(approved ? "yes" : "no"));
    return { ...item, text: String(words) };
  }

  function drawLog(state) {
    const lastSaid = state.items.findLast((item) => item.role === "user" && item.text)?.text;
    const entries = state.items.map((item, index) => {
      const shown = worded(item);
      const card = item.role === "assistant" ? cardState(state, item, index) : null;
      const last = index === state.items.length - 1;
      const retry = item.kind === "error" && item.data.retry && last ? lastSaid : null;
      const waits = state.waiting.includes(item.key);
      const version = JSON.stringify([shown, card?.live, card?.last, card?.choice, retry, waits]);
      return { key: item.key, version, shown, card, retry, waits };
    });
    reconcile(page.log, entries, (entry) => message(entry.shown, entry));
    page.welcome.hidden = state.items.length > 0 || state.status === "running";
    page.greeting.textContent = state.greeting || word("greeting");
  }

  function chip(state, name) {
    const value = f.slot(name, state.slots[name]);
    const assumed = Boolean(value) && state.assumed.includes(name);
    const look = value ? (assumed ? "chip assumed" : "chip") : "chip missing";
    return el(
      "li",
      {},
      el(
        "button",
        {
          type: "button",
          class: look,
          title: word(value ? "changeSlot" : "giveSlot", { slot: word(`slot_${name}`) }),
          onclick: () => act.correct(name),
        },
        el("span", { class: "chip-name" }, word(`slot_${name}`)),
        value && el("span", { class: "chip-value" }, value),
        assumed && el("span", { class: "chip-mark" }, word("assumed")),
      ),
    );
  }

  function drawSlots(state) {
    const over = state.phase === "BOOKED" || state.phase === "IDLE" || !asksAboutDraft(state);
    const collecting = state.phase === "COLLECTING_SLOTS" || state.status === "waiting";
    const filled = over ? [] : SLOTS.filter((name) => f.slot(name, state.slots[name]));
    const names = SLOTS.filter(
      (name) => filled.includes(name) || (collecting && filled.length && REQUIRED.has(name)),
    );
    const entries = names.map((name) => ({
      key: name,
      version: JSON.stringify([state.slots[name], state.assumed.includes(name)]),
    }));
    reconcile(page.slots, entries, (entry) => chip(state, entry.key));
    page.draft.hidden = names.length === 0;
  }

  function drawProgress(state) {
    const running = state.status === "running";
    const label = state.stopping ? word("stopping") : (state.progress?.label ?? word("thinking"));
    page.working.hidden = !running;
    const text = running ? label : "";
    if (page.step.textContent !== text) page.step.textContent = text;
    const queued = state.waiting.length ? f.counted("waiting", state.waiting.length) : "";
    if (page.queue.textContent !== queued) page.queue.textContent = queued;
    page.queue.hidden = !queued;
    page.stop.hidden = !running;
    page.stop.disabled = state.stopping;
    page.chat.setAttribute("aria-busy", String(running));
  }

  const atEnd = () =>
    page.scroll.scrollHeight - page.scroll.scrollTop - page.scroll.clientHeight < NEAR_END;
  const toEnd = () => page.scroll.scrollTo({ top: page.scroll.scrollHeight });
  /** The end, but a message that is taller than the window is read from its beginning. */
  function toNewest() {
    const last = page.log.lastElementChild;
    const rest = last && page.scroll.scrollHeight - last.offsetTop;
    if (rest > page.scroll.clientHeight) page.scroll.scrollTo({ top: last.offsetTop - 12 });
    else toEnd();
    page.latest.hidden = atEnd();
  }
  let following = true;
  page.scroll.addEventListener("scroll", () => {
    following = atEnd();
    if (following) page.latest.hidden = true;
  });
  page.latest.addEventListener("click", () => {
    following = true;
    toEnd();
  });
  new ResizeObserver(() => following && toNewest()).observe(page.scroll);

  return {
    /** Everything a state says; `jump` goes to the newest whatever the reader looks at. */
    draw(state, { jump = false } = {}) {
      following = jump || following;
      const before = page.log.lastElementChild;
      drawLog(state);
      drawSlots(state);
      drawProgress(state);
      if (following) toNewest();
      else if (page.log.lastElementChild !== before) page.latest.hidden = false;
    },

    connection(state, detail) {
      page.connection.dataset.state = state;
      page.connectionText.textContent = word(`connection_${detail || state}`);
      page.reconnect.hidden = !["offline", "stopped"].includes(state) || detail === "forbidden";
    },
  };
}
