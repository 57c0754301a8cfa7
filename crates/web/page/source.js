// @ts-check
/** Events of the server as they come. An `EventSource` shows no ticket, and does not tell why it failed. */

import { Refused, Unreached, enter } from "./api.js";

/**
 * Tells each event by its name, until the stream ends: then it fails.
 * @param {string} path @param {(name: string, data: any) => void} take @param {AbortSignal} signal
 */
export async function follow(path, take, signal) {
  const headers = { "X-Glis-Ticket": await enter() };
  const response = await fetch(path, { headers, cache: "no-store", signal });
  if (!response.ok || !response.body) throw new Refused(response.status, {});
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Unreached("the connection is lost");
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n").map((line) => line.split(/: (.*)/, 2));
      const { event = "message", data } = Object.fromEntries(lines);
      if (data && !signal.aborted) take(event, JSON.parse(data));
    }
  }
}
