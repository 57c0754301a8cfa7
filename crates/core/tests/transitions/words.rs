//! Events, effects, replies and refusals in words.

use glis_core::effect::{Effect, Urgency};
use glis_core::phase::{Chore, StopCause};
use glis_core::reason::FailedStep;
use glis_core::timer::{Span, TimerKey, When};
use glis_core::tree::Occasion;
use glis_core::verdict::Verdict;
use glis_core::{Decision, Event, Refusal, Reply};
use serde::Serialize;

/// Whether a story tells when an idle session's time begins and ends. Where it is about something
/// else, that would stand in every other line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum IdleTimers {
    #[default]
    Hidden,
    Told,
}

/// Events, then effects after a bar, then the reply after another; what is empty is left out.
pub(crate) fn decision(decision: &Decision, idle: IdleTimers) -> String {
    let events: Vec<_> = decision.events.iter().map(|(_, told)| event(told)).collect();
    let mut effects: Vec<_> = decision.effects.iter().map(|(_, what)| effect(what)).collect();
    if idle == IdleTimers::Hidden {
        effects.retain(|told| !told.starts_with(IDLE_TIME) && told != IDLE_NO_MORE);
    }
    effects.retain(|told| told != UNUSED);
    if effects.len() > 1 {
        // Every step of a pause has a limit: only one that comes alone is worth telling.
        effects.retain(|told| told != STEP_LIMIT && told != HURRY);
    }
    let mut parts = Vec::new();
    if !events.is_empty() {
        parts.push(events.join(", "));
    }
    if !effects.is_empty() {
        parts.push(format!("do {}", effects.join(", ")));
    }
    match &decision.reply {
        Reply::Done => {}
        Reply::Already => parts.push("already".to_owned()),
        Reply::Pending(_) => parts.push("pending".to_owned()),
        Reply::Deferred => parts.push("deferred".to_owned()),
        Reply::Gate { already: true, each, .. } => parts.push(format!("already, {}", each.len())),
        Reply::Gate { already: false, each, .. } => parts.push(format!("all, {}", each.len())),
        Reply::Queued { status, .. } => parts.push(format!("queued while {}", status.word())),
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(" | ") }
}

/// A refusal names what stands in the way.
pub(crate) fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::WrongStatus { status, .. } => format!("refused: {}", status.word()),
        Refusal::Busy { with, .. } => format!("busy with {with}"),
        Refusal::NotResumable { why, .. } => format!("refused: not resumable, {}", name(why)),
        Refusal::WouldBeLost { left_out, .. } => format!("refused: would lose {}", left_out.line()),
        Refusal::NoSuchSession { .. }
        | Refusal::PlanFile(_)
        | Refusal::NotInTrash { .. }
        | Refusal::Ambiguous { .. }
        | Refusal::NameTaken { .. }
        | Refusal::PlaceTaken { .. }
        | Refusal::BadName { .. }
        | Refusal::NotSafe { .. }
        | Refusal::IdleLimitOutOfRange
        | Refusal::QueueFull { .. }
        | Refusal::TooLate { .. }
        | Refusal::Cancelled { .. }
        | Refusal::Stopped { .. }
        | Refusal::AttachedToItself { .. }
        | Refusal::NotSent { .. }
        | Refusal::ShowsCaller { .. }
        | Refusal::NothingAsked { .. }
        | Refusal::WrongAsk { .. }
        | Refusal::AnswerUnderWay { .. }
        | Refusal::NotAChoice { .. }
        | Refusal::AnswerNotGiven { .. }
        | Refusal::InPlace { .. }
        | Refusal::ProcessKept { .. }
        | Refusal::NothingToKeep { .. }
        | Refusal::NotMerged { .. }
        | Refusal::NoSuchTask { .. }
        | Refusal::TaskIdle { .. }
        | Refusal::TaskAtWork { .. }
        | Refusal::TaskNotBegun { .. }
        | Refusal::WrongRoot(_)
        | Refusal::NoLoop { .. }
        | Refusal::BudgetSpent { .. }
        | Refusal::Shut { .. }
        | Refusal::Full { .. }
        | Refusal::GateDamaged { .. }
        | Refusal::StillAtWork { .. }
        | Refusal::Failed { .. } => format!("refused: {}", name(refusal)),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest are told by their name alone")]
fn event(event: &Event) -> String {
    let name = name(event);
    match event {
        Event::SafeStateReached { forced: true, .. } => format!("{name} by force"),
        Event::StartFailed { fault, .. } => format!("{name}: {}", self::name(fault)),
        Event::PauseRefused { doing, .. } => format!("{name}: {doing}"),
        Event::SnapshotTaken { warning: Some(_), .. } => format!("{name} with a warning"),
        Event::PauseFailed { step: step @ FailedStep::EndAll, why, .. } => {
            format!("{name}: {step}, {why}")
        }
        Event::PauseFailed { step, .. } => format!("{name}: {step}"),
        Event::Gate(of) => format!("gate {}", self::name(of)),
        Event::Plan(of) => format!("plan {}", self::name(of)),
        Event::Loop(of) => format!("loop {}", self::name(of)),
        Event::Spending(of) => format!("budget {}", self::name(of)),
        Event::AskJudged { verdict: Verdict::Manual { why, .. }, .. } => {
            format!("{name} manual, {}", self::name(why))
        }
        Event::AskJudged { verdict, .. } => format!("{name} {}", self::name(verdict)),
        _ => name,
    }
}

const STEP_LIMIT: &str = "limit the step";
const HURRY: &str = "hurry";
const IDLE_TIME: &str = "await idle time";
const IDLE_NO_MORE: &str = "drop idle time";
/// Set whenever a session comes to rest; its own stories look at it.
const UNUSED: &str = "await that it is not used";

