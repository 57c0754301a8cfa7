//! The API: the verbs of the command line, its JSON, its errors.

use super::guard::token;
use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::task;
use crate::support::web::Web;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Verbs that are for the machine itself, or for a person at a terminal.
const NOT_SERVED: &[&str] =
    &["demo", "attach", "completions", "man", "daemon", "config", "web", "chat", "help"];

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
}

#[test]
fn what_is_said_twice_is_not_guessed_and_what_cannot_be_asked_names_what_can() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "send")?;
    let (host, bearer) = (web.host(), format!("Bearer {token}"));
    let own = [("Host", host.as_str()), ("Authorization", &bearer), ("X-Glis", "1")];
    let keys = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")];
    for (headers, body, said) in [
        (&own[..], r#"{"text": "say one", "text": "say two"}"#, "`text` is given twice"),
        (&[&own[..], &keys].concat(), r#"{"text": "say one"}"#, "an Idempotency-Key is given once"),
    ] {
        let answer = web.ask("POST /api/v1/sessions/blue/send", headers, body)?;
        let told = answer.json()?;
        let message = told["error"]["message"].as_str().unwrap_or_default();
        assert!(answer.status == 400 && message.contains(said), "{answer:?}");
    }
    assert!(house.talk("blue")?.is_empty());
    for (line, allowed) in [
        ("PUT /api/v1/sessions", "GET, HEAD, POST"),
        ("DELETE /api/v1/sessions/blue", "GET, HEAD"),
        ("GET /api/v1/sessions/blue/send", "POST"),
        ("POST /", "GET, HEAD"),
        ("GET /pair", "POST"),
    ] {
        let answer = web.ask(line, &own, "")?;
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{line}");
    }
    Ok(())
}

#[test]
fn every_verb_is_served() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let described = web.get("/api/v1/openapi.json", &token)?.json()?;
    let kept: Value = serde_json::from_str(include_str!("../../../crates/web/openapi.json"))?;
    assert_eq!(described, kept);
    let operations = described["paths"].as_object().into_iter().flatten();
    let operations = operations.flat_map(|(_, path)| path.as_object().into_iter().flatten());
    let served: BTreeSet<_> = operations.filter_map(|(_, o)| o["operationId"].as_str()).collect();
    let help = house.ok(&["help"])?;
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs = verbs.take_while(|line| !line.is_empty());
    let verbs: Vec<_> = verbs
        .filter(|line| line.starts_with("  ") && !line.starts_with("    "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() > 30, "{help}");
    for verb in verbs {
        let stem = verb.replace('-', "_");
        let mut rests = served.iter().filter_map(|id| id.strip_prefix(stem.as_str()));
        let is_served = rests.any(|rest| rest.is_empty() || rest.starts_with('_'));
        assert!(NOT_SERVED.contains(&verb) != is_served, "{verb}");
    }
    Ok(())
}

#[test]
fn a_session_is_made_spoken_to_paused_and_resumed() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let new = json!({
        "repo": house.repo(), "name": "blue", "agent": "rehearsal", "headless": true,
    });
    let made = web.post("/api/v1/sessions", &token, &new)?;
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(keys(&made.json()?), {
        let by_hand = house.rehearsal("green")?;
        keys(&by_hand)
    });
    let sent =
        web.post("/api/v1/sessions/blue/send", &token, &json!({"text": "say one"}))?.json()?;
    let states = json!({"for": ["idle"], "timeout": "60s"});
    let mut events = web.events(&token, None)?;
    events.until(|e| e["event"] == "message_taken" && e["message"] == sent["message"])?;
    events.until(|e| e["event"] == "turn_ended")?;
    let idle = web.post("/api/v1/sessions/blue/wait", &token, &states)?.json()?;
    assert_eq!(idle["status"], "idle");
    let paused = web.post("/api/v1/sessions/blue/pause", &token, &json!({"mode": "force"}))?;
    assert_eq!((paused.status, &paused.json()?["status"]), (200, &json!("paused")));
    let again = web.post("/api/v1/sessions/blue/pause", &token, &json!({}))?.json()?;
    assert_eq!(again["already"], true);
    let shown = web.get("/api/v1/sessions/blue", &token)?.json()?;
    assert_eq!(keys(&shown), keys(&house.show("blue")?));
    let promised = include_str!("../../../crates/web/openapi.json");
    let promised: Value = serde_json::from_str(promised)?;
    let fields = &promised["components"]["schemas"]["Session"]["required"];
    for field in fields.as_array().into_iter().flatten().filter_map(Value::as_str) {
        assert!(shown.get(field).is_some(), "{field} is promised");
    }
    let resumed = web.post("/api/v1/sessions/blue/resume", &token, &json!({}))?;
    assert_eq!(resumed.status, 200, "{resumed:?}");
    for path in ["log", "screen", "output", "snapshots", "diff"] {
        let told = web.get(&format!("/api/v1/sessions/blue/{path}"), &token)?;
        assert_eq!(told.status, 200, "{path}: {told:?}");
        if path != "output" && path != "screen" {
            assert_eq!(told.json()?, house.json(&[path, "blue"])?, "{path}");
        }
    }
    // The record tells who it was.
    let events = house.ok(&["events"])?;
    let asked = events.lines().find(|line| line.contains("pause_began")).unwrap_or_default();
    assert!(asked.contains("\"web\"") && asked.contains("script"), "{asked}");
    Ok(())
}

