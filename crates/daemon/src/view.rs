//! Sessions and events as the outside sees them.

use crate::environments::{EnvNote, EnvOrigin};
use glis_agent::Tally;
use glis_config::ConcurrencyConfig;
use glis_core::budget::Budget;
use glis_core::leftover::Companion;
use glis_core::looping::{Loop, LoopStage};
use glis_core::merge::Unmerged;
use glis_core::pause::PauseReason;
use glis_core::redact::redact;
use glis_core::rule::Rule;
use glis_core::session::{Deferral, Session, WallMs};
use glis_core::spec::IdleLimit;
use glis_core::spending::Spending;
use glis_core::talk::{Ask, Delivery, Message};
use glis_core::triage::Snooze;
use glis_core::{Event, House, Recorded, Status};
use glis_record::conversation::{Account, Digest};
use glis_wire::need::Need;
use glis_wire::view::{
    BudgetView, CompanionView, DetachedView, ElsewhereView, LimitsView, LoopView, SessionRow,
    SessionView, Used, WaitingFor, dollars,
};
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// What is known about a session beside the log.
#[derive(Default)]
pub(crate) struct Beside {
    /// Terminals that follow its output.
    pub(crate) audience: u32,
    /// Output is missing from here on.
    pub(crate) gap_at: Option<u64>,
    /// What its process was started with.
    pub(crate) env: Arc<EnvNote>,
    /// What its conversation comes down to.
    pub(crate) digest: Digest,
    /// Where the conversation was looked for, if it is nowhere.
    pub(crate) lost: Option<String>,
    /// Its worktree stands on no branch.
    pub(crate) detached: Option<DetachedView>,
    /// Its agent works outside of it.
    pub(crate) elsewhere: Option<ElsewhereView>,
    /// When a person last looked at it.
    pub(crate) accessed_at: Option<WallMs>,
    /// How long a session may be idle that says nothing about it.
    pub(crate) usual_idle_secs: u64,
    /// When it is suspended, if it stays idle.
    pub(crate) suspend_at: Option<WallMs>,
    pub(crate) memory_bytes: Option<u64>,
    /// How far it is with its tasks, by the list that it works from.
    pub(crate) tally: Option<Tally>,
    /// Why its work for a plan is not merged.
    pub(crate) unmerged: Option<Unmerged>,
    /// Its prompt holds text that was not sent.
    pub(crate) has_draft: bool,
}

/// How many agents run, and may.
pub(crate) fn limits(sessions: &[Arc<Session>], config: &ConcurrencyConfig) -> LimitsView {
    let mut agents: Vec<_> =
        sessions.iter().filter(|s| s.is_at_work()).map(|s| s.name.clone()).collect();
    agents.sort();
    let place = |session: &Arc<Session>| {
        let waits = session.starts.deferred.filter(|deferred| deferred.why == Deferral::Limit)?;
        Some((waits.turn, session.name.clone()))
    };
    let mut waiting: Vec<_> = sessions.iter().filter_map(place).collect();
    waiting.sort();
    LimitsView {
        agents,
        waiting: waiting.into_iter().map(|(_, name)| name).collect(),
        warn: config.warn,
        live: config.live,
        over: config.over,
    }
}

/// What a person should know about a session, beside how it is.
fn warnings(session: &Session, beside: &Beside) -> Vec<String> {
    let env = &beside.env;
    let paused = session.pause_record().into_iter().flat_map(|record| &record.warnings);
    let mut warnings: Vec<_> = paused.map(ToString::to_string).collect();
    warnings.extend(whose(env.origin).filter(|_| session.runs()).map(ToOwned::to_owned));
    warnings.extend(env.warnings.iter().cloned());
    warnings.extend(left_behind(session));
    let told = |place: &String| format!("its transcript is missing ({place}): a resume will fail");
    warnings.extend(beside.lost.as_ref().map(told));
    warnings.extend(not_compacted(session));
    warnings.extend(not_resumed(session));
    warnings.extend(has_draft_in_the_way(session, beside).then(|| in_the_way(session)));
    warnings
}

