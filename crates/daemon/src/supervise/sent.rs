//! A message that was typed and not yet seen to be taken. It is typed once more where the terminal
//! shows that it was not taken, asked about where it cannot be known, and never waited for in vain.

use super::link::Link;
use super::pending::{Sent, Typing, Waits};
use glis_agent::{ENTER, Interrupt, Shown};
use glis_core::MessageId;
use glis_core::input::Outcome;
use glis_core::pause::PauseStep;
use glis_core::session::{Phase, Session};
use glis_core::talk::Delivery;
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// An agent that took a message shows it at once and tells it by its hook or its transcript, which
/// are files: on a busy machine a second late. A screen that has been still for so long, with a
/// prompt at which nothing runs, is that of one that took nothing.
const UNTAKEN_TIME: Duration = Duration::from_secs(5);
/// So often Enter is pressed again where what was typed still stands at the prompt. A program that takes none
/// of them has something else in mind.
const ENTERS_MAX: u8 = 2;
/// How long an interruption waits for what was typed to begin something. A key that comes between
/// the text and its Enter takes the text back without a word.
const INTERRUPT_PATIENCE: Duration = Duration::from_secs(3);
/// The same for a turn that has begun and is not on the screen yet. While words flow some agents never
/// show that they work, so it must be short.
const SHOWN_PATIENCE: Duration = Duration::from_secs(1);
/// Before a key is taken for swallowed by an agent that still shows that it works. One that is only slow
/// would meet the second where the first has done its work.
const SWALLOWED_TIME: Duration = Duration::from_millis(1500);
/// How much later that is for an agent that does not show it, as while its words flow. What has ended a
/// turn is written down by then.
const UNSEEN_TIME: Duration = Duration::from_millis(3500);
/// Between two looks at whether it has.
const LOOK_PACE: Duration = Duration::from_millis(100);

impl Link {
    /// Remembers what was typed. If nothing ever moves on the screen, nothing was read: then there
    /// is nothing to judge.
    pub(super) fn note_sent(&mut self, message: MessageId, text: String) {
        self.typed.sent = Some(Sent::now(message, text));
        self.rest_at = Some(Instant::now() + UNTAKEN_TIME);
    }

    /// Judges what was typed by a screen that has come to rest.
    pub(super) async fn judge_sent(&mut self, shown: &Shown, lines: &[String]) -> io::Result<()> {
        let Some(Sent { message, at, .. }) = self.typed.sent else { return Ok(()) };
        let session = self.listener.session().await;
        let front = session.as_ref().and_then(|session| session.talk.queue.front());
        let delivery = front.filter(|front| front.id == message).map(|front| front.delivery);
        if !matches!(delivery, Some(Delivery::Sent | Delivery::Doubtful)) {
            self.typed.sent = None;
            return Ok(());
        }
        if self.moved_at <= at {
            return Ok(());
        }
        let due = self.moved_at + UNTAKEN_TIME;
        if Instant::now() < due {
            self.rest_at = Some(due);
            return Ok(());
        }
        let deaf = self.is_deaf().await;
        let stands = |sent: &Sent| {
            *shown == Shown::Draft
                && sent.enters < ENTERS_MAX
                && self.listener.dialect.holds(&sent.text, lines)
        };
        let outcome = match shown {
            // What was not read yet will be later.
            _ if deaf => {
                self.rest_at = Some(Instant::now() + UNTAKEN_TIME);
                return Ok(());
            }
            _ if self.typed.sent.as_ref().is_some_and(stands) => return self.enter_again().await,
            // A person is asked about it already.
            _ if delivery == Some(Delivery::Doubtful) => return Ok(()),
            Shown::Prompt if self.typed.retyped != Some(message) => {
                self.typed.retyped = Some(message);
                let why = "its terminal did not take it; it is typed once more".to_owned();
                Outcome::NotDelivered { message, why }
            }
            // It was typed twice, or something stands there that was not entered.
            Shown::Prompt | Shown::Draft => Outcome::NotTaken { message },
            Shown::Asking(_) | Shown::Dialog(_) | Shown::Other => return Ok(()),
        };
        self.typed.sent = None;
        self.outcome(outcome).await;
        Ok(())
    }

    /// Whether the agent does not wait for keys at present.
    pub(super) async fn is_deaf(&self) -> bool {
        let pid = self.process.pid;
        let look = move || Ok(glis_os::terminal::is_deaf(pid));
        self.listener.supervisor.run_blocking(look).await.unwrap_or(true)
    }

