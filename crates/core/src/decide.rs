//! What each input leads to.

mod appointment;
mod ask;
mod budget;
mod chore;
mod compact;
mod deferred;
mod end;
mod gate;
mod halt;
mod idle;
mod judge;
mod keep;
mod looping;
mod message;
mod moved;
mod pause;
mod plan;
mod recover;
mod returning;
mod save;
mod sign;
mod start;
mod triage;
mod usage_limit;

use crate::decision::{Decision, Reply};
use crate::draft::{Draft, Policies};
use crate::event::Event;
use crate::house::House;
use crate::input::{Command, Hearing, Input, Outcome};
use crate::limits::Limits;
use crate::pause::Captured;
use crate::reason::FailedStep;
use crate::refusal::Refusal;
use crate::session::{Phase, Session};
use crate::subject::Subject;
use crate::timer::TimerKey;

/// A shut gate or a limit pauses what runs, and that may be safe at once; a pause that goes on keeps everything else
/// back; a save is of what has ended and not of what is woken; what is woken is handed nothing yet; and only what is
/// handed nothing is idle.
static POLICIES: Policies = Policies {
    session: &[
        gate::stop_if_shut,
        usage_limit::park,
        plan::work::stop_if_paused,
        plan::work::stop_with_session,
        plan::work::pause_if_failed,
        looping::course::pause_if_wanted,
        pause::go_on_if_safe,
        save::if_something_ended,
        gate::return_if_open,
        looping::course::go_on,
        message::wake,
        message::deliver_next,
        plan::work::end_if_done,
        plan::work::limit_time,
        judge::what_is_asked,
        plan::work::leave_place,
        idle::watch,
        usage_limit::plan,
        appointment::watch,
        triage::watch,
        budget::watch,
        compact::if_it_rests,
    ],
    house: &[deferred::start, gate::complete, plan::work::begin_ready, plan::work::give_place],
};

impl House {
    /// Says what `input` leads to, and changes nothing.
    pub fn decide(&self, input: Input) -> Result<Decision, Refusal> {
        decide(self, input)
    }

    /// Says what several commands at once lead to, and changes nothing: one decision, to be recorded
    /// as one, and a reply for each. Those that are refused keep the others from nothing.
    pub fn decide_together(
        &self,
        commands: Vec<Command>,
    ) -> (Decision, Vec<Result<Reply, Refusal>>) {
        together(self, commands)
    }
}

fn decide(house: &House, input: Input) -> Result<Decision, Refusal> {
    match input {
        Input::Command(command) => command_of(house, command),
        Input::Outcome { session, outcome } => Ok(match Draft::of(house, &POLICIES, &session) {
            Some(mut draft) => {
                take_outcome(&mut draft, outcome);
                draft.settle()
            }
            None => Decision::default(),
        }),
        Input::Sign { session, generation, spot, hearing, sign } => {
            Ok(match Draft::of(house, &POLICIES, &session) {
                Some(mut draft) if draft.session.agent.generation == generation => {
                    sign::take(&mut draft, spot, sign);
                    match hearing {
                        Hearing::Live => draft.settle(),
                        Hearing::CatchingUp => draft.decision,
                    }
                }
                // A sign of a process that was replaced says nothing about the one that runs.
                Some(_) | None => Decision::default(),
            })
        }
        Input::RepoMoved { from, to } => Ok(moved::repository(over(house), &from, &to)),
        Input::Limits(limits) => Ok(set_limits(house, limits)),
        Input::ConfigRead(fault) => Ok(config_was_read(house, fault)),
        Input::Gate(command) => Ok(gate::command(over(house), command)),
        Input::GateKept { op, result } => Ok(gate::kept(over(house), op, result)),
        Input::Plan(command) => plan::command(over(house), command),
        Input::PlanOutcome { plan, outcome } => Ok(plan::outcome(over(house), &plan, outcome)),
        Input::AllObserved => Ok(gate::found(over(house))),
        Input::TimerFired { key: TimerKey::Gate(op), .. } => Ok(gate::time_is_up(over(house), op)),
        Input::TimerFired { subject: Subject::Plan(plan), .. } => {
            Ok(plan::budget::time_is_up(over(house), &plan))
        }
        Input::TimerFired { subject, key } => Ok(subject
            .session()
            .and_then(|session| Draft::of(house, &POLICIES, session))
            .map(|draft| timer_fired(draft, key))
            .unwrap_or_default()),
        Input::DayUsed { date, cost_micros, tokens } => {
            Ok(budget::day_used(over(house), date, cost_micros, tokens))
        }
        Input::MemoryShort => Ok(idle::make_room(over(house))),
        // Nothing else follows: whatever else would be done may be what broke.
        Input::Broke { session, what, why } => Ok(match Draft::of(house, &POLICIES, &session) {
            Some(mut draft) if draft.session.upkeep.barred.is_none() => {
                draft.event(Event::Barred { what, why });
                draft.decision
            }
            Some(_) | None => Decision::default(),
        }),
        Input::Observed { session, world } => Ok(match Draft::of(house, &POLICIES, &session) {
            Some(mut draft) => {
                recover::observed(&mut draft, world);
                draft.settle()
            }
            None => Decision::default(),
        }),
    }
}

