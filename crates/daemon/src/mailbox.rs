//! The way to the controller: what reaches it, what it tells, and who may ask it what.

use crate::log::{Checked, Mark};
use crate::panics::held;
use glis_core::decision::Reply;
use glis_core::{Command, End, Gate, House, Input, OpId, Origin, Recorded, Refusal, Session};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{broadcast, mpsc, oneshot};

/// Inputs that may wait. A sender that has more waits too; nothing is dropped.
const WAITING_MAX: usize = 1024;
/// Published events that a slow listener may be behind; then it reads the log instead.
const LISTENERS_BEHIND_MAX: usize = 1024;

/// What reaches the controller.
pub(crate) enum Mail {
    /// Something happened.
    Input(Input),
    /// A request, from a call or by the daemon itself, whose sender waits for the answer.
    Ask(Input, Option<Origin>, oneshot::Sender<Result<Reply, Refusal>>),
    /// Several requests at once, decided on together.
    Together(Vec<Command>, Option<Origin>, oneshot::Sender<Vec<Result<Reply, Refusal>>>),
    /// A look at whatever is wanted of the house.
    Look(Look),
    /// A look at events.
    Read { from: u64, max: u32, answer: oneshot::Sender<Vec<Recorded>> },
    /// Whether these records are sound.
    Check { after: Mark, to: u64, max: u32, answer: oneshot::Sender<Option<Checked>> },
    /// The house is closed.
    Close(oneshot::Sender<()>),
    /// What was written beside the log is not durable. Nothing may build on it.
    NotDurable(String),
    /// It may be time for copies.
    Copy(Occasion),
    /// Something has happened to the file of the log.
    LookAtLog,
}

/// Looks at the house, and tells who waits for it.
pub(crate) type Look = Box<dyn FnOnce(&House) + Send>;

/// Which sessions are looked at.
pub(crate) enum Query {
    Living,
    All,
    One(String),
    Removed(String),
}

impl Query {
    /// What it finds, as it is now.
    fn answered_by(&self, house: &House) -> Vec<Arc<Session>> {
        let found: Vec<&Session> = match self {
            Self::Living => house.sessions().collect(),
            Self::All => house.all_sessions().collect(),
            Self::One(given) => house.find(given).into_iter().collect(),
            Self::Removed(given) => house.find_removed(given).into_iter().collect(),
        };
        found.into_iter().filter_map(|session| house.shared(&session.id)).collect()
    }
}

/// When copies of the log may be due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// So many events have become durable.
    Grown(usize),
    /// Something has happened some time ago.
    TimePassed,
    /// Copies were written up to this record, or could not be.
    Written(Option<u64>),
}

/// An event that is durable, with what it means to those who wait.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    pub(crate) recorded: Recorded,
    pub(crate) ended: Option<(OpId, End)>,
}

/// The sending side, for every other part of the daemon.
#[derive(Clone)]
pub(crate) struct Mailbox {
    pub(crate) mail: mpsc::Sender<Mail>,
    pub(crate) news: broadcast::Sender<Arc<Published>>,
    /// The name of the event log.
    log_id: Arc<Mutex<String>>,
    /// The number of the last event in it.
    last_seq: Arc<AtomicU64>,
}

impl Mailbox {
    pub(crate) fn new(log_id: &str) -> (Self, mpsc::Receiver<Mail>) {
        let (mail, inbox) = mpsc::channel(WAITING_MAX);
        let (news, _) = broadcast::channel(LISTENERS_BEHIND_MAX);
        let log_id = Arc::new(Mutex::new(log_id.to_owned()));
        (Self { mail, news, log_id, last_seq: Arc::default() }, inbox)
    }

    /// The name of the event log. Under another name, numbers mean other events.
    pub(crate) fn log_id(&self) -> String {
        held(&self.log_id).clone()
    }

