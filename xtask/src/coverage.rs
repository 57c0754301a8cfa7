//! `cargo xtask coverage`: which branches of the gate and of auto-yes the tests of their own crates take.
//!
//! Stable Rust counts no branches, so `RUSTC_BOOTSTRAP` lets it, for this alone and in a folder of its
//! own. The tools that read the counts come with Debian's `llvm-19`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::cargo::{Workspace, cargo};

/// What is measured: what a mistake would cost most in.
const SOURCES: [&str; 11] = [
    "crates/approve/src/",
    "crates/core/src/gate.rs",
    "crates/core/src/decide/gate.rs",
    "crates/core/src/decide/judge.rs",
    "crates/core/src/fold/gate.rs",
    "crates/core/src/react/gate.rs",
    "crates/core/src/react/judge.rs",
    "crates/daemon/src/foreground.rs",
    "crates/daemon/src/gate.rs",
    "crates/daemon/src/rules.rs",
    "crates/daemon/src/supervise/by_rule.rs",
];

/// The crates whose tests are run.
const PACKAGES: [&str; 3] = ["glis-approve", "glis-core", "glis-daemon"];

/// Those of them that are about behaviour and not about time, which counting would distort.
const TARGETS: [&str; 7] =
    ["--lib", "--test", "transitions", "--test", "golden", "--test", "hostile"];

/// What all of it together has to reach, in percent.
const LEAST: u64 = 90;

/// Runs the tests with counters and prints a line per file; fails below [`LEAST`].
pub(crate) fn run() -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let folder = workspace.target.join("coverage");
    let counts = folder.join("counts");
    if counts.exists() {
        std::fs::remove_dir_all(&counts)?;
    }
    let built =
        tests(&workspace, &folder, &counts).args(["--no-run", "--message-format=json"]).output()?;
    ensure!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let programs = programs(&String::from_utf8_lossy(&built.stdout));
    let passed = tests(&workspace, &folder, &counts).arg("--no-fail-fast").status()?;
    ensure!(passed.success(), "tests have failed");
    let merged = folder.join("merged");
    let mut merge = tool("llvm-profdata");
    merge.arg("merge").arg("-sparse").arg(&counts).arg("-o").arg(&merged);
    ensure!(merge.status().context(INSTALL)?.success(), "the counts cannot be read");
    let report = export(&programs, &merged)?;
    tell(&report, &workspace.root)
}

const INSTALL: &str = "llvm-19 is not installed (`apt-get install llvm-19`)";

fn tool(name: &str) -> Command {
    Command::new(format!("{name}-19"))
}

fn tests(workspace: &Workspace, folder: &Path, counts: &Path) -> Command {
    let mut tests = cargo();
    tests.arg("test").args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    tests.args(TARGETS);
    tests.current_dir(&workspace.root).env("CARGO_TARGET_DIR", folder).stdin(Stdio::null());
    tests.env("RUSTC_BOOTSTRAP", "1");
    tests.env("RUSTFLAGS", "-C instrument-coverage -Z coverage-options=branch -C debuginfo=0");
    tests.env("LLVM_PROFILE_FILE", counts.join("%p-%m.profraw"));
    tests
}

/// The test programs that a build has made.
fn programs(told: &str) -> Vec<PathBuf> {
    let lines = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| line["executable"].as_str().map(PathBuf::from)).collect()
}

fn export(programs: &[PathBuf], merged: &Path) -> Result<Value> {
    let mut export = tool("llvm-cov");
    export.arg("export").arg("-summary-only").arg("-instr-profile").arg(merged);
    for program in programs {
        export.arg("-object").arg(program);
    }
    let told = export.stderr(Stdio::inherit()).output().context(INSTALL)?;
    ensure!(told.status.success(), "the counts cannot be told");
    Ok(serde_json::from_slice(&told.stdout)?)
}

fn tell(report: &Value, root: &Path) -> Result<ExitCode> {
    let (mut all, mut taken) = (0, 0);
    for file in report["data"][0]["files"].as_array().context("no files")? {
        let name = file["filename"].as_str().unwrap_or_default();
        let name = name.strip_prefix(&*root.to_string_lossy()).unwrap_or(name);
        let name = name.trim_start_matches('/');
        if !SOURCES.iter().any(|source| name.starts_with(source)) {
            continue;
        }
        let branches = &file["summary"]["branches"];
        let count = |key: &str| branches[key].as_u64().unwrap_or_default();
        (all, taken) = (all + count("count"), taken + count("covered"));
        println!("{:>4} of {:>4}  {name}", count("covered"), count("count"));
    }
    if all == 0 {
        bail!("no branch of these files was counted");
    }
    println!("{taken:>4} of {all:>4}  {} %", taken * 100 / all);
    Ok(if taken * 100 >= all * LEAST { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
