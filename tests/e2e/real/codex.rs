//! Codex in a terminal, where it tells less than others: whose conversation it is in, what it asks, and
//! what its own dialogs want.

use super::Real;
use super::cast::{CODEX_TERMINAL, NAME, Play, has_used_codex, held, step, text, times};
use crate::support::house::Outcome;
use crate::support::tmux::Tmux;
use glis_stub_model::installed::CODEX;
use glis_stub_model::{Voice, prompt};
use serde_json::{Value, json};

/// What Codex notes in the user's settings when its terminal is used for the very first time.
const FIRST_USE: &str = "\n[tui]\nscreen_reader_detection_done = true\n";

/// The folder says nothing about whose a conversation is; there are older ones of it, too.
#[test]
fn two_in_one_folder_stay_in_their_own_conversations() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    has_used_codex(&real, "")?;
    let (house, repo) = (&real.house, real.house.repo());
    let older = ["exec", "--skip-git-repo-check", "an older conversation"];
    assert!(real.bare(&repo).args(older).output()?.status.success());
    let names = ["one", "two"];
    let mut ids = Vec::new();
    for name in names {
        house.json(&["new", name, "--agent", "codex", "--in-place"])?;
        house.until(name, "idle")?;
        house.turn(name, &format!("remember that you are {name}"))?;
        ids.push(house.show(name)?["agent_session_ref"].as_str().ok_or("no id")?.to_owned());
        // One at a time: both would write to the same files.
        house.json(&["pause", name])?;
    }
    assert_ne!(ids[0], ids[1]);
    for (name, other, id) in [("two", "one", &ids[1]), ("one", "two", &ids[0])] {
        let words = format!("who are you, {name}?");
        house.json(&["resume", name, "--prompt", &words])?;
        let request = real.model.until_prompt(&words)?;
        let said = |words: String| times(&request, Voice::User, &words);
        assert_eq!(said(format!("you are {name}")), 1, "{:#?}", request.turns);
        assert_eq!(said(format!("you are {other}")), 0, "{:#?}", request.turns);
        assert_eq!(said("an older conversation".to_owned()), 0, "{:#?}", request.turns);
        assert_eq!(house.until(name, "idle")?["agent_session_ref"], id.as_str());
        house.json(&["pause", name])?;
    }
    Ok(())
}

/// Its terminal has tools for worktrees and threads of its own making: what it did there would be in no
/// snapshot, and shown to nobody.
#[test]
fn it_is_offered_no_worktrees_and_threads_of_its_own() -> Outcome {
    let Some(play) = Play::with(CODEX_TERMINAL, &[])? else { return Ok(()) };
    play.turn("which tools have you got?")?;
    let offered = play.asked("which tools")?.body["tools"].to_string();
    assert!(offered.contains("exec_command"), "{offered}");
    for tool in ["create_worktree", "fork_thread", "create_thread", "codex_tui"] {
        assert!(!offered.contains(tool), "{tool}: {offered}");
    }
    assert!(!play.house().ok(&["show", NAME])?.contains("codex_tui"));
    Ok(())
}

/// Why a session waits whose agent has not even begun.
const ITSELF: &str = "its program itself asks something";

/// Nothing is typed into it, and nothing is begun before it is answered.
#[test]
fn a_question_about_trust_waits_for_somebody_at_the_terminal() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    let house = &real.house;
    let Some(tmux) = Tmux::start(house)? else { return Ok(()) };
    let path = real.config().join("config.toml");
    let before = std::fs::read_to_string(&path)?;
    house.json(&["new", NAME, "--agent", "codex", "--prompt", "first words"])?;
    let waiting = house.until(NAME, "waiting")?;
    let asks = &waiting["waiting_for"];
    assert_eq!(asks["kind"], "question");
    let whole = ["Folder access", "Trust this folder?"];
    assert!(whole.iter().all(|part| told(&asks["text"], part)), "{asks}");
    assert_eq!((&asks["choices"], &waiting["verdict"]), (&json!([]), &json!(ITSELF)));
    let (status, error) = house.fails(&["answer", NAME, "allow"])?;
    assert_eq!((status, &error["hint"]), (4, &json!("`glis attach play`")), "{error}");
    let shown = house.ok(&["show", NAME])?;
    assert!(shown.contains("(glis attach play)") && !shown.contains("glis answer"), "{shown}");
    let still = house.show(NAME)?;
    assert_eq!((&still["status"], &still["waiting_for"]), (&json!("waiting"), asks));

    // Nothing was said yet, so the next process has nothing to go on with, and asks the same.
    house.json(&["pause", NAME])?;
    let told = house.ok(&["resume", NAME])?;
    assert!(told.contains("no message had been sent"), "{told}");
    let waiting = house.until(NAME, "waiting")?;
    assert_eq!((&waiting["queued"], &waiting["generation"]), (&json!(1), &json!(2)));
    assert_eq!(waiting["verdict"], ITSELF);
    assert_eq!(std::fs::read_to_string(&path)?, format!("{before}{FIRST_USE}"));
    assert!(real.model.turns().is_empty());

    tmux.line("one", &format!("glis attach {NAME}"))?;
    tmux.sees("one", "Trust this folder?")?;
    tmux.key("one", "Enter")?;
    real.model.until_prompt("first words")?;
    house.until(NAME, "idle")?;
    // What they have decided, Codex has written down: nothing else.
    let trust = format!("[projects.{:?}]\ntrust_level = \"trusted\"\n", repo_of(&real)?);
    let after = std::fs::read_to_string(&path)?;
    assert_eq!(after, format!("{before}{FIRST_USE}\n{trust}"));
    Ok(())
}

