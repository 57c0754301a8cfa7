//! The list as lines of text, printed again when it changes: for screen readers and slow lines.

use super::{Out, say, unexpected};
use crate::complaint::Complaint;
use crate::control;
use crate::words::plain;
use glis_client::{News, Quiet, Subscription};
use glis_core::plain::in_sight;
use glis_wire::call::{Face, Scope};
use glis_wire::client::{Request, Response};
use glis_wire::view::SessionView;
use serde_json::json;

/// Prints the list now, and after every event that changes a line of it, until it is interrupted.
pub(super) fn follow(out: &Out) -> Result<(), Complaint> {
    let connector = control::connector(Face::Tui, Scope::Watch)?;
    let mut shown = None;
    loop {
        let mut client = connector.connect(&mut Quiet)?;
        let status = client.call(Request::DaemonStatus)?;
        let Response::Daemon(daemon) = status else { return Err(unexpected()) };
        print(&mut client, &mut shown, out)?;
        let from = daemon.last_seq + 1;
        let mut events = Subscription::new(connector.clone(), Some(daemon.log_id), from);
        while let News::Event { .. } = events.next()? {
            if let Err(fault) = print(&mut client, &mut shown, out) {
                // The daemon may have been replaced meanwhile.
                client = connector.connect(&mut Quiet).map_err(|_| fault)?;
                print(&mut client, &mut shown, out)?;
            }
        }
    }
}

fn print(
    client: &mut glis_client::Client,
    shown: &mut Option<String>,
    out: &Out,
) -> Result<(), Complaint> {
    let list = client.call(Request::List { all: false })?;
    let Response::Sessions(sessions) = list else { return Err(unexpected()) };
    let lines = if sessions.is_empty() {
        "No sessions.".to_owned()
    } else {
        sessions.iter().map(line).collect::<Vec<_>>().join("\n")
    };
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
fn line(session: &SessionView) -> String {
    let SessionView { name, status, agent, queued, .. } = session;
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
