//! Labels and snoozes, as they are typed.

use crate::create::wrong::{Wrong, wrong};
use glis_core::Session;
use glis_core::name;
use glis_core::triage::{Put, Snooze};
use jiff::civil::Time;
use jiff::{Span, ToSpan as _, Zoned};

/// As many as a person can tell apart in a row.
const LABELS_MAX: usize = 16;
/// What sleeps for longer is forgotten.
const SNOOZE_DAYS_MAX: i64 = 366;

/// Labels that come and go. They are written like names.
pub(super) fn labels(
    session: &Session,
    add: Vec<String>,
    remove: Vec<String>,
) -> Result<Put, Wrong> {
    if let Some(bad) = add.iter().find(|label| name::check(label).is_err()) {
        let hint = "lower-case letters, digits, `.`, `_` and `-`, as in `auth` or `needs-review`";
        return Err(wrong(format!("`{bad}` cannot be a label"), hint));
    }
    let new = add.iter().filter(|label| !session.triage.labels.contains(*label)).count();
    if session.triage.labels.len() + new > LABELS_MAX {
        let hint = format!("take one away first: glis label {} -LABEL", session.name);
        return Err(wrong(format!("a session has {LABELS_MAX} labels at most"), hint));
    }
    Ok(Put::Labels { add, remove })
}

/// `off`, `change`, a time of day, or so long from `now` on.
pub(super) fn snooze(told: &str, now: &Zoned) -> Result<Put, Wrong> {
    Ok(Put::Snoozed(match told {
        "off" => None,
        "change" => Some(Snooze::Change),
        _ => {
            let hint = "`2h`, `3d`, `18:00`, `change` (until it asks or comes to an end) or `off`";
            let until = until(told, now);
            let until = until.ok_or_else(|| wrong(format!("`{told}` is no time"), hint))?;
            Some(Snooze::Until(until.timestamp().as_millisecond()))
        }
    }))
}

fn until(told: &str, now: &Zoned) -> Option<Zoned> {
    let latest = now.checked_add(SNOOZE_DAYS_MAX.days()).ok()?;
    let until = if told.contains(':') {
        let today = now.with().time(told.parse::<Time>().ok()?).build().ok()?;
        if today > *now { today } else { today.checked_add(1.day()).ok()? }
    } else {
        now.checked_add(told.parse::<Span>().ok()?).ok()?
    };
    (until > *now && until <= latest).then_some(until)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        "2026-11-20T17:30:00[UTC]".parse().unwrap()
    }

    #[test]
    fn a_snooze_is_a_span_a_time_of_day_or_until_it_changes() {
        let at = |told: &str| until(told, &now()).map(|at| at.datetime().to_string());
        let ok = |at: &str| Some(format!("2026-11-{at}"));
        assert_eq!((at("2h"), at("90m")), (ok("20T19:30:00"), ok("20T19:00:00")));
        assert_eq!((at("1h30m"), at("3d")), (ok("20T19:00:00"), ok("23T17:30:00")));
        assert_eq!((at("18:00"), at("08:15")), (ok("20T18:00:00"), ok("21T08:15:00")));
        for wrong in ["", "18", "soon", "-2h", "0s", "25:00", "9000d", "99999999999h", "18:00:61"] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
        let put = |told| snooze(told, &now()).unwrap();
        assert_eq!(put("off"), Put::Snoozed(None));
        assert_eq!(put("change"), Put::Snoozed(Some(Snooze::Change)));
        assert!(snooze("soon", &now()).unwrap_err().hint.contains("18:00"));
    }

    #[test]
    fn a_label_is_a_word_and_there_are_not_many() {
        let session = crate::fill::session();
        let add = |label: &str| labels(&session, vec![label.to_owned()], Vec::new());
        assert!(add("auth").is_ok());
        for wrong in ["", "a b", "-x", "Auth", "\u{1b}[31m"] {
            assert!(add(wrong).is_err(), "{wrong:?}");
        }
        let many = (0..17).map(|n| format!("l{n}")).collect();
        assert!(labels(&session, many, Vec::new()).unwrap_err().message.contains("16"));
    }
}
