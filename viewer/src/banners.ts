// Messages over the view: what is wrong, and what to do.

import type { Trouble } from "./api";
import { button, make } from "./dom";

export class Banners {
  private readonly shown = new Map<string, HTMLElement>();
  private readonly dismissed = new Set<string>();

  constructor(private readonly root: HTMLElement) {}

  /** Shows a message until it is cleared or dismissed. */
  show(key: string, message: string, help: string, isBad = true): void {
    const full = `${key}\n${message}`;
    if (this.dismissed.has(full)) return;
    const dismiss = () => {
      this.dismissed.add(full);
      this.clear(key);
    };
    const text = make("div", {}, make("p", {}, isBad ? make("strong", {}, sentence(message)) : sentence(message)), help ? make("p", {}, sentence(help)) : null);
    const close = button({ "aria-label": "Dismiss this message" }, dismiss, "×");
    const banner = make("div", { class: isBad ? "banner bad" : "banner", role: isBad ? "alert" : "status", "data-key": key }, text, close);
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

  /** Shows an error, or clears it. */
  set(key: string, trouble: Trouble | null): void {
    if (trouble) this.show(key, trouble.error, trouble.help);
    else this.clear(key);
  }

  /** Clears all whose key begins with `prefix`, except `kept`. */
  clearOthers(prefix: string, kept: string): void {
    for (const key of this.shown.keys()) if (key.startsWith(prefix) && key !== kept) this.clear(key);
  }
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}
