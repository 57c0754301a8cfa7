//! The command line: what can be typed, and which verb it goes to.

mod act;
mod args;
mod attach;
mod auto_yes;
mod config;
mod draft;
mod execute;
mod keep;
mod limits;
mod look;
mod make;
mod many;
mod parting;
mod plain;
mod plan;
mod service;
mod session;
mod suggest;
mod task;
mod timeout;
mod triage;
mod upkeep;
mod values;
mod web;

use crate::control;
use crate::progress::Progress;
use crate::streams::{output_is_closed, write_out};
use args::{Cli, DaemonVerb, RepoVerb, Verb};
pub use attach::show as show_session;
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
pub use config::chosen_keys;
use glis_client::{Client, Fault, Streamed, labels};
use glis_core::Refusal;
use glis_core::plan::Ruling;
use glis_verbs::documents::Dress;
use glis_verbs::{Complaint, Kind, Wanted, perform};
use glis_wire::build::Build;
use glis_wire::client::{Action, Request, Response, Which};
use glis_wire::need::Need;
use glis_wire::view::SessionRow;
use plan::PlanVerb;
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write as _};
use std::time::Duration;
pub use web::{Web, WebVerb, tell};

/// What is left to do for the caller: other roles of the same program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing: exit with this status.
    Exit(u8),
    Daemon {
        /// The command that started it prints JSON.
        json: bool,
        /// In a session of its own, for the command that started it is about to end.
        detached: bool,
    },
    /// Show every session on the terminal.
    Tui { read_only: bool },
    /// Serve the page and the API, or see to its devices.
    Web { json: bool, wanted: Web },
    /// Be the bot of a chat.
    Chat { json: bool },
    /// Show the whole promise in a minute.
    Demo { json: bool },
    /// Break a throw-away house and show that nothing was lost.
    Prove {
        /// As one JSON document at the end.
        json: bool,
        /// How long to go on breaking it.
        time: Duration,
        /// The order of what is broken.
        seed: Option<u64>,
    },
}

/// Understands the command line and carries out the verb, as this build of the program.
pub fn run<I, T>(arguments: I, build: Build) -> Next
where
    I: IntoIterator<Item = T>,
    T: Into<std::ffi::OsString> + Clone,
{
    control::be(build);
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(fault) => return Next::Exit(misunderstood(&fault)),
    };
    let out = Out { json: cli.json };
    if let Some(key) = cli.key {
        if !cli.verb.as_ref().is_some_and(Verb::takes_key) {
            let complaint = Complaint::new(Kind::Usage, "`--key` names a change; this is none")
                .hint("leave it out: what only looks can be repeated as it is");
            return Next::Exit(out.complain(&complaint));
        }
        control::name_change(key);
    }
    let done = match cli.verb {
        None if cli.plain => plain::follow(&out),
        None if !crate::tty::is_terminal() || cli.json => help(&out),
        // A terminal without a cursor to move shows lines.
        None if is_dumb() => plain::follow(&out),
        None => return Next::Tui { read_only: cli.read_only },
        Some(_) if cli.plain || cli.read_only => Err(only_without_verb()),
        Some(Verb::Chat) => return Next::Chat { json: cli.json },
        Some(Verb::Demo) => return Next::Demo { json: cli.json },
        Some(Verb::Web(wanted)) => return Next::Web { json: cli.json, wanted },
        Some(Verb::Doctor(doctor)) if doctor.prove => {
            return Next::Prove { json: cli.json, time: doctor.time, seed: doctor.seed };
        }
        Some(Verb::Daemon { verb: DaemonVerb::Run { detached } }) => {
            return Next::Daemon { json: cli.json, detached };
        }
        Some(verb) => carry_out(verb, &out),
    };
    Next::Exit(match done {
        Ok(()) => 0,
        Err(complaint) => out.complain(&complaint),
    })
}

