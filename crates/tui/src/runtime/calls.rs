//! Calls, each in a thread of its own: nothing that is asked for holds up the picture.

use super::post::Post;
use super::{Setup, deliver};
use crate::message::{Fetched, Judged, Msg, Tab, TaskPlace, Told};
use glis_client::labels::Tone;
use glis_client::{Client, Connector, Fault, Quiet, Streamed};
use glis_core::verdict::Verdict;
use glis_screen::{Run, Screen};
use glis_wire::call::Scope;
use glis_wire::client::{Request, Response};
use glis_wire::hold::Size;
use glis_wire::plan::PlanRequest;
use glis_wire::view::VerdictView;
use serde_json::Value;
use std::collections::VecDeque;
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
/// As much output as is played again to look back; `glis output` has all of it.
const PAST_BYTES: u64 = 4 * 1024 * 1024;
/// As many rows of it as are kept.
const PAST_ROWS: usize = 10_000;

/// Makes calls.
pub(super) struct Calls {
    connector: Connector,
    explain: fn(Fault) -> Told,
    explain_verdict: fn(&Verdict) -> String,
    post: Post,
    under_way: Arc<AtomicUsize>,
    /// Names this run of the program in the keys of its calls.
    run: String,
}

impl Calls {
    pub(super) fn new(setup: &Setup, post: Post) -> Self {
        let run = format!("tui-{}-{}", std::process::id(), jiff::Timestamp::now().as_nanosecond());
        Self {
            connector: setup.connector.clone(),
            explain: setup.explain,
            explain_verdict: setup.explain_verdict,
            post,
            under_way: Arc::default(),
            run,
        }
    }