#[test]
fn a_login_waits_for_somebody_at_the_terminal() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    // Its own vendor's model, and nobody is logged in.
    let path = real.config().join("config.toml");
    let settings = FIRST_USE.trim_start();
    std::fs::write(&path, settings)?;
    real.house.json(&["new", NAME, "--agent", "codex", "--prompt", "first words"])?;
    let waiting = real.house.until(NAME, "waiting")?;
    let asks = &waiting["waiting_for"]["text"];
    let whole = ["Choose how you want to use Codex.", "Sign in with ChatGPT"];
    assert!(whole.iter().all(|part| told(asks, part)), "{asks}");
    assert_eq!(waiting["queued"], 1);
    let screen = real.house.ok(&["screen", NAME])?;
    assert!(!screen.contains("first words"), "{screen}");
    assert_eq!(std::fs::read_to_string(&path)?, settings);
    Ok(())
}

/// Whether a question has this in it.
fn told(question: &Value, part: &str) -> bool {
    question.as_str().is_some_and(|question| question.contains(part))
}

fn repo_of(real: &Real) -> Outcome<String> {
    Ok(real.house.repo().canonicalize()?.display().to_string())
}

/// A slash begins a command of Codex, an exclamation mark one of the shell, and the name of a file or
/// a skill is completed into another. The screen is read right whatever the user has put on it.
#[test]
fn what_would_be_a_command_arrives_as_it_was_written() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    has_used_codex(&real, "status_line = []\n")?;
    real.house.json(&["new", NAME, "--agent", "codex"])?;
    let play = Play { real, part: CODEX_TERMINAL };
    for words in ["/status", "!touch by-the-shell", "look at @n", "two\nlines, and $im"] {
        play.turn(words)?;
        assert_eq!(
            play.real.model.turns().last().map(|r| r.prompt().replace('\u{200b}', "")),
            Some(words.to_owned())
        );
        let talk = play.house().talk(NAME)?;
        assert!(talk.contains(&("user".to_owned(), words.to_owned())), "{talk:?}");
    }
    assert!(!play.house().file(NAME, "by-the-shell")?.exists());
    Ok(())
}

#[test]
fn a_conversation_begun_at_the_terminal_is_followed() -> Outcome {
    let Some(play) = Play::with(CODEX_TERMINAL, &[])? else { return Ok(()) };
    let Some(tmux) = Tmux::start(play.house())? else { return Ok(()) };
    let first = play.turn("the former words")?["agent_session_ref"].clone();
    tmux.line("one", &format!("glis attach {NAME}"))?;
    // Until its own screen says so, it takes the turn for unfinished and refuses a new conversation.
    tmux.sees("one", "Worked for")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "/new"])?;
    tmux.sees("one", "start a new chat")?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "Where should the new conversation run?")?;
    tmux.key("one", "Enter")?;
    tmux.until("one", |screen| !screen.contains("the former words"))?;
    tmux.key("one", "C-q")?;
    play.turn("the later words")?;
    let id = play.show()?["agent_session_ref"].clone();
    assert_ne!(id, first);
    play.pause()?;
    let request = play.resume("and now?")?;
    let said = |words| times(&request, Voice::User, words);
    assert_eq!((said("the former words"), said("the later words")), (0, 1), "{:#?}", request.turns);
    assert_eq!(play.show()?["agent_session_ref"], id);
    Ok(())
}

