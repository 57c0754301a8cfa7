//! One connection with a holder: its reports become inputs, commands become its orders.
//!
//! What an agent says is listened to in one of three ways. A stream is followed byte by byte. A
//! transcript is read on whenever the terminal's output moves. Of anything else only the screen is
//! judged, once it is quiet: what is not looked at is not parsed.

use super::listener::{Listener, Output};
use super::pending::{DIALOG, Occasion, Owed, Sent, Typed, order_of};
use super::rate::{Flow, WINDOW};
use crate::exit;
use crate::links::Commands;
use crate::peer::Peer;
use glis_agent::Source;
use glis_core::event::Spot;
use glis_core::input::{Hearing, Outcome, Sign, World};
use glis_core::safe::ScreenState;
use glis_core::session::{Process, Session};
use glis_core::talk::Delivery;
use glis_core::{AskId, SessionId};
use glis_wire::frame::Frame;
use glis_wire::hold::{ExitRecord, Hello, Order, Report};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tracing::warn;

/// Between two looks at a program whose output flows.
const FLOW_PACE: Duration = Duration::from_secs(1);
/// Between two looks at a transcript whose terminal moves.
const TRANSCRIPT_PACE: Duration = Duration::from_millis(40);
/// An agent may write its transcript a moment after its terminal has come to rest.
const LAST_LOOK: Duration = Duration::from_millis(600);

pub(super) struct Link {
    pub(super) listener: Listener,
    pub(super) agent: String,
    pub(super) peer: Peer,
    pub(super) owed: Owed,
    pub(super) flow: Flow,
    pub(super) look_at: Option<Instant>,
    pub(super) rest_at: Option<Instant>,
    /// When its screen moved last.
    pub(super) moved_at: Instant,
    /// When its transcript is copied next, if anything may be new there.
    pub(super) keep_at: Option<Instant>,
    pub(super) typed: Typed,
    /// A question of the program itself on its screen.
    pub(super) dialog: Option<AskId>,
    /// Where in the output this run began: a screen is that of this run alone.
    pub(super) began_at: u64,
    pub(super) process: Process,
    /// The log does not know this process yet: nothing it says counts before it does.
    pub(super) unknown: bool,
    /// What was there before this daemon is still being listened to.
    pub(super) catching_up: Option<Hello>,
    /// Told once that is done.
    pub(super) caught_up: Option<oneshot::Sender<()>>,
}

/// How a connection came to its end.
pub(super) struct Parting {
    /// The other side closed it; nothing had gone wrong here.
    pub(super) in_peace: bool,
    /// Something was being handed over, and it is not known whether it got there.
    pub(super) owes: bool,
}

pub(super) fn complain(id: &SessionId, fault: &io::Error) {
    warn!(session = %id, "{fault}");
}

impl Link {
    pub(super) fn new(listener: Listener, session: &Session, peer: Peer, hello: &Hello) -> Self {
        // Who was attached before this daemon began still is.
        let attached = hello.attached.unwrap_or(hello.clients);
        listener.supervisor.live.set_audience(&listener.id, attached);
        let in_terminal = listener.dialect.source() == Source::Transcript;
        let front = session.talk.queue.front().filter(|_| in_terminal);
        let sent = front.filter(|front| front.delivery != Delivery::Queued);
        let sent = sent.map(|sent| Sent::now(sent.id, sent.text.clone()));
        Self {
            listener,
            rest_at: sent.as_ref().map(|_| Instant::now() + LAST_LOOK),
            typed: Typed { sent, ..Typed::default() },
            began_at: hello.began_at,
            process: hello.process.clone(),
            agent: session.spec.agent.clone(),
            peer,
            owed: Owed::default(),
            flow: Flow::of(session.screen()),
            look_at: None,
            moved_at: Instant::now(),
            keep_at: None,
            dialog: session
                .asked()
                .iter()
                .map(|ask| &ask.id)
                .find(|id| id.0.starts_with(DIALOG))
                .cloned(),
            unknown: !session.runs(),
            catching_up: None,
            caught_up: None,
        }
    }

    /// Serves it until the connection ends.
    pub(super) async fn serve(mut self: Box<Self>, commands: &mut Commands) -> Parting {
        let end = self.serve_well(commands).await;
        if let Err(fault) = &end {
            complain(&self.listener.id, fault);
        }
        let owes =
            self.catching_up.is_some() || self.typed.entering.is_some() || self.owed.is_open();
        Parting { in_peace: end.is_ok(), owes }
    }