    /// Makes a call under a key: if the daemon goes away in the middle it is made once more, and what was
    /// done already is not done again.
    pub(super) fn call(&self, ticket: u64, request: Request) {
        let (connector, explain, key) =
            (self.connector.clone(), self.explain, format!("{}-{ticket}", self.run));
        let ended = move |result| Msg::Ended { ticket, result };
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
            let answer = if lost { once() } else { first };
            answer.map(Box::new).map_err(explain)
        });
    }

    /// Starts the daemon. Whoever follows the house finds it.
    pub(super) fn start_daemon(&self) {
        let (connector, explain) = (self.connector.clone(), self.explain);
        let started = |result: Result<(), Told>| result.map_or_else(Msg::Failed, |()| Msg::Time);
        self.beside(started, move || connector.connect(&mut Quiet).map(drop).map_err(explain));
    }

    /// Gets what a view shows.
    pub(super) fn fetch(&self, session: String, tab: Tab, last_seq: u64, task: Option<TaskPlace>) {
        let (connector, explain, of) = (self.connector.clone(), self.explain, session.clone());
        let fetched = move |result| Msg::Fetched { session, result };
        self.beside(fetched, move || {
            let mut client = connector.connect(&mut Quiet).map_err(explain)?;
            let fetched = match tab {
                Tab::Terminal | Tab::Conversation => conversation(&mut client, of),
                Tab::Diff => diff(&mut client, of),
                Tab::Snapshots => snapshots(&mut client, of),
                Tab::Runs => runs(&mut client, task),
                Tab::Events => events(&mut client, &of, last_seq),
            };
            fetched.map_err(explain)
        });
    }

    /// Gets what has scrolled out of a terminal before this offset.
    pub(super) fn fetch_past(&self, session: String, upto: u64, size: Size) {
        let (connector, explain, of) = (self.connector.clone(), self.explain, session.clone());
        let fetched = move |result| Msg::Past { session, result };
        self.beside(fetched, move || {
            let mut client = connector.connect(&mut Quiet).map_err(explain)?;
            past(&mut client, of, upto, size).map_err(explain)
        });
    }

    /// Counts the files that a session has changed, as of its last snapshot. What cannot be counted is not
    /// told.
    pub(super) fn count_changes(&self, session: String) {
        let (connector, explain, of) = (self.connector.clone(), self.explain, session.clone());
        let counted = move |result: Result<Option<usize>, Told>| match result {
            Ok(Some(files)) => Msg::Changes { session, files },
            Ok(None) | Err(_) => Msg::Time,
        };
        self.beside(counted, move || {
            let mut client = connector.connect(&mut Quiet).map_err(explain)?;
            let request = Request::Snapshots { session: of, last: Some(1) };
            let answer = client.call(request).map_err(explain)?;
            let Response::Snapshots(all) = answer else { return Ok(None) };
            Ok(all.last().map(|snapshot| snapshot.changed))
        });
    }

    /// Looks for words in all conversations.
    pub(super) fn search(&self, words: String) {
        let (connector, explain, wanted) = (self.connector.clone(), self.explain, words.clone());
        let found = move |result| Msg::Found { words, result };
        self.beside(found, move || {
            let mut client = connector.connect(&mut Quiet).map_err(explain)?;
            let request = Request::Search { words: wanted, most: HITS_MAX };
            let answer = client.call(request).map_err(explain)?;
            let Response::Hits(hits) = answer else { return Err(explain(Fault::unfit())) };
            Ok(hits)
        });
    }

    /// Gets the list of what was removed.
    pub(super) fn trash(&self) {
        let (connector, explain) = (self.connector.clone(), self.explain);
        self.beside(Msg::Trash, move || {
            let mut client = connector.connect(&mut Quiet).map_err(explain)?;
            let answer = client.call(Request::Trash).map_err(explain)?;
            let Response::Trash(removed) = answer else { return Err(explain(Fault::unfit())) };
            Ok(removed)
        });
    }

    /// Gets what the rules have said, newest first.
    pub(super) fn judged(&self) {
        let (connector, explain, words) =
            (self.connector.clone(), self.explain, self.explain_verdict);
        self.beside(Msg::Judged, move || {
            let mut client = connector.connect(&mut Quiet).map_err(explain)?;
            verdicts(&mut client, words).map_err(explain)
        });
    }

    /// Has a plan read.
    pub(super) fn read_plan(&self, repo: String, file: String) {
        let (connector, explain) = (self.connector.clone(), self.explain);
        let named = Some(file.clone()).filter(|file| !file.is_empty());
        let found = move |result| Msg::Plan { file, result };
        self.beside(found, move || {
            let mut client = connector.connect(&mut Quiet).map_err(explain)?;
            let request = Request::Plan(PlanRequest::Read { place: repo, file: named });
            let answer = client.call(request).map_err(explain)?;
            let Response::PlanFile(file) = answer else { return Err(explain(Fault::unfit())) };
            Ok(file)
        });
    }

    /// Does something in a thread, and delivers what comes of it.
    fn beside<T: Send + 'static>(
        &self,
        msg: impl FnOnce(Result<T, Told>) -> Msg + Send + 'static,
        work: impl FnOnce() -> Result<T, Told> + Send + 'static,
    ) {
        let (post, under_way) = (self.post.clone(), Arc::clone(&self.under_way));
        let too_many = under_way.fetch_add(1, Ordering::Relaxed) >= CALLS_MAX;
        let serve = move || {
            let result = if too_many { Err(too_much()) } else { work() };
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

fn conversation(client: &mut Client, session: String) -> Result<Fetched, Fault> {
    let mut entries = Vec::new();
    client.call_seeing(Request::Log { session, follow: false }, |streamed| {
        if let Streamed::Words(Response::Entry(entry)) = streamed {
            entries.push(entry);
        }
        Ok::<(), Fault>(())
    })?;
    Ok(Fetched::Conversation(entries))
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
    Ok(Fetched::Diff { files, patch: String::from_utf8_lossy(&patch).into_owned() })
}

fn snapshots(client: &mut Client, session: String) -> Result<Fetched, Fault> {
    let answer = client.call(Request::Snapshots { session, last: None })?;
    let Response::Snapshots(snapshots) = answer else { return Err(Fault::unfit()) };
    Ok(Fetched::Snapshots(snapshots))
}

fn verdicts(client: &mut Client, words: fn(&Verdict) -> String) -> Result<Vec<Judged>, Fault> {
    let mut judged = VecDeque::new();
    let request = Request::Verdicts { session: None, fresh: false };
    client.call_seeing(request, |streamed| {
        if let Streamed::Words(Response::Verdict(one)) = streamed {
            // Of very many the newest are kept.
            judged.truncate(VERDICTS_MAX - 1);
            judged.push_front(told(*one, words));
        }
        Ok::<(), Fault>(())
    })?;
    Ok(judged.into())
}

fn told(one: VerdictView, words: fn(&Verdict) -> String) -> Judged {
    let VerdictView { at, session, name, text, verdict, .. } = one;
    let tone = match &verdict {
        Verdict::Accept { .. } => Tone::Good,
        Verdict::Reject { .. } => Tone::Bad,
        Verdict::Manual { .. } => Tone::Attention,
    };
    Judged { at, session, name, text, says: words(&verdict), tone }
}

fn runs(client: &mut Client, task: Option<TaskPlace>) -> Result<Fetched, Fault> {
    let Some(TaskPlace { repo, task }) = task else { return Ok(Fetched::Runs(Vec::new())) };
    let request = Request::Plan(PlanRequest::Runs { place: repo, task });
    let Response::Runs(runs) = client.call(request)? else { return Err(Fault::unfit()) };
    Ok(Fetched::Runs(runs))
}

fn events(client: &mut Client, session: &str, last_seq: u64) -> Result<Fetched, Fault> {
    let mut events = Vec::new();
    let from = last_seq.saturating_sub(EVENTS_BACK).max(1);
    client.call_seeing(Request::Events { from, follow: false }, |streamed| {
        if let Streamed::Words(Response::Event(event)) = streamed
            && event.get("session").and_then(Value::as_str) == Some(session)
        {
            events.push(event);
        }
        Ok::<(), Fault>(())
    })?;
    Ok(Fetched::Events(events))
}
