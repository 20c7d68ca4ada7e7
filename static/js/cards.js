/** What an assistant's message carries besides words: rooms to choose, a yes or no, a receipt. */

import { el, icon } from "./dom.js";

/**
 * desk: { f: formatter, bookings: address of My bookings };
 * card: { live, last, choice, answer(value, text), say(text) }.
 */
export function cardFor(item, desk, card) {
  return CARDS[item.kind]?.(item, desk, card) ?? null;
}

const CARDS = {
  clarify: ({ data }, _desk, card) =>
    words(data.options ?? [], card.live, (text) => card.answer({ text }, text)),

  select_room: ({ data }, desk, card) => {
    const { word } = desk.f;
    const rooms = data.candidates ?? [];
    const others = data.alternatives ?? [];
    const areOwn = others.every(({ kind }) => kind === "own_booking");
    const title = word(areOwn ? "myBookings" : "alternatives");
    return el(
      "div",
      { class: "choices" },
      rooms.length && roomList(rooms, desk, card, word("roomsToChoose")),
      others.length && el("p", { class: "choices-title" }, title),
      others.length && roomList(others, desk, card, title),
    );
  },

  confirm: ({ data }, desk, card) => {
    const { word } = desk.f;
    const decided = card.choice?.approved;
    const button = (approved, text, look) =>
      el(
        "button",
        {
          type: "button",
          class: `button ${look}`,
          disabled: !card.live,
          "aria-pressed": decided === approved ? "true" : null,
          onclick: () => card.answer({ approved }, text),
        },
        decided === approved && icon("check"),
        text,
      );
    const rows = (data.summary ?? []).map((row) =>
      el("tr", {}, el("th", { scope: "row" }, row.label), el("td", {}, String(row.value ?? ""))),
    );
    return el(
      "div",
      { class: "card summary", "data-live": card.live },
      el("table", {}, el("caption", { class: "visually-hidden" }, word("summary")), el("tbody", {}, rows)),
      el("div", { class: "actions" }, button(true, word("yes"), "primary"), button(false, word("no"), "quiet")),
    );
  },

  complete: ({ data }, desk, card) => {
    if (!data.booking_id) return words(data.options ?? [], card.last, card.say);
    const { word, interval } = desk.f;
    const zone = data.zone ?? desk.f.zone;
    const when = data.start && interval(data.start, data.end, zone);
    return el(
      "div",
      { class: "card receipt", "data-status": data.status },
      el(
        "div",
        { class: "receipt-text" },
        el(
          "p",
          { class: "receipt-head" },
          data.room_id && el("strong", {}, String(data.room_id)),
          data.status && badge(data.status, word(`status_${data.status}`)),
        ),
        when && el("p", {}, when, " ", el("span", { class: "soft" }, zone)),
      ),
      el("a", { class: "button quiet", href: desk.bookings }, word("myBookings"), icon("next")),
    );
  },
};

/** Words the person could type, to be tapped. */
function words(options, live, say) {
  if (!options.length) return null;
  const button = (text) =>
    el("button", { type: "button", class: "button quiet small", disabled: !live, onclick: () => say(text) }, text);
  return el("div", { class: "actions options" }, options.map(button));
}

function badge(status, text) {
  return el("span", { class: "badge", "data-status": status }, text);
}

function roomList(rooms, desk, card, label) {
  return el(
    "ul",
    { class: "rooms", "aria-label": label },
    rooms.map((room) => el("li", {}, roomCard(room, desk, card))),
  );
}

const same = (choice, room) =>
  choice?.room === room.room && (choice.starts_at ?? null) === (room.starts_at ?? null);

function roomCard(room, { f }, card) {
  const chosen = same(card.choice, room);
  const place = [
    room.building && f.slot("building", room.building),
    room.floor !== undefined && room.floor !== null && f.slot("floor", room.floor),
    room.seats && f.counted("seats", room.seats),
  ].filter(Boolean);
  const when = room.starts_at && f.interval(room.starts_at, room.ends_at);
  const value = { room: room.room, ...(room.starts_at ? { starts_at: room.starts_at } : {}) };
  const features = (room.features ?? []).map((feature) => feature.label ?? f.slot("features", [feature]));
  return el(
    "button",
    {
      type: "button",
      class: "room",
      disabled: !card.live,
      "aria-pressed": chosen ? "true" : null,
      onclick: () => card.answer(value, when ? `${room.room} · ${when}` : room.room),
    },
    el(
      "span",
      { class: "room-head" },
      el("strong", {}, room.room),
      room.name && room.name !== room.room && el("span", {}, room.name),
      chosen && icon("check"),
      room.needs_approval && badge("pending", f.word("needsApproval")),
    ),
    when && el("span", { class: "room-time" }, icon("clock"), when),
    el("span", { class: "room-place" }, place.join(" · ")),
    features.length > 0 &&
      el(
        "span",
        { class: "tags" },
        features.map((label) => el("span", { class: "tag" }, label)),
      ),
    room.reason && el("span", { class: "room-reason" }, room.reason),
  );
}
