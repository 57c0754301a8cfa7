//! Verbs that change a session.

use super::act::{act, show};
use super::args::{self, Pause, Restart, Resume, Rm, Wait};
use super::limits::tell_limits;
use super::many::{each, everything, together};
use super::{Out, ask, parting};
use crate::control;
use crate::words::{self, gate, limits};
use glis_client::Client;
use glis_core::Status;
use glis_core::input::IfRunning;
use glis_core::pause::PauseMode;
use glis_core::queue::{MESSAGE_BYTES_MAX, TooLong};
use glis_core::talk::ALLOW_FOR_SESSION;
use glis_core::tree::Clearing;
use glis_verbs::documents::{Removed, queued};
use glis_verbs::say::{check_answer, sayable, sendable, warning_of};
use glis_verbs::{Complaint, Kind, unexpected};
use glis_wire::client::{Action, PauseAll, Request, Response, Which};
use glis_wire::frame::PAYLOAD_BYTES_MAX;
use glis_wire::size;
use glis_wire::view::SessionRow;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

pub(super) fn send(
    name: String,
    text: &str,
    files: &[PathBuf],
    out: &Out,
) -> Result<(), Complaint> {
    let text = if text == "-" { from_stdin()? } else { text.to_owned() };
    let files = files.iter().map(|file| absolute(file)).collect::<Result<Vec<_>, _>>()?;
    let mut control = control::connect()?;
    let text = sendable(&mut control, &name, text)?;
    let action = Action::Send { text: text.clone(), files };
    let request = Request::Act { session: name, action };
    let Response::Queued { session, message, before, status, idle_secs } =
        ask(&mut control, request)?
    else {
        return Err(unexpected());
    };
    if limits::waits(&session) {
        tell_limits(&mut control, limits::full);
    }
    let warning = warning_of(&session, &text);
    let document = queued(&session, (message, before, status), warning.as_deref());
    out.document(&document, || {
        let queued = words::queued(&session, before, status, idle_secs);
        std::iter::once(queued).chain(warning.clone()).collect::<Vec<_>>().join("\n")
    })
}

