//! `auto-yes`: switch it, try a command, look at what was answered.

use super::act::act;
use super::args::{AutoYes, AutoYesVerb, Switch};
use super::{Out, ask, file, say, unexpected};
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::words;
use glis_approve::{Place, Request as Asked};
use glis_client::Streamed;
use glis_config::Config;
use glis_core::verdict::Verdict;
use glis_wire::client::{Action, Request, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(super) fn auto_yes(wanted: AutoYes, out: &Out) -> Result<(), Complaint> {
    match (wanted.verb, wanted.name, wanted.switch) {
        (Some(AutoYesVerb::Test { command, folder }), _, _) => test(&command, folder, out),
        (Some(AutoYesVerb::Log { name }), _, _) => log(name, out),
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
    let file = control::find_home()?.config_file();
    let failed = |why: String| Complaint::new(Kind::Failed, why);
    let config = Config::read(&file).map_err(|unread| {
        failed(unread.to_string()).hint("`glis config check` lists every fault of the file")
    })?;
    let judge = config.auto_yes.judge().map_err(failed)?;
    let folder = match folder {
        Some(folder) => folder,
        None => std::env::current_dir().map_err(|fault| failed(fault.to_string()))?,
    };
    let folder = folder
        .canonicalize()
        .map_err(|fault| Complaint::new(Kind::Usage, format!("{}: {fault}", folder.display())))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let place = Place::new(file::worktree_of(&folder).unwrap_or(&folder), &folder, &path).ok();
    let told = judge.verdict(Asked::Command(command), place.as_ref());
    let verdict = glis_config::in_words_of_core(told);
    out.document(&as_json(&verdict), || words::verdict::verdict(&verdict))
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
fn log(name: Option<String>, out: &Out) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    let only = match name {
        Some(session) => {
            let shown = ask(&mut control, Request::Show { session })?;
            let Response::Session(session) = shown else { return Err(unexpected()) };
            Some(session.id)
        }
        None => None,
    };
    let mut names = BTreeMap::new();
    let mut judged = Vec::new();
    control.call_seeing(Request::Events { from: 0, follow: false }, |streamed| {
        if let Streamed::Words(Response::Event(event)) = streamed {
            note(&event, &mut names, only.as_deref(), &mut judged);
        }
        Ok::<(), Complaint>(())
    })?;
    if out.json {
        return say(
            &Value::from(judged.iter().map(Judged::as_json).collect::<Vec<_>>()).to_string()
        );
    }
    if judged.is_empty() {
        return say("no request was judged by rule");
    }
    judged.iter().try_for_each(|one| say(&one.line()))
}

/// One verdict, with what it was about.
struct Judged {
    at: Value,
    session: Value,
    name: String,
    request: Value,
    text: String,
    verdict: Verdict,
}

impl Judged {
    fn as_json(&self) -> Value {
        let mut document = json!({
            "at": self.at,
            "session": self.session,
            "name": self.name,
            "request": self.request,
            "text": self.text,
        });
        if let (Value::Object(all), Value::Object(own)) = (&mut document, as_json(&self.verdict)) {
            all.extend(own);
        }
        document
    }

    fn line(&self) -> String {
        let at = self.at.as_str().unwrap_or_default();
        let text = words::plain(&self.text);
        format!("{at}  {}  {text}\n    {}", self.name, words::verdict::verdict(&self.verdict))
    }
}

fn note(
    event: &Value,
    names: &mut BTreeMap<String, String>,
    only: Option<&str>,
    judged: &mut Vec<Judged>,
) {
    let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    let session = text("session");
    if let "session_created" | "return_began" = text("event").as_str() {
        names.insert(session, text("name"));
        return;
    }
    if text("event") != "ask_judged" || only.is_some_and(|only| only != session) {
        return;
    }
    let Ok(verdict) = serde_json::from_value(event["verdict"].clone()) else { return };
    judged.push(Judged {
        at: event["at"].clone(),
        name: names.get(&session).unwrap_or(&session).clone(),
        session: event["session"].clone(),
        request: event["ask"].clone(),
        text: text("text"),
        verdict,
    });
}