fn carry_out(verb: Verb, out: &Out) -> Result<(), Complaint> {
    match verb {
        Verb::New(new) => make::new(new, out),
        Verb::Loop(wants) => make::iterate(wants, out),
        // What is asked for by more than its age is meant however long it has rested.
        Verb::Ls { all, needs_me, label, filter } => {
            let all = all || needs_me || label.is_some() || filter.is_some();
            let wanted = |row: &SessionRow| {
                let labelled = label.as_ref().is_none_or(|label| row.labels.contains(label));
                let fits = filter.as_ref().is_none_or(|words| row.fits(words));
                labelled && fits && (!needs_me || row.need == Need::You)
            };
            look::ls(Request::List { all }, wanted, out)
        }
        Verb::Label { name, labels } => {
            triage::put(&name, Action::labels(labels.iter().map(String::as_str)), out)
        }
        Verb::Pin { name, off } => triage::put(&name, Action::Pin { on: !off }, out),
        Verb::Budget { name, budget } => triage::budget(&name, budget, out),
        Verb::Snooze { name, until } => triage::put(&name, Action::Snooze { until }, out),
        Verb::Show(named) => look::show(&named.name, out),
        Verb::Attach(named) => attach::attach(&named.name, out),
        Verb::Send { name, text, file } => session::send(name, &text, &file, out),
        Verb::Wait(wait) => session::wait(wait, out),
        Verb::Pause(pause) => session::pause(&pause, out),
        Verb::Resume(resume) => task::resume(&resume, out),
        Verb::Restart(restart) => task::restart(&restart, out),
        Verb::Stop(named) => session::stop(named.name, out),
        Verb::Timeout { name, minutes: None } => timeout::show(&name, out),
        Verb::Timeout { name, minutes: Some(minutes) } => timeout::set(&name, &minutes, out),
        Verb::Rm(rm) => session::rm(&rm, out),
        Verb::Answer(answer) => session::answer(answer, out),
        Verb::AutoYes(wanted) => auto_yes::auto_yes(wanted, out),
        Verb::Acknowledge { names, all } => {
            let which = if all { Which::All } else { Which::Named(names) };
            session::acknowledge(&which, out)
        }
        Verb::Log { name, follow, from } => look::log(name, from, follow, out),
        Verb::Search { words, most } => look::search(&words, most, out),
        Verb::Cost { since, by } => look::cost(since, by, out),
        Verb::Agents => look::agents(out),
        Verb::Filters { keep, forget } => {
            let filter = |keep| move |words| Request::Filter { words, keep };
            look::filters(keep.map(filter(true)).or(forget.map(filter(false))), out)
        }
        Verb::Screen { name, ansi: true, at } => look::screen(name, at, Dress::Coloured, out),
        Verb::Screen { name, ansi: false, at } => look::screen(name, at, Dress::Plain, out),
        Verb::Output { name, from, follow } => look::output(name, from, follow, out),
        Verb::Events { from, follow } => look::events(Request::Events { from, follow }),
        Verb::Snapshot(named) => keep::snapshot(&named.name, out),
        Verb::Compact(named) => keep::compact(&named.name, out),
        Verb::Snapshots(named) => keep::snapshots(&named.name, out),
        Verb::Diff(diff) => keep::diff(diff, out),
        Verb::Restore(restore) => keep::restore(restore, out),
        Verb::Merge(merge) => keep::merge(merge, out),
        Verb::Trash { verb } => keep::trash(verb, out),
        Verb::Doctor(_) => upkeep::doctor(out),
        Verb::Plan { verb: PlanVerb::New(wanted) } => draft::new(wanted, out),
        Verb::Plan { verb } => plan::plan(verb, out),
        Verb::Execute(wanted) => execute::execute(wanted, out),
        Verb::Runs { task } => task::runs(task, out),
        Verb::Accept(named) => task::rule(&named.task, Ruling::Accept, out),
        Verb::Judge(named) => task::rule(&named.task, Ruling::Judge, out),
        Verb::Reject(named) => task::rule(&named.task, Ruling::Reject, out),
        Verb::Skip(named) => task::rule(&named.task, Ruling::Skip, out),
        Verb::Repo { verb: RepoVerb::Moved { old, new } } => upkeep::moved(&old, &new, out),
        Verb::Config { verb } => config::config(&verb, out),
        Verb::Daemon { verb } => upkeep::daemon(&verb, out),
        Verb::Completions { shell } => upkeep::completions(shell, out),
        Verb::Man => upkeep::man(out),
        // Taken before.
        Verb::Demo | Verb::Web(_) | Verb::Chat => Ok(()),
    }
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

fn only_without_verb() -> Complaint {
    Complaint::new(Kind::Usage, "`--plain` and `--read-only` are for `glis` without a verb")
        .hint("leave it out")
}

fn help(out: &Out) -> Result<(), Complaint> {
    let text = Cli::command().render_long_help().to_string();
    out.document(&json!({"help": text}), || text.clone())
}

/// Clap's own words, on the right stream, with the contract's exit status. A script gets them as
/// JSON.
fn misunderstood(fault: &clap::Error) -> u8 {
    let json = std::env::args_os().take_while(|arg| arg != "--").any(|arg| arg == "--json");
    let out = Out { json };
    if !fault.use_stderr() {
        // Only the program itself knows its build.
        let (what, text) = if fault.kind() == ErrorKind::DisplayVersion {
            ("version", control::version())
        } else {
            ("help", fault.render().to_string())
        };
        let told = out.document(&json!({what: text}), || text.clone());
        return told.map_or_else(|unsaid| out.complain(&unsaid), |()| 0);
    }
    if json {
        let rendered = fault.render().to_string();
        let complaint = Complaint::new(Kind::Usage, fault_of(&rendered))
            .hint("`glis help` lists the verbs, `glis help VERB` its options");
        return out.complain(&complaint);
    }
    drop(fault.print());
    Kind::Usage.exit_status()
}

/// What is wrong, in one line: everything up to the first gap, after which clap gives advice.
fn fault_of(rendered: &str) -> String {
    let lines = rendered.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned()
}

/// Where results go: words for a person, one JSON document for a script.
pub(crate) struct Out {
    json: bool,
}

impl Out {
    fn document(
        &self,
        document: &impl Serialize,
        words: impl FnOnce() -> String,
    ) -> Result<(), Complaint> {
        if self.json {
            let text = serde_json::to_string(document)
                .map_err(|fault| Complaint::new(Kind::Failed, fault.to_string()))?;
            return say(&text);
        }
        say(&words())
    }

    fn complain(&self, complaint: &Complaint) -> u8 {
        // A reader that is gone is no reason to fail otherwise.
        if complaint.told || complaint.kind == Kind::ReaderGone {
        } else if self.json && !output_is_closed() {
            drop(say(&json!(complaint.json()).to_string()));
        } else {
            drop(writeln!(io::stderr().lock(), "{}", complaint.text()));
        }
        complaint.kind.exit_status()
    }
}

/// Prints a line. A reader that has gone away ends the program quietly, as in any pipe.
pub(crate) fn say(text: &str) -> Result<(), Complaint> {
    let text = text.trim_end_matches('\n');
    if text.is_empty() {
        return Ok(());
    }
    write_out(format!("{text}\n").as_bytes())
}

/// Asks, and keeps a person who has to wait informed. A change with a key whose daemon went away is
/// asked for once more: what was done already gets its first response.
pub(crate) fn ask(control: &mut Client, request: Request) -> Result<Response, Complaint> {
    ask_or(control, request, Complaint::from)
}

/// The same, where a refusal is told in other words than everywhere else.
fn ask_or(
    control: &mut Client,
    request: Request,
    refused: impl FnOnce(Refusal) -> Complaint,
) -> Result<Response, Complaint> {
    let mut answer = ask_once(control, request.clone());
    if matches!(answer, Err(Fault::Lost(_))) && control::names_change() {
        *control = control::connect()?;
        answer = ask_once(control, request);
    }
    answer.map_err(|fault| {
        if let Fault::Refused(refusal) = fault { refused(refusal) } else { fault.into() }
    })
}

/// Prints what a script gets of something that is told piece by piece.
fn document_of(control: &mut Client, request: Request) -> Result<(), Complaint> {
    say(&perform(control, Wanted::Request(request))?.document.to_string())
}

fn ask_once(control: &mut Client, request: Request) -> Result<Response, Fault> {
    let mut progress = Progress::new("waiting");
    let answer = control.call_seeing(request, |streamed| {
        match streamed {
            Streamed::Words(Response::Step(event)) => progress.step(labels::step(&event)),
            Streamed::Silence(since) => progress.show(since),
            Streamed::Words(_) | Streamed::Bytes(..) => {}
        }
        Ok(())
    });
    drop(progress);
    answer
}
