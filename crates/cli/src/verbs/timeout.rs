//! How long a session may be idle before it is suspended.

use super::act::act;
use super::{Out, ask, unexpected};
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::words;
use glis_core::Refusal;
use glis_core::spec::IdleLimit;
use glis_wire::client::{Action, Request, Response};

/// Says how long it is.
pub(super) fn show(name: String, out: &Out) -> Result<(), Complaint> {
    let request = Request::Show { session: name };
    let Response::Session(session) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    out.document(&*session, || words::idle_timeout(&session))
}

/// Sets it; what has begun begins anew.
pub(super) fn set(name: &str, minutes: &str, out: &Out) -> Result<(), Complaint> {
    let limit = limit(minutes)?;
    let (session, _) = act(&mut control::connect()?, name, Action::LimitIdle { limit })?;
    out.document(&session, || words::idle_timeout_set(&session))
}

fn limit(minutes: &str) -> Result<IdleLimit, Complaint> {
    if minutes == "off" {
        return Ok(IdleLimit::Never);
    }
    let number: i128 = minutes.parse().map_err(|_| {
        Complaint::new(Kind::Usage, "Invalid number. Usage: glis timeout NAME <minutes>")
            .hint("or `off`, to never suspend it")
    })?;
    let secs = u64::try_from(number).ok().and_then(|minutes| minutes.checked_mul(60));
    let limit = secs.map(IdleLimit::Secs).filter(|limit| limit.is_in_range());
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
        for minutes in ["0", "121", "-5", "99999999999999999999999"] {
            let refused = limit(minutes).unwrap_err();
            assert_eq!(refused.message, "Timeout must be between 1 and 120 minutes", "{minutes}");
            assert_eq!(refused.kind, Kind::Usage);
        }
        for minutes in ["", "ten", "1.5", "10m"] {
            assert!(limit(minutes).unwrap_err().message.starts_with("Invalid number. Usage: "));
        }
    }
}
