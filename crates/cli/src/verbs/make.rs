//! Verbs that make a session: `new`, and `loop`, which also changes the limits of one.

use super::act::act;
use super::args::{How, Loop, New};
use super::limits::tell_limits;
use super::session::absolute;
use super::task::path_text;
use super::{Out, ask_or};
use crate::control;
use crate::words::{self, limits, looped};
use glis_core::looping::{LoopChange, LoopSpec};
use glis_core::spec::IdleLimit;
use glis_verbs::{Complaint, documents::Made, say::sayable, unexpected};
use glis_wire::client::{Action, NewSession, Request, Response};
use glis_wire::view::SessionView;

pub(super) fn new(new: New, out: &Out) -> Result<(), Complaint> {
    let wanted = wanted(new.name, new.prompt, new.how)?;
    make(NewSession { keep_process: new.keep_process, ..wanted }, out, words::created)
}

/// Begins a loop, or changes the limits of one.
pub(super) fn iterate(wants: Loop, out: &Out) -> Result<(), Complaint> {
    if !wants.set.is_empty() {
        return set(&wants.name, wants.set, out);
    }
    let spec_file = wants.spec.as_deref().map(absolute).transpose()?;
    let spec = LoopSpec {
        max: wants.max,
        until: wants.until,
        context: wants.context,
        auto_commit: wants.auto_commit,
        max_cost_micros: wants.max_cost,
        max_failures: wants.max_failures,
        file: None,
    };
    let wanted = wanted(Some(wants.name), wants.prompt, wants.how)?;
    make(NewSession { looped: Some(spec), spec_file, ..wanted }, out, looped::begun)
}

fn set(name: &str, changes: Vec<LoopChange>, out: &Out) -> Result<(), Complaint> {
    let mut change = LoopChange::default();
    for next in changes {
        change.max = next.max.or(change.max);
        change.max_cost_micros = next.max_cost_micros.or(change.max_cost_micros);
        change.max_failures = next.max_failures.or(change.max_failures);
        change.until = next.until.or(change.until);
    }
    let (session, _) = act(&mut control::connect()?, name, Action::SetLoop { change })?;
    out.document(&session, || looped::set(&session))
}

/// What is asked for of any session.
fn wanted(name: Option<String>, prompt: Option<String>, how: How) -> Result<NewSession, Complaint> {
    let place = match how.repo {
        Some(path) => std::path::absolute(path),
        None => std::env::current_dir(),
    };
    let repo = path_text(place, "the repository's path")?;
    Ok(NewSession {
        name,
        agent: how.agent,
        prompt: prompt.map(sayable).transpose()?,
        repo,
        base: how.base,
        in_place: how.in_place,
        headless: how.headless,
        persona: how.persona,
        model: how.model,
        idle_timeout_secs: how.idle_timeout.and_then(IdleLimit::secs),
        budget: how.budget,
        auto_yes: how.auto_yes,
        argv: how.argv,
        remove_worktree: match (how.remove_worktree_on_pause, how.keep_worktree_on_pause) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        },
        keep_process: false,
        looped: None,
        spec_file: None,
    })
}

fn make(
    wanted: NewSession,
    out: &Out,
    tell: fn(&SessionView, &[String]) -> String,
) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    let answer = ask_or(&mut control, Request::New(Box::new(wanted)), Complaint::of_new)?;
    let Response::Made { session, notes } = answer else { return Err(unexpected()) };
    tell_limits(&mut control, limits::crowded);
    if limits::waits(&session) {
        tell_limits(&mut control, limits::full);
    }
    out.document(&Made { session: &session, notes: &notes }, || tell(&session, &notes))
}