#[test]
fn whatever_can_be_looked_at_is_answered_as_it_is_described() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hi")?;
    house.json(&["send", "blue", "approve rm it"])?;
    house.until("blue", "waiting")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let tasks = house.repo().join(".glis/plan.toml");
    std::fs::create_dir_all(house.repo().join(".glis"))?;
    std::fs::write(tasks, task("air", "say air", &[], None))?;
    let described: Value = serde_json::from_str(include_str!("../../../crates/web/openapi.json"))?;
    let repo = house.repo().display().to_string();
    for (path, operations) in described["paths"].as_object().into_iter().flatten() {
        let parameters = operations["get"]["parameters"].as_array().into_iter().flatten();
        let needed = parameters.filter(|one| one["required"] == true && one["in"] == "query");
        let query = needed.filter_map(|one| match one["name"].as_str()? {
            "repo" => Some(format!("repo={repo}")),
            name => Some(format!("{name}=blue")),
        });
        let query = query.collect::<Vec<_>>().join("&");
        let streams = path.ends_with("/events") || path.ends_with("/terminal");
        if operations.get("get").is_none() || streams {
            continue;
        }
        let answer = web.get(&format!("{}?{query}", path.replace("{session}", "blue")), &token)?;
        // Nothing was drafted.
        let status = if path.ends_with("/draft") { 500 } else { 200 };
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    Ok(())
}

#[test]
fn a_failure_is_the_command_lines_own_and_its_hint_a_request() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let (_, mut by_hand) = house.fails(&["show", "none"])?;
    let none = web.get("/api/v1/sessions/none", &token)?;
    by_hand["hint"] = json!("`GET /api/v1/sessions` lists them");
    assert_eq!((none.status, &none.json()?["error"]), (404, &by_hand));
    let (_, mut by_hand) = house.fails(&["resume", "blue"])?;
    let state = web.post("/api/v1/sessions/blue/resume", &token, &json!({}))?;
    by_hand["hint"] = json!("`POST /api/v1/sessions/blue/send {\"text\":\"TEXT\"}` starts it");
    assert_eq!((state.status, &state.json()?["error"]), (409, &by_hand));
    let empty = web.post("/api/v1/sessions/blue/send", &token, &json!({"text": " "}))?;
    let (_, by_hand) = house.fails(&["send", "blue", " "])?;
    assert_eq!((empty.status, &empty.json()?["error"]), (400, &by_hand));
    let asks = json!({"answer": "allow", "request": "1"});
    let nothing = web.post("/api/v1/sessions/blue/answer", &token, &asks)?;
    assert_eq!(nothing.status, 409, "{nothing:?}");
    for wrong in [json!({"txt": "x"}), json!({"text": 1}), json!([])] {
        let answer = web.post("/api/v1/sessions/blue/send", &token, &wrong)?;
        assert_eq!((answer.status, &answer.json()?["error"]["kind"]), (400, &json!("usage")));
    }
    let unsure = web.post("/api/v1/sessions/blue/restart", &token, &json!({}))?;
    assert_eq!(unsure.status, 400);
    let (nothing, method) = ("/api/v1/nothing", "/api/v1/sessions/blue/send");
    assert_eq!((web.get(nothing, &token)?.status, web.get(method, &token)?.status), (404, 405));
    Ok(())
}

#[test]
fn what_is_not_there_is_not_found_and_what_is_too_much_is_refused() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let told = |path: &str| -> Outcome<(u16, Value)> {
        let answer = web.get(&format!("/api/v1/{path}"), &token)?;
        Ok((answer.status, answer.json()?["error"].clone()))
    };
    let repo = house.repo().display().to_string();
    for path in ["plan", "plan/check"] {
        let (status, error) = told(&format!("{path}?repo={repo}"))?;
        assert_eq!((status, &error["kind"]), (404, &json!("not_found")), "{path}: {error}");
        assert!(error["message"].as_str().is_some_and(|m| m.contains("no plan")), "{error}");
    }
    assert_eq!(house.fails(&["plan", "show"])?.0, 3);
    // Of a path that is in no repository nothing is told, whatever is there.
    let file = house.folder().join("a-file");
    std::fs::write(&file, "")?;
    for path in ["plan", "plan/check", "runs"] {
        for place in [file.as_path(), house.folder(), &house.folder().join("nothing")] {
            let (status, error) = told(&format!("{path}?repo={}", place.display()))?;
            let message = format!("there is no repository at `{}`", place.display());
            assert_eq!((status, &error["message"]), (404, &json!(message)), "{path}: {error}");
        }
        let (status, error) = told(&format!("{path}?repo=."))?;
        let message = "`repo` has to be an absolute path";
        assert_eq!((status, &error["message"]), (400, &json!(message)), "{path}: {error}");
    }
    assert_eq!(told("search?words=x&most=1000")?.0, 200);
    assert_eq!(told("search?words=x&most=1001")?.0, 400);
    Ok(())
}

