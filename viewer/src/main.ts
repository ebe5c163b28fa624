// Entry point: asks the server for what is shown, a result or a live scene, and starts its page.

import { api, Refusal, troubleOf } from "./api";
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

function fail(thrown: unknown): void {
  const { error, help } = troubleOf(thrown);
  const noGraphics = !(thrown instanceof Refusal) && /webgl/i.test(error);
  const hint = noGraphics ? "the viewer needs WebGL 2: switch on hardware acceleration, or use another browser" : help;
  const lines = [make("h2", {}, "The result cannot be shown"), make("p", {}, error), make("p", { class: "hint" }, hint)];
  element("stage").replaceChildren(make("div", { class: "fatal", role: "alert" }, ...lines));
}

void begin();
