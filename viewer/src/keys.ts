// Keys. They work anywhere on the page, except where a control needs them itself.

export interface Binding {
  keys: string[];
  label: string;
  means: string;
  run: (event: KeyboardEvent) => void;
}

/** Whether a control wants the key itself, when the key drives something: text wants all, a slider its arrows. */
export function isTyping(target: EventTarget | null, key: string): boolean {
  if (target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLInputElement) return target.type === "range" ? /^(Arrow|Home|End|Page)/.test(key) : target.type !== "checkbox" || key === " ";
  return target instanceof HTMLButtonElement && (key === " " || key === "Enter");
}

/** Controls that take the arrow keys, home, end and letters themselves. */
function takesKeys(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLInputElement) {
    if (target.type === "checkbox") return key === " ";
    return key !== " ";
  }
  return target instanceof HTMLButtonElement && (key === " " || key === "Enter");
}

export function listen(bindings: Binding[], isBlocked: () => boolean): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isBlocked() || takesKeys(event.target, event.key)) return;
    const name = (event.shiftKey && event.key.startsWith("Arrow") ? "Shift+" : "") + event.key;
    const binding = bindings.find((b) => b.keys.includes(name) || b.keys.includes(name.toLowerCase()));
    if (!binding) return;
    event.preventDefault();
    binding.run(event);
  });
}
