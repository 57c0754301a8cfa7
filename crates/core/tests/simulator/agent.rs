//! A fake agent: what it is doing, and everything it has said.

use crate::rng::Rng;
use glis_core::event::Spot;
use glis_core::input::Sign;
use glis_core::safe::ScreenState;
use glis_core::spec::{Mode, RefOrigin, SignSource, Spec, Takes, Traits};
use glis_core::talk::{Ask, AskKind};
use glis_core::{AskId, MessageId};
use std::collections::VecDeque;

/// What kinds of agents there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In a terminal, under an id that we choose, taking messages between turns.
    Chosen,
    /// Headless, under an id that it tells, taking messages between turns.
    Learned,
    /// Headless, under an id that we choose, taking messages at any time.
    Anytime,
    /// A command in a terminal: no id, and a screen is all it shows.
    Command,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Chosen, Self::Learned, Self::Anytime, Self::Command];

    pub(crate) fn spec(self, prompt: Option<String>) -> Spec {
        let (mode, refs, signs, takes) = match self {
            Self::Chosen => {
                (Mode::Terminal, RefOrigin::Chosen, SignSource::Structured, Takes::WhenIdle)
            }
            Self::Learned => {
                (Mode::Headless, RefOrigin::Learned, SignSource::Structured, Takes::WhenIdle)
            }
            Self::Anytime => {
                (Mode::Headless, RefOrigin::Chosen, SignSource::Structured, Takes::Anytime)
            }
            Self::Command => (Mode::Terminal, RefOrigin::None, SignSource::Screen, Takes::Anytime),
        };
        let plain = Spec::plain(&format!("{self:?}"), mode, Traits { refs, signs, takes }, "");
        Spec { prompt, ..plain }
    }
}

/// A process of an agent.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about it that no other implies")]
pub(crate) struct Agent {
    pub(crate) kind: Kind,
    pub(crate) generation: u32,
    /// The id it really runs under.
    pub(crate) own_ref: Option<String>,
    /// It was given an id that it does not know, and says so instead of working.
    pub(crate) rejects: bool,
    /// It was told to end.
    pub(crate) ordered: bool,
    /// It is stopped where it is.
    pub(crate) frozen: bool,
    pub(crate) turn: bool,
    pub(crate) asks: Option<AskId>,
    pub(crate) inbox: VecDeque<MessageId>,
    /// The last message that was sent to it.
    pub(crate) handed: Option<MessageId>,
    /// What it has said, and how much of that the daemon has read.
    pub(crate) said: Vec<(Spot, Sign)>,
    pub(crate) read: usize,
    /// Offsets in its output and in its transcript.
    pub(crate) at: u64,
    pub(crate) transcript_at: u64,
    pub(crate) began_at: u64,
    screen: ScreenState,
    told_ref: bool,
    ready: bool,
    tool: Option<String>,
    background: bool,
    asked: u32,
}

impl Agent {
    pub(crate) fn new(kind: Kind, generation: u32, own_ref: Option<String>, at: u64) -> Self {
        Self {
            kind,
            generation,
            own_ref,
            rejects: false,
            ordered: false,
            frozen: false,
            turn: false,
            asks: None,
            inbox: VecDeque::new(),
            handed: None,
            said: Vec::new(),
            read: 0,
            at,
            transcript_at: 0,
            began_at: at,
            screen: ScreenState::Flowing,
            told_ref: false,
            ready: false,
            tool: None,
            background: false,
            asked: 0,
        }
    }

    /// Whether it would go on by itself if nobody disturbed it.
    pub(crate) fn has_work(&self) -> bool {
        if self.frozen {
            return false;
        }
        let shows_prompt = matches!(self.screen, ScreenState::AtPrompt { .. });
        match self.kind {
            Kind::Command => !shows_prompt,
            Kind::Chosen | Kind::Learned | Kind::Anytime => {
                if self.rejects {
                    return self.said.is_empty();
                }
                !self.ready || self.turn || self.background || !self.inbox.is_empty()
            }
        }
    }

    /// Whether it has said all it has to say to somebody whom it does not know.
    pub(crate) fn has_left(&self) -> bool {
        self.rejects && !self.said.is_empty()
    }

    fn say(&mut self, sign: Sign) {
        self.at += 10;
        self.said.push((Spot::Stream(self.at), sign));
    }

    /// What a person said to it stands in its transcript, where it has one.
    fn say_in_transcript(&mut self, sign: Sign) {
        if self.kind == Kind::Chosen {
            self.transcript_at += 10;
            self.said.push((Spot::Transcript(self.transcript_at), sign));
        } else {
            self.say(sign);
        }
    }

