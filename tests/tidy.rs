//! The house rules that a machine can hold: who may use whom, and how a file looks.

#[path = "tidy/criteria.rs"]
mod criteria;
#[path = "tidy/places.rs"]
mod places;
#[path = "tidy/rooms.rs"]
mod rooms;
#[path = "tidy/stories.rs"]
mod stories;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Which of our packages each of our packages may use. A package that is missing here is a fault: a
/// new crate is a decision, and this line is where it is written down.
const LAYERS: &[(&str, &[&str])] = &[
    // It knows nothing of ours, so that everything may use it.
    ("glis-os", &[]),
    ("glis-core", &[]),
    ("glis-wire", &["glis-core"]),
    // Which line is plain is for the lexer of the rules to say.
    ("glis-agent", &["glis-approve", "glis-core", "glis-wire"]),
    ("glis-screen", &["glis-wire"]),
    ("glis-record", &["glis-wire", "glis-agent", "glis-screen"]),
    ("glis-config", &["glis-core", "glis-wire", "glis-agent", "glis-approve"]),
    ("glis-plan", &["glis-core"]),
    ("glis-snapshot", &["glis-os"]),
    ("glis-approve", &[]),
    ("glis-hold", &["glis-os", "glis-wire"]),
    ("glis-rehearse", &["glis-os"]),
    ("glis-relay", &[]),
    (
        "glis-daemon",
        &[
            "glis-os",
            "glis-core",
            "glis-wire",
            "glis-agent",
            "glis-approve",
            "glis-config",
            "glis-plan",
            "glis-screen",
            "glis-record",
            "glis-snapshot",
        ],
    ),
    ("glis-client", &["glis-os", "glis-core", "glis-wire"]),
    ("glis-tty", &["glis-os", "glis-wire"]),
    ("glis-verbs", &["glis-core", "glis-wire", "glis-config", "glis-plan", "glis-client"]),
    (
        "glis-tui",
        &["glis-core", "glis-wire", "glis-client", "glis-screen", "glis-tty", "glis-verbs"],
    ),
    (
        "glis-cli",
        &[
            "glis-core",
            "glis-wire",
            "glis-approve",
            "glis-config",
            "glis-plan",
            "glis-client",
            "glis-tty",
            "glis-verbs",
        ],
    ),
    (
        "glis-web",
        &["glis-os", "glis-core", "glis-wire", "glis-client", "glis-screen", "glis-verbs"],
    ),
    (
        "glis-chat",
        &["glis-os", "glis-core", "glis-wire", "glis-config", "glis-client", "glis-verbs"],
    ),
    ("glis-prove", &["glis-os", "glis-cli"]),
    (
        "glis",
        &[
            "glis-agent",
            "glis-chat",
            "glis-cli",
            "glis-daemon",
            "glis-hold",
            "glis-os",
            "glis-prove",
            "glis-rehearse",
            "glis-relay",
            "glis-tui",
            "glis-verbs",
            "glis-web",
            "glis-wire",
        ],
    ),
    ("glis-stub-model", &[]),
    ("glis-bot-api", &[]),
    ("xtask", &["glis-screen", "glis-snapshot", "glis-stub-model", "glis-wire"]),
];

/// Which foreign packages a package of ours must do without, and why.
const BANS: &[(&str, &[&str], &str)] = &[
    ("glis-core", &["tokio", "rusqlite", "rustix", "libc"], "the core does no I/O"),
    ("glis-wire", &["tokio", "rustix"], "the words are sans-I/O"),
    ("glis-agent", &["tokio", "rustix"], "agents' dialects are sans-I/O"),
    ("glis-screen", &["tokio", "rustix"], "an emulator gets its bytes handed in"),
    ("glis-record", &["tokio"], "what is kept is files, read and written by who waits for them"),
    ("glis-hold", &["tokio"], "a holder stays small and has no runtime"),
    ("glis-client", &["clap", "ratatui", "hyper"], "every face uses it, whatever it is made of"),
    ("glis-chat", &["clap", "tokio", "hyper"], "it is small, blocks, and has a thread a direction"),
    ("glis-tui", &["clap", "tokio"], "it is handed what was typed, and waits by one poll"),
    ("glis-web", &["clap", "rusqlite"], "it is handed what was typed, and keeps one file"),
    ("glis-daemon", &["clap", "ratatui", "hyper"], "what people see belongs to the faces"),
];

/// Longer than this, a file has a second subject that wants a file of its own.
const LINES_MAX: usize = 600;

/// Where our Rust sources lie.
const SOURCE_ROOTS: &[&str] = &["src", "crates", "xtask", "tests"];

