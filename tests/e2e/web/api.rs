//! The API: the verbs of the command line, its JSON, its errors.

use super::guard::token;
use crate::support::house::{House, Outcome};
use crate::support::web::Web;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Verbs that are for the machine itself, or for a person at a terminal.
const NOT_SERVED: &[&str] =
    &["demo", "attach", "completions", "man", "daemon", "config", "web", "chat", "help"];
/// Verbs that read or write files of the caller's folder.
const NOT_YET: &[&str] = &["plan", "execute"];

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
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
    let served: BTreeSet<_> = operations.filter_map(|(_, o)| o["x-glis-verb"].as_str()).collect();
    let help = house.ok(&["help"])?;
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs = verbs.take_while(|line| !line.is_empty());
    let verbs: Vec<_> = verbs
        .filter(|line| line.starts_with("  ") && !line.starts_with("    "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() > 30, "{help}");
    for verb in verbs {
        let excused = NOT_SERVED.contains(&verb) || NOT_YET.contains(&verb);
        assert!(excused != served.contains(verb), "{verb}");
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
    for field in keys(&promised["components"]["schemas"]["Session"]["properties"]) {
        assert!(shown.get(&field).is_some(), "{field} is promised");
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
fn a_failure_is_the_command_lines_own() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let (_, by_hand) = house.fails(&["show", "none"])?;
    let none = web.get("/api/v1/sessions/none", &token)?;
    assert_eq!((none.status, &none.json()?["error"]), (404, &by_hand));
    let (_, by_hand) = house.fails(&["resume", "blue"])?;
    let state = web.post("/api/v1/sessions/blue/resume", &token, &json!({}))?;
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
