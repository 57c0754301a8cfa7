//! Bringing a process up: new sessions, resume, restart.

use super::{halt, keep, pause};
use crate::decision::{Decision, Reply};
use crate::draft::Draft;
use crate::effect::{Effect, Urgency};
use crate::event::Event;
use crate::ids::{OpId, SessionId};
use crate::input::Checked;
use crate::reason::{Verb, Why};
use crate::refusal::{Refusal, ResumeFault};
use crate::session::{
    AfterStop, CONTINUE, Deferral, Phase, Process, Rest, Start, StartCause, StartStep,
};
use crate::spec::{RefOrigin, SignSource, Spec};
use crate::talk::{Delivery, Message};
use crate::timer::{TimerKey, When};
use crate::usage_limit::GO_ON;
use crate::{claims, name};

pub(super) fn create(
    draft: Draft<'_>,
    id: &SessionId,
    name: &str,
    spec: &Spec,
    agent_ref: Option<&str>,
) -> Result<Decision, Refusal> {
    let house = draft.house;
    name::check(name).map_err(|why| Refusal::BadName { name: name.to_owned(), why })?;
    if !spec.idle.is_in_range() {
        return Err(Refusal::IdleLimitOutOfRange);
    }
    if spec.keep_process && !spec.can_keep_process() {
        return Err(Refusal::NothingToKeep { agent: spec.agent.clone(), mode: spec.mode });
    }
    if claims::is_taken(house.named(name), name, id) {
        return Err(Refusal::NameTaken { name: name.to_owned() });
    }
    let id_taken = || Refusal::NameTaken { name: id.0.clone() };
    if house.session(id).is_some() {
        return Err(id_taken());
    }
    if let Some(of) = spec.task.as_deref() {
        let run = house.plan(&of.plan).and_then(|plan| plan.run(&of.run));
        // Two daemons may have begun it, one after the other; it is worked on once.
        if !run.is_some_and(|run| run.session.is_none() && !run.is_over()) {
            return Err(Refusal::NoSuchTask { given: of.run.0.clone() });
        }
    }
    if spec.in_place {
        claims::check_place(house.stirring(), &spec.repo_root, id)?;
    }
    let op = house.next_op();
    let created = Event::SessionCreated {
        op,
        name: name.to_owned(),
        spec: Box::new(spec.clone()),
        agent_ref: agent_ref.map(ToOwned::to_owned),
    };
    let mut draft = draft.born(id, created).ok_or_else(id_taken)?;
    let starts = draft.session.starts_at_once() || spec.prompt.is_some();
    // A task waits for a place, since its plan does.
    if starts && spec.task.is_none() && draft.refuses_start() {
        return Err(draft.is_full());
    }
    if let Some(text) = &spec.prompt {
        draft.new_message(text.clone());
    }
    draft.effect(Effect::MakeWorktree { op });
    draft.reply(Reply::Pending(op));
    Ok(draft.decision)
}

pub(super) fn worktree_made(draft: &mut Draft<'_>, made: Event) {
    if let Some(stop) = stopped_early(draft) {
        draft.event(made);
        stop.nothing_runs(draft);
        return;
    }
    let Some(op) = made.op().filter(|op| at_step(draft, *op, StartStep::Worktree)) else { return };
    draft.event(made);
    let starts = draft.session.starts_at_once() || !draft.session.talk.queue.is_empty();
    match (starts, draft.must_wait()) {
        (true, None) => begin(draft, op, StartCause::New),
        (true, Some(why)) => {
            draft.event(Event::CreationEnded { op });
            draft.defer(StartCause::New, why);
        }
        (false, _) => draft.event(Event::CreationEnded { op }),
    }
}

pub(super) fn worktree_failed(draft: &mut Draft<'_>, op: OpId, why: Why) {
    if let Some(Stopped { op, .. }) = stopped_early(draft) {
        draft.event(Event::CreationFailed { op, why });
        return;
    }
    if at_step(draft, op, StartStep::Worktree) {
        draft.event(Event::CreationFailed { op, why });
    }
}

/// A stop that waits for what the start that it ends has under way.
struct Stopped {
    op: OpId,
    awaited: bool,
    then: AfterStop,
}

