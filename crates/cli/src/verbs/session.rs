//! Verbs that change a session.

use super::act::act;
use super::args::{self, Mode, Pause, Restart, Resume, Rm, Wait};
use super::limits::tell_limits;
use super::many::{each, everything, together};
use super::{Out, ask, documents, parting, unexpected};
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::words::{self, gate, limits};
use glis_client::Client;
use glis_core::Status;
use glis_core::input::IfRunning;
use glis_core::pause::{OnTimeout, PauseMode, PauseReason};
use glis_core::plain::without_escapes;
use glis_core::queue::{MESSAGE_BYTES_MAX, TooLong};
use glis_core::spec::Mode as SessionMode;
use glis_core::talk::{ALLOW_FOR_SESSION, AskKind};
use glis_core::tree::Clearing;
use glis_wire::client::{Action, PauseAll, Request, Response, Which};
use glis_wire::frame::PAYLOAD_BYTES_MAX;
use glis_wire::size;
use glis_wire::view::SessionView;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// A message that an agent can take. What only holds blanks or keys is pressed away by terminals, and
/// would be waited for in vain.
pub(super) fn sayable(text: String) -> Result<String, Complaint> {
    if is_blank(&text) {
        return Err(Complaint::new(Kind::Usage, "the message is empty").hint("say something"));
    }
    Ok(text)
}

fn is_blank(text: &str) -> bool {
    without_escapes(text).chars().all(|c| c.is_whitespace() || c.is_control())
}

