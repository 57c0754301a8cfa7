//! When a session that is parked at a usage limit may go on by itself, by the bounds that its user has
//! set.

use glis_config::{Clock, Config, Quiet, Until, UsageLimitConfig};
use glis_core::Session;
use glis_core::session::WallMs;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

/// When it may go on, if it may, and what the clock shows.
pub(crate) fn plan(config: &Config, session: &Session) -> (Option<WallMs>, WallMs) {
    let goes_on_by_itself = session.spec.task.is_some() || session.ahead.looped.is_some();
    let waits = config.plan.wait_for_limits && goes_on_by_itself;
    let config = UsageLimitConfig {
        resume: config.usage_limit.resume || waits,
        ..config.usage_limit.clone()
    };
    let now = crate::clock::now().to_zoned(TimeZone::system());
    // Another pause that was to end by itself may be tried to end at any time.
    let parked = session.parked().is_some();
    let at = if parked { returns(&config, session, &now) } else { Some(now.clone()) };
    (at.map(|at| at.timestamp().as_millisecond()), now.timestamp().as_millisecond())
}

fn returns(config: &UsageLimitConfig, session: &Session, now: &Zoned) -> Option<Zoned> {
    let parked = session.parked()?;
    // A try in vain is of the same limit.
    let spent = session.ahead.limits.tries <= 1 && session.ahead.limits.returns >= config.windows;
    if !config.resume || spent {
        return None;
    }
    let over = zoned(session.limit_over_at()?, now)?;
    let over = if over < *now { now.clone() } else { over };
    let at = config.quiet.map_or(Some(over.clone()), |quiet| after(quiet, &over))?;
    let latest = match config.until {
        None => return Some(at),
        Some(until) => latest(until, &zoned(parked.at, now)?)?,
    };
    (at <= latest).then_some(at)
}

fn zoned(at: WallMs, now: &Zoned) -> Option<Zoned> {
    Some(Timestamp::from_millisecond(at).ok()?.to_zoned(now.time_zone().clone()))
}

/// This moment, or the end of the quiet hours that it falls into.
fn after(quiet: Quiet, at: &Zoned) -> Option<Zoned> {
    let (from, to, time) = (time(quiet.from)?, time(quiet.to)?, at.time());
    let is_quiet = if from < to { from <= time && time < to } else { from <= time || time < to };
    if is_quiet { next(to, at) } else { Some(at.clone()) }
}

fn latest(until: Until, parked: &Zoned) -> Option<Zoned> {
    match until {
        Until::Clock(clock) => next(time(clock)?, parked),
        Until::Span(span) => {
            parked.checked_add(SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX)).ok()
        }
    }
}

fn time(clock: Clock) -> Option<Time> {
    Time::new(clock.hour, clock.minute, 0, 0).ok()
}

/// The first moment behind this one at which the clock shows a time.
fn next(time: Time, behind: &Zoned) -> Option<Zoned> {
    let on = |date: jiff::civil::Date| date.to_datetime(time).to_zoned(behind.time_zone().clone());
    let today = on(behind.date()).ok()?;
    if today > *behind { Some(today) } else { on(behind.date().tomorrow().ok()?).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_core::pause::{OnTimeout, PauseMode, PauseReason};
    use glis_core::spec::{Mode, RefOrigin, SignSource, Spec, Takes, Traits};
    use glis_core::tree::Clearing;
    use glis_core::{Event, House, OpId, Recorded, SessionId};

    /// A session that was parked on a Monday at two in the afternoon in Zurich, by a limit that ends at
    /// this time of that week.
    fn parked(reset: &str) -> Session {
        let traits = Traits {
            refs: RefOrigin::Chosen,
            signs: SignSource::Structured,
            takes: Takes::WhenIdle,
        };
        let spec = Box::new(Spec::plain("claude", Mode::Headless, traits, "/r"));
        let (op, id) = (OpId(1), SessionId("s".to_owned()));
        let (mode, reason) = (PauseMode::Boundary, PauseReason::RateLimit);
        let (on_timeout, clearing) = (OnTimeout::Refuse, Clearing::Keep);
        let spot = glis_core::event::Spot::Screen;
        let reset_at = zurich(reset).timestamp().as_second().to_string();
        let events = [
            Event::SessionCreated { op, name: "s".to_owned(), spec, agent_ref: None },
            Event::CreationEnded { op },
            Event::LimitReached { reset_at, spot },
            Event::PauseBegan { op, mode, reason, on_timeout, clearing },
            Event::Paused { op },
        ];
        let at = zurich("2026-11-16T14:00").timestamp().as_millisecond();
        let mut house = House::default();
        for event in events {
            house.apply(&Recorded::new(house.last_seq() + 1, at, id.clone().into(), event));
        }
        house.session(&id).cloned().unwrap()
    }

    fn zurich(local: &str) -> Zoned {
        format!("{local}[Europe/Zurich]").parse().unwrap()
    }

    /// When it goes on, asked at half past two.
    fn returns_at(config: &str, reset: &str) -> Option<String> {
        let config: UsageLimitConfig = toml::from_str(config).unwrap();
        let at = returns(&config, &parked(reset), &zurich("2026-11-16T14:30"))?;
        Some(at.strftime("%a %H:%M").to_string())
    }

    #[test]
    fn it_goes_on_only_where_that_is_allowed() {
        assert_eq!(returns_at("", "2026-11-16T17:00"), None);
        assert_eq!(returns_at("resume = true", "2026-11-16T17:00").as_deref(), Some("Mon 17:00"));
        assert_eq!(returns_at("resume = true", "2026-11-16T14:10").as_deref(), Some("Mon 14:30"));
        assert_eq!(returns_at("resume = true\nwindows = 0", "2026-11-16T17:00"), None);
    }

    #[test]
    fn no_later_than_the_user_waits() {
        let until = |until: &str, reset: &str| {
            returns_at(&format!("resume = true\nuntil = {until:?}"), reset)
        };
        assert_eq!(until("3h", "2026-11-16T17:00").as_deref(), Some("Mon 17:00"));
        assert_eq!(until("3h", "2026-11-16T17:01"), None);
        assert_eq!(until("08:00", "2026-11-17T07:00").as_deref(), Some("Tue 07:00"));
        assert_eq!(until("08:00", "2026-11-17T09:00"), None);
    }

    #[test]
    fn in_quiet_hours_nothing_goes_on() {
        let quiet = |more: &str, reset: &str| {
            returns_at(&format!("resume = true\nquiet = \"22:00-07:00\"\n{more}"), reset)
        };
        assert_eq!(quiet("", "2026-11-16T21:59").as_deref(), Some("Mon 21:59"));
        assert_eq!(quiet("", "2026-11-16T22:00").as_deref(), Some("Tue 07:00"));
        assert_eq!(quiet("", "2026-11-17T03:00").as_deref(), Some("Tue 07:00"));
        assert_eq!(quiet("", "2026-11-17T07:00").as_deref(), Some("Tue 07:00"));
        assert_eq!(quiet("until = \"12h\"", "2026-11-16T23:00"), None);
    }
}