impl Stopped {
    fn of(draft: &Draft<'_>) -> Option<Self> {
        let Phase::Stopping { op, awaited, then, .. } = &draft.session.phase else { return None };
        Some(Self { op: *op, awaited: *awaited, then: then.clone() })
    }

    /// What was under way is over, and no process came of it.
    fn nothing_runs(self, draft: &mut Draft<'_>) {
        if let AfterStop::Pause { reason, clearing } = self.then {
            pause::begin_after_start(draft, self.op, reason, clearing);
        } else {
            draft.event(Event::Suspended { op: Some(self.op) });
            draft.wake = self.awaited;
        }
    }
}

/// The stop that waits for the worktree of a new session: half made it would be in everybody's way.
fn stopped_early(draft: &Draft<'_>) -> Option<Stopped> {
    Stopped::of(draft).filter(|_| draft.session.place.worktree.is_none())
}

/// A worktree is still being made for a session that was stopped meanwhile: git hangs.
pub(super) fn making_is_overdue(draft: &mut Draft<'_>, op: OpId) {
    if stopped_early(draft).is_some() {
        draft.effect(Effect::CutShort { op });
    }
}

pub(crate) fn resume(draft: &mut Draft<'_>, prompt: Option<String>) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Live => draft.reply(Reply::Already),
        Phase::Starting(start) => {
            let op = start.op;
            draft.reply(Reply::Pending(op));
        }
        Phase::Pausing(_) | Phase::Stopping { .. } | Phase::Chore { .. } => {
            return Err(draft.busy());
        }
        Phase::Rest(Rest::Completed | Rest::Archived) => {
            return Err(draft.wrong_status(Verb::Resume));
        }
        Phase::Rest(Rest::Failed(_)) if !draft.session.failed_early() => {
            return Err(draft.wrong_status(Verb::Resume));
        }
        Phase::Rest(Rest::Created)
            if draft.session.talk.queue.is_empty() && !draft.session.starts_at_once() =>
        {
            return Err(draft.wrong_status(Verb::Resume));
        }
        Phase::Rest(
            Rest::Paused(_) | Rest::Suspended | Rest::Interrupted | Rest::Created | Rest::Failed(_),
        ) => {
            if !draft.session.resumable() {
                return Err(Refusal::NotResumable {
                    session: draft.session.name.clone(),
                    agent: draft.session.spec.agent.clone(),
                    agent_ref: None,
                    site: draft.session.site(),
                    why: ResumeFault::NoRef,
                });
            }
            draft.check_start()?;
            let prompt = prompt.or_else(|| go_on_with_task(draft));
            if let Some(why) = draft.must_wait() {
                wait_to_resume(draft, prompt, why);
                return Ok(());
            }
            let op = draft.new_op();
            if let Some(text) = prompt {
                draft.new_message(text);
            } else {
                go_on(draft);
            }
            begin(draft, op, StartCause::Resume);
            return Ok(());
        }
    }
    // A prompt for a session that runs already is a message like any other.
    if let Some(text) = prompt {
        draft.new_message(text);
    }
    Ok(())
}

/// It is resumed when there is a place for it.
fn wait_to_resume(draft: &mut Draft<'_>, prompt: Option<String>, why: Deferral) {
    if let Some(text) = prompt {
        draft.new_message(text);
    } else {
        go_on(draft);
    }
    if draft.session.starts.deferred.is_none() {
        draft.defer(StartCause::Resume, why);
    }
    draft.reply(Reply::Deferred);
}

/// What a usage limit has left unanswered is gone on with, once: the agent has it in its conversation,
/// and does nothing with that until it is spoken to.
pub(crate) fn go_on(draft: &mut Draft<'_>) {
    let told = |message: &Message| message.text == GO_ON;
    if draft.session.ahead.limits.unanswered && !draft.session.talk.queue.iter().any(told) {
        draft.new_first_message(GO_ON.to_owned());
    }
}

