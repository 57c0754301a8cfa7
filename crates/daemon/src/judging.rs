//! What the rules say about something that an agent asks: files and programs are looked up here,
//! beside everything else.

use crate::jobs::Jobs;
use crate::pools::Kind;
use crate::process;
use crate::settings::Settings;
use glis_approve::{Judge, Place, Request, Verdict, Why};
use glis_config::in_words_of_core;
use glis_core::input::Outcome;
use glis_core::session::Session;
use glis_core::talk::Ask;
use glis_core::verdict::{self, Unruled, Want};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

/// Has questions judged.
pub(crate) struct Judging {
    pub(crate) settings: Arc<Settings>,
    pub(crate) jobs: Arc<Jobs>,
}

impl Judging {
    /// Judges a question by the rules that count now. A fault leaves it to a person.
    pub(crate) fn judge(&self, session: &Session, ask: Ask) {
        let judge = self.settings.judge();
        let asked = ask.clone();
        let failed = move |_| Outcome::Judged {
            ask: asked,
            verdict: verdict::Verdict::manual(Unruled::Fault),
        };
        self.jobs.blocking(session, (Kind::Look, "apply the rules"), failed, move |session| {
            let verdict = verdict_on(&judge, session, &ask);
            Some(Outcome::Judged { ask, verdict })
        });
    }
}

fn verdict_on(judge: &Judge, session: &Session, ask: &Ask) -> verdict::Verdict {
    let told = match &ask.wants {
        Some(Want::Command { line, folder }) => {
            let place = folder.as_ref().and_then(|folder| place(session, folder));
            judge.verdict(Request::Command(line), place.as_ref())
        }
        Some(Want::Edit { paths }) => edits(judge, session, paths),
        None => judge.verdict(Request::Other(&ask.text), None),
    };
    in_words_of_core(told)
}

/// One file that may not be written is reason enough to ask about all of them.
fn edits(judge: &Judge, session: &Session, paths: &[String]) -> Verdict {
    let place = session.worktree.as_ref().and_then(|worktree| place(session, worktree));
    let mut last = Verdict::Manual(Why::Unknown);
    for path in paths {
        last = judge.verdict(Request::Edit(path), place.as_ref());
        if !matches!(last, Verdict::Accept { .. }) {
            break;
        }
    }
    last
}

/// Where a command of the session's agent would run, and with which programs: those of the process
/// itself, whatever the caller's path is by now.
fn place(session: &Session, folder: &str) -> Option<Place> {
    let process = session.process()?;
    let path = process::variable(process, "PATH")?;
    let worktree = session.worktree.as_ref()?;
    Place::new(Path::new(worktree), Path::new(folder), &OsString::from(OsStr::from_bytes(&path)))
        .ok()
}
