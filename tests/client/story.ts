/** A script of somebody's: what the description of the API promises is all that it knows. It is checked by the compiler and
 * then run before a real server. */

import createClient from "openapi-fetch";
import type { components, paths } from "./api";

declare const process: { argv: string[] };
type Session = components["schemas"]["Session"];

const [, , server, token, repo] = process.argv;
if (!server || !token || !repo) throw new Error("usage: story SERVER TOKEN REPO");
const api = createClient<paths>({ baseUrl: server, headers: { Authorization: `Bearer ${token}` } });

const header = { "X-Glis": "1" } as const;
const path = { session: "blue" };
const blue = { params: { path, header } };

/** What was answered; a failure has its kind, message and hint in any language. */
function told<T>(answer: { data?: T; error?: components["schemas"]["Failure"] }): T {
  if (answer.error) throw new Error(`${answer.error.error.kind}: ${answer.error.error.message}`);
  if (answer.data === undefined) throw new Error("no answer");
  return answer.data;
}

function is<T>(found: T, wanted: T, what: string) {
  if (found !== wanted) throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

async function wait(...states: Session["status"][]): Promise<Session> {
  return told(await api.POST("/api/v1/sessions/{session}/wait", { ...blue, body: { for: states, timeout: "60s" } }));
}

const status = told(await api.GET("/api/v1/status"));
is(status.gate, "running", "the gate");
const made = told(await api.POST("/api/v1/sessions", {
  params: { header }, body: { repo, name: "blue", agent: "rehearsal", headless: true },
}));
is(made.mode, "headless", "its mode");

const text = "write a.txt hello ;; approve rm it ;; say done";
const keyed = { params: { path, header: { ...header, "Idempotency-Key": "one" } }, body: { text } };
const [sent, again] = [await api.POST("/api/v1/sessions/{session}/send", keyed), await api.POST("/api/v1/sessions/{session}/send", keyed)];
is(told(again).message, told(sent).message, "the message that was sent twice");

const [ask] = (await wait("waiting")).asks;
is(ask?.kind, "approval", "what it asks");
is(ask?.edits?.length, 0, "its edits");
const wrong = await api.POST("/api/v1/sessions/{session}/answer", { ...blue, body: { answer: "perhaps", request: ask?.request ?? "" } });
is(wrong.error?.error.kind, "usage", "an answer that is none");
told(await api.POST("/api/v1/sessions/{session}/answer", { ...blue, body: { answer: "allow", request: ask?.request ?? "" } }));
await wait("idle");

const log = told(await api.GET("/api/v1/sessions/{session}/log", { params: { path } }));
const entries = Array.isArray(log) ? log : log.entries;
is(entries.some((entry) => entry.type === "assistant" && entry.content === "done"), true, "what it said");
const diff = told(await api.GET("/api/v1/sessions/{session}/diff", { params: { path } }));
is(diff.files.map((file) => `${file.path} +${file.added}`).join(), "a.txt +1", "what it changed");
const screen = await api.GET("/api/v1/sessions/{session}/screen", { params: { path } });
if (screen.data) is(screen.data.runs.length, screen.data.rows, "the rows of its screen");

const paused = told(await api.POST("/api/v1/sessions/{session}/pause", { ...blue, body: { mode: "force" } }));
is(`${paused.status}, already ${paused.already}`, "paused, already false", "the pause");
is(paused.pause_reason, "user", "why it is paused");
const [snapshot] = told(await api.GET("/api/v1/sessions/{session}/snapshots", { params: { path } }));
is(typeof snapshot?.commit, "string", "the snapshot");
const resumed = told(await api.POST("/api/v1/sessions/{session}/resume", blue));
is(resumed.already, false, "the resume");

const removed = told(await api.POST("/api/v1/sessions/{session}/rm", { ...blue, body: { stop: true } }));
is(removed.session.status, "archived", "what was removed");
const trash = told(await api.GET("/api/v1/trash"));
is(trash.map((item) => item.name).join(), "blue", "the trash");
const gone = await api.GET("/api/v1/sessions/{session}", { params: { path: { session: "green" } } });
is(`${gone.response.status} ${gone.error?.error.kind}`, "404 not_found", "a session that there is not");
is(gone.error?.error.hint, "`GET /api/v1/sessions` lists them", "what to do then");
told(await api.POST("/api/v1/trash/{session}/restore", blue));
is(told(await api.GET("/api/v1/sessions")).map((row) => row.name).join(), "blue", "the list");

// @ts-expect-error: what does not say that it is meant is no call.
await api.POST("/api/v1/sessions/{session}/stop", { params: { path } });
// @ts-expect-error: there is no such option.
await api.POST("/api/v1/sessions/{session}/send", { ...blue, body: { txt: "hello" } });
