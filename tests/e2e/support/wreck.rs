//! Breaking a house on purpose: daemons that die at a chosen moment, and what is to be found
//! afterwards.

use crate::support::house::{House, Outcome, await_gone};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Every state in which nothing is under way.
pub(crate) const SETTLED: &str =
    "created,busy,idle,waiting,paused,suspended,interrupted,completed,failed,archived";

/// A daemon that is the test's own child, so that its end can be told from any other.
pub(crate) struct Foreground(Child);

impl Foreground {
    /// Starts it and returns once it lets front ends in.
    pub(crate) fn start(house: &House, variables: &[(&str, &str)]) -> Outcome<Self> {
        let mut command = house.glis();
        command.envs(variables.iter().copied());
        Self::of(command, &house.home())
    }

    /// As [`Foreground::start`], of any program with any environment.
    pub(crate) fn of(mut command: Command, home: &Path) -> Outcome<Self> {
        std::fs::create_dir_all(home)?;
        let diary = File::options().append(true).create(true).open(home.join("daemon.log"))?;
        let child = command.args(["daemon", "run"]).stdout(Stdio::piped()).stderr(diary).spawn()?;
        let mut daemon = Self(child);
        let stdout = daemon.0.stdout.take().ok_or("no stdout")?;
        let mut said = String::new();
        BufReader::new(stdout).read_line(&mut said)?;
        if said.trim() == "ready" { Ok(daemon) } else { Err(said.into()) }
    }

    pub(crate) fn pid(&self) -> Outcome<i32> {
        Ok(i32::try_from(self.0.id())?)
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Outcome<ExitStatus> {
        await_gone(self.pid()?)?;
        Ok(self.0.wait()?)
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A process that has nothing to do with the house and must never notice anything.
pub(crate) struct Canary(Child);

impl Canary {
    pub(crate) fn new() -> Outcome<Self> {
        Ok(Self(Command::new("sleep").arg("600").env_remove("GLIS_HOME").spawn()?))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn sings(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Living processes that carry a session's mark: agents, and whatever those started.
pub(crate) fn marked(id: &str) -> Vec<i32> {
    let mark = format!("GLIS_SESSION={id}").into_bytes();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == mark)
            && crate::support::house::lives(*pid)
    })
    .collect()
}

/// Living agents of a session. More than one is the worst that can happen.
pub(crate) fn agents(id: &str) -> Vec<i32> {
    let plays = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"rehearse".as_slice())
    };
    marked(id).into_iter().filter(plays).collect()
}

/// The holder of an agent: its parent.
pub(crate) fn holder_of(agent: i32) -> Outcome<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{agent}/stat"))?;
    let (_, rest) = stat.rsplit_once(')').ok_or("no stat")?;
    Ok(rest.split_ascii_whitespace().nth(1).ok_or("no parent")?.parse()?)
}

/// A number field of a session.
pub(crate) fn pid_of(session: &Value) -> Outcome<i32> {
    Ok(i32::try_from(session["pid"].as_i64().ok_or_else(|| format!("no pid: {session}"))?)?)
}

/// A text field of a session.
pub(crate) fn text_of(session: &Value, field: &str) -> Outcome<String> {
    Ok(session[field].as_str().ok_or_else(|| format!("no {field}: {session}"))?.to_owned())
}

/// An event on disk.
#[derive(Debug)]
pub(crate) struct OnDisk {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) name: String,
    pub(crate) body: String,
}

/// The events on disk, read from a copy: nobody has to run for that.
pub(crate) fn recorded(home: &Path) -> Outcome<Vec<OnDisk>> {
    let copy = tempfile::tempdir()?;
    for name in ["events.db", "events.db-wal"] {
        if home.join(name).exists() {
            std::fs::copy(home.join(name), copy.path().join(name))?;
        }
    }
    let db = rusqlite::Connection::open(copy.path().join("events.db"))?;
    let mut query = db.prepare("SELECT seq, at, body FROM events ORDER BY seq")?;
    let rows = query.query_map([], |row| {
        let seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        Ok((seq, row.get(1)?, row.get::<_, String>(2)?))
    })?;
    let mut events = Vec::new();
    for row in rows {
        let (seq, at, body) = row?;
        let mut stored: Value = serde_json::from_str(&body)?;
        let event = event_in(&mut stored);
        let word = event.as_object().and_then(|fields| fields.keys().next()).map(String::as_str);
        let name = word.or(event.as_str()).unwrap_or_default().to_owned();
        events.push(OnDisk { seq, at, name, body });
    }
    Ok(events)
}

