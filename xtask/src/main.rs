//! The project's own tools: `cargo xtask test`, `check`, `agents`, `browser`, `bench`, `soak`, `storm`,
//! `plan-kills`, `plan-many`, `sessions-many`, `stories`, `coverage`, `lines`, `pictures` and `record`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool that talks to a terminal")]

mod agents;
mod belongings;
mod bench;
mod browser;
mod cargo;
mod coverage;
mod lines;
mod lints;
mod long;
mod many;
mod pictures;
mod plan_kills;
mod proc;
mod record;
mod shaky;
mod skips;
mod stories;
mod test;
mod tools;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;

const HELP: &str = "\
cargo xtask VERB

  test              everything a change must pass: style, lints, tests, release build, demo
  agents            installs the real agents that the tests drive into the user's cache folder
  browser           installs the browser that the tests of the page drive, and what drives it
  check             the quick part of it: style, lints, tests
  bench [MEASURE…]  measures glis beside tmux, dtach and a bare terminal loop, as ratios
  soak [--for 5m]   twenty agents at work: memory and descriptors of the daemon must not grow
  storm [--for 10m] thirty sessions among kills, stops, deletions and full disks lose nothing
  plan-kills        daemon, window or both die at every step of a plan of twenty tasks
  plan-many [--tasks 1000]
                    a plan of many tasks: checkouts are cleared away, no task costs more than the first
  sessions-many [--sessions 20000]
                    sessions at rest: every face lists them, and they slow nothing that lives
  stories           every story with every real agent, also those that start slowly
  coverage          which branches of the gate and of auto-yes their tests take
  lines             how many lines the sources have, by crate
  pictures          plays scenes before the overview and the page, and draws them into docs/pictures
  record            plays stories with real agents and puts what was seen into README.md and docs
  help              this page

`cargo xtask bench --help` lists the measures and options.
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let verb = arguments.next().unwrap_or_else(|| OsString::from("help"));
    let rest: Vec<OsString> = arguments.collect();
    match run(&verb.to_string_lossy(), &rest) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: &str, rest: &[OsString]) -> Result<ExitCode> {
    match verb {
        "test" => test::run(test::Extent::Everything),
        "check" => test::run(test::Extent::Quick),
        "bench" => bench::run(rest),
        "agents" => agents::run(),
        "browser" => browser::run(),
        "soak" => long::SOAK.run(rest),
        "storm" => long::STORM.run(rest),
        "plan-kills" => plan_kills::run(),
        "plan-many" => many::TASKS.run(rest),
        "sessions-many" => many::SESSIONS.run(rest),
        "stories" => stories::run(),
        "coverage" => coverage::run(),
        "lines" => lines::run(),
        "record" => record::run(),
        "pictures" => pictures::run(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        // What the bench runs inside and beside the sessions; not for people.
        "payload-cat" | "payload-echo" | "payload-flood" | "hold-floor" | "save-large"
        | "sweep" => bench::inside(verb, rest),
        other => {
            eprintln!("error: no verb `{other}`\n");
            eprint!("{HELP}");
            Ok(ExitCode::from(2))
        }
    }
}
