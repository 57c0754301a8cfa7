//! After a start of the daemon: what the log says meets what is found.
//!
//! An operation goes on from where its journal ends; its steps may be repeated safely. What may
//! not be repeated (typing into an agent) is left as it is, and asked about.

use super::{chore, compact, end, halt, judge, keep, looping, message, pause, save, start};
use crate::draft::Draft;
use crate::effect::{Effect, Urgency};
use crate::event::Event;
use crate::ids::OpId;
use crate::input::{Exit, World};
use crate::leftover::Leftovers;
use crate::pause::{Moment, PauseMode, PauseStep};
use crate::reason::Why;
use crate::refusal::ResumeFault;
use crate::session::{Phase, Process, Rest, Start, StartCause, StartStep, StopCause};
use crate::talk::Delivery;
use crate::timer::{TimerKey, When};

pub(super) fn observed(draft: &mut Draft<'_>, world: World) {
    draft.just_met = true;
    let world = match world {
        // The log has lost its end, and this is what it would have told of.
        World::Alive { generation, process, began_at, .. }
            if generation > draft.session.agent.generation
                && draft.session.phase != Phase::Rest(Rest::Archived) =>
        {
            adopt(draft, generation, process, began_at);
            // What callers wait for goes on beside it.
            save::again(draft);
            compact::again(draft);
            return;
        }
        // This process is not wanted any more. While it holds the session, no other can start.
        World::Alive { generation, .. }
            if generation != draft.session.agent.generation || !draft.session.expects_process() =>
        {
            draft.effect(Effect::StopProcess { generation, urgency: Urgency::Kill });
            World::Gone { left: Leftovers::default() }
        }
        World::Ended { generation, .. } if generation != draft.session.agent.generation => {
            ended_unknown(draft, generation);
            World::Gone { left: Leftovers::default() }
        }
        World::Alive { .. } | World::Ended { .. } | World::Gone { .. } => world,
    };
    save::again(draft);
    compact::again(draft);
    match draft.session.phase.clone() {
        // Its holder keeps it stopped; what was kept may have ended meanwhile.
        Phase::Rest(_) if draft.session.is_frozen() => match world {
            World::Alive { untouched, .. } => settle_live(draft, untouched),
            World::Ended { .. } | World::Gone { .. } => gone(draft, world),
        },
        Phase::Rest(_) => {}
        Phase::Chore { .. } => chore::again(draft),
        Phase::Starting(begun) => starting(draft, &begun, world),
        Phase::Live => match world {
            World::Alive { generation, .. } if draft.session.rejected().is_some() => {
                draft.effect(Effect::StopProcess { generation, urgency: Urgency::Kill });
            }
            World::Alive { untouched, .. } => {
                let_go_on(draft);
                settle_live(draft, untouched);
            }
            World::Ended { .. } | World::Gone { .. } => gone(draft, world),
        },
        Phase::Stopping { op, .. } if draft.session.place.worktree.is_none() => {
            draft.effect(Effect::MakeWorktree { op });
            halt::limit_making(draft, op);
        }
        // Its process is gone; what it left may not be saved yet.
        Phase::Stopping { op, .. } if !draft.session.expects_process() => {
            save::after_end(draft, Some(op));
        }
        Phase::Stopping { cause, .. } => match world {
            World::Alive { generation, .. } => {
                let urgency = match cause {
                    StopCause::Asked | StopCause::Shutdown => Urgency::Interrupt,
                    // No turn was open.
                    StopCause::Idle | StopCause::Memory => Urgency::Quiet,
                };
                draft.effect(Effect::StopProcess { generation, urgency });
            }
            World::Ended { .. } | World::Gone { .. } => gone(draft, world),
        },
        Phase::Pausing(under_way) => pausing(draft, under_way.op, under_way.step, world),
    }
}

/// Goes on with a start, from its last step.
fn starting(draft: &mut Draft<'_>, begun: &Start, world: World) {
    match begun.step {
        StartStep::Worktree => draft.effect(Effect::MakeWorktree { op: begun.op }),
        StartStep::Check => draft.effect(Effect::CheckStart { op: begun.op }),
        StartStep::Process => started_or_not(draft, begun.op, begun.cause, world),
        StartStep::Ready => match world {
            World::Alive { generation, .. } if draft.session.rejected().is_some() => {
                draft.effect(Effect::StopProcess { generation, urgency: Urgency::Kill });
            }
            World::Alive { .. } => draft.timer(TimerKey::Ready(begun.op), When::ready()),
            World::Ended { .. } | World::Gone { .. } => gone(draft, world),
        },
        StartStep::Thaw => match world {
            World::Alive { .. } => keep::thaw_again(draft, begun.op),
            World::Ended { .. } | World::Gone { .. } => gone(draft, world),
        },
    }
}

/// Takes over a process of a start that is not on record. What was queued by the log may have been
/// delivered since, so nothing of it is repeated: a person decides, or the agent's own words do.
fn adopt(draft: &mut Draft<'_>, generation: u32, process: Process, began_at: u64) {
    draft.event(Event::ProcessAdopted { generation, process, began_at });
    let_go_on(draft);
    // How many iterations there were is lost: whether there is another one is for a person to say.
    looping::stop(draft);
    doubt_queue(draft);
}

