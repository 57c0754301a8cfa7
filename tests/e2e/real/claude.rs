//! Claude Code as people have set it up: other modes than the usual one, screens and keys of their own.

use super::Real;
use super::cast::{CLAUDE_HEADLESS, CLAUDE_TERMINAL, NAME, Part, Play, step, text, times};
use crate::support::house::{Outcome, eventually};
use crate::support::tmux::Tmux;
use glis_stub_model::installed::CLAUDE;
use glis_stub_model::{Step, Voice, prompt};
use serde_json::json;
use std::io::Write as _;
use std::process::Stdio;

/// A session with a persona that has this permission mode.
fn in_mode(part: Part, mode: &str) -> Outcome<Option<Play>> {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(None) };
    let persona = format!("[persona.some]\nagent = \"claude\"\npermission_mode = \"{mode}\"\n");
    real.house.configure(&persona)?;
    let mut words = vec!["new", NAME, "--persona", "some"];
    words.extend(part.is_headless().then_some("--headless"));
    real.house.json(&words)?;
    Ok(Some(Play { real, part }))
}

fn works_and_comes_back(play: &Play) -> Outcome {
    play.turn("first words")?;
    play.turn("second words")?;
    let request = play.resume_after_pause("and now?")?;
    for words in ["first words", "second words"] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    Ok(())
}

/// What stands below its prompt depends on the mode.
fn a_terminal_takes_messages_in(mode: &str) -> Outcome {
    let Some(play) = in_mode(CLAUDE_TERMINAL, mode)? else { return Ok(()) };
    works_and_comes_back(&play)
}

#[test]
fn a_terminal_takes_messages_while_it_plans() -> Outcome {
    a_terminal_takes_messages_in("plan")
}

#[test]
fn a_terminal_takes_messages_while_edits_are_accepted() -> Outcome {
    a_terminal_takes_messages_in("acceptEdits")
}

#[test]
fn a_terminal_takes_messages_while_it_asks_nobody() -> Outcome {
    a_terminal_takes_messages_in("dontAsk")
}

/// Settings that would change the foot of the screen, the keys, and whether hooks are called.
fn a_terminal_takes_messages_with(settings: &serde_json::Value) -> Outcome {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
    let path = real.config().join("settings.json");
    std::fs::write(&path, settings.to_string())?;
    real.house.json(&["new", NAME, "--agent", "claude"])?;
    let play = Play { real, part: CLAUDE_TERMINAL };
    works_and_comes_back(&play)?;
    assert_eq!(std::fs::read_to_string(path)?, settings.to_string());
    Ok(())
}

#[test]
fn a_terminal_takes_messages_below_a_status_of_the_users() -> Outcome {
    let status = json!({"type": "command", "command": "printf '%s\\n' one two three"});
    a_terminal_takes_messages_with(&json!({"statusLine": status, "editorMode": "vim"}))
}

#[test]
fn a_terminal_takes_messages_where_hooks_are_off() -> Outcome {
    a_terminal_takes_messages_with(&json!({"disableAllHooks": true}))
}

/// A plan is allowed, and nothing that follows from it.
fn a_plan_is_allowed_alone(part: Part) -> Outcome {
    let Some(play) = in_mode(part, "plan")? else { return Ok(()) };
    play.turn("where is the plan?")?;
    let body = play.asked("where is the plan?")?.body.to_string();
    let place = body.split(|c: char| c.is_whitespace() || "\"\\".contains(c));
    let place = place.into_iter().find(|word| word.contains("/plans/"));
    let write =
        |file: &str, content: &str| step(("Write", json!({"file_path": file, "content": content})));
    let wanted = play.house().file(NAME, "wanted.txt")?;
    let steps = [
        write(place.ok_or("no place for a plan")?, "# Do it\n\nWrite a file.\n"),
        step(("ExitPlanMode", json!({}))),
        write(wanted.to_str().ok_or("path")?, "x"),
        text("it is done"),
    ];
    play.send(&prompt("plan it", &steps))?;
    let asked = play.until("waiting")?["waiting_for"].clone();
    assert!(asked["text"].as_str().is_some_and(|t| t.contains("Write a file.")), "{asked}");
    play.house().json(&["answer", NAME, "allow"])?;
    let next = |session: &serde_json::Value| {
        session["waiting_for"]["text"].as_str().is_some_and(|t| t.contains("wanted.txt"))
    };
    eventually("it asks for the file", || play.show().is_ok_and(|s| next(&s)))?;
    assert!(!wanted.exists());
    play.house().json(&["answer", NAME, "allow"])?;
    play.until("idle")?;
    assert!(wanted.exists());
    Ok(())
}

