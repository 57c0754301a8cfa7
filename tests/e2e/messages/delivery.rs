//! Messages that are typed into a terminal and go astray: typed again or asked about, never stuck.

use crate::support::house::{House, Outcome, eventually};
use crate::support::tmux::Tmux;
use rustix::fs::{Mode, OFlags};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A session in a terminal whose agent has this fault.
fn faulty(house: &House, fault: &str) -> Outcome<Value> {
    house.json(&["new", "blue", "--agent", "rehearsal", "--", "--misbehave", fault])?;
    house.until("blue", "idle")
}

/// How often the agent was seen to take these words.
fn times_taken(house: &House, words: &str) -> Outcome<usize> {
    let talk = house.talk("blue")?;
    Ok(talk.iter().filter(|(voice, said)| voice == "user" && said.contains(words)).count())
}

/// Stops a process as `kill -STOP` does, so that it neither reads nor writes.
fn freeze(session: &Value) -> Outcome {
    let pid = Pid::from_raw(i32::try_from(session["pid"].as_i64().ok_or("no process")?)?);
    Ok(kill_process(pid.ok_or("no process")?, Signal::STOP)?)
}

/// Stops one that is idle and has painted its prompt: what is sent to it then is typed.
fn freeze_at_prompt(house: &House, idle: &Value) -> Outcome {
    let shows =
        || house.ok(&["screen", "blue"]).is_ok_and(|screen| screen.trim_end().ends_with('>'));
    eventually("its prompt is shown", shows)?;
    freeze(idle)
}

/// A paste has six bytes before it and behind it; Enter is one more.
const PASTE_AND_ENTER: usize = 13;

/// Sends it to one that is frozen, and waits until its terminal holds all of it: what was not entered is not in doubt.
fn type_into(house: &House, frozen: &Value, words: &str) -> Outcome {
    house.ok(&["send", "blue", words])?;
    let path = format!("/proc/{}/fd/0", frozen["pid"]);
    let terminal = rustix::fs::open(path, OFlags::RDONLY | OFlags::NOCTTY, Mode::empty())?;
    let typed = u64::try_from(words.len() + PASTE_AND_ENTER)?;
    eventually("it is entered", || ioctl_fionread(&terminal).is_ok_and(|unread| unread >= typed))
}

#[test]
fn what_a_terminal_did_not_take_is_typed_once_more() -> Outcome {
    let house = House::new()?;
    faulty(&house, "swallow=1")?;
    house.ok(&["send", "blue", "say heard"])?;
    let said = || house.talk("blue").is_ok_and(|talk| talk.iter().any(|(_, t)| t == "heard"));
    eventually("the message is taken", said)?;
    assert_eq!(times_taken(&house, "say heard")?, 1);
    assert_eq!(house.until("blue", "idle")?["queued"], 0);
    Ok(())
}

#[test]
fn what_a_terminal_did_not_take_twice_is_asked_about() -> Outcome {
    let house = House::new()?;
    faulty(&house, "swallow=2")?;
    house.ok(&["send", "blue", "say heard"])?;
    let asked = house.until("blue", "waiting")?;
    assert_eq!(asked["waiting_for"]["kind"], "doubt", "{asked}");
    house.ok(&["answer", "blue", "allow"])?;
    let said = || house.talk("blue").is_ok_and(|talk| talk.iter().any(|(_, t)| t == "heard"));
    eventually("the message is taken", said)?;
    assert_eq!(times_taken(&house, "say heard")?, 1);
    Ok(())
}

#[test]
fn a_pause_goes_through_although_a_message_got_lost_on_its_way() -> Outcome {
    let house = House::new()?;
    faulty(&house, "swallow=1")?;
    house.ok(&["send", "blue", "say heard"])?;
    let paused = house.json(&["pause", "blue", "--mode", "interrupt"])?;
    assert_eq!((&paused["status"], &paused["queued"]), (&"paused".into(), &1.into()), "{paused}");
    house.ok(&["resume", "blue"])?;
    let said = || house.talk("blue").is_ok_and(|talk| talk.iter().any(|(_, t)| t == "heard"));
    eventually("the message is taken", said)?;
    assert_eq!(times_taken(&house, "say heard")?, 1);
    Ok(())
}

/// Claude Code up to 2.1.197 is such a program.
#[test]
fn a_program_that_loses_an_enter_beside_a_paste_takes_every_message() -> Outcome {
    let house = House::new()?;
    faulty(&house, "joined-enter")?;
    for words in ["say one", "say two\nsay three"] {
        house.turn("blue", words)?;
        assert_eq!(times_taken(&house, words)?, 1);
    }
    Ok(())
}

/// What was pasted stands at the prompt, and nobody has pressed Enter.
#[test]
fn what_a_daemon_left_at_the_prompt_is_entered_by_the_next() -> Outcome {
    let mut house = House::new()?;
    house.surround("GLIS_FAILPOINT", "abort@enter@rehearsal");
    house.in_terminal("blue")?;
    // Its daemon dies right behind the text.
    house.glis().args(["send", "blue", "say heard"]).output()?;
    house.spare("GLIS_FAILPOINT");
    let said = || house.talk("blue").is_ok_and(|talk| talk.iter().any(|(_, t)| t == "heard"));
    eventually("the message is taken", said)?;
    assert_eq!(times_taken(&house, "say heard")?, 1);
    assert_eq!(house.until("blue", "idle")?["queued"], 0);
    Ok(())
}

