//! An event log that was cut, bent or replaced: a clear word or what can be saved; no agent is
//! touched.

use crate::support::house::{House, Outcome, kill_and_wait, lives};
use crate::support::wreck::{OnDisk, agents, pid_of, recorded, text_of};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A house with an agent at work and one paused, its daemon dead, and its log kept aside.
struct Wreck {
    house: House,
    agent: i32,
    id: String,
    files: Vec<(PathBuf, Vec<u8>)>,
    copies: Vec<(PathBuf, Vec<u8>)>,
}

impl Wreck {
    /// `stop` ends the daemon in order, so that everything is in the one file.
    fn new(stop: &[&str]) -> Outcome<Self> {
        let house = House::new()?;
        house.rehearsal("red")?;
        house.turn("red", "write a.txt one")?;
        house.ok(&["pause", "red"])?;
        house.rehearsal("blue")?;
        house.turn("blue", "write a.txt one")?;
        house.ok(&["send", "blue", "touch-slowly slow.txt 100000 50"])?;
        let session = house.until("blue", "busy")?;
        if stop.is_empty() {
            house.kill_daemon()?;
        } else {
            house.ok(stop)?;
        }
        let mut files = Vec::new();
        for name in ["events.db", "events.db-wal"] {
            let path = house.home().join(name);
            if path.exists() {
                files.push((path.clone(), std::fs::read(path)?));
            }
        }
        let (agent, id) = (pid_of(&session)?, text_of(&session, "id")?);
        let copies = files_below(&house.home().join("backup"))?;
        Ok(Self { house, agent, id, files, copies })
    }

    /// The log as it was, except for one file.
    fn with(&self, which: usize, bytes: &[u8]) -> Outcome {
        for entry in std::fs::read_dir(self.house.home())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("events.db") {
                if path.is_dir() { std::fs::remove_dir(path)? } else { std::fs::remove_file(path)? }
            }
        }
        for (path, bytes) in &self.files {
            std::fs::write(path, bytes)?;
        }
        Ok(std::fs::write(&self.files[which].0, bytes)?)
    }

    /// Takes away everything that the log could be restored from.
    fn without_copies(&self) -> Outcome {
        let backup = self.house.home().join("backup");
        if backup.exists() {
            std::fs::remove_dir_all(backup)?;
        }
        for folder in std::fs::read_dir(self.house.home().join("sessions"))? {
            let card = folder?.path().join("card.json");
            if card.exists() {
                std::fs::remove_file(card)?;
            }
        }
        Ok(())
    }

    /// The copies as they were.
    fn put_copies_back(&self) -> Outcome {
        self.without_copies()?;
        for (path, bytes) in &self.copies {
            std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
            std::fs::write(path, bytes)?;
        }
        Ok(())
    }

    /// How many of the events that were there before are left. They must be a beginning: behind the
    /// first one that is gone there is none of the others.
    fn beginning(&self, before: &[OnDisk]) -> Outcome<usize> {
        let after = recorded(&self.house.home())?;
        let same = |a: &OnDisk, b: &OnDisk| (a.seq, a.at, &a.body) == (b.seq, b.at, &b.body);
        let kept = after.iter().zip(before).take_while(|(a, b)| same(a, b)).count();
        let (rest, gone) = (&after[kept..], &before[kept..]);
        let late = rest.iter().find(|event| gone.iter().any(|former| same(event, former)));
        match late {
            Some(event) => Err(format!("{kept} are left, and yet {event:?}").into()),
            None => Ok(kept),
        }
    }

    /// Starts a daemon on it: what it lists, or why it does not start. Ends it again.
    fn look(&self) -> Outcome<Result<Vec<Value>, String>> {
        let output = self.house.glis().args(["--json", "ls"]).output()?;
        let document: Value = serde_json::from_slice(&output.stdout)?;
        let found = if output.status.success() {
            let all = document.as_array().ok_or("no array")?.clone();
            kill_and_wait(self.house.daemon_pid()?)?;
            Ok(all)
        } else {
            assert_eq!(output.status.code(), Some(8), "{document}");
            Err(document["error"]["message"].to_string())
        };
        let log: Vec<_> = recorded(&self.house.home())
            .unwrap_or_default()
            .into_iter()
            .map(|event| event.body)
            .collect();
        assert!(lives(self.agent), "the agent was touched: {log:#?}");
        assert_eq!(agents(&self.id), [self.agent]);
        let diary = std::fs::read_to_string(self.house.home().join("daemon.log"))?;
        assert!(!diary.contains("panicked"), "{diary}");
        Ok(found)
    }

    /// Whether the agent at work is among what was found, tended as before.
    fn adopted(&self, found: &[Value]) -> bool {
        found.iter().any(|session| session["name"] == "blue" && session["pid"] == self.agent)
    }
}

