//! The daemon as a service of the user's own systemd, and the bot as another: they run from the login on, or from
//! the boot.
//!
//! Only the daemon itself is ended with its service (`KillMode=process`): the agents and their
//! holders run on, and the next daemon finds them.

use super::{Out, ask};
use crate::control;
use glis_client::Client;
use glis_config::Config;
use glis_config::whole;
use glis_verbs::{Complaint, Kind};
use glis_wire::client::Request;
use serde_json::json;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The first line of every unit that we write. A file without it is not ours to touch.
const MARK: &str = "# Written by `glis daemon install`; `glis daemon uninstall` removes it.";

/// What is made a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Daemon,
    /// The bot of `[chat.telegram]`.
    Bot,
}

#[derive(Debug, PartialEq, Eq)]
struct Service {
    part: Part,
    program: PathBuf,
    /// The value of `GLIS_HOME`, if it is set.
    home: Option<PathBuf>,
    /// The path on which agents are found that no command starts.
    path: String,
}

/// Ends a daemon that runs, of whatever build; the agents keep running. Whether there was one.
pub(super) fn end_running() -> Result<bool, Complaint> {
    if control::end_foreign()? {
        return Ok(true);
    }
    let Some(mut control) = control::connect_running()? else {
        control::dismiss_keeper()?;
        return Ok(false);
    };
    end(&mut control, Request::DaemonStop { agents: false })?;
    Ok(true)
}

pub(super) fn end(control: &mut Client, request: Request) -> Result<(), Complaint> {
    ask(control, request)?;
    // It has ended when it closes the connection.
    control.until_closed();
    Ok(())
}

/// Writes the units and starts them, where systemd runs for this user.
pub(super) fn install(parts: &[Part], out: &Out) -> Result<(), Complaint> {
    let daemon = Service::of_this_process(Part::Daemon)?;
    let mut bot = None;
    if parts.contains(&Part::Bot) {
        refuse_without_bot()?;
        bot = Some(Service::of_this_process(Part::Bot)?);
    }
    let services: Vec<&Service> = std::iter::once(&daemon).chain(&bot).collect();
    for service in &services {
        refuse_foreign(&service.file()?)?;
    }
    for service in &services {
        service.write()?;
    }
    let started = manager_runs();
    if started {
        // One that runs already has the place that the service needs. Its agents run on.
        end_running()?;
        systemctl(&["daemon-reload"])?;
        for service in &services {
            systemctl(&["enable", &service.name()])?;
            systemctl(&["restart", &service.name()])?;
        }
    }
    let (file, name, lingers) = (daemon.file()?, daemon.name(), lingers());
    let bot_file = bot.as_ref().map(Service::file).transpose()?;
    let document = json!({
        "unit": file, "name": name, "started": started, "lingers": lingers, "bot": bot_file,
    });
    out.document(&document, || {
        let mut lines = vec![installed(&file, &name, started, lingers)];
        lines.extend(bot_file.map(|file| format!("wrote {}, for the bot", file.display())));
        lines.join("\n")
    })
}

/// A bot that is not set up would be started again and again.
fn refuse_without_bot() -> Result<(), Complaint> {
    let path = control::find_home()?.config_file();
    let config = Config::read(&path).map_err(|fault| {
        Complaint::new(Kind::Usage, fault.to_string()).hint("`glis config check` has more")
    })?;
    if config.chat.telegram.is_set() {
        return Ok(());
    }
    let why = "no bot is set up: [chat.telegram] has neither users nor a token";
    Err(Complaint::new(Kind::Usage, why).hint("docs/chat.md has how, in a minute"))
}

/// Ends the services and removes their units. The agents keep running.
pub(super) fn uninstall(out: &Out) -> Result<(), Complaint> {
    let daemon = Service::of_this_process(Part::Daemon)?;
    let bot = Service::of_this_process(Part::Bot)?;
    // What waits for the other goes first.
    bot.remove()?;
    let (file, removed) = (daemon.file()?, daemon.remove()?);
    out.document(&json!({"unit": file, "removed": removed}), || {
        if removed {
            format!(
                "removed the service {}; agents keep running, and any command starts a daemon",
                daemon.name()
            )
        } else {
            format!("there is no service: {} does not exist", file.display())
        }
    })
}

