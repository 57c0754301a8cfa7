//! What happens to plans, told in the chats that hear of them. What was told is kept with each, so that an
//! event that is read again tells nothing again.

use super::Bot;
use super::asks::tell_question;
use super::plan_keys::keys_of;
use super::say::Say;
use super::tell::Untold;
use crate::outbox::Lane;
use crate::policy::Place;
use crate::store::{Change, Mark, PlanFollow, StoreFault};
use crate::text::Text;
use crate::words;
use glis_client::Fault;
use glis_wire::plan::{PlanView, RunView};
use glis_wire::view::{SessionView, WaitingFor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a chat was told of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Heard {
    /// The line of each run.
    runs: BTreeMap<String, String>,
    /// What was said when nothing went on by itself.
    rest: Option<String>,
}

impl Heard {
    fn of(plan: &PlanView) -> Self {
        let line = |run: &RunView| Some((run.run_id.clone(), words::run_line(run)?));
        Self {
            runs: words::plan_runs(plan).filter_map(line).collect(),
            rest: words::rests(plan).filter(|_| plan.at_rest),
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
    pub(super) fn tell_plans(&self, name: &str, event: &Value) -> Result<(), Untold> {
        let is_plan = name.starts_with("run_") || name.starts_with("plan_");
        if !is_plan && !OF_RUNS.contains(&name) && !name.starts_with("orchestrator:") {
            return Ok(());
        }
        let follows = self.store().look().followed_plans()?;
        if follows.is_empty() {
            return Ok(());
        }
        self.meet(&follows, event)?;
        let mut seen: BTreeMap<String, Option<(PlanView, Vec<SessionView>)>> = BTreeMap::new();
        for follow in follows {
            if !seen.contains_key(&follow.plan) {
                let plan = match self.look_at_plan(&follow.place) {
                    Ok(Some(plan)) => {
                        let asking = self.asking(&plan)?;
                        Some((plan, asking))
                    }
                    Err(fault) if fault.is_lost() => return Err(fault.into()),
                    // A repository that is gone has no plan.
                    Ok(None) | Err(_) => None,
                };
                seen.insert(follow.plan.clone(), plan);
            }
            let Some(Some((plan, asking))) = seen.get(&follow.plan) else { continue };
            let now = self.now();
            self.change(|change| tell_plan(change, &follow, (plan, asking), now))?;
        }
        Ok(())
    }

    /// The sessions of a plan that ask something.
    pub(super) fn asking(&self, plan: &PlanView) -> Result<Vec<SessionView>, Fault> {
        let mut asking = Vec::new();
        for run in words::plan_runs(plan).filter(|run| run.asks.is_some()) {
            match run.session.as_deref().map(|session| self.look_at(session)) {
                Some(Ok(session)) => asking.push(session),
                // It was removed meanwhile.
                Some(Err(Fault::Refused(_))) | None => {}
                Some(Err(fault)) => return Err(fault),
            }
        }
        Ok(asking)
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
fn tell_plan(
    change: &Change<'_>,
    follow: &PlanFollow,
    (plan, asking): (&PlanView, &[SessionView]),
    now: i64,
) -> Result<(), StoreFault> {
    // Read again within the change: a command may have told it meanwhile.
    let Some(follow) = change.look().plan_follow(&follow.plan, follow.chat)? else { return Ok(()) };
    let told: Heard = serde_json::from_str(&follow.told).unwrap_or_default();
    let heard = Heard::of(plan);
    if heard == told {
        return Ok(());
    }
    let (asked, fresh): (Vec<_>, Vec<_>) = words::plan_runs(plan)
        .filter(|run| heard.runs.get(&run.run_id) != told.runs.get(&run.run_id))
        .filter_map(|run| Some((run, words::run_line(run)?)))
        .partition(|(run, _)| question_of(run, asking).is_some());
    let mut lines: Vec<String> = fresh.iter().map(|(_, line)| line.clone()).collect();
    let rest = heard.rest.as_ref().filter(|_| heard.rest != told.rest);
    lines.extend(rest.cloned());
    if !lines.is_empty() {
        let place = Place { chat: follow.chat, thread: follow.thread };
        let title = words::plan_title(plan);
        let text = Text::default().bold(&title).and("\n").and(&lines.join("\n"));
        let needs_help = rest.is_some() || fresh.iter().any(|(run, _)| words::is_stuck(run));
        let keys = if needs_help { keys_of(&follow.place, plan) } else { Vec::new() };
        // All of it in one lane: what comes in another order tells what is not so any more.
        Say::card(place, Lane::Final, text, keys).put(change, follow.user, now)?;
    }
    for (run, _) in asked {
        tell_run_asking(change, &follow, (plan, run, asking), now)?;
    }
    if plan.done && plan.at_rest {
        return change.unfollow_plan(&follow.plan, follow.chat);
    }
    let told = serde_json::to_string(&heard)?;
    change.set_plan_told(&follow.plan, follow.chat, &told)
}

/// What the session of a run asks.
fn question_of<'s>(
    run: &RunView,
    asking: &'s [SessionView],
) -> Option<(&'s SessionView, &'s WaitingFor)> {
    let session = asking.iter().find(|session| Some(&session.id) == run.session.as_ref())?;
    let ask = session.asks.iter().find(|ask| Some(&ask.text) == run.asks.as_ref())?;
    Some((session, ask))
}

/// Tells a chat of a task that waits for an answer; a reply to that is the answer.
pub(super) fn tell_run_asking(
    change: &Change<'_>,
    follow: &PlanFollow,
    (plan, run, asking): (&PlanView, &RunView, &[SessionView]),
    now: i64,
) -> Result<(), StoreFault> {
    let (Some(question), Some(line)) = (question_of(run, asking), words::run_line(run)) else {
        return Ok(());
    };
    let place = Place { chat: follow.chat, thread: follow.thread };
    let text = Text::default().bold(&words::plan_title(plan)).and("\n").and(&line);
    tell_question(change, question, (place, follow.user), (text, now))
}
