// Messages over the picture: what is wrong, and what to do.

import { make } from "./dom";

export class Banners {
  private readonly shown = new Map<string, HTMLElement>();
  private readonly dismissed = new Set<string>();

  constructor(private readonly root: HTMLElement) {}

  /** Shows a message until it is taken back, or dismissed by hand. */
  show(key: string, message: string, help: string, isBad = true): void {
    const full = `${key}\n${message}`;
    if (this.dismissed.has(full)) return;
    const text = make("div", {}, make("p", {}, isBad ? make("strong", {}, sentence(message)) : sentence(message)), help ? make("p", {}, sentence(help)) : null);
    const close = make("button", { type: "button", "aria-label": "Dismiss this message" }, "×");
    const banner = make("div", { class: isBad ? "banner bad" : "banner", role: isBad ? "alert" : "status", "data-key": key }, text, close);
    close.addEventListener("click", () => {
      this.dismissed.add(full);
      this.clear(key);
    });
    const old = this.shown.get(key);
    if (old?.textContent === banner.textContent) return;
    if (old) old.replaceWith(banner);
    else this.root.append(banner);
    this.shown.set(key, banner);
  }

  clear(key: string): void {
    this.shown.get(key)?.remove();
    this.shown.delete(key);
  }

  keys(): string[] {
    return [...this.shown.keys()];
  }
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}
