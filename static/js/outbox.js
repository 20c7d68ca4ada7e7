/**
 * What was said here and not yet acknowledged. Survives a reload of this tab (sessionStorage);
 * the client id of a frame stays the same however often it is sent, so a resend is one message.
 */

export class Outbox {
  /** name(thread) gives the storage key; `null` is a thread that has no id yet. */
  constructor(storage, name) {
    Object.assign(this, { storage, name, thread: null, entries: [] });
  }

  load(thread) {
    this.thread = thread;
    this.entries = this.#read(this.name(thread));
  }

  /** The new thread got its id: its words move under it. */
  adopt(thread) {
    if (this.thread === thread) return;
    this.#forget(this.name(this.thread));
    const kept = this.thread === null ? this.entries : [];
    this.thread = thread;
    const known = new Set(kept.map((entry) => entry.frame.id));
    const stored = this.#read(this.name(thread)).filter((entry) => !known.has(entry.frame.id));
    this.entries = [...stored, ...kept];
    this.#write();
  }

  add(entry) {
    this.entries.push(entry);
    this.#write();
  }

  settle(id) {
    const kept = this.entries.filter((entry) => entry.frame.id !== id);
    const found = kept.length < this.entries.length;
    this.entries = kept;
    if (found) this.#write();
    return found;
  }

  /** The answer on its way to a question, if there is one. */
  answerTo(interruptId) {
    const answers = this.entries.filter((entry) => entry.frame.type === "answer");
    return answers.find((entry) => entry.frame.interrupt_id === interruptId);
  }

  #read(key) {
    try {
      const entries = JSON.parse(this.storage.getItem(key) ?? "[]");
      return Array.isArray(entries) ? entries : [];
    } catch {
      return [];
    }
  }

  #write() {
    if (!this.entries.length) return this.#forget(this.name(this.thread));
    try {
      this.storage.setItem(this.name(this.thread), JSON.stringify(this.entries));
    } catch {
      // A full or forbidden storage costs the reload, not the conversation.
    }
  }

  #forget(key) {
    try {
      this.storage.removeItem(key);
    } catch {
      // As above.
    }
  }
}
