//! The plan of a repository: shown, executed, paused, and its tasks taken up again.

use super::plan_keys::{execute_key, keys_of};
use super::plan_news::told_now;
use super::say::Say;
use super::{Asked, Bot, BotFault, Dealt, unfit};
use crate::command::PlanVerb;
use crate::outbox::Lane;
use crate::store::{Change, Mark, PlanFollow, StoreFault};
use crate::words::{self, About};
use glis_client::Fault;
use glis_core::pause::PauseMode;
use glis_wire::client::{Request, Response};
use glis_wire::plan::{Execute, PlanChange, PlanRequest, PlanView, WrittenTask};

/// Where a repository has its plan.
pub(super) const FILE: &str = ".glis/plan.toml";

impl Bot {
    /// What was typed behind `/plan`.
    pub(super) fn plan(&self, asked: &Asked, verb: PlanVerb, repo: Option<&str>) -> Dealt {
        match self.place_of(repo) {
            Some(place) => self.work_on_plan(asked, &place, verb),
            None => self.no_repo(asked, repo),
        }
    }

    pub(super) fn work_on_plan(&self, asked: &Asked, place: &str, verb: PlanVerb) -> Dealt {
        let at = place.to_owned();
        let dealt = match verb {
            PlanVerb::Show => self.show_plan(asked, place),
            PlanVerb::Execute => self.execute_plan(asked, place),
            PlanVerb::Pause { mode } => self.pause_plan(asked, place, mode),
            PlanVerb::Resume { task } => {
                let told = format!("{task} is resumed.");
                let request = PlanRequest::Resume { place: at, task, prompt: None };
                self.do_task(asked, place, request, told)
            }
            PlanVerb::Restart { task } => {
                let told = format!("{task} begins anew.");
                self.do_task(asked, place, PlanRequest::Restart { place: at, task }, told)
            }
            PlanVerb::Rule { task, ruling } => {
                let told = format!("{task} {}.", ruling.means());
                self.do_task(asked, place, PlanRequest::Rule { place: at, task, ruling }, told)
            }
            PlanVerb::Approve { task, said } => self.approve_task(asked, place, task, said),
            PlanVerb::Decline { task } => {
                let told = format!("{task} is no longer in the plan.");
                self.change_plan(asked, place, PlanChange::Remove { id: task }, told)
            }
        };
        match dealt {
            Err(BotFault::House(fault)) => self.tell_fault(asked, fault, About::Plan),
            dealt => dealt,
        }
    }

    /// A plan that is executed is heard of from then on.
    fn show_plan(&self, asked: &Asked, place: &str) -> Dealt {
        if let Some(plan) = self.look_at_plan(place)? {
            return self.show_executed(asked, place, &plan);
        }
        let request = PlanRequest::Read { place: place.to_owned(), file: None };
        let Response::PlanFile(file) = self.call(asked, Request::Plan(request))? else {
            return Err(unfit());
        };
        self.reply_with(asked, words::plan_written(&file), vec![vec![execute_key(place)]])
    }

    fn show_executed(&self, asked: &Asked, place: &str, plan: &PlanView) -> Dealt {
        let text = words::plan_now(plan);
        // In the lane of what follows, so that this does not come before it.
        let say = Say::card(asked.place, Lane::Final, text, keys_of(place, plan));
        let at_work = self.at_work(asked, plan)?;
        let follow = plan_follow(asked, place, plan);
        self.answer(asked, &[say], |change| hear_of(change, &follow, &at_work))?;
        // What is asked already has no event to come.
        for (session, ..) in &at_work {
            if let Ok(shown) = self.look_at(session) {
                self.show_asks(&shown)?;
            }
        }
        Ok(())
    }

    fn execute_plan(&self, asked: &Asked, place: &str) -> Dealt {
        let wanted = Execute { place: place.to_owned(), file: None, pace: None };
        let request = Request::Plan(PlanRequest::Execute(wanted));
        let Response::Plan(plan) = self.call(asked, request)? else { return Err(unfit()) };
        self.show_executed(asked, place, &plan)
    }

    /// What becomes of its tasks is told as it happens.
    fn pause_plan(&self, asked: &Asked, place: &str, mode: PauseMode) -> Dealt {
        let Some(plan) = self.meet_plan(asked, place)? else {
            return self.reply(asked, "The plan was not executed yet.");
        };
        let request = Request::Plan(PlanRequest::Pause { plan: plan.id, mode });
        let Response::Plan(plan) = self.call(asked, request)? else { return Err(unfit()) };
        self.reply(asked, words::plan_paused(&plan))
    }