/// What the agent has no trace of is asked again, which is better than to go on with it.
fn forget_go_on(draft: &mut Draft<'_>) {
    let told = |message: &&Message| {
        [GO_ON, CONTINUE].contains(&&*message.text) && message.delivery == Delivery::Queued
    };
    if let Some(message) = draft.session.talk.queue.iter().find(told).map(|message| message.id) {
        draft.event(Event::MessageDropped { message });
    }
}

/// What the agent of a task is told that was stopped in the middle of it: it would wait for a person, and
/// the plan for it.
fn go_on_with_task(draft: &Draft<'_>) -> Option<String> {
    let of = draft.session.spec.task.as_deref()?;
    let run = draft.plan(&of.plan)?.run(&of.run)?;
    let session = &draft.session;
    // A message that waits is said behind it: alone it would be answered, and the task called done.
    let told_already = session.talk.queue.iter().any(|message| message.text == CONTINUE);
    let cut = (session.talk.cut_off || session.talk.turn_failed.is_some()) && !told_already;
    // What a usage limit has left unanswered is gone on with anyway.
    let told = session.ahead.limits.unanswered;
    (!run.is_over() && cut && !told).then(|| CONTINUE.to_owned())
}

pub(crate) fn restart(
    draft: &mut Draft<'_>,
    agent_ref: Option<String>,
    prompt: Option<String>,
) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Rest(Rest::Archived | Rest::Created) => {
            return Err(draft.wrong_status(Verb::Restart));
        }
        // One operation: a crash in between finds it in the journal and goes on with it.
        Phase::Live => {
            halt::begin(draft, AfterStop::Restart { agent_ref, prompt });
            return Ok(());
        }
        Phase::Starting(_) | Phase::Pausing(_) | Phase::Stopping { .. } | Phase::Chore { .. } => {
            return Err(draft.busy());
        }
        Phase::Rest(_) if draft.gate.shut().is_some() => return Err(draft.is_shut()),
        // It cannot wait: until it begins, the conversation that it ends would still count.
        Phase::Rest(_) if draft.must_wait().is_some() => return Err(draft.is_full()),
        // What a pause has kept is ended first, as what runs is.
        Phase::Rest(_) if draft.session.is_frozen() => {
            halt::begin(draft, AfterStop::Restart { agent_ref, prompt });
            return Ok(());
        }
        Phase::Rest(_) => {}
    }
    let op = draft.new_op();
    begin_anew(draft, op, agent_ref, prompt);
    Ok(())
}

/// What waits in the queue goes to the fresh conversation, after its first message.
pub(super) fn begin_anew(
    draft: &mut Draft<'_>,
    op: OpId,
    agent_ref: Option<String>,
    prompt: Option<String>,
) {
    draft.event(Event::RestartBegan { op, agent_ref, prompt });
    begin(draft, op, StartCause::Restart);
}

/// Journals the intent; from here on the former process's signs are void.
pub(crate) fn begin(draft: &mut Draft<'_>, op: OpId, cause: StartCause) {
    if draft.session.is_frozen() {
        keep::thaw(draft, op, cause);
        return;
    }
    let generation = draft.session.agent.generation + 1;
    draft.event(Event::StartBegan { op, cause, generation });
    draft.effect(Effect::CheckStart { op });
}

/// Begins a start that has waited, unless it cannot be any more.
pub(crate) fn begin_deferred(draft: &mut Draft<'_>) {
    let Some(deferred) = draft.session.starts.deferred else { return };
    let free = draft.check_place().is_ok();
    let wanted = match deferred.cause {
        StartCause::New => draft.session.phase == Phase::Rest(Rest::Created),
        StartCause::Message => draft.session.wakes() && !draft.session.talk.queue.is_empty(),
        StartCause::Resume | StartCause::Restart => draft.session.can_resume(),
    };
    if free && wanted {
        let op = draft.new_op();
        begin(draft, op, deferred.cause);
    } else {
        draft.event(Event::StartForgone);
    }
}

