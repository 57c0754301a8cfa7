//! What can happen next.

use crate::state::{Site, State};
use glis_core::gate::{GateWish, Kept};
use glis_core::input::{Command, IfRunning, Sign};
use glis_core::limits::{Limits, Over};
use glis_core::pause::{OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::session::StopCause;
use glis_core::spec::IdleLimit;
use glis_core::talk::{Ask, AskKind};
use glis_core::tree::Clearing;
use glis_core::triage::{Put, Snooze};
use glis_core::{AskId, GateCommand, Phase, SessionId};

/// One thing that happens, to the session of this number where it is about one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A person makes it.
    New(usize),
    /// A person asks for something.
    Command(Command),
    /// A person asks for something of the gate.
    Gate(GateCommand),
    /// The configuration says how many may run at once.
    Limits(Limits),
    /// What was dispatched is done, and told.
    Done(usize),
    /// It could not be done, which is told.
    Failed(usize),
    /// It is done, and the report is lost.
    Lost(usize),
    /// A timer fires.
    Fires(usize),
    /// Memory runs short.
    MemoryShort,
    /// An agent is seen to do something.
    Sign(usize, Sign),
    /// A process dies by itself.
    Dies(usize),
    /// The daemon dies and comes back, and finds everything as it is.
    Crash,
    /// Everything dies; the daemon comes back.
    PowerCut,
}

/// How a session comes to be at work.
pub(crate) fn begin(who: usize) -> Vec<Step> {
    // Its worktree, the look before the start, the process: each is what was dispatched last.
    vec![Step::New(who), Step::Done(0), Step::Done(0), Step::Done(0), Step::Sign(who, Sign::Ready)]
}

/// What a person can ask of a session.
pub(crate) fn commands(session: &SessionId) -> Vec<Command> {
    let session = || session.clone();
    let pause = |mode, on_timeout, clearing| Command::Pause {
        session: session(),
        wish: PauseWish { mode, reason: PauseReason::User, on_timeout, clearing },
        until: None,
    };
    vec![
        Command::Send { session: session(), text: "do".to_owned() },
        pause(PauseMode::Boundary, OnTimeout::Refuse, Clearing::Keep),
        pause(PauseMode::Interrupt, OnTimeout::Refuse, Clearing::IfAllIsSaved),
        pause(PauseMode::Force, OnTimeout::Force, Clearing::Keep),
        Command::Pause {
            session: session(),
            wish: PauseWish {
                mode: PauseMode::Boundary,
                reason: PauseReason::User,
                on_timeout: OnTimeout::Refuse,
                clearing: Clearing::Keep,
            },
            until: Some(1),
        },
        Command::CancelPause { session: session() },
        Command::Resume { session: session(), prompt: None },
        Command::Restart {
            session: session(),
            agent_ref: Some("ref-2".to_owned()),
            prompt: Some("anew".to_owned()),
        },
        Command::Stop { session: session(), cause: StopCause::Asked },
        Command::LimitIdle { session: session(), limit: IdleLimit::Secs(60) },
        Command::Remove { session: session(), running: IfRunning::Stop },
        Command::Snapshot { session: session() },
        Command::Compact { session: session() },
        Command::Restore { session: session(), snapshot: "snap".to_owned() },
        Command::Return { session: session(), name: None },
        Command::Empty { session: session() },
        Command::Answer { session: session(), ask: None, answer: "allow".to_owned(), reason: None },
        Command::SetAutoYes { session: session(), on: true },
        Command::SetAutoYes { session: session(), on: false },
        Command::BeginTyping { session: session() },
        Command::Triage { session: session(), put: Put::Snoozed(Some(Snooze::Change)) },
    ]
}

/// What a person can ask of the gate.
fn gate_commands() -> Vec<GateCommand> {
    let shut = |mode| {
        GateCommand::Shut(GateWish {
            mode,
            reason: PauseReason::User,
            on_timeout: OnTimeout::Refuse,
            clearing: None,
            removes: false,
            full: Vec::new(),
        })
    };
    vec![shut(PauseMode::Boundary), shut(PauseMode::Force), GateCommand::Open(Kept::FromLog)]
}

/// One place for two, or as many as are wanted.
pub(crate) fn limits() -> [Limits; 3] {
    let one = |over| Limits { live: 1, over, ..Limits::default() };
    [one(Over::Queue), one(Over::Refuse), Limits { live: 0, ..one(Over::Queue) }]
}

impl State {
    /// Everything that can happen next, always in the same order.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (who, site) in self.sites.iter().enumerate() {
            if self.house.session(&site.id).is_none() {
                steps.push(Step::New(who));
                continue;
            }
            steps.extend(commands(&site.id).into_iter().map(Step::Command));
            if site.alive.is_some() {
                steps.push(Step::Dies(who));
            }
            // What is stopped does nothing.
            if site.alive.is_some() && !site.frozen {
                steps.extend(self.signs(site).into_iter().map(|sign| Step::Sign(who, sign)));
            }
        }
        steps.extend(gate_commands().into_iter().map(Step::Gate));
        // Only where it begins with a limit: two sessions never come to that of a house.
        if self.house.limits() != Limits::default() {
            steps.extend(limits().map(Step::Limits));
        }
        for at in 0..self.pending.len() {
            steps.extend([Step::Done(at), Step::Failed(at), Step::Lost(at)]);
        }
        steps.extend((0..self.timers.len()).map(Step::Fires));
        steps.extend([Step::MemoryShort, Step::Crash, Step::PowerCut]);
        steps
    }

    /// What an agent can be seen to do; of a command only its screen is seen.
    fn signs(&self, site: &Site) -> Vec<Sign> {
        use glis_core::safe::ScreenState;
        use glis_core::spec::SignSource;
        let Some(session) = self.house.session(&site.id) else { return Vec::new() };
        match session.spec.traits.signs {
            SignSource::Screen => {
                let pattern = || "$ ".to_owned();
                vec![
                    Sign::Screen(ScreenState::Flowing),
                    Sign::Screen(ScreenState::AtPrompt { pattern: pattern() }),
                    Sign::Screen(ScreenState::Asking { pattern: pattern(), line: "?".to_owned() }),
                ]
            }
            SignSource::Structured => {
                let ask = Ask::new(AskId("ask".to_owned()), AskKind::Approval, "may I?");
                let mut signs = vec![
                    Sign::Ready,
                    Sign::TookMessage { text: None },
                    Sign::TurnBegan,
                    Sign::TurnEnded,
                    Sign::TurnLimited { reset_at: "0".to_owned() },
                    Sign::Asked(ask),
                    Sign::AskGone(AskId("ask".to_owned())),
                ];
                if matches!(session.phase, Phase::Starting(_)) {
                    signs.push(Sign::RefRejected("unknown".to_owned()));
                    signs.push(Sign::StartRefused("broken".to_owned()));
                }
                signs
            }
        }
    }
}
