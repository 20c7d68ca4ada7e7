/** The assistant page: joins connection, outbox, state and view. */

import { composer } from "./composer.js";
import { formatter } from "./format.js";
import { Outbox } from "./outbox.js";
import { Connection } from "./socket.js";
import { fresh, reduce } from "./state.js";
import { view } from "./view.js";

const RETRY_PAUSE = 2_000;
const SILENCE = 5_000;
const PROBE_AT = new Set([2, 6, 12]);
const REFUSALS = new Set(["too_large", "archived", "bad_json", "unknown_type", "stale_answer"]);
const DELAYS = new Set(["too_fast", "busy", "upstream"]);

const config = JSON.parse(document.getElementById("assistant-config").textContent);
const page = Object.fromEntries(
  [...document.querySelectorAll("[data-part]")].map((node) => [node.dataset.part, node]),
);
const f = formatter(config);
const storageKey = (name, thread) => `roomwise:${config.user}:${name}:${thread ?? "new"}`;
const outbox = new Outbox(sessionStorage, (thread) => storageKey("outbox", thread));

let state = fresh(startingThread());
let arrivals = 0;
let silence;

function remembered(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key, text) {
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // Private mode: the page works, a reload forgets.
  }
}

/** The address names the thread; else the one this tab was in; else a new one. */
function startingThread() {
  if (config.thread) return config.thread;
  if (config.fresh) {
    for (const name of ["thread", "draft", "outbox"]) remember(storageKey(name), "");
    history.replaceState(null, "", config.address);
    return null;
  }
  return remembered(storageKey("thread"));
}

function apply(frame, options) {
  state = reduce(state, frame);
  screen.draw(state, options);
}

/** Say it here at once, keep it until it is acknowledged, send it when there is a connection. */
function say(frame, text, data = {}) {
  const entry = { frame: { ...frame, id: crypto.randomUUID() }, text, data, at: new Date().toISOString() };
  outbox.add(entry);
  show(entry);
  connection.send(entry.frame);
}

const show = ({ frame, text, data, at }) =>
  apply({ type: "saying", id: frame.id, text, data, at }, { jump: true });

function write(text) {
  const question = state.status === "waiting" && state.open;
  say({ type: "message", content: text, ...(question ? { interrupt_id: question } : {}) }, text);
}

function answer(item, value, text) {
  const taken = outbox.answerTo(item.interruptId) || state.open !== item.interruptId;
  if (taken || state.status !== "waiting") return;
  say({ type: "answer", interrupt_id: item.interruptId, value }, text, { value });
}

/** After `welcome`: what the server already has is done; the rest is shown and sent again. */
function resend() {
  for (const entry of [...outbox.entries]) {
    if (state.items.some((item) => item.key === entry.frame.id)) {
      outbox.settle(entry.frame.id);
      continue;
    }
    show(entry);
    connection.send(entry.frame);
  }
}

function named(thread) {
  if (state.items.length === 0) return;
  remember(storageKey("thread"), thread);
  const address = `${config.address}${encodeURIComponent(thread)}/`;
  if (location.pathname !== address) history.replaceState(null, "", address);
  listThread(address);
}

/** The list beside the chat is the server's; a thread begun just now is put on top of it. */
function listThread(address) {
  page.threads.querySelector("[aria-current]")?.removeAttribute("aria-current");
  let link = page.threads.querySelector(`a[href="${CSS.escape(address)}"]`);
  if (!link) {
    const entry = page.threadTemplate.content.cloneNode(true);
    link = entry.querySelector("a");
    link.setAttribute("href", address);
    link.querySelector("[data-title]").textContent = state.items.find((item) => item.text)?.text ?? "";
    page.threads.prepend(entry);
    page.noThreads?.remove();
  }
  link.setAttribute("aria-current", "page");
}

