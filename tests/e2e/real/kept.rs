//! Stories about what is kept of a conversation beside the agent, and what is lost with whom.

use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, GEMINI_HEADLESS, NAME, Part, Play, held, text, times,
};
use crate::support::house::{Outcome, eventually, kill_and_wait};
use crate::support::wreck::holder_of;
use glis_stub_model::{Step, Voice, prompt};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// Headless, its holder is killed with the end of the turn unread: the agent's own transcript has it.
pub(super) fn what_its_holder_had_not_read_is_in_the_conversation(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn(&prompt("first words", &[play.run("true"), text("the same")]))?;
    let Step { tool, input, .. } = play.run("true");
    let early = Step { tool, input, ..held("the same", "gate") };
    play.send(&prompt("go on", &[early, text("quite the finish")]))?;
    play.real.model.until_held("gate")?;
    play.until("busy")?;
    let pid = play.pid()?;
    let holder = holder_of(pid)?;
    kill_process(Pid::from_raw(holder).ok_or("pid")?, Signal::STOP)?;
    play.real.model.open("gate");
    eventually("the end is written down", || play.has_closed_with("quite the finish"))?;
    kill_and_wait(holder)?;
    let left = play.until("interrupted")?;
    // What Gemini CLI writes down does not tell whether a turn is over: it is to check.
    let tells_end = part.agent != GEMINI_HEADLESS.agent;
    assert_eq!(left["cut_off"], !tells_end, "{left}");
    for _ in 0..2 {
        let talk = play.house().talk(NAME)?;
        let said: Vec<_> = talk.iter().filter(|(voice, _)| voice == "assistant").collect();
        let said: Vec<_> = said.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(
            said.get(..3),
            Some(&["the same", "the same", "quite the finish"][..]),
            "{talk:?}"
        );
        let count = |wanted: &str| talk.iter().filter(|(voice, _)| voice == wanted).count();
        assert_eq!(count("user"), said.len() - 1, "{talk:?}");
        assert!(count("tool") >= 2, "{talk:?}");
        if said.len() == 3 {
            let request = play.resume("after the death")?;
            assert_eq!(
                times(&request, Voice::Model, "quite the finish"),
                1,
                "{:#?}",
                request.turns
            );
            assert_eq!(request.prompt().contains("cut off"), !tells_end, "{}", request.prompt());
        }
    }
    Ok(())
}

/// A process that dies before its agent has a transcript: the id is still good, and the message is
/// not lost.
pub(super) fn what_it_took_before_it_wrote_anything_down_is_said_again(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.send(&prompt("the very first", &[held("early", "gate"), text("late")]))?;
    play.real.model.until_held("gate")?;
    kill_and_wait(play.pid()?)?;
    play.until("interrupted")?;
    // As if it had died some milliseconds earlier.
    if play.is_known() {
        play.forget()?;
    }
    std::fs::remove_dir_all(play.vault()?).ok();
    play.real.model.open("gate");
    play.house().json(&["resume", NAME])?;
    let again =
        |r: &glis_stub_model::Received| r.number > 1 && r.says(Voice::User, "the very first");
    play.real.model.until(again)?;
    play.until("idle")?;
    let request = play.resume("and now?")?;
    assert_eq!(times(&request, Voice::User, "the very first"), 1, "{:#?}", request.turns);
    assert_eq!(times(&request, Voice::Model, "early"), 1, "{:#?}", request.turns);
    Ok(())
}

/// Killed early, Claude Code may leave a transcript without a message, under which it can neither
/// resume nor begin.
fn a_transcript_without_a_message(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let id = play.show()?["agent_session_ref"].as_str().ok_or("no id")?.to_owned();
    play.send(&prompt("the very first", &[held("early", "gate"), text("late")]))?;
    play.real.model.until_held("gate")?;
    kill_and_wait(play.pid()?)?;
    play.until("interrupted")?;
    let folder = play.real.config().join("projects/elsewhere");
    if let Ok(transcript) = play.transcript() {
        std::fs::remove_file(transcript)?;
    }
    std::fs::remove_dir_all(play.vault()?).ok();
    std::fs::create_dir_all(&folder)?;
    let mode = json!({"type": "mode", "mode": "normal", "sessionId": id});
    std::fs::write(folder.join(format!("{id}.jsonl")), format!("{mode}\n"))?;
    play.real.model.open("gate");
    let request = play.resume("and now?")?;
    assert_eq!(times(&request, Voice::User, "the very first"), 1, "{:#?}", request.turns);
    assert_eq!(play.show()?["agent_session_ref"], id);
    assert!(folder.join(format!("{id}.jsonl.aside-1")).exists(), "nothing is deleted");
    Ok(())
}

#[test]
fn claude_begins_again_behind_a_transcript_without_a_message() -> Outcome {
    a_transcript_without_a_message(CLAUDE_HEADLESS)?;
    a_transcript_without_a_message(CLAUDE_TERMINAL)
}

