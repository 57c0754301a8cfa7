//! What must hold for every real agent in every mode. The proof is what the model is asked after a
//! resume: the whole history, in the same conversation.

use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, GEMINI_HEADLESS, NAME,
    OPENCODE_HEADLESS, Part, Play, held, text, times,
};
use super::kept::{
    a_conversation_that_is_gone_is_an_error, a_transcript_that_was_damaged_is_put_back,
    a_transcript_that_was_deleted_is_put_back, what_a_tool_did_is_kept_before_its_turn_ends,
    what_it_took_before_it_wrote_anything_down_is_said_again,
    what_its_holder_had_not_read_is_in_the_conversation,
};
use super::manners::its_persona_counts_after_every_resume;
use super::restarts::{
    a_message_right_before_a_pause_is_neither_stuck_nor_lost,
    what_is_said_after_a_fresh_start_is_in_the_log_once,
};
use crate::support::house::{Outcome, eventually, kill_and_wait, lives};
use glis_stub_model::installed::{FORMER_CLAUDE, FORMER_CODEX};
use glis_stub_model::{Step, Voice, prompt};
use serde_json::json;

/// The stories for one part, each as a test of its own: those that hold for every agent, and more.
macro_rules! play {
    ($part:ident, $constant:expr, $($more:ident)*) => {
        mod $part {
            use super::*;
            play! { $constant;
                it_works_and_comes_back_as_it_was
                a_pause_in_the_middle_of_an_answer
                both_are_killed_in_the_middle_of_an_answer
                its_worktree_comes_back_with_its_conversation
                its_persona_counts_after_every_resume
                $($more)*
            }
        }
    };
    ($constant:expr; $($story:ident)+) => {
        $(#[test]
        fn $story() -> Outcome {
            super::$story($constant)
        })+
    };
}

/// All stories there are: for an agent that asks. Those in which the agent has no part of its own, since
/// a daemon dies or processes are swept whatever they are, are played here alone: others start slowly.
macro_rules! play_all {
    ($part:ident, $constant:expr, $($more:ident)*) => {
        play!(
            $part,
            $constant,
            $($more)*
            a_pause_before_the_first_word
            a_pause_in_the_middle_of_a_tool
            the_agent_is_killed_in_the_middle_of_an_answer
            what_is_said_after_a_fresh_start_is_in_the_log_once
            what_it_took_before_it_wrote_anything_down_is_said_again
            a_transcript_that_was_deleted_is_put_back
            what_a_tool_did_is_kept_before_its_turn_ends
            a_conversation_that_is_gone_is_an_error
            an_approval_is_allowed
            an_approval_is_denied
            an_approval_waits_over_a_restart_of_the_daemon
            the_daemon_is_killed_in_the_middle_of_an_answer
            a_killed_agent_leaves_no_tool_behind
            two_resumes_at_once_start_one_process
            a_message_while_it_is_busy_comes_after
        );
    };
}

/// Stories whose like the quick agents tell in every run of the tests. These two take seconds of a
/// whole core to start, so theirs are played by `cargo xtask stories` alone.
macro_rules! play_by_hand {
    ($part:ident, $constant:expr, $($story:ident)+) => {
        mod $part {
            use super::*;
            $(#[test]
            #[ignore = "its agent starts slowly: played by `cargo xtask stories`"]
            fn $story() -> Outcome {
                super::$story($constant)
            })+
        }
    };
}

/// The stories that an older version tells as well: the ways in which it is started, heard, asked and
/// resumed.
macro_rules! play_former {
    ($part:ident, $constant:expr) => {
        mod $part {
            use super::*;
            play! { $constant;
                it_works_and_comes_back_as_it_was
                a_pause_in_the_middle_of_an_answer
                an_approval_is_allowed
                a_transcript_that_was_deleted_is_put_back
            }
        }
    };
}

