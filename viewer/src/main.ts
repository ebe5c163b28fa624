// Begins here: asks what there is to see, a result or a live scene, then builds the page around it.

import { api, Refusal } from "./api";
import { App } from "./app";
import { element, make } from "./dom";
import { LiveApp } from "./live/app";

async function begin(): Promise<void> {
  try {
    const result = await api.result();
    const app = result.live ? new LiveApp(result, result.live) : new App(result);
    await app.start();
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const noGraphics = /webgl/i.test(message);
  const help = error instanceof Refusal ? error.help : noGraphics ? "the viewer needs WebGL 2: switch on hardware acceleration, or use another browser" : "reload the page";
  const stage = element("stage");
  stage.replaceChildren(make("div", { class: "fatal", role: "alert" }, make("h2", {}, "The result cannot be shown"), make("p", {}, message), make("p", { class: "hint" }, help)));
}

void begin();
