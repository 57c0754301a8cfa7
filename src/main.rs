//! One program, several roles: what is typed decides which.

use glis_cli::{Next, Web, WebVerb};
use glis_daemon::{DaemonFault, Own, Standing};
use glis_prove::Voice;
use glis_tui::Told;
use glis_verbs::Complaint;
use glis_web::{Front, Pair};
use glis_wire::build::Build;
use glis_wire::call::{Face, Scope};
use serde_json::json;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    // Roles that only glis itself takes on; they come first because holders must stay small.
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [_, "hold"] => return glis_hold::run(),
        [_, "hold", "--nursery"] => return glis_hold::run_nursery(),
        [_, "hold-sweep", session, dir, kept] => {
            return glis_hold::run_sweep(session, Path::new(dir), kept);
        }
        [_, "keep", umask] => return keep(umask),
        [_, "adopt", line] => return glis_daemon::run_line(line),
        [_, "seed-log", count] => return seed_log(count),
        [_, "relay", course] => return glis_relay::run(course, glis_agent::holds_messages),
        [_, "rehearse", ..] => {
            return glis_rehearse::run(arguments.get(2..).unwrap_or_default());
        }
        _ => {}
    }
    if let [_, "daemon", "run", "--detached"] = words.as_slice() {
        // What reads the command line would stay in the memory of a process that lives for weeks.
        return daemon(Voice::Aloud, Standing::Alone);
    }
    let voice = |json| if json { Voice::Kept } else { Voice::Aloud };
    match glis_cli::run(std::env::args_os(), own_build()) {
        Next::Exit(status) => ExitCode::from(status),
        Next::Daemon { json, detached: true } => daemon(voice(json), Standing::Alone),
        Next::Daemon { json, detached: false } => daemon(voice(json), Standing::Attended),
        Next::Tui { read_only } => tui(read_only),
        Next::Web { json, wanted } => ExitCode::from(web(json, wanted)),
        Next::Chat { json } => chat(json),
        Next::Demo { json } => glis_prove::demo(voice(json)),
        Next::Prove { json, time, seed } => glis_prove::prove(voice(json), time, seed),
    }
}

/// Every session on the terminal. How a session is shown alone it is handed here.
fn tui(read_only: bool) -> ExitCode {
    let scope = if read_only { Scope::Watch } else { Scope::Manage };
    let shown = glis_cli::connector(Face::Tui, scope).map_err(Told::from).and_then(|connector| {
        let attach = |name: &str| glis_cli::show_session(name).map_err(Told::from);
        let keys = glis_cli::chosen_keys()?;
        glis_tui::run(glis_tui::Setup { connector, keys, attach })
    });
    match shown {
        Ok(()) => ExitCode::SUCCESS,
        Err(Told { message, hint }) => {
            let hint = hint.map_or_else(String::new, |hint| format!("\n hint: {hint}"));
            drop(writeln!(std::io::stderr().lock(), "error: {message}{hint}"));
            ExitCode::FAILURE
        }
    }
}

/// The page and its devices.
fn web(json: bool, wanted: Web) -> u8 {
    let home = match glis_cli::find_home() {
        Ok(home) => home,
        Err(complaint) => return glis_cli::tell(json, Err(complaint)),
    };
    let Web { verb, listen, tls_cert, tls_key, public_host, .. } = wanted;
    let said = match verb {
        None => {
            let front = match (tls_cert.zip(tls_key), public_host) {
                (Some((certificate, key)), name) => {
                    Front::Tls { pair: Pair { certificate, key }, name }
                }
                (None, Some(name)) => Front::Proxy { name },
                (None, None) => Front::Plain,
            };
            let place = glis_web::Place { listen, front };
            return match serve(json, &place) {
                Ok(()) => 0,
                Err(complaint) => glis_cli::tell(json, Err(complaint)),
            };
        }
        Some(WebVerb::Pair { name, scope }) => glis_web::pair(&home, &name, scope),
        Some(WebVerb::Devices) => glis_web::devices(&home),
        Some(WebVerb::Revoke { name }) => glis_web::revoke(&home, &name),
        Some(WebVerb::Token { name, scope }) => glis_web::token(&home, &name, scope),
    };
    glis_cli::tell(json, said.map(|said| (said.document, said.words)))
}

