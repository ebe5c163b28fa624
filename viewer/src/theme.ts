// Light or dark: the system's preference until the user chooses.

const KEY = "barchan-theme";

export class Theme {
  onChange: () => void = () => {};
  private chosen: "light" | "dark" | null = stored();
  private readonly system = matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    this.system.addEventListener("change", () => this.apply());
    this.apply();
  }

  get isDark(): boolean {
    return this.chosen ? this.chosen === "dark" : this.system.matches;
  }

  toggle(): void {
    this.chosen = this.isDark ? "light" : "dark";
    try {
      localStorage.setItem(KEY, this.chosen);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    this.apply();
  }

  private apply(): void {
    document.documentElement.dataset["theme"] = this.isDark ? "dark" : "light";
    this.onChange();
  }
}

function stored(): "light" | "dark" | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}
