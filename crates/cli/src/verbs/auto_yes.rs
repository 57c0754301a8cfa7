//! `auto-yes`: switch it, try a command, look at what was answered.

use super::act::act;
use super::args::{AutoYes, AutoYesVerb, Switch};
use super::suggest::suggest;
use super::{Out, file, say, unexpected};
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::words;
use glis_approve::{Place, Request as Asked};
use glis_client::Streamed;
use glis_config::{AutoYesConfig, Config};
use glis_core::verdict::Verdict;
use glis_wire::client::{Action, Request, Response};
use glis_wire::view::VerdictView;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) fn auto_yes(wanted: AutoYes, out: &Out) -> Result<(), Complaint> {
    match (wanted.verb, wanted.name, wanted.switch) {
        (Some(AutoYesVerb::Test { command, folder }), _, _) => test(&command, folder, out),
        (Some(AutoYesVerb::Log { name, new }), _, _) => log(name, new, out),
        (Some(AutoYesVerb::Suggest), _, _) => suggest(&configured()?, out),
        (None, Some(name), Some(switch)) => set(&name, switch, out),
        (None, _, _) => Err(unexpected()),
    }
}

fn set(name: &str, switch: Switch, out: &Out) -> Result<(), Complaint> {
    let on = switch == Switch::On;
    let (session, already) = act(&mut control::connect()?, name, Action::AutoYes { on })?;
    out.document(&session, || {
        let (name, already) = (&session.name, if already { " already" } else { "" });
        match switch {
            Switch::On => {
                format!("auto-yes is{already} on for `{name}`: rules answer what they allow")
            }
            Switch::Off => format!("auto-yes is{already} off for `{name}`: you are asked"),
        }
    })
}

/// Judges as if a session asked for it here. Needs no daemon.
fn test(command: &str, folder: Option<PathBuf>, out: &Out) -> Result<(), Complaint> {
    let failed = |why: String| Complaint::new(Kind::Failed, why);
    let judge = configured()?.judge().map_err(failed)?;
    let folder = match folder {
        Some(folder) => folder,
        None => std::env::current_dir().map_err(|fault| failed(fault.to_string()))?,
    };
    let folder = folder
        .canonicalize()
        .map_err(|fault| Complaint::new(Kind::Usage, format!("{}: {fault}", folder.display())))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let place = Place::new(file::worktree_of(&folder).unwrap_or(&folder), &folder, &path).ok();
    let place = place.map(|place| place.among(std::env::vars_os()));
    let told = judge.verdict(Asked::Command(command), place.as_ref());
    let verdict = glis_config::in_words_of_core(told);
    out.document(&as_json(&verdict), || words::verdict::verdict(&verdict))
}

/// The rules as the file has them.
fn configured() -> Result<AutoYesConfig, Complaint> {
    let file = control::find_home()?.config_file();
    let config = Config::read(&file).map_err(|unread| {
        Complaint::new(Kind::Failed, unread.to_string())
            .hint("`glis config check` lists every fault of the file")
    })?;
    Ok(config.auto_yes)
}

fn as_json(verdict: &Verdict) -> Value {
    match verdict {
        Verdict::Accept { rule, author } => {
            json!({"verdict": "accept", "rule": rule, "author": author})
        }
        Verdict::Reject { rule, author } => {
            json!({"verdict": "reject", "rule": rule, "author": author})
        }
        Verdict::Manual { why, about } => {
            json!({"verdict": "manual", "rule": null, "why": why, "about": about})
        }
    }
}

/// What the rules have said, oldest first, of one session or of all.
fn log(session: Option<String>, fresh: bool, out: &Out) -> Result<(), Complaint> {
    let mut judged = Vec::new();
    let request = Request::Verdicts { session, fresh };
    control::connect()?.call_seeing(request, |streamed| {
        if let Streamed::Words(Response::Verdict(verdict)) = streamed {
            judged.push(*verdict);
        }
        Ok::<(), Complaint>(())
    })?;
    if out.json {
        let all: Vec<Value> = judged.iter().map(document).collect();
        return say(&Value::from(all).to_string());
    }
    if judged.is_empty() {
        return say(if fresh {
            "no request was judged by rule since you last looked"
        } else {
            "no request was judged by rule"
        });
    }
    judged.iter().try_for_each(|one| say(&line(one)))
}

/// One verdict, with what it was about.
pub(super) fn document(one: &VerdictView) -> Value {
    let mut document = json!({
        "at": one.at,
        "session": one.session,
        "name": one.name,
        "request": one.request,
        "text": one.text,
        "new": one.new,
    });
    if let (Value::Object(all), Value::Object(own)) = (&mut document, as_json(&one.verdict)) {
        all.extend(own);
    }
    document
}

fn line(one: &VerdictView) -> String {
    let VerdictView { at, name, text, verdict, new, .. } = one;
    let (text, new) = (words::plain(text), if *new { "  (new)" } else { "" });
    format!("{at}  {name}{new}  {text}\n    {}", words::verdict::verdict(verdict))
}
