//! What a loop needs: words to say again and again, an agent that tells when its turn is over, and limits
//! that can be kept.

use super::wrong::{Wrong, wrong};
use crate::check_list;
use glis_agent::Agent;
use glis_config::regular;
use glis_core::looping::{LoopChange, SPEC_BYTES_MAX, SpecFile};
use glis_core::session::Session;
use glis_core::spec::{Mode, SignSource};
use glis_wire::client::NewSession;
use std::path::Path;

/// Says what keeps a loop from being made, before anything is looked at on a disk.
pub(super) fn check(wanted: &NewSession, agent: &dyn Agent, mode: Mode) -> Result<(), Wrong> {
    let Some(spec) = &wanted.looped else {
        if wanted.spec_file.is_some() {
            return Err(wrong("only a loop works from a file", "`glis loop NAME --spec FILE`"));
        }
        return Ok(());
    };
    let both = "--prompt TEXT is said at the beginning of every iteration; --spec FILE has the agent do \
                the next item of a check list";
    match (&wanted.prompt, &wanted.spec_file) {
        (Some(_), Some(_)) => {
            return Err(wrong("a loop has a prompt or a spec, not both", both));
        }
        (None, None) => return Err(wrong("a loop needs a prompt or a spec", both)),
        (Some(_), None) | (None, Some(_)) => {}
    }
    if spec.auto_commit && wanted.in_place {
        let message =
            "--auto-commit is for a worktree and a branch of its own, and --in-place has neither";
        return Err(wrong(message, "leave out one of the two"));
    }
    if agent.traits(mode, &wanted.argv).signs == SignSource::Screen {
        let message = "a loop needs an agent that tells when its turn is over; a program only shows its \
                       screen";
        return Err(wrong(message, "--agent claude, codex, gemini or opencode"));
    }
    limits(spec.max, spec.max_failures, spec.until.as_deref())?;
    cost(spec.max_cost_micros, agent, mode)
}

/// Says why the limits of a loop cannot become these.
pub(crate) fn check_change(session: &Session, change: &LoopChange) -> Result<(), Wrong> {
    let LoopChange { max, until, max_cost_micros, max_failures } = change;
    let until = until.as_ref().and_then(Option::as_deref);
    limits(max.flatten(), max_failures.unwrap_or(1), until)?;
    match glis_agent::find(&session.spec.agent) {
        Some(agent) => cost(max_cost_micros.flatten(), agent, session.spec.mode),
        None => Ok(()),
    }
}

fn limits(max: Option<u32>, max_failures: u32, until: Option<&str>) -> Result<(), Wrong> {
    if max == Some(0) {
        return Err(wrong("a loop has one iteration at least", "--max 1 makes one and no more"));
    }
    if max_failures == 0 {
        let hint = "--max-failures 1 pauses it at the first iteration that fails";
        return Err(wrong("a loop cannot be paused before anything has failed", hint));
    }
    if until.is_some_and(|line| line.trim().is_empty()) {
        let hint = "--until takes a line for `sh -c`, such as `cargo test`";
        return Err(wrong("the command of --until is empty", hint));
    }
    Ok(())
}

/// A limit that nothing is counted for would be no limit.
fn cost(max_micros: Option<u64>, agent: &dyn Agent, mode: Mode) -> Result<(), Wrong> {
    let Some(max) = max_micros else { return Ok(()) };
    if max == 0 {
        return Err(wrong("a loop that may cost nothing cannot begin", "--max-cost 5 allows $5"));
    }
    if !agent.tells_cost(mode) {
        let message = "this agent does not tell what it costs, so --max-cost could not be kept";
        return Err(wrong(
            message,
            "claude and opencode tell it with --headless; --max limits iterations",
        ));
    }
    Ok(())
}

/// What the agent is told at the beginning of every iteration of a loop that works from a file.
pub(super) fn words(file: &SpecFile) -> String {
    let path = &file.path;
    format!(
        "Read {path}. Do the next item of its check list that is not done, and only that one. Tick it in \
         {path} (`- [x]`) once it is done and checked. If nothing is left to do, change nothing and say \
         so."
    )
}

/// Where the file is that a loop works from, seen from the folder that its worktree is a copy of.
pub(super) fn file(given: &str, top: &Path) -> Result<SpecFile, Wrong> {
    let hint = "--spec names a text file in the repository";
    let whole = Path::new(given)
        .canonicalize()
        .map_err(|fault| wrong(format!("{given}: {fault}"), hint))?;
    let top =
        top.canonicalize().map_err(|fault| wrong(format!("{}: {fault}", top.display()), hint))?;
    let inside = whole.strip_prefix(&top).ok().and_then(Path::to_str);
    let Some(path) = inside.filter(|path| !path.starts_with(".git/")) else {
        let message =
            format!("{given} is not in {}, so the agent would not have it", top.display());
        return Err(wrong(message, "move it there, or name another one"));
    };
    let text = regular::open(&whole)
        .and_then(|file| regular::text(file, SPEC_BYTES_MAX))
        .map_err(|fault| wrong(format!("{given}: {fault}"), hint))?;
    if check_list::has_nothing_open(&text) {
        let hint = "add an item (`- [ ] what is to be done`), or take a tick away";
        return Err(wrong(format!("every item of {given} is done: there is nothing to do"), hint));
    }
    let from = Some(whole.to_string_lossy().into_owned());
    Ok(SpecFile { path: path.to_owned(), from })
}
