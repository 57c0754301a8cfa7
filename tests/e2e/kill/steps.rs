//! The daemon dies at every step of every verb, before and after the step is durable. Whatever
//! the moment: nothing is lost, nothing happens twice, and the verb can be asked for again.

use crate::support::house::{House, Outcome};
use crate::support::wreck::{
    Foreground, SETTLED, accounted_for, agents, each_entry_once, recorded, text_of, times_told,
};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt as _;

/// One verb, from where it begins to its last consequence.
struct Story {
    /// Brings a session to where the verb begins.
    setup: fn(&House, &str) -> Outcome,
    /// What is typed.
    verb: fn(&str) -> Vec<String>,
    /// The last event that comes of it.
    last: &'static str,
    /// Whether the verb carries a message, which is then the one of [`message`].
    carries: bool,
    /// Asks again; has to work wherever the session has come to rest.
    again: fn(&House, &str) -> Outcome,
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(ToOwned::to_owned).collect()
}

/// A message that no other session gets.
fn message(name: &str) -> String {
    format!("say only-for-{name}-ears")
}

fn idle(house: &House, name: &str) -> Outcome {
    house.rehearsal(name)?;
    house.turn(name, &format!("write a.txt {name}")).map(drop)
}

fn busy(house: &House, name: &str) -> Outcome {
    idle(house, name)?;
    house.ok(&["send", name, "touch-slowly slow.txt 100000 50"])?;
    until_tool(house, name)
}

fn busy_for_a_while(house: &House, name: &str) -> Outcome {
    idle(house, name)?;
    // The daemon that is to die has to be up before its turn ends.
    house.ok(&["send", name, "work 2"])?;
    house.until(name, "busy").map(drop)
}

fn until_tool(house: &House, name: &str) -> Outcome {
    let id = house.show(name)?["id"].clone();
    let mut events = house.follow(1)?;
    let slow = |e: &Value| e["event"] == "message_taken" && e["session"] == id;
    events.until(slow)?;
    events.until(slow)?;
    events.until(|e| e["event"] == "tool_began" && e["session"] == id).map(drop)
}

fn paused(house: &House, name: &str) -> Outcome {
    idle(house, name)?;
    house.ok(&["pause", name]).map(drop)
}

fn suspended(house: &House, name: &str) -> Outcome {
    idle(house, name)?;
    house.ok(&["stop", name]).map(drop)
}

fn pause_again(house: &House, name: &str) -> Outcome {
    let now = house.json(&["pause", name])?;
    if now["status"] == "paused" { Ok(()) } else { Err(now.to_string().into()) }
}

/// Whether the message of this session was ever written down: if not, nobody was promised it.
fn stored(house: &House, name: &str) -> Outcome<bool> {
    let text = message(name);
    Ok(recorded(&house.home())?.iter().any(|event| event.body.contains(&text)))
}

fn resume_again(house: &House, name: &str) -> Outcome {
    if stored(house, name)? {
        return house.json(&["resume", name]).map(drop);
    }
    house.json(&["resume", name, "--prompt", &message(name)]).map(drop)
}

fn restart_again(house: &House, name: &str) -> Outcome {
    house.json(&["stop", name])?;
    house.json(&["restart", name, "--yes"]).map(drop)
}

fn new_again(house: &House, name: &str) -> Outcome {
    if house.show(name).is_ok() {
        return resume_again(house, name);
    }
    let prompt = message(name);
    let args = ["new", name, "--agent", "rehearsal", "--headless", "--prompt", &prompt];
    house.json(&args).map(drop)
}

fn rm_again(house: &House, name: &str) -> Outcome {
    // The removal goes on by itself after the restart: it may be over at any moment.
    let status = house.glis().args(["rm", name]).output()?.status;
    if matches!(status.code(), Some(0 | 3)) { Ok(()) } else { Err(format!("rm: {status}").into()) }
}

