//! The fold, as far as the ends of processes are concerned.

use super::pause::Progress;
use crate::ids::OpId;
use crate::leftover::Leftovers;
use crate::reason::Why;
use crate::rule::Rule;
use crate::session::{AfterStop, Phase, Rest, Session, Spoken, StopCause};
use crate::spec::RefOrigin;

impl Session {
    pub(super) fn begin_stop(&mut self, op: OpId, then: &AfterStop, cause: StopCause) {
        // What is told to end may write once more.
        self.baseline = None;
        self.keep_asks();
        self.phase = Phase::Stopping { op, awaited: false, then: then.clone(), cause };
    }

    pub(super) fn end_run(&mut self, left: &Leftovers) {
        self.keep_asks();
        let run = self.run.take();
        self.cut_off |= run.as_ref().is_some_and(|run| run.turn.under_way());
        // Who has told no id and was told nothing has not begun a conversation.
        let spoken = run.is_some_and(|run| run.spoken == Spoken::Something);
        let began = spoken || self.agent_ref.is_some();
        self.ran &= began || self.spec.traits.refs != RefOrigin::Learned;
        self.leftovers.clone_from(left);
        self.move_pause(Progress::ProcessEnded);
    }

    pub(super) fn suspend(&mut self, op: Option<OpId>) {
        self.rule = match &self.phase {
            Phase::Stopping { cause: StopCause::Idle, .. } => Rule::Idled,
            Phase::Stopping { cause: StopCause::Memory, .. } => Rule::MadeRoom,
            Phase::Stopping { cause: StopCause::Asked, .. } => Rule::Stopped,
            Phase::Stopping { cause: StopCause::Shutdown, .. } => Rule::ShutDown,
            Phase::Starting(_)
            | Phase::Live
            | Phase::Pausing(_)
            | Phase::Rest(_)
            | Phase::Chore { .. } => {
                if op.is_some() {
                    Rule::Stopped
                } else {
                    Rule::EndedByItself
                }
            }
        };
        self.put_back();
        self.rest_as(Rest::Suspended);
    }

    pub(super) fn interrupt(&mut self, why: &Why) {
        self.rule = Rule::Died(why.clone());
        self.rest_as(Rest::Interrupted);
    }

    pub(super) fn complete(&mut self) {
        self.rule = Rule::Completed;
        self.was_asking.clear();
        self.rest_as(Rest::Completed);
    }

    pub(super) fn fail(&mut self, why: &Why) {
        self.rule = match self.spec.traits.refs {
            RefOrigin::None => Rule::CommandFailed,
            RefOrigin::Chosen | RefOrigin::Learned => Rule::AgentFailed(why.clone()),
        };
        self.rest_as(Rest::Failed(why.clone()));
    }
}