    /// The number of the last event that is durable. A look at a session that begins after this call shows
    /// at least what this event has led to.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq.load(Ordering::Acquire)
    }

    /// Events up to this one are durable.
    pub(crate) fn reached(&self, seq: u64) {
        self.last_seq.store(seq, Ordering::Release);
    }

    /// Hands an input in. If the controller is gone, so is the daemon.
    pub(crate) async fn tell(&self, input: Input) {
        drop(self.mail.send(Mail::Input(input)).await);
    }

    /// As [`Mailbox::tell`], from a thread that may block.
    pub(crate) fn tell_blocking(&self, input: Input) {
        drop(self.mail.blocking_send(Mail::Input(input)));
    }

    /// The log has another name from now on.
    pub(crate) fn rename_log(&self, log_id: &str) {
        let mut known = held(&self.log_id);
        log_id.clone_into(&mut known);
    }

    /// Asks for several things at once: one decision, and a reply to each.
    pub(crate) async fn together(
        &self,
        commands: Vec<Command>,
        from: Option<Origin>,
    ) -> Option<Vec<Result<Reply, Refusal>>> {
        let (answer, wait) = oneshot::channel();
        self.mail.send(Mail::Together(commands, from, answer)).await.ok()?;
        wait.await.ok()
    }

    /// Asks for something, on behalf of a call or of the daemon itself; `None` if the controller has ended.
    pub(crate) async fn ask(
        &self,
        input: Input,
        from: Option<Origin>,
    ) -> Option<Result<Reply, Refusal>> {
        let (answer, wait) = oneshot::channel();
        self.mail.send(Mail::Ask(input, from, answer)).await.ok()?;
        wait.await.ok()
    }

    /// Looks at the house as it is on record; `None` if the controller has ended.
    pub(crate) async fn house<T: Send + 'static>(
        &self,
        look: impl FnOnce(&House) -> T + Send + 'static,
    ) -> Option<T> {
        let found = Arc::new(Mutex::new(None));
        let place = Arc::clone(&found);
        let look = move |house: &House| {
            let found = look(house);
            *held(&place) = Some(found);
        };
        self.look(Box::new(look)).await?;
        held(&found).take()
    }

    /// What is waited for by is compiled once, and not for each kind of answer.
    async fn look(&self, look: Look) -> Option<()> {
        let (answer, wait) = oneshot::channel();
        let look: Look = Box::new(move |house| {
            look(house);
            answer.send(()).ok();
        });
        self.mail.send(Mail::Look(look)).await.ok()?;
        wait.await.ok()
    }

    pub(crate) async fn gate(&self) -> Option<Gate> {
        self.house(|house| house.gate().clone()).await
    }

    /// What a query finds: nothing, if the controller has ended.
    pub(crate) async fn query(&self, query: Query) -> Vec<Arc<Session>> {
        self.answer(query).await.unwrap_or_default()
    }

    /// What a query finds; `None` if the controller has ended without an answer. It drops what it was about to
    /// answer before it closes the mailbox.
    pub(crate) async fn answer(&self, query: Query) -> Option<Vec<Arc<Session>>> {
        self.house(move |house| query.answered_by(house)).await
    }

    pub(crate) async fn read(&self, from: u64, max: u32) -> Vec<Recorded> {
        let (answer, wait) = oneshot::channel();
        if self.mail.send(Mail::Read { from, max, answer }).await.is_err() {
            return Vec::new();
        }
        wait.await.unwrap_or_default()
    }

    /// Looks at records behind a mark; `None` if they cannot be read.
    pub(crate) async fn check(&self, after: Mark, to: u64, max: u32) -> Option<Checked> {
        let (answer, wait) = oneshot::channel();
        self.mail.send(Mail::Check { after, to, max, answer }).await.ok()?;
        wait.await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_query_that_nobody_answered_has_not_found_nothing() {
        let (mailbox, mut inbox) = Mailbox::new("a log");
        // As a controller does whose log has failed, before it closes the mailbox.
        let drops = async { drop(inbox.recv().await) };
        let (answer, ()) = tokio::join!(mailbox.answer(Query::Living), drops);
        assert!(answer.is_none());
    }
}