/// That messages wait behind text at its prompt.
fn in_the_way(session: &Session) -> String {
    let name = &session.name;
    format!(
        "text at its prompt was not sent, and messages wait behind it: `glis attach {name}`, then send \
         it with Enter or clear it"
    )
}

/// That its conversation is not made short any more.
fn not_compacted(session: &Session) -> Option<String> {
    let compaction = &session.upkeep.compaction;
    let why = compaction.why.as_ref().filter(|_| compaction.is_given_up())?;
    let name = &session.name;
    Some(format!(
        "its conversation could not be compacted: {why}; it stays as it is, and `glis compact {name}` \
         tries again"
    ))
}

/// That it could not be resumed by itself, and whether that is tried again.
fn not_resumed(session: &Session) -> Option<String> {
    session.pause_record().filter(|_| session.course.by_itself.failed > 0)?;
    let (times, name) = (session.course.by_itself.failed, &session.name);
    let failed = format!("it was to be resumed by itself, which has failed ({times} in a row)");
    Some(if session.course.by_itself.is_given_up() {
        format!("{failed}; it is not tried again, `glis resume {name}` does")
    } else {
        format!("{failed}; it is tried again")
    })
}

fn idle_secs(session: &Session, beside: &Beside) -> u64 {
    match session.spec.idle_limit() {
        IdleLimit::Usual => beside.usual_idle_secs,
        IdleLimit::Secs(secs) => secs,
        IdleLimit::Never => 0,
    }
}

fn wakes(snoozed: Snooze) -> String {
    match snoozed {
        Snooze::Until(at) => time(at),
        Snooze::Change => "change".to_owned(),
    }
}

/// What a list shows of a session.
pub(crate) fn row(session: &Session, beside: &Beside) -> SessionRow {
    let digest = &beside.digest;
    let pause = session.pause_record();
    let tally = beside.tally.unwrap_or(digest.tally);
    let cost = digest.account.as_ref().and_then(Account::cost_micros);
    // What the rules are about to answer waits for no person.
    let waiting = session.asks().into_iter().filter(|ask| ask.answerer.is_person());
    let waiting: Vec<WaitingFor> = waiting.map(waiting_for).collect();
    SessionRow {
        id: session.id.0.clone(),
        name: session.name.clone(),
        status: session.status(),
        agent: session.spec.agent.clone(),
        mode: session.spec.mode,
        repo_root: session.spec.repo_root.clone(),
        task: session.spec.task.as_ref().map(|of| of.task.clone()),
        plan: session.spec.task.as_ref().map(|of| of.plan.0.clone()),
        unmerged: beside.unmerged.clone(),
        worktree: session.place.worktree.clone(),
        branch: session.place.branch.clone(),
        detached: beside.detached.clone(),
        elsewhere: beside.elsewhere.clone(),
        pid: session.process().map(|process| process.pid),
        created_at: time(session.times.created_at),
        last_active_at: time(session.times.last_active_at),
        paused_at: session.course.paused_at.map(time),
        pause_reason: pause.map(|record| record.reason).or_else(|| suspended_for(session)),
        resumed_at: session.course.resumed_at.map(time),
        idle_timeout_secs: idle_secs(session, beside),
        suspend_at: beside.suspend_at.map(time),
        resume_at: session.ahead.resume_at.map(time),
        memory_bytes: beside.memory_bytes,
        can_pause: session.can_pause(),
        can_resume: session.can_resume() && !is_gone(session, beside),
        last_action: digest.last_action.clone(),
        pending_tasks: digest.pending.clone(),
        queued: session.talk.queue.len(),
        draft: has_draft_in_the_way(session, beside),
        waiting_for: waiting.first().cloned(),
        asks: waiting,
        was_asking: was_asking(session),
        auto_yes: session.spec.auto_yes,
        generation: session.agent.generation,
        verdict: session.course.rule.to_string(),
        operation: session.operation().map(|(_, operation)| operation.to_string()),
        failure: failure(session),
        cut_off: session.talk.cut_off,
        limit_until: session.starts.limit_until.as_deref().map(limit_until),
        cost: digest.account.as_ref().map(used),
        budget: own_budget(session),
        model: session.spec.model.clone(),
        persona: session.spec.persona.clone(),
        barred: session.upkeep.barred.as_ref().map(|bar| format!("{}: {}", bar.what, bar.why)),
        record_damaged: session.upkeep.damage.is_some(),
        output_gap_at: beside.gap_at,
        failed_starts: session.course.failed_starts,
        judging: false,
        waits_to_start: session.starts.deferred.map(|deferred| deferred.why),
        last_accessed_at: beside.accessed_at.map(time),
        seen: is_seen(session, beside),
        // Only the house knows all that it depends on.
        need: Need::default(),
        compacted_at: session.saved.compacted_at.map(time),
        labels: session.triage.labels.iter().cloned().collect(),
        pinned: session.triage.pinned,
        snoozed_until: session.triage.snoozed.map(wakes),
        process_kept: session.is_frozen(),
        looped: session.ahead.looped.as_deref().map(|own| Box::new(looped(own, session, cost))),
        tasks_done: tally.done,
        tasks_active: tally.active,
        tasks_open: tally.open,
        changed_files: session.saved.snapshot.as_ref().and_then(|snapshot| snapshot.changed),
    }
}

