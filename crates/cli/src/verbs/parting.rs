//! Leaving a pause that still waits: the daemon goes on with it, and the user is told so.

use super::Out;
use crate::control;
use crate::progress;
use crate::tty::Ending;
use glis_core::Status;
use glis_verbs::{Complaint, Kind};
use glis_wire::client::{Request, Response, Which};

/// From now on a signal that ends us first says what stays behind of these pauses.
#[expect(clippy::exit, reason = "the other threads wait for a daemon that takes its time")]
pub(super) fn watch(which: &Which, out: &Out) {
    // Without it we end as any program does, and only the words are missing.
    let Ok(ending) = Ending::catch() else { return };
    let (which, out) = (which.clone(), Out { json: out.json });
    let told = move || {
        let signal = ending.wait();
        // Who presses again does not want to wait for words.
        drop(ending);
        progress::clear();
        out.complain(&left_behind(&which));
        std::process::exit(128 + i32::from(signal))
    };
    drop(std::thread::Builder::new().name("parting".to_owned()).spawn(told));
}

fn left_behind(which: &Which) -> Complaint {
    match pending(which) {
        None => Complaint::new(Kind::Interrupted, "interrupted; a pause that was begun goes on")
            .hint("`glis ls` shows what became of it"),
        Some(pending) if *which == Which::All && !pending.is_empty() => Complaint::new(
            Kind::Interrupted,
            format!("interrupted; everything is paused as soon as `{}` are", pending.join("`, `")),
        )
        .hint("`glis resume --all` calls it off"),
        Some(pending) => match pending.as_slice() {
            [] => Complaint::new(Kind::Interrupted, "interrupted; no pause is pending"),
            [only] => Complaint::new(
                Kind::Interrupted,
                format!("interrupted; the pause of `{only}` stays pending"),
            )
            .hint(format!("`glis pause {only} --cancel` calls it off")),
            several => {
                let listed = several.join("`, `");
                let text = format!("interrupted; the pauses of `{listed}` stay pending");
                Complaint::new(Kind::Interrupted, text)
                    .hint(format!("`glis pause {} --cancel` calls them off", several.join(" ")))
            }
        },
    }
}

/// Which of them are being paused; `None` if the daemon cannot say.
fn pending(which: &Which) -> Option<Vec<String>> {
    let mut control = control::connect_running().ok()??;
    let sessions = match which {
        Which::All | Which::Interrupted => {
            let listed = control.call(Request::List { all: false }).ok()?;
            let Response::Sessions { rows, .. } = listed else { return None };
            rows
        }
        Which::Named(names) => {
            let mut show = |name: &String| control.call(Request::Show { session: name.clone() });
            // One that is gone meanwhile is not pending.
            let shown = names.iter().filter_map(|name| match show(name) {
                Ok(Response::Session(session)) => Some(session.row),
                Ok(_) | Err(_) => None,
            });
            shown.collect()
        }
    };
    let pending = sessions.into_iter().filter(|session| session.status == Status::Pausing);
    Some(pending.map(|session| session.name).collect())
}
