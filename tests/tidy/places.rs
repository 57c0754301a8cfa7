//! Every file that ARCHITECTURE.md names in its tables of where things are is there.

use super::root;
use std::fs;
use std::path::Path;

/// Where the files of a column lie, by its head; the first one says what the row is about.
const COLUMNS: [(&str, &str); 4] = [
    ("decided in `crates/core/src`", "crates/core/src"),
    ("done in `crates/daemon/src`", "crates/daemon/src"),
    ("shown in `crates`", "crates"),
    ("asked for by", "crates"),
];

/// The files that the tables of this page name and that are in none of the folders that they may lie in.
fn missing(page: &str, is_there: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut folders: Vec<Option<&str>> = Vec::new();
    let mut missing = Vec::new();
    for line in page.lines() {
        let Some(cells) = line.strip_prefix('|').map(|line| line.split('|')) else {
            folders.clear();
            continue;
        };
        let cells: Vec<&str> = cells.map(str::trim).collect();
        if folders.is_empty() {
            let of = |head: &&str| COLUMNS.iter().find(|(name, _)| name == head).map(|(_, at)| *at);
            folders = cells.iter().map(of).collect();
        }
        for (cell, folder) in cells.iter().zip(&folders) {
            let Some(folder) = folder else { continue };
            let named = cell.split('`').skip(1).step_by(2).filter(|word| is_file(word));
            // A column may name the files of another crate by their whole path.
            let gone = |file: &&str| {
                ![*folder, "crates"].iter().any(|folder| is_there(&Path::new(folder).join(file)))
            };
            missing.extend(named.filter(gone).map(str::to_owned));
        }
    }
    missing
}

/// What begins with a dot is a user's.
fn is_file(word: &str) -> bool {
    [".rs", ".js", "/"].iter().any(|end| word.ends_with(end)) && !word.starts_with('.')
}

#[test]
fn every_file_that_the_architecture_names_is_there() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert_eq!(missing(&page, |file| root().join(file).exists()), Vec::<String>::new());
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let page = "| X | decided in `crates/core/src` |\n|---|---|\n| a | `here.rs`, `gone.rs` |\n";
    let is_there = |file: &Path| file == Path::new("crates/core/src/here.rs");
    assert_eq!(missing(page, is_there), ["gone.rs"]);
}
