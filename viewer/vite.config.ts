import { defineConfig } from "vite";

export default defineConfig({
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
  },
  server: {
    // `npx vite` beside `barchan view DIR|SCENE --no-open --stay`: the page as it is being written.
    proxy: { "/api": { target: "http://127.0.0.1:8427", ws: true, changeOrigin: true, rewriteWsOrigin: true } },
  },
});
