//! The plan of a repository: shown with its buttons, executed, paused, its tasks taken up again; and what happens to it,
//! told in the chats that hear of it. What was told is kept with each, so that an event that is read again tells nothing
//! again.

use super::say::Say;
use super::{Asked, Bot, BotFault, Dealt, unfit};
use crate::button::{Act, Keys};
use crate::command::PlanVerb;
use crate::outbox::Lane;
use crate::policy::Place;
use crate::store::{Change, Mark, PlanFollow, StoreFault};
use crate::text::Text;
use crate::words::{self, About};
use glis_client::Fault;
use glis_core::merge::Unmerged;
use glis_core::pause::PauseMode;
use glis_core::plan::{Ruling, RunFault, TaskSpec};
use glis_wire::client::{Request, Response};
use glis_wire::plan::{Execute, PlanChange, PlanRequest, PlanView, RunView, WrittenTask};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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

/// So much of a task's name stands on a button.
const LABEL_CHARS: usize = 24;

fn key(label: String, place: &str, verb: PlanVerb) -> (String, Act) {
    (label, Act::Plan { place: place.to_owned(), verb })
}

/// Begins a plan, or goes on with it.
pub(super) fn execute_key(place: &str) -> (String, Act) {
    key("Execute".to_owned(), place, PlanVerb::Execute)
}

/// What can be said to a task that an agent proposes, where all of it was shown.
pub(super) fn proposal_keys(place: &str, task: &TaskSpec, is_whole: bool) -> Vec<(String, Act)> {
    let (label, said) = (words::short(&task.id, LABEL_CHARS), Some(task.said()));
    let approve = PlanVerb::Approve { task: task.id.clone(), said };
    let decline = PlanVerb::Decline { task: task.id.clone() };
    let mut keys = vec![key(format!("Decline {label}"), place, decline)];
    if is_whole {
        keys.insert(0, key(format!("Approve {label}"), place, approve));
    }
    keys
}

/// The ways on from where a plan is: a row for each task that stands still, and one for all of it.
pub(super) fn keys_of(place: &str, plan: &PlanView) -> Keys {
    let mut rows = Keys::new();
    // A handful is what fits on a screen; the rest is typed.
    for run in words::stuck(plan).take(6) {
        let task = run.task_id.clone();
        let label = words::short(&task, LABEL_CHARS);
        let mut row = Vec::new();
        if words::can_resume(run) {
            let resume = PlanVerb::Resume { task: task.clone() };
            row.push(key(format!("Resume {label}"), place, resume));
        }
        let rule = |label, ruling| key(label, place, PlanVerb::Rule { task: task.clone(), ruling });
        if run.unmerged == Some(Unmerged::Review) {
            row.push(rule(format!("Merge {label}"), Ruling::Accept));
            row.push(rule(format!("Reject {label}"), Ruling::Reject));
        } else if matches!(run.fault, Some(RunFault::NotAccepted(_))) {
            row.push(rule(format!("Take {label} as it is"), Ruling::Accept));
        }
        if run.asks.is_none() && run.doubt.is_none() && run.unmerged != Some(Unmerged::Review) {
            let restart = PlanVerb::Restart { task: task.clone() };
            row.push(key(format!("Begin {label} anew"), place, restart));
        }
        rows.push(row);
    }
    rows.retain(|row| !row.is_empty());
    if plan.done || plan.gate_shut {
        return rows;
    }
    if plan.paused.is_some() {
        rows.push(vec![execute_key(place)]);
    } else if !plan.at_rest {
        let pause = PlanVerb::Pause { mode: PauseMode::Interrupt };
        rows.push(vec![key("Pause".to_owned(), place, pause)]);
    }
    rows
}

/// What a chat was told of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Heard {
    /// The line of each run.
    runs: BTreeMap<String, String>,
    /// What was said when nothing went on by itself.
    rest: Option<String>,
    #[serde(default)]
    proposed: BTreeSet<String>,
}

impl Heard {
    fn of(plan: &PlanView) -> Self {
        let line = |run: &RunView| Some((run.run_id.clone(), words::run_line(run)?));
        // What a task asks is a card of its own.
        let told = words::plan_runs(plan).filter(|run| run.asks.is_none());
        Self {
            runs: told.filter_map(line).collect(),
            rest: words::rests(plan).filter(|_| plan.at_rest),
            proposed: BTreeSet::new(),
        }
    }
}

/// Everything that is known of a plan now, as told.
pub(super) fn told_now(plan: &PlanView) -> String {
    serde_json::to_string(&Heard::of(plan)).unwrap_or_default()
}

/// Events of a session that may make something else of the run that it is. A plan's own say so by their names.
const OF_RUNS: [&str; 13] = [
    "session_created",
    "start_ended",
    "asked",
    "ask_gone",
    "message_doubted",
    "message_refused",
    "paused",
    "suspended",
    "interrupted",
    "failed",
    "resume_appointed",
    "limit_over",
    "archived",
];