#[test]
fn a_plan_is_allowed_alone_in_a_terminal() -> Outcome {
    a_plan_is_allowed_alone(CLAUDE_TERMINAL)
}

#[test]
fn a_plan_is_allowed_alone_headless() -> Outcome {
    a_plan_is_allowed_alone(CLAUDE_HEADLESS)
}

/// Arguments with which it would work elsewhere, forget, or not be heard.
#[test]
fn what_would_lead_it_elsewhere_is_refused() -> Outcome {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
    for arg in [
        "--worktree=x",
        "-w",
        "-wx",
        "-pc",
        "--no-session-persistence",
        "--bare",
        "--safe-mode",
        "--bg",
    ] {
        let (status, error) = real.house.fails(&["new", NAME, "--agent", "claude", "--", arg])?;
        assert_eq!(status, 2, "{arg}: {error}");
        assert!(error["message"].as_str().is_some_and(|m| m.contains(arg)), "{error}");
    }
    Ok(())
}

/// Marks that would make a command of it, pictures of several characters, and what nobody sees.
#[test]
fn a_message_arrives_as_it_was_written() -> Outcome {
    let Some(play) = Play::with(CLAUDE_TERMINAL, &[])? else { return Ok(()) };
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    let messages = [
        "!touch by-the-shell".to_owned(),
        "/clear".to_owned(),
        "exit".to_owned(),
        ":q".to_owned(),
        format!("a family {family}"),
        "zero\u{200b}width and \u{202e}turned".to_owned(),
    ];
    for message in &messages {
        let idle = play.turn(message)?;
        assert_eq!(idle["queued"], 0, "{message}: {idle}");
    }
    assert!(!play.house().file(NAME, "by-the-shell")?.exists());
    let said = play.house().talk(NAME)?;
    let said: Vec<_> = said.iter().filter(|(who, _)| who == "user").map(|(_, what)| what).collect();
    assert_eq!(said.get(..2), Some(&[&messages[0], &messages[1]][..]));
    let request = play.resume_after_pause("and now?")?;
    for words in ["!touch by-the-shell", "/clear", "exit", ":q", "a family", "width and turned"] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    Ok(())
}

/// It has a tool by which it would go to a worktree of its own making.
#[test]
fn it_stays_in_the_worktree_of_its_session() -> Outcome {
    for part in [CLAUDE_HEADLESS, CLAUDE_TERMINAL] {
        let Some(play) = Play::with(part, &[])? else { return Ok(()) };
        let input = json!({"name": "elsewhere"});
        let leave = Step { tool: Some("EnterWorktree".to_owned()), input, ..Step::default() };
        let write = play.run("pwd > where.txt");
        play.send(&prompt("go elsewhere", &[leave, write, text("done")]))?;
        play.until("idle")?;
        let written = std::fs::read_to_string(play.house().file(NAME, "where.txt")?)?;
        let worktree = play.show()?["worktree"].clone();
        assert_eq!(json!(written.trim_end()), worktree);
        assert!(!play.house().repo().join(".claude/worktrees").exists());
    }
    Ok(())
}

/// A helper gets no worktree of its own, whether the model asks for one or the helper's definition.
#[test]
fn its_helpers_stay_there_too() -> Outcome {
    for part in [CLAUDE_HEADLESS, CLAUDE_TERMINAL] {
        let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
        let definitions = real.config().join("agents");
        std::fs::create_dir_all(&definitions)?;
        let definition = "---\nname: apart\ndescription: d\nisolation: worktree\n---\nDo it.\n";
        std::fs::write(definitions.join("apart.md"), definition)?;
        let play = Play::of(real, part, &[])?;
        play.real.model.learn("at the side", &[text("beside")]);
        let asked = json!({"description": "d", "prompt": "at the side",
            "subagent_type": "general-purpose", "isolation": "worktree"});
        let defined =
            json!({"description": "d", "prompt": "at the side", "subagent_type": "apart"});
        let steps = [step(("Agent", asked)), step(("Agent", defined)), text("done")];
        play.send(&prompt("have it done", &steps))?;
        play.until("idle")?;
        play.turn("and now?")?;
        let told = play.asked("and now?")?;
        let refused = times(&told, Voice::Tool, "Work in the worktree of this session.");
        assert_eq!(refused, 2, "{:#?}", told.turns);
        assert!(!play.house().repo().join(".claude/worktrees").exists());
    }
    Ok(())
}

