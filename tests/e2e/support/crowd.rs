//! A home with thousands of sessions at rest: the card of one, again and again under other names.

use crate::support::house::{House, Outcome, eventually};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Records in a file of the log's copies.
const FILE_RECORDS: usize = 4096;
/// The newest of them rested a minute ago, each other so much longer.
const APART_MS: i64 = 60_000;

/// The name of one of the crowd; the first has rested the shortest.
pub(crate) fn name(number: usize) -> String {
    format!("c{number:05}")
}

/// Adds so many sessions that are like this one, which rests. The daemon is stopped for it, and makes its log anew at its
/// next start, from copies in which they are.
pub(crate) fn gather(house: &House, like: &str, count: usize) -> Outcome {
    let shown = house.show(like)?;
    let id = shown["id"].as_str().ok_or("no id")?.to_owned();
    let former = shown["agent_session_ref"].as_str().unwrap_or("no agent's id").to_owned();
    let card = house.home().join("sessions").join(&id).join("card.json");
    let card = || std::fs::read_to_string(&card).unwrap_or_default();
    eventually("it is saved", || {
        let card: Value = serde_json::from_str(&card()).unwrap_or_default();
        !card["snapshot"].is_null()
    })?;
    house.ok(&["daemon", "stop"])?;
    let card = card();
    let (home, copies) = (house.home(), copies(&house.home().join("backup"))?);
    let mut records = Vec::new();
    for file in files(&copies)? {
        for line in std::fs::read_to_string(&file)?.lines() {
            let (_, json) = line.split_once(' ').ok_or("no sum")?;
            records.push(json.to_owned());
        }
        std::fs::remove_file(file)?;
    }
    let now = i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_millis())?;
    for number in 0..count {
        let fresh = format!("{number:08x}-{}", id.split_once('-').ok_or("no UUID")?.1);
        let agents = format!("{number:08x}-0000-4000-8000-000000000000");
        let mut card: Value =
            serde_json::from_str(&card.replace(&id, &fresh).replace(&former, &agents))?;
        let (seq, rested) = (records.len() + 1, now - APART_MS * (1 + i64::try_from(number)?));
        card["name"] = name(number).into();
        // Nothing is left to be done with it.
        card["left_as"] = card["snapshot"].clone();
        (card["seq"], card["last_active_at"]) = (seq.into(), rested.into());
        let event = json!({"session_recovered": {"card": card}});
        let record = json!({"seq": seq, "at": rested, "session": fresh, "event": event});
        records.push(record.to_string());
        // What they have said and printed is one file on disk for all.
        let (from, to) = (home.join("sessions").join(&id), home.join("sessions").join(&fresh));
        link(&from, &to)?;
    }
    for (part, lines) in records.chunks(FILE_RECORDS).enumerate() {
        let mut text = String::new();
        for json in lines {
            writeln!(text, "{:016x} {json}", sum(json.as_bytes()))?;
        }
        std::fs::write(copies.join(format!("{:020}.jsonl", part * FILE_RECORDS + 1)), text)?;
    }
    let all = records.len();
    std::fs::write(copies.join("complete"), format!("{all} {all}\n"))?;
    for file in ["events.db", "events.db-wal", "backup/checkpoint"] {
        drop(std::fs::remove_file(home.join(file)));
    }
    Ok(())
}

/// The one folder in this one.
fn copies(root: &Path) -> Outcome<std::path::PathBuf> {
    let mut folders = std::fs::read_dir(root)?.flatten().map(|entry| entry.path());
    Ok(folders.find(|path| path.is_dir()).ok_or("no copies")?)
}

/// The files of the copies, oldest first.
fn files(folder: &Path) -> Outcome<Vec<std::path::PathBuf>> {
    let paths = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect();
    files.sort();
    Ok(files)
}

fn link(from: &Path, to: &Path) -> Outcome {
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)?.flatten().filter(|entry| entry.path().is_file()) {
        std::fs::hard_link(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// The sum that stands before a line: FNV-1a.
fn sum(bytes: &[u8]) -> u64 {
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, add)
}
