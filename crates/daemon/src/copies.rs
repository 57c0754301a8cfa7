//! Copies of what the house knows, made beside the controller: a checkpoint for the next start, and
//! the log's records and the sessions' cards for the day when the log is gone.
//!
//! They are made after a thousand events, after ten minutes with any, and when the daemon ends in
//! order. The controller hands over what is to be written and goes on; a thread of its own writes
//! and syncs. What a copy costs is what has happened since the last, and the size of the state.

use crate::cards::{self, Folder};
use crate::log::{Backup, Checkpoint, EventLog, LogFault};
use crate::mailbox::{Mail, Mailbox, Occasion};
use glis_core::{Card, Event, House, Recorded, Session, SessionId};
use glis_wire::home::Home;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tracing::warn;

/// Events after which copies are made.
const EVENTS: u64 = 1000;
/// Time after which they are made, if there are any.
const PERIOD: Duration = Duration::from_secs(600);
/// Records handed over at a time: few enough that reading them delays nothing.
const PIECE: u32 = 1000;
/// Pieces that a daemon copies before it ends. What is left then is copied by the next one.
const LAST_PIECES: usize = 8;
/// Jobs that may wait. While one is under way there is no second of its kind; beyond that, cards
/// wait for the next occasion.
const JOBS: usize = 64;

/// Whether a later card of the same session waits to be written.
fn has_card_of(waiting: &VecDeque<Job>, dir: &Path) -> bool {
    waiting.iter().any(|job| matches!(job, Job::Card(later, ..) if later == dir))
}

pub(crate) fn folder(state: &Path) -> PathBuf {
    state.join("backup")
}

enum Job {
    /// Copy records, and then the state.
    Copy(Piece),
    /// Put a session's card into its folder.
    Card(PathBuf, Folder, Box<Card>),
}

/// Records of the log with this name that follow the record `after`, and the state if they are the
/// last.
struct Piece {
    log_id: String,
    after: u64,
    records: Vec<Recorded>,
    state: Option<Box<Checkpoint>>,
    end: End,
}

/// Whether there will be more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Closed,
}

pub(crate) struct Copies {
    jobs: SyncSender<Job>,
    thread: JoinHandle<()>,
    /// The last record that is copied; `None` while that is not known yet.
    copied: Option<u64>,
    under_way: bool,
    /// Another is wanted at once.
    due: bool,
    since: u64,
    after: u64,
    home: Home,
    /// Sessions whose cards are yet to be written.
    uncarded: BTreeMap<SessionId, Folder>,
}

impl Copies {
    /// Begins with finding out what is copied already. `stale` is for a house without a checkpoint
    /// that counts.
    pub(crate) fn start(
        home: &Home,
        mailbox: Mailbox,
        log: &EventLog,
        stale: Stale,
    ) -> io::Result<Self> {
        let (jobs, waiting) = sync_channel(JOBS);
        let writer = Writer { root: folder(&home.state), backup: None, mailbox };
        let log_id = log.id().to_owned();
        let thread = std::thread::Builder::new()
            .name("copies".to_owned())
            .spawn(move || writer.run(&log_id, &waiting))?;
        let due = stale == Stale::Yes && log.end().seq > 0;
        let after = events_between();
        let (home, uncarded) = (home.clone(), BTreeMap::new());
        let (copied, since) = (None, 0);
        Ok(Self { jobs, thread, copied, under_way: true, due, since, after, home, uncarded })
    }

    /// Has the cards written of sessions that these events have changed in a way that lasts.
    pub(crate) fn card(&mut self, events: &[Recorded], house: &House) {
        for Recorded { subject, event, .. } in events {
            let Some(id) = subject.session() else { continue };
            let known = house.session(id).filter(|session| event.is_for_the_card(session));
            if known.is_some() {
                let made = matches!(event, Event::WorktreeMade { .. });
                let folder = if made { Folder::Make } else { Folder::Find };
                let wanted = self.uncarded.entry(id.clone()).or_insert(folder);
                if made {
                    *wanted = folder;
                }
            }
        }
        while let Some((id, folder)) = self.uncarded.pop_first() {
            let Some(session) = house.session(&id) else { continue };
            let card = Box::new(session.card(house.last_seq()));
            if self.jobs.try_send(Job::Card(self.place(session), folder, card)).is_err() {
                // The disk is slow: with the next events.
                self.uncarded.insert(id, folder);
                break;
            }
        }
    }

