//! Verbs that change a session.

use super::args::{Mode, New, Pause, Restart, Resume, Wait};
use super::{Out, ask, say, unexpected};
use crate::complaint::{Complaint, Kind};
use crate::control::Control;
use crate::words;
use glis_core::Status;
use glis_core::pause::{OnTimeout, PauseMode};
use glis_wire::client::{Action, Answer, NewSession, Request};
use glis_wire::view::SessionView;
use serde_json::{Value, json};
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

pub(super) fn new(new: New, out: &Out) -> Result<(), Complaint> {
    let place = match new.repo {
        Some(path) => std::path::absolute(path),
        None => std::env::current_dir(),
    };
    let place = place
        .map_err(|fault| Complaint::new(Kind::Usage, format!("the current folder: {fault}")))?;
    let repo = place
        .into_os_string()
        .into_string()
        .map_err(|_| Complaint::new(Kind::Usage, "the repository's path is not valid UTF-8"))?;
    let request = Request::New(Box::new(NewSession {
        name: new.name,
        agent: new.agent,
        prompt: new.prompt,
        repo,
        base: new.base,
        in_place: new.in_place,
        headless: new.headless,
        persona: new.persona,
        model: new.model,
        idle_timeout_secs: new.idle_timeout.map(|time| time.as_secs()),
        auto_yes: new.auto_yes,
        argv: new.argv,
    }));
    let session = done(&mut Control::connect()?, request)?.0;
    out.document(&session, || words::created(&session))
}

/// Does something with one session and returns what it is afterwards.
fn act(
    control: &mut Control,
    name: &str,
    action: Action,
) -> Result<(SessionView, bool), Complaint> {
    done(control, Request::Act { session: name.to_owned(), action })
}

fn done(control: &mut Control, request: Request) -> Result<(SessionView, bool), Complaint> {
    let Answer::Done { session, already } = ask(control, request)? else {
        return Err(unexpected());
    };
    Ok((*session, already))
}

pub(super) fn send(name: String, text: &str, out: &Out) -> Result<(), Complaint> {
    let text = if text == "-" {
        let mut all = String::new();
        let read = io::stdin().lock().read_to_string(&mut all);
        read.map_err(|fault| Complaint::new(Kind::Usage, format!("standard input: {fault}")))?;
        all.trim_end_matches('\n').to_owned()
    } else {
        text.to_owned()
    };
    if text.is_empty() {
        return Err(Complaint::new(Kind::Usage, "the message is empty").hint("say something"));
    }
    let mut control = Control::connect()?;
    let request = Request::Act { session: name, action: Action::Send { text } };
    let Answer::Queued { session, message, before, status } = ask(&mut control, request)? else {
        return Err(unexpected());
    };
    let document = json!({
        "session": session.name, "message": message, "before": before,
        "status": status, "queued": session.queued,
    });
    out.document(&document, || words::queued(&session, before, status))
}

pub(super) fn wait(wait: Wait, out: &Out) -> Result<(), Complaint> {
    let timeout_ms = wait.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let request = Request::Wait { session: wait.name, statuses: wait.states, timeout_ms };
    let Answer::Session(session) = ask(&mut Control::connect()?, request)? else {
        return Err(unexpected());
    };
    out.document(&session, || words::is(&session))
}

pub(super) fn pause(pause: &Pause, out: &Out) -> Result<(), Complaint> {
    let mut control = Control::connect()?;
    let action = if pause.cancel {
        Action::CancelPause
    } else {
        let mode = match pause.mode {
            Mode::Boundary => PauseMode::Boundary,
            Mode::Interrupt => PauseMode::Interrupt,
            Mode::Force => PauseMode::Force,
        };
        Action::Pause { mode, on_timeout: OnTimeout::Refuse }
    };
    let names = if pause.all {
        chosen(&mut control, |session| session.can_pause && session.status != Status::Created)?
    } else {
        pause.names.clone()
    };
    each(&mut control, &names, &action, out, if pause.cancel { words::is } else { words::paused })
}

pub(super) fn resume(resume: &Resume, out: &Out) -> Result<(), Complaint> {
    let mut control = Control::connect()?;
    let names = if resume.all {
        chosen(&mut control, |session| session.status == Status::Paused)?
    } else {
        resume.names.clone()
    };
    let action = Action::Resume { prompt: resume.prompt.clone() };
    each(&mut control, &names, &action, out, words::resumed)
}