pub(super) fn a_transcript_that_was_deleted_is_put_back(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn("remember the blue door")?;
    let id = play.pause()?["agent_session_ref"].clone();
    play.forget()?;
    let request = play.resume("which door?")?;
    assert_eq!(times(&request, Voice::User, "blue door"), 1, "{:#?}", request.turns);
    assert!(play.is_known());
    assert_eq!(play.show()?["agent_session_ref"], id);
    Ok(())
}

/// The copy grows in the middle of a turn: whoever loses what a tool did would do it again.
pub(super) fn what_a_tool_did_is_kept_before_its_turn_ends(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let tool = play.run("echo once >> done.txt; printf result-%s 42");
    play.send(&prompt("do it once", &[tool, held("early", "gate")]))?;
    play.real.model.until_held("gate")?;
    let vault = play.vault()?;
    eventually("the copy has the result", || {
        let files = std::fs::read_dir(&vault).into_iter().flatten().filter_map(Result::ok);
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.any(|text| text.contains("result-42"))
    })?;
    let pid = play.pid()?;
    play.house().kill_daemon()?;
    kill_and_wait(pid)?;
    play.until("interrupted")?;
    play.forget()?;
    play.real.model.open("gate");
    let request = play.resume("after the deaths")?;
    // Gemini CLI itself repeats the result of a tool at which it was cut off.
    assert!(request.says(Voice::Tool, "result-42"), "{:#?}", request.turns);
    assert_eq!(std::fs::read_to_string(play.house().file(NAME, "done.txt")?)?, "once\n");
    Ok(())
}

/// It lost its end, all of it, or became somebody else's: nothing of that is gone on with.
pub(super) fn a_transcript_that_was_damaged_is_put_back(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn("remember the blue door")?;
    play.turn("remember the red key")?;
    let paused = play.pause()?;
    let id = paused["agent_session_ref"].as_str().ok_or("no id")?;
    let transcript = play.transcript()?;
    let whole = std::fs::read_to_string(&transcript)?;
    // A resume of Gemini CLI leaves an almost empty file beside it, named by the minute: at the end
    // of one there are two files under the same id.
    let name = transcript.file_name().and_then(|name| name.to_str()).ok_or("no name")?;
    if let (Some(first), false) = (whole.lines().next(), name.contains(id)) {
        let short: String = id.chars().take(8).collect();
        let beside = format!("session-2026-01-01T00-00-{short}.jsonl");
        std::fs::write(transcript.with_file_name(beside), format!("{first}\n"))?;
    }
    let before = whole.lines().take_while(|line| !line.contains("red key"));
    let cut: String = before.flat_map(|line| [line, "\n"]).collect();
    for damaged in [cut, String::new(), whole.replace(id, "0ca26bbd-e983-4e5f-a2ab-0ebd7350d328")] {
        std::fs::write(&transcript, &damaged)?;
        let resumed = play.house().json(&["resume", NAME, "--prompt", "what was it?"])?;
        assert!(resumed["warnings"].to_string().contains("set aside"), "{resumed}");
        let request = play.asked("what was it?")?;
        for words in ["blue door", "red key"] {
            assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
        }
        play.until("idle")?;
        let paused = play.pause()?;
        assert_eq!(
            (&paused["status"], &paused["agent_session_ref"]),
            (&json!("paused"), &json!(id))
        );
    }
    Ok(())
}

/// Neither at its place nor in the vault: nothing is started in its stead.
pub(super) fn a_conversation_that_is_gone_is_an_error(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    play.turn("remember the blue door")?;
    let paused = play.pause()?;
    let id = paused["agent_session_ref"].as_str().ok_or("no id")?;
    let transcript = play.transcript();
    play.forget()?;
    std::fs::remove_dir_all(play.vault()?)?;
    let refused = |kinds: &[&str]| -> Outcome<String> {
        let (status, error) = play.house().fails(&["resume", NAME])?;
        let kind = error["kind"].as_str().unwrap_or_default();
        assert!(status == 6 && kinds.contains(&kind), "{error}");
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(&format!("glis restart {NAME}")), "{hint}");
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains(id) && message.contains(part.agent.name), "{message}");
        assert_eq!(play.show()?["status"], "paused");
        Ok(message)
    };
    assert!(refused(&["no_transcript"])?.contains("transcript is not there"));
    if let Ok(transcript) = transcript {
        // A file under the right name that holds nothing: only the agent itself can tell.
        std::fs::write(&transcript, "")?;
        refused(&["rejected", "not_ready"])?;
    }
    assert!(play.real.model.turns().iter().all(|request| !request.holds("STARTED ANEW")));
    assert_eq!(play.show()?["agent_session_ref"], id);
    Ok(())
}