play_former!(former_claude_headless, CLAUDE_HEADLESS.in_version(FORMER_CLAUDE));
play_former!(former_claude_terminal, CLAUDE_TERMINAL.in_version(FORMER_CLAUDE));
play_former!(former_codex_headless, CODEX_HEADLESS.in_version(FORMER_CODEX));
play_former!(former_codex_terminal, CODEX_TERMINAL.in_version(FORMER_CODEX));
play_all!(
    claude_headless,
    CLAUDE_HEADLESS,
    a_transcript_that_was_damaged_is_put_back
    what_its_holder_had_not_read_is_in_the_conversation
);
play_all!(
    claude_terminal,
    CLAUDE_TERMINAL,
    a_transcript_that_was_damaged_is_put_back
    a_message_right_before_a_pause_is_neither_stuck_nor_lost
);
play_all!(
    codex_headless,
    CODEX_HEADLESS,
    a_transcript_that_was_damaged_is_put_back
    what_its_holder_had_not_read_is_in_the_conversation
);
play_all!(
    codex_terminal,
    CODEX_TERMINAL,
    a_transcript_that_was_damaged_is_put_back
    a_message_right_before_a_pause_is_neither_stuck_nor_lost
);
play!(
    opencode_headless,
    OPENCODE_HEADLESS,
    what_it_took_before_it_wrote_anything_down_is_said_again
    a_transcript_that_was_deleted_is_put_back
    an_approval_is_allowed
);
play_by_hand!(
    opencode_by_hand,
    OPENCODE_HEADLESS,
    a_pause_before_the_first_word
    a_pause_in_the_middle_of_a_tool
    the_agent_is_killed_in_the_middle_of_an_answer
    what_is_said_after_a_fresh_start_is_in_the_log_once
    what_its_holder_had_not_read_is_in_the_conversation
    what_a_tool_did_is_kept_before_its_turn_ends
    a_conversation_that_is_gone_is_an_error
    an_approval_is_denied
);
// With nobody at a terminal it has nothing that it could ask for.
play!(
    gemini_headless,
    GEMINI_HEADLESS,
    what_it_took_before_it_wrote_anything_down_is_said_again
    a_transcript_that_was_damaged_is_put_back
    a_conversation_that_is_gone_is_an_error
);
play_by_hand!(
    gemini_by_hand,
    GEMINI_HEADLESS,
    a_pause_before_the_first_word
    a_pause_in_the_middle_of_a_tool
    the_agent_is_killed_in_the_middle_of_an_answer
    what_is_said_after_a_fresh_start_is_in_the_log_once
    what_its_holder_had_not_read_is_in_the_conversation
    what_a_tool_did_is_kept_before_its_turn_ends
    a_transcript_that_was_deleted_is_put_back
);

/// Starts, works, is paused and resumed from another folder: same id, same folder, same model.
fn it_works_and_comes_back_as_it_was(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &["--model", part.model])? else { return Ok(()) };
    let settings = || {
        let files = ["config.toml", "settings.json", "opencode.json"];
        files.map(|file| std::fs::read(play.real.config().join(file)).ok())
    };
    let before = settings();
    assert!(before.iter().any(Option::is_some), "there is nothing to leave alone");
    let steps = [play.run("echo fresh > new.txt; pwd"), text("it is written")];
    let idle = play.turn(&prompt("write it", &steps))?;
    assert_eq!(std::fs::read_to_string(play.house().file(NAME, "new.txt")?)?, "fresh\n");
    assert_eq!((&idle["status"], &idle["can_pause"]), (&json!("idle"), &json!(true)));
    let paused = play.pause()?;
    assert_eq!((&paused["status"], &paused["pid"]), (&json!("paused"), &json!(null)));

    let elsewhere = tempfile::tempdir()?;
    let mut command = play.house().glis();
    command.current_dir(elsewhere.path()).args(["resume", NAME, "--prompt", "and now?"]);
    assert!(command.status()?.success());
    let request = play.asked("and now?")?;
    let again = play.until("idle")?;
    assert_eq!(again["agent_session_ref"], idle["agent_session_ref"]);
    for (voice, words) in
        [(Voice::User, "write it"), (Voice::Model, "it is written"), (Voice::User, "and now?")]
    {
        assert_eq!(times(&request, voice, words), 1, "{words}: {:#?}", request.turns);
    }
    let worktree = idle["worktree"].as_str().ok_or("no worktree")?;
    assert!(request.turns.iter().any(|t| t.voice == Voice::Tool && t.text.contains(worktree)));
    let models: Vec<_> = play.real.model.turns().iter().map(|r| r.model().to_owned()).collect();
    assert!(models.iter().all(|model| model == "other-model"), "{models:?}");
    let talk = play.house().talk(NAME)?;
    let said = |voice: &str, words: &str| {
        talk.iter().filter(|(who, what)| who == voice && what.contains(words)).count()
    };
    assert_eq!((said("user", "write it"), said("assistant", "it is written")), (1, 1), "{talk:?}");
    assert_eq!(settings(), before, "the user's settings have changed");
    Ok(())
}

/// The worktree is gone at the resume: it is there again, at the same place, with all that was
/// written, and so is the conversation.
fn its_worktree_comes_back_with_its_conversation(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn(&prompt("write it", &[play.run("echo fresh > new.txt"), text("it is written")]))?;
    let file = play.house().file(NAME, "new.txt")?;
    play.pause()?;
    std::fs::remove_dir_all(file.parent().ok_or("no folder")?)?;
    let request = play.resume("and now?")?;
    for (voice, words) in
        [(Voice::User, "write it"), (Voice::Model, "it is written"), (Voice::User, "and now?")]
    {
        assert_eq!(times(&request, voice, words), 1, "{words}: {:#?}", request.turns);
    }
    assert_eq!(std::fs::read_to_string(file)?, "fresh\n");
    let found = play.show()?["found"].clone();
    assert!(found["restored"].is_object(), "{found}");
    Ok(())
}