/// Why it failed, or its last turn did.
fn failure(session: &Session) -> Option<String> {
    let failed = session.failure().map(ToString::to_string);
    failed.or_else(|| session.talk.turn_failed.clone())
}

/// Whether a person has looked since something of it last came to an end, or does so now.
fn is_seen(session: &Session, beside: &Beside) -> bool {
    beside.audience > 0
        || session
            .times
            .ended_at
            .is_none_or(|ended| beside.accessed_at.is_some_and(|at| at >= ended))
}

/// A session with everything that is known about it.
pub(crate) fn session(session: &Session, beside: Beside) -> SessionView {
    let pause = session.pause_record();
    let warnings = warnings(session, &beside);
    SessionView {
        row: row(session, &beside),
        agent_session_ref: session.agent.agent_ref.clone(),
        resumable: session.resumable() && !is_gone(session, &beside),
        seconds_since_activity: since(session.times.last_active_at),
        snapshot: session.saved.snapshot.clone(),
        conversation_summary: beside.digest.summary,
        last_prompt: beside.digest.last_prompt,
        killed: session.starts.leftovers.killed.iter().map(Companion::named).collect(),
        ended_processes: companions(&session.starts.leftovers.killed),
        stuck_processes: companions(&session.starts.leftovers.stuck),
        kept_processes: companions(&session.starts.leftovers.kept),
        warnings,
        pause_rule: pause.map(|record| record.rule.clone()),
        argv: session.spec.argv.clone(),
        permission_mode: session.spec.permission_mode.clone(),
        in_place: session.spec.in_place,
        base_branch: session.spec.base_branch.clone(),
        attached: beside.audience,
        setup_notes: session.starts.notes.clone(),
        found: session.upkeep.found.clone(),
        restored: session.upkeep.restored.clone(),
        unsaved: session.upkeep.unsaved.as_ref().map(ToString::to_string),
        worktree_removed: pause.is_some_and(|record| record.cleared),
        former_refs: session.agent.former_refs.clone(),
        is_compacted: session.saved.compacted_at.is_some(),
        remove_worktree: session.spec.remove_worktree,
        keep_process: session.spec.keep_process,
        went_on: session.course.rule == Rule::WentOn,
        saying: None,
        env_names: beside.env.names.clone(),
    }
}

/// Whether its conversation is gone. A process that runs may still write it.
fn is_gone(session: &Session, beside: &Beside) -> bool {
    beside.lost.is_some() && !session.runs()
}

/// Whether messages wait behind text at its prompt. What is being typed stands there for a moment as well.
fn has_draft_in_the_way(session: &Session, beside: &Beside) -> bool {
    let waits = |next: &Message| next.delivery == Delivery::Queued || next.refused > 0;
    beside.has_draft && session.runs() && session.talk.queue.front().is_some_and(waits)
}

