//! What is refused of loops, in words.

use super::{Complaint, Kind};

pub(super) fn no_loop(session: &str) -> Complaint {
    Complaint::new(Kind::Refused, format!("session `{session}` is no loop"))
        .hint("`glis loop NAME --prompt TEXT` begins one")
}

pub(super) fn budget_spent(session: &str) -> Complaint {
    Complaint::new(Kind::Refused, format!("loop `{session}` reached its cost limit (`--max-cost`)"))
        .hint(format!("`glis loop {session} --set max-cost=DOLLARS` raises that, then resume it"))
}
