//! The fold, as far as starts are concerned.

use crate::ids::OpId;
use crate::reason::Why;
use crate::refusal::ResumeFault;
use crate::rule::Rule;
use crate::session::{
    Phase, Process, Rejection, Rest, Run, Session, SetAside, Start, StartCause, StartStep, WallMs,
};
use crate::tree::Found;

impl Session {
    pub(super) fn take_place(&mut self, worktree: &str, branch: Option<&String>, notes: &[String]) {
        self.notes = notes.to_vec();
        self.worktree = Some(worktree.to_owned());
        self.branch = branch.cloned();
        self.step(StartStep::Check);
    }

    pub(super) fn begin_start(&mut self, op: OpId, cause: StartCause, generation: u32) {
        let from = self.resting();
        self.generation = generation;
        self.run = None;
        self.found = None;
        self.phase = Phase::Starting(Start { op, cause, step: StartStep::Check, from });
    }

    pub(super) fn check_start(&mut self, found: Option<&Found>, set_up: Option<&[String]>) {
        self.find_tree(found);
        if let Some(notes) = set_up {
            self.notes = notes.to_vec();
        }
        self.step(StartStep::Process);
    }

    pub(super) fn begin_run(&mut self, process: &Process, began_at: u64) {
        let transcript_at = self.seen.transcript;
        self.run = Some(Run { transcript_at, ..Run::of(process.clone()) });
        self.baseline = None;
        self.seen.stream = self.seen.stream.max(began_at);
        self.step(StartStep::Ready);
    }

    pub(super) fn end_start(&mut self, at: WallMs, cause: StartCause) {
        self.rule = if self.thaws() { Rule::WentOn } else { Rule::Started };
        self.tell_that_it_asks();
        self.phase = Phase::Live;
        // What never ran cannot come back.
        if cause != StartCause::New && self.ran {
            self.resumed_at = Some(at);
        }
        self.ran = true;
        self.failed_starts = 0;
        self.paused_at = None;
        self.former_refs.extend(self.set_aside.take().and_then(|aside| aside.agent_ref));
    }

    pub(super) fn reject(&mut self, what: Rejection) {
        if let Some(run) = &mut self.run {
            run.rejected = Some(what);
        }
    }

    pub(super) fn fail_start(&mut self, fault: &ResumeFault) {
        self.failed_starts += 1;
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
        self.rule = Rule::StartFailed(fault.clone());
    }

    pub(super) fn begin_restart(&mut self, agent_ref: Option<&String>, prompt: Option<&String>) {
        let (ran, cut_off) = (self.ran, self.cut_off);
        let transcript = self.seen.transcript;
        let former = self.enter(agent_ref.cloned());
        let unanswered = std::mem::take(&mut self.limits.unanswered);
        self.set_aside = Some(Box::new(SetAside {
            prompt: prompt.cloned(),
            agent_ref: former,
            ran,
            cut_off,
            transcript,
            unanswered,
        }));
        self.ran = false;
        self.cut_off = false;
        self.turn_failed = None;
        self.was_asking.clear();
        self.allowed.clear();
    }

    pub(super) fn learn_ref(&mut self, agent_ref: &str) {
        let former = self.enter(Some(agent_ref.to_owned()));
        self.former_refs.extend(former);
    }

    /// Goes over to another conversation of the agent's, and returns the id of the former one. A
    /// place in a transcript belongs to one conversation: each has its own, also when the agent
    /// comes back to it.
    fn enter(&mut self, agent_ref: Option<String>) -> Option<String> {
        let former = std::mem::replace(&mut self.agent_ref, agent_ref);
        if let Some(former) = &former {
            self.seen_before.insert(former.clone(), self.seen.transcript);
        }
        let known = self.agent_ref.as_ref().and_then(|id| self.seen_before.get(id));
        self.seen.transcript = known.copied().unwrap_or_default();
        former
    }

    /// A restart that failed, or was stopped before its end, has changed nothing.
    pub(super) fn put_back(&mut self) {
        if let Some(aside) = self.set_aside.take() {
            self.agent_ref = aside.agent_ref;
            self.ran = aside.ran;
            self.cut_off = aside.cut_off;
            self.limits.unanswered = aside.unanswered;
            self.seen.transcript = aside.transcript;
        }
    }

    fn step(&mut self, to: StartStep) {
        if let Phase::Starting(start) = &mut self.phase {
            start.step = to;
        }
    }
}