fn installed(file: &Path, name: &str, started: bool, lingers: Option<bool>) -> String {
    let mut lines = vec![format!("wrote {}", file.display())];
    lines.push(if started {
        format!("the daemon runs as {name} now; `systemctl --user status {name}` shows it")
    } else {
        format!(
            "systemd does not run for this user here, so it was not started; where it does: \
             systemctl --user enable --now {name}"
        )
    });
    if lingers == Some(false) {
        lines.push(
            "it starts when you log in; for a start with the machine: loginctl enable-linger"
                .to_owned(),
        );
    }
    lines.join("\n")
}

impl Service {
    fn of_this_process(part: Part) -> Result<Self, Complaint> {
        let program = env::current_exe().ok().filter(|program| program.is_file());
        let program = program.ok_or_else(|| {
            Complaint::new(Kind::Failed, "the program that this command runs was deleted or moved")
                .hint("install glis where it stays, and run that one")
        })?;
        // A home that no daemon would take is refused here already.
        control::find_home()?;
        let home = env::var_os(glis_wire::home::VARIABLE).filter(|home| !home.is_empty());
        let path = env::var("PATH").unwrap_or_default();
        Ok(Self { part, program, home: home.map(PathBuf::from), path })
    }

    fn write(&self) -> Result<(), Complaint> {
        let file = self.file()?;
        whole::replace(&file, &self.unit()).map_err(|fault| {
            let why = format!("the unit {} cannot be written: {fault}", file.display());
            Complaint::new(Kind::Failed, why).hint("fix this and retry; nothing else was changed")
        })
    }

    /// Ends it and removes its unit. Whether there was one.
    fn remove(&self) -> Result<bool, Complaint> {
        let file = self.file()?;
        if !file.exists() {
            return Ok(false);
        }
        refuse_foreign(&file)?;
        let manager = manager_runs();
        if manager {
            systemctl(&["disable", "--now", &self.name()])?;
        }
        fs::remove_file(&file).map_err(|fault| {
            let why = format!("the unit {} cannot be removed: {fault}", file.display());
            Complaint::new(Kind::Failed, why).hint("remove the file by hand")
        })?;
        if manager {
            systemctl(&["daemon-reload"])?;
        }
        Ok(true)
    }

    fn name(&self) -> String {
        self.name_of(self.part)
    }

    /// A home that was moved has services of its own. No home has an underscore here, so that none has the
    /// bot's name.
    fn name_of(&self, part: Part) -> String {
        let stem = match part {
            Part::Daemon => "glis",
            Part::Bot => "glis_chat",
        };
        let Some(home) = &self.home else { return format!("{stem}.service") };
        let letter = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let home: String = home.to_string_lossy().chars().map(letter).collect();
        format!("{stem}-{}.service", home.trim_matches('-'))
    }

    /// Where the user's systemd looks for it.
    fn file(&self) -> Result<PathBuf, Complaint> {
        let folder = |name: &str| {
            let folder = env::var_os(name).map(PathBuf::from);
            folder.filter(|folder| folder.is_absolute())
        };
        let config = folder("XDG_CONFIG_HOME")
            .or_else(|| folder("HOME").map(|home| home.join(".config")))
            .ok_or_else(|| {
                Complaint::new(Kind::Usage, "neither HOME nor XDG_CONFIG_HOME names a folder")
                    .hint("set HOME to your home folder")
            })?;
        Ok(config.join("systemd/user").join(self.name()))
    }

    fn unit(&self) -> String {
        let home = self.home.iter().map(|home| {
            format!("Environment={}\n", quoted(&format!("GLIS_HOME={}", home.display())))
        });
        let home: String = home.collect();
        let program = quoted(&self.program.to_string_lossy().replace('$', "$$"));
        let path = quoted(&format!("PATH={}", self.path));
        let (about, words, way) = match self.part {
            Part::Daemon => (
                "Description=glis keeps AI coding agents alive".to_owned(),
                "daemon run",
                "# The agents outlive the daemon: only it is ended, and what runs out of memory is one agent.\n\
                 KillMode=process\n\
                 OOMPolicy=continue\n\
                 TasksMax=infinity\n\
                 Restart=on-failure\n\
                 RestartSec=1\n\
                 # Another daemon has the house.\n\
                 RestartPreventExitStatus=4",
            ),
            Part::Bot => {
                let daemon = self.name_of(Part::Daemon);
                let about = "Description=glis chat: sessions from a phone";
                (
                    format!("{about}\nWants={daemon}\nAfter={daemon}"),
                    "chat",
                    "# A daemon that it has started outlives it.\n\
                     KillMode=process\n\
                     Restart=on-failure\n\
                     # A token that is not valid is not asked for all the time.\n\
                     RestartSec=30",
                )
            }
        };
        format!(
            "{MARK}\n[Unit]\n{about}\n\n[Service]\nType=exec\nExecStart={program} {words}\n\
             Environment={path}\n{home}{way}\n\n[Install]\nWantedBy=default.target\n"
        )
    }
}

