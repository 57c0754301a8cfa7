//! One loop and a person who presses its one key again and again, while the daemon dies.

use crate::agent::Kind;
use crate::play::Play;
use crate::world::Luck;
use glis_core::input::Command;
use glis_core::looping::{Loop, LoopChange, LoopContext, LoopSpec};
use glis_core::pause::{OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::session::{Phase, Rest};
use glis_core::spec::Spec;
use glis_core::tree::Clearing;
use glis_core::{Input, Session, SessionId};

/// More than are ever reached while the key is pressed.
const MANY: u32 = 1000;

/// What the last press was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Paused,
    GoesOn,
}

impl Play {
    /// Presses the key at any moment, in so many steps; then nothing is in the way any more, and what
    /// was wanted last is so.
    pub(crate) fn toggle(&mut self, steps: usize) -> Result<(), String> {
        self.luck = Luck::Good;
        let id = self.create_loop()?;
        let mut wish = Wish::GoesOn;
        for _ in 0..steps {
            match self.rng.below(100) {
                0..=14 => wish = self.press(&id, wish)?,
                15..=19 => self.crash()?,
                20..=22 => self.die(&id)?,
                _ => self.step_on()?,
            }
        }
        let last = self.loop_of(&id).map_or(0, |looped| looped.iteration) + 2;
        let change = LoopChange { max: Some(Some(last)), ..LoopChange::default() };
        self.feed(&Input::Command(Command::SetLoop { session: id.clone(), change }))?;
        self.settle()?;
        self.is_as_wanted(&id, wish)
    }

    fn create_loop(&mut self) -> Result<SessionId, String> {
        let kinds = [Kind::Chosen, Kind::Learned];
        let kind = *self.rng.pick(&kinds).unwrap_or(&Kind::Chosen);
        let id = SessionId("s0".to_owned());
        let context = if self.rng.percent(50) { LoopContext::Fresh } else { LoopContext::Continue };
        let (max, max_failures) = (Some(MANY), MANY);
        let (until, auto_commit, max_cost_micros) = (None, false, None);
        let looped = LoopSpec {
            max,
            until,
            context,
            auto_commit,
            max_cost_micros,
            max_failures,
            file: None,
        };
        let agent_ref = self.mint(kind);
        self.world.kinds.insert(id.clone(), kind);
        let spec = Spec { looped: Some(Box::new(looped)), ..kind.spec(Some("go".to_owned())) };
        let (name, spec) = ("n0".to_owned(), Box::new(spec));
        self.feed(&Input::Command(Command::New { id: id.clone(), name, spec, agent_ref }))?;
        Ok(id)
    }

    fn loop_of(&self, id: &SessionId) -> Option<&Loop> {
        self.daemon.house.session(id)?.ahead.looped.as_deref()
    }

    /// What one key does: it asks for a pause, calls it off, or resumes. What is refused is not so.
    fn press(&mut self, id: &SessionId, former: Wish) -> Result<Wish, String> {
        let Some(session) = self.daemon.house.session(id) else { return Ok(former) };
        let word = session.ahead.looped.as_ref().map_or("", |looped| looped.word(session));
        let (command, wish) = match word {
            "running" => (pause(id.clone()), Wish::Paused),
            _ => (Command::Resume { session: id.clone(), prompt: None }, Wish::GoesOn),
        };
        let input = Input::Command(command);
        let refused = self.daemon.house.decide(input.clone()).is_err();
        self.feed(&input)?;
        Ok(if refused { former } else { wish })
    }

    fn is_as_wanted(&self, id: &SessionId, wish: Wish) -> Result<(), String> {
        let Some(session) = self.daemon.house.session(id) else { return Ok(()) };
        let Some(looped) = &session.ahead.looped else { return Ok(()) };
        let (word, paused) = (looped.word(session), is_paused(session));
        let fine = match wish {
            Wish::Paused => paused || word == "paused",
            // It has come to its last one, or is stopped by what a person has to look at.
            Wish::GoesOn => word == "done" || looped.broke.is_some() || needs_a_person(session),
        };
        if fine { Ok(()) } else { Err(format!("{wish:?}, and it is {word}: {session:?}")) }
    }
}

fn pause(session: SessionId) -> Command {
    let (mode, reason) = (PauseMode::Boundary, PauseReason::User);
    let (on_timeout, clearing) = (OnTimeout::Refuse, Clearing::Keep);
    Command::Pause { session, wish: PauseWish { mode, reason, on_timeout, clearing }, until: None }
}

fn is_paused(session: &Session) -> bool {
    matches!(session.phase, Phase::Rest(Rest::Paused(_)))
}

/// Its agent died where the daemon did not see it, a start of it failed, it asks something, or a
/// message is in doubt.
fn needs_a_person(session: &Session) -> bool {
    let died = matches!(session.phase, Phase::Rest(Rest::Interrupted | Rest::Failed(_)));
    let failed = session.course.failed_starts > 0;
    // It left while no daemon ran, and its words wait.
    let left =
        matches!(session.phase, Phase::Rest(Rest::Suspended)) && !session.talk.queue.is_empty();
    died || failed
        || left
        || session.waits_for_person()
        || !session.asks().is_empty()
        || session.parked().is_some()
}
