//! What all sessions together have used today, where the day has a budget.
//!
//! What each has used is in its conversation, and that is what counts: nothing else is kept, so that nothing else
//! can be lost. The conversations of today are read once, and each is added to as its agent tells more.

use crate::panics::held;
use glis_record::conversation::{self, spent};
use glis_wire::home::Home;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

/// Millionths of a dollar, and tokens.
pub(crate) type Amounts = (u64, u64);

#[derive(Debug)]
pub(crate) struct Day {
    home: Home,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    date: Option<Date>,
    /// What each has ever used, as far as it is counted.
    counted: HashMap<String, Amounts>,
    sum: Amounts,
}

impl Day {
    pub(crate) fn new(home: Home) -> Self {
        Self { home, known: Mutex::default() }
    }

    /// What all have used today, once this session has used so much in all. Reads files.
    pub(crate) fn after(&self, id: &str, total: Amounts) -> (Date, Amounts) {
        let today = crate::clock::now().to_zoned(TimeZone::system()).date();
        let mut known = held(&self.known);
        if known.date != Some(today) {
            *known = self.read(today);
        }
        let file = conversation::file_of(&self.home.session(id));
        let former = *known.counted.entry(id.to_owned()).or_insert_with(|| used(&file, today).0);
        let more = (total.0.saturating_sub(former.0), total.1.saturating_sub(former.1));
        known.counted.insert(id.to_owned(), total);
        known.sum = (known.sum.0 + more.0, known.sum.1 + more.1);
        (today, known.sum)
    }

    /// What the conversations that were written to today tell.
    fn read(&self, today: Date) -> Known {
        let living = folders(&self.home.sessions()).into_iter();
        let removed = folders(&self.home.trash()).into_iter();
        let all = living.chain(removed.map(|(id, dir)| (id, dir.join("session"))));
        let mut known = Known { date: Some(today), ..Known::default() };
        for (id, dir) in all {
            let file = conversation::file_of(&dir);
            if !file.metadata().and_then(|facts| facts.modified()).is_ok_and(|at| is_of(at, today))
            {
                continue;
            }
            let (before, total) = used(&file, today);
            known.sum.0 += total.0.saturating_sub(before.0);
            known.sum.1 += total.1.saturating_sub(before.1);
            known.counted.insert(id, total);
        }
        known
    }
}

fn is_of(at: SystemTime, today: Date) -> bool {
    let at = jiff::Timestamp::try_from(at).map(|at| at.to_zoned(TimeZone::system()).date());
    at.is_ok_and(|date| date >= today)
}

/// What a conversation tells that was used before today, and in all. One that cannot be read tells nothing.
fn used(file: &Path, today: Date) -> (Amounts, Amounts) {
    let (mut before, mut total) = ((0, 0), (0, 0));
    let add = |at: jiff::Timestamp, usage: glis_agent::Usage| {
        total.0 += usage.cost_micros.unwrap_or_default();
        total.1 += usage.tokens_in + usage.tokens_out;
        if at.to_zoned(TimeZone::system()).date() < today {
            before = total;
        }
    };
    spent(file, add).ok();
    (before, total)
}

fn folders(of: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(of).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .collect()
}
