//! Looking for what is wrong, and saying how to mend it.

use crate::controller::Look;
use crate::serve::Door;
use glis_core::session::{Phase, Rest, Session};
use glis_wire::client::Answer;
use glis_wire::hold::place;
use glis_wire::view::{Finding, Health};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Below this, agents and snapshots begin to fail.
const DISK_BYTES_LOW: u64 = 512 * 1024 * 1024;

pub(crate) async fn examine(door: &Door) -> Answer {
    let sessions = door.hands.line.look(Look::Living).await;
    let known = door.hands.line.look(Look::All).await.into_iter().map(|s| s.id.0).collect();
    let home = door.hands.home.clone();
    let findings = tokio::task::spawn_blocking(move || {
        let mut findings = vec![git(), private(&home.state), disk(&home.state), log(&home.state)];
        findings.extend(sessions.iter().flat_map(|session| {
            let dir = home.session(&session.id.0);
            let found = [worktree(session), holder(session, &dir)];
            found.into_iter().chain(conversation(session, &dir)).chain(record(session))
        }));
        findings.extend(strangers(&crate::sessions_folder(&home), &known));
        findings
    });
    Answer::Findings(findings.await.unwrap_or_default())
}

fn finding(subject: &str, health: Health, message: String, hint: Option<&str>) -> Finding {
    Finding { subject: subject.to_owned(), health, message, hint: hint.map(ToOwned::to_owned) }
}

fn git() -> Finding {
    match glis_snapshot::git::run(Path::new("/"), &["--version"]) {
        Ok(version) => finding("git", Health::Good, version, None),
        Err(fault) => finding(
            "git",
            Health::Bad,
            fault.to_string(),
            Some("install git; every session but those with --in-place needs it"),
        ),
    }
}

fn private(state: &Path) -> Finding {
    let mode = state.metadata().map(|facts| facts.permissions().mode() & 0o777);
    match mode {
        Ok(0o700) => finding("home", Health::Good, state.display().to_string(), None),
        Ok(mode) => finding(
            "home",
            Health::Warning,
            format!("{} has mode {mode:o}", state.display()),
            Some("others can look into it: chmod 700 it"),
        ),
        Err(fault) => finding(
            "home",
            Health::Bad,
            format!("{}: {fault}", state.display()),
            Some("the state folder must be readable and writable"),
        ),
    }
}

fn disk(state: &Path) -> Finding {
    match rustix::fs::statvfs(state) {
        Ok(facts) => {
            let free = facts.f_bavail.saturating_mul(facts.f_frsize);
            let message = format!("{} MB free", free / 1_000_000);
            if free < DISK_BYTES_LOW {
                finding(
                    "disk",
                    Health::Warning,
                    message,
                    Some("free some space before it runs out"),
                )
            } else {
                finding("disk", Health::Good, message, None)
            }
        }
        Err(fault) => finding("disk", Health::Warning, fault.to_string(), None),
    }
}

/// A damaged log was salvaged at the start; the damaged file is still there to be looked at.
fn log(state: &Path) -> Finding {
    let kept = std::fs::read_dir(state).ok().and_then(|entries| {
        let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.find(|name| name.contains(".db.damaged-") && !name.ends_with("-wal"))
    });
    match kept {
        Some(name) => finding(
            "event log",
            Health::Warning,
            format!("a damaged log was found earlier and kept as {name}"),
            Some("what could be read was carried over; look at it, then remove it"),
        ),
        None => finding("event log", Health::Good, "sound".to_owned(), None),
    }
}

/// A salvaged log may lack what it should say about a session.
fn record(session: &Session) -> Option<Finding> {
    let damage = session.damage.as_ref()?;
    Some(finding(
        &format!("session {}", session.name),
        Health::Warning,
        format!("up to {} of its records were lost; damaged log {}", damage.lost, damage.kept),
        Some("look at its files and its conversation, then `glis acknowledge` it"),
    ))
}

fn worktree(session: &Session) -> Finding {
    let subject = format!("session {}", session.name);
    match &session.worktree {
        Some(path) if Path::new(path).is_dir() => {
            finding(&subject, Health::Good, format!("worktree {path}"), None)
        }
        Some(path) => finding(
            &subject,
            Health::Bad,
            format!("its worktree {path} is gone"),
            Some("its branch still has every commit: git worktree add brings it back"),
        ),
        None => finding(&subject, Health::Good, "no worktree yet".to_owned(), None),
    }
}

fn holder(session: &Session, dir: &Path) -> Finding {
    let subject = format!("session {}", session.name);
    let socket = dir.join(place::SOCKET).exists();
    match (&session.phase, session.process.as_ref()) {
        (Phase::Rest(Rest::Interrupted), _) => finding(
            &subject,
            Health::Warning,
            "its process died uncleanly".to_owned(),
            Some("glis resume brings it back"),
        ),
        (_, Some(process)) if socket => {
            finding(&subject, Health::Good, format!("process {} is held", process.pid), None)
        }
        (_, Some(process)) => finding(
            &subject,
            Health::Bad,
            format!("process {} has no holder", process.pid),
            Some("glis daemon stop; the next command looks for it again"),
        ),
        (_, None) => finding(&subject, Health::Good, "no process, none expected".to_owned(), None),
    }
}

/// A conversation with lines that cannot be read: what they said is lost, the rest is not.
fn conversation(session: &Session, dir: &Path) -> Option<Finding> {
    let subject = format!("session {}", session.name);
    let (message, hint) = match crate::conversation::damaged_lines(dir) {
        Ok(0) => return None,
        Ok(count) => (format!("{count} damaged lines in its conversation"), "they are left out"),
        Err(fault) => (format!("its conversation: {fault}"), "it must be a readable file"),
    };
    let hint = format!("{hint}: {}", crate::conversation::file_of(dir).display());
    Some(finding(&subject, Health::Warning, message, Some(&hint)))
}

/// Folders of sessions that the log does not know: it lost them, or is another one.
fn strangers(folder: &Path, known: &BTreeSet<String>) -> Vec<Finding> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
    let strange = paths.filter(|path| {
        path.file_name().is_none_or(|name| !known.contains(name.to_string_lossy().as_ref()))
    });
    let told = strange.map(|path| {
        let runs = crate::tend::is_locked(&path);
        let (health, what) =
            if runs { (Health::Bad, ", and its agent runs") } else { (Health::Warning, "") };
        let message = format!("the event log does not know {}{what}", path.display());
        let hint = "it was lost from the log: look for a log that was moved or kept aside";
        finding("sessions", health, message, Some(hint))
    });
    told.collect()
}