#[test]
fn a_head_is_asked_for_alone_and_one_that_is_too_long_or_a_broken_body_is_told() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.rehearsal("green")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "send")?;
    let (host, bearer) = (web.host(), format!("Bearer {token}"));
    let own = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    let whole = web.ask("GET /api/v1/sessions", &own, "")?;
    let head = web.ask("HEAD /api/v1/sessions", &own, "")?;
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(head.header("content-type"), whole.header("content-type"));
    assert_eq!(web.ask("HEAD /api/v1/sessions", &own[..1], "")?.status, 401);
    // It shows nothing, so it is no look of a person; one that comes behind it is noted.
    let looked = |name: &str| -> Outcome<Value> {
        let listed = house.json(&["ls"])?;
        let found = listed.as_array().and_then(|all| all.iter().find(|one| one["name"] == name));
        Ok(found.ok_or("not listed")?["last_accessed_at"].clone())
    };
    let (blue, green) = (looked("blue")?, looked("green")?);
    assert_eq!(web.ask("HEAD /api/v1/sessions/blue", &own, "")?.status, 200);
    assert_eq!(web.ask("GET /api/v1/sessions/green", &own, "")?.status, 200);
    eventually("a look is noted", || looked("green").is_ok_and(|at| at != green))?;
    assert_eq!(looked("blue")?, blue);
    let long = "x".repeat(1000);
    for (count, status) in [(30, 200), (33, 431)] {
        let padding = vec![("X-Padding", long.as_str()); count];
        let answer = web.ask("GET /api/v1/sessions", &[&own[..], &padding].concat(), "")?;
        assert_eq!(answer.status, status, "{count} kB");
    }
    let chunked = [
        ("X-Glis", "1"),
        ("Content-Type", "application/json"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "close"),
    ];
    let headers = [&own[..], &chunked].concat();
    let mut stream = web.open("POST /api/v1/sessions/blue/send", &headers, "")?;
    std::io::Write::write_all(&mut stream, b"zz\r\n{}\r\n")?;
    let (status, _) = crate::support::web::head(&mut std::io::BufReader::new(stream))?;
    assert_eq!(status, 400);
    assert!(house.talk("blue")?.is_empty());
    Ok(())
}

#[test]
fn what_failed_under_a_key_is_done_when_it_can_be() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let send = || {
        let (path, body) = ("/api/v1/sessions/blue/send", json!({"text": "say one"}));
        web.post_with(path, &token, &body, &[("Idempotency-Key", "k1")])
    };
    assert_eq!(send()?.status, 404);
    house.rehearsal("blue")?;
    let sent = send()?;
    assert_eq!(sent.status, 200, "{sent:?}");
    Ok(())
}

#[test]
fn a_change_under_a_key_is_made_once_and_a_key_belongs_to_its_device() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let one = token(&house, "one", "send")?;
    let two = token(&house, "two", "send")?;
    let send = |token: &str| -> Outcome<Value> {
        let (path, body) = ("/api/v1/sessions/blue/send", json!({"text": "say one"}));
        web.post_with(path, token, &body, &[("Idempotency-Key", "k1")])?.json()
    };
    let first = send(&one)?;
    assert_eq!(send(&one)?["message"], first["message"]);
    house.kill_daemon()?;
    assert_eq!(send(&one)?["message"], first["message"]);
    assert_ne!(send(&two)?["message"], first["message"]);
    Ok(())
}

