//! Every key of the overview, pressed on a real terminal before real sessions.
//!
//! The stories are tables; that nothing of docs/keys.md is missing in them is a test of its own.

use super::overview::opened;
use crate::support::house::{House, Outcome};
use crate::support::tmux::Tmux;
use std::collections::BTreeSet;

/// What is pressed, by its name in docs/keys.md if it is a command; the keys, or behind `=` a text; and
/// what is seen then, or behind `!` no longer seen.
type Step = (&'static str, &'static str, &'static str);

/// Moving about among three sessions, and everything that can be opened and closed.
const MOVING: &[Step] = &[
    ("list down", "j", "▌ ◐ green"),
    ("list up", "k", "▌ ◐ blue"),
    ("list bottom", "G", "▌ ◐ red"),
    ("list top", "g", "▌ ◐ blue"),
    ("list next-view", "Tab", "nothing was said yet"),
    ("list view-before", "BTab", "!nothing was said yet"),
    ("list view-2", "2", "nothing was said yet"),
    ("", "3", "nothing has changed since it began"),
    ("list snapshot", "b", "the worktree of `blue` is saved"),
    ("list view-4", "4", " changed  "),
    ("list view-5", "5", "no runs of a plan"),
    ("list view-6", "6", "→ idle"),
    ("list view-1", "1", "!→ idle"),
    ("list mark", "Space", "* ◐ blue"),
    ("list close", "Escape", "!* ◐ blue"),
    ("list mark-range", "v", "* ◐ green"),
    ("", "j", "* ◐ red"),
    ("", "Escape", "!* ◐ red"),
    ("list next-waiting", "w", "nothing waits for you"),
    ("list filter", "/", "3 of 3"),
    ("", "=green", "1 of 3"),
    ("", "Escape", "!1 of 3"),
    ("list order", "O", "repo 3"),
    ("", "O", "!repo 3"),
    ("list search", "f", "find in all conversations"),
    ("", "Escape", "!find in all conversations"),
    ("list palette", ":", "do · "),
    ("", "Escape", "!do · "),
    ("list history", "@", "glis snapshot blue"),
    ("", "Escape", "!glis snapshot blue"),
    ("list trash", "T", "The trash is empty."),
    ("", "Escape", "!The trash is empty."),
    ("list auto-yes-log", "A", "No request was judged by rule."),
    ("", "Escape", "!No request was judged"),
    ("list help", "?", "next that waits"),
    ("", "Escape", "!next that waits"),
    ("list copy", "c", "copied"),
    ("list suspend", "C-z", "Stopped"),
    ("", "=fg\r", "? keys"),
    ("list redraw", "C-l", "? keys"),
];

/// What is done with a session that rests.
const ACTING: &[Step] = &[
    ("list pause", "p", "‖ blue"),
    ("list fold", ".", "‖ blue"),
    ("list resume", "u", "▌ ◐ blue"),
    ("list toggle-pause", "C-x p", "‖ blue"),
    ("", "C-x p", "▌ ◐ blue"),
    ("list stop", "S", "✓ `blue` is suspended"),
    ("list undo", "z", "▌ ◐ blue"),
    ("list restart", "R", "Begin a fresh conversation"),
    ("", "y", "began a fresh conversation"),
    ("list auto-yes", "Y", "Have rules allow what `blue` asks"),
    ("", "y", "auto-yes on for `blue`"),
    ("", "", "◐»blue"),
    ("", "Y", "auto-yes off for `blue`"),
    ("list timeout", "t", "suspend blue after"),
    ("", "=9\r", "suspended after 9 idle minutes"),
    ("list type", "i", "YOUR KEYS GO TO blue"),
    ("inline close", "C-q", "? keys"),
    ("list pin", "^", "✓ `blue` is pinned"),
    ("", "^", "not pinned any more"),
    ("list label", "L", "labels of blue"),
    ("", "=auth\r", "#auth"),
    ("list budget", "$", "budget of blue"),
    ("", "=usd=5\r", "of usd=5"),
    ("list snooze", "Z", "snooze blue"),
    ("", "=2h\r", "snoozed until"),
    ("", "Z", "snooze blue"),
    ("", "=off\r", "is awake"),
    ("list send", "s", "message to blue"),
    ("", "=write a.txt one ;; say it-is-written\r", "it-is-written"),
    ("list send-file", "F", "a file for blue"),
    ("", "Escape", "!a file for blue"),
    ("list attach", "Enter", "!? keys"),
    ("", "", "it-is-written"),
    ("", "C-q", "? keys"),
];

/// What is done with the work of a session, and with everything at once.
const KEEPING: &[Step] = &[
    ("list view-3", "3", "↓ 5"),
    ("list scroll-down", "NPage NPage NPage NPage NPage NPage NPage", "!↓ "),
    ("list scroll-up", "PPage", "↓ 10 more"),
    ("", "1", "!↓ 10 more"),
    ("list merge", "M", "and merge it into `main`?"),
    ("", "y", "✓ merged into"),
    ("list merge-into", "m", "merge blue into the branch"),
    ("", "=dev\r", "✓ merged into dev"),
    ("list acknowledge", "K", "acknowledge"),
    ("", "p", "✓ `blue` is paused"),
    ("list compact", "C", "the conversation of `blue` is summed up"),
    ("list restore", "o", "copy to a folder"),
    ("", "", " changed  "),
    ("", "Enter", "back to snapshot"),
    ("", "y", "the files of `blue` are restored"),
    ("list resume-with", "r", "resume blue with these words"),
    ("", "=say back-with-words\r", "▌ ◐ blue"),
    ("", "", "back-with-words"),
    ("list accept-task", "=:accept a task as it is\r", "`blue` works on no task"),
    ("list judge-task", "=:judge a task again\r", "`blue` works on no task"),
    ("list reject-task", "=:reject a task\r", "`blue` works on no task"),
    ("list skip-task", "=:skip a task\r", "`blue` works on no task"),
    ("", "U", "P has stopped nothing"),
    ("list pause-all", "P", "Pause 1 session?"),
    ("", "y", "U resumes all"),
    ("list resume-all", "U", "P stopped?"),
    ("", "y", "▌ ◐ blue"),
    ("", "P", "Pause 1 session?"),
    ("", "y", "U resumes all"),
    ("list resume-all-from-log", "=:resume all from the log\r", "as the event log has it?"),
    ("", "y", "▌ ◐ blue"),
    ("", "=:pause after its turn\r", "‖ blue"),
    ("list pause-after-turn", "u", "▌ ◐ blue"),
    ("", "=:pause for a while\r", "pause blue for"),
    ("list pause-for", "=2h\r", "‖ blue"),
    ("", "u", "▌ ◐ blue"),
    ("list pause-keep-worktree", "=:pause, keep worktree\r", "‖ blue"),
    ("", "u", "▌ ◐ blue"),
    ("list pause-or-force", "=:pause, force if late\r", "‖ blue"),
    ("", "u", "▌ ◐ blue"),
    ("list pause-or-leave", "=:pause, unless late\r", "‖ blue"),
    ("", "u", "▌ ◐ blue"),
    ("", "=:pause, ignored files too\r", "ignored files too?"),
    ("list pause-clear-worktree", "y", "‖ blue"),
    ("", "u", "▌ ◐ blue"),
    ("list pause-remove-worktree", "=:pause, remove worktree\r", "‖ blue"),
    ("list remove", "D", "to the trash? Nothing is deleted."),
    ("", "y", "was removed"),
    ("list new", "n", "new session in repo"),
    ("", "Escape", "!new session in repo"),
    ("list new-loop", "N", "new loop in repo"),
    ("", "Escape", "!new loop in repo"),
    ("list execute", "e", "`glis plan new GOAL` has one drafted"),
    ("", "Escape", "!execute the plan"),
    ("list quit", "q", "left-with-0"),
];

/// A loop, and how it is left.
const LOOPING: &[Step] = &[
    ("list more-iterations", ">", "`blue`: 5 iterations at most"),
    ("list fewer-iterations", "<", "`blue`: 4 iterations at most"),
    ("", "=:iterations at most\r", "iterations of blue at most"),
    ("list iterations", "=9\r", "`blue`: 9 iterations at most"),
    ("list interrupt", "C-c", "PAUSING..."),
];

/// Two sessions that ask, and one that asks something in words.
const ASKING: &[Step] = &[
    ("list questions", "a", "make one"),
    ("asks down", "j", "▌ ? green"),
    ("asks up", "k", "▌ ? blue"),
    ("asks next-waiting", "w", "▌ ? green"),
    ("asks scroll-down", "NPage", "▌ ? green"),
    ("asks scroll-up", "PPage", "▌ ? green"),
    ("asks help", "?", "allow once"),
    ("", "Escape", "▌ ? green"),
    ("asks close", "a", "1 terminal"),
    ("", "a", "wants to be allowed"),
    ("asks suspend", "C-z", "Stopped"),
    ("", "=fg\r", "wants to be allowed"),
    ("asks attach", "Enter", "!? keys"),
    ("", "", "[y/n]"),
    ("", "C-q", "▌ ? blue"),
    ("asks allow-for-session", "Y", "allowed for the session by you"),
    ("", "j", "▌ ? green"),
    ("asks deny-because", "r", "deny green, because"),
    ("", "=it is made\r", "denied by you"),
    ("", "j", "▌ ? red"),
    ("asks send", "s", "answer to red"),
    ("", "=blue\r", "answered by you"),
    ("", "a", "1 terminal"),
];

/// Yes, no, and away.
const ANSWERING: &[Step] = &[
    ("", "a", "    make three"),
    ("asks allow", "y", "allowed by you"),
    ("", "j", "    make four"),
    ("asks deny", "n", "denied by you"),
    ("", "a", "1 terminal"),
];
const LEAVING: &[Step] = &[("", "a", "make five"), ("asks interrupt", "C-c", "!? keys")];

/// Looking back in a terminal that has shown the numbers from 1001 to 1100.
const BACK: &[Step] = &[
    ("", "PPage", "esc back to live"),
    ("past scroll-up", "PPage", "↓ 23 below"),
    ("past scroll-down", "NPage", "↓ 10 below"),
    ("past half-up", "u", "↓ 16 below"),
    ("past half-down", "d", "↓ 10 below"),
    ("past up", "k", "↓ 11 below"),
    ("past down", "j", "↓ 10 below"),
    ("past filter", "/", "enter search"),
    ("", "=10\r", "!enter search"),
    ("past next-match", "n", "10"),
    ("past match-before", "N", "10"),
    ("past top", "g", "1001"),
    ("past mark-range", "v", "1001"),
    ("past copy", "y", "copied"),
    ("past help", "?", "a row back"),
    ("", "Escape", "esc back to live"),
    ("past suspend", "C-z", "Stopped"),
    ("", "=fg\r", "esc back to live"),
    ("past close", "Escape", "!esc back to live"),
    ("", "PPage", "esc back to live"),
    ("past interrupt", "C-c", "!? keys"),
];

/// In the diff of two files, of which one is long, and in the other views.
const READING: &[Step] = &[
    ("", "3", "2 files  +41"),
    ("list next-part", "]", "h list  ] file"),
    ("view close", "h", "? keys"),
    ("list part-before", "[", "h list  ] file"),
    ("view mark", "Space", "1 of 2 files seen"),
    ("view next-part", "]", "c.txt · new ─"),
    ("view part-before", "[", "line-1"),
    ("view down", "j j", "line-1"),
    ("view up", "k", "line-1"),
    ("view half-down", "d d d d d d d d d d d", "line-40"),
    ("view half-up", "u u u u u u u u u u u", "2 files"),
    ("view scroll-down", "NPage NPage NPage NPage NPage NPage", "line-40"),
    ("view scroll-up", "PPage PPage PPage PPage PPage PPage", "2 files"),
    ("view bottom", "G", "line-40"),
    ("view top", "g", "2 files"),
    ("view filter", "/", "enter search"),
    ("", "=LINE-3\r", "line-3"),
    ("view next-match", "n", "line-3"),
    ("view match-before", "N", "line-3"),
    ("view comment", "c", "comment on b.txt:"),
    ("", "=why\r", "✎ why"),
    ("view mark-range", "v", "✎ why"),
    ("view copy", "y", "copied 1 line"),
    ("view send", "s", "Comments on your changes:"),
    ("", "C-u Escape", "!Comments on your"),
    ("list read", "l", "h list  ] file"),
    ("view merge", "M", "merge it"),
    ("", "n", "!merge it"),
    ("", "l", "h list  ] file"),
    ("view questions", "a", "nothing waits for you"),
    ("view help", "?", "a row on"),
    ("", "Escape", "h list  ] file"),
    ("view next-view", "Tab", "snapshots"),
    ("view view-before", "BTab", "2 files"),
    ("view view-4", "4", " changed  "),
    ("view view-5", "5", "no runs of a plan"),
    ("view view-6", "6", "→ idle"),
    ("view view-3", "3", "2 files"),
    ("view view-2", "2", "you "),
    ("", "g j", "you "),
    ("view open", "Enter", "you "),
    ("view suspend", "C-z", "Stopped"),
    ("", "=fg\r", "h list  ] turn"),
    ("view zoom", "+", "!idle 1"),
    ("", "+", "idle 1"),
    ("list zoom", "+", "1 terminal"),
    ("", "l", "h list"),
    ("view view-1", "1", "enter attach"),
    ("", "2 l", "h list"),
    ("view interrupt", "C-c", "!? keys"),
];

const STORIES: [&[Step]; 9] =
    [MOVING, ACTING, KEEPING, LOOPING, ASKING, ANSWERING, LEAVING, BACK, READING];

/// Presses what a table says, and waits for what it says is seen.
fn play(tmux: &Tmux<'_>, steps: &[Step]) -> Outcome {
    for (name, keys, sight) in steps {
        if let Some(text) = keys.strip_prefix('=') {
            match text.strip_suffix('\r') {
                Some(line) => tmux.line("one", line)?,
                None => tmux.run(&["send-keys", "-t", "one", "-l", text]).map(drop)?,
            }
        } else {
            let keys = keys.split(' ').filter(|key| !key.is_empty());
            keys.into_iter().try_for_each(|key| tmux.key("one", key))?;
        }
        let seen = match sight.strip_prefix('!') {
            Some(gone) => tmux.until("one", |screen| !screen.contains(gone)),
            None => tmux.sees("one", sight),
        };
        seen.map_err(|fault| format!("{name} {keys:?}, {sight:?}: {fault}"))?;
    }
    Ok(())
}

/// The commands of the page for people that have a key or a word, as `place name`.
fn commands() -> Outcome<BTreeSet<String>> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/keys.md"))?;
    let (mut place, mut all) = ("", BTreeSet::new());
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## `[keys]` ") {
            place = name;
        } else if let Some((name, _)) = line.strip_prefix("| `").and_then(|l| l.split_once('`')) {
            all.insert(format!("{place} {name}"));
        }
    }
    Ok(all)
}