impl Bot {
    /// Tells what an event has made of the plans that chats hear of.
    pub(super) fn tell_plans(&self, name: &str, event: &Value) -> Dealt {
        let is_plan = name.starts_with("run_") || name.starts_with("plan_");
        if !is_plan && !OF_RUNS.contains(&name) && !name.starts_with("orchestrator:") {
            return Ok(());
        }
        let follows = self.store().look().followed_plans()?;
        if follows.is_empty() {
            return Ok(());
        }
        self.meet(&follows, event)?;
        let mut seen: BTreeMap<String, Option<PlanView>> = BTreeMap::new();
        for follow in follows {
            if !seen.contains_key(&follow.plan) {
                let plan = match self.look_at_plan(&follow.place) {
                    Ok(Some(plan)) => Some(plan),
                    Err(fault) if fault.is_lost() => return Err(fault.into()),
                    // A repository that is gone has no plan.
                    Ok(None) | Err(_) => None,
                };
                seen.insert(follow.plan.clone(), plan);
            }
            let Some(Some(plan)) = seen.get(&follow.plan) else { continue };
            self.change(|change| tell_plan(change, &follow, plan))?;
            if name == "plan_task_proposed" {
                let proposed = self.proposals(&follow.place)?;
                self.change(|change| tell_proposed(change, &follow, &proposed))?;
            }
        }
        Ok(())
    }

    /// A session that works on a task is heard of where its plan is: it may ask something.
    fn meet(&self, follows: &[PlanFollow], event: &Value) -> Result<(), StoreFault> {
        let text = |at: &str| event.pointer(at).and_then(Value::as_str);
        let Some((plan, session)) = text("/spec/task/plan").zip(text("/session")) else {
            return Ok(());
        };
        for follow in follows.iter().filter(|follow| follow.plan == plan) {
            let name = text("/name").unwrap_or_default();
            // It has just been made: everything that it says is told.
            let met = follow.session(session, name, Mark::default());
            self.change(|change| change.follow(&met))?;
        }
        Ok(())
    }
}

/// Tells a chat what has changed since it was last told.
fn tell_plan(change: &Change<'_>, follow: &PlanFollow, plan: &PlanView) -> Result<(), StoreFault> {
    // Read again within the change: a command may have told it meanwhile.
    let Some(follow) = change.look().plan_follow(&follow.plan, follow.chat)? else { return Ok(()) };
    let told: Heard = serde_json::from_str(&follow.told).unwrap_or_default();
    let heard = Heard { proposed: told.proposed.clone(), ..Heard::of(plan) };
    if heard == told {
        return Ok(());
    }
    let is_new = |run: &&RunView| heard.runs.get(&run.run_id) != told.runs.get(&run.run_id);
    let fresh: Vec<&RunView> = words::plan_runs(plan).filter(is_new).collect();
    let mut lines: Vec<String> =
        fresh.iter().filter_map(|run| heard.runs.get(&run.run_id).cloned()).collect();
    let rest = heard.rest.as_ref().filter(|_| heard.rest != told.rest);
    lines.extend(rest.cloned());
    if !lines.is_empty() {
        let place = Place { chat: follow.chat, thread: follow.thread };
        let title = words::plan_title(plan);
        let text = Text::default().bold(&title).and("\n").and(&lines.join("\n"));
        let needs_help = rest.is_some() || fresh.iter().any(|run| words::is_stuck(run));
        let keys = if needs_help { keys_of(&follow.place, plan) } else { Vec::new() };
        // All of it in one lane: what comes in another order tells what is not so any more.
        Say::card(place, Lane::Final, text, keys).put(change, follow.user)?;
    }
    if plan.done && plan.at_rest {
        return change.unfollow_plan(&follow.plan, follow.chat);
    }
    let told = serde_json::to_string(&heard)?;
    change.follow_plan(&PlanFollow { told, ..follow })
}

/// Tells a chat of each task that was proposed since, with its keys.
fn tell_proposed(
    change: &Change<'_>,
    follow: &PlanFollow,
    proposed: &[WrittenTask],
) -> Result<(), StoreFault> {
    let Some(follow) = change.look().plan_follow(&follow.plan, follow.chat)? else { return Ok(()) };
    let mut heard: Heard = serde_json::from_str(&follow.told).unwrap_or_default();
    for WrittenTask { task, .. } in proposed {
        if heard.proposed.insert(task.id.clone()) {
            let place = Place { chat: follow.chat, thread: follow.thread };
            let (text, is_whole) = words::proposal(task);
            let keys = proposal_keys(&follow.place, task, is_whole);
            Say::card(place, Lane::Final, text, vec![keys]).put(change, follow.user)?;
        }
    }
    let told = serde_json::to_string(&heard)?;
    change.follow_plan(&PlanFollow { told, ..follow })
}
