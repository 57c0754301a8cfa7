//! The one owner of all state: take inputs, decide, make durable, apply, tell, act.

use crate::copies::Copies;
use crate::failpoint;
use crate::log::{Checked, EventLog, LogFault};
use crate::mailbox::{Look, Mail, Mailbox, Occasion, Published};
use crate::panics::fault;
use crate::view::event_name;
use glis_core::reason::FailedStep;
use glis_core::{
    Command, Decision, Effect, Event, House, Input, Origin, Plan, Recorded, Refusal, Reply,
    Session, Subject,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tracing::{Level, debug, warn};

/// Inputs decided on before the log is written: one sync for all of them.
const BATCH_MAX: usize = 256;
/// What is told once the events are durable.
enum Due {
    Reply(oneshot::Sender<Result<Reply, Refusal>>, Result<Reply, Refusal>),
    Replies(oneshot::Sender<Vec<Result<Reply, Refusal>>>, Vec<Result<Reply, Refusal>>),
    Look(Look),
    Events(oneshot::Sender<Vec<Recorded>>, u64, u32),
    Checked(oneshot::Sender<Option<Checked>>, Option<Checked>),
    Closed(oneshot::Sender<()>),
}

/// Carries out what was decided on. Never blocks: the controller waits for it.
pub(crate) trait Act {
    fn carry_out(&self, effect: Effect, session: &Session);

    /// The same for what is about no session.
    fn carry_out_for_house(&self, effect: Effect, house: &House);

    /// The same for what is about a plan.
    fn carry_out_for_plan(&self, effect: Effect, plan: &Plan, house: &House);

    /// These events are durable, and this is what they have led to.
    fn take_note(&self, events: &[Recorded], house: &House);
}

pub(crate) struct Controller<A> {
    house: House,
    log: EventLog,
    /// The last event that is durable.
    committed: u64,
    mailbox: Mailbox,
    actor: A,
    copies: Copies,
}

/// What was decided on and is not durable yet.
#[derive(Default)]
struct Batch {
    events: Vec<Recorded>,
    effects: Vec<(Subject, Effect)>,
    published: Vec<Published>,
    /// A fault of ours, for which the daemon ends once this is durable.
    broken: Option<String>,
}

/// The session that something is about, if it is about one.
fn session_of<'h>(house: &'h House, subject: &Subject) -> Option<&'h Session> {
    subject.session().and_then(|id| house.session(id))
}

/// What an input is called.
fn kind_of(input: &Input) -> &'static str {
    match input {
        Input::Command(_) => "command",
        Input::Limits(_) | Input::ConfigRead(_) => "configuration",
        Input::RepoMoved { .. } => "move",
        Input::Gate(_) | Input::GateKept { .. } => "gate",
        Input::Plan(_) | Input::PlanOutcome { .. } => "plan",
        Input::Outcome { .. } => "outcome",
        Input::Sign { .. } => "sign",
        Input::TimerFired { .. } => "timer",
        Input::MemoryShort => "memory",
        Input::DayUsed { .. } => "budget",
        Input::Broke { .. } => "fault",
        Input::Observed { .. } | Input::AllObserved => "observation",
    }
}

impl<A: Act> Controller<A> {
    pub(crate) fn new(
        house: House,
        log: EventLog,
        mailbox: Mailbox,
        actor: A,
        copies: Copies,
    ) -> Self {
        let committed = house.last_seq();
        mailbox.reached(committed);
        Self { house, log, committed, mailbox, actor, copies }
    }

    /// Works until the house is closed or the log fails. After a failed write nothing is retried:
    /// what was decided on was never true, and the next start finds what is.
    pub(crate) fn run(mut self, mut inbox: mpsc::Receiver<Mail>) -> Result<(), LogFault> {
        while let Some(first) = inbox.blocking_recv() {
            let mut batch = vec![first];
            while batch.len() < BATCH_MAX
                && let Ok(more) = inbox.try_recv()
            {
                batch.push(more);
            }
            match self.work_through(batch) {
                Ok(true) => break,
                Ok(false) => {}
                Err(fault) => {
                    drop(inbox);
                    // Where the log is whole, it has it all; where the disk is full, nothing helps.
                    if matches!(fault, LogFault::Away { .. } | LogFault::Read(_)) {
                        self.copies.leave_cards(&self.house);
                    }
                    return Err(fault);
                }
            }
        }
        // A sender is told now that the mailbox is closed, instead of waiting for ever.
        drop(inbox);
        self.copies.close(&self.house, &self.log);
        Ok(())
    }

