//! What a session is told beyond its messages: by its persona, or after a pause.

use crate::support::house::{House, Outcome};
use serde_json::json;

#[test]
fn a_persona_is_what_it_was_when_the_session_was_made() -> Outcome {
    let house = House::new()?;
    let persona = |model: &str| {
        format!(
            "[persona.critic]\nagent = \"rehearsal\"\nmodel = \"{model}\"\n\
             system_prompt = \"Doubt everything.\"\npermission_mode = \"plan\"\nargs = [\"--misbehave\", \"late-id\"]\n"
        )
    };
    house.configure(&persona("first"))?;
    let told = house.ok(&["agents"])?;
    assert!(told.contains("rehearsal   built in") && told.contains("persona  critic"), "{told}");
    let agents = house.json(&["agents"])?;
    let claude = agents.as_array().into_iter().flatten().find(|one| one["name"] == "claude");
    // Whoever runs the tests may have it.
    let claude = claude.ok_or("not listed")?;
    assert_eq!(claude["installed"] == true, claude["path"].is_string(), "{claude}");
    let made = house.json(&["new", "judge", "--persona", "critic", "--headless"])?;
    assert_eq!((&made["agent"], &made["model"]), (&json!("rehearsal"), &json!("first")));
    assert_eq!((&made["persona"], &made["argv"][1]), (&json!("critic"), &json!("late-id")));
    house.kill_daemon()?;
    house.configure(&persona("second"))?;
    assert_eq!(house.show("judge")?["model"], "first");
    let own =
        house.json(&["new", "other", "--persona", "critic", "--headless", "--model", "own"])?;
    assert_eq!(own["model"], "own");
    Ok(())
}

#[test]
fn the_persona_called_default_is_for_agents_that_name_none() -> Outcome {
    let house = House::new()?;
    house.configure(
        "[persona.default]\nagent = \"rehearsal\"\nmodel = \"usual\"\n\n\
         [persona.critic]\nagent = \"rehearsal\"\nmodel = \"keen\"\n",
    )?;
    let made = |arguments: &[&str]| -> Outcome<(serde_json::Value, serde_json::Value)> {
        let made = house.json(&[&["new"], arguments].concat())?;
        Ok((made["persona"].clone(), made["model"].clone()))
    };
    let usual = (json!("default"), json!("usual"));
    assert_eq!(made(&["plain", "--headless"])?, usual);
    assert_eq!(made(&["named", "--headless", "--agent", "rehearsal"])?, usual);
    let keen = (json!("critic"), json!("keen"));
    assert_eq!(made(&["judge", "--headless", "--persona", "critic"])?, keen);
    // A program is no agent of that persona.
    assert_eq!(made(&["program", "--", "cat"])?, (json!(null), json!(null)));
    Ok(())
}

#[test]
fn a_persona_counts_as_soon_as_it_is_written_down() -> Outcome {
    let house = House::new()?;
    house.rehearsal("first")?;
    let new = ["new", "judge", "--persona", "critic", "--headless"];
    assert_eq!(house.fails(&new)?.0, 2);
    let persona = "[persona.critic]\nagent = \"rehearsal\"\nmodel = \"keen\"\n";
    house.configure(&format!("{persona}modle = 1\n"))?;
    // A slip of the pen is told with its line, and the former file counts.
    let (status, error) = house.fails(&new)?;
    let told = error["hint"].as_str().unwrap_or_default();
    assert!(status == 2 && told.contains("config.toml:4: "), "{error}");
    let made = house.ok(&["new", "plain", "--agent", "rehearsal"])?;
    assert!(made.contains("config.toml:4: "), "{made}");
    assert_eq!(house.turn("first", "say hello")?["status"], "idle");
    let told = house.glis().arg("doctor").output()?;
    assert!(String::from_utf8(told.stdout)?.contains("config.toml:4: "));
    house.configure(persona)?;
    assert_eq!(house.json(&new)?["model"], "keen");
    Ok(())
}