fn timer(key: TimerKey, when: When) -> String {
    match (key, when) {
        (TimerKey::SafeState(_), _) => "await safe state".to_owned(),
        (TimerKey::Ready(_), _) => "await ready".to_owned(),
        (TimerKey::Step(_), When::After(Span::ForcedStep)) => HURRY.to_owned(),
        (TimerKey::Step(_), _) => STEP_LIMIT.to_owned(),
        (TimerKey::Retry(_), When::After(Span::Exactly(time))) => {
            format!("await retry {} ms", time.as_millis())
        }
        (TimerKey::Retry(_), _) => "await retry".to_owned(),
        (TimerKey::ResumeAt(at), When::At(_)) => format!("await the time {at}"),
        (TimerKey::ResumeAt(at), When::After(_)) => format!("await the time {at} again"),
        (TimerKey::Snooze(at), _) => format!("await the end of its snooze at {at}"),
        (TimerKey::Idle(_), When::After(Span::Exactly(time))) => {
            format!("{IDLE_TIME} of {} s", time.as_secs())
        }
        (TimerKey::Idle(_), _) => IDLE_TIME.to_owned(),
        (TimerKey::Gate(_), _) => "await all".to_owned(),
        (TimerKey::Verdict, _) => "limit the rules".to_owned(),
        (TimerKey::Compact, _) => UNUSED.to_owned(),
        (TimerKey::Work { .. }, When::At(at)) => format!("limit its work at {at}"),
        (TimerKey::Work { .. }, When::After(Span::Exactly(time))) => {
            format!("limit its work to {} s", time.as_secs())
        }
        (TimerKey::Work { .. }, _) => "limit its work".to_owned(),
        (TimerKey::Budget, _) => "limit what it takes".to_owned(),
    }
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::MakeWorktree { .. } => "make worktree".to_owned(),
        Effect::CutSetUpShort => "cut set-up short".to_owned(),
        Effect::CutLineShort => "cut line short".to_owned(),
        Effect::CheckStart { .. } => "check start".to_owned(),
        Effect::StartProcess { generation, .. } => format!("start process {generation}"),
        Effect::Deliver { text, .. } => {
            let note = if text.starts_with("[glis]") { " with the note" } else { "" };
            format!("deliver {}{note}", text.lines().last().unwrap_or_default())
        }
        Effect::GiveAnswer { answer, reason: None, .. } => format!("give answer {answer}"),
        Effect::GiveAnswer { answer, reason: Some(reason), .. } => {
            format!("give answer {answer} because {reason}")
        }
        Effect::Judge { ask, .. } => format!("judge {}", ask.id),
        Effect::CheckSave { .. } => "check save".to_owned(),
        Effect::Interrupt { .. } => "interrupt".to_owned(),
        Effect::CaptureTerminal { .. } => "capture terminal".to_owned(),
        Effect::TakeSnapshot { .. } => "take snapshot".to_owned(),
        Effect::StopProcess { urgency, .. } => match urgency {
            Urgency::Quiet => "stop quietly".to_owned(),
            Urgency::Interrupt => "stop with an interrupt".to_owned(),
            Urgency::Kill => "kill".to_owned(),
        },
        Effect::SetTimer { key, when } => timer(*key, *when),
        Effect::DropTimer { key: TimerKey::ResumeAt(at) } => format!("drop the time {at}"),
        Effect::DropTimer { key: TimerKey::Snooze(at) } => {
            format!("drop the end of its snooze at {at}")
        }
        Effect::DropTimer { key: TimerKey::Work { .. } } => "its work rests".to_owned(),
        Effect::DropTimer { .. } => IDLE_NO_MORE.to_owned(),
        Effect::CheckIdle { cause: StopCause::Memory, .. } => "check idle for memory".to_owned(),
        Effect::CheckIdle { .. } => "check idle".to_owned(),
        Effect::PlanReturn => "plan the return".to_owned(),
        Effect::CutShort { .. } => "cut short".to_owned(),
        Effect::Freeze { .. } => "freeze".to_owned(),
        Effect::Thaw { .. } => "thaw".to_owned(),
        Effect::Sweep { .. } => "sweep".to_owned(),
        Effect::SaveWorktree { occasion, .. } => match occasion {
            Occasion::TurnEnded => "save after the turn".to_owned(),
            Occasion::ProcessEnded => "save after the end".to_owned(),
            Occasion::Asked => "save".to_owned(),
        },
        Effect::Compact { .. } => "compact".to_owned(),
        Effect::LookBack { iteration } => format!("look back at {iteration}"),
        Effect::ClearWorktree { .. } => "clear worktree".to_owned(),
        Effect::DoChore { chore, .. } => match chore {
            Chore::PutAside => "put aside".to_owned(),
            Chore::Restore(snapshot) => format!("restore {snapshot}"),
            Chore::Return(_) => "bring back".to_owned(),
            Chore::Empty => "empty".to_owned(),
        },
        Effect::KeepGate { .. } => "keep gate".to_owned(),
        Effect::DropGate { .. } => "drop gate".to_owned(),
        Effect::BeginRun { .. } => "begin run".to_owned(),
        Effect::JudgeRun { .. } => "judge run".to_owned(),
        Effect::MergeRun { .. } => "merge run".to_owned(),
    }
}

/// The stored name of a variant, as words.
fn name(of: &impl Serialize) -> String {
    let value = serde_json::to_value(of).unwrap_or_default();
    let name = value.as_str().map(ToOwned::to_owned);
    let name = name.or_else(|| value.as_object()?.keys().next().cloned());
    name.unwrap_or_default().replace('_', " ")
}