/// Every event that the verb leads to, as it is today: new ones are found by themselves.
fn steps(house: &House, story: &Story) -> Outcome<Vec<String>> {
    (story.setup)(house, "dry")?;
    let before = recorded(&house.home())?.len();
    house.ok(&(story.verb)("dry").iter().map(String::as_str).collect::<Vec<_>>())?;
    let from = before as u64 + 1;
    house.follow(from)?.until(|event| event["event"] == story.last)?;
    let mut names: Vec<String> = Vec::new();
    for event in recorded(&house.home())? {
        // Saving beside the verb comes at its own time; it has a story of its own.
        let beside = matches!(event.name.as_str(), "worktree_saved" | "worktree_not_saved")
            && story.last != "worktree_saved";
        if event.seq >= from && !beside && !names.contains(&event.name) {
            names.push(event.name);
        }
    }
    Ok(names)
}

/// Agents that have to be waited for are waited for shortly.
const IMPATIENT: &str = "[pause]\nsafe_state_secs = 2\ninterrupt_secs = 1\nterminate_secs = 2\n";

fn play(story: &Story) -> Outcome {
    let house = House::new()?;
    house.configure(IMPATIENT)?;
    house.ok(&["ls"])?;
    let steps = steps(&house, story)?;
    assert!(steps.iter().any(|step| step == story.last), "{steps:?}");
    let sides = steps.iter().flat_map(|step| [("before", step), ("after", step)]);
    for (number, (side, step)) in sides.enumerate() {
        let name = format!("c{number}");
        die_at(&house, story, &name, (side, step))
            .map_err(|fault| format!("{name}, killed {side} {step}: {fault}"))?;
    }
    Ok(())
}

fn die_at(house: &House, story: &Story, name: &str, (side, step): (&str, &str)) -> Outcome {
    (story.setup)(house, name)?;
    house.ok(&["daemon", "stop"])?;
    let before = recorded(&house.home())?.len() as u64;
    let point = format!("{side}:{step}");
    let daemon = Foreground::start(house, &[("GLIS_FAILPOINT", &point)])?;
    let asked = house.glis().arg("--json").args((story.verb)(name)).output()?;
    let end = daemon.end()?;
    assert_eq!(end.signal(), Some(9), "it did not die there: {end}");
    let log = recorded(&house.home())?;
    let known = log.iter().filter(|event| event.seq > before && event.name == step).count();
    // A stop is asked for again, of the next daemon, which may have come to this step by now.
    let again = story.last == "suspended" && asked.status.success();
    // What an agent tells in one breath is written down at once: two tools that begin, for one.
    let expected = if side == "after" { known >= 1 } else { known == 0 };
    assert!(expected || again && known == 1, "{point}: {known}");
    assert!(asked.status.success() || asked.status.code() == Some(8), "{asked:?}");
    let Ok(session) = house.until(name, SETTLED) else {
        // Only what was never written down may be unknown.
        assert_ne!(house.fails(&["show", name])?.0, 7);
        (story.again)(house, name)?;
        return clear_away(house, name);
    };
    if asked.status.success() && story.last == "paused" {
        assert_eq!(session["status"], "paused");
    }
    let id = text_of(&session, "id")?;
    // What is being restored or removed is in place again only once somebody asks.
    if !matches!(story.last, "worktree_restored" | "worktree_cleared") {
        sound(house, story, name, &id)?;
    }
    (story.again)(house, name)?;
    sound(house, story, name, &id)?;
    if story.last == "archived" {
        let kept = house.home().join("trash").join(&id).join("worktree").join("a.txt");
        assert_eq!(std::fs::read_to_string(kept)?, name);
    }
    if story.carries {
        arrives(house, name)?;
    }
    clear_away(house, name)
}

/// What holds at any moment.
fn sound(house: &House, story: &Story, name: &str, id: &str) -> Outcome {
    let running = agents(id);
    assert!(running.len() <= 1, "{running:?}");
    if story.last == "archived" {
        // It may vanish from sight at any moment, but its files do not.
        return Ok(());
    }
    each_entry_once(house, name)?;
    if story.carries && stored(house, name)? {
        accounted_for(house, name, &message(name))?;
    }
    // A new session has no file of an earlier turn.
    if (story.verb)(name).first().is_some_and(|verb| verb != "new") {
        let written = std::fs::read_to_string(house.file(name, "a.txt")?)?;
        assert_eq!(written, name);
    }
    Ok(())
}