#[test]
fn a_command_is_told_what_was_before_only_where_that_is_wanted() -> Outcome {
    let house = House::new()?;
    let told = |name: &str| -> Outcome<bool> {
        house.command(name, &["cat"])?;
        house.json(&["send", name, "build the shed"])?;
        house.json(&["pause", name, "--mode", "force"])?;
        house.json(&["resume", name])?;
        let talk = house.talk(name)?;
        Ok(talk.iter().any(|(_, said)| said.contains("previously paused session")))
    };
    assert!(!told("plain")?);
    house.kill_daemon()?;
    house.configure("[command]\nresume_prompt = true\n")?;
    house.command("keen", &["cat"])?;
    house.json(&["send", "keen", "build the shed"])?;
    let mut events = house.follow(1)?;
    house.json(&["pause", "keen", "--mode", "force"])?;
    let id = house.show("keen")?["id"].clone();
    house.json(&["resume", "keen"])?;
    let queued = events.until(|e| {
        let said = e["text"].as_str().unwrap_or_default();
        e["session"] == id && said.contains("You are resuming a previously paused session.")
    })?;
    assert!(queued["text"].as_str().is_some_and(|text| text.contains("1. build the shed")));
    Ok(())
}

/// Three rounds of it, each for a program that remembers nothing: what the user asked for is told to
/// the last one as it was to the first, and a form that there is not is told with its line.
#[test]
fn the_short_form_tells_what_was_asked_for_however_often_it_is_told() -> Outcome {
    let house = House::new()?;
    let short = "[command]\nresume_prompt = true\n[resume]\nprompt = \"short\"\n";
    house.configure(short)?;
    house.command("plain", &["cat"])?;
    house.json(&["send", "plain", "build the shed"])?;
    house.rehearsal("actor")?;
    house.turn("actor", "say half done")?;
    for _ in 0..3 {
        house.json(&["pause", "plain", "--mode", "force"])?;
        house.json(&["resume", "plain"])?;
        house.json(&["stop", "actor"])?;
        house.json(&["restart", "actor", "--yes", "--with-context"])?;
    }
    for (name, asked) in [("plain", "build the shed"), ("actor", "say half done")] {
        let id = house.show(name)?["id"].clone();
        let mut events = house.follow(1)?;
        for _ in 0..3 {
            let queued = events.until(|e| {
                let ours = |text: &str| text.starts_with("Continue from where we left off.\n");
                e["event"] == "message_queued"
                    && e["session"] == id
                    && e["text"].as_str().is_some_and(ours)
            })?;
            let text = queued["text"].as_str().ok_or("no text")?;
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(lines.len(), 3, "{text}");
            assert!(lines[1].starts_with("Last action: "), "{text}");
            assert!(lines[2].starts_with(&format!("Current state: Asked: {asked}")), "{text}");
        }
    }
    house.configure(&short.replace("short", "long"))?;
    let told = house.ok(&["new", "other", "--agent", "rehearsal"])?;
    assert!(told.contains("config.toml:4: "), "{told}");
    assert!(told.contains("`full`") && told.contains("`short`"), "{told}");
    Ok(())
}

#[test]
fn a_persona_that_an_agent_cannot_follow_is_refused() -> Outcome {
    let house = House::new()?;
    house.configure("[persona.critic]\nsystem_prompt = \"be terse\"\n")?;
    for agent in ["opencode", "gemini", "command"] {
        let words = ["new", "blue", "--agent", agent, "--persona", "critic", "--headless"];
        let more: &[&str] = if agent == "command" { &["--", "true"] } else { &[] };
        let (status, error) = house.fails(&[&words[..], more].concat())?;
        assert_eq!((status, &error["kind"]), (2, &json!("usage")), "{error}");
        let told = error["message"].as_str().unwrap_or_default();
        assert!(told.contains(agent) && told.contains("system prompt"), "{told}");
    }
    assert_eq!(house.json(&["ls"])?, json!([]));
    Ok(())
}

#[test]
fn a_persona_is_kept_with_its_session() -> Outcome {
    let house = House::new()?;
    house.configure(
        "[persona.critic]\nagent = \"rehearsal\"\nmodel = \"big\"\npermission_mode = \"plan\"\n\
         system_prompt = \"be terse\"\n",
    )?;
    house.json(&["new", "blue", "--headless", "--persona", "critic"])?;
    house.turn("blue", "say hi")?;
    house.json(&["pause", "blue"])?;
    // What it stood for when the session was made counts, whatever becomes of it.
    house.configure("")?;
    house.ok(&["daemon", "stop"])?;
    let session = house.json(&["resume", "blue"])?;
    let of = |key: &str| session[key].clone();
    assert_eq!((of("persona"), of("model")), (json!("critic"), json!("big")));
    assert_eq!((of("agent"), of("permission_mode")), (json!("rehearsal"), json!("plan")));
    let (status, error) = house.fails(&["new", "green", "--persona", "critic"])?;
    assert_eq!((status, &error["kind"]), (2, &json!("usage")));
    Ok(())
}
