//! `auto-yes`: switch it, try a command, look at what was answered.

use super::act::act;
use super::args::{AutoYes, AutoYesVerb};
use super::suggest::suggest;
use super::{Out, document_of, say};
use crate::control;
use crate::words;
use glis_approve::{Place, Request as Asked};
use glis_client::Streamed;
use glis_config::{AutoYesConfig, Config};
use glis_verbs::verdict::{self, verdict};
use glis_verbs::{Complaint, Kind, file, unexpected};
use glis_wire::client::{Action, Request, Response};
use glis_wire::view::VerdictView;
use std::path::PathBuf;

pub(super) fn auto_yes(wanted: AutoYes, out: &Out) -> Result<(), Complaint> {
    match (wanted.verb, wanted.name, wanted.switch) {
        (Some(AutoYesVerb::Test { command, folder }), _, _) => test(&command, folder, out),
        (Some(AutoYesVerb::Log { name, new }), _, _) => log(name, new, out),
        (Some(AutoYesVerb::Suggest), _, _) => suggest(&configured()?, out),
        (None, Some(name), Some(on)) => set(&name, on, out),
        (None, _, _) => Err(unexpected()),
    }
}

fn set(name: &str, on: bool, out: &Out) -> Result<(), Complaint> {
    let (session, already) = act(&mut control::connect()?, name, Action::AutoYes { on })?;
    out.document(&session, || {
        let (name, already) = (&session.name, if already { " already" } else { "" });
        if on {
            format!("auto-yes is{already} on for `{name}`: rules answer what they allow")
        } else {
            format!("auto-yes is{already} off for `{name}`: you are asked")
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
    let judged = glis_config::in_words_of_core(told);
    out.document(&verdict::Ruled::from(judged.clone()), || verdict(&judged))
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

/// What the rules have said, oldest first, of one session or of all.
fn log(session: Option<String>, fresh: bool, out: &Out) -> Result<(), Complaint> {
    let request = Request::Verdicts { session, fresh };
    let mut control = control::connect()?;
    if out.json {
        return document_of(&mut control, request);
    }
    let mut judged = Vec::new();
    control.call_seeing(request, |streamed| {
        if let Streamed::Words(Response::Verdict(verdict)) = streamed {
            judged.push(*verdict);
        }
        Ok::<(), Complaint>(())
    })?;
    if judged.is_empty() {
        return say(if fresh {
            "no request was judged by rule since you last looked"
        } else {
            "no request was judged by rule"
        });
    }
    judged.iter().try_for_each(|one| say(&line(one)))
}

fn line(one: &VerdictView) -> String {
    let VerdictView { at, name, text, verdict: judged, new, .. } = one;
    let (text, new) = (words::plain(text), if *new { "  (new)" } else { "" });
    format!("{at}  {name}{new}  {text}\n    {}", verdict(judged))
}