/// One word of a unit: in quotes, and with nothing in it that systemd would expand.
fn quoted(word: &str) -> String {
    let word = word.replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", word.replace('\n', "\\n"))
}

fn refuse_foreign(file: &Path) -> Result<(), Complaint> {
    match fs::read_to_string(file) {
        Ok(text) if text.starts_with(MARK) => Ok(()),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) | Err(_) => {
            let why = format!("{} was not written by glis, and is left alone", file.display());
            Err(Complaint::new(Kind::Refused, why).hint("move it away and retry"))
        }
    }
}

/// Whether systemd runs for this user, and can be reached.
fn manager_runs() -> bool {
    run("systemctl", &["--user", "show-environment"]).is_ok_and(|done| done.status.success())
}

/// Whether the user's services start with the machine; `None` where that cannot be told.
fn lingers() -> Option<bool> {
    let user = env::var("USER").ok()?;
    let done = run("loginctl", &["show-user", &user, "--property=Linger", "--value"]).ok()?;
    let answer = String::from_utf8_lossy(&done.stdout);
    done.status.success().then(|| answer.trim() == "yes")
}

fn systemctl(words: &[&str]) -> Result<(), Complaint> {
    let line = format!("systemctl --user {}", words.join(" "));
    let failed = |why: &str| {
        Complaint::new(Kind::Failed, format!("`{line}` failed: {}", why.trim()))
            .hint("fix this and retry; the agents keep running")
    };
    let done = run("systemctl", &[&["--user"], words].concat())
        .map_err(|fault| failed(&fault.to_string()))?;
    if done.status.success() { Ok(()) } else { Err(failed(&String::from_utf8_lossy(&done.stderr))) }
}

fn run(program: &str, words: &[&str]) -> io::Result<Output> {
    Command::new(program).args(words).stdin(Stdio::null()).output()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(program: &str, home: Option<&str>) -> Service {
        let home = home.map(PathBuf::from);
        let (part, path) = (Part::Daemon, "/usr/bin:/opt/50% \"x\"".to_owned());
        Service { part, program: program.into(), home, path }
    }

    #[test]
    fn what_systemd_would_expand_is_kept_from_it() {
        let unit = service("/opt/a b/$x/glis", Some("/home/u/100%")).unit();
        assert!(unit.contains("ExecStart=\"/opt/a b/$$x/glis\" daemon run\n"), "{unit}");
        assert!(unit.contains("Environment=\"PATH=/usr/bin:/opt/50%% \\\"x\\\"\"\n"), "{unit}");
        assert!(unit.contains("Environment=\"GLIS_HOME=/home/u/100%%\"\n"), "{unit}");
        assert!(unit.contains("\nKillMode=process\n"), "{unit}");
    }

    #[test]
    fn a_home_of_its_own_has_a_service_of_its_own() {
        assert_eq!(service("/glis", None).name(), "glis.service");
        let named = service("/glis", Some("/home/u/other home")).name();
        assert_eq!(named, "glis-home-u-other-home.service");
        let bot = Service { part: Part::Bot, ..service("/glis", Some("/home/u")) };
        assert_eq!(bot.name(), "glis_chat-home-u.service");
        let unit = bot.unit();
        assert!(unit.contains("\nExecStart=\"/glis\" chat\n"), "{unit}");
        assert!(unit.contains("\nAfter=glis-home-u.service\n"), "{unit}");
        assert!(unit.contains("\nKillMode=process\n"), "{unit}");
    }
}
