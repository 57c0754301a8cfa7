//! Every form in which an event was ever stored stays readable.
//!
//! `golden/events.jsonl` holds a line of each. Lines are added, none is ever edited: a form that
//! changes gets another line beside the former one. A field that came later may be missing in an
//! old line; such lines go into a file of their own, which is only read.

use glis_core::event::{Ending, Spot};
use glis_core::gate::{GateEvent, GateSource};
use glis_core::looping::{Breaker, LoopContext, LoopEnd, LoopEvent};
use glis_core::merge::Unmerged;
use glis_core::pause::{OnTimeout, PauseMode, PauseReason};
use glis_core::plan::{PlanEvent, PlanPause, RunFault};
use glis_core::refusal::ResumeFault;
use glis_core::safe::ScreenState;
use glis_core::session::{AfterStop, Deferral, Rest as CardRest, StartCause, StopCause};
use glis_core::spec::{IdleLimit, Mode, RefOrigin, SignSource, Takes};
use glis_core::spending::SpendingEvent;
use glis_core::talk::AskKind;
use glis_core::tree::{Clearing, Found, Occasion};
use glis_core::triage::Snooze;
use glis_core::verdict::{Answerer, Verdict, Want};
use glis_core::{Event, House, Recorded};
use std::collections::BTreeSet;

const GOLDEN: &str = include_str!("golden/events.jsonl");
/// Forms that are no longer written.
const FORMER: &str = include_str!("golden/former.jsonl");

/// Names a variant, or all of them. A new variant stops the compiler here, and then wants a line.
macro_rules! variants {
    ($($name:ident: $of:ident { $($variant:ident)+ })+) => {$(
        fn $name(of: Option<&$of>) -> Vec<&'static str> {
            match of {
                None => vec![$(concat!(stringify!($of), "::", stringify!($variant))),+],
                Some(of) => vec![match of {
                    $($of::$variant { .. } => {
                        concat!(stringify!($of), "::", stringify!($variant))
                    })+
                }],
            }
        }
    )+};
}

variants! {
    event: Event {
        SessionCreated WorktreeMade CreationFailed CreationEnded StartBegan StartChecked
        ProcessStarted StartEnded RefRejected StartFailed RestartBegan AgentRefLearned MessageQueued
        DeliveryBegan DeliveryRefused MessageTaken MessageDoubted MessageRequeued MessageDropped
        BecameReady TurnBegan ToolBegan ToolEnded BackgroundChanged TurnEnded Asked AskGone
        AnswerBegan AnswerFailed LimitReached ScreenJudged PauseBegan PauseHastened InterruptBegan
        SafeStateReached TerminalCaptured SnapshotTaken EndBegan Paused PauseCancelled PauseRefused
        PauseFailed StopBegan ProcessEnded Suspended Interrupted Completed Failed RemovalBegan
        RemovalFailed Archived StartCancelled ProcessAdopted RecordDamaged DamageAcknowledged
        Barred BarLifted RepoMoved
        ClearingBegan WorktreeCleared WorktreeStays PauseBarred SaveBegan WorktreeSaved
        WorktreeNotSaved RestoreBegan WorktreeRestored RestoreFailed ReturnBegan Returned
        ReturnFailed EmptyingBegan Emptied EmptyingFailed SessionRecovered LeftoversSwept
        CaptureMissed MessageRefused FolderLost StartRefused IdleLimitSet StartDeferred
        StartForgone Gate AskJudged AutoYesSet CompactionBegan ConversationCompacted
        CompactionFailed ResumeAppointed LimitsSet PauseTakenOver LimitOver Plan ResumeFellDue Loop
        FreezeBegan ProcessFrozen ThawBegan ConfigBroke ConfigMended TypingBegan Triaged Spending
    }
    gate: GateEvent {
        Shut Hastened Joined Released Overdue Stopped NotKept Paused Opened Resumed
    }
    plan: PlanEvent {
        Begun Revised Continued Stopped RunBegan RunFinishing RunCost RunAccepted RunSucceeded RunFailed
        RunWaits RunCanceled TaskSkipped TaskProposed
    }
    plan_pause: PlanPause { User Review Only Budget }
    run_fault: RunFault { NotBegun NotStarted NotAccepted Rejected }
    unmerged: Unmerged {
        Conflict OffBranch Unfinished Nested Submodule NoBranch NoBase CheckedOut NoWorktree Hook Review
        Stopped Failed
    }
    spending: SpendingEvent { Began Set Used Warned Reached Granted }
    looped: LoopEvent {
        Began NotBegun Ended LookedBack Done Broke Stopped Reopened PauseAsked PauseWithdrawn Set
    }
    loop_end: LoopEnd { Max Until List }
    breaker: Breaker { Failures NoProgress NotResumable Cost }
    context: LoopContext { Fresh Continue }
    source: GateSource { Snapshot Missing Log }
    deferral: Deferral { Gate Limit }
    mode: Mode { Terminal Headless }
    refs: RefOrigin { Chosen Learned None }
    signs: SignSource { Structured Screen }
    takes: Takes { WhenIdle Anytime }
    cause: StartCause { New Message Resume Restart }
    fault: ResumeFault {
        NoRef Rejected WrongRoot NoDirectory NotInstalled NoTranscript Locked NotReady System
        WrongVersion NotRestored NoTerminal
    }
    spot: Spot { Stream Transcript Hook Screen }
    ask: AskKind { Approval Question Doubt }
    screen: ScreenState { Flowing Silent AtPrompt Asking }
    pause_mode: PauseMode { Boundary Interrupt Force }
    reason: PauseReason {
        User UserInterrupt Resource Error IdleTimeout Global RateLimit Budget Shutdown Crash
    }
    on_timeout: OnTimeout { Refuse Force }
    after: AfterStop { Rest Restart Remove Pause StayPaused }
    stop_cause: StopCause { Asked Idle Memory Shutdown }
    idle_limit: IdleLimit { Usual Secs Never }
    ending: Ending { Exited Signalled Unknown Reboot }
    clearing: Clearing { Keep IfAllIsSaved Always IfPossible }
    card_rest: CardRest { Paused Suspended Interrupted Completed Failed Created Archived }
    occasion: Occasion { TurnEnded ProcessEnded Asked }
    found: Found { Untouched Changed Restored }
    verdict: Verdict { Accept Reject Manual }
    want: Want { Command Edit }
    answerer: Answerer { Person Rules Before }
    snooze: Snooze { Until Change }
}

