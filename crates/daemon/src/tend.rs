//! Tending one holder: its reports become inputs, errands become its orders.
//!
//! What an agent says is listened to in one of three ways. A stream is followed byte by byte. A
//! transcript is read on whenever the terminal's output moves. Of anything else only the screen is
//! judged, once it is quiet: nobody pays for parsing what nobody looks at.

mod left;

use crate::adapters::{Adapters, Errand};
use crate::conversation::{Conversation, Heard as Place};
use crate::peer::Peer;
use crate::screens;
use glis_agent::{Dialect, Heard, Interrupt, Said, Source};
use glis_core::event::Spot;
use glis_core::input::{Outcome, Sign, World};
use glis_core::safe::{ScreenState, judge_quiet};
use glis_core::session::Session;
use glis_core::{AskId, Input, MessageId, SessionId};
use glis_wire::frame::Frame;
use glis_wire::hold::{ExitRecord, Hello, Ladder, Order, Report, place};
use glis_wire::view::Voice;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

pub(crate) use left::{await_former, sweep, what_is_left};

/// A program that prints no more than two characters in this time does not count as printing:
/// half a character a second.
const QUIET_TIME: Duration = Duration::from_secs(5);
const QUIET_BYTES: u64 = 2;
/// Between two looks at a program whose output flows.
const FLOW_PACE: Duration = Duration::from_secs(1);
/// Between two looks at a transcript whose terminal moves.
const TRANSCRIPT_PACE: Duration = Duration::from_millis(40);
/// An agent may write its transcript a moment after its terminal has come to rest.
const LAST_LOOK: Duration = Duration::from_millis(600);

/// What a raw frame with a number was sent for.
enum Waits {
    Delivery(MessageId, String),
    Answer(AskId),
    Nobody,
}

struct Tender {
    hands: Arc<Adapters>,
    id: SessionId,
    generation: u32,
    peer: Peer,
    dialect: Box<dyn Dialect>,
    conversation: Conversation,
    agent_ref: Option<String>,
    transcript: Option<(String, PathBuf)>,
    transcript_at: u64,
    orders: HashMap<u64, Waits>,
    next_order: u64,
    /// Length of the log as far as it was reported.
    end: u64,
    /// The screen counts as moving.
    flowing: bool,
    /// The agent has shown that it is ready.
    ready: bool,
    look_at: Option<Instant>,
    rest_at: Option<Instant>,
    /// What was there before this daemon is still being listened to.
    catching_up: Option<Hello>,
}

/// Connects to a holder that has just been started, and tends it.
pub(crate) fn begin(
    hands: &Arc<Adapters>,
    session: Session,
    errands: mpsc::Receiver<Errand>,
    runtime: &Handle,
) {
    let (hands, generation) = (Arc::clone(hands), session.generation);
    drop(runtime.spawn(async move {
        let dir = hands.home.session(&session.id.0);
        match meet(&dir).await {
            Ok((peer, hello)) => match Tender::new(&hands, &session, generation, peer, &hello) {
                Ok(tender) => tender.tend(errands).await,
                Err(fault) => complain(&session.id, &fault),
            },
            Err(fault) => complain(&session.id, &fault),
        }
        finish(&hands, session.id, generation).await;
    }));
}

/// After a start of the daemon: finds out what became of a session's process, and tends it if it
/// lives.
pub(crate) async fn recover(hands: &Arc<Adapters>, session: Session) {
    let dir = hands.home.session(&session.id.0);
    let generation = session.generation;
    let found = left::find_holder(&dir).await;
    if let Some((peer, hello)) = found
        && hello.ended.is_none()
        && hello.generation == generation
    {
        let errands = hands.open_errands(&session.id);
        match Tender::new(hands, &session, generation, peer, &hello) {
            Ok(mut tender) => {
                tender.catching_up = Some(hello);
                let hands = Arc::clone(hands);
                drop(tokio::spawn(async move {
                    tender.tend(errands).await;
                    finish(&hands, session.id, generation).await;
                }));
                return;
            }
            Err(fault) => complain(&session.id, &fault),
        }
    }
    let (own, id) = (Arc::clone(hands), session.id.clone());
    let world = tokio::task::spawn_blocking(move || left::world(&own, &id, generation)).await;
    let world = world.unwrap_or(World::Gone { killed: Vec::new() });
    hands.line.tell(Input::Observed { session: session.id, world }).await;
}