pub(super) fn checked(draft: &mut Draft<'_>, op: OpId, result: Result<Checked, ResumeFault>) {
    let Checked { found, set_up, forgotten, unheard } = match result {
        Ok(checked) => checked,
        Err(fault) => return failed(draft, op, StartStep::Check, fault),
    };
    if at_step(draft, op, StartStep::Check) {
        draft.event(Event::StartChecked { op, found, set_up });
        for message in unheard {
            // The user may have decided meanwhile, or the agent has left the conversation that may have taken it.
            let doubted = |m: &Message| m.id == message && m.is_doubted_here();
            if draft.session.talk.queue.iter().any(doubted) {
                draft.event(Event::MessageRequeued { message });
            }
        }
        let waits = |text: &String| draft.session.talk.queue.iter().any(|m| m.text == *text);
        let lost: Vec<String> = forgotten.into_iter().filter(|text| !waits(text)).collect();
        if !lost.is_empty() {
            forget_go_on(draft);
        }
        for text in lost.into_iter().rev() {
            draft.new_first_message(text);
        }
        draft.effect(Effect::StartProcess { op, generation: draft.session.agent.generation });
    }
}

pub(super) fn process_started(
    draft: &mut Draft<'_>,
    op: OpId,
    generation: u32,
    process: Process,
    began_at: u64,
) {
    let stop = Stopped::of(draft).filter(|stop| !stop.then.saves_first());
    if let Some(stop) = stop
        && draft.session.agent.generation == generation
        && !draft.session.runs()
    {
        // A stop was faster: it has only just begun, and nothing keeps it from ending.
        draft.event(Event::ProcessStarted { op, process, began_at });
        let urgency = if stop.then.is_rest() { Urgency::Quiet } else { Urgency::Kill };
        draft.effect(Effect::StopProcess { generation, urgency });
        return;
    }
    if !at_step(draft, op, StartStep::Process) || draft.session.agent.generation != generation {
        if draft.session.agent.generation != generation || !draft.session.runs() {
            // The start was given up before this was told. The process is not wanted any more.
            draft.effect(Effect::StopProcess { generation, urgency: Urgency::Kill });
        }
        return;
    }
    draft.event(Event::ProcessStarted { op, process, began_at });
    let Phase::Starting(start) = &draft.session.phase else { return };
    let cause = start.cause;
    let must_show = draft.session.spec.traits.signs == SignSource::Structured
        && draft.session.spec.traits.refs != RefOrigin::None
        && matches!(cause, StartCause::Resume | StartCause::Message)
        && draft.session.agent.ran;
    if must_show {
        // Only the agent itself can say whether it accepts the id it was given.
        draft.timer(TimerKey::Ready(op), When::ready());
    } else {
        if let Some(text) =
            draft.session.starts.set_aside.as_ref().and_then(|aside| aside.prompt.clone())
        {
            draft.new_first_message(text);
        }
        draft.event(Event::StartEnded { op, cause });
    }
}

/// The agent showed that it takes messages: a start that waited for this is over.
pub(super) fn became_ready(draft: &mut Draft<'_>) {
    if let Phase::Starting(Start { op, cause, step: StartStep::Ready, .. }) = draft.session.phase
        && draft.session.rejected().is_none()
    {
        draft.event(Event::StartEnded { op, cause });
    }
}

pub(super) fn time_is_up(draft: &mut Draft<'_>, op: OpId) {
    if at_step(draft, op, StartStep::Ready) {
        // It runs and has not refused: a slow agent is no reason to lose the session.
        became_ready(draft);
    }
}

/// Nothing runs. A stop that was asked for meanwhile is fulfilled.
pub(super) fn not_started(draft: &mut Draft<'_>, op: OpId, fault: ResumeFault) {
    if let Some(stop) = Stopped::of(draft).filter(|stop| !stop.then.saves_first())
        && !draft.session.runs()
    {
        stop.nothing_runs(draft);
        return;
    }
    failed(draft, op, StartStep::Process, fault);
}

/// A report about another step than the present one comes too late to mean anything.
fn failed(draft: &mut Draft<'_>, op: OpId, step: StartStep, fault: ResumeFault) {
    if at_step(draft, op, step) {
        draft.event(Event::StartFailed { op, fault });
    }
}

fn at_step(draft: &Draft<'_>, op: OpId, step: StartStep) -> bool {
    matches!(&draft.session.phase, Phase::Starting(start) if start.op == op && start.step == step)
}
