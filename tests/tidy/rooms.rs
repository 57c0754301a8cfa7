//! The rooms of the daemon: which of its files may use which.
//!
//! A file or folder of `crates/daemon/src` is a room on one floor, and uses only rooms on floors below.
//! Within the whole house no file reaches itself again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The sources of the daemon.
const DAEMON: &str = "crates/daemon/src";

/// The floors, from the top down. A new file gets its line here: where it stands is a decision.
const FLOORS: &[(&str, &[&str])] = &[
    ("the program's way in", &["lib"]),
    ("each subsystem made once", &["rooms"]),
    ("front ends", &["serve"]),
    ("all effects, all views", &["dispatch", "views", "doctor"]),
    ("how processes and runs begin, what an iteration left", &["launch", "lookback", "plans"]),
    (
        "subsystems",
        &[
            "controller",
            "gate",
            "supervise",
            "trees",
            "compact",
            "create",
            "judging",
            "keeper",
            "notify",
            "shutdown",
        ],
    ),
    ("steps of operations", &["jobs"]),
    (
        "limits, the records of runs, and the log's way in",
        &["bounds", "opening", "fill", "premises", "repo_hooks", "run_records", "strays"],
    ),
    (
        "what subsystems share",
        &[
            "copies",
            "failpoint",
            "holder",
            "live",
            "looks",
            "naps",
            "places",
            "plan_file",
            "plan_view",
            "pressure",
            "program",
            "provision",
            "rest",
            "rules",
            "shell_line",
            "sweep",
            "timers",
            "trash",
        ],
    ),
    ("what is told, and what is common", &["mailbox", "view", "exit", "screens", "common"]),
    (
        "tables",
        &[
            "cards",
            "day",
            "environments",
            "last_words",
            "links",
            "log",
            "pools",
            "strikes",
            "turns",
        ],
    ),
    ("configuration, calendar", &["settings", "resets", "returns"]),
    ("its own log", &["diagnostics"]),
    (
        "the ground",
        &[
            "access",
            "check_list",
            "child",
            "kept_output",
            "clock",
            "fault",
            "locks",
            "nursery",
            "panics",
            "peer",
            "process",
            "reading",
            "tasks",
            "worktrees",
        ],
    ),
];

/// Arrows that run back up, and why each stays. Five at most.
const BACK: &[(&str, &str, &str)] = &[];

