//! `cargo xtask test` and `check`: every step in order, fastest first, until one fails.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::agents;
use crate::belongings::Belongings;
use crate::browser;
use crate::cargo::{self, Workspace, cargo};
use crate::lints;
use crate::long::STORM;
use crate::proc;
use crate::shaky;
use crate::skips;
use crate::tools::{self, Missing};

/// How much of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Style, lints and the tests that take minutes together.
    Quick,
    /// All of that, tools installed before and the release build rehearsed after.
    Everything,
}

/// The demo promises a minute; past three it hangs.
const DEMO_WAIT: Duration = Duration::from_secs(180);

/// The proof takes as long as it is told to, and some seconds before and after.
const PROVE_TIME: &str = "60s";
const PROVE_WAIT: Duration = Duration::from_secs(240);

/// In a minute every kind of blow falls some ten times.
const STORM_SECS: &str = "60";

/// How one step ended.
enum Outcome {
    Passed,
    Failed(String),
    Skipped { why: String, installable: bool },
}

/// What has happened so far.
struct Course {
    workspace: Workspace,
    timings: Vec<(&'static str, Duration)>,
    skipped: Vec<String>,
    /// Tests that passed at the second try only.
    shaky: Vec<String>,
    /// On a build server a skip of something that could be installed is a failure: nobody reads its
    /// log.
    strict: bool,
    failed: Option<String>,
}

type Step = (&'static str, fn(&mut Course) -> Outcome);

const QUICK: &[Step] = &[("fmt", fmt), ("lints", lint), ("clippy", clippy), ("tests", quick_tests)];

/// What a check before a commit leaves to `cargo xtask test`: real agents, whatever is killed at
/// every step or at random, costs, and thousands of lives. They take two thirds of all the time.
const LONG: &str = "(package(glis) and test(/^(real|kill|cost|web::browser)::/)) \
     or (package(glis-snapshot) and test(/^(faults|coming|random)::/)) \
     or (package(glis-core) and test(/^five_thousand/))";

const EVERYTHING: &[Step] = &[
    ("tools", install),
    ("agents", agents),
    ("browser", browser),
    ("fmt", fmt),
    ("lints", lint),
    ("clippy", clippy),
    ("build", build),
    ("tests", tests),
    ("release", release),
    ("released", released),
    ("demo", demo),
    ("prove", prove),
    ("storm", storm),
];

/// Runs the steps and says how they went; the exit status is that of the whole.
pub(crate) fn run(extent: Extent) -> Result<ExitCode> {
    let mut course = Course {
        workspace: Workspace::find()?,
        timings: Vec::new(),
        skipped: Vec::new(),
        shaky: Vec::new(),
        strict: std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false"),
        failed: None,
    };
    let started = Instant::now();
    let steps = match extent {
        Extent::Quick => QUICK,
        Extent::Everything => EVERYTHING,
    };
    for (name, step) in steps {
        println!("\n=== {name}");
        let began = Instant::now();
        let outcome = step(&mut course);
        course.timings.push((name, began.elapsed()));
        course.take(name, outcome);
        if course.failed.is_some() {
            break;
        }
    }
    Ok(course.close(started.elapsed()))
}

impl Course {
    fn take(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Outcome::Passed => {}
            Outcome::Failed(why) => self.failed = Some(format!("{name}: {why}")),
            Outcome::Skipped { why, installable } => {
                self.skip(&Missing { what: name.to_owned(), why, installable });
            }
        }
    }

    fn skip(&mut self, missing: &Missing) {
        let Missing { what, why, installable } = missing;
        eprintln!("SKIPPED: {what}: {why}");
        self.skipped.push(format!("{what}: {why}"));
        if self.strict && *installable {
            self.failed = Some(format!("{what} was skipped, and CI is set"));
        }
    }

    /// Prints the summary; skips come late, so that they are the last thing a reader sees before
    /// the verdict.
    fn close(self, took: Duration) -> ExitCode {
        println!("\n=== summary");
        for (name, took) in &self.timings {
            println!("{name:>10}  {:>7.1} s", took.as_secs_f64());
        }
        for skipped in &self.skipped {
            println!("SKIPPED: {skipped}");
        }
        for shaky in &self.shaky {
            println!("SHAKY: {shaky} failed, and passed at the second try");
        }
        let steps = self.timings.len();
        let (skips, shaky) = (self.skipped.len(), self.shaky.len());
        let secs = took.as_secs_f64();
        if let Some(why) = self.failed {
            println!("FAILED at step {steps} after {secs:.1} s: {why}");
            return ExitCode::FAILURE;
        }
        println!("PASSED: {steps} steps in {secs:.1} s, {skips} skipped, {shaky} shaky");
        ExitCode::SUCCESS
    }

    fn cargo(&self, words: &[&str]) -> Outcome {
        self.cargo_with(words, &[])
    }

    fn cargo_with(&self, words: &[&str], variables: &[(&str, PathBuf)]) -> Outcome {
        let mut command = cargo();
        command
            .args(words)
            .envs(variables.iter().cloned())
            .current_dir(&self.workspace.root)
            .stdin(Stdio::null());
        // The tests on a real agent are left out where it is missing, but not if it was there a
        // moment ago.
        command.env("GLIS_REAL_AGENTS", agents::present().join(" "));
        let words = words.join(" ");
        match command.status() {
            Ok(status) if status.success() => Outcome::Passed,
            Ok(status) => Outcome::Failed(format!("`cargo {words}` ended with {status}")),
            Err(failure) => Outcome::Failed(format!("`cargo {words}` cannot be run: {failure}")),
        }
    }
}

fn install(course: &mut Course) -> Outcome {
    for missing in tools::install() {
        course.skip(&missing);
    }
    Outcome::Passed
}

/// The real agents that the end-to-end tests drive.
fn agents(course: &mut Course) -> Outcome {
    match agents::install() {
        Ok(missing) => {
            for missing in missing {
                course.skip(&missing);
            }
            Outcome::Passed
        }
        Err(failure) => Outcome::Failed(format!("{failure:#}")),
    }
}

/// What drives the browser of the page's tests.
fn browser(course: &mut Course) -> Outcome {
    match browser::install() {
        Ok(missing) => {
            if let Some(missing) = missing {
                course.skip(&missing);
            }
            Outcome::Passed
        }
        Err(failure) => Outcome::Failed(format!("{failure:#}")),
    }
}

fn fmt(course: &mut Course) -> Outcome {
    if !cargo::has("fmt") {
        return component_missing("rustfmt");
    }
    course.cargo(&["fmt", "--all", "--check"])
}

fn lint(course: &mut Course) -> Outcome {
    match lints::run(&course.workspace.root) {
        Ok(missing) => {
            for missing in missing {
                course.skip(&missing);
            }
            Outcome::Passed
        }
        Err(why) => Outcome::Failed(why),
    }
}

fn clippy(course: &mut Course) -> Outcome {
    if !cargo::has("clippy") {
        return component_missing("clippy");
    }
    course.cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn build(course: &mut Course) -> Outcome {
    course.cargo(&["build", "--workspace", "--all-targets"])
}

/// End-to-end tests that are played on the release build as well, by the path of their file:
/// processes that are killed or stopped, messages, disks that are full, files that are deleted,
/// terminals. Places where a test has the daemon killed exist in debug builds only, so the tests
/// that need them are not among these; what becomes of an internal error of glis lives in the release
/// build.
const RELEASED: [&str; 7] = [
    "daemon::tampered",
    "disk::full",
    "kill::panics",
    "kill::processes",
    "messages::queue",
    "terminal::attach",
    "verbs::lifecycle",
];

/// Runs tests that note down whether they were left out; those are told and counted, and so are
/// those that passed at the second try.
fn play(course: &mut Course, words: &[&str], variables: &[(&str, PathBuf)]) -> Outcome {
    let notes = course.workspace.target.join("skips");
    let report = course.workspace.target.join(shaky::REPORT);
    // Of a former run; there need not be any.
    for former in [&notes, &report] {
        fs::remove_file(former).ok();
    }
    let variables = [variables, &[(skips::NOTES, notes.clone())]].concat();
    let outcome = course.cargo_with(words, &variables);
    for missing in skips::read(&notes) {
        course.skip(&missing);
    }
    course.shaky.extend(shaky::read(&report));
    if matches!(outcome, Outcome::Passed) && course.shaky.len() > shaky::FORGIVEN_MAX {
        return Outcome::Failed(format!(
            "{} tests passed at the second try only",
            course.shaky.len()
        ));
    }
    outcome
}

/// All tests. The real agents among them get homes of their own, so the user's own configuration of
/// these agents has to be the same afterwards, byte for byte.
fn tests(course: &mut Course) -> Outcome {
    // It is played for longer, and on the release build, behind all others.
    let storm = format!("package(glis) and test(={})", STORM.test);
    all_tests_but(course, &storm)
}

/// Those that a change is tried with before it is committed.
fn quick_tests(course: &mut Course) -> Outcome {
    all_tests_but(course, LONG)
}

fn all_tests_but(course: &mut Course, left_out: &str) -> Outcome {
    let before = Belongings::look();
    let chosen = format!("not ({left_out})");
    let mut words = vec!["test", "--workspace"];
    if cargo::has("nextest") {
        words = vec!["nextest", "run", "--workspace", "-E", &chosen];
    }
    let outcome = play(course, &words, &[]);
    let touched = before.differences(&Belongings::look());
    if !matches!(outcome, Outcome::Passed) || touched.is_empty() {
        return outcome;
    }
    Outcome::Failed(format!(
        "the agents' own configuration changed meanwhile (does one of your agents run?): {}",
        touched.join(", ")
    ))
}

fn release(course: &mut Course) -> Outcome {
    course.cargo(&["build", "--release"])
}

/// The release build is another program than the one that the tests are built with: other
/// optimizations, and no net of the debug build below it.
fn released(course: &mut Course) -> Outcome {
    let program = course.workspace.release("glis");
    let which = format!("test(/^({})::/)", RELEASED.join("|"));
    let names = RELEASED.map(|file| format!("{file}::"));
    let (run, filter) = if cargo::has("nextest") {
        (&["nextest", "run"][..], vec!["-E", &which])
    } else {
        // By a part of its name, which chooses some more.
        let names = names.iter().map(String::as_str);
        (&["test"][..], std::iter::once("--").chain(names).collect())
    };
    let words = [run, &["-p", "glis", "--test", "e2e"], &filter].concat();
    play(course, &words, &[("GLIS_BINARY", program)])
}

/// The release binary does what it promises, offline and in a home of its own.
fn demo(course: &mut Course) -> Outcome {
    release_runs(course, &["demo"], DEMO_WAIT)
}

/// A house of the release binary is broken for a minute, each time in another order; nothing may
/// be lost.
fn prove(course: &mut Course) -> Outcome {
    release_runs(course, &["doctor", "--prove", "--for", PROVE_TIME], PROVE_WAIT)
}

/// Thirty sessions are told and handled for a minute while everything around them breaks.
fn storm(course: &mut Course) -> Outcome {
    let program = course.workspace.release("glis");
    let variables = [("GLIS_BINARY", program), (STORM.variable, STORM_SECS.into())];
    play(course, &STORM.words(), &variables)
}

fn release_runs(course: &Course, words: &[&str], at_most: Duration) -> Outcome {
    run_release(course, words, at_most)
        .unwrap_or_else(|failure| Outcome::Failed(format!("{failure:#}")))
}

fn run_release(course: &Course, words: &[&str], at_most: Duration) -> Result<Outcome> {
    let mut command = Command::new(course.workspace.release("glis"));
    command.args(words).env_remove("GLIS_HOME").stdin(Stdio::null());
    let mut child = command.spawn().context("the release build of glis cannot be run")?;
    let line = words.join(" ");
    let Some(status) = proc::wait_at_most(&mut child, at_most)? else {
        child.kill()?;
        child.wait()?;
        return Ok(Outcome::Failed(format!("`glis {line}` took over {} s", at_most.as_secs())));
    };
    if status.success() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Failed(format!("`glis {line}` ended with {status}")))
}

fn component_missing(component: &str) -> Outcome {
    let why = format!("{component} is not installed beside cargo");
    Outcome::Skipped { why, installable: tools::find("rustup").is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn what_is_played_on_the_release_build_is_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/e2e");
        for path in RELEASED {
            let file = folder.join(path.replace("::", "/")).with_extension("rs");
            assert!(file.is_file(), "{path}: no file {}", file.display());
        }
    }
}