/// Every file in a folder and the folders in it.
fn files_below(folder: &Path) -> Outcome<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push((path.clone(), std::fs::read(path)?));
        }
    }
    Ok(files)
}

/// Where every such file has the number of its form.
const FORM: std::ops::Range<usize> = 60..64;

/// Places all over a file, the first bytes among them, and the last page: there a record that
/// is older than others is the first to go.
fn places(len: usize, count: usize) -> impl Iterator<Item = usize> {
    let early = [0, 1, 16, 60, 99, 100, 511, 512, 4095, 4096];
    let late = [2458, 100, 1].into_iter().filter_map(move |back| len.checked_sub(back));
    let all = early.into_iter().filter(move |at| *at < len);
    all.chain((1..count).map(move |n| len * n / count)).chain(late)
}

#[test]
fn a_log_that_was_cut_anywhere_hurts_no_agent() -> Outcome {
    let wreck = Wreck::new(&["daemon", "stop"])?;
    let whole = wreck.files[0].1.clone();
    let before = recorded(&wreck.house.home())?;
    for at in places(whole.len(), 10) {
        // What the copies have is put in: nothing is missing.
        wreck.with(0, &whole[..at])?;
        let found = wreck.look()?.map_err(|why| format!("cut at {at}: {why}"))?;
        assert!(wreck.adopted(&found) && found.len() == 2, "cut at {at}: {found:?}");
        assert_eq!(wreck.beginning(&before)?, before.len(), "cut at {at}");
        // Without any, what is left is a beginning, or a word that nothing is.
        wreck.with(0, &whole[..at])?;
        wreck.without_copies()?;
        match wreck.look()? {
            Ok(_) => {
                let kept = wreck.beginning(&before).map_err(|why| format!("cut at {at}: {why}"))?;
                assert!(kept > 0 && kept < before.len(), "cut at {at}: {kept} left");
            }
            Err(why) => assert!(why.contains("has sessions"), "cut at {at}: {why}"),
        }
        wreck.put_copies_back()?;
    }
    wreck.with(0, &whole)?;
    let found = wreck.look()?.map_err(|why| format!("the whole one: {why}"))?;
    assert!(wreck.adopted(&found), "{found:?}");
    Ok(())
}

#[test]
fn a_journal_that_was_cut_anywhere_is_a_shorter_journal() -> Outcome {
    let wreck = Wreck::new(&[])?;
    let whole = wreck.files[1].1.clone();
    let before = recorded(&wreck.house.home())?;
    for at in places(whole.len(), 12) {
        wreck.with(1, &whole[..at])?;
        let found = wreck.look()?.map_err(|why| format!("cut at {at}: {why}"))?;
        wreck.beginning(&before).map_err(|why| format!("cut at {at}: {why}"))?;
        // Cut so short that no record is left, the sessions are known by their own folders.
        let by_card = found.iter().all(|session| session["record_damaged"] == true);
        let late = at >= whole.len() * 9 / 10;
        assert!(!(late || by_card) || wreck.adopted(&found), "cut at {at}: {found:?}");
    }
    Ok(())
}

#[test]
fn a_flipped_bit_loses_no_more_than_its_own_record() -> Outcome {
    let wreck = Wreck::new(&["daemon", "stop"])?;
    let whole = wreck.files[0].1.clone();
    let before = recorded(&wreck.house.home())?;
    let is_whole = || wreck.beginning(&before).is_ok_and(|kept| kept == before.len());
    // Each page begins with what the whole of it hangs on.
    let pages = (0..whole.len()).step_by(4096);
    for at in places(whole.len(), 24).chain(pages) {
        let mut bent = whole.clone();
        bent[at] ^= 0x10;
        wreck.with(0, &bent)?;
        match wreck.look().map_err(|fault| format!("flipped at {at}: {fault}"))? {
            Ok(found) => assert!(wreck.adopted(&found) && found.len() == 2, "{at}: {found:?}"),
            // The number of its form was hit: what a newer version has written is left alone.
            Err(why) => assert!(FORM.contains(&at) && why.contains("newer version"), "{at}: {why}"),
        }
        if !FORM.contains(&at) && !is_whole() {
            // It lies before the checkpoint: the doctor reads it, and the next start restores it.
            drop(wreck.house.glis().args(["--json", "doctor"]).output()?);
            kill_and_wait(wreck.house.daemon_pid()?)?;
            wreck.look()?.map_err(|why| format!("flipped at {at}: {why}"))?;
            assert!(is_whole(), "flipped at {at}: more is lost than the copies have");
        }
        wreck.put_copies_back()?;
    }
    // In the middle of a record, its neighbours are carried over and the damaged file is kept.
    wreck.with(0, &whole)?;
    let db = rusqlite::Connection::open(&wreck.files[0].0)?;
    let bend = "UPDATE events SET body = replace(body, 'taken', 'Taken') WHERE seq = \
                (SELECT min(seq) FROM events WHERE body LIKE '%message_taken%')";
    assert_eq!(db.execute(bend, [])?, 1);
    drop(db);
    let found = wreck.look()?.map_err(|why| format!("a bent record: {why}"))?;
    assert!(wreck.adopted(&found) && found.len() == 2, "{found:?}");
    // It lies before the checkpoint, so a start does not read it; the doctor does, and the next start.
    let told = wreck.house.glis().args(["--json", "doctor"]).output()?.stdout;
    let told = String::from_utf8(told)?;
    assert!(told.contains("1 damaged records"), "{told}");
    kill_and_wait(wreck.house.daemon_pid()?)?;
    let told = wreck.house.ok(&["--json", "doctor"])?;
    assert!(told.contains("a damaged log was found earlier"), "{told}");
    let names: Vec<_> = std::fs::read_dir(wreck.house.home())?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    assert!(names.iter().any(|name| name.contains("damaged")), "{names:?}");
    Ok(())
}