    /// Presses Enter once more: what was typed stands at the prompt, and nothing else.
    async fn enter_again(&mut self) -> io::Result<()> {
        if let Some(sent) = &mut self.typed.sent {
            sent.enters += 1;
        }
        self.rest_at = Some(Instant::now() + UNTAKEN_TIME);
        self.write(Waits::Nothing, ENTER).await
    }

    /// Interrupts the agent, once there is something to interrupt. What waits to be typed is not.
    pub(super) async fn interrupt(&mut self) -> io::Result<()> {
        if let Some(Typing { message, .. }) = self.typed.typing.take() {
            let why = "it was to be interrupted before the message was typed".to_owned();
            self.outcome(Outcome::NotDelivered { message, why }).await;
            self.typed.held = Some(Instant::now());
        } else if self.typed.sent.is_some() {
            self.typed.held = Some(Instant::now() + INTERRUPT_PATIENCE);
        } else if self.listener.dialect.shows_work(&[]).is_some() {
            self.typed.held = Some(Instant::now() + SHOWN_PATIENCE);
        } else {
            return self.press_interrupt().await;
        }
        self.look_at = Some(Instant::now());
        Ok(())
    }

    /// Lets an interruption go that has waited, as soon as what was typed has begun a turn and the
    /// screen shows it. If it is seen to have begun none, there is nothing to interrupt.
    pub(super) async fn judge_held(&mut self, shown: &Shown, lines: &[String]) -> io::Result<()> {
        let Some(until) = self.typed.held else { return Ok(()) };
        let Some(session) = self.listener.session().await else { return Ok(()) };
        let sent = self.typed.sent.as_ref().map(|sent| sent.message);
        let on_its_way = sent.is_some_and(|message| is_on_its_way(&session, message));
        let wanted = matches!(session.phase, Phase::Pausing(_));
        if !wanted || !(on_its_way || session.turn().under_way()) {
            self.typed.held = None;
            return Ok(());
        }
        let early = Instant::now() < until;
        let idle = matches!(shown, Shown::Prompt | Shown::Draft);
        let unseen = self.listener.dialect.shows_work(lines) == Some(false);
        if on_its_way && (early || idle) || unseen && early {
            self.look_at = Some(Instant::now() + LOOK_PACE);
            return Ok(());
        }
        self.typed.held = None;
        self.press_interrupt().await
    }

    /// Presses the key of an interruption once more that was swallowed: the turn goes on and the pause
    /// still waits for its end, though the screen shows work or a long time has passed.
    pub(super) async fn judge_swallowed(&mut self, lines: &[String]) -> io::Result<()> {
        let Some(at) = self.typed.swallowed_at else { return Ok(()) };
        let Some(session) = self.listener.session().await else { return Ok(()) };
        let works = self.listener.dialect.shows_work(lines) == Some(true);
        let unseen = if works { Duration::ZERO } else { UNSEEN_TIME };
        if !waits_for_its_end(&session) || !session.turn().under_way() {
            self.typed.swallowed_at = None;
        } else if at + unseen <= Instant::now() {
            return self.press_interrupt().await;
        } else {
            self.look_at = Some(at.max(Instant::now() + LOOK_PACE));
        }
        Ok(())
    }

    /// A key that an earlier daemon has pressed, or has died before it did, may be swallowed too.
    pub(super) async fn meet_interruption(&mut self) {
        if self.listener.session().await.is_some_and(|session| waits_for_its_end(&session)) {
            self.mind_swallowing();
        }
    }

    /// From now on the key counts as pressed. Where an agent never shows its work, it is not pressed twice.
    fn mind_swallowing(&mut self) {
        if self.listener.dialect.shows_work(&[]).is_some() {
            let at = Instant::now() + SWALLOWED_TIME;
            self.typed.swallowed_at = Some(at);
            self.look_at = Some(at);
        }
    }

    async fn press_interrupt(&mut self) -> io::Result<()> {
        self.mind_swallowing();
        match self.listener.dialect.interrupt() {
            Interrupt::Bytes(bytes) => self.write(Waits::Nothing, &bytes).await,
            Interrupt::Signal(number) => {
                self.peer.send(&glis_wire::hold::Order::Signal { number }).await
            }
        }
    }
}

/// Whether a pause has interrupted the turn and waits for its end.
fn waits_for_its_end(session: &Session) -> bool {
    matches!(&session.phase, Phase::Pausing(pause) if pause.step == PauseStep::Interrupting)
}

fn is_on_its_way(session: &Session, message: MessageId) -> bool {
    session.in_flight().is_some_and(|sent| sent.id == message)
}
