//! How the user is told: by a command of their own, and by the desktop.

use super::news::Kind;
use crate::environments::{Env, own_environment};
use crate::program::{self, End};
use glis_config::NotifyConfig;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use tracing::warn;

/// A command that takes longer hangs: it is ended, and the next notice is told.
const TIME_SECS: u32 = 10;
/// More at once are one notice on the desktop.
const APART_MAX: usize = 3;
/// Longer texts are for other places than the corner of a screen.
const TEXT_MAX: usize = 300;

/// The ways to the user that there are.
pub(super) struct Teller {
    command: Option<String>,
    desktop: Option<PathBuf>,
}

impl Teller {
    /// The program that tells the desktop is the one that [`for_the_desktop`] has found. `None` where
    /// there is no way at all.
    pub(super) fn new(config: &NotifyConfig, desktop: Option<&PathBuf>) -> Option<Self> {
        let desktop = desktop.filter(|_| config.desktop).cloned();
        let teller = Self { command: config.command.clone(), desktop };
        (teller.command.is_some() || teller.desktop.is_some()).then_some(teller)
    }

    /// Tells all of it, one after the other. It may take as long as the commands do.
    pub(super) fn tell(&self, notices: &[Value]) {
        let env = own_environment();
        if let Some(command) = &self.command {
            for notice in notices {
                let question = format!("{notice}\n");
                run(Path::new("/bin/sh"), &["-c", command], &env, &question);
            }
        }
        if let Some(send) = &self.desktop {
            for (title, text) in as_read(notices) {
                run(send, &["--app-name=glis", "--", &title, &text], &env, "");
            }
        }
    }
}

/// The program that tells the desktop. It can only where the daemon has been started from one.
pub(super) fn for_the_desktop() -> Option<PathBuf> {
    let env = own_environment();
    let set = |name: &str| env.iter().any(|(own, value)| own == name && !value.is_empty());
    let reachable = set("DBUS_SESSION_BUS_ADDRESS") && (set("DISPLAY") || set("WAYLAND_DISPLAY"));
    program::find("notify-send", &env, Path::new("/")).ok().filter(|_| reachable)
}

/// Runs a program to its end, in no folder of anybody's. What it prints is no concern of ours; what it
/// complains of, and that it failed, is.
fn run(program: &Path, arguments: &[&str], env: &Env, input: &str) {
    let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    let shown = program.display();
    let say = |what: &str| warn!("notify: {shown}: {what}");
    match program::ask(program, &arguments, env, Path::new("/"), (TIME_SECS, input)) {
        Err(fault) => say(&fault.to_string()),
        Ok(told) => {
            if !told.errors.trim().is_empty() {
                say(told.errors.trim());
            }
            match told.end {
                End::Well => {}
                End::Failed(status) => say(&status.to_string()),
                End::TooLate => say(&format!("ended, since it took more than {TIME_SECS} s")),
            }
        }
    }
}

/// A title and a text for each; many at once are told as one.
fn as_read(notices: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    // A run that could not begin has no session.
    let name = |notice: &Value| match notice["session"]["name"].as_str() {
        Some(name) => name.to_owned(),
        None => text(&notice["run"]),
    };
    let line = |notice: &Value| format!("{} {}", name(notice), verb(notice));
    if notices.len() > APART_MAX {
        let lines: Vec<_> = notices.iter().map(line).collect();
        return vec![(format!("glis: {} sessions", notices.len()), shortened(&lines.join("\n")))];
    }
    notices.iter().map(|notice| (line(notice), shortened(&text(&notice["text"])))).collect()
}

fn verb(notice: &Value) -> &'static str {
    match serde_json::from_value(notice["kind"].clone()) {
        Ok(Kind::Waiting) => "waits for you",
        Ok(Kind::Finished) => "has finished",
        Ok(Kind::Failed) => "has failed",
        Ok(Kind::Limit) => "has reached its limit",
        Err(_) => "",
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(name: &str, kind: &str) -> Value {
        json!({"kind": kind, "session": {"name": name}, "text": "run ls?"})
    }

    #[test]
    fn few_are_told_apart_and_many_as_one() {
        let few = as_read(&[of("blue", "waiting"), of("red", "finished")]);
        assert_eq!(few[0], ("blue waits for you".to_owned(), "run ls?".to_owned()));
        assert_eq!(few[1].0, "red has finished");
        let many: Vec<_> = ["a", "b", "c", "d"].map(|name| of(name, "failed")).into();
        let many = as_read(&many);
        assert_eq!(many.len(), 1);
        assert_eq!(many[0].0, "glis: 4 sessions");
        assert!(many[0].1.contains("d has failed"), "{many:?}");
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let long = shortened(&"ü".repeat(TEXT_MAX + 1));
        assert_eq!(long.chars().count(), TEXT_MAX + 1);
        assert!(long.ends_with('…'));
    }
}
