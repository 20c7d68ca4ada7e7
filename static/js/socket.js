/**
 * One lasting connection to the agent over simple.v1: opens, greets, beats, and comes back.
 * Knows nothing of what the frames mean beyond `welcome` (the greeting's answer) and `pong`.
 */

const FIRST_DELAY = 400;
const LONGEST_DELAY = 15_000;
const OFFLINE_AFTER = 6;
const WELCOME_LIMIT = 10_000;
const PING_EVERY = 20_000;
const PONG_LIMIT = 10_000;
/** While an answer is awaited a dead connection has to show within five seconds. */
const WATCHFUL_EVERY = 2_000;
const WATCHFUL_LIMIT = 2_500;

/** What a close code asks for: come back (at the earliest after `wait` ms), sign in, or stay away. */
export function verdict(code) {
  const known = {
    4401: { act: "signin" },
    4403: { act: "stop", reason: "forbidden" },
    4409: { act: "stop", reason: "replaced" },
    4012: { act: "retry", wait: 0, soon: true },
    4400: { act: "retry", wait: 3_000 },
    4413: { act: "retry", wait: 0, reason: "too_large" },
    4429: { act: "retry", wait: 5_000 },
  };
  return known[code] ?? { act: "retry", wait: 0 };
}

/** Exponential, with full jitter over the upper half: a thousand pages do not return at once. */
export function delay(attempt, random = Math.random) {
  const ceiling = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** attempt);
  return ceiling / 2 + (random() * ceiling) / 2;
}

export class Connection {
  #socket = null;
  #attempt = 0;
  #timers = new Map();
  #wanted = false;
  #watchful = false;

  /**
   * url: ws(s) address. hello(): the init frame. on: { frame(frame), state(name, detail), lost(verdict) }.
   * States: connecting, connected, reconnecting, offline, stopped.
   */
  constructor({ url, hello, on }) {
    Object.assign(this, { url, hello, on, state: "connecting" });
    addEventListener("online", () => this.hurry());
    addEventListener("offline", () => this.#wanted && this.#drop());
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", (event) => event.persisted && this.open());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.hurry();
    });
  }

  open() {
    this.#wanted = true;
    this.#attempt = 0;
    this.#dial();
  }

  /** Leave for good; `open` starts again. */
  close() {
    this.#wanted = false;
    this.#release()?.close(1000);
  }

  /** Do not wait when there is reason to think it works now: dial, or see whether it still does. */
  hurry() {
    if (!this.#wanted) return;
    if (!this.#socket) this.#dial();
    else if (this.ready) this.#ping();
  }

  get ready() {
    return this.state === "connected";
  }

  /** Whether somebody waits for an answer: then silence is looked into sooner. */
  set watchful(value) {
    if (value === this.#watchful) return;
    this.#watchful = value;
    if (this.ready) this.#beat();
  }

  /** True when the frame was handed to an open connection (not that it arrived). */
  send(frame) {
    if (!this.ready || this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  #dial() {
    this.#release()?.close(1000);
    this.#say(this.#attempt === 0 ? "connecting" : this.state);
    const socket = new WebSocket(this.url, ["simple.v1"]);
    this.#socket = socket;
    socket.onopen = () => socket.send(JSON.stringify(this.hello()));
    socket.onmessage = (event) => this.#hear(event.data);
    socket.onclose = (event) => this.#lost(event.code);
    this.#after("welcome", WELCOME_LIMIT, () => this.#drop());
  }

  #hear(data) {
    let frame;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    this.#stop("pong");
    if (frame.type === "welcome") {
      this.#stop("welcome");
      this.#attempt = 0;
      this.#say("connected");
      this.#beat();
    }
    if (frame.type !== "pong") this.on.frame(frame);
  }

  #beat() {
    this.#after("ping", this.#watchful ? WATCHFUL_EVERY : PING_EVERY, () => {
      this.#ping();
      this.#beat();
    });
  }

  #ping() {
    this.send({ type: "ping" });
    this.#after("pong", this.#watchful ? WATCHFUL_LIMIT : PONG_LIMIT, () => this.#drop());
  }

  /** The socket is dead though nobody said so. */
  #drop() {
    this.#release()?.close(1000);
    this.#lost(1006);
  }

  #lost(code) {
    this.#release();
    if (!this.#wanted) return;
    const next = verdict(code);
    this.on.lost({ ...next, attempt: this.#attempt });
    if (next.act !== "retry") {
      this.#wanted = false;
      this.#say("stopped", next.reason);
      return;
    }
    const wait = next.soon && this.#attempt === 0 ? delay(0) / 2 : delay(this.#attempt);
    this.#attempt += 1;
    const away = !navigator.onLine || this.#attempt > OFFLINE_AFTER;
    this.#say(away ? "offline" : "reconnecting");
    this.#after("dial", Math.max(wait, next.wait), () => this.#dial());
  }

  #say(state, detail = "") {
    this.state = state;
    this.on.state(state, detail);
  }

  #release() {
    for (const name of [...this.#timers.keys()]) this.#stop(name);
    const socket = this.#socket;
    this.#socket = null;
    if (socket) socket.onopen = socket.onmessage = socket.onclose = null;
    return socket;
  }

  #after(name, wait, act) {
    this.#stop(name);
    this.#timers.set(name, setTimeout(act, wait));
  }

  #stop(name) {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }
}
