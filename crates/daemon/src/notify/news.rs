//! What is worth telling: a session waits, has finished, has failed, or has reached a limit.

use crate::view::{UNKNOWN, limit_until};
pub(super) use glis_config::Notice as Kind;
use glis_core::looping::{Breaker, Loop, LoopEvent, STALE_MAX};
use glis_core::reason::Why;
use glis_core::session::Session;
use glis_core::{Event, Recorded, Status};

/// Something that the user may want to know.
#[derive(Debug, Clone)]
pub(super) struct News {
    pub(super) kind: Kind,
    pub(super) recorded: Recorded,
}

impl News {
    /// What an event means to somebody who is not looking.
    pub(super) fn of(recorded: &Recorded) -> Option<Self> {
        let of = |kind| Some(Self { kind, recorded: recorded.clone() });
        if matches!(recorded.event, Event::LimitReached { .. }) {
            return of(Kind::Limit);
        }
        if let Event::Loop(event) = &recorded.event {
            return match event {
                LoopEvent::Done { .. } => of(Kind::Finished),
                LoopEvent::Broke { .. } => of(Kind::Failed),
                LoopEvent::Began { .. }
                | LoopEvent::NotBegun { .. }
                | LoopEvent::Ended { .. }
                | LoopEvent::LookedBack { .. }
                | LoopEvent::Stopped
                | LoopEvent::Reopened
                | LoopEvent::PauseAsked(_)
                | LoopEvent::PauseWithdrawn { .. }
                | LoopEvent::Set { .. } => None,
            };
        }
        // Whoever resumes a session is told there and then that it failed; a time that came tells no one.
        if matches!(recorded.event, Event::StartFailed { .. })
            && recorded.status == Some(Status::Paused)
        {
            return of(Kind::Failed);
        }
        match recorded.status? {
            Status::Waiting => of(Kind::Waiting),
            Status::Completed => of(Kind::Finished),
            // An agent that has come back is idle as well, and has finished nothing.
            Status::Idle if is_whole_turn(&recorded.event) => of(Kind::Finished),
            Status::Failed | Status::Interrupted => of(Kind::Failed),
            Status::Created
            | Status::Idle
            | Status::Busy
            | Status::Pausing
            | Status::Paused
            | Status::Resuming
            | Status::Suspended
            | Status::Archived => None,
        }
    }

    /// Whether it is still so.
    pub(super) fn holds(&self, session: &Session) -> bool {
        if let (Event::Loop(_), Some(looped)) = (&self.recorded.event, &session.looped) {
            return looped.broke.is_some() || !looped.goes_on();
        }
        match self.kind {
            // The next iteration is about to begin.
            Kind::Finished | Kind::Failed if session.goes_on_iterating() => false,
            Kind::Waiting => session.status() == Status::Waiting,
            Kind::Finished => matches!(session.status(), Status::Idle | Status::Completed),
            // What is tried again has not failed for good.
            Kind::Failed if matches!(self.recorded.event, Event::StartFailed { .. }) => {
                let given_up = session.by_itself.is_given_up() && session.pause_record().is_some();
                given_up || session.status() == Status::Failed
            }
            Kind::Failed => matches!(session.status(), Status::Failed | Status::Interrupted),
            // A time that becomes known takes the place of none: it is one limit.
            Kind::Limit => {
                let until = session.limit_until.as_ref();
                !matches!(&self.recorded.event, Event::LimitReached { reset_at, .. }
                    if until.is_some_and(|until| until != reset_at))
            }
        }
    }

    /// What a person reads.
    pub(super) fn text(&self, session: &Session) -> String {
        if let (Event::Loop(event), Some(looped)) = (&self.recorded.event, &session.looped) {
            return about_loop(event, looped);
        }
        match self.kind {
            Kind::Waiting => match session.asks().first() {
                Some(ask) => ask.text.clone(),
                None => "it asks something on its screen".to_owned(),
            },
            Kind::Finished => "its turn has ended".to_owned(),
            Kind::Failed => failure(session, &self.recorded.event),
            Kind::Limit => limit(&self.recorded.event),
        }
    }
}

/// How a loop has ended, or why it has paused itself.
fn about_loop(event: &LoopEvent, looped: &Loop) -> String {
    let iteration = looped.iteration;
    let Some(broke) = looped.broke.filter(|_| matches!(event, LoopEvent::Broke { .. })) else {
        return format!("the loop is done, after iteration {iteration}");
    };
    let why = match broke {
        Breaker::Failures => format!("{} iterations in a row failed", looped.failures),
        Breaker::NoProgress => format!("{STALE_MAX} iterations in a row changed nothing"),
        Breaker::NotResumable => "its agent does not come back".to_owned(),
        Breaker::Cost => "it has cost what it may cost".to_owned(),
    };
    format!("the loop has paused itself after iteration {iteration}: {why}")
}

fn is_whole_turn(event: &Event) -> bool {
    matches!(event, Event::TurnEnded { cut: false, limited: false, .. })
}

fn failure(session: &Session, event: &Event) -> String {
    if let (Event::StartFailed { fault, .. }, true) = (event, session.by_itself.is_given_up()) {
        return format!("it could not be resumed by itself: {fault}");
    }
    let why = if let Event::Interrupted { why } = event { Some(why) } else { None };
    session.failure().or(why).map_or("its process has ended".into(), Why::stored).into_owned()
}

fn limit(event: &Event) -> String {
    let known = if let Event::LimitReached { reset_at, .. } = event { reset_at } else { "" };
    match limit_until(known) {
        known if known == UNKNOWN => "its usage limit is reached".to_owned(),
        known => format!("its usage limit is reached; it resets at {known}"),
    }
}
