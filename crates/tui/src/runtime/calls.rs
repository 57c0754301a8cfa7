//! Calls, each in a thread of its own: nothing that is asked for holds up the picture.

use super::post::Post;
use super::{Setup, deliver};
use crate::message::{Fetched, Judged, Lead, Msg, Said, Tab, TaskPlace, Told, Wish};
use crate::patch::{self, FilePatch};
use glis_client::labels::Tone;
use glis_client::{Client, Connector, Fault, Quiet, Streamed};
use glis_core::verdict::Verdict;
use glis_screen::{Run, Screen};
use glis_wire::call::Scope;
use glis_wire::client::{Request, Response};
use glis_wire::hold::Size;
use glis_wire::plan::PlanRequest;
use glis_wire::view::{ChoicesView, Entry, FileDiffView, SessionRow, SnapshotView, VerdictView};
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many calls at once are a mistake: of ours, or of a cat on the keyboard.
const CALLS_MAX: usize = 64;
/// As far back as the events of a session are looked for.
const EVENTS_BACK: u64 = 5000;
/// More are not read; more words find fewer.
const HITS_MAX: u32 = 100;
/// As many verdicts of the rules as are read; `glis auto-yes log` has all of them.
const VERDICTS_MAX: usize = 500;
/// As many entries of a conversation as remind of what led to a question.
const LEAD_ENTRIES: usize = 5;
/// They are in so much of its end.
const LEAD_BYTES: u64 = 64 * 1024;
/// So much of the end of a conversation is read at first: some hundreds of entries. More is, once it is looked for.
const END_BYTES: u64 = 256 * 1024;
/// As much output as is played again to look back; `glis output` has all of it.
const PAST_BYTES: u64 = 4 * 1024 * 1024;
/// As many rows of it as are kept.
const PAST_ROWS: usize = 10_000;

pub(super) struct Calls {
    connector: Connector,
    post: Post,
    under_way: Arc<AtomicUsize>,
    /// Names this run of the program in the keys of its calls.
    run: String,
}

impl Calls {
    pub(super) fn new(setup: &Setup, post: Post) -> Self {
        let run = format!("tui-{}-{}", std::process::id(), jiff::Timestamp::now().as_nanosecond());
        Self { connector: setup.connector.clone(), post, under_way: Arc::default(), run }
    }

    /// Makes a call under a key: if the daemon goes away in the middle it is made once more, and what was
    /// done already is not done again.
    pub(super) fn call(&self, ticket: u64, request: Request) {
        let (connector, key) = (self.connector.clone(), format!("{}-{ticket}", self.run));
        let ended = move |result: Result<_, _>| Msg::Ended { ticket, result: result.map(Box::new) };
        self.beside(ended, move || {
            let once = || {
                let mut client = connector.connect(&mut Quiet)?;
                if request.scope() > Scope::Watch {
                    client.name_next(key.clone());
                }
                client.call(request.clone())
            };
            let first = once();
            let lost = matches!(&first, Err(Fault::Lost(_)));
            if lost { once() } else { first }
        });
    }

    /// Starts the daemon. Whoever follows the house finds it.
    pub(super) fn start_daemon(&self) {
        let started = |result: Result<(), Told>| result.map_or_else(Msg::Failed, |()| Msg::Time);
        let connector = self.connector.clone();
        self.beside(started, move || connector.connect(&mut Quiet).map(drop));
    }

    pub(super) fn fetch(
        &self,
        session: String,
        (tab, said): (Tab, Wish),
        last_seq: u64,
        task: Option<TaskPlace>,
    ) {
        let of = session.clone();
        let fetched = move |result| Msg::Fetched { session, result };
        self.ask(fetched, move |client| match tab {
            Tab::Terminal | Tab::Conversation => conversation(client, &of, said),
            Tab::Diff => diff(client, of),
            Tab::Snapshots => Ok(Fetched::Snapshots(snapshots(client, of, None)?)),
            Tab::Runs => runs(client, task),
            Tab::Events => events(client, &of, last_seq),
        });
    }

    pub(super) fn fetch_past(&self, session: String, upto: u64, size: Size) {
        let of = session.clone();
        let fetched = move |result| Msg::Past { session, result };
        self.ask(fetched, move |client| past(client, of, upto, size));
    }

