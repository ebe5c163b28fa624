// Keyboard shortcuts and their buttons. Keys work anywhere on the page, except where a control needs them itself.

import { element, make } from "./dom";

export interface Binding {
  keys: string[];
  label: string;
  means: string;
  /** Id of the button for the same action. */
  button?: string;
  run: (key: string) => void;
}

/** Whether a control needs a key itself. A slider takes all but space; only arrows and paging keys if the key `drives` a joint. */
function takesKey(target: EventTarget | null, key: string, drives: boolean): boolean {
  if (target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLButtonElement) return key === " " || key === "Enter";
  if (!(target instanceof HTMLInputElement)) return false;
  if (target.type === "checkbox") return key === " ";
  return drives ? /^(Arrow|Home|End|Page)/.test(key) : key !== " ";
}

/** Whether the page may handle a key, instead of the browser, a dialog or a control. */
export function isForPage(event: KeyboardEvent, drives = false): boolean {
  const isElsewhere = event.ctrlKey || event.metaKey || event.altKey || element<HTMLDialogElement>("help-dialog").open;
  return !isElsewhere && !takesKey(event.target, event.key, drives);
}

/** Connects buttons and keys, and lists the keys in the help; bindings with a `taken` key are left out. */
export function listen(bindings: Binding[], taken: (key: string) => boolean): void {
  for (const { button, run } of bindings) if (button) element(button).addEventListener("click", () => run(""));
  const free = bindings.filter((binding) => !binding.keys.some(taken));
  for (const { label, means } of free) element("keys").append(make("dt", {}, make("kbd", {}, label)), make("dd", {}, means));
  document.addEventListener("keydown", (event) => {
    if (!isForPage(event)) return;
    const name = (event.shiftKey && event.key.startsWith("Arrow") ? "Shift+" : "") + event.key;
    const binding = free.find((b) => b.keys.includes(name) || b.keys.includes(name.toLowerCase()));
    if (!binding) return;
    event.preventDefault();
    binding.run(event.key);
  });
}