#[test]
fn a_session_whose_record_was_damaged_is_flagged_until_somebody_takes_note() -> Outcome {
    let wreck = Wreck::new(&["daemon", "stop"])?;
    let house = &wreck.house;
    let db = rusqlite::Connection::open(&wreck.files[0].0)?;
    wreck.without_copies()?;
    // The pause of the other session, by a single bit of its time.
    let bend = "UPDATE events SET at = at | 1 << 40 WHERE body LIKE '%\"paused\"%'";
    assert_eq!(db.execute(bend, [])?, 1);
    drop(db);
    let flags = |house: &House| -> Outcome<Vec<(String, bool)>> {
        let all = house.json(&["ls"])?;
        let all = all.as_array().ok_or("no array")?.iter();
        let mut flags = all
            .map(|s| Ok((text_of(s, "name")?, s["record_damaged"].as_bool().ok_or("no flag")?)))
            .collect::<Outcome<Vec<_>>>()?;
        flags.sort();
        Ok(flags)
    };
    let flagged = [("blue".to_owned(), false), ("red".to_owned(), true)];
    assert_eq!(flags(house)?, flagged);
    assert!(house.ok(&["show", "red"])?.contains("glis acknowledge red"));
    let told = house.ok(&["doctor"])?;
    assert!(told.contains("1 of its records were lost"), "{told}");
    house.kill_daemon()?;
    assert_eq!(flags(house)?, flagged, "it is on record");
    assert_eq!(house.json(&["acknowledge", "red"])?["record_damaged"], false);
    assert_eq!(house.json(&["acknowledge", "red"])?["already"], true);
    house.kill_daemon()?;
    assert!(flags(house)?.iter().all(|(_, flag)| !flag));
    // What the log no longer knows is seen to be so, and nothing is in the way of going on.
    let found = house.until("red", crate::support::wreck::SETTLED)?;
    assert_eq!(house.json(&["pause", "red"])?["status"], "paused", "{found}");
    house.ok(&["resume", "red"])?;
    assert_eq!(house.turn("red", "recall")?["status"], "idle");
    assert!(lives(wreck.agent));
    Ok(())
}

#[test]
fn a_flipped_bit_in_the_journal_is_survived() -> Outcome {
    let wreck = Wreck::new(&[])?;
    let whole = wreck.files[1].1.clone();
    for at in places(whole.len(), 24) {
        let mut bent = whole.clone();
        bent[at] ^= 0x10;
        wreck.with(1, &bent)?;
        let found = wreck.look()?.map_err(|why| format!("flipped at {at}: {why}"))?;
        assert!(wreck.adopted(&found), "flipped at {at} of {}: {found:?}", whole.len());
    }
    Ok(())
}

#[test]
fn a_log_that_is_none_is_kept_aside_or_named() -> Outcome {
    let wreck = Wreck::new(&["daemon", "stop"])?;
    let whole = wreck.files[0].1.clone();
    let nonsense = b"this is no database, and long enough to be taken for one at first sight";
    for copies in [true, false] {
        wreck.with(0, nonsense)?;
        if copies {
            assert!(wreck.look()?.is_ok_and(|found| wreck.adopted(&found)));
        } else {
            wreck.without_copies()?;
            assert!(wreck.look()?.is_err_and(|why| why.contains("has sessions")));
        }
    }
    let kept = std::fs::read_dir(wreck.house.home())?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .any(|name| name.contains("damaged"));
    assert!(kept);
    wreck.with(0, b"")?;
    assert!(wreck.look()?.is_err_and(|why| why.contains("has sessions")));
    wreck.with(0, b"")?;
    std::fs::remove_file(&wreck.files[0].0)?;
    std::fs::create_dir(&wreck.files[0].0)?;
    let why = wreck.look()?.err().ok_or("a folder was taken for a log")?;
    assert!(why.contains("folder"), "{why}");
    wreck.with(0, &whole)?;
    assert!(wreck.look()?.is_ok_and(|found| wreck.adopted(&found)));
    Ok(())
}

