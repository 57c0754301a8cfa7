//! What sessions have used, added up: by session, repository, agent or day.

use super::answer::{Answer, bad, trouble};
use super::state::ServerState;
use crate::mailbox::Query;
use crate::naps;
use crate::pools::Kind;
use glis_agent::Usage;
use glis_core::session::Session;
use glis_record::conversation::{self, spent};
use glis_wire::client::Response;
use glis_wire::view::{CostBy, CostView, dollars};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Adds up what was used, also by sessions that were removed.
pub(super) async fn cost(state: &ServerState, by: CostBy, since: Option<String>) -> Answer {
    let since = since.map(|told| day(&told)).transpose().map_err(bad)?;
    let sessions = state.look(Query::All).await;
    let files = sessions
        .iter()
        .map(|session| (key(by, session), conversation::file_of(&state.views.folder_of(session))));
    let files: Vec<(String, PathBuf)> = files.collect();
    let add_up = move || added_up(files, by, since);
    let mut costs = state.pools.run_blocking(Kind::Ask, add_up).await.map_err(trouble)?;
    let begin = since.and_then(|day| day.to_zoned(TimeZone::system()).ok());
    let begin = begin.map_or(0, |begin| begin.timestamp().as_millisecond());
    for nap in naps::since(&state.mailbox, begin).await {
        let key = match by {
            CostBy::Day => Timestamp::from_millisecond(nap.from).map(day_of).ok(),
            CostBy::Session | CostBy::Repo | CostBy::Agent => {
                sessions.iter().find(|one| one.id == nap.session).map(|one| key(by, one))
            }
        };
        // Of those that have used something.
        if let Some(cost) = costs.iter_mut().find(|cost| Some(&cost.key) == key.as_ref()) {
            cost.suspended += 1;
            cost.woken += u64::from(nap.to.is_some());
        }
    }
    Ok(Response::Costs(costs))
}

fn day_of(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system()).date().to_string()
}

fn day(told: &str) -> Result<Date, String> {
    let today = crate::clock::now().to_zoned(TimeZone::system()).date();
    if told == "today" {
        return Ok(today);
    }
    told.parse()
        .map_err(|_| format!("`{told}` is no day; say `today`, or a date such as `{today}`"))
}

/// What it is added to; a day is told by the time of each turn instead.
fn key(by: CostBy, session: &Session) -> String {
    match by {
        CostBy::Session => session.name.clone(),
        CostBy::Repo => session.spec.repo_root.clone(),
        CostBy::Agent => session.spec.agent.clone(),
        CostBy::Day => String::new(),
    }
}

/// Days in their order; of everything else what has cost most comes first.
fn added_up(files: Vec<(String, PathBuf)>, by: CostBy, since: Option<Date>) -> Vec<CostView> {
    let zone = TimeZone::system();
    let mut sums: BTreeMap<String, Usage> = BTreeMap::new();
    for (key, file) in files {
        let add = |at: Timestamp, usage: Usage| {
            let day = at.to_zoned(zone.clone()).date();
            if since.is_some_and(|since| day < since) {
                return;
            }
            let key = if by == CostBy::Day { day.to_string() } else { key.clone() };
            let sum = sums.entry(key).or_default();
            sum.tokens_in += usage.tokens_in;
            sum.tokens_out += usage.tokens_out;
            let cost = usage.cost_micros.map(|cost| cost + sum.cost_micros.unwrap_or_default());
            sum.cost_micros = cost.or(sum.cost_micros);
        };
        // One that has said nothing yet has no file.
        spent(&file, add).ok();
    }
    let mut sums: Vec<(String, Usage)> = sums.into_iter().collect();
    if by != CostBy::Day {
        sums.sort_by_key(|(_, sum)| {
            std::cmp::Reverse((sum.cost_micros, sum.tokens_in + sum.tokens_out))
        });
    }
    let view =
        |(key, Usage { tokens_in, tokens_out, cost_micros, .. }): (String, Usage)| CostView {
            key,
            tokens_in,
            tokens_out,
            usd: cost_micros.map(dollars),
            suspended: 0,
            woken: 0,
        };
    sums.into_iter().map(view).collect()
}
