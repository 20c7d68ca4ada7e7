/** The field one writes in: Enter sends, Shift+Enter breaks, an input method is left alone. */

const LIMIT = 2000;
const WARN = 1800;

/** page: { form, input, send, count }; word: texts; onSend(text); keep(text): the unsent words. */
export function composer({ page, word, onSend, keep }) {
  const { form, input, send, count } = page;
  let composing = false;

  const length = () => [...input.value].length;

  function refresh() {
    const used = length();
    count.hidden = used < WARN;
    count.textContent = word("characters", { used, limit: LIMIT });
    input.setAttribute("aria-invalid", String(used > LIMIT));
    send.disabled = input.value.trim() === "" || used > LIMIT;
    input.style.height = "auto";
    input.style.height = `${input.scrollHeight + 2}px`;
    keep(input.value);
  }

  function set(text) {
    input.value = text;
    refresh();
    input.focus();
    input.setSelectionRange(text.length, text.length);
  }

  input.addEventListener("compositionstart", () => (composing = true));
  input.addEventListener("compositionend", () => (composing = false));
  input.addEventListener("input", refresh);
  input.addEventListener("keydown", (event) => {
    // 229: Safari ends the composition before the Enter that ended it is reported.
    const typing = composing || event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || typing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (!text || length() > LIMIT) return;
    input.value = "";
    refresh();
    onSend(text);
  });

  return { set, restore: (text) => ((input.value = text), refresh()) };
}
