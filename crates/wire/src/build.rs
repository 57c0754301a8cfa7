//! Which build of the program a process is, and which of two is the later one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// A build of the program. Later ones are greater.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// Version of the package.
    pub version: String,
    /// When it was built, as digits from the year to the second; 0 for builds that did not know.
    #[serde(default)]
    pub build: u64,
}

impl PartialOrd for Build {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Build {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_version = rank(&self.version).cmp(&rank(&other.version));
        // The text last: only what is the same in every letter is the same build.
        by_version.then(self.build.cmp(&other.build)).then_with(|| self.version.cmp(&other.version))
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.build {
            0 => write!(f, "{}", self.version),
            build => write!(f, "{} build {build}", self.version),
        }
    }
}

/// The numbers of a version, and whether it is a release: `1.2.0-rc.1` comes before `1.2.0`.
fn rank(version: &str) -> (Vec<u64>, bool, String) {
    let plain = version.split('+').next().unwrap_or_default();
    let (numbers, preview) = plain.split_once('-').unwrap_or((plain, ""));
    let numbers = numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    (numbers, preview.is_empty(), preview.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(version: &str, build: u64) -> Build {
        Build { version: version.to_owned(), build }
    }

    #[test]
    fn the_version_counts_before_the_time_of_the_build() {
        let ascending = [
            build("0.1.0", 0),
            build("0.1.0", 20_260_101_000_000),
            build("0.1.0", 20_260_101_000_001),
            build("0.9.0", 5),
            build("0.10.0-rc.1", 9),
            build("0.10.0", 1),
            build("1.0.0", 0),
        ];
        assert!(ascending.is_sorted());
        assert_eq!(build("0.1.0", 7).cmp(&build("0.1.0", 7)), Ordering::Equal);
    }

    #[test]
    fn a_build_that_does_not_tell_its_time_is_the_oldest_of_its_version() {
        let told: Build = serde_json::from_str(r#"{"version":"0.1.0"}"#).unwrap();
        assert!(told < build("0.1.0", 1));
        assert_eq!(told.to_string(), "0.1.0");
    }
}