#[test]
fn a_plan_is_written_executed_and_looked_at() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let repo = house.repo().display().to_string();
    let post = |path: &str, more: Value| -> Outcome<(u16, Value)> {
        let mut body = json!({"repo": repo});
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let answer = web.post(&format!("/api/v1/{path}"), &token, &body)?;
        Ok((answer.status, answer.json()?))
    };
    let agent = "rehearsal";
    let one = json!({"id": "one", "prompt": "write one.txt 1", "agent": agent});
    assert_eq!(post("plan/add", one)?.0, 200);
    let two = json!({"id": "two", "prompt": "say hi", "needs": ["one"], "agent": agent});
    assert_eq!(post("plan/add", two)?.0, 200);
    assert_eq!(post("plan/edit", json!({"id": "two", "title": "The second"}))?.0, 200);
    assert_eq!(post("plan/add", json!({"id": "three", "prompt": "say x"}))?.0, 200);
    assert_eq!(post("plan/rm", json!({"id": "three"}))?.0, 200);
    let (status, unknown) = post("plan/rm", json!({"id": "three"}))?;
    let (_, by_hand) = house.fails(&["plan", "rm", "three"])?;
    assert_eq!((status, &unknown["error"]), (404, &by_hand));
    assert_eq!(post("plan/edit", json!({"id": "three", "title": "x"}))?.0, 404);
    for bad in [
        json!({"id": "one", "prompt": "again"}),
        json!({"id": "no id!", "prompt": "x"}),
        json!({"id": "idle"}),
    ] {
        let (status, told) = post("plan/add", bad)?;
        assert_eq!((status, &told["error"]["kind"]), (400, &json!("usage")), "{told}");
    }
    assert_eq!(post("plan/rm", json!({"id": "one"}))?.0, 409, "another needs it");
    let place = format!("?repo={repo}");
    let look = |path: &str| -> Outcome<Value> {
        web.get(&format!("/api/v1/{path}{place}"), &token)?.json()
    };
    assert_eq!(look("plan")?, house.json(&["plan", "show"])?);
    assert_eq!(look("plan/check")?, house.json(&["plan", "check"])?);
    let (status, plan) = post("plan/execute", json!({"jobs": 2}))?;
    assert_eq!((status, &plan["tasks"][1]["title"]), (200, &json!("The second")), "{plan}");
    // Asked for once more it is the same one, and its end is that of the command line's window.
    let ended = house.json(&["execute"])?;
    assert_eq!((&ended["done"], &ended["id"]), (&json!(true), &plan["id"]));
    let shown = look("plan")?;
    assert_eq!((&shown["done"], &shown), (&json!(true), &house.json(&["plan", "show"])?));
    house.rehearsal("blue")?;
    for into in ["\0", &"x".repeat(100_000)] {
        let merge = web.post("/api/v1/sessions/blue/merge", &token, &json!({"into": into}))?;
        assert_eq!(merge.status, 400, "{:.200}", merge.json()?.to_string());
    }
    let paused = web.post("/api/v1/plan/pause", &token, &json!({"plan": plan["id"]}))?;
    assert_eq!(paused.status, 200, "{paused:?}");
    let unsure = post("tasks/restart", json!({"task": "two"}))?;
    assert_eq!(unsure.0, 400);
    let (status, runs) = post("tasks/restart", json!({"task": "two", "yes": true}))?;
    assert_eq!(status, 200, "{runs}");
    assert!(runs[0]["restart_of_run_id"].is_string(), "{runs}");
    // A device that only watches changes no file.
    let watcher = super::guard::token(&house, "watcher", "watch")?;
    let body = json!({"repo": repo, "id": "one"});
    assert_eq!(web.post("/api/v1/plan/rm", &watcher, &body)?.status, 403);
    Ok(())
}

#[test]
fn a_plan_is_drafted_by_a_session_and_written_once_it_is_approved() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let draft = task("air", "write air.txt c", &[], None);
    let escaped = draft.replace('\\', "\\\\").replace('\n', "\\n");
    let goal = format!("say Here it is:\\n```toml\\n{escaped}```");
    let begin = json!({"repo": house.repo(), "goal": goal, "agent": "rehearsal"});
    let made = web.post("/api/v1/plan/new", &token, &begin)?.json()?;
    let name = made["name"].as_str().ok_or_else(|| made.to_string())?;
    house.until(name, "idle")?;
    let file = house.repo().join(".glis/plan.toml");
    let mut take = json!({"repo": house.repo(), "from": name});
    assert_eq!(web.post("/api/v1/plan/new", &token, &take)?.status, 400);
    assert!(!file.exists(), "it was not approved");
    let query = format!("/api/v1/plan/draft?repo={}&from={name}", house.repo().display());
    let drafted = web.get(&query, &token)?.json()?;
    assert_eq!((&drafted["draft"], &drafted["faults"]), (&json!(draft), &json!([])), "{drafted}");
    take["yes"] = json!(true);
    // Only the one that was looked at.
    take["draft"] = json!("[[task]]");
    let other = web.post("/api/v1/plan/new", &token, &take)?;
    assert_eq!((other.status, file.exists()), (409, false), "{other:?}");
    take["draft"] = json!(draft);
    let written = web.post("/api/v1/plan/new", &token, &take)?;
    assert_eq!(written.status, 200, "{written:?}");
    assert_eq!(std::fs::read_to_string(&file)?, draft);
    Ok(())
}
