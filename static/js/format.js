/** Words, dates and lengths of time as the page's language writes them. Pure: no DOM, no clock. */

const CHINESE = /[\u3400-\u9fff\uf900-\ufaff]/;

/** The `lang` of a text when it differs from the page's, so that it is read and set rightly. */
export function languageOf(text, page) {
  const found = CHINESE.test(text) ? "zh-Hans" : "en";
  return page.startsWith(found.slice(0, 2)) ? "" : found;
}

/** Fill `{name}` places of a text. */
export function fill(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
}

/** A formatter over the texts and the zone the server sent: `{ language, zone, texts, features }`. */
export function formatter({ language, zone, texts, features }) {
  const intl = (options) => new Intl.DateTimeFormat(language, options);
  const word = (key, values) => fill(texts[key] ?? key, values);
  const plurals = new Intl.PluralRules(language);
  const counted = (key, count) => word(`${key}_${plurals.select(count) === "one" ? "one" : "other"}`, { count });
  const hours = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const fields = { weekday: "short", year: "numeric", month: "short", day: "numeric" };

  /** A date as the agent writes it: the texts hold the order of its parts, Intl their names. */
  function dated(pattern, date, where) {
    const parts = intl({ ...fields, timeZone: where }).formatToParts(date);
    return word(pattern, Object.fromEntries(parts.map(({ type, value }) => [type, value])));
  }

  /** A local calendar day "YYYY-MM-DD": it has no zone, so none may shift it. */
  function day(text) {
    const date = new Date(`${text}T00:00:00Z`);
    return Number.isNaN(date.getTime()) ? text : dated("day", date, "UTC");
  }

  function minutes(total) {
    const parts = { hours: Math.floor(total / 60), minutes: total % 60 };
    if (!parts.hours) return word("minutes", parts);
    return word(parts.minutes ? "hoursAndMinutes" : "hours", parts);
  }

  /** [start, end) in the rooms' zone. */
  function interval(start, end, where = zone) {
    const [from, to] = [new Date(start), new Date(end)];
    if (Number.isNaN(from.getTime())) return "";
    const clock = intl({ ...hours, timeZone: where });
    const until = Number.isNaN(to.getTime()) ? "" : `–${clock.format(to)}`;
    return `${dated("dayOfYear", from, where)} ${clock.format(from)}${until}`;
  }

  /** When something was said, in the reader's own zone; the day only when it is not today. */
  function said(at, now) {
    const date = new Date(at);
    if (Number.isNaN(date.getTime())) return "";
    const clock = intl(hours).format(date);
    return date.toDateString() === now.toDateString() ? clock : `${dated("day", date)} ${clock}`;
  }

  const feature = (code) => features[code] ?? code;
  const list = (items) => new Intl.ListFormat(language, { type: "unit", style: "short" }).format(items);
  const SLOTS = {
    date: day,
    duration_minutes: minutes,
    capacity: (value) => counted("people", value),
    building: (value) => word("building", { code: value }),
    floor: (value) => word("floor", { number: value }),
    features: (value) => list(value.map(feature)),
  };

  /** What a filled slot says, or "" for an empty one. */
  function slot(name, value) {
    if (value === null || value === undefined || value === "" || value.length === 0) return "";
    return (SLOTS[name] ?? String)(value);
  }

  return { word, counted, interval, said, slot, language, zone };
}
