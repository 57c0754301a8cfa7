//! Tending one holder: its reports become inputs, errands become its orders.
//!
//! What an agent says is listened to in one of three ways. A stream is followed byte by byte. A
//! transcript is read on whenever the terminal's output moves. Of anything else only the screen is
//! judged, once it is quiet: nobody pays for parsing what nobody looks at.

mod bond;
mod ear;
mod last_words;
mod left;
mod lost;
mod rate;
mod rouse;
mod sent;
mod supervise;
mod trace;
mod typing;

use crate::adapters::{Adapters, Errand};
use crate::controller::Look;
use crate::peer::Peer;
use crate::screens;
use ear::{Ear, Output};
use glis_agent::Source;
use glis_core::event::Spot;
use glis_core::input::{Hearing, Outcome, Sign, World};
use glis_core::safe::{ScreenState, judge_quiet};
use glis_core::session::{Process, Session};
use glis_core::{AskId, Input, MessageId, SessionId};
use glis_wire::frame::Frame;
use glis_wire::hold::{ExitRecord, Hello, Order, Report};
use rate::{Rate, WINDOW};
use sent::Sent;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use typing::{DIALOG, Occasion, Typing};

pub(crate) use bond::{begin, end_untended};
pub(crate) use last_words::last_lines;
pub(crate) use left::{
    await_former, evict, is_in_conversation, is_locked, kept, living, recorded_end, sweep,
};
pub(crate) use rouse::{is_held, parent_of, see_to_end};
pub(crate) use supervise::recover;
pub(crate) use trace::runs;

/// Between two looks at a program whose output flows.
const FLOW_PACE: Duration = Duration::from_secs(1);
/// Between two looks at a transcript whose terminal moves.
const TRANSCRIPT_PACE: Duration = Duration::from_millis(40);
/// An agent may write its transcript a moment after its terminal has come to rest.
const LAST_LOOK: Duration = Duration::from_millis(600);

/// A holder answers an order at once; after this long it is looked at whether it was stopped.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// What a raw frame with a number was sent for.
enum Waits {
    Delivery(MessageId, String),
    Answer(AskId),
    Nobody,
}

struct Tender {
    ear: Ear,
    agent: String,
    peer: Peer,
    orders: HashMap<u64, Waits>,
    next_order: u64,
    /// When the holder is woken, if it has not answered an order by then.
    wake_at: Option<Instant>,
    /// The screen counts as moving.
    flowing: bool,
    rate: Rate,
    look_at: Option<Instant>,
    rest_at: Option<Instant>,
    /// When its screen moved last.
    moved_at: Instant,
    /// When its transcript is copied next, if anything may be new there.
    keep_at: Option<Instant>,
    /// A message that waits for the agent's prompt.
    typing: Option<Typing>,
    /// A message that was typed and not yet seen to be taken.
    sent: Option<Sent>,
    /// The last message that was typed a second time.
    retyped: Option<MessageId>,
    /// An interruption that waits for what was typed, until then at most.
    held: Option<Instant>,
    /// A question of the program itself on its screen.
    dialog: Option<AskId>,
    /// Where in the output this run began: a screen is that of this run alone.
    began_at: u64,
    /// The agent's process.
    process: Process,
    /// The log does not know this process yet: nothing it says counts before it does.
    unknown: bool,
    /// What was there before this daemon is still being listened to.
    catching_up: Option<Hello>,
    /// Whoever waits until that is done.
    caught_up: Option<oneshot::Sender<()>>,
}

/// How a connection came to its end.
struct Parting {
    /// The other side closed it; nothing had gone wrong here.
    in_peace: bool,
    /// Something was being handed over, and nobody has heard whether it got there.
    owes: bool,
}

fn complain(id: &SessionId, fault: &io::Error) {
    crate::diary(&format!("session {id}: {fault}"));
}

impl Tender {
    fn new(
        hands: &Arc<Adapters>,
        session: &Session,
        peer: Peer,
        hello: &Hello,
    ) -> io::Result<Self> {
        let mut ear = Ear::new(hands, session, Some(hello.began_at))?;
        ear.trace_by(session, &hello.process);
        let in_terminal = ear.dialect.source() == Source::Transcript;
        let sent = session.in_flight().filter(|_| in_terminal).map(|sent| Sent::now(sent.id));
        Ok(Self {
            ear,
            rest_at: sent.map(|_| Instant::now() + LAST_LOOK),
            sent,
            retyped: None,
            held: None,
            began_at: hello.began_at,
            process: crate::adapters::process_of(&hello.process),
            agent: session.spec.agent.clone(),
            peer,
            orders: HashMap::new(),
            next_order: 1,
            wake_at: None,
            flowing: session.screen == ScreenState::Flowing,
            rate: Rate::default(),
            look_at: None,
            moved_at: Instant::now(),
            keep_at: None,
            typing: None,
            dialog: session
                .asks
                .iter()
                .map(|ask| &ask.id)
                .find(|id| id.0.starts_with(DIALOG))
                .cloned(),
            unknown: session.process.is_none(),
            catching_up: None,
            caught_up: None,
        })
    }