/// Why it was suspended, where that was not asked for.
fn suspended_for(session: &Session) -> Option<PauseReason> {
    let suspended = session.status() == Status::Suspended;
    let idled = (session.course.rule == Rule::Idled).then_some(PauseReason::IdleTimeout);
    let made_room = (session.course.rule == Rule::MadeRoom).then_some(PauseReason::Resource);
    let shut_down = (session.course.rule == Rule::ShutDown).then_some(PauseReason::Shutdown);
    idled.or(made_room).or(shut_down).filter(|_| suspended)
}

/// Seconds since a time.
fn since(at: WallMs) -> u64 {
    let passed = crate::clock::now().as_millisecond().saturating_sub(at) / 1000;
    u64::try_from(passed).unwrap_or_default()
}

/// How far a loop is. What the last iteration has cost is known before it is looked back at.
fn looped(looped: &Loop, session: &Session, cost: Option<u64>) -> LoopView {
    let Loop { spec, iteration, failures, stale, cost_micros, broke, .. } = looped;
    let known = (*cost_micros > 0).then_some(*cost_micros);
    LoopView {
        iteration: *iteration,
        max: spec.max,
        state: looped.word(session).to_owned(),
        failures: *failures,
        cost: cost.max(known).map(dollars),
        max_cost: spec.max_cost_micros.map(dollars),
        max_failures: spec.max_failures,
        without_progress: *stale,
        until: spec.until.clone(),
        context: spec.context,
        auto_commit: spec.auto_commit,
        spec: spec.file.as_ref().map(|file| file.path.clone()),
        done_by: match looped.stage {
            LoopStage::Done(by) => Some(by),
            LoopStage::Open
            | LoopStage::Looking { .. }
            | LoopStage::Due { .. }
            | LoopStage::Stopped { .. } => None,
        },
        broke: *broke,
        note: looped.note.clone(),
    }
}

/// How far its budget is used by now.
fn own_budget(session: &Session) -> Option<BudgetView> {
    let mut spending = (*session.spending).clone();
    let busy = spending.busy_since.map(|since| crate::clock::now().as_millisecond() - since);
    spending.used.ms += busy.and_then(|ms| u64::try_from(ms).ok()).unwrap_or_default();
    budgeted(session.spec.budget.as_deref()?, &spending)
}

/// How far a budget is used.
pub(crate) fn budgeted(budget: &Budget, spending: &Spending) -> Option<BudgetView> {
    let (percent, used) = spending.share(budget)?;
    Some(BudgetView { allowed: budget.to_string(), percent, used })
}

/// How far the budget of the day is used. What was used on another day says nothing of this one.
pub(crate) fn day(house: &House) -> Option<BudgetView> {
    let today = crate::clock::now().to_zoned(TimeZone::system()).date().to_string();
    let (budget, day) = (house.limits().day, house.day());
    let none = Spending::default();
    budgeted(&budget, if day.date == today { &day.spending } else { &none })
}

fn used(account: &Account) -> Used {
    Used {
        tokens_in: account.tokens_in,
        tokens_out: account.tokens_out,
        usd: account.cost_micros().map(dollars),
        window_percent: account.window_percent,
    }
}

/// Where an agent does not tell when its limit ends.
pub(crate) const UNKNOWN: &str = "unknown";

/// Agents tell a time in seconds since 1970, in words of their own, or not at all.
pub(crate) fn limit_until(told: &str) -> String {
    match told.parse::<WallMs>() {
        Ok(seconds) => time(seconds.saturating_mul(1000)),
        Err(_) if told.is_empty() => UNKNOWN.to_owned(),
        Err(_) => told.to_owned(),
    }
}

fn companions(companions: &[Companion]) -> Vec<CompanionView> {
    let view = |one: &Companion| CompanionView {
        pid: one.pid,
        command: one.command.clone(),
        cwd: one.cwd.clone(),
        ports: one.ports.clone(),
    };
    companions.iter().map(view).collect()
}

/// Whose environment it was started with, where that is not its caller's.
fn whose(origin: EnvOrigin) -> Option<&'static str> {
    match origin {
        EnvOrigin::Caller => None,
        EnvOrigin::Former => Some("it was started with the environment of its former process"),
        EnvOrigin::Daemon => Some("it was started with the daemon's own environment"),
    }
}

