/** The header's menu closes on Escape, on a click elsewhere and when focus leaves it. */

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