/// A message from standard input, as far as it could be one: standard input may have no end.
fn from_stdin() -> Result<String, Complaint> {
    let wrong = |fault: &dyn std::fmt::Display| {
        Complaint::new(Kind::Usage, format!("standard input: {fault}"))
            .hint("a message is text in UTF-8")
    };
    let mut all = Vec::new();
    let read = io::stdin().lock().take(PAYLOAD_BYTES_MAX as u64 + 1).read_to_end(&mut all);
    if read.map_err(|fault| wrong(&fault))? > PAYLOAD_BYTES_MAX {
        let known = TooLong { length: PAYLOAD_BYTES_MAX, most: MESSAGE_BYTES_MAX };
        let message = format!("the message has more than {known}");
        return Err(Complaint::new(Kind::Usage, message).hint(size::HINT));
    }
    let text = String::from_utf8(all).map_err(|fault| wrong(&fault))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// A path that means the same to the daemon.
pub(super) fn absolute(file: &Path) -> Result<String, Complaint> {
    let wrong = |why: String| Complaint::new(Kind::Usage, format!("{}: {why}", file.display()));
    let path = std::path::absolute(file).map_err(|fault| wrong(fault.to_string()))?;
    let path = path.into_os_string().into_string();
    path.map_err(|_| wrong("the path is not valid UTF-8".to_owned()))
}

pub(super) fn wait(wait: Wait, out: &Out) -> Result<(), Complaint> {
    let timeout_ms = wait.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let request = Request::Wait { session: wait.name, statuses: wait.states, timeout_ms };
    let Response::Session(session) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    out.document(&session, || words::is(&session))
}

pub(super) fn pause(pause: &Pause, out: &Out) -> Result<(), Complaint> {
    let control = control::connect()?;
    let which = if pause.all { Which::All } else { Which::Named(pause.names.clone()) };
    if pause.cancel {
        return each(control, &which, &Action::CancelPause, out, words::is);
    }
    let clearing = match (pause.remove_worktree, pause.force) {
        (false, _) if pause.keep_worktree => Some(Clearing::Keep),
        (false, _) => None,
        (true, false) => Some(Clearing::IfAllIsSaved),
        (true, true) => Some(Clearing::Always),
    };
    let Pause { mode, on_timeout, reason, .. } = *pause;
    parting::watch(&which, out);
    if pause.all {
        let mode = mode.unwrap_or(PauseMode::Boundary);
        let request = Request::PauseAll(PauseAll { mode, on_timeout, clearing, reason });
        return everything(control, request, out, words::paused, |gate| Some(gate::paused(gate)));
    }
    let for_secs = pause.lasts.map(|time| time.as_secs());
    let action = Action::Pause { mode, on_timeout, clearing, for_secs };
    each(control, &which, &action, out, words::paused)
}

pub(super) fn resume(resume: &Resume, out: &Out) -> Result<(), Complaint> {
    if let Some(words) = &resume.answer {
        return resume_by_answer(&resume.names, words, out);
    }
    let prompt = resume.prompt.clone().map(sayable).transpose()?;
    let mut control = control::connect()?;
    if resume.all && prompt.is_none() {
        let request = Request::ResumeAll { from_log: resume.from_log };
        return everything(control, request, out, words::resumed, gate::resumed);
    }
    let action = Action::Resume { prompt };
    if resume.paused {
        let which = Which::Named(paused(&mut control, resume)?);
        return together(control, &which, &action, out, words::resumed);
    }
    let which = match (resume.all, resume.interrupted) {
        (true, _) => Which::All,
        (false, true) => Which::Interrupted,
        (false, false) => Which::Named(resume.names.clone()),
    };
    each(control, &which, &action, out, words::resumed)
}

/// The ids of the sessions that are paused, once a person has agreed to resume so many. They are named one
/// by one: what is paused after the question was asked is not meant.
fn paused(control: &mut Client, resume: &Resume) -> Result<Vec<String>, Complaint> {
    let list = ask(control, Request::List { all: true })?;
    let Response::Sessions { rows: sessions, .. } = list else { return Err(unexpected()) };
    let no_folder = |dir: &Path, fault| {
        let message = format!("--repo {}: {fault}", dir.display());
        Complaint::new(Kind::Usage, message).hint("name a folder in the repository")
    };
    let found = |dir: &Path| dir.canonicalize().map_err(|fault| no_folder(dir, fault));
    let repo = resume.repo.as_deref().map(found).transpose()?;
    let inside = |root: &str| repo.as_ref().is_none_or(|dir| dir.starts_with(root));
    let meant = |s: &SessionRow| s.status == Status::Paused && inside(&s.repo_root);
    let paused: Vec<_> = sessions.into_iter().filter(meant).collect();
    let roots: BTreeSet<_> = paused.iter().map(|session| session.repo_root.as_str()).collect();
    let count = |number: usize, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    };
    let sessions = count(paused.len(), "paused session", "paused sessions");
    let repositories = count(roots.len(), "repository", "repositories");
    let reason = format!("resuming {sessions} of {repositories} has to be confirmed");
    let question = format!("Resume {sessions} of {repositories}?");
    if !resume.yes && !paused.is_empty() {
        confirm(&question, &reason, NOTHING_DONE)?;
    }
    Ok(paused.into_iter().map(|session| session.id).collect())
}

/// A session that waits goes on when its question is answered.
pub(super) fn resume_by_answer(names: &[String], words: &str, out: &Out) -> Result<(), Complaint> {
    let [name] = names else {
        let message = "an answer is for one session";
        return Err(Complaint::new(Kind::Usage, message).hint("name one session"));
    };
    let session = show(&mut control::connect()?, name)?;
    if session.waiting_for.is_none() {
        let (name, status) = (&session.name, session.status.word());
        let hint = if session.can_resume {
            format!("`glis resume {name}` brings it back")
        } else {
            format!("`glis show {name}` shows what it is doing")
        };
        let message = format!("session `{name}` is {status} and asks nothing, so nothing was done");
        return Err(Complaint::new(Kind::Refused, message).hint(hint));
    }
    let (name, words) = (name.clone(), words.to_owned());
    let plain = args::Answer { name, words, request: None, for_session: false, reason: None };
    answer(plain, out)
}

