// Keys, and the buttons that do the same. Keys work anywhere on the page, except where a control needs them itself.

import { element, make } from "./dom";

export interface Binding {
  keys: string[];
  label: string;
  means: string;
  /** Id of a button that does the same. */
  button?: string;
  run: (key: string) => void;
}

/** Whether a control needs a key itself. A slider needs all but space, and only its arrows where the key drives a joint. */
function takesKey(target: EventTarget | null, key: string, drives: boolean): boolean {
  if (target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLButtonElement) return key === " " || key === "Enter";
  if (!(target instanceof HTMLInputElement)) return false;
  if (target.type === "checkbox") return key === " ";
  return drives ? /^(Arrow|Home|End|Page)/.test(key) : key !== " ";
}

/** Whether a key is for the page, not for the browser, a dialog or a control. */
export function isForPage(event: KeyboardEvent, drives = false): boolean {
  const isElsewhere = event.ctrlKey || event.metaKey || event.altKey || element<HTMLDialogElement>("help-dialog").open;
  return !isElsewhere && !takesKey(event.target, event.key, drives);
}

/** Listens to buttons and keys, and lists the keys in the help; keys that are `taken` do something else. */
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
