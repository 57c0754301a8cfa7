//! How long a session may be idle before it is suspended.

use super::Out;
use super::act::{self, act};
use crate::control;
use crate::words;
use glis_core::Refusal;
use glis_core::spec::IdleLimit;
use glis_verbs::{Complaint, Kind};
use glis_wire::client::Action;

/// Says how long it is.
pub(super) fn show(name: &str, out: &Out) -> Result<(), Complaint> {
    let session = act::show(&mut control::connect()?, name)?;
    out.document(&session, || words::idle_timeout(&session))
}

/// Sets it; what has begun begins anew.
pub(super) fn set(name: &str, minutes: &str, out: &Out) -> Result<(), Complaint> {
    let limit = limit(minutes)?;
    let (session, _) = act(&mut control::connect()?, name, Action::LimitIdle { limit })?;
    out.document(&session, || words::idle_timeout_set(&session))
}

fn limit(minutes: &str) -> Result<IdleLimit, Complaint> {
    let limit: IdleLimit = minutes.parse().map_err(|_| {
        Complaint::new(Kind::Usage, "Invalid number. Usage: glis timeout NAME <minutes>")
            .hint("or a time such as `90s` or `2h`, or `off`, to never suspend it")
    })?;
    let limit = Some(limit).filter(|limit| limit.is_in_range());
    limit.ok_or_else(|| Complaint::from(Refusal::IdleLimitOutOfRange))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_have_bounds_and_other_words_are_no_number() {
        assert_eq!(limit("1").unwrap(), IdleLimit::Secs(60));
        assert_eq!(limit("120").unwrap(), IdleLimit::Secs(7200));
        assert_eq!(limit("off").unwrap(), IdleLimit::Never);
        for (time, secs) in [("5m", 300), ("90s", 90), ("60s", 60), ("2h", 7200)] {
            assert_eq!(limit(time).unwrap(), IdleLimit::Secs(secs), "{time}");
        }
        for minutes in ["0", "121", "-5", "59s", "3h", "99999999999999999999999"] {
            let refused = limit(minutes).unwrap_err();
            assert_eq!(refused.message, "Timeout must be between 1 and 120 minutes", "{minutes}");
            assert_eq!(refused.kind, Kind::Usage);
        }
        for minutes in ["", "ten", "m", "1.5", "10 m", "10d"] {
            assert!(limit(minutes).unwrap_err().message.starts_with("Invalid number. Usage: "));
        }
    }
}