/// The model has not said anything yet: some agents take the message back then.
fn a_pause_before_the_first_word(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn("first words")?;
    let silent = Step { hold_first: Some("gate".to_owned()), ..text("late") };
    play.send(&prompt("think first", &[silent]))?;
    play.real.model.until_held("gate")?;
    let paused = play.pause()?;
    assert_eq!(paused["status"], "paused");
    // Should it have to be said again, it is answered now.
    play.real.model.open("gate");
    let request = play.resume("after the pause")?;
    for words in ["first words", "think first", "after the pause"] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    Ok(())
}

fn a_pause_in_the_middle_of_an_answer(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn("first words")?;
    play.send(&prompt("go on", &[held("early", "gate")]))?;
    play.real.model.until_held("gate")?;
    play.until("busy")?;
    let pid = play.pid()?;
    let paused = play.pause()?;
    assert_eq!(paused["status"], "paused");
    assert_eq!(paused["pause_rule"], "the agent's turn was interrupted", "{paused}");
    let log = play.house().ok(&["log", NAME])?;
    assert_eq!(
        (log.matches("turn interrupted").count(), log.matches("turn ended").count()),
        (1, 1)
    );
    assert!(!lives(pid));
    let request = play.resume("after the pause")?;
    for words in ["first words", "go on", "after the pause"] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    assert!(request.prompt().contains("cut off"), "{}", request.prompt());
    Ok(())
}

fn a_pause_in_the_middle_of_a_tool(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let tool = tool_at_work(&play)?;
    assert_eq!(play.pause()?["status"], "paused");
    assert!(!runs(&tool), "the tool outlived the pause");
    let request = play.resume("after the pause")?;
    assert_eq!(times(&request, Voice::User, "work long"), 1, "{:#?}", request.turns);
    assert!(request.prompt().contains("cut off"), "{}", request.prompt());
    Ok(())
}

/// Has the agent run a tool that does not end; returns what tells the tool's process from others. Its
/// number would not: a sandbox counts for itself.
fn tool_at_work(play: &Play) -> Outcome<String> {
    let id = play.show()?["id"].as_str().ok_or("no id")?.to_owned();
    let steps = [play.run(&format!("exec -a tool-{id} sleep 1000")), text("done")];
    play.send(&prompt("work long", &steps))?;
    // A busy machine takes long to start an agent; the tool has its own time from here on.
    play.asked("work long")?;
    let mark = format!("tool-{id}");
    eventually("the tool runs", || runs(&mark))?;
    eventually("the message is written down", || play.has_written("work long"))?;
    Ok(mark)
}

/// Whether a process goes by this name.
fn runs(name: &str) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let mut lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| line.split(|b| *b == 0).next() == Some(name.as_bytes()))
}

fn the_agent_is_killed_in_the_middle_of_an_answer(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn("first words")?;
    play.send(&prompt("go on", &[held("early", "gate")]))?;
    play.real.model.until_held("gate")?;
    play.until("busy")?;
    kill_and_wait(play.pid()?)?;
    let left = play.until("interrupted")?;
    assert_eq!(left["resumable"], true);
    // Should it have to be said again, it is answered now.
    play.real.model.open("gate");
    let request = play.resume("after the death")?;
    for words in ["first words", "go on", "after the death"] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    assert!(request.says(Voice::User, "cut off"), "{:#?}", request.turns);
    Ok(())
}

fn the_daemon_is_killed_in_the_middle_of_an_answer(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.send(&prompt("go on", &[held("early", "gate")]))?;
    play.real.model.until_held("gate")?;
    play.until("busy")?;
    let pid = play.pid()?;
    play.house().kill_daemon()?;
    play.real.model.open("gate");
    let idle = play.until("idle")?;
    assert_eq!(idle["pid"], pid);
    let answers: Vec<_> = play.house().talk(NAME)?;
    assert_eq!(answers.iter().filter(|(_, said)| said.contains("early")).count(), 2, "{answers:?}");
    // The daemon that did not hear the beginning can speak with it all the same.
    play.turn("once more")?;
    let request = play.asked("once more")?;
    assert_eq!(times(&request, Voice::Model, "early"), 1, "{:#?}", request.turns);
    Ok(())
}