fn over(house: &House) -> Draft<'_> {
    Draft::over(house, &POLICIES)
}

/// The configuration has changed: what waits may have a place now.
fn set_limits(house: &House, limits: Limits) -> Decision {
    if house.limits() == limits {
        return Decision::default();
    }
    let mut draft = over(house);
    draft.limits = limits;
    draft.decision.events.push((Subject::House, Event::LimitsSet(limits)));
    draft.settle_house()
}

/// A fault of the configuration is told once, and that it is mended once.
fn config_was_read(house: &House, fault: Option<String>) -> Decision {
    let mut decision = Decision::default();
    if house.config_fault() != fault.as_deref() {
        let event = fault.map_or(Event::ConfigMended, |fault| Event::ConfigBroke { fault });
        decision.events.push((Subject::House, event));
    }
    decision
}

fn timer_fired(mut draft: Draft<'_>, key: TimerKey) -> Decision {
    match key {
        TimerKey::SafeState(op) => pause::time_is_up(&mut draft, op),
        // Of the two at most one is under way.
        TimerKey::Step(op) => {
            pause::step_is_overdue(&mut draft, op);
            start::making_is_overdue(&mut draft, op);
        }
        TimerKey::Ready(op) => start::time_is_up(&mut draft, op),
        // It is of the house.
        TimerKey::Gate(_) => {}
        TimerKey::Verdict => judge::time_is_up(&mut draft),
        TimerKey::Compact => compact::is_due(&mut draft),
        TimerKey::Budget => plan::work::time_is_up(&mut draft),
        // Whatever has happened to it meanwhile, it waits no longer for this.
        TimerKey::Retry(message) => {
            if draft.session.talk.queue.front().is_none_or(|m| m.id != message) {
                return Decision::default();
            }
        }
        TimerKey::Idle(spell) => idle::time_is_up(&mut draft, spell),
        TimerKey::ResumeAt(at) if draft.session.is_parked_until(at) => {
            usage_limit::is_due(&mut draft);
        }
        // It is resumed as if a user had asked for it.
        TimerKey::ResumeAt(at) if draft.session.appointment() == Some(at) => {
            appointment::is_due(&mut draft, at);
        }
        TimerKey::ResumeAt(_) => return Decision::default(),
        TimerKey::Work { warned } => budget::time_is_up(&mut draft, warned),
        TimerKey::Snooze(at) => triage::wake(&mut draft, at),
    }
    draft.settle()
}

fn command_of(house: &House, command: Command) -> Result<Decision, Refusal> {
    if let Command::New { id, name, spec, agent_ref } = &command {
        return start::create(over(house), id, name, spec, agent_ref.as_deref());
    }
    let session = command.session();
    let unknown = || Refusal::NoSuchSession { given: session.0.clone() };
    let mut draft = Draft::of(house, &POLICIES, session).ok_or_else(unknown)?;
    obey(&mut draft, command)?;
    Ok(draft.settle())
}