/// The connection is gone: so is the agent, or its holder, or both.
async fn finish(hands: &Arc<Adapters>, id: SessionId, generation: u32) {
    hands.close_errands(&id);
    hands.change_live(&id, |live| live.audience = 0);
    let (own, session) = (Arc::clone(hands), id.clone());
    let left = tokio::task::spawn_blocking(move || what_is_left(&own, &session, generation)).await;
    if let Ok((ending, ordered, killed)) = left {
        let outcome = Outcome::ProcessEnded { generation, ending, ordered, killed };
        hands.line.tell(Input::Outcome { session: id, outcome }).await;
    }
    hands.reap();
}

async fn meet(dir: &std::path::Path) -> io::Result<(Peer, Hello)> {
    let mut peer = Peer::connect(dir, place::SOCKET).await?;
    let first = peer.next().await?;
    match first.and_then(|frame| frame.words::<Report>().ok()) {
        Some(Report::Hello(hello)) => Ok((peer, hello)),
        Some(_) | None => Err(io::Error::other("the holder did not greet")),
    }
}

fn complain(id: &SessionId, fault: &io::Error) {
    crate::diary(&format!("session {id}: {fault}"));
}

impl Tender {
    fn new(
        hands: &Arc<Adapters>,
        session: &Session,
        generation: u32,
        peer: Peer,
        hello: &Hello,
    ) -> io::Result<Self> {
        let agent = glis_agent::find(&session.spec.agent)
            .ok_or_else(|| io::Error::other(format!("no agent {:?}", session.spec.agent)))?;
        let dir = hands.home.session(&session.id.0);
        let agent_ref = session.agent_ref.clone();
        let conversation = Conversation::open(&dir, agent_ref.as_deref())?;
        // Everything since the last sign that is accounted for, or the last entry that was written
        // down, whichever came first. Both lie at the end of a line.
        let known = conversation.stream_seen().min(session.seen.stream);
        Ok(Self {
            conversation,
            dialect: agent.dialect(session.spec.mode),
            transcript: agent_ref.as_ref().and_then(|id| {
                Some((id.clone(), PathBuf::from(agent.transcript(id, &hands.places)?)))
            }),
            hands: Arc::clone(hands),
            id: session.id.clone(),
            generation,
            peer,
            agent_ref,
            transcript_at: 0,
            orders: HashMap::new(),
            next_order: 1,
            end: hello.began_at.max(known),
            flowing: session.screen == ScreenState::Flowing,
            ready: session.ready,
            look_at: None,
            rest_at: None,
            catching_up: None,
        })
    }

    async fn tend(mut self, mut errands: mpsc::Receiver<Errand>) {
        if let Err(fault) = self.listen().await {
            return complain(&self.id, &fault);
        }
        loop {
            let due = [self.look_at, self.rest_at].into_iter().flatten().min();
            let asleep = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            let done = tokio::select! {
                frame = self.peer.next() => match frame {
                    Ok(Some(frame)) => self.hear(frame).await,
                    Ok(None) => break,
                    Err(fault) => Err(fault),
                },
                Some(errand) = errands.recv() => self.run_errand(errand).await,
                () = asleep => self.time_passed().await,
            };
            if let Err(fault) = done {
                complain(&self.id, &fault);
                break;
            }
        }
    }

    /// Begins to listen in the way that fits the agent.
    async fn listen(&mut self) -> io::Result<()> {
        match self.dialect.source() {
            Source::Stream => {
                self.peer.send(&Order::Follow { from: self.end }).await?;
            }
            Source::Transcript => {
                self.peer.send(&Order::Watch { beyond: self.end }).await?;
                self.read_transcript().await?;
            }
            Source::Screen => {
                self.peer.send(&Order::Watch { beyond: self.end }).await?;
                self.rest_at = Some(Instant::now() + QUIET_TIME);
            }
        }
        self.caught_up().await;
        Ok(())
    }

    /// Tells the controller about the world once everything that was said before is accounted for.
    async fn caught_up(&mut self) {
        let behind = self.dialect.source() == Source::Stream;
        let Some(hello) = &self.catching_up else { return };
        if behind && self.end < hello.end {
            return;
        }
        let world = World::Alive {
            generation: hello.generation,
            process: crate::adapters::process_of(&hello.process),
            began_at: hello.began_at,
        };
        self.catching_up = None;
        self.hands.line.tell(Input::Observed { session: self.id.clone(), world }).await;
    }