    /// Where a session's card lies.
    fn place(&self, session: &Session) -> PathBuf {
        let id = &session.id.0;
        let removed = session.upkeep.trashed.is_some();
        if removed { self.home.trash().join(id).join("session") } else { self.home.session(id) }
    }

    /// The log cannot be written any more. What is known of each session is left in its folder, since
    /// it is not known what the next daemon will find.
    pub(crate) fn leave_cards(self, house: &House) {
        for session in house.all_sessions() {
            let card = session.card(house.last_seq());
            if let Err(fault) = cards::write(&self.place(session), Folder::Find, &card) {
                warn!(session = %session.id, "its card cannot be written: {fault}");
            }
        }
    }

    /// Has copies made of what is durable, if it is time.
    pub(crate) fn look(&mut self, occasion: Occasion, house: &House, log: &EventLog) {
        match occasion {
            Occasion::Grown(events) => {
                self.since += events as u64;
                if events > 0 && self.since >= self.after {
                    self.make(house, log);
                }
            }
            Occasion::TimePassed if self.since > 0 => self.make(house, log),
            Occasion::TimePassed => {}
            Occasion::Written(to) => self.written(to, house, log),
        }
    }

    fn written(&mut self, to: Option<u64>, house: &House, log: &EventLog) {
        let before = self.copied;
        self.copied = to.or(before).or(Some(0));
        self.under_way = false;
        let behind = log.end().seq.saturating_sub(self.copied.unwrap_or(0));
        // After a failure the next occasion is soon enough.
        if self.due || (to.is_some() && before != to && behind >= u64::from(PIECE)) {
            self.make(house, log);
        } else if before.is_none() {
            self.since = behind;
        }
    }

    /// Hands over the next records, and the state if they are the last.
    fn make(&mut self, house: &House, log: &EventLog) {
        let Some(copied) = self.copied.filter(|_| !self.under_way) else {
            self.due = true;
            return;
        };
        let Ok(piece) = Piece::of(copied, house, log) else { return };
        self.due = false;
        if piece.state.is_some() {
            self.since = 0;
        }
        self.under_way = self.jobs.try_send(Job::Copy(piece)).is_ok();
    }

    /// Copies what is left, and waits until it is written. The controller reads no mail any
    /// more.
    pub(crate) fn close(mut self, house: &House, log: &EventLog) {
        // Unknown is what the thread has not told before the end; it leaves out what it has.
        let mut copied = self.copied.take().unwrap_or(0);
        for _ in 0..LAST_PIECES {
            let Ok(mut piece) = Piece::of(copied, house, log) else { break };
            copied = piece.records.last().map_or(copied, |recorded| recorded.seq);
            let ends = piece.state.is_some();
            if ends {
                piece.end = End::Closed;
            }
            if self.jobs.send(Job::Copy(piece)).is_err() || ends {
                break;
            }
        }
        drop(self.jobs);
        drop(self.thread.join());
    }
}

/// Whether the checkpoint that the house began with is worth having.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stale {
    No,
    Yes,
}

/// Rings when the time for a copy has come. In a house where nothing happens, so does this.
pub(crate) async fn clock(mailbox: Mailbox) {
    loop {
        let mut news = mailbox.news.subscribe();
        if matches!(news.recv().await, Err(RecvError::Closed)) {
            return;
        }
        drop(news);
        tokio::time::sleep(PERIOD).await;
        if mailbox.mail.send(Mail::Copy(Occasion::TimePassed)).await.is_err() {
            return;
        }
    }
}