/// Each sees the house as it will be after those before it.
fn together(house: &House, commands: Vec<Command>) -> (Decision, Vec<Result<Reply, Refusal>>) {
    let mut known =
        commands.iter().filter_map(|command| Draft::of(house, &POLICIES, command.session()));
    let Some(mut draft) = known.next() else {
        let unknown =
            |command: &Command| Err(Refusal::NoSuchSession { given: command.session().0.clone() });
        return (Decision::default(), commands.iter().map(unknown).collect());
    };
    let mut replies = Vec::new();
    for command in commands {
        let id = command.session().clone();
        let obeyed = draft.turn_to(&id).and_then(|()| obey(&mut draft, command));
        replies.push(obeyed.map(|()| {
            draft.follow();
            std::mem::take(&mut draft.decision.reply)
        }));
    }
    draft.reply(Reply::Done);
    (draft.settle_house(), replies)
}

/// Does what is asked of the session in hand.
fn obey(draft: &mut Draft<'_>, command: Command) -> Result<(), Refusal> {
    if starts_process(&draft.session, &command) {
        draft.check_place()?;
    }
    match command {
        // It is decided on apart, since no session is there yet.
        Command::New { .. } => {}
        Command::Send { text, .. } => message::send(draft, text)?,
        Command::Pause { wish, until, .. } => {
            usage_limit::take_over(draft);
            looping::ask_to_pause(draft, wish)?;
            draft.release_from_gate();
            if let Some(until) = until {
                appointment::make(draft, until);
            }
        }
        // It would run on although nothing may.
        Command::CancelPause { .. } if draft.gate.shut().is_some() => {
            return Err(draft.is_shut());
        }
        Command::CancelPause { .. } if looping::withdraw(draft) => {}
        Command::CancelPause { .. } => {
            pause::cancel(draft)?;
            budget::grant(draft);
        }
        Command::Resume { prompt, .. } => {
            budget::grant(draft);
            if !looping::resume(draft, prompt.as_ref())? {
                start::resume(draft, prompt)?;
            }
        }
        Command::Restart { agent_ref, prompt, .. } => {
            budget::grant(draft);
            looping::restart(draft, agent_ref, prompt)?;
        }
        Command::Stop { cause, .. } => {
            let judged = plan::work::stop_judging(draft);
            looping::stop(draft);
            end::stop(draft, cause);
            if judged {
                plan::work::stop_plan(draft);
                // Its agent may have ended before; something is stopped all the same.
                if draft.decision.reply == Reply::Already {
                    draft.reply(Reply::Done);
                }
            }
        }
        Command::LimitIdle { limit, .. } => idle::limit(draft, limit)?,
        Command::Remove { running, .. } => {
            chore::remove(draft, running)?;
            plan::work::stop_judging(draft);
            looping::stop(draft);
        }
        Command::Snapshot { .. } => save::asked(draft)?,
        Command::Compact { .. } => compact::asked(draft)?,
        Command::Restore { snapshot, .. } => chore::restore(draft, snapshot)?,
        Command::Return { name, .. } => chore::bring_back(draft, name)?,
        Command::Empty { .. } => chore::empty(draft)?,
        Command::Acknowledge { .. } => acknowledge(draft),
        Command::Answer { ask, answer, reason, .. } => ask::answer(draft, ask, answer, reason)?,
        Command::SetAutoYes { on, .. } => judge::set(draft, on),
        Command::SetBudget { budget, cost_micros, tokens, .. } => {
            budget::set(draft, budget, (cost_micros, tokens))?;
        }
        Command::Triage { put, .. } => triage::put(draft, put)?,
        Command::BeginTyping { .. } => begin_typing(draft),
        Command::SetLoop { change, .. } => looping::set(draft, change)?,
    }
    Ok(())
}

/// Keys go to the holder past the daemon, so this is all that tells who pressed an approval. Where nothing
/// runs, or a pause has stopped it in place, nothing takes them.
fn begin_typing(draft: &mut Draft<'_>) {
    if draft.session.runs() && !draft.session.is_frozen() {
        draft.event(Event::TypingBegan);
    } else {
        draft.reply(Reply::Already);
    }
}

fn acknowledge(draft: &mut Draft<'_>) {
    let lost = draft.session.upkeep.damage.is_some() || draft.session.upkeep.folder_lost;
    let (damaged, barred) = (lost, draft.session.upkeep.barred.is_some());
    if damaged {
        draft.event(Event::DamageAcknowledged);
    }
    if barred {
        draft.event(Event::BarLifted);
    }
    if !damaged && !barred {
        draft.reply(Reply::Already);
    }
}