    /// Counts the files that a session has changed, as of its last snapshot. What cannot be counted is not
    /// told.
    pub(super) fn count_changes(&self, session: String) {
        let of = session.clone();
        let counted = move |result: Result<Vec<SnapshotView>, Told>| {
            let last = result.ok().and_then(|all| all.last().map(|snapshot| snapshot.changed));
            last.map_or(Msg::Time, |files| Msg::Changes { session, files })
        };
        self.ask(counted, move |client| snapshots(client, of, Some(1)));
    }

    /// Finds out where the work of a session goes. What has no such branch is refused where it is merged.
    pub(super) fn find_base(&self, session: String) {
        let of = session.clone();
        let found = move |branch: Result<Option<String>, Told>| {
            let branch = branch.ok().flatten();
            branch.map_or(Msg::Time, |branch| Msg::Base { session, branch })
        };
        self.ask(found, move |client| {
            let answer = client.call(Request::glance(&of))?;
            let Response::Session(session) = answer else { return Err(Fault::unfit()) };
            Ok(session.base_branch)
        });
    }

    /// Notes that a person has seen it. What cannot be noted is seen with the next event.
    pub(super) fn look_at(&self, session: String) {
        let looked =
            |result: Result<Box<SessionRow>, Told>| result.map_or(Msg::Time, Msg::LookedAt);
        self.ask(looked, |client| {
            let answer = client.call(Request::Show { session })?;
            let Response::Session(session) = answer else { return Err(Fault::unfit()) };
            Ok(Box::new(session.row))
        });
    }

    pub(super) fn search(&self, words: String) {
        let request = Request::Search { words: words.clone(), most: HITS_MAX };
        let found = move |result| Msg::Found { words, result };
        self.ask(found, |client| {
            let Response::Hits(hits) = client.call(request)? else { return Err(Fault::unfit()) };
            Ok(hits)
        });
    }

    /// Finds out what led to a question. What cannot be found is left out: the question says what it asks by itself.
    pub(super) fn find_lead(&self, session: String, request: String) {
        let of = session.clone();
        let led = move |found: Result<(Vec<Entry>, Vec<String>), Told>| {
            let mut lead = Lead::of(&session, &request);
            (lead.said, lead.screen) = found.unwrap_or_default();
            Msg::Led(lead)
        };
        self.ask(led, |client| lead(client, of));
    }

    pub(super) fn trash(&self) {
        self.ask(Msg::Trash, |client| {
            let answer = client.call(Request::Trash)?;
            if let Response::Trash(removed) = answer { Ok(removed) } else { Err(Fault::unfit()) }
        });
    }

    pub(super) fn judged(&self) {
        self.ask(Msg::Judged, verdicts);
    }

    pub(super) fn read_plan(&self, repo: String, file: String) {
        let named = Some(file.clone()).filter(|file| !file.is_empty());
        let request = Request::Plan(PlanRequest::Read { place: repo.clone(), file: named });
        let found = move |result| Msg::Plan { repo, file, result };
        self.ask(found, |client| {
            let answer = client.call(request)?;
            if let Response::PlanFile(file) = answer { Ok(file) } else { Err(Fault::unfit()) }
        });
    }

    /// Finds out which agents and filters there are. Where that fails, none is marked.
    pub(super) fn find_choices(&self) {
        let found = |found: Result<_, Told>| found.map_or(Msg::Time, Msg::Choices);
        self.ask(found, |client| choices(client, Request::Choices { repo: None }));
    }

    pub(super) fn keep_filter(&self, words: String, keep: bool) {
        let kept = |kept: Result<_, Told>| kept.map_or_else(Msg::Failed, Msg::Choices);
        self.ask(kept, move |client| choices(client, Request::Filter { words, keep }));
    }

