//! The fold, as far as starts of processes and their ends are concerned.

use super::pause::Progress;
use crate::ids::OpId;
use crate::leftover::Leftovers;
use crate::reason::Why;
use crate::refusal::ResumeFault;
use crate::rule::Rule;
use crate::session::{
    AfterStop, Chore, Phase, Process, Rejection, Rest, Run, Session, SetAside, Spoken, Start,
    StartCause, StartStep, StopCause, WallMs,
};
use crate::spec::RefOrigin;
use crate::tree::Found;

impl Session {
    pub(super) fn take_place(&mut self, worktree: &str, branch: Option<&String>, notes: &[String]) {
        self.starts.notes = notes.to_vec();
        self.place.worktree = Some(worktree.to_owned());
        self.place.branch = branch.cloned();
        self.step(StartStep::Check);
    }

    pub(super) fn begin_start(&mut self, op: OpId, cause: StartCause, generation: u32) {
        let from = self.resting();
        self.agent.generation = generation;
        self.run = None;
        self.upkeep.found = None;
        self.phase = Phase::Starting(Start { op, cause, step: StartStep::Check, from });
    }

    pub(super) fn check_start(&mut self, found: Option<&Found>, set_up: Option<&[String]>) {
        self.find_tree(found);
        if let Some(notes) = set_up {
            self.starts.notes = notes.to_vec();
        }
        self.step(StartStep::Process);
    }

    pub(super) fn begin_run(&mut self, process: &Process, began_at: u64) {
        let transcript_at = self.talk.seen.transcript;
        self.run = Some(Box::new(Run { transcript_at, ..Run::of(process.clone()) }));
        self.saved.baseline = None;
        self.talk.seen.stream = self.talk.seen.stream.max(began_at);
        self.step(StartStep::Ready);
    }

    pub(super) fn end_start(&mut self, at: WallMs, cause: StartCause) {
        self.course.rule = if self.thaws() { Rule::WentOn } else { Rule::Started };
        self.tell_that_it_asks();
        // What never ran cannot come back.
        if cause != StartCause::New && self.agent.ran {
            self.course.resumed_at = Some(at);
        }
        self.go_live();
    }

    /// Its process runs, and what was kept for a start that fails is not needed any more.
    fn go_live(&mut self) {
        self.phase = Phase::Live;
        self.agent.ran = true;
        self.course.failed_starts = 0;
        self.course.paused_at = None;
        self.agent
            .former_refs
            .extend(self.starts.set_aside.take().and_then(|aside| aside.agent_ref));
    }

    pub(super) fn reject(&mut self, what: Rejection) {
        if let Some(run) = &mut self.run {
            run.rejected = Some(what);
        }
    }

    pub(super) fn fail_start(&mut self, fault: &ResumeFault) {
        self.course.failed_starts += 1;
        // What was stopped in place and could not be let go on is still there.
        if !self.thaws() {
            self.run = None;
        }
        self.put_back();
        let is_new =
            matches!(&self.phase, Phase::Starting(start) if start.cause == StartCause::New);
        let rest = self.resting();
        let failed = is_new || matches!(rest, Rest::Failed(_));
        self.rest_as(if failed { Rest::Failed(Why::from(fault.to_string())) } else { rest });
        self.course.rule = Rule::StartFailed(fault.clone());
    }

    pub(super) fn begin_restart(&mut self, agent_ref: Option<&String>, prompt: Option<&String>) {
        let (ran, cut_off) = (self.agent.ran, self.talk.cut_off);
        let transcript = self.talk.seen.transcript;
        let former = self.enter(agent_ref.cloned());
        self.talk.queue.leave_doubts();
        let unanswered = std::mem::take(&mut self.ahead.limits.unanswered);
        self.starts.set_aside = Some(SetAside {
            prompt: prompt.cloned(),
            agent_ref: former,
            ran,
            cut_off,
            transcript,
            unanswered,
        });
        self.agent.ran = false;
        self.talk.cut_off = false;
        self.talk.turn_failed = None;
        self.talk.was_asking.clear();
        self.starts.allowed.clear();
    }

    pub(super) fn learn_ref(&mut self, agent_ref: &str) {
        let former = self.enter(Some(agent_ref.to_owned()));
        if former.is_some() {
            self.talk.queue.leave_doubts();
        }
        self.agent.former_refs.extend(former);
    }