/// What somebody undoes at the terminal Codex keeps, and goes on in another file. All of them come back
/// together: what was undone stays undone, and nothing is missing.
#[test]
fn what_was_undone_at_the_terminal_stays_undone() -> Outcome {
    let Some(play) = Play::with(CODEX_TERMINAL, &[])? else { return Ok(()) };
    let Some(tmux) = Tmux::start(play.house())? else { return Ok(()) };
    play.turn("the blue door")?;
    let id = play.turn("the red key")?["agent_session_ref"].clone();
    tmux.line("one", &format!("glis attach {NAME}"))?;
    tmux.sees("one", "Worked for")?;
    tmux.key("one", "Escape")?;
    tmux.sees("one", "esc again")?;
    tmux.key("one", "Escape")?;
    tmux.sees("one", "rewind")?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "Conversation reverted")?;
    // What was undone stands in the prompt again.
    tmux.key("one", "C-u")?;
    tmux.sees("one", "Ask Codex to do anything")?;
    tmux.key("one", "C-q")?;
    play.turn("the green hat")?;
    assert_eq!(play.pause()?["agent_session_ref"], id);
    std::fs::remove_dir_all(play.real.config().join("sessions"))?;
    let request = play.resume("and now?")?;
    let said = ["the blue door", "the red key", "the green hat"];
    let said = said.map(|words| times(&request, Voice::User, words));
    assert_eq!(said, [1, 0, 1], "{:#?}", request.turns);
    assert_eq!(play.show()?["agent_session_ref"], id);
    let talk = play.house().talk(NAME)?;
    let heard = |words: &str| talk.iter().filter(|(_, text)| text == words).count();
    assert_eq!((heard("the red key"), heard("the green hat")), (1, 1), "{talk:?}");
    Ok(())
}

/// A fork has only its own words in its file.
#[test]
fn a_fork_is_put_back_with_what_it_goes_on_from() -> Outcome {
    let Some(play) = Play::with(CODEX_TERMINAL, &[])? else { return Ok(()) };
    let Some(tmux) = Tmux::start(play.house())? else { return Ok(()) };
    let id = play.turn("the blue door")?["agent_session_ref"].clone();
    tmux.line("one", &format!("glis attach {NAME}"))?;
    tmux.sees("one", "Worked for")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "/fork"])?;
    tmux.sees("one", "fork the current chat")?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "Where should the forked conversation run?")?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "Fork created")?;
    tmux.key("one", "C-q")?;
    play.turn("the red key")?;
    assert_ne!(play.pause()?["agent_session_ref"], id);
    std::fs::remove_dir_all(play.real.config().join("sessions"))?;
    let request = play.resume("and now?")?;
    let said = ["the blue door", "the red key"].map(|words| times(&request, Voice::User, words));
    assert_eq!(said, [1, 1], "{:#?}", request.turns);
    Ok(())
}

/// Each is answered by its own name; what was answered is gone.
#[test]
fn two_questions_in_one_turn_are_two() -> Outcome {
    let Some(play) = Play::with(CODEX_TERMINAL, &[])? else { return Ok(()) };
    // Longer than the screen is wide: what is asked is whole all the same.
    let words = "word ".repeat(60);
    let long = |file: &str| {
        let asks = json!({
            "cmd": format!("echo written > {file}; : {words} end-of-{file}"),
            "sandbox_permissions": "require_escalated",
            "justification": "because",
        });
        step(("exec_command", asks))
    };
    play.send(&prompt("ask twice", &[long("a.txt"), long("b.txt"), text("so it is")]))?;
    let first = play.until("waiting")?["waiting_for"].clone();
    assert!(first["text"].as_str().is_some_and(|text| text.contains("end-of-a.txt")), "{first}");
    let request = first["request"].as_str().ok_or("no request")?;
    // Codex would write that into the user's rules.
    let (status, error) = play.house().fails(&["answer", NAME, "allow", "--for-session"])?;
    assert_eq!((status, &play.show()?["waiting_for"]), (4, &first), "{error}");
    play.house().json(&["answer", NAME, "allow", "--request", request])?;
    let mut events = play.house().follow(1)?;
    let other = |e: &serde_json::Value| e["event"] == "asked" && e["ask"]["id"] != request;
    let second = events.until(other)?["ask"].clone();
    assert!(second["text"].as_str().is_some_and(|text| text.contains("end-of-b.txt")), "{second}");
    let (status, _) = play.house().fails(&["answer", NAME, "deny", "--request", request])?;
    assert_eq!(status, 4, "the first one is gone");
    play.house().json(&["answer", NAME, "deny"])?;
    play.until("idle")?;
    assert!(play.house().file(NAME, "a.txt")?.exists());
    assert!(!play.house().file(NAME, "b.txt")?.exists());
    assert!(!play.real.config().join("rules").exists());
    Ok(())
}

