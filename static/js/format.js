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

  /** A local calendar day "YYYY-MM-DD": it has no zone, so none may shift it. */
  function day(text) {
    const date = new Date(`${text}T00:00:00Z`);
    if (Number.isNaN(date.getTime())) return text;
    return intl({ weekday: "short", month: "short", day: "numeric", timeZone: "UTC" }).format(date);
  }

  function minutes(total) {
    const parts = { hours: Math.floor(total / 60), minutes: total % 60 };
    if (!parts.hours) return word("minutes", parts);
    return word(parts.minutes ? "hoursAndMinutes" : "hours", parts);
  }

  /** [start, end) in the rooms' zone, which is named. */
  function interval(start, end, where = zone) {
    const [from, to] = [new Date(start), new Date(end)];
    if (Number.isNaN(from.getTime())) return "";
    const date = { year: "numeric", month: "short", day: "numeric", weekday: "short", timeZone: where };
    const clock = intl({ ...hours, timeZone: where });
    const until = Number.isNaN(to.getTime()) ? "" : `–${clock.format(to)}`;
    return `${intl(date).format(from)} ${clock.format(from)}${until}`;
  }

  function zoneName(at, where = zone) {
    const parts = intl({ timeZone: where, timeZoneName: "long" }).formatToParts(new Date(at));
    return parts.find((part) => part.type === "timeZoneName")?.value ?? where;
  }

  /** When something was said, in the reader's own zone; the day only when it is not today. */
  function said(at, now) {
    const date = new Date(at);
    if (Number.isNaN(date.getTime())) return "";
    const today = date.toDateString() === now.toDateString();
    return intl(today ? hours : { ...hours, month: "short", day: "numeric" }).format(date);
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

  return { word, counted, day, minutes, interval, zoneName, said, slot, language };
}