/// The event in a record's body: alone, or beside who it is from and the status that it leads to.
fn event_in(body: &mut Value) -> &mut Value {
    if body.get("event").is_some() { &mut body["event"] } else { body }
}

/// Rewrites events on disk, as somebody else would have recorded them; how many have changed. The
/// daemon must not run.
pub(crate) fn rewrite(home: &Path, change: impl Fn(&mut Value)) -> Outcome<usize> {
    let db = rusqlite::Connection::open(home.join("events.db"))?;
    // A start would go on from it, and never read what is written here.
    match std::fs::remove_file(home.join("backup/checkpoint")) {
        Err(fault) if fault.kind() != std::io::ErrorKind::NotFound => return Err(fault.into()),
        Ok(()) | Err(_) => {}
    }
    let mut changed = 0;
    for OnDisk { seq, body, .. } in recorded(home)? {
        let mut stored: Value = serde_json::from_str(&body)?;
        change(event_in(&mut stored));
        if stored != serde_json::from_str::<Value>(&body)? {
            let body = stored.to_string();
            let update = "UPDATE events SET body = ?1, sum = ?2 WHERE seq = ?3";
            changed +=
                db.execute(update, rusqlite::params![body, sum(&body), seq.cast_signed()])?;
        }
    }
    Ok(changed)
}

/// The sum of the first form, which covers the body alone and is good for ever.
fn sum(body: &str) -> i64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    body.bytes().fold(0xcbf2_9ce4_8422_2325, add).cast_signed()
}

/// Gives a home and a repository that were made in another folder the paths of this house.
pub(crate) fn relocate(house: &House, made_in: &str) -> Outcome {
    let here = house.folder().to_str().ok_or("path")?;
    let db = rusqlite::Connection::open(house.home().join("events.db"))?;
    let mut rows = db.prepare("SELECT seq, session, body FROM events")?;
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for (seq, session, body) in rows.collect::<Result<Vec<(i64, String, String)>, _>>()? {
        let (session, body) = (session.replace(made_in, here), body.replace(made_in, here));
        let update = "UPDATE events SET session = ?1, body = ?2, sum = ?3 WHERE seq = ?4";
        db.execute(update, rusqlite::params![session, body, sum(&body), seq])?;
    }
    relocate_files(house.folder(), made_in, here)
}

/// Whatever is text names the new folder.
fn relocate_files(folder: &Path, made_in: &str, here: &str) -> Outcome {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            relocate_files(&path, made_in, here)?;
        } else if let Ok(text) = std::fs::read_to_string(&path)
            && text.contains(made_in)
        {
            std::fs::write(&path, text.replace(made_in, here))?;
        }
    }
    Ok(())
}

/// How often the rehearsal agents of a house were told something that contains `text`.
pub(crate) fn times_told(house: &House, text: &str) -> usize {
    let folder = house.home().join("rehearsal");
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let files = entries.filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok());
    files
        .map(|transcript| {
            let words = transcript.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
            let told = |word: &Value| {
                word["type"] == "user" && word["text"].as_str().is_some_and(|t| t.contains(text))
            };
            words.filter(told).count()
        })
        .sum()
}

/// Nothing was written down twice: every place in stream or transcript has one entry at most.
pub(crate) fn each_entry_once(house: &House, name: &str) -> Outcome {
    let entries = house.json(&["log", name])?;
    let mut seen = std::collections::BTreeSet::new();
    for entry in entries.as_array().ok_or("no array")? {
        let data = &entry["metadata"];
        let place = format!(
            "{} {} {}",
            data["offset"], data["transcript_offset"], data["agent_session_ref"]
        );
        let placed = data["offset"].is_u64() || data["transcript_offset"].is_u64();
        if placed && !seen.insert(place) {
            return Err(format!("written down twice: {entry}").into());
        }
    }
    Ok(())
}

/// The message is known to the agent once, or still ours to deliver, or asked about. Never
/// twice, never nowhere.
pub(crate) fn accounted_for(house: &House, name: &str, text: &str) -> Outcome {
    // In this order: what is taken between the two looks was still queued at the first.
    let session = house.show(name)?;
    let queued = session["queued"].as_u64().unwrap_or_default();
    let told = times_told(house, text);
    if told > 1 || (told == 0 && queued == 0) {
        return Err(format!("{text}: told {told} times, {queued} queued: {session}").into());
    }
    Ok(())
}

/// The folder of a session's state.
pub(crate) fn folder(house: &House, id: &str) -> PathBuf {
    house.home().join("sessions").join(id)
}