    fn show(&mut self, state: ScreenState) {
        self.screen = state.clone();
        self.said.push((Spot::Screen, Sign::Screen(state)));
    }

    /// One thing that it does by itself.
    pub(crate) fn act(&mut self, rng: &mut Rng) {
        if self.frozen {
            return;
        }
        if self.kind == Kind::Command {
            return self.draw(rng);
        }
        if self.rejects {
            if self.said.is_empty() {
                let refusal = if rng.percent(50) { Sign::RefRejected } else { Sign::StartRefused };
                self.say(refusal("no conversation of that name".to_owned()));
            }
        } else if !self.told_ref && rng.percent(60) {
            self.tell_ref();
        } else if !self.ready {
            self.ready = true;
            self.say(Sign::Ready);
        } else if self.asks.is_some() {
            if rng.percent(10) {
                self.answered();
            }
        } else if self.turn {
            self.work(rng);
        } else if let Some(_message) = self.inbox.pop_front() {
            self.begin_turn();
        } else if rng.percent(10) {
            self.background = !self.background;
            self.say(Sign::Background(u32::from(self.background)));
        }
    }

    fn tell_ref(&mut self) {
        self.told_ref = true;
        if let Some(own) = self.own_ref.clone() {
            self.say(Sign::RefKnown(own));
        }
    }

    fn begin_turn(&mut self) {
        self.say_in_transcript(Sign::TookMessage { text: None });
        self.turn = true;
        self.say(Sign::TurnBegan);
    }

    fn work(&mut self, rng: &mut Rng) {
        match (rng.below(6), self.tool.take()) {
            (0..=2, Some(tool)) => self.say(Sign::ToolEnded(tool)),
            (_, Some(tool)) => self.tool = Some(tool),
            (0, None) => {
                self.tool = Some(format!("tool-{}", self.at));
                let tool = format!("tool-{}", self.at);
                self.say(Sign::ToolBegan { tool, what: String::new() });
            }
            (1 | 3, None) => self.ask(),
            (2 | 4, None) => self.meet_limit(rng),
            (_, None) => self.end_turn(),
        }
    }

    /// Its model refuses it. Some try again.
    fn meet_limit(&mut self, rng: &mut Rng) {
        let reset_at = if rng.percent(50) { "soon" } else { "7" }.to_owned();
        if rng.percent(50) {
            self.say(Sign::LimitReached { reset_at });
        } else {
            self.turn = false;
            self.say(Sign::TurnLimited { reset_at });
        }
    }

    fn ask(&mut self) {
        self.asked += 1;
        let id = AskId(format!("ask-{}-{}", self.generation, self.asked));
        self.asks = Some(id.clone());
        let ask = Ask::new(id, AskKind::Approval, "may I?");
        self.say(Sign::Asked(ask));
    }

    pub(crate) fn answered(&mut self) {
        if let Some(ask) = self.asks.take() {
            self.say(Sign::AskGone(ask));
        }
    }

    fn end_turn(&mut self) {
        self.tool = None;
        self.turn = false;
        self.say(Sign::TurnEnded);
    }

    fn draw(&mut self, rng: &mut Rng) {
        let prompt = || ScreenState::AtPrompt { pattern: "$ ".to_owned() };
        let line = || "go on?".to_owned();
        let state = match rng.below(5) {
            0 | 1 => ScreenState::Flowing,
            2 => ScreenState::Silent,
            3 => prompt(),
            _ => ScreenState::Asking { pattern: "? ".to_owned(), line: line() },
        };
        self.show(state);
    }

    /// It is told to stop its turn. Some do not listen.
    pub(crate) fn interrupted(&mut self, rng: &mut Rng) {
        if rng.percent(20) {
            return;
        }
        if self.kind == Kind::Command {
            self.show(ScreenState::AtPrompt { pattern: "$ ".to_owned() });
        } else if self.turn {
            self.answered();
            self.end_turn();
        }
    }

    /// Left alone, it comes to an end with what it does, one step at a time.
    pub(crate) fn calm_down(&mut self) {
        if self.kind == Kind::Command {
            return self.show(ScreenState::AtPrompt { pattern: "$ ".to_owned() });
        }
        if self.rejects {
            if self.said.is_empty() {
                self.say(Sign::RefRejected("no conversation of that name".to_owned()));
            }
        } else if !self.told_ref {
            self.tell_ref();
        } else if !self.ready {
            self.ready = true;
            self.say(Sign::Ready);
        } else if self.asks.is_some() {
            self.answered();
        } else if self.turn {
            self.end_turn();
        } else if self.background {
            self.background = false;
            self.say(Sign::Background(0));
        } else if self.inbox.pop_front().is_some() {
            self.begin_turn();
        }
    }
}