#[test]
fn packages_use_only_the_layers_below_them() {
    let faults = layer_faults(&manifests().unwrap());
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn packages_form_no_circle() {
    let uses = manifests().unwrap();
    for package in uses.keys() {
        let mut reached = BTreeSet::new();
        let mut ahead: Vec<&String> = dependencies_of(&uses, package);
        while let Some(next) = ahead.pop() {
            assert!(next != package, "{package}: rule layers: it reaches itself again");
            if reached.insert(next) {
                ahead.extend(dependencies_of(&uses, next));
            }
        }
    }
}

#[test]
fn sources_keep_the_house_style() {
    let mut faults = Vec::new();
    for file in rust_sources().unwrap() {
        let text = fs::read_to_string(root().join(&file)).unwrap();
        source_faults(&file, &text, &mut faults);
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let mut faults = Vec::new();
    for file in texts().unwrap() {
        let text = fs::read_to_string(root().join(&file)).unwrap();
        for (number, line) in text.lines().enumerate() {
            if let Some(path) = machine_path(line) {
                faults.push(format!(
                    "{}:{}: rule machine-path: names `{path}`, a folder of one machine",
                    file.display(),
                    number + 1
                ));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// A session is resumed by its own id. Words that mean "whichever came last" have no place here.
#[test]
fn nothing_goes_on_with_whatever_came_last() {
    let words = [concat!("--conti", "nue"), concat!("last ses", "sion"), concat!("\"--la", "st\"")];
    let mut faults = Vec::new();
    // Git has a word of its own for going on with a merge.
    let about_agents = |file: &PathBuf| !file.starts_with("crates/snapshot");
    for file in rust_sources().unwrap().into_iter().filter(about_agents) {
        let text = fs::read_to_string(root().join(&file)).unwrap().to_lowercase();
        for word in words.iter().filter(|word| text.contains(**word)) {
            faults.push(format!("{}: rule own-id: says `{word}`", file.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// What the core decides, it says by types; their texts are in `reason.rs` and beside the types.
#[test]
fn what_decides_says_nothing_in_words() {
    let decides = ["decide", "fold", "draft.rs", "house.rs", "session.rs"];
    let decides = decides.map(|part| Path::new("crates/core/src").join(part));
    let is_meant = |file: &PathBuf| {
        decides.iter().any(|part| file.starts_with(part) || file.with_extension("") == *part)
    };
    let mut faults = Vec::new();
    for file in rust_sources().unwrap().into_iter().filter(is_meant) {
        let text = fs::read_to_string(root().join(&file)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            let line = line.trim_start();
            let is_code = !line.starts_with("//") && !line.contains("reason = ");
            // What stands between two quotes is every second part.
            let mut said = line.split('"').skip(1).step_by(2);
            // What is said to an agent is a message, and tells whose it is.
            let said = said.find(|said| said.contains(' ') && !said.starts_with("[glis] "));
            if let Some(said) = said.filter(|_| is_code) {
                faults.push(format!("{}:{}: says {said:?}", file.display(), number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// What `os` wraps is named nowhere else: another system has it in another form.
#[test]
fn only_one_crate_names_what_linux_alone_has() {
    let words = ["/proc/", "\"/proc\")", "pidfd", "inotify", "timerfd", "memfd", "peercred"];
    let mut faults = Vec::new();
    for file in rust_sources().unwrap() {
        let is_meant = file.starts_with("crates") || file.starts_with("src");
        if !is_meant || file.starts_with("crates/os") || holds_tests(&file) {
            continue;
        }
        let text = fs::read_to_string(root().join(&file)).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for word in words.iter().filter(|word| text.contains(**word)) {
            faults.push(format!("{}: rule one-machine: says `{word}`", file.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn a_machine_path_is_told_from_a_relative_one() {
    let absolute = concat!("see `/wo", "rk/x`");
    let relative = concat!("{dir}/wo", "rk/x and tree/wo", "rk/y");
    assert!(machine_path(absolute).is_some());
    assert!(machine_path(relative).is_none());
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every package of the workspace with all it depends on, ours and foreign.
fn manifests() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let alone = [
        "Cargo.toml",
        "xtask/Cargo.toml",
        "tests/bot-api/Cargo.toml",
        "tests/model/Cargo.toml",
        "tests/next/Cargo.toml",
    ];
    let mut paths: Vec<PathBuf> = alone.iter().map(|path| root().join(path)).collect();
    for entry in fs::read_dir(root().join("crates"))? {
        paths.push(entry?.path().join("Cargo.toml"));
    }
    let mut packages = BTreeMap::new();
    for path in paths.iter().filter(|path| path.exists()) {
        let (name, uses) = manifest(path).with_context(|| path.display().to_string())?;
        packages.insert(name, uses);
    }
    Ok(packages)
}

fn manifest(path: &Path) -> Result<(String, BTreeSet<String>)> {
    let text = fs::read_to_string(path)?;
    let table: toml::Table = text.parse()?;
    let name = table
        .get("package")
        .and_then(|package| package.get("name"))
        .and_then(toml::Value::as_str)
        .context("it has no package name")?;
    let mut uses = BTreeSet::new();
    collect(table.get("dependencies"), &mut uses);
    collect(table.get("build-dependencies"), &mut uses);
    if let Some(targets) = table.get("target").and_then(toml::Value::as_table) {
        for target in targets.values() {
            collect(target.get("dependencies"), &mut uses);
        }
    }
    Ok((name.to_owned(), uses))
}

/// Adds the packages of one dependency table; a renamed one counts under its real name.
fn collect(dependencies: Option<&toml::Value>, uses: &mut BTreeSet<String>) {
    let Some(dependencies) = dependencies.and_then(toml::Value::as_table) else { return };
    for (key, value) in dependencies {
        let name = value.get("package").and_then(toml::Value::as_str).unwrap_or(key);
        uses.insert(name.to_owned());
    }
}

fn layer_faults(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut faults = Vec::new();
    for (package, dependencies) in uses {
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| name == package) else {
            faults.push(format!("{package}: rule layers: it has no line in LAYERS"));
            continue;
        };
        for used in dependencies.iter().filter(|name| uses.contains_key(*name)) {
            if !allowed.contains(&used.as_str()) {
                faults.push(format!("{package}: rule layers: it may not use {used}"));
            }
        }
        for (_, banned, why) in BANS.iter().filter(|(name, _, _)| name == package) {
            for used in dependencies.iter().filter(|name| banned.contains(&name.as_str())) {
                faults.push(format!("{package}: rule layers: it may not use {used}: {why}"));
            }
        }
    }
    for (package, _) in LAYERS {
        if !uses.contains_key(*package) {
            faults.push(format!("{package}: rule layers: LAYERS has it, the workspace does not"));
        }
    }
    faults
}

fn dependencies_of<'a>(
    uses: &'a BTreeMap<String, BTreeSet<String>>,
    package: &str,
) -> Vec<&'a String> {
    let dependencies = uses.get(package).into_iter().flatten();
    dependencies.filter(|name| uses.contains_key(*name)).collect()
}

fn source_faults(file: &Path, text: &str, faults: &mut Vec<String>) {
    let shown = file.display();
    if !text.starts_with("//!") {
        faults.push(format!("{shown}:1: rule first-line: say with `//!` what the file is for"));
    }
    if file.file_name().is_some_and(|name| name == "mod.rs") {
        faults
            .push(format!("{shown}: rule no-mod-rs: name it after its module, beside the folder"));
    }
    let lines = text.lines().count();
    if lines > LINES_MAX && !holds_tests(file) {
        faults.push(format!("{shown}: rule length: {lines} lines, at most {LINES_MAX}"));
    }
    for (number, line) in text.lines().enumerate() {
        // Put together here, so that this file keeps its own rule.
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        if words.any(|word| word == concat!("TO", "DO")) && !line.contains("issue") {
            let number = number + 1;
            faults.push(format!("{shown}:{number}: rule promises: name the issue it waits for"));
        }
    }
}

fn holds_tests(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "tests.rs")
        || file.components().any(|part| part.as_os_str() == "tests")
}

/// The folder of a build machine that `line` names as an absolute path, if any.
fn machine_path(line: &str) -> Option<&'static str> {
    let folders = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
    folders.into_iter().find(|folder| {
        line.match_indices(folder).any(|(at, _)| {
            // After a name or a placeholder the slash only separates: `tree/…`, `{dir}/…`,
            // `$HOME/…`.
            let before = line.get(..at).and_then(|head| head.chars().next_back());
            !before.is_some_and(|c| c.is_alphanumeric() || "._-}>)/".contains(c))
        })
    })
}

fn rust_sources() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in SOURCE_ROOTS {
        walk(Path::new(folder), &mut found)?;
    }
    found.retain(|file| file.extension().is_some_and(|ext| ext == "rs"));
    Ok(found)
}

/// Everything a person wrote: sources, pages, manifests, scripts.
fn texts() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    walk(Path::new(""), &mut found)?;
    found.retain(|file| {
        file.starts_with(".ci")
            || file.extension().is_some_and(|ext| {
                ["rs", "md", "toml", "sh"].iter().any(|ours| ext.eq_ignore_ascii_case(ours))
            })
    });
    Ok(found)
}

/// Adds the files below `folder`, relative to the workspace; build output and git's own files are
/// not ours.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(root().join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() && !["target", ".git"].iter().any(|skip| path.ends_with(skip)) {
            walk(&path, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}