    /// Tends until the connection ends.
    async fn tend(mut self: Box<Self>, errands: &mut mpsc::Receiver<Errand>) -> Parting {
        let end = self.tend_well(errands).await;
        if let Err(fault) = &end {
            complain(&self.ear.id, fault);
        }
        let awaited = |waits: &Waits| !matches!(waits, Waits::Nobody);
        let owes = self.catching_up.is_some() || self.orders.values().any(awaited);
        Parting { in_peace: end.is_ok(), owes }
    }

    async fn tend_well(&mut self, errands: &mut mpsc::Receiver<Errand>) -> io::Result<()> {
        Box::pin(self.listen()).await?;
        loop {
            let dues = [self.look_at, self.rest_at, self.keep_at, self.wake_at];
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
                        let due = Instant::now() + self.ear.vault_pace;
                        self.keep_at.get_or_insert(due);
                        // On the heap while it lasts: an idle session's task stays small.
                        Box::pin(self.hear(frame)).await?;
                    }
                    None => return Ok(()),
                },
                Some(errand) = errands.recv() => Box::pin(self.run_errand(errand)).await?,
                () = asleep => Box::pin(self.time_passed()).await?,
            }
        }
    }

    /// Begins to listen in the way that fits the agent.
    async fn listen(&mut self) -> io::Result<()> {
        if self.unknown {
            // Nothing can be on its way to a process that nobody has heard of.
            self.tell_world().await;
        }
        if self.catching_up.is_some() {
            self.ear.hearing = Hearing::CatchingUp;
        }
        match self.ear.dialect.source() {
            Source::Stream => {
                self.peer.send(&Order::Follow { from: self.ear.end }).await?;
            }
            Source::Transcript => {
                self.peer.send(&Order::Watch { beyond: self.ear.end }).await?;
                self.read_transcript().await?;
            }
            Source::Screen => {
                self.peer.send(&Order::Watch { beyond: self.ear.end }).await?;
                self.rest_at = Some(Instant::now() + WINDOW);
            }
        }
        self.caught_up().await;
        Ok(())
    }

    /// Tells the controller about the world once everything that was said before is accounted for.
    async fn caught_up(&mut self) {
        let behind = self.ear.dialect.source() == Source::Stream;
        if behind && self.catching_up.as_ref().is_some_and(|hello| self.ear.end < hello.end) {
            return;
        }
        self.tell_world().await;
    }

    async fn tell_world(&mut self) {
        let Some(hello) = self.catching_up.take() else { return };
        self.ear.hearing = Hearing::Live;
        let world = World::Alive {
            generation: hello.generation,
            process: crate::adapters::process_of(&hello.process),
            began_at: hello.began_at,
        };
        self.ear.hands.line.tell(Input::Observed { session: self.ear.id.clone(), world }).await;
        // Whoever has waited long enough has gone on meanwhile.
        self.caught_up.take().map(|waits| waits.send(()));
    }

    async fn hear(&mut self, frame: Frame) -> io::Result<()> {
        crate::failpoint::reach("hear", &self.agent);
        if let Frame::Raw { tag, bytes } = &frame {
            // What was read from disk meanwhile comes again.
            let known = usize::try_from(self.ear.end.saturating_sub(*tag)).unwrap_or(usize::MAX);
            if let Some(fresh) = bytes.get(known..).filter(|fresh| !fresh.is_empty()) {
                let ids = self.ear.hear(*tag + known as u64, fresh).await?;
                self.lock(ids).await?;
            }
            self.caught_up().await;
            return Ok(());
        }
        // A holder of another version may have words that we do not know; the rest still counts.
        let Ok(report) = frame.words::<Report>() else { return Ok(()) };
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
                complain(&self.ear.id, &lost);
                self.outcome(Outcome::FolderLost).await;
            }
            Report::Ended(record) => self.collect(&record).await?,
            Report::Audience { clients } => {
                let own = u32::from(self.ear.dialect.source() == Source::Stream);
                let audience = clients.saturating_sub(own);
                self.ear.hands.change_live(&self.ear.id, |live| live.audience = audience);
            }
            Report::Gap { at, why } => {
                self.ear.hands.note_gap(&self.ear.id, at);
                let lost = io::Error::other(format!("output lost from {at} on: {why}"));
                complain(&self.ear.id, &lost);
            }
            Report::Hello(_) | Report::Resized { .. } | Report::Environment { .. } => {}
        }
        Ok(())
    }

    /// The end is in the holder's record on disk; once the log has it too, the holder may go.
    async fn collect(&mut self, record: &ExitRecord) -> io::Result<()> {
        // A holder whose agent has ended says so before everything else.
        if let Err(fault) = self.ear.hear_the_rest(Output::Whole).await {
            complain(&self.ear.id, &fault);
        }
        self.tell_world().await;
        let (dir, record) = (self.ear.hands.home.session(&self.ear.id.0), record.clone());
        let mut exit = ear::aside(move || Ok(left::told_by(&dir, &record))).await?;
        exit.left.notes = self.ear.hands.take_end_notes(&self.ear.id);
        self.outcome(Outcome::ProcessEnded { generation: self.ear.generation, exit }).await;
        // Questions are answered in order, and after everything before them is durable.
        drop(self.ear.hands.line.look(Look::One(self.ear.id.0.clone())).await);
        // Mostly it has gone by itself: its record lies on disk.
        self.peer.send(&Order::Collected).await.ok();
        Ok(())
    }

    async fn output_moved(&mut self, end: u64) -> io::Result<()> {
        let now = Instant::now();
        self.rate.note(now, end.saturating_sub(self.ear.end));
        self.ear.end = end;
        self.moved_at = now;
        match self.ear.dialect.source() {
            Source::Stream => {}
            Source::Transcript => {
                self.look_at = Some(Instant::now() + TRANSCRIPT_PACE);
                self.rest_at = Some(Instant::now() + LAST_LOOK);
                self.read_transcript().await?;
                self.attend(Occasion::Moved).await?;
            }
            Source::Screen => {
                self.look_at = Some(now + FLOW_PACE);
                if self.rate.flows(now) {
                    self.flows().await;
                } else {
                    // Too little to be work, and perhaps a prompt.
                    self.rest_at = Some(now + WINDOW);
                }
            }
        }
        Ok(())
    }

    async fn flows(&mut self) {
        self.rest_at = Some(self.rate.quiet_at().unwrap_or_else(|| Instant::now() + WINDOW));
        if !self.flowing {
            self.flowing = true;
            self.ear.sign(Spot::Screen, Sign::Screen(ScreenState::Flowing)).await;
        }
    }

    async fn time_passed(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if self.keep_at.is_some_and(|at| at <= now) {
            self.keep_at = None;
            self.ear.keep_transcript().await;
        }
        if self.wake_at.is_some_and(|at| at <= now) {
            self.wake_holder().await;
        }
        let source = self.ear.dialect.source();
        if self.look_at.is_some_and(|at| at <= now) {
            self.look_at = None;
            self.peer.send(&Order::Watch { beyond: self.ear.end }).await?;
            self.look_again().await?;
        }
        if self.rest_at.is_some_and(|at| at <= now) {
            self.rest_at = None;
            if source == Source::Screen && self.rate.flows(now) {
                self.rest_at = self.rate.quiet_at();
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
        if self.ear.dialect.source() == Source::Transcript {
            self.read_transcript().await?;
            self.attend(Occasion::Moved).await?;
        }
        Ok(())
    }

    async fn judge_screen(&mut self) {
        let state = self.look_at_screen().await;
        self.flowing = false;
        self.ear.sign(Spot::Screen, Sign::Screen(state)).await;
    }

    async fn read_transcript(&mut self) -> io::Result<()> {
        let ids = self.ear.read_on().await?;
        self.lock(ids).await
    }

    /// The agent goes by another id than we thought: that one is locked as well.
    async fn lock(&mut self, ids: Vec<String>) -> io::Result<()> {
        for id in ids {
            let name = crate::launch::lock_name(&self.agent, &id);
            let path = self.ear.hands.home.state.join("locks").join(name);
            self.peer.send(&Order::Lock { path: path.to_string_lossy().into_owned() }).await?;
        }
        Ok(())
    }

    async fn run_errand(&mut self, errand: Errand) -> io::Result<()> {
        match errand {
            Errand::Deliver { message, text }
                if self.ear.dialect.source() == Source::Transcript =>
            {
                self.type_message(message, text).await
            }
            Errand::Deliver { message, text } => {
                let keys = self.ear.dialect.say(&text);
                self.ear.hand_over(&text);
                self.write(Waits::Delivery(message, text), &keys).await
            }
            Errand::Answer { ask, answer } => {
                if self.ear.dialect.source() == Source::Screen && !self.still_asks(&ask.text).await
                {
                    let why = "the question is no longer on the screen".to_owned();
                    self.outcome(Outcome::AnswerNotGiven { ask: ask.id, why }).await;
                    return Ok(());
                }
                let keys = match self.ear.dialect.answer(&ask, &answer) {
                    Ok(keys) => keys,
                    Err(why) => {
                        self.outcome(Outcome::AnswerNotGiven { ask: ask.id, why }).await;
                        return Ok(());
                    }
                };
                self.ear.dialect.answered(&ask, &answer);
                if self.ear.dialect.shows_ask(&ask, &[]).is_some() {
                    return self.press(&ask, keys).await;
                }
                self.write(Waits::Answer(ask.id), &keys).await
            }
            Errand::Interrupt => self.interrupt().await,
            Errand::Stop { ladder, children } => {
                self.peer.send(&Order::Children(children)).await?;
                self.peer.send(&Order::Stop(ladder)).await
            }
        }
    }

    /// The screen is looked at again right before anything is typed into it.
    async fn still_asks(&self, line: &str) -> bool {
        let state = self.look_at_screen().await;
        matches!(state, ScreenState::Asking { line: seen, .. } if seen == line)
    }

    async fn look_at_screen(&self) -> ScreenState {
        let (dir, from) = (self.ear.hands.home.session(&self.ear.id.0), self.began_at);
        let look = ear::aside(move || screens::look_at_cursor(&dir, from)).await;
        let look = look.unwrap_or_default();
        judge_quiet(&look, &self.ear.hands.config().patterns())
    }

    async fn write(&mut self, waits: Waits, bytes: &[u8]) -> io::Result<()> {
        let order = self.next_order;
        self.next_order += 1;
        self.orders.insert(order, waits);
        self.wake_at.get_or_insert(Instant::now() + ANSWER_TIME);
        self.peer.send_raw(order, bytes).await
    }

    /// A holder that does not answer may have been stopped, which is no reason to be deaf for ever.
    /// One that waits for its agent to read is not hurt by it.
    async fn wake_holder(&mut self) {
        let (dir, process) = (self.ear.hands.home.session(&self.ear.id.0), self.process.clone());
        let woken = ear::aside(move || Ok(rouse::wake_if_stopped(&dir, Some(&process)))).await;
        if let Ok(Some(pid)) = woken {
            let what = format!("its holder (pid {pid}) was stopped and has been woken");
            complain(&self.ear.id, &io::Error::other(what));
        }
        self.wake_at = Some(Instant::now() + ANSWER_TIME);
    }

    /// The wait for the answer to an order, if there was one.
    fn answered(&mut self, order: u64) -> Option<Waits> {
        let waits = self.orders.remove(&order);
        self.wake_at = (!self.orders.is_empty()).then(|| Instant::now() + ANSWER_TIME);
        waits
    }

    async fn written(&mut self, order: u64) {
        match self.answered(order) {
            Some(Waits::Delivery(message, text)) => {
                // An agent with words of its own confirms in its own words what it took.
                if self.ear.dialect.source() == Source::Screen {
                    if let Err(fault) = self.ear.note_message(text) {
                        complain(&self.ear.id, &fault);
                    }
                    // Whoever was spoken to counts as at work until its screen says otherwise.
                    self.flows().await;
                    self.rest_at = Some(Instant::now() + WINDOW);
                }
                if self.ear.dialect.source() == Source::Transcript {
                    self.note_sent(message);
                }
                self.outcome(Outcome::Delivered { message }).await;
            }
            Some(Waits::Answer(ask)) => self.outcome(Outcome::AnswerGiven { ask }).await,
            Some(Waits::Nobody) | None => {}
        }
    }

    async fn refused(&mut self, order: u64, why: String) {
        match self.answered(order) {
            Some(Waits::Delivery(message, _)) => {
                self.outcome(Outcome::NotDelivered { message, why }).await;
            }
            Some(Waits::Answer(ask)) => self.outcome(Outcome::AnswerNotGiven { ask, why }).await,
            Some(Waits::Nobody) | None => complain(&self.ear.id, &io::Error::other(why)),
        }
    }

    /// What can never be handed over as it is.
    async fn refused_for_good(&mut self, order: u64, why: String) {
        match self.answered(order) {
            Some(Waits::Delivery(message, _)) => {
                self.outcome(Outcome::Undeliverable { message, why }).await;
            }
            Some(Waits::Answer(ask)) => self.outcome(Outcome::AnswerNotGiven { ask, why }).await,
            Some(Waits::Nobody) | None => complain(&self.ear.id, &io::Error::other(why)),
        }
    }

    async fn outcome(&self, outcome: Outcome) {
        self.ear.hands.line.tell(Input::Outcome { session: self.ear.id.clone(), outcome }).await;
    }
}
