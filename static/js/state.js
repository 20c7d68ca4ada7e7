/**
 * The thread as this page knows it. `reduce(state, frame)` is pure; `welcome` alone is always
 * enough, every other frame only brings the picture forward. The same frame twice is one.
 */

const QUESTIONS = new Set(["clarify", "select_room", "confirm"]);
/** Errors a run ends with; all others are about one message. */
const RUN_ERRORS = new Set(["conflict", "upstream", "timeout", "internal", "quarantined"]);
/** Rows of a confirmation that is about a booking there is, not about the draft. */
const STORED = new Set(["booking", "before"]);

export const fresh = (thread = null) => ({
  thread,
  status: "idle",
  phase: "IDLE",
  slots: {},
  assumed: [],
  greeting: "",
  items: [],
  open: null,
  progress: null,
  stopping: false,
  waiting: [],
});

const item = (fields) => ({
  role: "assistant",
  kind: "text",
  text: "",
  at: null,
  data: {},
  interruptId: null,
  pending: false,
  classification: "",
  ...fields,
});

/** A notice is a passing word; one that was kept (a run was stopped) is said like any other. */
function recorded(entry) {
  const data = entry.data ?? {};
  return item({
    key: String(entry.id),
    role: entry.role,
    kind: entry.kind === "notice" ? "text" : (entry.kind ?? "text"),
    text: entry.text ?? "",
    at: entry.at ?? null,
    data,
    interruptId: QUESTIONS.has(entry.kind) ? entry.interrupt_id || data.interrupt_id || null : null,
  });
}

/** A frame of a run is known by its place in it; any other by the order in which it came here. */
const eventKey = (frame) =>
  frame.run ? `${frame.type}:${frame.run}:${frame.seq}` : `${frame.type}:${frame.arrival}`;
const draft = (state, frame) => ({
  phase: frame.phase ?? state.phase,
  slots: frame.slots ?? state.slots,
  assumed: frame.assumed ?? state.assumed,
});
const put = (items, entry) => [...items.filter((known) => known.key !== entry.key), entry];

/** The bubble that already shows this question: by its id, or the same words from the transcript. */
function shown(items, frame) {
  const byId = items.find((known) => known.interruptId === frame.interrupt_id);
  if (byId) return byId;
  const last = items.filter((known) => known.role === "assistant").at(-1);
  const same = last && !last.interruptId && last.kind === frame.kind && last.text === frame.message;
  return same ? last : null;
}

const REDUCERS = {
  welcome: (state, frame) => ({
    ...fresh(frame.session_id),
    ...draft(fresh(), frame),
    status: frame.status ?? "idle",
    greeting: frame.message ?? "",
    waiting: frame.waiting ?? [],
    items: (frame.transcript ?? []).map(recorded),
  }),

  /** Ours: said on this page, not yet acknowledged. */
  saying: (state, frame) => ({
    ...state,
    items: put(
      state.items,
      item({ key: frame.id, role: "user", text: frame.text, at: frame.at, data: frame.data ?? {}, pending: true }),
    ),
  }),

  /** Ours: it will not be sent. */
  unsaid: (state, frame) => ({
    ...state,
    items: state.items.filter((known) => known.key !== frame.id),
  }),

  said: (state, frame) => {
    const known = state.items.find((entry) => entry.key === frame.id);
    if (known) {
      const items = state.items.map((entry) =>
        entry === known
          ? { ...entry, pending: false, text: frame.text || entry.text, data: frame.data ?? entry.data }
          : entry,
      );
      return { ...state, items };
    }
    const entry = item({ key: frame.id, role: "user", text: frame.text, at: frame.at, data: frame.data ?? {} });
    return { ...state, items: [...state.items, entry] };
  },

  accepted: (state, frame) => {
    const mine = state.items.some((known) => known.key === frame.id && known.pending);
    const works = mine && frame.classification !== "queued";
    return {
      ...state,
      status: works ? "running" : state.status,
      items: state.items.map((known) =>
        known.key === frame.id
          ? { ...known, pending: false, classification: frame.classification }
          : known,
      ),
    };
  },

  progress: (state, frame) => ({
    ...state,
    status: "running",
    progress: { label: frame.label, index: frame.index, total: frame.total },
  }),

  /** What waits is marked where it was said, and counted in one line. */
  queue: (state, frame) => ({ ...state, waiting: frame.waiting }),

  withdrawn: (state, frame) => ({
    ...state,
    waiting: state.waiting.filter((id) => id !== frame.id),
    items: state.items.filter((known) => known.key !== frame.id),
  }),

  notice: (state, frame) => {
    if (frame.code === "queued") return state;
    const last = state.items.at(-1);
    if (last?.kind === "notice" && last.text === frame.message) return state;
    const entry = item({ key: eventKey(frame), kind: "notice", text: frame.message, at: frame.at });
    return { ...state, items: put(state.items, entry) };
  },

  interrupt: (state, frame) => {
    const known = shown(state.items, frame);
    const entry = item({
      key: known?.key ?? `question:${frame.interrupt_id}`,
      kind: frame.kind,
      text: frame.message,
      at: known?.at ?? frame.at,
      data: frame.data ?? {},
      interruptId: frame.interrupt_id,
    });
    return {
      ...state,
      ...draft(state, frame),
      status: "waiting",
      stopping: false,
      open: frame.interrupt_id,
      progress: null,
      items: put(state.items, entry),
    };
  },

  complete: (state, frame) => {
    const data = frame.data ?? {};
    const entry = item({
      key: frame.id ?? eventKey(frame),
      kind: "complete",
      text: frame.message,
      at: frame.at,
      data,
    });
    return {
      ...state,
      ...draft(state, frame),
      status: "idle",
      stopping: false,
      open: null,
      progress: null,
      items: frame.message || data.booking_id ? put(state.items, entry) : state.items,
    };
  },

  error: (state, frame) => {
    const entry = item({
      key: eventKey(frame),
      kind: "error",
      text: frame.message,
      at: frame.at,
      data: { code: frame.code, retry: Boolean(frame.retry) },
    });
    const last = state.items.at(-1);
    const again = last?.kind === "error" && last.text === entry.text;
    const items = again ? state.items : put(state.items, entry);
    if (!frame.run || !RUN_ERRORS.has(frame.code)) return { ...state, items };
    const status = state.open ? "waiting" : "idle";
    return { ...state, status, stopping: false, progress: null, items };
  },

  stopping: (state) => ({ ...state, stopping: true }),
};

export function reduce(state, frame) {
  return REDUCERS[frame.type]?.(state, frame) ?? state;
}

/** Whether what is being asked is about the draft (and not about a booking there is). */
export function asksAboutDraft(state) {
  const open = state.items.find((known) => known.interruptId && known.interruptId === state.open);
  return !(open?.data.summary ?? []).some((row) => STORED.has(row.slot));
}

/** What was chosen on a question further up: the first structured answer said after it. */
export function choiceAt(items, index) {
  for (const entry of items.slice(index + 1)) {
    if (entry.role === "user") return entry.data.value ?? null;
    if (QUESTIONS.has(entry.kind)) return null;
  }
  return null;
}