/// In the end the agent has the message, once: a doubt is decided as a person would.
fn arrives(house: &House, name: &str) -> Outcome {
    let message = message(name);
    let mut session = house.show(name)?;
    if session["waiting_for"]["kind"] == "doubt" {
        let word = if times_told(house, &message) == 0 { "allow" } else { "deny" };
        session = house.json(&["answer", name, word])?;
    }
    if session["queued"] != 0 {
        let id = session["id"].clone();
        let settled = |e: &Value| e["event"] == "message_taken" || e["event"] == "message_dropped";
        // What is settled after this look is an event behind this place in the log.
        let from = recorded(&house.home())?.len() as u64;
        let queued = house.show(name)?["queued"].as_u64().unwrap_or_default();
        if queued > 0 {
            house.follow(from.max(1))?.until(|e| e["session"] == id && settled(e))?;
        }
    }
    assert_eq!(times_told(house, &message), 1);
    Ok(())
}

fn clear_away(house: &House, name: &str) -> Outcome {
    let Ok(session) = house.show(name) else { return Ok(()) };
    house.ok(&["stop", name])?;
    let left = agents(&text_of(&session, "id")?);
    assert!(left.is_empty(), "stopped, and yet there are {left:?}");
    Ok(())
}

#[test]
fn a_pause_that_interrupts_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: busy,
        verb: |name| words(&format!("pause {name}")),
        last: "paused",
        carries: false,
        again: pause_again,
    })
}

#[test]
fn a_pause_at_a_boundary_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: busy_for_a_while,
        verb: |name| words(&format!("pause {name} --mode boundary")),
        last: "paused",
        carries: false,
        again: pause_again,
    })
}

#[test]
fn a_forced_pause_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: busy,
        verb: |name| words(&format!("pause {name} --mode force")),
        last: "paused",
        carries: false,
        again: pause_again,
    })
}

#[test]
fn a_resume_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: paused,
        verb: |name| vec!["resume".into(), name.into(), "--prompt".into(), message(name)],
        last: "turn_ended",
        carries: true,
        again: resume_again,
    })
}

#[test]
fn a_restart_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: paused,
        verb: |name| words(&format!("restart {name} --with-context --yes")),
        last: "turn_ended",
        carries: false,
        again: restart_again,
    })
}

#[test]
fn a_message_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: suspended,
        verb: |name| vec!["send".into(), name.into(), message(name)],
        last: "turn_ended",
        carries: true,
        again: resume_again,
    })
}

#[test]
fn a_stop_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: busy,
        verb: |name| words(&format!("stop {name}")),
        last: "suspended",
        carries: false,
        again: |house, name| house.json(&["stop", name]).map(drop),
    })
}

#[test]
fn a_new_session_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: |_, _| Ok(()),
        verb: |name| {
            let mut args = words(&format!("new {name} --agent rehearsal --headless --prompt"));
            args.push(message(name));
            args
        },
        last: "turn_ended",
        carries: true,
        again: new_again,
    })
}

#[test]
fn a_snapshot_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: paused,
        verb: |name| words(&format!("snapshot {name}")),
        last: "worktree_saved",
        carries: false,
        again: |house, name| house.json(&["snapshot", name]).map(drop),
    })
}

#[test]
fn a_restore_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: |house, name| {
            paused(house, name)?;
            std::fs::write(house.file(name, "a.txt")?, "spoiled").map_err(Into::into)
        },
        verb: |name| words(&format!("restore {name}")),
        last: "worktree_restored",
        carries: false,
        again: |house, name| house.json(&["restore", name]).map(drop),
    })
}

#[test]
fn a_pause_that_clears_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: idle,
        verb: |name| words(&format!("pause {name} --remove-worktree")),
        last: "worktree_cleared",
        carries: false,
        again: |house, name| {
            pause_again(house, name)?;
            // What was removed comes back with everything in it.
            house.json(&["resume", name]).map(drop)
        },
    })
}

#[test]
fn a_removal_survives_the_daemon_at_every_step() -> Outcome {
    play(&Story {
        setup: suspended,
        verb: |name| words(&format!("rm {name}")),
        last: "archived",
        carries: false,
        again: rm_again,
    })
}