/// Whether a command brings up a process where none runs.
fn starts_process(session: &Session, command: &Command) -> bool {
    let brings_back = matches!(command, Command::Resume { .. } | Command::Restart { .. });
    brings_back && matches!(session.phase, Phase::Rest(_))
        || matches!(command, Command::Send { .. }) && session.wakes()
}

fn take_outcome(draft: &mut Draft<'_>, outcome: Outcome) {
    match outcome {
        Outcome::WorktreeMade { op, worktree, branch, notes } => {
            start::worktree_made(draft, Event::WorktreeMade { op, worktree, branch, notes });
        }
        Outcome::WorktreeFailed { op, why } => start::worktree_failed(draft, op, why),
        Outcome::StartChecked { op, result } => start::checked(draft, op, result),
        Outcome::ProcessNotStarted { op, fault } => start::not_started(draft, op, fault),
        Outcome::ProcessStarted { op, generation, process, began_at } => {
            start::process_started(draft, op, generation, process, began_at);
        }
        Outcome::Delivered { message } => message::delivered(draft, message),
        Outcome::Undeliverable { message, why } => message::undeliverable(draft, message, why),
        Outcome::NotDelivered { message, why } => message::not_delivered(draft, message, why),
        Outcome::NotTaken { message } => message::not_taken(draft, message),
        Outcome::AnswerGiven { ask } => ask::given(draft, &ask),
        Outcome::AnswerNotGiven { ask, why } => ask::not_given(draft, ask, why),
        Outcome::Used { cost_micros, tokens } => budget::used(draft, cost_micros, tokens),
        Outcome::UseChecked { spell, cause, usage } => idle::checked(draft, spell, cause, usage),
        Outcome::ReturnPlanned { at, now } => usage_limit::planned(draft, at, now),
        Outcome::Judged { generation, ask, verdict } => {
            if generation == draft.session.agent.generation {
                judge::judged(draft, &ask, verdict);
            }
        }
        Outcome::SaveChecked { op, result } => pause::save_checked(draft, op, result),
        Outcome::TerminalCaptured { op, screen_at } => pause::captured(draft, op, screen_at),
        Outcome::CaptureFailed { op, what, why } => {
            let failed = match what {
                Captured::Screen => FailedStep::Capture,
                Captured::Conversation => FailedStep::Conversation,
            };
            pause::failed(draft, op, failed, why);
        }
        Outcome::NotInterrupted { generation, why } => {
            pause::not_interrupted(draft, generation, why);
        }
        Outcome::CaptureOverdue { op, why } => pause::capture_overdue(draft, op, why),
        Outcome::SnapshotTaken { op, moment, result } => pause::saved(draft, op, moment, result),
        Outcome::SnapshotOverdue { op, moment, why } => {
            pause::save_overdue(draft, op, moment, why);
        }
        Outcome::Frozen { op, result } => pause::frozen(draft, op, result),
        Outcome::Thawed { op, result } => keep::thawed(draft, op, result),
        Outcome::Swept { op, left } => pause::swept(draft, op, left),
        Outcome::FolderLost => {
            if !draft.session.upkeep.folder_lost && draft.session.runs() {
                draft.event(Event::FolderLost);
            }
        }
        Outcome::ProcessEnded { generation, exit } => end::process_ended(draft, generation, exit),
        Outcome::WorktreeCleared { op, result } => pause::cleared(draft, op, result),
        Outcome::WorktreeSaved { op, occasion, generation, result } => {
            end::saved(draft, op, occasion, generation, result);
        }
        Outcome::ChoreEnded { op, result } => chore::ended(draft, op, result),
        Outcome::Compacted { op, entries, original } => {
            compact::succeeded(draft, op, entries, original);
        }
        Outcome::LookedBack(look) => looping::looked_back(draft, look),
        Outcome::NotCompacted { op, why } => compact::failed(draft, op, why),
        Outcome::CompactionEarly { wait } => compact::too_early(draft, wait),
    }
}