/// Everything that a stored event is made of and that comes in more than one form.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest hold nothing that has variants")]
fn parts(of: &Event) -> Vec<&'static str> {
    let inner = match of {
        Event::SessionCreated { spec, .. } => vec![
            mode(Some(&spec.mode)),
            refs(Some(&spec.traits.refs)),
            signs(Some(&spec.traits.signs)),
            takes(Some(&spec.traits.takes)),
        ],
        Event::StartBegan { cause: of, .. } => vec![cause(Some(of))],
        Event::StartFailed { fault: of, .. } => vec![fault(Some(of))],
        Event::Asked { ask: of, spot: at } => {
            let wants = want(of.wants.as_ref()).into_iter().take(usize::from(of.wants.is_some()));
            let asked = vec![ask(Some(&of.kind)), spot(Some(at)), wants.collect()];
            [asked, vec![answerer(Some(&of.answerer))]].concat()
        }
        Event::AskJudged { verdict: of, .. } => vec![verdict(Some(of))],
        Event::ScreenJudged { state } => vec![screen(Some(state))],
        Event::PauseBegan { mode, reason: why, on_timeout: then, clearing: of, .. } => vec![
            pause_mode(Some(mode)),
            reason(Some(why)),
            on_timeout(Some(then)),
            clearing(Some(of)),
        ],
        Event::WorktreeSaved { occasion: of, .. }
        | Event::WorktreeNotSaved { occasion: of, .. } => {
            vec![occasion(Some(of))]
        }
        Event::StartChecked { found: Some(of), .. } => vec![found(Some(of))],
        Event::StopBegan { then: of, cause: why, .. } => {
            vec![after(Some(of)), stop_cause(Some(why))]
        }
        Event::Triaged(of) => of.snoozed.iter().map(|of| snooze(Some(of))).collect(),
        Event::IdleLimitSet { limit: of } => vec![idle_limit(Some(of))],
        Event::ProcessEnded { ending: of, .. } => vec![ending(Some(of))],
        Event::SessionRecovered { card } => {
            card.rest.iter().map(|of| card_rest(Some(of))).collect()
        }
        Event::StartDeferred { why, .. } => vec![deferral(Some(why))],
        Event::Gate(GateEvent::Opened { source: of, .. }) => {
            vec![source(Some(of)), vec!["GateEvent::Opened"]]
        }
        Event::Gate(of) => vec![gate(Some(of))],
        Event::Plan(of) => {
            let inner = match of {
                PlanEvent::Stopped { why } => plan_pause(Some(why)),
                PlanEvent::RunFailed { why, .. } => run_fault(Some(why)),
                PlanEvent::RunWaits { why, .. } => unmerged(Some(why)),
                _ => Vec::new(),
            };
            vec![plan(Some(of)), inner]
        }
        Event::Loop(LoopEvent::Done { by }) => vec![loop_end(Some(by)), vec!["LoopEvent::Done"]],
        Event::Loop(LoopEvent::Broke { by }) => vec![breaker(Some(by)), vec!["LoopEvent::Broke"]],
        Event::Loop(LoopEvent::Set { spec }) => {
            vec![context(Some(&spec.context)), vec!["LoopEvent::Set"]]
        }
        Event::Spending(of) => vec![spending(Some(of))],
        Event::Loop(of) => vec![looped(Some(of))],
        _ => Vec::new(),
    };
    inner.into_iter().flatten().chain(event(Some(of))).collect()
}

