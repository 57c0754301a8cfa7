//! What was done to the house, in numbers.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Counts of everything that the verdict speaks of.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) rounds: u32,
    /// How often each kind of process was killed.
    pub(super) kills: BTreeMap<&'static str, u32>,
    /// How often each kind of thing was broken.
    pub(super) faults: BTreeMap<&'static str, u32>,
    pub(super) pauses: u32,
    pub(super) resumes: u32,
    pub(super) restores: u32,
    pub(super) messages: u32,
    pub(super) doubts: u32,
    pub(super) comparisons: u32,
    pub(super) bytes: u64,
}

impl Tally {
    pub(super) fn kill(&mut self, whom: &'static str) {
        *self.kills.entry(whom).or_default() += 1;
    }

    pub(super) fn fault(&mut self, what: &'static str) {
        *self.faults.entry(what).or_default() += 1;
    }

    /// For a script.
    pub(super) fn document(&self) -> Value {
        json!({
            "rounds": self.rounds,
            "kills": self.kills,
            "faults": self.faults,
            "pauses": self.pauses,
            "resumes": self.resumes,
            "restores": self.restores,
            "messages": self.messages,
            "doubts": self.doubts,
            "comparisons": self.comparisons,
            "bytes_compared": self.bytes,
        })
    }

    /// For a person, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let kills: u32 = self.kills.values().sum();
        vec![
            format!(
                "{} rounds: {kills} kills{}, {} pauses, {} resumes, {} worktrees restored",
                self.rounds,
                each(&self.kills),
                self.pauses,
                self.resumes,
                self.restores,
            ),
            format!("broken on purpose: {}", list(&self.faults)),
            format!(
                "{} messages: each delivered once, {} in doubt and asked about; {} compared in {} comparisons",
                self.messages,
                self.doubts,
                size(self.bytes),
                self.comparisons,
            ),
        ]
    }
}

fn list(counts: &BTreeMap<&'static str, u32>) -> String {
    if counts.is_empty() {
        return "nothing yet".to_owned();
    }
    let each: Vec<_> = counts.iter().map(|(what, count)| format!("{what} {count}")).collect();
    each.join(", ")
}

fn each(counts: &BTreeMap<&'static str, u32>) -> String {
    if counts.is_empty() { String::new() } else { format!(" ({})", list(counts)) }
}

/// A size as a person says it.
#[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_counts_everything() {
        let mut tally = Tally { rounds: 2, pauses: 3, bytes: 1_500_000, ..Tally::default() };
        assert!(tally.lines().join("\n").contains("2 rounds: 0 kills, 3 pauses"));
        tally.kill("daemon");
        tally.kill("daemon");
        tally.kill("holder");
        tally.fault("worktree removed");
        let told = tally.lines().join("\n");
        assert!(told.contains("3 kills (daemon 2, holder 1)"), "{told}");
        assert!(told.contains("broken on purpose: worktree removed 1"), "{told}");
        assert!(told.contains("1.5 MB compared"), "{told}");
        assert_eq!(tally.document()["kills"]["daemon"], 2);
    }
}
