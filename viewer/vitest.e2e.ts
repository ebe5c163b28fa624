import { defineConfig } from "vitest/config";

// The real program, its real results, and a real browser. One at a time: two cores are shared by server and browser.
export default defineConfig({
  test: {
    include: [process.env["BARCHAN_MEASURE"] ? "e2e/measure.ts" : "e2e/*.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