/// Whoever sits at the terminal may be faster than whoever asks us.
#[test]
fn what_was_answered_at_the_terminal_is_asked_no_more() -> Outcome {
    let Some(play) = Play::with(CODEX_TERMINAL, &[])? else { return Ok(()) };
    let Some(tmux) = Tmux::start(play.house())? else { return Ok(()) };
    let steps = [play.ask("asked.txt")?, held("so it is", "gate")];
    play.send(&prompt("write with leave", &steps))?;
    let request = play.until("waiting")?["waiting_for"]["request"].clone();
    let request = request.as_str().ok_or("no request")?;
    tmux.line("one", &format!("glis attach {NAME}"))?;
    tmux.sees("one", "Would you like to")?;
    tmux.key("one", "y")?;
    play.real.model.until_held("gate")?;
    let busy = play.until("busy")?;
    assert_eq!(busy["waiting_for"], json!(null));
    let (status, _) = play.house().fails(&["answer", NAME, "deny", "--request", request])?;
    assert_eq!(status, 4);
    play.real.model.open("gate");
    play.until("idle")?;
    assert!(play.house().file(NAME, "asked.txt")?.exists());
    Ok(())
}

/// The question goes with the process; what it was about was not done.
#[test]
fn a_pause_while_it_asks() -> Outcome {
    let Some(play) = Play::with(CODEX_TERMINAL, &[])? else { return Ok(()) };
    play.send(&prompt("write with leave", &[play.ask("asked.txt")?, text("so it is")]))?;
    play.until("waiting")?;
    assert_eq!(play.pause()?["status"], "paused");
    let request = play.resume("and now?")?;
    assert_eq!(times(&request, Voice::User, "write with leave"), 1, "{:#?}", request.turns);
    assert!(request.prompt().contains("cut off"), "{}", request.prompt());
    assert_eq!(play.show()?["waiting_for"], json!(null));
    assert!(!play.house().file(NAME, "asked.txt")?.exists());
    Ok(())
}

/// Codex keeps neither sandbox nor policy nor instructions with a conversation.
#[test]
fn a_persona_counts_after_a_resume_too() -> Outcome {
    let Some(real) = Real::with(CODEX)? else { return Ok(()) };
    has_used_codex(&real, "")?;
    real.house.configure(
        "[persona.careful]\nagent = \"codex\"\nmodel = \"other-model\"\n\
         system_prompt = \"Say \\\"moin\\\" first.\"\npermission_mode = \"read-only:never\"\n",
    )?;
    real.house.json(&["new", NAME, "--persona", "careful"])?;
    let play = Play { real, part: CODEX_TERMINAL };
    play.turn("first words")?;
    let before = play.asked("first words")?;
    play.pause()?;
    let after = play.resume("and now?")?;
    for request in [&before, &after] {
        let words = json!("Say \"moin\" first.").to_string();
        assert!(request.body.to_string().contains(&words), "the instructions are not there");
        assert_eq!(request.model(), "other-model");
    }
    let rollout = std::fs::read_to_string(play.transcript()?)?;
    let lines = rollout.lines().map(serde_json::from_str::<serde_json::Value>);
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    let turns: Vec<_> = lines.iter().filter(|line| line["type"] == "turn_context").collect();
    assert_eq!(turns.len(), 2);
    for turn in turns {
        let (policy, sandbox) =
            (&turn["payload"]["approval_policy"], &turn["payload"]["sandbox_policy"]["type"]);
        assert_eq!((policy, sandbox), (&json!("never"), &json!("read-only")), "{turn}");
    }
    Ok(())
}

/// The daemon dies between its promise to interrupt and the key: the next one presses it.
#[test]
fn an_interruption_whose_key_was_never_pressed_is_made_up_for() -> Outcome {
    let Some(mut play) = Play::with(CODEX_TERMINAL, &[])? else { return Ok(()) };
    play.turn("first words")?;
    play.send(&prompt("go on", &[held("early", "gate")]))?;
    play.real.model.until_held("gate")?;
    play.until("busy")?;
    play.house().ok(&["daemon", "stop"])?;
    play.real.house.surround("GLIS_FAILPOINT", "after:interrupt_began");
    // Nobody is left to answer it.
    play.house().glis().args(["pause", NAME, "--mode", "interrupt"]).output()?;
    play.real.house.spare("GLIS_FAILPOINT");
    let paused = play.until("paused")?;
    assert_eq!(paused["pause_rule"], "the agent's turn was interrupted", "{paused}");
    let request = play.resume("after the pause")?;
    for words in ["first words", "go on", "after the pause"] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    Ok(())
}