#[test]
fn a_draft_in_the_way_of_a_message_is_told_with_the_way_out() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    tmux.line("one", "glis attach blue")?;
    tmux.sees("one", "rehearsal agent")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "half a thought"])?;
    tmux.sees("one", "> half a thought")?;
    house.ok(&["send", "blue", "say heard"])?;
    eventually("the draft is told", || house.show("blue").is_ok_and(|s| s["draft"] == true))?;
    let listed = house.ok(&["ls"])?;
    assert!(listed.contains("draft in the way: glis attach blue"), "{listed}");
    let shown = house.ok(&["show", "blue"])?;
    assert!(shown.contains("`glis attach blue`, then send it with Enter or clear it"), "{shown}");
    tmux.key("one", "C-u")?;
    let said = || house.talk("blue").is_ok_and(|talk| talk.iter().any(|(_, t)| t == "heard"));
    eventually("the message is handed over", said)?;
    assert_eq!(house.show("blue")?["draft"], false);
    assert_eq!(times_taken(&house, "say heard")?, 1);
    Ok(())
}

/// The last screen of a former process shows a prompt; the next one has shown nothing yet.
#[test]
fn readiness_is_not_read_from_the_screen_of_a_former_process() -> Outcome {
    let house = House::new()?;
    faulty(&house, "mute-resume")?;
    house.turn("blue", "say heard")?;
    house.json(&["pause", "blue"])?;
    let mut resume = house.glis().args(["resume", "blue", "--prompt", "say more"]).spawn()?;
    let mut events = house.follow(1)?;
    events.until(|e| e["event"] == "process_started" && e["began_at"] != 0)?;
    // Long enough for many looks at the screen.
    let (status, error) =
        house.fails(&["wait", "blue", "--for", "busy,idle", "--timeout", "3s"])?;
    assert_eq!(status, 7, "{error}");
    assert_eq!(house.show("blue")?["status"], "resuming");
    house.json(&["stop", "blue"])?;
    resume.wait()?;
    Ok(())
}

#[test]
fn a_message_behind_one_in_doubt_does_what_a_resume_does() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let idle = house.turn("blue", "say begun")?;
    freeze_at_prompt(&house, &idle)?;
    type_into(&house, &idle, "say one")?;
    assert_eq!(house.json(&["stop", "blue"])?["waiting_for"]["kind"], "doubt");
    let sent = house.json(&["send", "blue", "say two"])?;
    assert_eq!(sent["waits_for"], Value::Null, "{sent}");
    let said = || house.talk("blue").is_ok_and(|talk| talk.iter().any(|(_, t)| t == "two"));
    eventually("both are taken", said)?;
    assert_eq!((times_taken(&house, "say one")?, times_taken(&house, "say two")?), (1, 1));
    Ok(())
}

/// The transcript holds the same words, so nobody but a person can tell.
#[test]
fn a_message_behind_one_that_stays_in_doubt_says_what_it_waits_for() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let idle = house.turn("blue", "say again")?;
    freeze_at_prompt(&house, &idle)?;
    type_into(&house, &idle, "say again")?;
    house.json(&["stop", "blue"])?;
    let sent = house.json(&["send", "blue", "say two"])?;
    assert_eq!(sent["waits_for"]["text"], "say again", "{sent}");
    assert_eq!(house.until("blue", "waiting")?["queued"], 2);
    let told = house.ok(&["send", "blue", "say three"])?;
    assert!(told.contains("glis answer blue allow"), "{told}");
    house.ok(&["answer", "blue", "deny"])?;
    let said = || house.talk("blue").is_ok_and(|talk| talk.iter().any(|(_, t)| t == "three"));
    eventually("the rest is taken", said)?;
    assert_eq!(times_taken(&house, "say again")?, 1);
    Ok(())
}

/// The former conversation may have taken it: whether the next one is told is for a person to say.
#[test]
fn a_message_in_doubt_stays_so_when_its_session_begins_anew() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let idle = house.turn("blue", "say again")?;
    freeze_at_prompt(&house, &idle)?;
    type_into(&house, &idle, "say again")?;
    house.json(&["stop", "blue"])?;
    house.json(&["restart", "--yes", "blue"])?;
    house.until("blue", "waiting")?;
    house.ok(&["pause", "blue"])?;
    house.ok(&["resume", "blue"])?;
    assert_eq!(house.until("blue", "waiting")?["waiting_for"]["kind"], "doubt");
    assert_eq!(times_taken(&house, "say again")?, 1);
    house.ok(&["answer", "blue", "allow"])?;
    eventually("it is taken", || times_taken(&house, "say again").is_ok_and(|times| times == 2))
}