/// A message that this session takes. For a plain program an empty one is the Enter that it waits for.
pub(super) fn sendable(
    control: &mut Client,
    session: &str,
    text: String,
) -> Result<String, Complaint> {
    if !is_blank(&text) {
        return Ok(text);
    }
    let Response::Session(shown) = ask(control, Request::Show { session: session.to_owned() })?
    else {
        return Err(unexpected());
    };
    if shown.agent == "command" { Ok(String::new()) } else { sayable(text) }
}

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
    let document = documents::queued(&session, (message, before, status), warning.as_deref());
    out.document(&document, || {
        let queued = words::queued(&session, before, status, idle_secs);
        std::iter::once(queued).chain(warning).collect::<Vec<_>>().join("\n")
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

/// What is to be known of a message that was stored.
pub(super) fn warning_of(session: &SessionView, text: &str) -> Option<String> {
    let longest = text.lines().map(str::len).max().unwrap_or_default();
    let has_escapes = without_escapes(text) != text;
    may_be_cut(session, longest).or_else(|| is_bared(session, has_escapes))
}

/// The longest line that a terminal takes which edits lines for its program.
const LINE_BYTES_MAX: usize = 4095;

/// What is to be known of a message that waits for a program whose terminal may not take it. Which
/// mode that will be in, only the program decides.
fn may_be_cut(session: &SessionView, longest: usize) -> Option<String> {
    let edits = session.agent == "command" && session.mode == SessionMode::Terminal;
    (edits && session.queued > 0 && longest > LINE_BYTES_MAX).then(|| {
        format!(
            "warning: a line of {longest} bytes; a terminal that edits lines takes {LINE_BYTES_MAX} at \
             most. If it cannot be sent, `glis log {}` will say so and have its text",
            session.name
        )
    })
}

/// What is to be known of a message with escape sequences: at a terminal each would be a key.
fn is_bared(session: &SessionView, has_escapes: bool) -> Option<String> {
    let typed = session.mode == SessionMode::Terminal || session.agent == "command";
    (typed && has_escapes).then(|| {
        format!(
            "note: escape sequences are not typed; the agent gets the text without them, `glis log {}` \
             has it whole",
            session.name
        )
    })
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
    let mode = pause.mode.map(|mode| match mode {
        Mode::Boundary => PauseMode::Boundary,
        Mode::Interrupt => PauseMode::Interrupt,
        Mode::Force => PauseMode::Force,
    });
    let clearing = match (pause.remove_worktree, pause.force) {
        (false, _) if pause.keep_worktree => Some(Clearing::Keep),
        (false, _) => None,
        (true, false) => Some(Clearing::IfAllIsSaved),
        (true, true) => Some(Clearing::Always),
    };
    let on_timeout = pause.on_timeout.map(|wanted| match wanted {
        args::OnTimeout::Refuse => OnTimeout::Refuse,
        args::OnTimeout::Force => OnTimeout::Force,
    });
    parting::watch(&which, out);
    if pause.all {
        let reason = match pause.reason {
            args::Reason::User => PauseReason::User,
            args::Reason::Shutdown => PauseReason::Shutdown,
        };
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
    let Response::Sessions(sessions) = ask(control, Request::List { all: false })? else {
        return Err(unexpected());
    };
    let no_folder = |dir: &Path, fault| {
        let message = format!("--repo {}: {fault}", dir.display());
        Complaint::new(Kind::Usage, message).hint("name a folder in the repository")
    };
    let found = |dir: &Path| dir.canonicalize().map_err(|fault| no_folder(dir, fault));
    let repo = resume.repo.as_deref().map(found).transpose()?;
    let inside = |root: &str| repo.as_ref().is_none_or(|dir| dir.starts_with(root));
    let meant = |s: &SessionView| s.status == Status::Paused && inside(&s.repo_root);
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
    if !resume.yes && !paused.is_empty() && !confirmed(&question, &reason)? {
        return Err(Complaint::new(Kind::Refused, "nothing was done"));
    }
    Ok(paused.into_iter().map(|session| session.id).collect())
}

/// A session that waits goes on when its question is answered.
pub(super) fn resume_by_answer(names: &[String], words: &str, out: &Out) -> Result<(), Complaint> {
    let [name] = names else {
        let message = "an answer is for one session";
        return Err(Complaint::new(Kind::Usage, message).hint("name one session"));
    };
    let request = Request::Show { session: name.clone() };
    let Response::Session(session) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
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
        if !confirmed(&question, &reason)? {
            return Err(Complaint::new(Kind::Refused, "nothing was done"));
        }
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
    let request = Request::Show { session: name.to_owned() };
    let Response::Session(session) = ask(control, request)? else { return Err(unexpected()) };
    Ok(session.pid.map(|_| session.status.word()))
}

/// Asks a person; a script has to say so beforehand.
pub(super) fn confirmed(question: &str, reason: &str) -> Result<bool, Complaint> {
    if !io::stdin().is_terminal() {
        return Err(Complaint::new(Kind::Usage, reason).hint("add --yes"));
    }
    let mut err = io::stderr().lock();
    drop(write!(err, "{question} [y/N] "));
    drop(err.flush());
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|fault| Complaint::new(Kind::Usage, format!("standard input: {fault}")))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
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
        stops = confirmed(&question, "")?;
        if !stops {
            return Err(Complaint::new(Kind::Refused, "nothing was done"));
        }
    }
    let running = if stops { IfRunning::Stop } else { IfRunning::Refuse };
    let (session, _) = act(&mut control, name, Action::Remove { running })?;
    let place = trash.join(&session.id);
    let stays = documents::staying(&session);
    out.document(&documents::removed(&session, &place), || {
        words::removed(&session, &place, stays.as_deref())
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

/// A slip of the pen must not count as a no. Whether the question is still open when the answer
/// arrives is for the daemon to say. Returns which question is meant.
pub(super) fn check_answer(
    control: &mut Client,
    name: &str,
    request: Option<&str>,
    words: &str,
) -> Result<Option<String>, Complaint> {
    let show = Request::Show { session: name.to_owned() };
    let Response::Session(session) = control.call(show)? else { return Err(unexpected()) };
    let Some(open) = session.waiting_for else { return Ok(request.map(ToOwned::to_owned)) };
    let meant = request.is_none_or(|id| id == open.request);
    let decides = match open.kind {
        // A question on the screen of an unknown program may want any word.
        AskKind::Approval => session.agent != "command",
        AskKind::Doubt => true,
        AskKind::Question => false,
    };
    let plain = ["y", "yes", "n", "no"].contains(&words.to_ascii_lowercase().as_str());
    let decided = plain || matches!(words, "allow" | "deny" | ALLOW_FOR_SESSION);
    if meant && decides && !decided {
        return Err(Complaint::new(
            Kind::Usage,
            format!("session `{}` wants a yes or a no, not {words:?}", session.name),
        )
        .hint(format!("`glis answer {0} allow` or `glis answer {0} deny`", session.name)));
    }
    Ok(Some(request.map_or(open.request, ToOwned::to_owned)))
}
