//! The tests that failed at first and passed when they were played again.
//!
//! More than a thousand tests start real processes on whatever machine there is, so one of them may
//! lose a race that no user ever will. It is played once more, and told by name in the summary:
//! whoever reads it looks for the cause. Several in one run are no bad luck, but a fault.

use std::fs;
use std::path::Path;

/// Where `cargo nextest` reports a run, below the target folder; its name is in
/// `.config/nextest.toml`.
pub(crate) const REPORT: &str = "nextest/default/junit.xml";

/// How many of them a run forgives: of thirteen hundred such tests on a machine that others use as well, one in some three
/// hundred.
pub(crate) const FORGIVEN_MAX: usize = 4;

/// The names of those in the report of a run.
pub(crate) fn read(report: &Path) -> Vec<String> {
    names(&fs::read_to_string(report).unwrap_or_default())
}

fn names(report: &str) -> Vec<String> {
    let cases = report.split("<testcase ").skip(1);
    let shaky = cases.filter(|case| case.contains("<flakyFailure"));
    let name = |case: &str| Some(case.split_once("name=\"")?.1.split_once('"')?.0.to_owned());
    shaky.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_that_passed_at_the_second_try_are_named() {
        let report = r#"<testsuite name="glis">
            <testcase name="firm" classname="glis" time="1"></testcase>
            <testcase name="a::shaky" classname="glis" time="1">
                <flakyFailure type="test failure">…</flakyFailure></testcase>
            <testcase name="broken" classname="glis"><failure type="test failure"/></testcase>"#;
        assert_eq!(names(report), ["a::shaky"]);
        assert!(names("").is_empty());
    }
}
