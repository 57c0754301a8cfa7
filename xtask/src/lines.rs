//! How many lines the sources have, by crate: what git tracks, without tests.

use crate::cargo::Workspace;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

pub(crate) fn run() -> Result<ExitCode> {
    let root = Workspace::find()?.root;
    let listed =
        Command::new("git").args(["ls-files", "crates", "src"]).current_dir(&root).output()?;
    let listed = String::from_utf8(listed.stdout).context("a path is no text")?;
    let counts = |path: &&str| {
        let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
        Path::new(path).extension().is_some_and(|extension| extension == "rs") && !is_test
    };
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for path in listed.lines().filter(counts) {
        let name = path.strip_prefix("crates/").and_then(|path| path.split('/').next());
        let text = std::fs::read_to_string(root.join(path)).context(path.to_owned())?;
        *lines.entry(name.unwrap_or("src")).or_default() += text.lines().count();
    }
    for (name, lines) in &lines {
        println!("{lines:7} {name}");
    }
    println!("{:7} in all", lines.values().sum::<usize>());
    Ok(ExitCode::SUCCESS)
}