    /// Sees how far plans are. A repository that cannot be read has none.
    pub(super) fn look_at_plans(&self, repos: BTreeSet<String>) {
        self.ask(Msg::Plans, |client| {
            let (mut plans, mut runs) = (Vec::new(), Vec::new());
            for place in repos {
                let list = PlanRequest::List { place: place.clone() };
                if let Ok(Response::Plans(found)) = client.call(Request::Plan(list)) {
                    plans.extend(found);
                }
                let of_all = PlanRequest::Runs { place, task: None };
                if let Ok(Response::Runs(found)) = client.call(Request::Plan(of_all)) {
                    runs.extend(found);
                }
            }
            Ok((plans, runs))
        });
    }

    /// Asks the daemon something, over a connection of its own.
    fn ask<T: Send + 'static>(
        &self,
        msg: impl FnOnce(Result<T, Told>) -> Msg + Send + 'static,
        question: impl FnOnce(&mut Client) -> Result<T, Fault> + Send + 'static,
    ) {
        let connector = self.connector.clone();
        self.beside(msg, move || question(&mut connector.look()?));
    }

    /// Does something in a thread, and delivers what comes of it.
    fn beside<T: Send + 'static>(
        &self,
        msg: impl FnOnce(Result<T, Told>) -> Msg + Send + 'static,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) {
        let (post, under_way) = (self.post.clone(), Arc::clone(&self.under_way));
        let too_many = under_way.fetch_add(1, Ordering::Relaxed) >= CALLS_MAX;
        let serve = move || {
            let result = if too_many { Err(too_much()) } else { work().map_err(Told::from) };
            under_way.fetch_sub(1, Ordering::Relaxed);
            deliver(&post, msg(result));
        };
        // Without a thread there is nothing to be told by; the spinner stays, and that is true.
        drop(std::thread::Builder::new().name("call".to_owned()).spawn(serve));
    }
}

fn too_much() -> Told {
    let message = format!("{CALLS_MAX} things are under way already; this was not begun");
    Told { message, hint: Some("try again when some have ended".to_owned()) }
}

/// What is streamed to answer a request, as far as it is meant.
fn streamed<T>(
    client: &mut Client,
    request: Request,
    meant: impl Fn(Response) -> Option<T>,
) -> Result<Vec<T>, Fault> {
    let mut found = Vec::new();
    client.call_seeing(request, |streamed| {
        if let Streamed::Words(words) = streamed {
            found.extend(meant(words));
        }
        Ok::<(), Fault>(())
    })?;
    Ok(found)
}

/// A part of a conversation. Of its end so much is read as is there at once, however long it is.
fn conversation(client: &mut Client, session: &str, wish: Wish) -> Result<Fetched, Fault> {
    let from = match wish {
        Wish::From(from) => from,
        Wish::End => read_on(client, session, u64::MAX)?.next.saturating_sub(END_BYTES),
    };
    Ok(Fetched::Conversation(read_on(client, session, from)?))
}

fn read_on(client: &mut Client, session: &str, from: u64) -> Result<Said, Fault> {
    let request = Request::Log { session: session.to_owned(), follow: false, from: Some(from) };
    let mut entries = Vec::new();
    let answer = client.call_seeing(request, |streamed| {
        if let Streamed::Words(Response::Entry(entry)) = streamed {
            entries.push(entry);
        }
        Ok::<(), Fault>(())
    })?;
    let Response::Read { next } = answer else { return Err(Fault::unfit()) };
    Ok(Said { entries, from, next })
}

/// The last that was said, else the last rows of a terminal.
fn lead(client: &mut Client, session: String) -> Result<(Vec<Entry>, Vec<String>), Fault> {
    let end = read_on(client, &session, u64::MAX)?.next;
    let mut said = read_on(client, &session, end.saturating_sub(LEAD_BYTES))?.entries;
    if !said.is_empty() {
        return Ok((said.split_off(said.len().saturating_sub(LEAD_ENTRIES)), Vec::new()));
    }
    let answer = client.call(Request::Screen { session, at: None })?;
    let Response::Screen(screen) = answer else { return Err(Fault::unfit()) };
    Ok((said, screen.lines.into_iter().filter(|row| !row.is_empty()).collect()))
}