    async fn hear(&mut self, frame: Frame) -> io::Result<()> {
        if let Frame::Raw { tag, bytes } = &frame {
            let heard = self.dialect.hear(*tag, bytes);
            self.end = *tag + bytes.len() as u64;
            self.take_in(heard, Source::Stream).await?;
            self.caught_up().await;
            return Ok(());
        }
        let report = frame.words::<Report>();
        match report.map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault))? {
            Report::Output { end } => self.output_moved(end).await?,
            Report::Wrote { order } => self.written(order).await,
            Report::Refused { order, why } => self.refused(order, why).await,
            Report::Ended(record) => self.collect(&record).await?,
            Report::Audience { clients } => {
                let own = u32::from(self.dialect.source() == Source::Stream);
                let audience = clients.saturating_sub(own);
                self.hands.change_live(&self.id, |live| live.audience = audience);
            }
            Report::Gap { at, why } => {
                self.hands.change_live(&self.id, |live| live.gap_at = Some(at));
                complain(&self.id, &io::Error::other(format!("output lost from {at} on: {why}")));
            }
            Report::Hello(_) | Report::Resized { .. } => {}
        }
        Ok(())
    }

    /// The end is in the holder's record on disk; once the log has it too, the holder may go.
    async fn collect(&mut self, record: &ExitRecord) -> io::Result<()> {
        let mut news = self.hands.line.news.subscribe();
        let (ending, ordered, killed) = left::told_by(record);
        if self.dialect.source() == Source::Transcript {
            self.read_transcript().await?;
        }
        let outcome =
            Outcome::ProcessEnded { generation: self.generation, ending, ordered, killed };
        self.hands.line.tell(Input::Outcome { session: self.id.clone(), outcome }).await;
        while let Ok(published) = news.recv().await {
            let ended = matches!(published.recorded.event, glis_core::Event::ProcessEnded { .. });
            if ended && published.recorded.session == self.id {
                break;
            }
        }
        self.peer.send(&Order::Collected).await
    }

    async fn output_moved(&mut self, end: u64) -> io::Result<()> {
        self.end = end;
        match self.dialect.source() {
            Source::Stream => {}
            Source::Transcript => {
                self.look_at = Some(Instant::now() + TRANSCRIPT_PACE);
                self.rest_at = Some(Instant::now() + LAST_LOOK);
                self.read_transcript().await?;
                self.look_for_prompt().await;
            }
            Source::Screen => {
                if !self.flowing {
                    self.flowing = true;
                    self.sign(Spot::Screen, Sign::Screen(ScreenState::Flowing)).await;
                }
                self.look_at = Some(Instant::now() + FLOW_PACE);
                self.rest_at = Some(Instant::now() + QUIET_TIME);
            }
        }
        Ok(())
    }

    async fn time_passed(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if self.look_at.is_some_and(|at| at <= now) {
            self.look_at = None;
            let slack = if self.dialect.source() == Source::Screen { QUIET_BYTES } else { 0 };
            self.peer.send(&Order::Watch { beyond: self.end + slack }).await?;
            self.look_again().await?;
        }
        if self.rest_at.is_some_and(|at| at <= now) {
            self.rest_at = None;
            if self.dialect.source() == Source::Screen {
                self.judge_screen().await;
            } else {
                self.look_again().await?;
            }
        }
        Ok(())
    }

    async fn look_again(&mut self) -> io::Result<()> {
        if self.dialect.source() == Source::Transcript {
            self.read_transcript().await?;
            self.look_for_prompt().await;
        }
        Ok(())
    }

    async fn look_for_prompt(&mut self) {
        if self.ready {
            return;
        }
        let lines = screens::glance(&self.hands.home.session(&self.id.0)).unwrap_or_default();
        if self.dialect.shows_ready(&lines) {
            self.ready = true;
            self.sign(Spot::Screen, Sign::Ready).await;
        }
    }

    async fn judge_screen(&mut self) {
        let dir = self.hands.home.session(&self.id.0);
        let lines = screens::glance(&dir).unwrap_or_default();
        let state = judge_quiet(&lines, &self.hands.config.patterns());
        self.flowing = false;
        self.sign(Spot::Screen, Sign::Screen(state)).await;
    }

    async fn read_transcript(&mut self) -> io::Result<()> {
        let Some((_, path)) = &self.transcript else { return Ok(()) };
        let bytes = left::read_from(path, self.transcript_at)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let heard = self.dialect.read(self.transcript_at, &bytes);
        self.transcript_at += bytes.len() as u64;
        self.take_in(heard, Source::Transcript).await
    }

    /// Writes down what was said and passes on what it means, in that order: what is passed on is
    /// never heard again.
    async fn take_in(&mut self, heard: Vec<Heard>, source: Source) -> io::Result<()> {
        let mut grew = false;
        for Heard { at, sign, said } in heard {
            let (spot, place) = match source {
                Source::Stream => (Spot::Stream(at), Place::Stream(at)),
                Source::Transcript | Source::Screen => {
                    (Spot::Transcript(at), Place::Transcript(at))
                }
            };
            if let Some(said) = said {
                self.conversation.add(place, self.agent_ref.as_deref(), said)?;
                grew = true;
            }
            if let Some(Sign::RefKnown(id)) = &sign
                && self.agent_ref.as_ref() != Some(id)
            {
                self.follow_ref(id.clone()).await?;
            }
            if let Some(sign) = sign {
                self.ready |= sign == Sign::Ready;
                if sign == Sign::TurnEnded {
                    self.conversation.sync()?;
                }
                self.sign(spot, sign).await;
            }
        }
        if grew {
            self.hands.talk.send_modify(|length| *length += 1);
        }
        Ok(())
    }

    /// The agent goes by another id than we thought: its lock and its transcript are elsewhere.
    async fn follow_ref(&mut self, id: String) -> io::Result<()> {
        let session = self.hands.line.look(crate::controller::Look::One(self.id.0.clone())).await;
        if let Some(agent) =
            session.first().and_then(|session| glis_agent::find(&session.spec.agent))
        {
            let name = session.first().map_or("", |session| session.spec.agent.as_str());
            let lock =
                self.hands.home.state.join("locks").join(crate::launch::lock_name(name, &id));
            self.peer.send(&Order::Lock { path: lock.to_string_lossy().into_owned() }).await?;
            self.transcript = agent
                .transcript(&id, &self.hands.places)
                .map(|path| (id.clone(), PathBuf::from(path)));
        }
        self.agent_ref = Some(id);
        self.transcript_at = 0;
        Ok(())
    }

    async fn sign(&self, spot: Spot, sign: Sign) {
        let (session, generation) = (self.id.clone(), self.generation);
        self.hands.line.tell(Input::Sign { session, generation, spot, sign }).await;
    }

    async fn run_errand(&mut self, errand: Errand) -> io::Result<()> {
        match errand {
            Errand::Deliver { message, text } => {
                let keys = self.dialect.say(&text);
                self.write(Waits::Delivery(message, text), &keys).await
            }
            Errand::Answer { ask, answer } => {
                if self.dialect.source() == Source::Screen && !self.still_asks(&ask.text) {
                    let why = "the question is no longer on the screen".to_owned();
                    self.outcome(Outcome::AnswerNotGiven { ask: ask.id, why }).await;
                    return Ok(());
                }
                let keys = self.dialect.answer(&ask, &answer);
                self.write(Waits::Answer(ask.id), &keys).await
            }
            Errand::Interrupt => match self.dialect.interrupt() {
                Interrupt::Bytes(bytes) => self.write(Waits::Nobody, &bytes).await,
                Interrupt::Signal(number) => self.peer.send(&Order::Signal { number }).await,
            },
            Errand::Stop(ladder) => self.stop(ladder).await,
        }
    }

    async fn stop(&mut self, ladder: Ladder) -> io::Result<()> {
        self.peer.send(&Order::Stop(ladder)).await
    }

    /// The screen is looked at again right before anything is typed into it.
    fn still_asks(&self, line: &str) -> bool {
        let lines = screens::glance(&self.hands.home.session(&self.id.0)).unwrap_or_default();
        let state = judge_quiet(&lines, &self.hands.config.patterns());
        matches!(state, ScreenState::Asking { line: seen, .. } if seen == line)
    }

    async fn write(&mut self, waits: Waits, bytes: &[u8]) -> io::Result<()> {
        let order = self.next_order;
        self.next_order += 1;
        self.orders.insert(order, waits);
        self.peer.send_raw(order, bytes).await
    }

    async fn written(&mut self, order: u64) {
        match self.orders.remove(&order) {
            Some(Waits::Delivery(message, text)) => {
                // An agent with words of its own confirms in its own words what it took.
                if self.dialect.source() == Source::Screen {
                    let said =
                        Said { voice: Voice::User, content: text, tool: None, pending: None };
                    if let Err(fault) = self.conversation.add(Place::Ours, None, said) {
                        complain(&self.id, &fault);
                    }
                    self.hands.talk.send_modify(|length| *length += 1);
                }
                self.outcome(Outcome::Delivered { message }).await;
            }
            Some(Waits::Answer(ask)) => self.outcome(Outcome::AnswerGiven { ask }).await,
            Some(Waits::Nobody) | None => {}
        }
    }

    async fn refused(&mut self, order: u64, why: String) {
        match self.orders.remove(&order) {
            Some(Waits::Delivery(message, _)) => {
                self.outcome(Outcome::NotDelivered { message, why }).await;
            }
            Some(Waits::Answer(ask)) => self.outcome(Outcome::AnswerNotGiven { ask, why }).await,
            Some(Waits::Nobody) | None => complain(&self.id, &io::Error::other(why)),
        }
    }

    async fn outcome(&self, outcome: Outcome) {
        self.hands.line.tell(Input::Outcome { session: self.id.clone(), outcome }).await;
    }
}