#[test]
fn the_daemons_rooms_use_only_the_floors_below_them() {
    let house = House::read(DAEMON).unwrap();
    let mut faults = Vec::new();
    for file in house.arrows.keys().filter(|file| floor_of(file).is_none()) {
        faults.push(format!("{file}: rule rooms: it has no floor in FLOORS"));
    }
    for (file, used) in
        house.arrows.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)))
    {
        let (Some(from), Some(to)) = (floor_of(file), floor_of(used)) else { continue };
        let known = BACK.iter().any(|(a, b, _)| a == file && b == used);
        if room_of(file) != room_of(used) && from >= to && !known {
            faults
                .push(format!("{file}: rule rooms: it may not use {used}, which is not below it"));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    assert!(BACK.len() <= 5, "no more than five arrows run back up");
}

/// In the daemon not even through the file of its own folder.
#[test]
fn no_file_reaches_itself_again() {
    let mut circles = Vec::new();
    for krate in fs::read_dir(super::root().join("crates")).unwrap() {
        let sources = format!("crates/{}/src", krate.unwrap().file_name().to_string_lossy());
        let mut house = House::read(&sources).unwrap();
        if sources != DAEMON {
            house.join_folders();
        }
        let circle = house.arrows.keys().filter(|file| house.reaches_itself(file));
        circles.extend(circle.map(|file| format!("{sources}/{file}.rs")));
    }
    assert!(circles.is_empty(), "rule rooms: these reach themselves again: {circles:#?}");
}

/// A name that `lib.rs` takes in from another crate is named by that crate elsewhere: through the root it
/// would be an arrow back up.
#[test]
fn no_file_of_the_daemon_reaches_another_crate_through_its_root() {
    let found = House::read(DAEMON).unwrap().roundabout;
    assert!(found.is_empty(), "rule rooms: name the crate in full: {found:?}");
}

#[test]
fn arrows_are_read_from_paths() {
    let text = "use crate::{a, b::{C, d::E}};\nuse super::f;\nfn x() { crate::g::h(); i::j(); }\nmod i;\n\
                // crate::comment\nconst S: &str = \"crate::string\";\n#[cfg(test)]\nmod tests {\n\
                use crate::only_in_tests; }\n";
    let found = paths(text);
    let expected =
        ["crate::a", "crate::b::C", "crate::b::d::E", "super::f", "crate::g::h", "self::i"];
    let expected: BTreeSet<String> = expected.into_iter().map(ToOwned::to_owned).collect();
    assert!(expected.is_subset(&found), "{found:?}");
    assert!(!found.iter().any(|path| path.contains("comment") || path.contains("string")));
    assert!(!found.iter().any(|path| path.contains("only_in_tests")));
}

/// The floor of a file's room, counted from the top.
fn floor_of(file: &str) -> Option<usize> {
    FLOORS.iter().position(|(_, rooms)| rooms.contains(&room_of(file)))
}

fn room_of(file: &str) -> &str {
    file.split('/').next().unwrap_or(file)
}

/// The files of the daemon by their module's path (`serve/act`), with those that each one uses.
struct House {
    arrows: BTreeMap<String, BTreeSet<String>>,
    /// Paths from the crate's root that lead to no file, with the file that has them.
    roundabout: Vec<(String, String)>,
}

impl House {
    fn read(sources: &str) -> Result<Self> {
        let root = super::root().join(sources);
        let mut files = Vec::new();
        super::walk(Path::new(sources), &mut files)?;
        let names: Vec<(String, PathBuf)> = files
            .into_iter()
            .filter(|file| file.extension().is_some_and(|ext| ext == "rs"))
            .filter(|file| !super::holds_tests(file))
            .map(|file| {
                let path = super::root().join(file);
                let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("");
                (name.to_string_lossy().into_owned(), path)
            })
            .collect();
        let known: BTreeSet<String> = names.iter().map(|(name, _)| name.clone()).collect();
        let (mut arrows, mut roundabout) = (BTreeMap::new(), Vec::new());
        for (name, path) in names {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let mut used = BTreeSet::new();
            for path in paths(&text) {
                match file_of(&name, &path, &known) {
                    Some(file) => drop(used.insert(file)),
                    None if path.starts_with("crate::") => roundabout.push((name.clone(), path)),
                    None => {}
                }
            }
            arrows.insert(name, used);
        }
        for (file, used) in &mut arrows {
            used.remove(file);
        }
        Ok(Self { arrows, roundabout })
    }
}

impl House {
    /// A folder and its own file are one subject: what the file keeps for the others may be used. So with
    /// a crate and its root.
    fn join_folders(&mut self) {
        for (file, used) in &mut self.arrows {
            used.retain(|other| !file.starts_with(&format!("{other}/")) && other != "lib");
        }
    }

    fn reaches_itself(&self, file: &str) -> bool {
        let mut reached = BTreeSet::new();
        let mut ahead: Vec<&String> = self.arrows[file].iter().collect();
        while let Some(next) = ahead.pop() {
            if next == file {
                return true;
            }
            if reached.insert(next) {
                ahead.extend(self.arrows.get(next).into_iter().flatten());
            }
        }
        false
    }
}

/// The file that a path in `from` leads to: the longest part of it that is one.
fn file_of(from: &str, path: &str, known: &BTreeSet<String>) -> Option<String> {
    let mut parts: Vec<&str> = path.split("::").collect();
    let mut at: Vec<&str> = if from == "lib" { Vec::new() } else { from.split('/').collect() };
    match parts.remove(0) {
        "crate" => at.clear(),
        "super" => {
            at.pop();
            while parts.first() == Some(&"super") {
                parts.remove(0);
                at.pop();
            }
        }
        _ => {}
    }
    let above = at.len();
    at.extend(parts);
    (above.max(1)..=at.len()).rev().map(|len| at[..len].join("/")).find(|name| known.contains(name))
}

/// Every path in a source that begins at the crate's root, above, or at a module of its own. What is
/// for tests alone is left out.
fn paths(text: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let words = words(&bare(text));
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let begins = |at: usize| word(at + 1) == "::" && (at == 0 || word(at - 1) != "::");
    let own: BTreeSet<&str> = (0..words.len())
        .filter(|at| word(*at) == "mod" && word(at + 2) == ";")
        .map(|at| word(at + 1))
        .collect();
    let mut found = BTreeSet::new();
    for at in (0..words.len()).filter(|at| begins(*at)) {
        match word(at) {
            head @ ("crate" | "super") => drop(tree(&words, at + 2, head, &mut found)),
            module if own.contains(module) => drop(found.insert(format!("self::{module}"))),
            _ => {}
        }
    }
    found
}

/// Names and marks, one by one.
fn words(code: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut last = ' ';
    for c in code.chars() {
        let goes_on = in_name(c) && in_name(last) || c == ':' && last == ':';
        match words.last_mut().filter(|_| goes_on) {
            Some(word) => word.push(c),
            None if !c.is_whitespace() => words.push(c.to_string()),
            None => {}
        }
        last = c;
    }
    words
}

/// Adds the paths of a `use` tree that begins here; where it ends.
fn tree(words: &[String], mut at: usize, head: &str, found: &mut BTreeSet<String>) -> usize {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    if word(at) == "{" {
        at += 1;
        while !matches!(word(at), "}" | "") {
            at = tree(words, at, head, found);
            while word(at) == "as" {
                at += 2;
            }
            at += usize::from(word(at) == ",");
        }
        return at + 1;
    }
    let path = if word(at) == "self" { head.to_owned() } else { format!("{head}::{}", word(at)) };
    if word(at + 1) == "::" {
        return tree(words, at + 2, &path, found);
    }
    found.insert(path);
    at + 1
}

/// A source without comments and texts in quotes.
fn bare(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.split("//").next().unwrap_or(line);
        let mut parts = line.split('"');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.skip(1).step_by(2).fold(first, |all, part| all + part)
    });
    lines.collect::<Vec<_>>().join("\n")
}