#[test]
fn a_journal_without_its_log_is_not_thrown_away() -> Outcome {
    let wreck = Wreck::new(&[])?;
    for instead in [b"".as_slice(), b"garbage that somebody wrote over the file"] {
        wreck.with(0, instead)?;
        let found = wreck.look()?.map_err(|why| format!("{}: {why}", instead.len()))?;
        assert!(wreck.adopted(&found) && found.len() == 2, "{found:?}");
    }
    Ok(())
}

#[test]
fn a_log_of_a_newer_version_is_left_untouched() -> Outcome {
    let wreck = Wreck::new(&["daemon", "stop"])?;
    let mut newer = wreck.files[0].1.clone();
    newer[FORM].copy_from_slice(&99_u32.to_be_bytes());
    wreck.with(0, &newer)?;
    let why = wreck.look()?.err().ok_or("a newer log was taken")?;
    assert!(why.contains("newer"), "{why}");
    assert_eq!(std::fs::read(&wreck.files[0].0)?, newer);
    Ok(())
}

#[test]
fn a_log_that_is_missing_beside_its_sessions_without_copies_is_not_begun_anew() -> Outcome {
    let wreck = Wreck::new(&["daemon", "stop"])?;
    let (log, whole) = wreck.files[0].clone();
    std::fs::remove_file(&log)?;
    wreck.without_copies()?;
    let why = wreck.look()?.err().ok_or("an empty log was begun beside living agents")?;
    let sessions = wreck.house.home().join("sessions");
    assert!(why.contains(&sessions.display().to_string()) && why.contains("move"), "{why}");
    assert!(!log.exists(), "nothing is in the way of moving it back");
    let diary = std::fs::read_to_string(wreck.house.home().join("daemon.log"))?;
    assert!(diary.contains("has sessions"), "{diary}");
    std::fs::write(&log, &whole)?;
    assert!(wreck.look()?.is_ok_and(|found| wreck.adopted(&found)));
    // Whoever wants to begin anew does as the hint says.
    wreck.with(0, b"")?;
    std::fs::remove_file(&log)?;
    let aside = wreck.house.home().join("sessions-aside");
    std::fs::rename(&sessions, &aside)?;
    assert!(wreck.look()?.is_ok_and(|found| found.is_empty()));
    wreck.with(0, &whole)?;
    std::fs::rename(&aside, &sessions)?;
    assert!(wreck.look()?.is_ok_and(|found| wreck.adopted(&found)));
    Ok(())
}

#[test]
fn a_house_whose_sessions_were_all_removed_still_starts() -> Outcome {
    let house = House::new()?;
    house.rehearsal("red")?;
    house.turn("red", "write a.txt one")?;
    house.ok(&["pause", "red"])?;
    house.ok(&["rm", "red"])?;
    house.ok(&["daemon", "stop"])?;
    assert_eq!(house.json(&["ls"])?, serde_json::json!([]));
    house.rehearsal("blue")?;
    Ok(())
}

#[test]
fn the_doctor_names_sessions_that_the_log_has_lost() -> Outcome {
    let wreck = Wreck::new(&["daemon", "stop"])?;
    wreck.without_copies()?;
    let db = rusqlite::Connection::open(&wreck.files[0].0)?;
    db.execute("DELETE FROM events WHERE session = ?1", [&wreck.id])?;
    drop(db);
    let output = wreck.house.glis().args(["--json", "doctor"]).output()?;
    let told = String::from_utf8(output.stdout)?;
    assert!(told.contains("does not know") && told.contains(&wreck.id), "{told}");
    let agent = format!("process {} of session {} runs", wreck.agent, wreck.id);
    assert!(told.contains(&agent) && !output.status.success(), "{told}");
    assert!(lives(wreck.agent));
    Ok(())
}

#[test]
fn the_doctor_counts_damaged_lines_of_a_conversation() -> Outcome {
    let house = House::new()?;
    let id = text_of(&house.rehearsal("red")?, "id")?;
    house.turn("red", "say hello")?;
    house.ok(&["pause", "red"])?;
    let sound = house.ok(&["--json", "doctor"])?;
    assert!(!sound.contains("damaged"), "{sound}");
    let file = crate::support::wreck::folder(&house, &id).join("conversation.jsonl");
    let mut text = std::fs::read_to_string(&file)?;
    text.push_str("{\"half\": \nnothing of ours\n");
    std::fs::write(&file, text)?;
    let told = house.ok(&["--json", "doctor"])?;
    assert!(told.contains("2 damaged lines"), "{told}");
    Ok(())
}