    /// Decides on a batch, makes it durable, then tells and acts. True when the house is closed.
    fn work_through(&mut self, mails: Vec<Mail>) -> Result<bool, LogFault> {
        let mut batch = Batch::default();
        let mut due = Vec::new();
        let mut occasions = Vec::new();
        for mail in mails {
            match mail {
                Mail::Input(input) => {
                    // Only commands can be refused, and this is none.
                    drop(self.decide(input, None, &mut batch)?);
                }
                Mail::Ask(input, from, answer) => {
                    let reply = self.decide(input, from.as_ref(), &mut batch)?;
                    due.push(Due::Reply(answer, reply));
                }
                Mail::Together(commands, from, answer) => {
                    let replies = self.decide_together(commands, from.as_ref(), &mut batch)?;
                    due.push(Due::Replies(answer, replies));
                }
                Mail::Look(look) => due.push(Due::Look(look)),
                Mail::Read { from, max, answer } => due.push(Due::Events(answer, from, max)),
                Mail::Check { after, to, max, answer } => {
                    // What cannot be read at all is told as such; it ends nothing.
                    due.push(Due::Checked(answer, self.log.check(after, to, max).ok()));
                }
                Mail::Close(answer) => due.push(Due::Closed(answer)),
                Mail::NotDurable(what) => return Err(LogFault::Beside(what)),
                Mail::Copy(occasion) => occasions.push(occasion),
                Mail::LookAtLog => self.keep_log_in_place()?,
            }
        }
        self.commit(&batch.events)?;
        // Before anybody sees what it tells of.
        self.actor.take_note(&batch.events, &self.house);
        // The caller learns the operation's number before its end can be published.
        let closed = self.settle(due)?;
        for news in batch.published {
            drop(self.mailbox.news.send(Arc::new(news)));
        }
        if let Some(why) = batch.broken {
            return Err(LogFault::Broken(why));
        }
        for (subject, effect) in batch.effects {
            self.carry_out(&subject, effect);
        }
        // Only now: before, the state was ahead of the log.
        self.copies.card(&batch.events, &self.house);
        occasions.push(Occasion::Grown(batch.events.len()));
        for occasion in occasions {
            self.copies.look(occasion, &self.house, &self.log);
        }
        Ok(closed)
    }

    /// Decides on one input. A panic in that is a fault of ours, and which input it was is told. A
    /// command is refused then, and everything is as before. Of anything else nothing can be refused,
    /// and an operation would wait for it for ever: its session is barred, the daemon ends in order,
    /// and the next one calls the operation off. If even that panics, the input is left out.
    fn decide(
        &mut self,
        input: Input,
        from: Option<&Origin>,
        batch: &mut Batch,
    ) -> Result<Result<Reply, Refusal>, LogFault> {
        let subject = input.subject();
        let session = session_of(&self.house, &subject);
        let was_barred = session.is_some_and(|session| session.upkeep.barred.is_some());
        let (kind, asked) =
            (kind_of(&input), matches!(input, Input::Command(_) | Input::Gate(_) | Input::Plan(_)));
        // Only where something has gone wrong before is it worth a copy of everything.
        let former = was_barred.then(|| self.house.clone());
        let decided = catch_unwind(AssertUnwindSafe(|| {
            failpoint::reach("decide", kind);
            self.house.decide(input)
        }));
        let why = match decided {
            Ok(Err(refusal)) => return Ok(Err(refusal)),
            Ok(Ok(decision)) => match self.record(decision, from, batch) {
                Ok(reply) => return Ok(Ok(reply)),
                Err(why) => {
                    let why = self.blame(&why, kind, &subject);
                    match former {
                        Some(former) => self.house = former,
                        None => return Err(self.give_up(subject, why)),
                    }
                    why
                }
            },
            Err(panic) => self.blame(&fault(panic.as_ref()), kind, &subject),
        };
        if asked {
            let step = FailedStep::Decide;
            return Ok(Err(Refusal::Failed {
                session: self.name_of(&subject),
                step,
                why: why.into(),
                unsent: Vec::new(),
            }));
        }
        if !was_barred && batch.broken.is_none() {
            if let Subject::Session(session) = subject {
                let broke = Input::Broke { session, what: kind.to_owned(), why: why.clone() };
                if let Ok(decision) = self.house.decide(broke) {
                    self.record(decision, None, batch).map_err(LogFault::Broken)?;
                }
            }
            batch.broken = Some(why);
        }
        Ok(Ok(Reply::Done))
    }

    /// Decides on several commands at once. After a panic in that, each is decided on alone, so that
    /// one session that cannot be decided on keeps the others from nothing.
    fn decide_together(
        &mut self,
        commands: Vec<Command>,
        from: Option<&Origin>,
        batch: &mut Batch,
    ) -> Result<Vec<Result<Reply, Refusal>>, LogFault> {
        let barred = |command: &Command| {
            self.house
                .session(command.session())
                .is_some_and(|session| session.upkeep.barred.is_some())
        };
        // A fold that panics leaves a state that is not to be trusted. Where that may happen, each is
        // decided on alone, with what that is worth.
        if !commands.iter().any(barred) {
            let decided = catch_unwind(AssertUnwindSafe(|| {
                failpoint::reach("decide", "command");
                self.house.decide_together(commands.clone())
            }));
            if let Ok((decision, replies)) = decided {
                let about = commands.first().map(|command| command.session().clone().into());
                return match self.record(decision, from, batch) {
                    Ok(_) => Ok(replies),
                    Err(why) => Err(self.give_up(about.unwrap_or(Subject::House), why)),
                };
            }
        }
        let alone = commands.into_iter();
        alone.map(|command| self.decide(Input::Command(command), from, batch)).collect()
    }

