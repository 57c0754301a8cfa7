//! Leaving a pause that still waits: the daemon goes on with it, and whoever leaves is told so.

use super::Out;
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::tty::Ending;
use glis_core::Status;
use glis_wire::client::{Request, Response};
use std::io::Write as _;

/// From now on a signal that ends us first says what stays behind of these pauses.
#[expect(clippy::exit, reason = "the other threads wait for a daemon that takes its time")]
pub(super) fn watch(names: &[String], out: &Out) {
    // Without it we end as any program does, and only the words are missing.
    let Ok(ending) = Ending::catch() else { return };
    let (names, out) = (names.to_vec(), Out { json: out.json });
    let told = move || {
        let signal = ending.wait();
        // Who presses again does not want to wait for words.
        drop(ending);
        // The line that told what was waited for.
        drop(write!(std::io::stderr().lock(), "\r\x1b[K"));
        out.complain(&left_behind(&names));
        std::process::exit(128 + i32::from(signal))
    };
    drop(std::thread::Builder::new().name("parting".to_owned()).spawn(told));
}

fn left_behind(names: &[String]) -> Complaint {
    match pending(names) {
        None => Complaint::new(Kind::Interrupted, "interrupted; a pause that was begun goes on")
            .hint("`glis ls` tells what became of it"),
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

/// Which of them are being paused; `None` if nobody can say.
fn pending(names: &[String]) -> Option<Vec<String>> {
    let mut control = control::connect_running().ok()??;
    let mut pending = Vec::new();
    for name in names {
        // One that is gone meanwhile is not pending.
        let asked = control.call(Request::Show { session: name.clone() });
        if let Ok(Response::Session(session)) = asked
            && session.status == Status::Pausing
        {
            pending.push(session.name);
        }
    }
    Some(pending)
}
