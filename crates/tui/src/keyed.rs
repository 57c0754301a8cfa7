//! Next steps of the command line, as keys of the overview: nobody leaves a full screen to type one.

use crate::command::Command;
use crate::keymap::Place;
use crate::model::Model;

/// What does the same here as a verb with the name of the session in hand.
const VERBS: &[(&str, Command)] = &[
    ("acknowledge", Command::Acknowledge),
    ("answer", Command::Asks),
    ("attach", Command::Attach),
    ("compact", Command::Compact),
    ("diff", Command::Tab(2)),
    ("execute", Command::Execute),
    ("log", Command::Tab(1)),
    ("merge", Command::Merge),
    ("new", Command::New),
    ("pause", Command::Pause),
    ("restart", Command::Restart),
    ("restore", Command::Restore),
    ("resume", Command::Resume),
    ("rm", Command::Remove),
    ("send", Command::Send),
    ("snapshot", Command::Snapshot),
    ("snapshots", Command::Tab(3)),
    ("stop", Command::Stop),
    ("timeout", Command::Timeout),
    ("trash", Command::Trash),
];

/// The same for everything at once.
const OF_ALL: &[(&str, Command)] = &[("pause", Command::PauseAll), ("resume", Command::ResumeAll)];

/// A sentence with keys in the place of lines for a shell, where a key does the same.
pub(crate) fn keyed(model: &Model, text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| {
        let line = Some(part).filter(|_| at % 2 == 1)?.strip_prefix("glis ")?;
        model.keys.keys_of(Place::List, command(line)?)
    });
    let mut told = String::new();
    for (part, (at, key)) in text.split('`').zip(parts.enumerate()) {
        match key {
            Some(key) => told.push_str(&key),
            None if at % 2 == 1 => {
                told.push('`');
                told.push_str(part);
                told.push('`');
            }
            None => told.push_str(part),
        }
    }
    told
}

/// The command of a line that names a verb, and at most a session.
fn command(line: &str) -> Option<Command> {
    let mut words = line.split_whitespace();
    let (verb, rest) = (words.next()?, words.next());
    let table = match rest {
        Some("--all") => OF_ALL,
        Some(option) if option.starts_with('-') => return None,
        Some(_) | None => VERBS,
    };
    let known = table.iter().find(|(name, _)| *name == verb).map(|(_, command)| *command);
    known.filter(|_| words.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::{KeyMap, Keys};

    #[test]
    fn a_line_for_a_shell_is_the_key_that_does_the_same() {
        let model = Model { keys: KeyMap::with(&Keys::new()).unwrap(), ..Model::default() };
        for (hint, told) in [
            ("`glis restart broken` begins anew", "R begins anew"),
            ("stop `draft` first: `glis stop draft`", "stop `draft` first: S"),
            ("`glis resume --all` lets them go on", "U lets them go on"),
            (
                "`glis resume x --prompt 'go on'` tells it",
                "`glis resume x --prompt 'go on'` tells it",
            ),
            ("`git merge --ff-only x`", "`git merge --ff-only x`"),
            ("no lines", "no lines"),
        ] {
            assert_eq!(keyed(&model, hint), told);
        }
    }
}
