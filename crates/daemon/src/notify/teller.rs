//! How the user is told: by a command of their own, and by the desktop.

use super::news::Kind;
use crate::child::ends_within;
use glis_config::NotifyConfig;
use serde_json::Value;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// A command that takes longer hangs: it is ended, and the next notice is told.
const TIME_SECS: u32 = 10;
/// More at once are one notice on the desktop.
const APART_MAX: usize = 3;
/// Longer texts are for other places than the corner of a screen.
const TEXT_MAX: usize = 300;

/// The ways to the user that there are.
pub(super) struct Teller {
    command: Option<String>,
    desktop: bool,
}

impl Teller {
    pub(super) fn new(config: &NotifyConfig) -> Self {
        Self { command: config.command.clone(), desktop: config.desktop && has_desktop() }
    }

    /// Whether there is any way.
    pub(super) fn reaches_anybody(&self) -> bool {
        self.command.is_some() || self.desktop
    }

    /// Tells all of it, one after the other. It may take as long as the commands do.
    pub(super) fn tell(&self, notices: &[Value]) {
        if let Some(command) = &self.command {
            for notice in notices {
                run("/bin/sh", &["-c", command], &format!("{notice}\n"));
            }
        }
        if self.desktop {
            for (title, text) in for_desktop(notices) {
                run("notify-send", &["--app-name=glis", "--", &title, &text], "");
            }
        }
    }
}

/// A desktop can only be told where the daemon has been started from one.
fn has_desktop() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let reachable = set("DBUS_SESSION_BUS_ADDRESS") && (set("DISPLAY") || set("WAYLAND_DISPLAY"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    reachable && std::env::split_paths(&path).any(|folder| folder.join("notify-send").is_file())
}

/// Runs a program, in no folder of anybody's, and waits for its end.
fn run(name: &str, arguments: &[&str], input: &str) {
    #[expect(clippy::disallowed_methods, reason = "it states its folder right here")]
    let mut command = Command::new(name);
    // What it prints is no concern of ours; that it failed is, and the diary has its words.
    command.args(arguments).current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(fault) => return crate::diary(&format!("notify: {name} does not start: {fault}")),
    };
    if let Some(mut stdin) = child.stdin.take() {
        // It fits into a pipe; a command that does not read it wants nothing of it.
        drop(stdin.write_all(input.as_bytes()));
    }
    if !ends_within(&child, TIME_SECS) {
        crate::diary(&format!("notify: {name} took more than {TIME_SECS} s and was ended"));
    }
    match child.wait() {
        Ok(status) if status.success() => {}
        Ok(status) => crate::diary(&format!("notify: {name}: {status}")),
        Err(fault) => crate::diary(&format!("notify: {name}: {fault}")),
    }
}

/// A title and a text for each; many at once are told as one.
fn for_desktop(notices: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |notice: &Value| format!("{} {}", text(&notice["session"]["name"]), verb(notice));
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
        let few = for_desktop(&[of("blue", "waiting"), of("red", "finished")]);
        assert_eq!(few[0], ("blue waits for you".to_owned(), "run ls?".to_owned()));
        assert_eq!(few[1].0, "red has finished");
        let many: Vec<_> = ["a", "b", "c", "d"].map(|name| of(name, "failed")).into();
        let many = for_desktop(&many);
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
