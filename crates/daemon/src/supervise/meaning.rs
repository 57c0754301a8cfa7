//! What an agent says, understood by what else is known: its session, its records, the calendar.

use super::listener::Listener;
use crate::resets;
use glis_agent::{CUT_OFF, Outcome, Rows, Said};
use glis_core::input::Sign;
use glis_core::session::Phase;
use glis_record::rows;

impl Listener {
    pub(super) async fn meant(&self, sign: Sign) -> Sign {
        let sign = self.as_recorded(sign).await;
        self.placed(by_the_calendar(sign)).await
    }

    /// What is broken off at a question agents call denied. Nobody denied it where a pause or a stop did that.
    pub(super) async fn as_decided(&self, said: Said) -> Said {
        if said.outcome != Some(Outcome::Denied) {
            return said;
        }
        let session = self.session().await;
        let cut = session.is_some_and(|session| session.phase != Phase::Live);
        Said { outcome: Some(if cut { Outcome::Interrupted } else { Outcome::Denied }), ..said }
    }

    /// An agent that has a database tells only there that it was a usage limit that ended a turn, or that
    /// the answer was cut off at its greatest length.
    async fn as_recorded(&self, sign: Sign) -> Sign {
        if !matches!(sign, Sign::TurnFailed(_) | Sign::TurnEnded) {
            return sign;
        }
        let Some(rows) = self.rows() else { return sign };
        let told = self.supervisor.run_blocking(move || Ok(rows::ending(&rows)?)).await;
        match (sign, told.ok().flatten().as_deref()) {
            (Sign::TurnFailed(_), Some(Rows::LIMIT)) => {
                Sign::TurnLimited { reset_at: String::new() }
            }
            (Sign::TurnEnded, Some(Rows::LENGTH)) => Sign::TurnFailed(CUT_OFF.to_owned()),
            (sign, _) => sign,
        }
    }
}

/// What an agent tells of a usage limit in words is worth as much as the moment at which it is heard.
fn by_the_calendar(mut sign: Sign) -> Sign {
    if let Sign::LimitReached { reset_at } | Sign::TurnLimited { reset_at } = &mut sign {
        *reset_at = resets::in_seconds(std::mem::take(reset_at));
    }
    sign
}