    /// Goes over to another conversation of the agent's, and returns the id of the former one. A
    /// place in a transcript belongs to one conversation: each has its own, also when the agent
    /// comes back to it.
    fn enter(&mut self, agent_ref: Option<String>) -> Option<String> {
        let former = std::mem::replace(&mut self.agent.agent_ref, agent_ref);
        if let Some(former) = &former {
            self.talk.seen_before.insert(former.clone(), self.talk.seen.transcript);
        }
        let known = self.agent.agent_ref.as_ref().and_then(|id| self.talk.seen_before.get(id));
        self.talk.seen.transcript = known.copied().unwrap_or_default();
        former
    }

    /// A restart that failed, or was stopped before its end, has changed nothing.
    pub(super) fn put_back(&mut self) {
        if let Some(aside) = self.starts.set_aside.take() {
            self.agent.agent_ref = aside.agent_ref;
            self.agent.ran = aside.ran;
            self.talk.cut_off = aside.cut_off;
            self.ahead.limits.unanswered = aside.unanswered;
            self.talk.seen.transcript = aside.transcript;
        }
    }

    fn step(&mut self, to: StartStep) {
        if let Phase::Starting(start) = &mut self.phase {
            start.step = to;
        }
    }

    /// Whatever was under way by the log is long over: a later process lives, and so does the
    /// session. How far it is, it tells itself.
    pub(super) fn adopt(&mut self, generation: u32, process: &Process, began_at: u64) {
        // It was on its way out of the trash, and has got there.
        if matches!(&self.phase, Phase::Chore { chore: Chore::Return(_), .. }) {
            self.bring_back();
        }
        self.agent.generation = generation;
        // It is unknown what was said to it.
        self.run = Some(Box::new(Run { spoken: Spoken::Something, ..Run::of(process.clone()) }));
        self.talk.seen.stream = self.talk.seen.stream.max(began_at);
        self.go_live();
        self.course.rule = Rule::Adopted;
    }

    /// What was stopped in place writes again from now on.
    pub(super) fn begin_thaw(&mut self, op: OpId, cause: StartCause) {
        let from = self.resting();
        self.saved.baseline = None;
        self.upkeep.found = None;
        self.phase = Phase::Starting(Start { op, cause, step: StartStep::Thaw, from });
    }

    pub(super) fn begin_stop(&mut self, op: OpId, then: &AfterStop, cause: StopCause) {
        // What is told to end may write once more.
        self.saved.baseline = None;
        self.keep_asks();
        self.phase = Phase::Stopping { op, awaited: false, then: then.clone(), cause };
    }

    pub(super) fn end_run(&mut self, left: &Leftovers) {
        self.keep_asks();
        let run = self.run.take();
        self.talk.cut_off |= run.as_ref().is_some_and(|run| run.turn.under_way());
        // Who has told no id and was told nothing has not begun a conversation.
        let spoken = run.is_some_and(|run| run.spoken == Spoken::Something);
        let began = spoken || self.agent.agent_ref.is_some();
        self.agent.ran &= began || self.spec.traits.refs != RefOrigin::Learned;
        self.starts.leftovers.clone_from(left);
        self.move_pause(Progress::ProcessEnded);
    }

    pub(super) fn suspend(&mut self, op: Option<OpId>) {
        self.course.rule = match &self.phase {
            Phase::Stopping { cause: StopCause::Idle, .. } => Rule::Idled,
            Phase::Stopping { cause: StopCause::Memory, .. } => Rule::MadeRoom,
            Phase::Stopping { cause: StopCause::Asked, .. } => Rule::Stopped,
            Phase::Stopping { cause: StopCause::Shutdown, .. } => Rule::ShutDown,
            Phase::Starting(_)
            | Phase::Live
            | Phase::Pausing(_)
            | Phase::Rest(_)
            | Phase::Chore { .. } => op.map_or(Rule::EndedByItself, |_| Rule::Stopped),
        };
        self.put_back();
        self.rest_as(Rest::Suspended);
    }

    pub(super) fn interrupt(&mut self, why: &Why) {
        self.course.rule = Rule::Died(why.clone());
        self.rest_as(Rest::Interrupted);
    }

    pub(super) fn complete(&mut self) {
        self.course.rule = Rule::Completed;
        self.talk.was_asking.clear();
        self.rest_as(Rest::Completed);
    }

    pub(super) fn fail(&mut self, why: &Why) {
        self.course.rule = match self.spec.traits.refs {
            RefOrigin::None => Rule::CommandFailed,
            RefOrigin::Chosen | RefOrigin::Learned => Rule::AgentFailed(why.clone()),
        };
        self.rest_as(Rest::Failed(why.clone()));
    }
}
