//! The plan of a repository: shown, executed, paused, and its tasks taken up again.

use super::plan_keys::{execute_key, keys_of};
use super::plan_news::{tell_run_asking, told_now};
use super::say::Say;
use super::{Asked, Bot};
use crate::command::PlanVerb;
use crate::outbox::Lane;
use crate::store::{Change, Mark, PlanFollow, StoreFault};
use crate::text::Text;
use crate::words::{self, About};
use glis_client::Fault;
use glis_core::pause::PauseMode;
use glis_core::plan::Ruling;
use glis_wire::client::{Request, Response};
use glis_wire::plan::{Execute, PlanFile, PlanRequest, PlanView, WrittenTask};

/// Where a repository has its plan.
pub(super) const FILE: &str = ".glis/plan.toml";

impl Bot {
    /// What was typed behind `/plan`.
    pub(super) fn plan(
        &self,
        asked: &Asked,
        verb: PlanVerb,
        repo: Option<&str>,
    ) -> Result<(), StoreFault> {
        let Some(place) = self.place_of(repo).cloned() else {
            let known: Vec<&str> = self.repos.keys().map(String::as_str).collect();
            return self.reply(asked, words::no_repo(repo, &known));
        };
        match verb {
            PlanVerb::Show => self.show_plan(asked, &place),
            PlanVerb::Execute => self.execute_plan(asked, &place),
            PlanVerb::Pause { mode } => self.pause_plan(asked, &place, mode),
            PlanVerb::Resume { task } => self.resume_task(asked, &place, &task),
            PlanVerb::Restart { task } => self.restart_task(asked, &place, &task),
            PlanVerb::Rule { task, ruling } => self.rule_task(asked, &place, &task, ruling),
        }
    }

    /// A plan that is executed is heard of from then on.
    fn show_plan(&self, asked: &Asked, place: &str) -> Result<(), StoreFault> {
        match self.look_at_plan(place) {
            Ok(Some(plan)) => self.show_executed(asked, place, &plan),
            Ok(None) => {
                let request = PlanRequest::Read { place: place.to_owned(), file: None };
                match self.carry(asked, &Request::Plan(request))? {
                    Ok(Response::PlanFile(file)) => {
                        let keys = vec![vec![execute_key(place)]];
                        let say = Say::card(asked.place, Lane::Reply, as_written(&file), keys);
                        self.answer(asked, &[say], |_| Ok(()))
                    }
                    Ok(_) => self.complain_of_plan(asked, Fault::unfit()),
                    Err(fault) => self.complain_of_plan(asked, fault),
                }
            }
            Err(fault) => self.complain_of_plan(asked, fault),
        }
    }

    fn show_executed(&self, asked: &Asked, place: &str, plan: &PlanView) -> Result<(), StoreFault> {
        let text = words::plan_now(plan);
        // In the lane of what follows, so that this does not come before it.
        let say = Say::card(asked.place, Lane::Final, text, keys_of(place, plan));
        let at_work = match self.at_work(asked, plan)? {
            Ok(at_work) => at_work,
            Err(fault) => return self.complain_of_plan(asked, fault),
        };
        let follow = plan_follow(asked, place, plan);
        self.answer(asked, &[say], |change| hear_of(change, &follow, &at_work))?;
        if let Ok(asking) = self.asking(plan) {
            let now = self.now();
            self.change(|change| {
                words::plan_runs(plan)
                    .try_for_each(|run| tell_run_asking(change, &follow, (plan, run, &asking), now))
            })?;
        }
        // What is asked already has no event to come.
        for (session, ..) in &at_work {
            if let Ok(shown) = self.look_at(session) {
                self.show_asks(&shown)?;
            }
        }
        Ok(())
    }

    pub(super) fn execute_plan(&self, asked: &Asked, place: &str) -> Result<(), StoreFault> {
        let wanted = Execute { place: place.to_owned(), file: None, pace: None };
        match self.carry(asked, &Request::Plan(PlanRequest::Execute(wanted)))? {
            Ok(Response::Plan(plan)) => self.show_executed(asked, place, &plan),
            Ok(_) => self.complain_of_plan(asked, Fault::unfit()),
            Err(fault) => self.complain_of_plan(asked, fault),
        }
    }

    /// What becomes of its tasks is told as it happens.
    pub(super) fn pause_plan(
        &self,
        asked: &Asked,
        place: &str,
        mode: PauseMode,
    ) -> Result<(), StoreFault> {
        let plan = match self.meet_plan(asked, place)? {
            Ok(Some(plan)) => plan,
            Ok(None) => return self.reply(asked, "The plan was not executed yet."),
            Err(fault) => return self.complain_of_plan(asked, fault),
        };
        let request = PlanRequest::Pause { plan: plan.id, mode };
        match self.carry(asked, &Request::Plan(request))? {
            Ok(Response::Plan(plan)) => self.reply(asked, words::plan_paused(&plan)),
            Ok(_) => self.complain_of_plan(asked, Fault::unfit()),
            Err(fault) => self.complain_of_plan(asked, fault),
        }
    }

