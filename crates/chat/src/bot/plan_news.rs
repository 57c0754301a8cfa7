//! What happens to plans, told in the chats that hear of them. What was told is kept with each, so that an
//! event that is read again tells nothing again.

use super::plan_keys::{keys_of, proposal_keys};
use super::say::Say;
use super::{Bot, Dealt};
use crate::outbox::Lane;
use crate::policy::Place;
use crate::store::{Change, Mark, PlanFollow, StoreFault};
use crate::text::Text;
use crate::words;
use glis_wire::plan::{PlanView, RunView, WrittenTask};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a chat was told of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Heard {
    /// The line of each run.
    runs: BTreeMap<String, String>,
    /// What was said when nothing went on by itself.
    rest: Option<String>,
    /// Tasks that were proposed.
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