/// A test can ask for copies after fewer events, in debug builds only.
fn events_between() -> u64 {
    let asked = || std::env::var("GLIS_COPY_AFTER").ok()?.parse().ok();
    if cfg!(debug_assertions) { asked().unwrap_or(EVENTS) } else { EVENTS }
}

impl Piece {
    fn of(after: u64, house: &House, log: &EventLog) -> Result<Self, LogFault> {
        let records = log.read(after + 1, PIECE)?;
        let mark = log.end();
        let last = records.len() < PIECE as usize && mark.seq > 0;
        let last = last && house.last_seq() == mark.seq;
        let state = last.then(|| Box::new(Checkpoint { house: house.clone(), mark }));
        Ok(Self { log_id: log.id().to_owned(), after, records, state, end: End::Open })
    }
}

struct Writer {
    root: PathBuf,
    backup: Option<(String, Backup)>,
    mailbox: Mailbox,
}

impl Writer {
    fn run(mut self, log_id: &str, jobs: &Receiver<Job>) {
        let known = self.backup(log_id).map(|backup| backup.last());
        self.tell(known);
        let mut waiting = VecDeque::new();
        loop {
            waiting.extend(jobs.try_iter());
            let Some(job) = waiting.pop_front().or_else(|| jobs.recv().ok()) else { return };
            match job {
                // A card holds all messages that wait: of many only the last is worth its bytes.
                Job::Card(dir, Folder::Find, _) if has_card_of(&waiting, &dir) => {}
                Job::Card(dir, folder, card) => {
                    let written = cards::write(&dir, folder, &card);
                    // The folder of what was removed is in the trash, and one that was deleted is told of
                    // elsewhere.
                    let is_gone = |fault: &io::Error| fault.kind() == io::ErrorKind::NotFound;
                    if let Some(fault) = written.err().filter(|fault| !is_gone(fault)) {
                        warn!("{}: no card could be written: {fault}", dir.display());
                    }
                }
                Job::Copy(piece) => {
                    let written = self.copy(&piece);
                    self.tell(written);
                }
            }
        }
    }

    /// Once the controller is gone, this is told to no one.
    fn tell(&self, written: io::Result<u64>) {
        let written = written.inspect_err(|fault| {
            warn!("no copy could be made in {}: {fault}", self.root.display());
        });
        drop(self.mailbox.mail.blocking_send(Mail::Copy(Occasion::Written(written.ok()))));
    }

    fn backup(&mut self, log_id: &str) -> io::Result<&mut Backup> {
        if self.backup.as_ref().is_none_or(|(id, _)| id != log_id) {
            // A home that is gone is not made again here: no daemon would look there.
            if self.root.parent().is_none_or(|state| !state.is_dir()) {
                return Err(io::ErrorKind::NotFound.into());
            }
            let backup = Backup::open(&self.root, log_id)?;
            self.backup = Some((log_id.to_owned(), backup));
        }
        let opened = self.backup.as_mut().map(|(_, backup)| backup);
        opened.ok_or_else(|| io::Error::other("no copies are open"))
    }

    /// Writes a piece; up to which record there are copies now.
    fn copy(&mut self, piece: &Piece) -> io::Result<u64> {
        let Piece { log_id, after, records, state, end } = piece;
        // They may have been deleted meanwhile: then they are begun anew.
        if !self.root.join(log_id).is_dir() {
            self.backup = None;
        }
        let backup = self.backup(log_id)?;
        if backup.last() < *after {
            return Ok(backup.last());
        }
        if let Err(fault) = backup.append(records) {
            // A line may be there in part: it is cut off when they are opened again.
            self.backup = None;
            return Err(fault);
        }
        let last = backup.last();
        if let Some(state) = state {
            if *end == End::Closed {
                backup.complete()?;
            }
            backup.forget_others()?;
            state.write(&self.root)?;
        }
        Ok(last)
    }
}