pub(super) fn restart(restart: &Restart, out: &Out) -> Result<(), Complaint> {
    let name = &restart.name;
    let mut control = control::connect()?;
    if !restart.yes {
        let stops = running(&mut control, name)?;
        let stops = stops.map_or(String::new(), |s| format!(" It is {s} and is stopped first."));
        let question = format!("Begin a fresh conversation in `{name}`? Its files stay.{stops}");
        let reason =
            format!("a restart of `{name}` begins a fresh conversation and has to be confirmed");
        confirm(&question, &reason, NOTHING_DONE)?;
    }
    let action = Action::Restart { with_context: restart.with_context };
    let (session, _) = act(&mut control, &restart.name, action)?;
    out.document(&session, || words::restarted(&session))
}

/// What a session that runs is doing; none if nothing runs, or if there is no terminal to ask at.
fn running(control: &mut Client, name: &str) -> Result<Option<&'static str>, Complaint> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    let session = show(control, name)?;
    Ok(session.pid.map(|_| session.status.word()))
}

/// What is told a person who has said no.
pub(super) const NOTHING_DONE: &str = "nothing was done";

/// Goes on if a person says yes; a script has to say so beforehand.
pub(super) fn confirm(question: &str, reason: &str, refused: &str) -> Result<(), Complaint> {
    if !io::stdin().is_terminal() {
        return Err(Complaint::new(Kind::Usage, reason).hint("add --yes"));
    }
    let is_yes = matches!(line(&format!("{question} [y/N] "))?.as_str(), "y" | "Y" | "yes");
    if is_yes { Ok(()) } else { Err(Complaint::new(Kind::Refused, refused)) }
}

/// Reads a line from the person at the terminal.
pub(super) fn line(question: &str) -> Result<String, Complaint> {
    let mut err = io::stderr().lock();
    drop(write!(err, "{question}"));
    drop(err.flush());
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|fault| Complaint::new(Kind::Usage, format!("standard input: {fault}")))?;
    Ok(line.trim().to_owned())
}

pub(super) fn stop(name: String, out: &Out) -> Result<(), Complaint> {
    each(control::connect()?, &Which::Named(vec![name]), &Action::Stop, out, words::stopped)
}

pub(super) fn acknowledge(which: &Which, out: &Out) -> Result<(), Complaint> {
    each(control::connect()?, which, &Action::Acknowledge, out, words::acknowledged)
}

pub(super) fn rm(rm: &Rm, out: &Out) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    let trash = control.home().trash();
    let name = &rm.name;
    let mut stops = rm.stop;
    if !stops && let Some(status) = running(&mut control, name)? {
        let question = format!("`{name}` is {status}. Stop it and put it into the trash?");
        // Only a person is asked: a script gets the refusal, which says how to have it stopped.
        confirm(&question, "", NOTHING_DONE)?;
        stops = true;
    }
    let running = if stops { IfRunning::Stop } else { IfRunning::Refuse };
    let (session, _) = act(&mut control, name, Action::Remove { running })?;
    let removed = Removed::of(session, &trash);
    out.document(&removed, || {
        words::removed(&removed.session, &removed.place, removed.worktree_stays.as_deref())
    })
}

pub(super) fn answer(answer: super::args::Answer, out: &Out) -> Result<(), Complaint> {
    if answer.for_session && answer.words != "allow" {
        let message = "only `allow` can hold for the whole session";
        return Err(Complaint::new(Kind::Usage, message)
            .hint(format!("`glis answer {} allow --for-session`", answer.name)));
    }
    if answer.reason.is_some() && answer.words != "deny" {
        return Err(Complaint::new(Kind::Usage, "only `deny` takes a reason")
            .hint(format!("`glis answer {} deny --reason TEXT`", answer.name)));
    }
    let reason = answer.reason.clone().map(sayable).transpose()?;
    let mut control = control::connect()?;
    let request = answer.request.as_deref();
    let asked = check_answer(&mut control, &answer.name, request, &answer.words)?;
    let words = if answer.for_session { ALLOW_FOR_SESSION.to_owned() } else { answer.words };
    let action = Action::Answer { ask: answer.request, answer: words, reason };
    let (session, _) = act(&mut control, &answer.name, action)?;
    let open = session.waiting_for.as_ref().map(|open| open.request.as_str());
    let heard = open.is_none() || open != asked.as_deref();
    let tell = if heard { words::ask::answered } else { words::ask::still_asks };
    out.document(&session, || tell(&session))
}
