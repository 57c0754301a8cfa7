//! The list as lines of text, printed again when it changes: for screen readers and slow lines.

use super::{Out, say};
use crate::control;
use crate::words::{more, plain};
use glis_client::{Client, Fault, News, Quiet, Subscription};
use glis_core::plain::in_sight;
use glis_core::{Refusal, Status};
use glis_verbs::{Complaint, unexpected};
use glis_wire::call::{Face, Scope};
use glis_wire::client::{Request, Response};
use glis_wire::view::SessionRow;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// Prints the list now, and after every event that changes a line of it, until it is interrupted.
pub(super) fn follow(out: &Out) -> Result<(), Complaint> {
    let connector = control::connector(Face::Tui, Scope::Watch)?;
    let mut shown = None;
    loop {
        let mut client = connector.connect(&mut Quiet)?;
        let status = client.call(Request::DaemonStatus)?;
        let Response::Daemon(daemon) = status else { return Err(unexpected()) };
        let list = client.call(Request::List { all: false })?;
        let Response::Sessions { mut rows, more } = list else { return Err(unexpected()) };
        print(&mut rows, more, &mut shown, out)?;
        let from = daemon.last_seq + 1;
        let mut events = Subscription::new(connector.clone(), Some(daemon.log_id), from);
        while let News::Event { event, .. } = events.next()? {
            let Some(id) = event.get("session").and_then(Value::as_str) else { continue };
            if let Err(fault) = look(&mut client, id, &mut rows) {
                // The daemon may have been replaced meanwhile.
                client = connector.connect(&mut Quiet).map_err(|_| fault)?;
                look(&mut client, id, &mut rows)?;
            }
            print(&mut rows, more, &mut shown, out)?;
        }
    }
}

/// Looks again at a session that an event was about.
fn look(client: &mut Client, id: &str, rows: &mut Vec<SessionRow>) -> Result<(), Fault> {
    let seen = match client.call(Request::glance(id)) {
        Ok(Response::Session(session)) => Some(session.row),
        Err(Fault::Refused(Refusal::NoSuchSession { .. })) => None,
        Ok(_) => return Err(Fault::unfit()),
        Err(fault) => return Err(fault),
    };
    rows.retain(|row| row.id != id);
    rows.extend(seen.filter(|row| row.status != Status::Archived));
    Ok(())
}

fn print(
    rows: &mut [SessionRow],
    left: usize,
    shown: &mut Option<String>,
    out: &Out,
) -> Result<(), Complaint> {
    rows.sort_by(|a, b| Reverse(&a.last_active_at).cmp(&Reverse(&b.last_active_at)));
    let lines = rows.iter().map(line).chain((left > 0).then(|| more(left)));
    let lines = lines.collect::<Vec<_>>().join("\n");
    let lines = if lines.is_empty() { "No sessions.".to_owned() } else { lines };
    if shown.as_ref() != Some(&lines) {
        out.document(&json!({"lines": lines.lines().collect::<Vec<_>>()}), || lines.clone())?;
        if !out.json {
            // An empty line parts one list from the next.
            say("\u{20}")?;
        }
        *shown = Some(lines);
    }
    Ok(())
}

/// Words only: no signs that a screen reader would spell.
fn line(session: &SessionRow) -> String {
    let SessionRow { name, status, agent, queued, .. } = session;
    let mut line = format!("{name}: {}, {agent}", status.word());
    if let Some(ask) = &session.waiting_for {
        line = format!("{line}, asks: {}", in_sight(&ask.text));
    } else if let Some(why) = &session.failure {
        line = format!("{line}, {why}");
    }
    if *queued > 0 {
        line = format!("{line}, {queued} queued");
    }
    plain(&line)
}