/// What a person should know about the end of the last process, and about what is missing.
fn left_behind(session: &Session) -> Vec<String> {
    let mut told = Vec::new();
    if !session.runs() {
        told.extend(session.starts.leftovers.notes.iter().cloned());
        told.extend(session.starts.leftovers.trouble().map(|why| why.to_string()));
    }
    if session.upkeep.folder_lost {
        told.push(
            "its folder was deleted while it ran: earlier output and conversation may be lost"
                .to_owned(),
        );
    }
    told.extend(session.starts.undelivered.as_ref().map(|why| {
        format!("a message was not sent: {why}; `glis log {}` has its text", session.name)
    }));
    told
}

/// What it asked when it was paused, and does not ask any more.
fn was_asking(session: &Session) -> Vec<WaitingFor> {
    let open = |kept: &&Ask| session.asked().iter().any(|ask| ask.id == kept.id);
    session.talk.was_asking.iter().filter(|kept| !open(kept)).cloned().map(waiting_for).collect()
}

fn waiting_for(ask: Ask) -> WaitingFor {
    let Ask { id, kind, text, choices, wants, input, since, not_delivered, .. } = ask;
    let input = input.and_then(|input| serde_json::from_str(&input).ok());
    let since = since.map(time);
    WaitingFor { request: id.0, kind, text, choices, wants, input, since, not_delivered }
}

/// RFC 3339 in UTC.
pub(crate) fn time(ms: WallMs) -> String {
    let stamp = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    stamp.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// An event as the contract prints it: flat, with its name under `event`, and without what looks like
/// a secret. The log itself has every text whole, since messages are delivered from it.
pub(crate) fn event(recorded: &Recorded) -> Value {
    let mut flat = Map::new();
    flat.insert("seq".to_owned(), json!(recorded.seq));
    flat.insert("at".to_owned(), json!(time(recorded.at)));
    flat.insert("session".to_owned(), json!(recorded.subject.session()));
    let (name, fields) = parts(&recorded.event);
    flat.insert("event".to_owned(), json!(name));
    if name.starts_with(ORCHESTRATOR) {
        flat.insert("timestamp".to_owned(), json!(recorded.at));
    }
    for (key, value) in fields {
        flat.entry(key).or_insert(discreet(value));
    }
    if let Some(from) = &recorded.from {
        flat.entry("from").or_insert(discreet(json!(from)));
    }
    if let Some(status) = recorded.status {
        flat.entry("status").or_insert(json!(status));
    }
    Value::Object(flat)
}

/// Takes what looks like a secret out of every text.
fn discreet(value: Value) -> Value {
    match value {
        Value::String(text) => match redact(&text) {
            Cow::Borrowed(_) => Value::String(text),
            Cow::Owned(clean) => Value::String(clean),
        },
        Value::Array(values) => values.into_iter().map(discreet).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key, discreet(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// The word that an event is known by.
pub(crate) fn event_name(event: &Event) -> String {
    parts(event).0
}

/// What the events that tell of everything begin with. They have names of their own in the contract.
const ORCHESTRATOR: &str = "orchestrator:";

fn parts(event: &Event) -> (String, Map<String, Value>) {
    if let Event::Gate(event) = event {
        let (name, fields) = named(event);
        let name = if name.starts_with(ORCHESTRATOR) { name } else { format!("gate_{name}") };
        return (name, fields);
    }
    if let Event::Plan(event) = event {
        let (name, fields) = named(event);
        // A run's events say themselves whose they are.
        let name = if name.starts_with("run_") { name } else { format!("plan_{name}") };
        return (name, fields);
    }
    if let Event::Loop(event) = event {
        let (name, fields) = named(event);
        return (format!("loop_{name}"), fields);
    }
    named(event)
}

fn named(event: &impl serde::Serialize) -> (String, Map<String, Value>) {
    match serde_json::to_value(event) {
        Ok(Value::String(name)) => (name, Map::new()),
        Ok(Value::Object(outer)) => match outer.into_iter().next() {
            Some((name, Value::Object(fields))) => (name, fields),
            Some((name, _)) => (name, Map::new()),
            None => (String::new(), Map::new()),
        },
        Ok(_) | Err(_) => (String::new(), Map::new()),
    }
}