    async fn serve_well(&mut self, commands: &mut Commands) -> io::Result<()> {
        Box::pin(self.listen()).await?;
        self.meet_interruption().await;
        loop {
            let dues = [self.look_at, self.rest_at, self.keep_at, self.owed.wake_at];
            let due = dues.into_iter().flatten().min();
            let asleep = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                frame = self.peer.next() => match frame? {
                    Some(frame) => {
                        let due = Instant::now() + self.listener.vault_pace;
                        self.keep_at.get_or_insert(due);
                        // On the heap while it lasts: an idle session's task stays small.
                        Box::pin(self.hear(frame)).await?;
                    }
                    None => return Ok(()),
                },
                Some(command) = commands.recv() => Box::pin(self.run_command(*command)).await?,
                () = asleep => Box::pin(self.time_passed()).await?,
            }
        }
    }

    /// Takes note of how many terminals are attached.
    fn count_audience(&self, clients: u32, attached: Option<u32>) {
        // An earlier holder tells only how many follow, of which this daemon may be one.
        let own = u32::from(self.listener.dialect.source() == Source::Stream);
        let audience = attached.unwrap_or_else(|| clients.saturating_sub(own));
        self.listener.supervisor.live.set_audience(&self.listener.id, audience);
    }

    /// Begins to listen in the way that fits the agent.
    async fn listen(&mut self) -> io::Result<()> {
        if self.unknown {
            // Nothing can be on its way to a process that is not on record.
            self.tell_world().await;
        }
        if self.catching_up.is_some() {
            self.listener.hearing = Hearing::CatchingUp;
        }
        match self.listener.dialect.source() {
            Source::Stream => {
                self.peer.send(&Order::Follow { from: self.listener.end }).await?;
            }
            Source::Transcript => {
                self.peer.send(&Order::Watch { beyond: self.listener.end }).await?;
                self.read_transcript().await?;
            }
            Source::Screen => {
                // What was printed before this daemon says nothing about now.
                let known = self.catching_up.as_ref().map_or(0, |hello| hello.end);
                self.listener.end = self.listener.end.max(known);
                self.peer.send(&Order::Watch { beyond: self.listener.end }).await?;
                self.rest_at = Some(Instant::now() + WINDOW);
            }
        }
        self.caught_up().await;
        Ok(())
    }

    /// Tells the controller about the world once everything that was said before is accounted for.
    async fn caught_up(&mut self) {
        let behind = self.listener.dialect.source() == Source::Stream;
        if behind && self.catching_up.as_ref().is_some_and(|hello| self.listener.end < hello.end) {
            return;
        }
        self.tell_world().await;
    }

    async fn tell_world(&mut self) {
        let Some(hello) = self.catching_up.take() else { return };
        self.listener.hearing = Hearing::Live;
        let session = self.listener.session().await;
        let sent = session.as_ref().and_then(Session::in_flight).map(|sent| order_of(sent.id));
        let world = World::Alive {
            generation: hello.generation,
            process: hello.process.clone(),
            began_at: hello.began_at,
            untouched: hello.handed.is_some_and(|handed| Some(handed) != sent),
        };
        self.listener.supervisor.tell_world(self.listener.id.clone(), world).await;
        self.listener.tell_used().await;
        // What has waited long enough has gone on meanwhile.
        self.caught_up.take().map(|waits| waits.send(()));
    }

    async fn hear(&mut self, frame: Frame) -> io::Result<()> {
        crate::failpoint::reach("hear", &self.agent);
        if let Frame::Raw { tag, bytes } = &frame {
            // What was read from disk meanwhile comes again.
            let known =
                usize::try_from(self.listener.end.saturating_sub(*tag)).unwrap_or(usize::MAX);
            if let Some(fresh) = bytes.get(known..).filter(|fresh| !fresh.is_empty()) {
                let ids = self.listener.hear(*tag + known as u64, fresh).await?;
                self.lock(ids).await?;
            }
            self.caught_up().await;
            return Ok(());
        }
        // A holder of another version may have words that we do not know; the rest still counts.
        let Ok(report) = Report::read(&frame) else { return Ok(()) };
        match report {
            Report::Output { end } => self.output_moved(end).await?,
            Report::Wrote { order } => self.written(order).await,
            Report::Refused { order, why, for_good: false } => self.refused(order, why).await,
            Report::Refused { order, why, for_good: true } => {
                self.refused_for_good(order, why).await;
            }
            Report::FolderLost { at } => {
                let lost = io::Error::other(format!(
                    "its folder was deleted; output is kept from {at} on"
                ));
                complain(&self.listener.id, &lost);
                self.listener.move_house().await?;
                self.listener.supervisor.tell_folder_lost(&self.listener.id).await;
            }
            Report::Ended(record) => self.collect(&record).await?,
            Report::Audience { clients, attached } => self.count_audience(clients, attached),
            Report::Gap { at, why } => {
                self.listener.supervisor.live.note_gap(&self.listener.id, at);
                let lost = io::Error::other(format!("output lost from {at} on: {why}"));
                complain(&self.listener.id, &lost);
            }
            Report::Hello(_)
            | Report::Resized { .. }
            | Report::Environment { .. }
            | Report::Reading { .. } => {}
        }
        Ok(())
    }

    /// The end is in the holder's record on disk; once the log has it too, the holder may go.
    async fn collect(&mut self, record: &ExitRecord) -> io::Result<()> {
        // A holder whose agent has ended says so before everything else.
        if let Err(fault) = self.listener.hear_the_rest(Output::Whole).await {
            complain(&self.listener.id, &fault);
        }
        self.note_late().await;
        self.tell_world().await;
        let supervisor = Arc::clone(&self.listener.supervisor);
        let (dir, record) = (supervisor.dir(&self.listener.id), record.clone());
        exit::note(&record);
        let describe = move || Ok(exit::describe(&dir, &record));
        let mut exit = supervisor.run_blocking(describe).await?;
        exit.left.notes = supervisor.live.take_end_notes(&self.listener.id);
        self.outcome(Outcome::ProcessEnded { generation: self.listener.generation, exit }).await;
        // Questions are answered in order, and after everything before them is durable.
        drop(supervisor.session(&self.listener.id).await);
        // Mostly it has gone by itself: its record lies on disk.
        self.peer.send(&Order::Collected).await.ok();
        Ok(())
    }

    async fn output_moved(&mut self, end: u64) -> io::Result<()> {
        let now = Instant::now();
        self.flow.rate.note(now, end.saturating_sub(self.listener.end));
        self.listener.end = end;
        self.moved_at = now;
        match self.listener.dialect.source() {
            Source::Stream => {}
            Source::Transcript => {
                self.look_at = Some(Instant::now() + TRANSCRIPT_PACE);
                self.rest_at = Some(Instant::now() + LAST_LOOK);
                self.read_transcript().await?;
                self.attend(Occasion::Moved).await?;
            }
            Source::Screen => {
                self.look_at = Some(now + FLOW_PACE);
                if self.flow.rate.flows(now) {
                    self.flows().await;
                } else {
                    // Too little to be work, and perhaps a prompt.
                    self.rest_at = Some(now + WINDOW);
                }
            }
        }
        Ok(())
    }

    pub(super) async fn flows(&mut self) {
        self.rest_at = Some(self.flow.rate.quiet_at().unwrap_or_else(|| Instant::now() + WINDOW));
        if self.flow.begins() {
            self.listener.sign(Spot::Screen, Sign::Screen(ScreenState::Flowing)).await;
        }
    }

    async fn time_passed(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let is_due = |at: &mut Option<Instant>| at.take_if(|at| *at <= now).is_some();
        if is_due(&mut self.keep_at) {
            self.listener.keep_transcript().await;
            self.note_late().await;
        }
        if is_due(&mut self.owed.wake_at) {
            self.wake_holder().await;
        }
        let source = self.listener.dialect.source();
        if is_due(&mut self.look_at) {
            self.peer.send(&Order::Watch { beyond: self.listener.end }).await?;
            self.look_again().await?;
        }
        if is_due(&mut self.rest_at) {
            if source == Source::Screen && self.flow.rate.flows(now) {
                self.rest_at = self.flow.rate.quiet_at();
            } else if source == Source::Screen {
                self.judge_screen().await;
            } else {
                self.look_again().await?;
                if source == Source::Transcript {
                    self.attend(Occasion::Rested).await?;
                }
            }
        }
        Ok(())
    }

    async fn look_again(&mut self) -> io::Result<()> {
        if self.listener.dialect.source() == Source::Transcript {
            self.read_transcript().await?;
            self.attend(Occasion::Moved).await?;
        }
        Ok(())
    }

    async fn judge_screen(&mut self) {
        let state = self.look_at_screen().await;
        self.flow.rests(&state);
        self.listener.sign(Spot::Screen, Sign::Screen(state)).await;
    }

    async fn read_transcript(&mut self) -> io::Result<()> {
        let ids = self.listener.read_on().await?;
        self.lock(ids).await
    }
}