#[test]
fn no_key_is_left_out() -> Outcome {
    let pressed = STORIES.concat().into_iter().map(|(name, ..)| name.to_owned());
    let pressed: BTreeSet<String> = pressed.filter(|name| !name.is_empty()).collect();
    let all = commands()?;
    let missing: Vec<_> = all.difference(&pressed).collect();
    let unknown: Vec<_> = pressed.difference(&all).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing {missing:?}, unknown {unknown:?}");
    Ok(())
}

#[test]
fn keys_that_move_and_open() -> Outcome {
    let house = House::new()?;
    for name in ["blue", "green", "red"] {
        house.in_terminal(name)?;
    }
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "▌ ◐ blue")?;
    play(&tmux, MOVING)?;
    // What another program has left on the screen is gone after it is drawn anew.
    let tty = tmux.fact("one", "#{pane_tty}")?;
    std::fs::write(tty, "\x1b[12;30Hrubbish")?;
    tmux.sees("one", "rubbish")?;
    play(&tmux, &[("", "C-l", "!rubbish")])
}

#[test]
fn keys_that_act() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "▌ ◐ blue")?;
    play(&tmux, ACTING)?;
    assert_eq!(house.show("blue")?["idle_timeout_secs"], 540);
    assert_eq!(std::fs::read_to_string(house.file("blue", "a.txt")?)?.trim_end(), "one");
    Ok(())
}