    fn name_of(&self, subject: &Subject) -> String {
        let session = session_of(&self.house, subject);
        session.map_or_else(|| subject.to_string(), |session| session.name.clone())
    }

    /// Says which input it was.
    fn blame(&self, why: &str, kind: &str, subject: &Subject) -> String {
        let told = format!("{why}, at {kind} of {}", self.name_of(subject));
        warn!("{told}");
        told
    }

    /// Folds a decision into the state. After an error the state is not to be trusted.
    fn record(
        &mut self,
        decision: Decision,
        from: Option<&Origin>,
        batch: &mut Batch,
    ) -> Result<Reply, String> {
        let at = crate::clock::now().as_millisecond();
        let (before, told) = (batch.events.len(), batch.published.len());
        let folded = catch_unwind(AssertUnwindSafe(|| {
            for (subject, event) in decision.events {
                let recorded = self.house.record(at, subject, event, from);
                let ended = recorded.event.ends();
                batch.published.push(Published { recorded: recorded.clone(), ended });
                batch.events.push(recorded);
            }
        }));
        if let Err(panic) = folded {
            batch.events.truncate(before);
            batch.published.truncate(told);
            return Err(fault(panic.as_ref()));
        }
        batch.effects.extend(decision.effects);
        Ok(decision.reply)
    }

    /// The state is not to be trusted any more, so nothing of this batch is true. That its session is
    /// barred is written beside it, for the next daemon.
    fn give_up(&mut self, subject: Subject, why: String) -> LogFault {
        let event = Event::Barred { what: "decide on it".to_owned(), why: why.clone() };
        let at = crate::clock::now().as_millisecond();
        let seq = self.committed + 1;
        match self.log.append(&[Recorded::new(seq, at, subject, event)]) {
            Ok(()) => LogFault::Broken(why),
            Err(fault) => fault,
        }
    }

    /// Every effect is about the house or a session that is there. One that is not would be missed, so
    /// it is told.
    fn carry_out(&self, subject: &Subject, effect: Effect) {
        let session = match subject {
            Subject::Session(id) => self.house.session(id),
            Subject::House => return self.actor.carry_out_for_house(effect, &self.house),
            Subject::Plan(id) => {
                if let Some(plan) = self.house.plan(id) {
                    return self.actor.carry_out_for_plan(effect, plan, &self.house);
                }
                None
            }
        };
        if let Some(session) = session {
            self.actor.carry_out(effect, session);
        } else {
            warn!("nothing carries out an effect about {subject}");
        }
    }

    fn commit(&mut self, events: &[Recorded]) -> Result<(), LogFault> {
        if events.is_empty() {
            return Ok(());
        }
        failpoint::pass("before", events);
        self.keep_log_in_place()?;
        self.log.append(events)?;
        self.committed = events.last().map_or(self.committed, |last| last.seq);
        tell(events);
        self.mailbox.reached(self.committed);
        failpoint::pass("after", events);
        Ok(())
    }

    /// Writes the log anew if its file was deleted, moved or replaced: everything that was
    /// ever recorded is still open.
    fn keep_log_in_place(&mut self) -> Result<(), LogFault> {
        if !self.log.is_away() {
            return Ok(());
        }
        let told = self.log.put_back()?;
        warn!("{told}");
        self.mailbox.rename_log(self.log.id());
        Ok(())
    }

    fn settle(&self, due: Vec<Due>) -> Result<bool, LogFault> {
        let mut closed = false;
        for due in due {
            // A caller that has gone meanwhile does not need the reply.
            match due {
                Due::Reply(answer, reply) => drop(answer.send(reply)),
                Due::Replies(answer, replies) => drop(answer.send(replies)),
                Due::Look(look) => {
                    // A look that panics is one that has no answer, and no harm to what is looked at.
                    drop(catch_unwind(AssertUnwindSafe(|| look(&self.house))));
                }
                Due::Events(answer, from, max) => drop(answer.send(self.log.read(from, max)?)),
                Due::Checked(answer, checked) => drop(answer.send(checked)),
                Due::Closed(answer) => {
                    answer.send(()).ok();
                    closed = true;
                }
            }
        }
        Ok(closed)
    }
}

/// The names of what was recorded, and no more of it: the rest is in the event log.
fn tell(events: &[Recorded]) {
    if tracing::enabled!(Level::DEBUG) {
        for Recorded { seq, subject, event, .. } in events {
            debug!(seq, %subject, "{}", event_name(event));
        }
    }
}
