//! Verbs that only look.

use super::act::show as shown;
use super::task::here;
use super::{Out, ask, document_of, say};
use crate::control;
use crate::streams::write_out;
use crate::words;
use glis_client::{Client, Streamed};
use glis_core::plain::plain;
use glis_verbs::{Complaint, documents, documents::Dress, unexpected, whole_characters};
use glis_wire::client::{Request, Response, ScreenView};
use glis_wire::view::{ChoicesView, CostBy, SessionRow};
use serde_json::json;
use std::io::{self, Write as _};

pub(super) fn ls(
    request: Request,
    wanted: impl Fn(&SessionRow) -> bool,
    out: &Out,
) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    let list = ask(&mut control, request)?;
    let Response::Sessions { mut rows, more } = list else { return Err(unexpected()) };
    rows.retain(wanted);
    let mut given_back = None;
    if let Response::Daemon(daemon) = ask(&mut control, Request::DaemonStatus)? {
        given_back = words::given_back(daemon.memory_given_back_bytes);
        let unregistered =
            (!daemon.unregistered.is_empty()).then(|| words::unregistered(&daemon.unregistered));
        let shut = words::gate::shut(&daemon.gate);
        let fault = daemon.config_fault.as_deref().map(words::former_config);
        let limits = words::limits::told(&daemon.limits);
        let day = daemon.day.as_deref().filter(|day| day.is_nearly_used()).map(words::day);
        for told in unregistered.into_iter().chain(fault).chain(shut).chain(limits).chain(day) {
            drop(writeln!(io::stderr(), "{told}"));
        }
    }
    if more > 0 {
        drop(writeln!(io::stderr(), "{}", words::more(more)));
    }
    let lines = || [Some(words::table(&rows)), given_back].into_iter().flatten();
    out.document(&rows, || lines().collect::<Vec<_>>().join("\n"))
}

pub(super) fn show(name: &str, out: &Out) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    let session = shown(&mut control, name)?;
    if let Response::Daemon(daemon) = ask(&mut control, Request::DaemonStatus)? {
        let full = words::limits::full(&daemon.limits).filter(|_| words::limits::waits(&session));
        for told in words::gate::shut(&daemon.gate).into_iter().chain(full) {
            drop(writeln!(io::stderr(), "{told}"));
        }
    }
    out.document(&session, || words::whole(&session))
}

/// A connection for a stream. One that is followed has no end of its own: it ends with its reader.
fn connect(follow: bool) -> Result<Client, Complaint> {
    let control = control::connect()?;
    Ok(if follow { control.for_reader(rustix::stdio::stdout()) } else { control })
}

pub(super) fn log(
    session: String,
    from: Option<u64>,
    follow: bool,
    out: &Out,
) -> Result<(), Complaint> {
    let request = Request::Log { session, follow, from };
    let mut control = connect(follow)?;
    if out.json && !follow {
        return document_of(&mut control, request);
    }
    let told = control.call_seeing(request, |streamed| {
        let Streamed::Words(Response::Entry(entry)) = streamed else { return Ok(()) };
        say(&if out.json { json!(entry).to_string() } else { words::entry(&entry) })
    });
    told.map(drop)
}

pub(super) fn search(wanted: &[String], most: u32, out: &Out) -> Result<(), Complaint> {
    let request = Request::Search { words: wanted.join(" "), most };
    let Response::Hits(hits) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    out.document(&hits, || words::hits(&hits))
}

pub(super) fn cost(since: Option<String>, by: CostBy, out: &Out) -> Result<(), Complaint> {
    let Response::Costs(costs) = ask(&mut control::connect()?, Request::Cost { by, since })? else {
        return Err(unexpected());
    };
    out.document(&costs, || words::costs(&costs))
}

fn choices(request: Request) -> Result<ChoicesView, Complaint> {
    let answer = ask(&mut control::connect()?, request)?;
    if let Response::Choices(choices) = answer { Ok(*choices) } else { Err(unexpected()) }
}

