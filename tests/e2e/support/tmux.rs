//! A real terminal for the tests: tmux, on a socket of its own, ended with the test.

use crate::support::house::{House, Outcome};
use crate::support::skip::skip;
use std::process::Command;
use std::time::{Duration, Instant};

/// A terminal shows no events, so its screen is looked at again and again, for so long at most.
const PATIENCE: Duration = Duration::from_secs(30);
const PACE: Duration = Duration::from_millis(20);

/// A tmux server with one shell per window.
pub(crate) struct Tmux<'h> {
    house: &'h House,
}

impl<'h> Tmux<'h> {
    /// A terminal of 80 by 24 with a shell in it; `None`, loudly, if there is no tmux.
    pub(crate) fn start(house: &'h House) -> Outcome<Option<Self>> {
        if let Err(fault) = Command::new("tmux").arg("-V").output() {
            skip(&format!("no terminal was tested: tmux: {fault}"), Some("tmux"))?;
            return Ok(None);
        }
        let tmux = Self { house };
        tmux.open("one", 80, 24)?;
        Ok(Some(tmux))
    }

    /// Opens one more terminal.
    pub(crate) fn open(&self, name: &str, columns: u16, rows: u16) -> Outcome {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let shell = "exec env PS1='$ ' bash --norc --noprofile";
        let size = ["-x", columns.as_str(), "-y", rows.as_str()];
        self.run(&[&["new-session", "-d", "-s", name], &size[..], &[shell]].concat())?;
        self.run(&["set-option", "-g", "status", "off"])?;
        self.run(&["resize-window", "-t", name, "-x", &columns, "-y", &rows])?;
        self.until(name, |screen| screen.trim_end().ends_with('$')).map(drop)
    }

    /// Runs a command of tmux and returns what it prints.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome<String> {
        let glis = crate::support::house::program();
        let folder = glis.parent().ok_or("no folder")?;
        let path = format!("{}:{}", folder.display(), std::env::var("PATH")?);
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", "glis-test", "-f", "/dev/null", "-u"]).args(args);
        let output = self
            .house
            .enter(&mut tmux)
            .env("TMUX_TMPDIR", self.house.repo())
            .env_remove("TMUX")
            .env("PATH", path)
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .current_dir(self.house.repo())
            .output()?;
        if !output.status.success() {
            return Err(format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Types a line into a terminal.
    pub(crate) fn line(&self, name: &str, text: &str) -> Outcome {
        self.run(&["send-keys", "-t", name, "-l", text])?;
        self.key(name, "Enter")
    }

    /// Presses a key, by tmux's name for it.
    pub(crate) fn key(&self, name: &str, key: &str) -> Outcome {
        self.run(&["send-keys", "-t", name, key]).map(drop)
    }

    /// Sends bytes as the terminal itself would.
    pub(crate) fn bytes(&self, name: &str, bytes: &[u8]) -> Outcome {
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let hex: Vec<&str> = hex.iter().map(String::as_str).collect();
        self.run(&[&["send-keys", "-t", name, "-H"], hex.as_slice()].concat()).map(drop)
    }

    /// The screen as text.
    pub(crate) fn screen(&self, name: &str) -> Outcome<String> {
        self.run(&["capture-pane", "-p", "-t", name])
    }

    /// What tmux knows about a terminal.
    pub(crate) fn fact(&self, name: &str, format: &str) -> Outcome<String> {
        Ok(self.run(&["display-message", "-p", "-t", name, format])?.trim().to_owned())
    }

    /// Waits until the screen is like this.
    pub(crate) fn until(&self, name: &str, wanted: impl Fn(&str) -> bool) -> Outcome<String> {
        let begun = Instant::now();
        loop {
            let screen = self.screen(name)?;
            if wanted(&screen) {
                return Ok(screen);
            }
            if begun.elapsed() > PATIENCE {
                return Err(
                    format!("the terminal does not come to what is wanted:\n{screen}").into()
                );
            }
            std::thread::sleep(PACE);
        }
    }

    /// Waits until the shell is back and has printed this line: what is typed before that is still
    /// for the program that leaves, which throws it away.
    pub(crate) fn left(&self, name: &str, line: &str) -> Outcome<String> {
        self.until(name, |screen| {
            screen.lines().any(|shown| shown == line) && screen.trim_end().ends_with('$')
        })
        .map_err(|fault| format!("{line:?}: {fault}").into())
    }

    /// Waits until the screen contains this.
    pub(crate) fn sees(&self, name: &str, part: &str) -> Outcome<String> {
        self.until(name, |screen| screen.contains(part))
            .map_err(|fault| format!("{part:?}: {fault}").into())
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        drop(self.run(&["kill-server"]));
    }
}