/// A pause that the log has lost may have stopped in place what is said to run, and nothing else would let
/// it go on.
fn let_go_on(draft: &mut Draft<'_>) {
    if draft.session.spec.keep_process {
        let op = draft.unpromised_op();
        keep::thaw_again(draft, op);
    }
}

/// A process has ended that may not be on record.
fn ended_unknown(draft: &mut Draft<'_>, generation: u32) {
    if generation > draft.session.agent.generation {
        looping::stop(draft);
        doubt_queue(draft);
    }
}

/// A process that is not on record may have been handed whatever waits by the log.
fn doubt_queue(draft: &mut Draft<'_>) {
    let open = draft.session.talk.queue.iter().filter(|m| m.delivery != Delivery::Doubtful);
    for message in open.map(|m| m.id).collect::<Vec<_>>() {
        draft.event(Event::MessageDoubted { message });
    }
}

fn started_or_not(draft: &mut Draft<'_>, op: OpId, cause: StartCause, world: World) {
    match world {
        World::Alive { generation, process, began_at, .. } => {
            start::process_started(draft, op, generation, process, began_at);
            let_go_on(draft);
        }
        World::Ended { .. } => gone(draft, world),
        // Nothing was started, so nothing was said: a task of a plan begins again by itself, in the
        // environment that the plan is executed in, and so does the next iteration of a loop, and what
        // comes back with the gate. That a daemon died is no failure of theirs.
        World::Gone { .. } if begins_by_itself(draft, cause) => {
            let generation = draft.session.agent.generation;
            draft.effect(Effect::StartProcess { op, generation });
        }
        World::Gone { .. } => {
            // Nothing was started. The caller is gone, and with it the environment that the
            // process was to have: falling back loses nothing, guessing might.
            let fault = ResumeFault::System(Why::NeverStarted.to_string());
            draft.event(Event::StartFailed { op, fault });
            if cause == StartCause::New {
                draft.event(Event::Interrupted { why: Why::FirstStartCutShort });
            }
        }
    }
}

/// Whether a start is none that a person waits for.
fn begins_by_itself(draft: &Draft<'_>, cause: StartCause) -> bool {
    match cause {
        StartCause::New => super::plan::work::works_for_plan(draft),
        StartCause::Restart => draft.session.iterates(),
        // It comes back with everything; asked for again, an open gate resumes nothing.
        StartCause::Resume => draft.gate.holds(&draft.session.id),
        StartCause::Message => false,
    }
}

/// It ran on without us. What was being typed when the daemon died may or may not have arrived.
fn settle_live(draft: &mut Draft<'_>, untouched: bool) {
    if untouched {
        message::take_back_in_flight(draft);
    } else {
        message::doubt_in_flight(draft);
    }
    let answering: Vec<_> = draft
        .session
        .asked()
        .iter()
        .filter(|ask| ask.answering)
        .map(|ask| ask.id.clone())
        .collect();
    for ask in answering {
        draft.event(Event::AnswerFailed { ask, why: Why::AnswerCutShort });
    }
    // What the rules had not said by then, they are asked again.
    judge::judge(draft, |_| true);
}

fn gone(draft: &mut Draft<'_>, world: World) {
    let generation = draft.session.agent.generation;
    match world {
        World::Alive { .. } => {}
        World::Ended { exit, .. } => end::process_ended(draft, generation, exit),
        World::Gone { left } => end::process_ended(draft, generation, Exit::unseen(left)),
    }
}

fn pauses_from_rest(draft: &Draft<'_>) -> bool {
    matches!(&draft.session.phase, Phase::Pausing(pause) if pause.from.is_some())
}

fn pausing(draft: &mut Draft<'_>, op: OpId, step: PauseStep, world: World) {
    let (lives, untouched) = match &world {
        World::Alive { untouched, .. } => (true, *untouched),
        World::Ended { .. } | World::Gone { .. } => (false, false),
    };
    if !lives && draft.session.runs() {
        gone(draft, world);
        // What it left behind may have ended the pause as well.
        let goes_on = matches!(&draft.session.phase, Phase::Pausing(pause) if pause.op == op);
        let again = matches!(step, PauseStep::Capturing | PauseStep::Saving | PauseStep::Sealing);
        if !goes_on || !again {
            return;
        }
    }
    if lives {
        settle_live(draft, untouched);
    }
    match step {
        PauseStep::Boundary if pauses_from_rest(draft) => pause::go_on_from_rest(draft, op),
        // The promise stands: it goes on when the agent's signs allow it, or once it is known that
        // it may disturb the agent.
        PauseStep::Boundary => {
            let disturbs = matches!(&draft.session.phase, Phase::Pausing(pause)
                if pause.mode == PauseMode::Interrupt);
            if disturbs {
                pause::look(draft, op);
            }
        }
        PauseStep::Interrupting => pause::await_safe_state(draft, op),
        PauseStep::Capturing => pause::take_step(draft, op, Effect::CaptureTerminal { op }),
        PauseStep::Saving => pause::take_snapshot(draft, op, Moment::BeforeStop),
        PauseStep::Sealing => pause::take_snapshot(draft, op, Moment::AfterStop),
        PauseStep::Freezing => keep::freeze_again(draft, op),
        PauseStep::Clearing => pause::take_step(draft, op, Effect::ClearWorktree { op }),
        PauseStep::Ending => {
            let generation = draft.session.agent.generation;
            draft
                .effect(Effect::StopProcess { generation, urgency: halt::urgency_of_pause(draft) });
        }
    }
}