pub(super) fn agents(out: &Out) -> Result<(), Complaint> {
    let choices = choices(Request::Choices { repo: Some(here()?) })?;
    out.document(&choices.agents, || words::agents(&choices))
}

/// Lists the filters, once one was kept or forgotten.
pub(super) fn filters(change: Option<Request>, out: &Out) -> Result<(), Complaint> {
    let filters = choices(change.unwrap_or(Request::Choices { repo: None }))?.filters;
    let none = || "No filter is kept; `glis filters --keep \"shop #auth\"` keeps one.".to_owned();
    out.document(&filters, || if filters.is_empty() { none() } else { plain(&filters.join("\n")) })
}

pub(super) fn screen(
    session: String,
    at: Option<u64>,
    dress: Dress,
    out: &Out,
) -> Result<(), Complaint> {
    let request = Request::Screen { session, at };
    let Response::Screen(screen) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    let document = documents::Screen::of(&screen, dress);
    out.document(&document, || {
        let ScreenView { lines, ansi, .. } = *screen;
        let shown = if dress == Dress::Coloured { ansi } else { lines };
        let last = shown.iter().rposition(|line| !line.is_empty()).map_or(0, |at| at + 1);
        shown.get(..last).unwrap_or_default().join("\n")
    })
}

pub(super) fn output(session: String, from: u64, follow: bool, out: &Out) -> Result<(), Complaint> {
    let request = Request::Output { session, from, follow, most: None };
    let mut control = connect(follow)?;
    if out.json && !follow {
        return document_of(&mut control, request);
    }
    let mut cut = CutText::default();
    control.call_seeing(request, |streamed| match streamed {
        Streamed::Bytes(at, bytes) if out.json => {
            cut.add(at, bytes);
            cut.say(whole_characters(&cut.bytes))
        }
        Streamed::Bytes(_, bytes) => write_out(&bytes),
        Streamed::Words(Response::Cut { oldest }) if !out.json => {
            drop(writeln!(io::stderr(), "glis: output before offset {oldest} was cut"));
            Ok(())
        }
        Streamed::Words(_) | Streamed::Silence(_) => Ok(()),
    })?;
    cut.say(cut.bytes.len())
}

/// Bytes that are to be told as text, in pieces that end between two characters.
#[derive(Default)]
struct CutText {
    at: u64,
    bytes: Vec<u8>,
}

impl CutText {
    fn add(&mut self, at: u64, bytes: Vec<u8>) {
        if self.bytes.is_empty() {
            self.at = at;
        }
        self.bytes.extend(bytes);
    }

    fn say(&mut self, count: usize) -> Result<(), Complaint> {
        if count == 0 {
            return Ok(());
        }
        let rest = self.bytes.split_off(count);
        let told = std::mem::replace(&mut self.bytes, rest);
        let at = self.at;
        self.at += told.len() as u64;
        say(&json!({"offset": at, "text": String::from_utf8_lossy(&told)}).to_string())
    }
}

pub(super) fn events(request: Request) -> Result<(), Complaint> {
    // A line of JSON is what a person gets as well: events are for following and filtering.
    let follow = matches!(request, Request::Events { follow: true, .. });
    connect(follow)?
        .call_seeing(request, |streamed| match streamed {
            Streamed::Words(Response::Event(event)) => say(&event.to_string()),
            Streamed::Words(_) | Streamed::Bytes(..) | Streamed::Silence(_) => Ok(()),
        })
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_told_whole_however_it_arrives() {
        let mut cut = CutText::default();
        cut.add(7, b"a\xe2\x82".to_vec());
        assert_eq!(whole_characters(&cut.bytes), 1);
        cut.add(10, b"\xac".to_vec());
        assert_eq!(whole_characters(&cut.bytes), 4);
        // What can never become a character is not waited for.
        let garbage = CutText { at: 0, bytes: b"a\xff\xfe".to_vec() };
        assert_eq!(whole_characters(&garbage.bytes), 3);
    }
}