/** An error about one message: refused for good, or to be sent again in a moment. */
function refused(frame) {
  const entry = frame.id ? outbox.entries.find(({ frame: sent }) => sent.id === frame.id) : outbox.entries[0];
  if (!entry && frame.id) return setAside(frame);
  if (!entry || frame.run) return;
  if (DELAYS.has(frame.code)) setTimeout(() => sendIfKept(entry), RETRY_PAUSE);
  if (!REFUSALS.has(frame.code)) return;
  outbox.settle(entry.frame.id);
  state = reduce(state, { type: "unsaid", id: entry.frame.id });
  if (entry.frame.type === "message" && !page.input.value) writer.restore(entry.text);
}

/** It was accepted, and then its question was replaced before it was read: words come back to be sent anew. */
function setAside(frame) {
  const known = state.items.find((item) => item.key === frame.id);
  if (!known || !REFUSALS.has(frame.code)) return;
  state = reduce(state, { type: "unsaid", id: frame.id });
  if (!known.data?.value && !page.input.value) writer.restore(known.text);
}

function sendIfKept(entry) {
  if (outbox.entries.includes(entry)) connection.send(entry.frame);
}

const BEFORE = {
  welcome: (frame) => outbox.adopt(frame.session_id),
  accepted: (frame) => outbox.settle(frame.id),
  said: (frame) => outbox.settle(frame.id),
  error: (frame) => refused(frame),
};
const AFTER = {
  welcome: () => {
    resend();
    named(state.thread);
    remember(storageKey("draft"), "");
    remember(draftKey(), page.input.value);
  },
  accepted: () => named(state.thread),
  error: (frame) => {
    if (frame.code === "not_initialised") connection.open();
    if (frame.code === "not_found") startOver();
  },
};

function receive(frame) {
  arrivals += 1;
  frame.arrival = arrivals;
  frame.at ??= new Date().toISOString();
  const first = frame.type === "welcome" && state.thread !== frame.session_id;
  BEFORE[frame.type]?.(frame);
  apply(frame, { jump: first });
  AFTER[frame.type]?.(frame);
  watch();
}

/** Frames can be lost; a run nobody hears of is asked for. */
function watch() {
  clearTimeout(silence);
  connection.watchful = state.status === "running";
  if (state.status === "running") silence = setTimeout(() => connection.send({ type: "sync" }), SILENCE);
}

function startOver() {
  remember(storageKey("thread"), "");
  location.assign(`${config.address}?new=1`);
}

/** A refused handshake looks like a lost network; a page that wants a sign-in tells them apart. */
async function probe() {
  try {
    const answer = await fetch(config.address, { redirect: "manual", cache: "no-store" });
    if (answer.type === "opaqueredirect") location.assign(config.signIn);
  } catch {
    // No network: the connection goes on trying.
  }
}

const screen = view({
  page,
  desk: { f, bookings: config.bookings },
  act: {
    answer,
    correct: (slot) => writer.set(f.word(`correct_${slot}`)),
    again: write,
    withdraw: (id) => connection.send({ type: "withdraw", id }),
  },
  pendingAnswer: (id) => (id ? outbox.answerTo(id)?.frame.value : undefined),
});
const draftKey = () => storageKey("draft", state.thread);
const writer = composer({
  page,
  word: f.word,
  onSend: write,
  keep: (text) => remember(draftKey(), text),
});
const connection = new Connection({
  url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${config.socket}`,
  hello: () => ({ type: "init", ...(state.thread ? { session_id: state.thread } : {}) }),
  on: {
    frame: receive,
    state: (name, detail) => screen.connection(name, detail),
    lost: ({ act, reason, attempt }) => {
      if (act === "signin") location.assign(config.signIn);
      if (reason === "too_large" && outbox.entries[0]) {
        refused({ code: "too_large", id: outbox.entries[0].frame.id });
        screen.draw(state);
      }
      if (PROBE_AT.has(attempt)) probe();
    },
  },
});

outbox.load(state.thread);
writer.restore(remembered(draftKey()) ?? "");
for (const entry of outbox.entries) show(entry);
page.stop.addEventListener("click", () => {
  if (connection.send({ type: "stop" })) apply({ type: "stopping" });
});
page.reconnect.addEventListener("click", () => connection.open());
for (const example of document.querySelectorAll("[data-example]")) {
  example.addEventListener("click", () => writer.set(example.textContent.trim()));
}
screen.draw(state, { jump: true });
connection.open();
