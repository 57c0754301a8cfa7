//! The verb that puts a session on the terminal, and what it does when the session's process ends.

use super::{Out, ask};
use crate::attach::{AttachSpec, Company, Leave, attach as attach_to, painted_anew, scene_of};
use crate::control;
use crate::words;
use glis_core::spec::Mode;
use glis_verbs::{Complaint, Kind};
use glis_wire::client::{Request, Response};
use glis_wire::view::SessionView;
use serde_json::json;
use std::io;

pub(super) fn attach(name: &str, out: &Out) -> Result<(), Complaint> {
    if !crate::tty::is_terminal() {
        return Err(Complaint::new(Kind::Usage, "attach needs a terminal").hint(format!(
            "`glis screen {name}` prints the screen, `glis output {name}` the bytes"
        )));
    }
    let (session, left) = until_left(name)?;
    let (word, text) = match left {
        Leave::Detached => {
            ("detached", format!("detached from `{}`; it keeps running", session.name))
        }
        Leave::NotRunning | Leave::Ended(_) | Leave::Lost | Leave::Kept => {
            ("not_running", words::is(&session))
        }
    };
    let document = json!({"session": session.name, "left": word, "status": session.status});
    out.document(&document, || text)
}

/// Shows a session on the terminal until the user leaves, for a face that has its own words for the rest.
pub fn show(name: &str) -> Result<(), Complaint> {
    until_left(name).map(drop)
}

/// The session as it is afterwards, and why it is shown no longer.
fn until_left(name: &str) -> Result<(SessionView, Leave), Complaint> {
    let mut control = control::connect()?;
    let (session, scene) = scene_of(control.paint(name)?);
    let companion = Company::of(&session);
    let id = session.id.clone();
    let again = move |_| {
        let painted = painted_anew(&mut control, &id);
        painted.map(|painted| scene_of(painted).1.painting).map_err(io::Error::other)
    };
    let left = attach_to(AttachSpec {
        scene,
        keys_unwanted: (session.mode == Mode::Headless).then(|| words::keys_unwanted(&session)),
        repaint: Some(Box::new(again)),
        companion: Some(companion),
    });
    let left = left.map_err(not_shown)?;
    // It may have become another than the one that was attached to.
    let request = Request::Show { session: session.id.clone() };
    let running = control::connect_running().ok().flatten();
    let now = running.map(|mut control| ask(&mut control, request));
    let session = if let Some(Ok(Response::Session(now))) = now { *now } else { session };
    Ok((session, left))
}

/// Why a session is shown no longer. What the daemon said to it keeps its kind, and with it the exit
/// status.
fn not_shown(fault: io::Error) -> Complaint {
    match fault.downcast::<Complaint>() {
        Ok(complaint) => complaint,
        Err(fault) => Complaint::new(Kind::Failed, format!("attach: {fault}")),
    }
}
