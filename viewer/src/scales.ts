// Numbers as text, and ticks of axes.

/** Round numbers inside a range, about `most` at most. */
export function ticks(min: number, max: number, most = 4): number[] {
  if (!(max > min) || !Number.isFinite(max - min)) return [min];
  const rough = (max - min) / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** Smallest and largest of the finite numbers; the range is never empty. */
export function extent(values: readonly (number | null)[]): [number, number] {
  let [min, max] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  if (min > max) return [0, 1];
  return max > min ? [min, max] : [min, min + (Math.abs(min) || 1) * 0.1];
}

/** A number with an SI prefix (`12.3 kPa`); without one between 0.01 and 10 000. */
export function text(value: number | null, unit = "", digits = 3): string {
  if (value === null || !Number.isFinite(value)) return "–";
  const shown = unit === "1" ? "" : unit;
  const size = Math.abs(value);
  if (size === 0 || (size >= 0.01 && size < 10_000)) return join(plain(value, digits), shown);
  // Units such as kg or kg/m³ have a prefix already, and a bare number takes none.
  if (shown === "" || shown.startsWith("k")) return join(value.toExponential(digits - 1).replace("e+", "e"), shown);
  const prefixes: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
  const [factor, prefix] = prefixes.find(([f]) => size >= f * 0.9995) ?? [1e-9, "n"];
  return join(plain(value / factor, digits), prefix + shown);
}

/** A whole number with its digits in groups of three. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function join(number: string, unit: string): string {
  return unit ? `${number} ${unit}` : number;
}

function plain(value: number, digits: number): string {
  return String(Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(Math.abs(value) + 1))))));
}