    pub(super) fn resume_task(
        &self,
        asked: &Asked,
        place: &str,
        task: &str,
    ) -> Result<(), StoreFault> {
        self.with_plan(asked, place, || {
            let (place, task) = (place.to_owned(), task.to_owned());
            let told = format!("{task} is resumed.");
            let request = PlanRequest::Resume { place, task, prompt: None };
            match self.carry(asked, &Request::Plan(request))? {
                Ok(Response::Runs(_)) => self.reply(asked, told),
                Ok(_) => self.complain_of_plan(asked, Fault::unfit()),
                Err(fault) => self.complain_of_plan(asked, fault),
            }
        })
    }

    pub(super) fn restart_task(
        &self,
        asked: &Asked,
        place: &str,
        task: &str,
    ) -> Result<(), StoreFault> {
        self.with_plan(asked, place, || {
            let (place, task) = (place.to_owned(), task.to_owned());
            let told = format!("{task} begins anew.");
            match self.carry(asked, &Request::Plan(PlanRequest::Restart { place, task }))? {
                Ok(Response::Runs(_)) => self.reply(asked, told),
                Ok(_) => self.complain_of_plan(asked, Fault::unfit()),
                Err(fault) => self.complain_of_plan(asked, fault),
            }
        })
    }

    pub(super) fn rule_task(
        &self,
        asked: &Asked,
        place: &str,
        task: &str,
        ruling: Ruling,
    ) -> Result<(), StoreFault> {
        self.with_plan(asked, place, || {
            let (place, task) = (place.to_owned(), task.to_owned());
            let told = format!("{task} {}.", ruling.means());
            let request = PlanRequest::Rule { place, task, ruling };
            match self.carry(asked, &Request::Plan(request))? {
                Ok(Response::Runs(_)) => self.reply(asked, told),
                Ok(_) => self.complain_of_plan(asked, Fault::unfit()),
                Err(fault) => self.complain_of_plan(asked, fault),
            }
        })
    }

    /// Does something with a task of a plan that this chat hears of.
    fn with_plan(
        &self,
        asked: &Asked,
        place: &str,
        act: impl FnOnce() -> Result<(), StoreFault>,
    ) -> Result<(), StoreFault> {
        match self.meet_plan(asked, place)? {
            Ok(_) => act(),
            Err(fault) => self.complain_of_plan(asked, fault),
        }
    }

    /// Hears of a plan before something is done with it, so that everything that comes of it is told.
    fn meet_plan(
        &self,
        asked: &Asked,
        place: &str,
    ) -> Result<Result<Option<PlanView>, Fault>, StoreFault> {
        let plan = match self.look_at_plan(place) {
            Ok(Some(plan)) => plan,
            unmet => return Ok(unmet),
        };
        let at_work = match self.at_work(asked, &plan)? {
            Ok(at_work) => at_work,
            Err(fault) => return Ok(Err(fault)),
        };
        let follow = plan_follow(asked, place, &plan);
        self.change(|change| match change.look().plan_follow(&plan.id, follow.chat)? {
            Some(_) => Ok(()),
            None => hear_of(change, &follow, &at_work),
        })?;
        Ok(Ok(Some(plan)))
    }

    /// The sessions that work on a plan, each with what this chat was told of it.
    fn at_work(
        &self,
        asked: &Asked,
        plan: &PlanView,
    ) -> Result<Result<Vec<AtWork>, Fault>, StoreFault> {
        let mut at_work = Vec::new();
        for run in words::plan_runs(plan).filter(|run| run.commit.is_none()) {
            let Some((session, name)) = run.session.as_ref().zip(run.session_name.as_ref()) else {
                continue;
            };
            match self.told_so_far(asked.place.chat, session)? {
                Ok(told) => at_work.push((session.clone(), name.clone(), told)),
                // It was removed, and says nothing any more.
                Err(Fault::Refused(_)) => {}
                Err(fault) => return Ok(Err(fault)),
            }
        }
        Ok(Ok(at_work))
    }

    /// A plan as it is executed, if it ever was.
    pub(super) fn look_at_plan(&self, place: &str) -> Result<Option<PlanView>, Fault> {
        let request = PlanRequest::Show { place: place.to_owned(), file: FILE.to_owned() };
        let response = self.desk.call(&super::asks::bot_itself(), Request::Plan(request))?;
        if response == Response::NoPlan {
            return Ok(None);
        }
        let Response::Plan(plan) = response else { return Err(Fault::unfit()) };
        Ok(Some(*plan))
    }

    /// The answer to something about a plan that came to nothing.
    fn complain_of_plan(&self, asked: &Asked, fault: Fault) -> Result<(), StoreFault> {
        self.tell_fault(asked, &(self.explain)(fault), About::Plan)
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

/// What the file of a plan has.
fn as_written(file: &PlanFile) -> Text {
    let task = |written: &WrittenTask| (written.task.id.clone(), written.task.title.clone());
    let tasks: Vec<(String, Option<String>)> = file.tasks.iter().map(task).collect();
    words::plan_written(file.title.as_deref(), &tasks)
}
