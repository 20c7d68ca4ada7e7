/** The day of rooms: a change of day or building shows it at once; a gap is booked where it is clicked. */

const QUARTER = 15;

for (const form of document.querySelectorAll("[data-filters]")) {
  for (const field of form.querySelectorAll("[data-now]")) {
    field.addEventListener("change", () => field.value && form.requestSubmit());
  }
}

/** "10:30–12:00" in minutes of the day; an end of 00:00 is the coming midnight. */
function minutesOf(gap) {
  const [from, to] = gap.split("–").map((text) => {
    const [hours, minutes] = text.split(":").map(Number);
    return hours * 60 + minutes;
  });
  return [from, to > from ? to : to + 24 * 60];
}

function clock(minutes) {
  return [Math.floor(minutes / 60) % 24, minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
}

/** Where in the gap the pointer is, to the quarter hour before it. */
function pointed(link, event) {
  const [from, to] = minutesOf(link.dataset.gap);
  const { left, width } = link.getBoundingClientRect();
  const share = Math.min(Math.max((event.clientX - left) / width, 0), 1);
  const at = Math.floor((from + share * (to - from)) / QUARTER) * QUARTER;
  return { at: Math.max(from, Math.min(at, to - QUARTER)), from, to };
}

for (const link of document.querySelectorAll(".free [data-gap]")) {
  link.addEventListener("pointermove", (event) => {
    const { at, from, to } = pointed(link, event);
    link.dataset.at = clock(at);
    link.toggleAttribute("data-late", at - from > (to - from) / 2);
    link.style.setProperty("--at", `${((at - from) / (to - from)) * 100}%`);
  });
  link.addEventListener("click", (event) => {
    // A keyboard's click has no place: it books from the gap's start, as without a script.
    if (event.detail === 0 || link.search.includes("minutes=")) return;
    const address = new URL(link.href);
    const start = address.searchParams.get("start");
    address.searchParams.set("start", `${start.slice(0, 11)}${clock(pointed(link, event).at)}`);
    link.href = address.href;
  });
}
