//! Verbs about glis itself.

use super::args::{Cli, DaemonVerb};
use super::service::{self, Part, end, end_running};
use super::{Out, ask};
use crate::control;
use crate::words;
use clap::CommandFactory as _;
use glis_client::Client;
use glis_verbs::{Complaint, Kind, unexpected};
use glis_wire::client::{Request, Response};
use glis_wire::home::DAEMON_LOG;
use glis_wire::view::{DaemonView, Health};
use serde_json::json;
use std::io;
use std::path::Path;

pub(super) fn doctor(out: &Out) -> Result<(), Complaint> {
    let Response::Findings(findings) = ask(&mut control::connect()?, Request::Doctor)? else {
        return Err(unexpected());
    };
    out.document(&findings, || words::findings(&findings))?;
    let bad = findings.iter().filter(|finding| finding.health == Health::Bad).count();
    if bad > 0 {
        let complaint = Complaint::new(Kind::Failed, words::wrong(bad));
        return Err(Complaint {
            told: out.json,
            ..complaint.hint("the hints above say how to fix them")
        });
    }
    Ok(())
}

/// Says where a repository is now.
pub(super) fn moved(old: &Path, new: &Path, out: &Out) -> Result<(), Complaint> {
    let whole = |path: &Path| {
        let path = std::path::absolute(path)?.into_os_string().into_string();
        path.map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the path is not valid UTF-8"))
    };
    let bad = |fault: io::Error| Complaint::new(Kind::Usage, fault.to_string());
    let (from, to) = (whole(old).map_err(bad)?, whole(new).map_err(bad)?);
    let request = Request::RepoMoved { from, to: to.clone() };
    let list = ask(&mut control::connect()?, request)?;
    let Response::Sessions { rows: moved, .. } = list else { return Err(unexpected()) };
    let names: Vec<&str> = moved.iter().map(|session| session.name.as_str()).collect();
    let of = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    out.document(&moved, || format!("{to} is known now{of}"))
}

pub(super) fn daemon(verb: &DaemonVerb, out: &Out) -> Result<(), Complaint> {
    match verb {
        DaemonVerb::Start => {
            let view = status(&mut control::connect()?)?;
            out.document(&view, || format!("running, pid {}", view.pid))
        }
        DaemonVerb::Status => match control::connect_running()? {
            Some(mut control) => {
                let view = status(&mut control)?;
                out.document(&view, || words::daemon(&view))
            }
            None => Err(Complaint::new(Kind::NoDaemon, "the daemon does not run")
                .hint("any other command starts it")),
        },
        DaemonVerb::Stop { agents: true } => {
            // They may run on without a daemon, and only one can suspend them.
            end(&mut control::connect()?, Request::DaemonStop { agents: true })?;
            ended(true, "the agents are suspended", out)
        }
        DaemonVerb::Stop { agents: false } => ended(end_running()?, "the agents keep running", out),
        DaemonVerb::Log { lines } => daemon_log(*lines, out),
        DaemonVerb::Install { chat: true } => service::install(&[Part::Daemon, Part::Bot], out),
        DaemonVerb::Install { chat: false } => service::install(&[Part::Daemon], out),
        DaemonVerb::Uninstall => service::uninstall(out),
        // Taken before.
        DaemonVerb::Run { .. } => Ok(()),
    }
}

fn status(control: &mut Client) -> Result<DaemonView, Complaint> {
    let Response::Daemon(view) = ask(control, Request::DaemonStatus)? else {
        return Err(unexpected());
    };
    Ok(view)
}

/// Of the file, and of the one before it where that is not enough. It is read where it lies: what it tells may be why
/// no daemon starts.
fn daemon_log(lines: usize, out: &Out) -> Result<(), Complaint> {
    let path = control::find_home()?.state.join(DAEMON_LOG);
    let mut text = String::new();
    for path in [path.with_extension("log.1"), path.clone()] {
        match std::fs::read(&path) {
            Ok(part) => text.push_str(&String::from_utf8_lossy(&part)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {}
            Err(fault) => {
                return Err(Complaint::new(Kind::Failed, format!("{}: {fault}", path.display())));
            }
        }
    }
    let all: Vec<&str> = text.lines().collect();
    let last = all.get(all.len().saturating_sub(lines)..).unwrap_or_default();
    let document = json!({"path": path, "lines": last});
    out.document(&document, || {
        last.iter().map(|line| words::plain(line)).collect::<Vec<_>>().join("\n")
    })
}

fn ended(stopped: bool, agents: &str, out: &Out) -> Result<(), Complaint> {
    let words = || {
        if stopped {
            format!("the daemon has ended; {agents}")
        } else {
            "the daemon does not run".to_owned()
        }
    };
    out.document(&json!({"stopped": stopped}), words)
}

pub(super) fn completions(shell: clap_complete::Shell, out: &Out) -> Result<(), Complaint> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "glis", &mut text);
    let text = String::from_utf8_lossy(&text);
    out.document(&json!({"shell": shell.to_string(), "script": text}), || text.clone().into_owned())
}

pub(super) fn man(out: &Out) -> Result<(), Complaint> {
    let failed = |fault: io::Error| Complaint::new(Kind::Failed, fault.to_string());
    let mut text = Vec::new();
    let command = Cli::command();
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(failed)?;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let name = format!("glis {}", verb.get_name());
        let page = clap_mangen::Man::new(verb.clone().display_name(name.clone()).bin_name(name));
        page.render_name_section(&mut text).map_err(failed)?;
        page.render_synopsis_section(&mut text).map_err(failed)?;
        page.render_options_section(&mut text).map_err(failed)?;
    }
    let text = String::from_utf8_lossy(&text);
    out.document(&json!({"page": text}), || text.clone().into_owned())
}
