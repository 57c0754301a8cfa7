//! The order *ready for me*: who needs a person comes first.

use glis_core::Status;
use glis_wire::view::SessionRow;

/// How much a session needs a person, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Waiting,
    Failed,
    /// It has finished something that no person has looked at.
    Unseen,
    Idle,
    Busy,
    AtRest,
}

pub(crate) fn rank(session: &SessionRow) -> Rank {
    let unseen = || match (parse(&session.last_active_at), session.last_accessed_at.as_deref()) {
        (Some(active), Some(seen)) => parse(seen).is_some_and(|seen| seen < active),
        (Some(_), None) => session.generation > 0,
        (None, _) => false,
    };
    match session.status {
        Status::Waiting => Rank::Waiting,
        Status::Idle | Status::Suspended if session.unmerged.is_some() => Rank::Waiting,
        // It waits for words since its question was dropped.
        Status::Idle | Status::Paused | Status::Suspended if !session.was_asking.is_empty() => {
            Rank::Waiting
        }
        // It came back from the middle of a turn, and nobody has said how that goes on.
        Status::Idle if session.cut_off => Rank::Waiting,
        Status::Failed | Status::Interrupted => Rank::Failed,
        Status::Idle | Status::Completed if unseen() => Rank::Unseen,
        Status::Idle => Rank::Idle,
        Status::Busy | Status::Pausing | Status::Resuming => Rank::Busy,
        _ => Rank::AtRest,
    }
}

fn parse(time: &str) -> Option<jiff::Timestamp> {
    time.parse().ok()
}

/// How well some letters fit a text, which holds them in this order; none if it does not. Letters that
/// stand together, or begin a word, fit better.
pub(crate) fn fits(wanted: &str, text: &str) -> Option<i32> {
    let mut score = 0;
    let mut before = None;
    let mut last_hit: Option<usize> = None;
    let mut wanted = wanted.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase);
    let mut next = wanted.next();
    for (at, c) in text.chars().flat_map(char::to_lowercase).enumerate() {
        let Some(letter) = next else { break };
        if c == letter {
            let begins = before.is_none_or(|b: char| !b.is_alphanumeric());
            let together = last_hit.is_some_and(|hit| hit + 1 == at);
            score += 1 + if begins { 4 } else { 0 } + if together { 6 } else { 0 };
            // What is found early is what was meant.
            score -= i32::from(last_hit.is_none() && at > 8);
            last_hit = Some(at);
            next = wanted.next();
        }
        before = Some(c);
    }
    next.is_none().then_some(score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::session;

    #[test]
    fn who_needs_a_person_comes_first() {
        use Status::{Busy, Completed, Failed, Idle, Interrupted, Paused, Suspended, Waiting};
        let order = [Waiting, Failed, Interrupted, Idle, Busy, Paused, Suspended, Completed];
        let ranks: Vec<_> = order.into_iter().map(|status| rank(&session("x", status))).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
    }

    #[test]
    fn what_was_finished_unseen_comes_before_what_was_seen() {
        let mut seen = session("x", Status::Idle);
        seen.last_active_at = "2026-01-01T00:00:00Z".to_owned();
        seen.last_accessed_at = Some("2026-01-01T00:00:01Z".to_owned());
        let mut unseen = seen.clone();
        unseen.last_accessed_at = Some("2025-12-31T23:59:59Z".to_owned());
        assert_eq!((rank(&seen), rank(&unseen)), (Rank::Idle, Rank::Unseen));
    }

    #[test]
    fn what_was_cut_off_and_stands_still_needs_a_person() {
        let rank_of = |status| rank(&SessionRow { cut_off: true, ..session("x", status) });
        assert_eq!((rank_of(Status::Idle), rank_of(Status::Busy)), (Rank::Waiting, Rank::Busy));
    }

    #[test]
    fn letters_fit_in_their_order_and_best_together() {
        assert!(fits("fxl", "fix-login").is_some());
        assert!(fits("lf", "fix-login").is_none());
        assert!(fits("log", "fix-login") > fits("log", "lazy-old-gnu"));
        assert_eq!(fits("", "anything"), Some(0));
    }
}