/// Allowed for the session, it is in another mode than before.
#[test]
fn messages_are_taken_after_leave_for_the_session() -> Outcome {
    let Some(play) = Play::with(CLAUDE_TERMINAL, &[])? else { return Ok(()) };
    play.send(&prompt("write with leave", &[play.ask("asked.txt")?, text("so it is")]))?;
    play.until("waiting")?;
    play.house().json(&["answer", NAME, "allow", "--for-session"])?;
    play.until("idle")?;
    let idle = play.turn("and then")?;
    assert_eq!(idle["queued"], 0);
    assert!(play.asked("and then")?.says(Voice::Model, "so it is"));
    Ok(())
}

/// Two that write to one conversation undo each other's words: one that somebody began by hand counts,
/// too.
#[test]
fn a_conversation_that_is_open_elsewhere_is_left_alone() -> Outcome {
    let Some(play) = Play::with(CLAUDE_HEADLESS, &[])? else { return Ok(()) };
    play.turn("first words")?;
    let paused = play.pause()?;
    let id = paused["agent_session_ref"].as_str().ok_or("no id")?;
    let folder = paused["worktree"].as_str().ok_or("no worktree")?;
    let mut by_hand = play.real.bare(std::path::Path::new(folder));
    by_hand.args(["-p", "--resume", id, "--input-format", "stream-json"]);
    by_hand.args(["--output-format", "stream-json", "--verbose"]).stdin(Stdio::piped());
    let mut by_hand = by_hand.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let words = json!({"type": "user", "message": {"role": "user", "content": "by hand"}});
    let mut pipe = by_hand.stdin.take().ok_or("no pipe")?;
    writeln!(pipe, "{words}")?;
    play.asked("by hand")?;
    let (status, error) = play.house().fails(&["resume", NAME])?;
    assert_eq!((status, &error["kind"]), (6, &json!("locked")), "{error}");
    let pid = by_hand.id().to_string();
    assert!(error["message"].as_str().is_some_and(|told| told.contains(&pid)), "{error}");
    drop(pipe);
    by_hand.wait()?;
    let request = play.resume("and now?")?;
    for words in ["first words", "by hand"] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    Ok(())
}

/// At its terminal somebody goes over to the conversation of another session.
#[test]
fn nobody_takes_the_conversation_of_another_session() -> Outcome {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
    let house = &real.house;
    let Some(tmux) = Tmux::start(house)? else { return Ok(()) };
    let mut ids = Vec::new();
    for name in ["one", "two"] {
        house.json(&["new", name, "--agent", "claude"])?;
        house.turn(name, &format!("you are {name}"))?;
        ids.push(house.show(name)?["agent_session_ref"].as_str().ok_or("no id")?.to_owned());
    }
    tmux.line("one", "glis attach one")?;
    tmux.sees("one", "you are one")?;
    let words = format!("/resume {}", ids[1]);
    tmux.run(&["send-keys", "-t", "one", "-l", &words])?;
    tmux.sees("one", &words)?;
    tmux.key("one", "Enter")?;
    let left = house.until("one", "interrupted")?;
    assert_eq!(left["agent_session_ref"], ids[0].as_str(), "its own is not forgotten");
    assert!(left["verdict"].as_str().is_some_and(|told| told.contains("two")), "{left}");
    assert_eq!(house.show("two")?["status"], "idle");
    house.json(&["resume", "one", "--prompt", "who are you?"])?;
    let request = real.model.until_prompt("who are you?")?;
    assert_eq!(times(&request, Voice::User, "you are one"), 1, "{:#?}", request.turns);
    assert_eq!(times(&request, Voice::User, "you are two"), 0, "{:#?}", request.turns);
    Ok(())
}

/// Work in the background keeps nobody from saying something, and is no safe state; who is stopped all
/// the same is told at the resume.
fn work_goes_on_in_the_background(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let command =
        json!({"command": "bash -c 'sleep 500'", "description": "d", "run_in_background": true});
    play.send(&prompt("begin it", &[step(("Bash", command)), text("it is begun")]))?;
    let works = "the agent ended its turn and has work in the background";
    eventually("it works beside", || play.show().is_ok_and(|now| now["verdict"] == works))?;
    play.send("and now this")?;
    play.asked("and now this")?;
    eventually("it works beside again", || {
        play.show().is_ok_and(|now| now["verdict"] == works && now["queued"] == 0)
    })?;
    assert_eq!(play.show()?["status"], "busy");
    play.house().json(&["pause", NAME, "--mode", "force"])?;
    let request = play.resume("what became of it?")?;
    assert!(request.prompt().contains("cut off"), "{}", request.prompt());
    Ok(())
}

#[test]
fn work_goes_on_in_the_background_of_a_terminal() -> Outcome {
    work_goes_on_in_the_background(CLAUDE_TERMINAL)
}

#[test]
fn work_goes_on_in_the_background_headless() -> Outcome {
    work_goes_on_in_the_background(CLAUDE_HEADLESS)
}
