//! The tests that were left out: told by themselves, counted here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::tools::Missing;

/// Tells the tests where to note down that they were left out, and why.
pub(crate) const NOTES: &str = "GLIS_SKIPS";

/// How many tests are named for one reason; the others are counted.
const NAMED_MAX: usize = 3;

/// What the tests have noted, one entry for each reason.
pub(crate) fn read(notes: &Path) -> Vec<Missing> {
    summary(&fs::read_to_string(notes).unwrap_or_default())
}

fn summary(notes: &str) -> Vec<Missing> {
    let mut reasons: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for line in notes.lines() {
        let mut fields = line.splitn(3, '\t');
        let (test, remedy, why) = (fields.next(), fields.next(), fields.next());
        let reason = (why.unwrap_or("no reason"), remedy.unwrap_or_default());
        reasons.entry(reason).or_default().insert(test.unwrap_or_default());
    }
    let reasons = reasons.into_iter();
    reasons.map(|((why, remedy), tests)| missing(why, remedy, &Vec::from_iter(tests))).collect()
}

fn missing(why: &str, remedy: &str, tests: &[&str]) -> Missing {
    let named = tests.get(..NAMED_MAX.min(tests.len())).unwrap_or_default().join(", ");
    let more = tests.len().saturating_sub(NAMED_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let plural = if tests.len() == 1 { "test" } else { "tests" };
    let what = format!("{} {plural} ({named}{more})", tests.len());
    Missing { what, why: why.to_owned(), installable: !remedy.is_empty() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_were_left_out_are_counted_by_reason() {
        let notes = "a\t\tno mount\nb\tstrace\tno strace\nc\t\tno mount\nd\t\tno mount\n\
                     d\t\tno mount\ne\t\tno mount\n";
        let told: Vec<_> = summary(notes)
            .into_iter()
            .map(|missing| (missing.what, missing.why, missing.installable))
            .collect();
        let wanted = [
            ("4 tests (a, c, d and 1 more)".to_owned(), "no mount".to_owned(), false),
            ("1 test (b)".to_owned(), "no strace".to_owned(), true),
        ];
        assert_eq!(told, wanted);
        assert_eq!(summary("").len(), 0);
    }
}