#[test]
fn keys_that_keep_and_remove() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.turn("blue", &format!("write a.txt {}", "line\\n".repeat(60)))?;
    house.git(&["branch", "dev"])?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "▌ ◐ blue")?;
    play(&tmux, KEEPING)
}

#[test]
fn keys_of_a_loop() -> Outcome {
    let house = House::new()?;
    let how = ["--agent", "rehearsal", "--headless", "--max", "4"];
    house.ok(&[&["loop", "blue", "--prompt", "work 600"], &how[..]].concat())?;
    house.until("blue", "busy")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "Iteration #1")?;
    play(&tmux, LOOPING)
}

#[test]
fn keys_that_answer() -> Outcome {
    let house = House::new()?;
    let asking = |name: &str, words: &str| {
        house.in_terminal(name)?;
        house.ok(&["send", name, words])?;
        house.until(name, "waiting")
    };
    asking("blue", "approve make one")?;
    asking("green", "approve make two")?;
    asking("red", "question Which colour")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "3 waiting")?;
    play(&tmux, ASKING)?;
    for (name, words) in [("red", "approve make three"), ("green", "approve make four")] {
        house.until(name, "idle")?;
        house.ok(&["send", name, words])?;
        house.until(name, "waiting")?;
    }
    tmux.until("one", |screen| screen.contains("make three") && screen.contains("make four"))?;
    play(&tmux, ANSWERING)?;
    house.until("green", "idle")?;
    house.ok(&["send", "green", "approve make five"])?;
    house.until("green", "waiting")?;
    tmux.sees("one", "make five")?;
    play(&tmux, LEAVING)
}

#[test]
fn keys_that_read() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let long = (1..=40).map(|n| format!("line-{n}\\n")).collect::<Vec<_>>().concat();
    house.turn("blue", &format!("write b.txt {long} ;; write c.txt short"))?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "▌ ◐ blue")?;
    play(&tmux, READING)
}

#[test]
fn keys_that_look_back() -> Outcome {
    let house = House::new()?;
    house.command("blue", &["sh", "-c", "seq 1001 1100; exec cat"])?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    // What is copied reaches the clipboard of the terminal.
    tmux.run(&["set-option", "-g", "set-clipboard", "on"])?;
    opened(&tmux)?;
    tmux.sees("one", "1100")?;
    play(&tmux, BACK)?;
    let copied = tmux.run(&["show-buffer"])?;
    assert!(copied.contains("1001"), "{copied:?}");
    Ok(())
}
