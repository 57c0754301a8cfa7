//! How long a verdict of lexer, patterns and rules takes, files and programs apart.
//!
//! `cargo test -p glis-approve --test pace -- --nocapture` prints the time of one.

use std::time::{Duration, Instant};

use glis_approve::{Judge, Request, Settings, Verdict};

/// Lines of the usual kinds: allowed by a rule as far as that goes without a disk, and refused.
const LINES: [&str; 5] = [
    "ls -la src",
    "grep -rn 'fn main' --include='*.rs' src",
    "find . -name '*.rs' -type f -maxdepth 3",
    "cat a.txt | sh",
    "git -c core.pager=x log",
];

/// An agent waits for the answer, and a person would not notice a thousand of these.
const LIMIT: Duration = Duration::from_micros(50);
const ROUNDS: u32 = 200;

#[test]
fn a_verdict_takes_no_time_worth_mentioning() {
    let judge = Judge::new(Settings::default()).unwrap();
    // The quickest of several rounds: what else the machine does is not what is measured.
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        for line in LINES {
            let verdict = judge.verdict(Request::Command(line), None);
            assert!(matches!(verdict, Verdict::Manual(_)));
        }
        best = best.min(begun.elapsed() / 5);
    }
    println!("a verdict takes {best:?}");
    assert!(best <= LIMIT, "{best:?}");
}