fn both_are_killed_in_the_middle_of_an_answer(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn("first words")?;
    play.send(&prompt("go on", &[held("early", "gate")]))?;
    play.real.model.until_held("gate")?;
    play.until("busy")?;
    let pid = play.pid()?;
    play.house().kill_daemon()?;
    kill_and_wait(pid)?;
    play.until("interrupted")?;
    play.real.model.open("gate");
    let request = play.resume("after the deaths")?;
    for words in ["first words", "go on", "after the deaths"] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    Ok(())
}

fn a_killed_agent_leaves_no_tool_behind(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let tool = tool_at_work(&play)?;
    kill_and_wait(play.pid()?)?;
    play.until("interrupted")?;
    assert!(!runs(&tool), "the tool outlived its agent");
    let request = play.resume("after the death")?;
    assert_eq!(times(&request, Voice::User, "work long"), 1, "{:#?}", request.turns);
    Ok(())
}

fn two_resumes_at_once_start_one_process(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn("first words")?;
    play.pause()?;
    let mut both = Vec::new();
    for _ in 0..2 {
        both.push(play.house().glis().args(["--json", "resume", NAME]).spawn()?);
    }
    for mut one in both {
        assert!(one.wait()?.success());
    }
    let session = play.show()?;
    assert_eq!((&session["generation"], &session["status"]), (&json!(2), &json!("idle")));
    play.turn("one more")?;
    assert_eq!(times(&play.asked("one more")?, Voice::User, "first words"), 1);
    Ok(())
}

/// Has the agent ask for leave to write a file.
fn asks(play: &Play) -> Outcome<String> {
    let steps = [play.ask("asked.txt")?, text("so it is")];
    play.send(&prompt("write with leave", &steps))?;
    let waiting = play.until("waiting")?;
    assert!(waiting["waiting_for"]["text"].as_str().is_some_and(|t| t.contains("asked.txt")));
    Ok(waiting["waiting_for"]["request"].as_str().ok_or("no request")?.to_owned())
}

fn an_approval_is_allowed(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let request = asks(&play)?;
    let (status, _) = play.house().fails(&["answer", NAME, "allow", "--request", "another"])?;
    assert_eq!(status, 4);
    play.house().json(&["answer", NAME, "allow", "--request", &request])?;
    play.until("idle")?;
    assert_eq!(std::fs::read_to_string(play.house().file(NAME, "asked.txt")?)?, "written\n");
    let (status, _) = play.house().fails(&["answer", NAME, "allow", "--request", &request])?;
    assert_eq!(status, 4, "an answer is given once");
    assert!(denied(&play)?.is_empty());
    Ok(())
}

/// What the log says was not allowed.
fn denied(play: &Play) -> Outcome<Vec<String>> {
    let log = play.house().json(&["log", NAME])?;
    let entries = log.as_array().ok_or("no list")?.iter();
    let denied = entries.filter(|entry| entry["metadata"]["outcome"] == "denied");
    Ok(denied.filter_map(|entry| entry["content"].as_str().map(ToOwned::to_owned)).collect())
}

fn an_approval_is_denied(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    asks(&play)?;
    play.house().json(&["answer", NAME, "deny"])?;
    play.until("idle")?;
    assert!(!play.house().file(NAME, "asked.txt")?.exists());
    let told = || denied(&play).is_ok_and(|denied| !denied.is_empty());
    eventually("the log tells that it was denied", told)?;
    let denied = denied(&play)?;
    assert!(denied.len() == 1 && denied[0].contains("asked.txt"), "{denied:?}");
    let log = play.house().ok(&["log", NAME])?;
    assert!(log.lines().any(|l| l.contains("asked.txt") && l.ends_with(" (denied)")), "{log}");
    Ok(())
}

fn an_approval_waits_over_a_restart_of_the_daemon(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let request = asks(&play)?;
    play.house().kill_daemon()?;
    assert_eq!(play.until("waiting")?["waiting_for"]["request"], request);
    play.house().json(&["answer", NAME, "allow", "--request", &request])?;
    play.until("idle")?;
    assert!(play.house().file(NAME, "asked.txt")?.exists());
    Ok(())
}

fn a_message_while_it_is_busy_comes_after(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.send(&prompt("go on", &[held("early", "gate")]))?;
    play.real.model.until_held("gate")?;
    play.until("busy")?;
    let sent = play.send("and then this")?;
    assert_eq!((&sent["status"], &sent["queued"]), (&json!("busy"), &json!(1)), "{sent}");
    play.real.model.open("gate");
    let request = play.asked("and then this")?;
    assert_eq!(times(&request, Voice::Model, "early"), 1, "{:#?}", request.turns);
    play.until("idle")?;
    Ok(())
}