fn chosen(
    control: &mut Control,
    wanted: impl Fn(&SessionView) -> bool,
) -> Result<Vec<String>, Complaint> {
    let Answer::Sessions(all) = ask(control, Request::List { all: false })? else {
        return Err(unexpected());
    };
    Ok(all.into_iter().filter(wanted).map(|session| session.id).collect())
}

/// Does the same to several sessions. One that fails does not keep the others from it; the first
/// failure decides the exit status.
fn each(
    control: &mut Control,
    names: &[String],
    action: &Action,
    out: &Out,
    tell: fn(&SessionView) -> String,
) -> Result<(), Complaint> {
    let mut documents = Vec::new();
    let mut first = None;
    for name in names {
        match act(control, name, action.clone()) {
            Ok((session, already)) => {
                if !out.json {
                    say(&if already { words::already(&session) } else { tell(&session) })?;
                }
                documents.push(with_already(&session, already));
            }
            Err(complaint) => {
                if !out.json && names.len() > 1 {
                    out.complain(&complaint);
                }
                documents.push(complaint.json());
                first.get_or_insert(complaint);
            }
        }
    }
    if names.is_empty() && !out.json {
        say("no session to do that with")?;
    }
    match (first, documents.as_slice()) {
        (Some(complaint), _) if names.len() == 1 => Err(complaint),
        (first, documents) => {
            if out.json {
                match documents {
                    [only] if names.len() == 1 => say(&only.to_string())?,
                    all => say(&Value::from(all.to_vec()).to_string())?,
                }
            }
            first.map_or(Ok(()), |complaint| {
                Err(Complaint { hint: None, ..some_failed(&complaint) })
            })
        }
    }
}

fn some_failed(first: &Complaint) -> Complaint {
    Complaint::new(first.kind, "not all of them")
}

fn with_already(session: &SessionView, already: bool) -> Value {
    let mut document = serde_json::to_value(session).unwrap_or_default();
    if let Some(fields) = document.as_object_mut() {
        fields.insert("already".to_owned(), json!(already));
    }
    document
}

pub(super) fn restart(restart: &Restart, out: &Out) -> Result<(), Complaint> {
    if !restart.yes && !confirmed(&restart.name)? {
        return Err(Complaint::new(Kind::Refused, "nothing was done"));
    }
    let action = Action::Restart { with_context: restart.with_context };
    let (session, _) = act(&mut Control::connect()?, &restart.name, action)?;
    out.document(&session, || words::restarted(&session))
}

fn confirmed(name: &str) -> Result<bool, Complaint> {
    if !io::stdin().is_terminal() {
        return Err(Complaint::new(
            Kind::Usage,
            format!("a restart of `{name}` begins a fresh conversation and has to be confirmed"),
        )
        .hint("add --yes"));
    }
    let mut err = io::stderr().lock();
    drop(write!(err, "Begin a fresh conversation in `{name}`? Its files stay. [y/N] "));
    drop(err.flush());
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|fault| Complaint::new(Kind::Usage, format!("standard input: {fault}")))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

pub(super) fn stop(name: String, out: &Out) -> Result<(), Complaint> {
    each(&mut Control::connect()?, &[name], &Action::Stop, out, words::stopped)
}

pub(super) fn rm(name: &str, out: &Out) -> Result<(), Complaint> {
    let mut control = Control::connect()?;
    let trash = control.home().trash();
    let (session, _) = act(&mut control, name, Action::Remove)?;
    let place = trash.join(&session.id);
    let document = json!({"session": session, "place": place});
    out.document(&document, || words::removed(&session, &place))
}

pub(super) fn answer(answer: super::args::Answer, out: &Out) -> Result<(), Complaint> {
    if answer.for_session {
        return Err(Complaint::new(
            Kind::Usage,
            "no agent of this version can be allowed something for the whole session",
        )
        .hint("answer without --for-session"));
    }
    let action = Action::Answer { ask: answer.request, answer: answer.words };
    let (session, _) = act(&mut Control::connect()?, &answer.name, action)?;
    out.document(&session, || words::answered(&session))
}