    /// Does something with a task of a plan that this chat hears of.
    fn do_task(&self, asked: &Asked, place: &str, request: PlanRequest, told: String) -> Dealt {
        self.meet_plan(asked, place)?;
        let request = Request::Plan(request);
        let Response::Runs(_) = self.call(asked, request)? else { return Err(unfit()) };
        self.reply(asked, told)
    }

    /// What was edited since it was shown is not approved by the button below.
    fn approve_task(&self, asked: &Asked, place: &str, id: String, said: Option<u64>) -> Dealt {
        let says =
            |written: &WrittenTask| written.task.id == id && said == Some(written.task.said());
        if said.is_some() && !self.proposals(place)?.iter().any(says) {
            return self
                .reply(asked, format!("{id} is not proposed like this any more: /plan shows it."));
        }
        let told = format!("{id} is approved.");
        self.change_plan(asked, place, PlanChange::Approve { id }, told)
    }

    fn change_plan(&self, asked: &Asked, place: &str, change: PlanChange, told: String) -> Dealt {
        self.meet_plan(asked, place)?;
        let change = PlanRequest::Change { place: place.to_owned(), change: Box::new(change) };
        let Response::PlanFile(_) = self.call(asked, Request::Plan(change))? else {
            return Err(unfit());
        };
        self.reply(asked, told)
    }

    /// Tasks that agents propose, as the plan's file has them.
    pub(super) fn proposals(&self, place: &str) -> Result<Vec<WrittenTask>, Fault> {
        let request = PlanRequest::Read { place: place.to_owned(), file: None };
        let Response::PlanFile(file) = self.look(Request::Plan(request))? else {
            return Err(Fault::unfit());
        };
        Ok(file.tasks.into_iter().filter(|written| written.proposed).collect())
    }

    /// Hears of a plan before something is done with it, so that everything that comes of it is told.
    fn meet_plan(&self, asked: &Asked, place: &str) -> Dealt<Option<PlanView>> {
        let Some(plan) = self.look_at_plan(place)? else { return Ok(None) };
        let at_work = self.at_work(asked, &plan)?;
        let follow = plan_follow(asked, place, &plan);
        self.change(|change| match change.look().plan_follow(&plan.id, follow.chat)? {
            Some(_) => Ok(()),
            None => hear_of(change, &follow, &at_work),
        })?;
        Ok(Some(plan))
    }

    /// The sessions that work on a plan, each with what this chat was told of it.
    fn at_work(&self, asked: &Asked, plan: &PlanView) -> Dealt<Vec<AtWork>> {
        let mut at_work = Vec::new();
        for run in words::plan_runs(plan).filter(|run| run.commit.is_none()) {
            let Some((session, name)) = run.session.as_ref().zip(run.session_name.as_ref()) else {
                continue;
            };
            match self.told_so_far(asked.place.chat, session) {
                Ok(told) => at_work.push((session.clone(), name.clone(), told)),
                // It was removed, and says nothing any more.
                Err(BotFault::House(Fault::Refused(_))) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(at_work)
    }

    /// A plan as it is executed, if it ever was.
    pub(super) fn look_at_plan(&self, place: &str) -> Result<Option<PlanView>, Fault> {
        let request = PlanRequest::Show { place: place.to_owned(), file: FILE.to_owned() };
        match self.look(Request::Plan(request)) {
            Ok(Response::Plan(plan)) => Ok(Some(*plan)),
            Ok(Response::NoPlan) => Ok(None),
            Ok(_) => Err(Fault::unfit()),
            Err(fault) => Err(fault),
        }
    }
}

/// A session that works on a plan: its id, its name, and what a chat was told of it.
type AtWork = (String, String, Mark);

/// The chat that asks hears of a plan, and was shown how it is.
fn plan_follow(asked: &Asked, place: &str, plan: &PlanView) -> PlanFollow {
    PlanFollow {
        plan: plan.id.clone(),
        chat: asked.place.chat,
        thread: asked.place.thread,
        user: asked.user,
        place: place.to_owned(),
        told: told_now(plan),
    }
}

/// A chat hears of a plan from now on, and of the sessions that work on it.
fn hear_of(change: &Change<'_>, follow: &PlanFollow, at_work: &[AtWork]) -> Result<(), StoreFault> {
    change.follow_plan(follow)?;
    for (session, name, told) in at_work {
        change.follow(&follow.session(session, name, told.clone()))?;
    }
    Ok(())
}