fn serve(json: bool, place: &glis_web::Place) -> Result<(), Complaint> {
    let connector = glis_cli::connector(Face::Web, Scope::Watch)?;
    let ready = |url: &str, address: SocketAddr| {
        if json {
            tell(&json!({"url": url, "address": address.to_string()}).to_string());
        } else {
            tell(&format!("{} ({address})", url.trim_end_matches('/')));
        }
    };
    glis_web::serve(connector, place, &ready)
}

/// The bot of a chat, until it is ended.
fn chat(json: bool) -> ExitCode {
    let ended = glis_cli::connector(Face::Chat, Scope::Manage).and_then(|connector| {
        glis_chat::run(glis_chat::Start {
            give_back_memory: glis_hold::give_back_memory,
            await_end: || Some(glis_cli::tty::Ending::catch().ok()?.wait()),
            connector,
        })
    });
    match ended {
        Ok(()) => chat_anew(),
        Err(complaint) => {
            if std::env::var_os(glis_chat::ANEW).is_none() {
                return ExitCode::from(glis_cli::tell(json, Err(complaint)));
            }
            // It ran before: nobody is there to start it again, or to read a document.
            drop(writeln!(std::io::stderr().lock(), "{}", complaint.text()));
            std::thread::sleep(CHAT_PAUSE);
            chat_anew()
        }
    }
}

/// Before a bot that cannot begin anew tries again.
const CHAT_PAUSE: Duration = Duration::from_secs(30);

/// The bot as a new process in the place of this one.
fn chat_anew() -> ExitCode {
    loop {
        let mut arguments = std::env::args_os();
        let mut anew = Command::new(glis_os::process::OWN_PROGRAM);
        anew.arg0(arguments.next().unwrap_or_else(|| "glis".into())).env(glis_chat::ANEW, "1");
        let fault = anew.args(arguments).exec();
        tell(&format!("error: glis chat does not begin anew: {fault}"));
        std::thread::sleep(CHAT_PAUSE);
    }
}

/// This very build. Only here is it known: a later build of the same sources compiles nothing else
/// anew.
fn own_build() -> Build {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Build { version, build: env!("GLIS_BUILD_ID").parse().unwrap_or(0) }
}

/// Has the daemon come back that it is started by. Nobody hears it: what is wrong shows when the next one starts.
fn keep(umask: &str) -> ExitCode {
    glis_hold::close_inherited();
    glis_daemon::detach();
    // It sleeps until there is something to do, and then does little.
    glis_hold::give_back_memory();
    glis_cli::keep(umask).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// For measuring: a house with a long past.
fn seed_log(count: &str) -> ExitCode {
    let home = glis_cli::find_home().ok();
    let filled = home.zip(count.parse().ok()).map(|(home, n)| glis_daemon::fill_log(&home, n));
    match filled {
        Some(Ok(())) => return ExitCode::SUCCESS,
        Some(Err(fault)) => tell(&fault.to_string()),
        None => tell("seed-log wants a number, and a house without a log"),
    }
    ExitCode::FAILURE
}

/// Says `ready` on standard output once front ends are let in, or why that will not happen.
fn daemon(voice: Voice, standing: Standing) -> ExitCode {
    let refuse = |complaint: Complaint| {
        match voice {
            Voice::Aloud => tell(&complaint.message),
            Voice::Kept => tell(&serde_json::json!(complaint.json()).to_string()),
        }
        ExitCode::from(complaint.kind.exit_status())
    };
    let ready = |note: Option<&str>| match (voice, note) {
        (Voice::Aloud, None) => tell("ready"),
        (Voice::Aloud, Some(note)) => tell(&format!("ready: {note}")),
        (Voice::Kept, note) => {
            tell(&json!({"ready": true, "pid": std::process::id(), "note": note}).to_string());
        }
    };
    let home = match glis_cli::find_home() {
        Ok(home) => home,
        Err(complaint) => return refuse(complaint),
    };
    let own = Own {
        standing,
        build: own_build(),
        mark_death: glis_hold::mark_death,
        give_back_memory: glis_hold::give_back_memory,
    };
    match glis_daemon::run(&home, own, &ready) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault @ DaemonFault::AlreadyRunning { .. }) => {
            refuse(Complaint::second_daemon(fault.to_string()))
        }
        Err(fault) => refuse(Complaint::no_daemon(fault.to_string())),
    }
}

fn tell(text: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever started us may have gone; the exit status still tells.
    drop(writeln!(out, "{}", text.lines().next().unwrap_or_default()).and_then(|()| out.flush()));
}
