//! What the rules say about something that an agent asks: files and programs are looked up here,
//! beside everything else.

use crate::process;
use crate::settings::Settings;
use glis_approve::{Judge, Place, Request, Verdict, Why};
use glis_config::in_words_of_core;
use glis_core::session::Session;
use glis_core::talk::Ask;
use glis_core::verdict::{self, Unruled, Want};
use std::path::Path;
use std::sync::Arc;

/// What the rules say of a question as they are now, and as the agent's process is. `reads` tells
/// whether that waits for input at its terminal. A thread that asks may have to wait for a disk.
pub(crate) fn verdict(
    settings: &Settings,
    session: &Session,
    ask: &Ask,
    reads: impl Fn() -> bool,
) -> verdict::Verdict {
    by_present_rules(settings, |judge| verdict_on(judge, session, ask, &reads))
}

/// More often than this no person changes the rules while a question is judged.
const ROUNDS: usize = 3;

/// What the rules of the file say as it is now: files are slow, and what was forbidden meanwhile is not
/// done.
fn by_present_rules(
    settings: &Settings,
    judge: impl Fn(&Judge) -> verdict::Verdict,
) -> verdict::Verdict {
    for _ in 0..ROUNDS {
        settings.look();
        let rules = settings.judge();
        let verdict = judge(&rules);
        settings.look();
        if Arc::ptr_eq(&rules, &settings.judge()) {
            return verdict;
        }
    }
    verdict::Verdict::manual(Unruled::Fault)
}

fn verdict_on(
    judge: &Judge,
    session: &Session,
    ask: &Ask,
    reads: impl Fn() -> bool,
) -> verdict::Verdict {
    let told = match &ask.wants {
        Some(Want::Command { line, folder }) => {
            let place = folder.as_ref().and_then(|folder| place(session, folder));
            judge.verdict(Request::Command(line), place.as_ref())
        }
        Some(Want::Edit { paths }) => edits(judge, session, paths),
        None if ask.is_from_screen() => return prompt(judge, &ask.text, reads),
        None => judge.verdict(Request::Other(&ask.text), None),
    };
    in_words_of_core(told)
}

/// A line on the screen of any program: a pattern counts only while the program waits for input there.
fn prompt(judge: &Judge, line: &str, reads: impl Fn() -> bool) -> verdict::Verdict {
    let told = judge.verdict(Request::Prompt(line), None);
    let counts = match told {
        Verdict::Manual(_) => true,
        Verdict::Accept { .. } | Verdict::Reject { .. } => reads(),
    };
    if counts { in_words_of_core(told) } else { verdict::Verdict::manual(Unruled::NotReading) }
}

/// One file that may not be written is reason enough to ask about all of them.
fn edits(judge: &Judge, session: &Session, paths: &[String]) -> Verdict {
    let place = session.place.worktree.as_ref().and_then(|worktree| place(session, worktree));
    let mut last = Verdict::Manual(Why::Unknown);
    for path in paths {
        last = judge.verdict(Request::Edit(path), place.as_ref());
        if !matches!(last, Verdict::Accept { .. }) {
            break;
        }
    }
    last
}

/// Where a command of the session's agent would run, and with which programs and variables: those of
/// the process itself, whatever the caller's are by now.
fn place(session: &Session, folder: &str) -> Option<Place> {
    let variables = process::variables(session.process()?)?;
    // Programs differ in which of two they take.
    let mut paths = variables.iter().filter(|(name, _)| name == "PATH");
    let (Some((_, path)), None) = (paths.next(), paths.next()) else { return None };
    let worktree = session.place.worktree.as_ref()?;
    let place = Place::new(Path::new(worktree), Path::new(folder), path).ok()?;
    Some(place.of_repository(Path::new(&session.spec.repo_root)).among(variables))
}

/// Whether the session's agent finds a program of each of these names.
pub(crate) fn are_programs(session: &Session, names: &[String]) -> bool {
    let place = session.place.worktree.as_ref().and_then(|worktree| place(session, worktree));
    place.is_some_and(|place| names.iter().all(|name| place.program(name).is_ok()))
}

#[cfg(test)]
mod tests;