#[test]
fn every_stored_line_is_read_and_written_back_as_it_was() {
    for line in GOLDEN.lines() {
        let recorded: Recorded =
            serde_json::from_str(line).map_err(|why| format!("{line}\n{why}")).unwrap();
        assert_eq!(serde_json::to_string(&recorded).unwrap(), line);
    }
}

#[test]
fn every_former_line_is_still_read() {
    for line in FORMER.lines() {
        serde_json::from_str::<Recorded>(line).map_err(|why| format!("{line}\n{why}")).unwrap();
    }
}

#[test]
fn every_variant_has_a_line() {
    let mut missing: BTreeSet<_> = [
        event(None),
        mode(None),
        refs(None),
        signs(None),
        takes(None),
        cause(None),
        fault(None),
        spot(None),
        ask(None),
        screen(None),
        pause_mode(None),
        reason(None),
        on_timeout(None),
        after(None),
        stop_cause(None),
        idle_limit(None),
        ending(None),
        clearing(None),
        occasion(None),
        found(None),
        card_rest(None),
        gate(None),
        plan(None),
        plan_pause(None),
        run_fault(None),
        unmerged(None),
        spending(None),
        looped(None),
        loop_end(None),
        breaker(None),
        context(None),
        source(None),
        deferral(None),
        verdict(None),
        want(None),
        answerer(None),
        snooze(None),
    ]
    .into_iter()
    .flatten()
    .collect();
    for line in GOLDEN.lines() {
        let recorded: Recorded = serde_json::from_str(line).unwrap();
        for part in parts(&recorded.event) {
            missing.remove(part);
        }
    }
    assert!(missing.is_empty(), "no line in golden/events.jsonl has {missing:?}");
}

#[test]
fn stored_lines_fold_in_any_order_without_harm() {
    let mut lines: Vec<Recorded> =
        GOLDEN.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for start in 0..lines.len() {
        let mut house = House::default();
        for recorded in &lines {
            house.apply(recorded);
        }
        assert!(house.all_sessions().count() <= 1, "begun at line {start}");
        lines.rotate_left(1);
    }
}

#[test]
fn an_ask_without_the_mark_of_an_answer_is_open() {
    let line = r#"{"asked":{"ask":{"id":"a","kind":"approval","text":"?"},"spot":"screen"}}"#;
    let Event::Asked { ask, .. } = serde_json::from_str(line).unwrap() else { panic!("{line}") };
    assert!(!ask.answering);
}

/// What is said of an event in one place is what stands in it.
#[test]
fn each_event_tells_its_operation_and_its_place() {
    for line in GOLDEN.lines() {
        let Recorded { event, .. } = serde_json::from_str(line).unwrap();
        let mut stored = serde_json::to_value(&event).unwrap();
        if let Event::Gate(_) | Event::Loop(_) = event {
            stored = stored.as_object().unwrap().values().next().unwrap().clone();
        }
        let fields = stored.as_object().and_then(|form| form.values().next());
        let has =
            |name| fields.is_some_and(|fields| fields.get(name).is_some_and(|it| !it.is_null()));
        assert_eq!(event.op().is_some(), has("op"), "{line}");
        assert_eq!(event.spot().is_some(), has("spot"), "{line}");
    }
}
