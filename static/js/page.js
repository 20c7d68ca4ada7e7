/** The header's menu, and what a page shows while the next one is on its way. */

const PATIENCE = 300;
const loading = document.querySelector("[data-loading]");
let soon;

/** Nothing flickers when the answer comes at once; a form is sent once however often it is pressed. */
function wait() {
  soon = setTimeout(() => (loading.hidden = false), PATIENCE);
}

document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  if (event.target.dataset.sent) return event.preventDefault();
  if (event.target.method === "post") event.target.dataset.sent = "yes";
  wait();
});

/** Whether a click on the link replaces this page. */
function leaves(link, event) {
  const elsewhere = event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.button;
  const within = link.hash && link.href.split("#")[0] === location.href.split("#")[0];
  return !elsewhere && !within && link.origin === location.origin && !link.hasAttribute("download");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link && leaves(link, event)) wait();
});

// Also when the page comes back out of the browser's memory, with everything as it was left.
window.addEventListener("pageshow", () => {
  clearTimeout(soon);
  loading.hidden = true;
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// The menu closes on Escape, on a click elsewhere and when focus leaves it.

for (const menu of document.querySelectorAll("[data-menu]")) {
  const close = () => (menu.open = false);
  document.addEventListener("click", (event) => menu.contains(event.target) || close());
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) close();
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    menu.querySelector("summary").focus();
  });
}
