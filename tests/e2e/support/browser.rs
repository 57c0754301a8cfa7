//! A browser before a house: plays a story of `tests/browser`, and does in the house what it asks for.

use crate::support::house::{Background, House, Outcome};
use crate::support::skip::skip;
use crate::support::web::{Events, Web};
use glis_stub_model::browser;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A story waits for a minute at most before it says what it waits for.
const SILENCE: Duration = Duration::from_secs(120);

/// Plays a story to its end. `Ok` also where there is no browser: then it was left out, loudly.
pub(crate) fn play(story: &str) -> Outcome {
    play_before(story, Web::start)
}

/// As [`play`], before a server that is started like this.
pub(crate) fn play_before(story: &str, start: impl Fn(&House) -> Outcome<Web>) -> Outcome {
    let found = (browser::program(), browser::modules(), browser::node());
    let (Some(program), Some(modules), Some(node)) = found else {
        let why =
            "there is no browser, or nothing to drive it by; `cargo xtask browser` installs both";
        return skip(why, Some("chromium, node and npm"));
    };
    let house = House::new()?;
    let mut stage = Stage { web: Some(start(&house)?), house, clients: Vec::new() };
    let (address, url) = match &stage.web {
        Some(web) => (web.address.to_string(), format!("{}/", web.url)),
        None => return Err("no server".into()),
    };
    let own = stage.house.folder().join("browser");
    std::fs::create_dir(&own)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/browser/{story}.mjs"));
    let mut command = Command::new(node);
    // Found and ended with the house, should the story break off.
    stage.house.enter(&mut command);
    command.arg(script).stdin(Stdio::piped()).current_dir(&own);
    command.env("TMPDIR", &own).env("HOME", &own);
    command.env("GLIS_BROWSER", program).env("GLIS_BROWSER_MODULES", modules);
    command.env("GLIS_PAGE", url);
    let mut child = Background::start(&mut command)?;
    let mut answers = child.0.stdin.take().ok_or("no stdin")?;
    let lines = lines(&mut child)?;
    let mut told = Vec::new();
    loop {
        match lines.recv_timeout(SILENCE) {
            Ok(line) => match line.strip_prefix("do ") {
                Some(asked) => {
                    let answer = match stage.act(&serde_json::from_str(asked)?, &address) {
                        Ok(done) => json!({"done": done}),
                        Err(fault) => json!({"error": fault.to_string()}),
                    };
                    // A story that has ended meanwhile says so itself.
                    drop(writeln!(answers, "{answer}"));
                }
                None => told.push(line),
            },
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                return Err(format!("`{story}` says nothing any more\n{}", told.join("\n")).into());
            }
        }
    }
    let status = child.0.wait()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{story}`: {status}\n{}", told.join("\n")).into())
}

/// What a story prints, in either stream.
fn lines(child: &mut Background) -> Outcome<mpsc::Receiver<String>> {
    let (sender, lines) = mpsc::channel();
    let errors = BufReader::new(child.0.stderr.take().ok_or("no stderr")?);
    let output = BufReader::new(child.0.stdout.take().ok_or("no stdout")?);
    let also = sender.clone();
    std::thread::spawn(move || {
        errors.lines().map_while(Result::ok).for_each(|line| drop(also.send(line)));
    });
    std::thread::spawn(move || {
        output.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
    });
    Ok(lines)
}

/// What a story acts upon.
struct Stage {
    house: House,
    web: Option<Web>,
    /// Scripts that follow the events beside the browser.
    clients: Vec<Events>,
}

impl Stage {
    /// Does what a story asks for.
    fn act(&mut self, asked: &Value, address: &str) -> Outcome<Value> {
        let words = asked["words"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let words: Vec<&str> = words.collect();
        match (asked["act"].as_str().unwrap_or_default(), words.as_slice()) {
            ("glis", words) => self.house.json(words),
            ("says", words) => Ok(json!(self.house.ok(words)?)),
            ("repo", []) => Ok(json!(self.house.repo())),
            ("repo", [name]) => self.repository(name),
            ("git", words) => Ok(json!(self.house.git(words)?)),
            ("text", [path]) => Ok(json!(std::fs::read_to_string(path)?)),
            ("file", [session, file]) => {
                let text = std::fs::read(self.house.file(session, file)?).unwrap_or_default();
                Ok(json!(String::from_utf8_lossy(&text)))
            }
            ("kill daemon", []) => self.house.kill_daemon().map(|()| Value::Null),
            ("kill web", []) => {
                self.web.take().ok_or("no server runs")?.kill()?;
                Ok(Value::Null)
            }
            ("start web", []) => {
                self.web = Some(Web::start_at(&self.house, address)?);
                Ok(Value::Null)
            }
            ("start web elsewhere", []) => {
                let web = Web::start(&self.house)?;
                let port = web.address.port();
                self.web = Some(web);
                Ok(json!(port))
            }
            ("clients", [count]) => self.follow(count.parse()?).map(|()| Value::Null),
            ("clients told", []) => self.told(),
            (act, words) => Err(format!("a story asks for `{act}` {words:?}").into()),
        }
    }

    /// So many scripts follow the events from the first on.
    fn follow(&mut self, count: usize) -> Outcome {
        let made = self.house.json(&["web", "token", "--name", "script", "--scope", "watch"])?;
        let token = made["token"].as_str().ok_or("no token")?;
        let web = self.web.as_ref().ok_or("no server runs")?;
        for _ in 0..count {
            self.clients.push(web.events(token, None)?);
        }
        Ok(())
    }

    /// How many of them have got each event once and in order, up to one that was answered.
    fn told(&mut self) -> Outcome<Value> {
        let mut right = 0;
        for client in &mut self.clients {
            let mut last = 0;
            loop {
                let (seq, event) = client.next()?.ok_or("the stream ended")?;
                if seq != last + 1 {
                    break;
                }
                last = seq;
                if event["event"] == "ask_gone" {
                    right += 1;
                    break;
                }
            }
        }
        Ok(json!(right))
    }

    /// Another repository, in a folder of this name.
    fn repository(&self, name: &str) -> Outcome<Value> {
        let folder = self.house.folder().join(name);
        let (from, to) = (self.house.repo(), folder.to_string_lossy().into_owned());
        self.house.git(&["clone", "--quiet", &from.to_string_lossy(), &to])?;
        Ok(json!(folder))
    }
}