/// Plays the end of the output again, in a terminal that keeps what scrolls away.
fn past(
    client: &mut Client,
    session: String,
    upto: u64,
    size: Size,
) -> Result<Vec<Vec<Run>>, Fault> {
    let from = upto.saturating_sub(PAST_BYTES);
    let mut screen = Screen::with_past(size, PAST_ROWS);
    let mut begun = from == 0;
    client.call_seeing(
        Request::Output { session, from, follow: false, most: None },
        |streamed| {
            let Streamed::Bytes(at, part) = streamed else { return Ok::<(), Fault>(()) };
            // In the middle of a sequence nothing can be shown rightly before the next line.
            let skipped =
                if begun { 0 } else { part.iter().position(|b| *b == b'\n').unwrap_or(0) };
            begun = true;
            // What came after the picture that is looked back from is left out.
            let room =
                usize::try_from(upto.saturating_sub(at)).unwrap_or(usize::MAX).min(part.len());
            screen.feed(part.get(skipped..room).unwrap_or_default());
            Ok(())
        },
    )?;
    Ok(screen.rows_with_past())
}

fn diff(client: &mut Client, session: String) -> Result<Fetched, Fault> {
    let mut patch = Vec::new();
    let request = Request::Diff { session, since: None, patch: true };
    let answer = client.call_seeing(request, |streamed| {
        if let Streamed::Bytes(_, part) = streamed {
            patch.extend(part);
        }
        Ok::<(), Fault>(())
    })?;
    let Response::Diff { files, .. } = answer else { return Err(Fault::unfit()) };
    let mut changed = patch::read(&String::from_utf8_lossy(&patch));
    // What differs in no line is told all the same.
    for FileDiffView { path, added, removed } in files {
        if !changed.iter().any(|file| file.path == path) {
            let count =
                |lines: Option<u64>| lines.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
            let (added, removed) = (count(added), count(removed));
            changed.push(FilePatch { path, added, removed, ..FilePatch::default() });
        }
    }
    Ok(Fetched::Diff(changed))
}

fn snapshots(
    client: &mut Client,
    session: String,
    last: Option<u32>,
) -> Result<Vec<SnapshotView>, Fault> {
    let answer = client.call(Request::Snapshots { session, last })?;
    if let Response::Snapshots(snapshots) = answer { Ok(snapshots) } else { Err(Fault::unfit()) }
}

fn verdicts(client: &mut Client) -> Result<Vec<Judged>, Fault> {
    let mut judged = VecDeque::new();
    let request = Request::Verdicts { session: None, fresh: false };
    client.call_seeing(request, |streamed| {
        if let Streamed::Words(Response::Verdict(one)) = streamed {
            // Of very many the newest are kept.
            judged.truncate(VERDICTS_MAX - 1);
            judged.push_front(told(*one));
        }
        Ok::<(), Fault>(())
    })?;
    Ok(judged.into())
}

fn told(one: VerdictView) -> Judged {
    let VerdictView { at, session, name, text, verdict, .. } = one;
    let tone = match &verdict {
        Verdict::Accept { .. } => Tone::Good,
        Verdict::Reject { .. } => Tone::Bad,
        Verdict::Manual { .. } => Tone::Attention,
    };
    Judged { at, session, name, text, says: glis_verbs::verdict::verdict(&verdict), tone }
}

fn runs(client: &mut Client, task: Option<TaskPlace>) -> Result<Fetched, Fault> {
    let Some(TaskPlace { repo, task }) = task else { return Ok(Fetched::Runs(Vec::new())) };
    let request = Request::Plan(PlanRequest::Runs { place: repo, task });
    let Response::Runs(runs) = client.call(request)? else { return Err(Fault::unfit()) };
    Ok(Fetched::Runs(runs))
}

fn events(client: &mut Client, session: &str, last_seq: u64) -> Result<Fetched, Fault> {
    let from = last_seq.saturating_sub(EVENTS_BACK).max(1);
    let own = |words| match words {
        Response::Event(event) => Some(event)
            .filter(|event: &Value| event.get("session").and_then(Value::as_str) == Some(session)),
        _ => None,
    };
    let events = streamed(client, Request::Events { from, follow: false }, own)?;
    Ok(Fetched::Events(events))
}

fn choices(client: &mut Client, request: Request) -> Result<Box<ChoicesView>, Fault> {
    let answer = client.call(request)?;
    if let Response::Choices(choices) = answer { Ok(choices) } else { Err(Fault::unfit()) }
}
