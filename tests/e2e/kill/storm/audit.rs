//! After the storm: everything comes back, and is what it has to be.

use super::people::{Sent, word_in};
use super::{JOURNAL, Kind, Member, SENDERS, Storm, joined, locked};
use crate::support::held::signal;
use crate::support::house::{Outcome, eventually};
use crate::support::wreck::{SETTLED, agents, each_entry_once, marked, pid_of};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::thread::scope;
use std::time::{Duration, Instant};

/// However it was treated, a session is back within this time.
const BACK_TIME: Duration = Duration::from_secs(90);

/// What the log tells of one session.
#[derive(Default)]
struct Course {
    /// The messages that each process was given, in order.
    given: Vec<Vec<Value>>,
}

impl Storm {
    pub(super) fn audit(&self, sent: &[Sent]) -> Outcome {
        for pid in self.house.processes() {
            drop(signal(pid, Signal::CONT));
        }
        scope(|scope| {
            let threads: Vec<_> = (0..SENDERS)
                .map(|who| {
                    self.beside(scope, move || {
                        self.members.iter().skip(who).step_by(SENDERS).try_for_each(|member| {
                            let back = self.bring_back(member);
                            back.map_err(|fault| format!("{}: {fault}", member.name).into())
                        })
                    })
                })
                .collect();
            threads.into_iter().try_for_each(joined)
        })?;
        let courses = self.courses()?;
        let mut faults = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            let own: Vec<&Sent> = sent.iter().filter(|sent| sent.to == at).collect();
            let course = courses.get(&member.id).ok_or("no event tells of it")?;
            if let Err(fault) = self.check(member, &own, course) {
                faults.push(format!("{} ({:?}): {fault}", member.name, member.kind));
                self.tell_of(member)?;
            }
        }
        assert!(faults.is_empty(), "{faults:#?}");
        self.check_processes()?;
        self.check_house()
    }

    /// Prints what the log has of a session.
    fn tell_of(&self, member: &Member) -> Outcome {
        let all = self.house.ok(&["events"])?;
        all.lines().filter(|line| line.contains(&member.id)).for_each(|line| eprintln!("{line}"));
        Ok(())
    }

    /// Brings a session to where it waits for the next message, with nothing in its queue. An agent begins anew, so
    /// that a worktree that was lost comes back.
    fn bring_back(&self, member: &Member) -> Outcome {
        let (name, began) = (member.name.as_str(), Instant::now());
        if member.kind != Kind::Shell || !member.worktree.exists() {
            self.house.json(&["stop", name])?;
        }
        loop {
            let shown = self.house.until(name, SETTLED)?;
            if began.elapsed() > BACK_TIME {
                self.tell_of(member)?;
                let diary = std::fs::read_to_string(self.house.home().join("daemon.log"))?;
                let last: Vec<&str> = diary.lines().rev().take(60).collect();
                last.iter().rev().for_each(|line| eprintln!("{line}"));
                for file in ["status", "wchan", "syscall"] {
                    let of_it = std::fs::read_to_string(format!("/proc/{}/{file}", shown["pid"]));
                    eprintln!("{file}: {}", of_it.unwrap_or_default());
                }
                return Err(format!("it does not come back: {shown}").into());
            }
            let lives = !shown["pid"].is_null();
            match shown["status"].as_str().unwrap_or_default() {
                // A program that has ended cannot take anything any more: now it is known what it took.
                _ if !shown["waiting_for"].is_null() && lives => {
                    drop(self.house.json(&["stop", name])?);
                }
                _ if !shown["waiting_for"].is_null() => {
                    self.resolve(member, &shown["waiting_for"])?;
                }
                "idle" | "busy" if member.kind == Kind::Shell && shown["queued"] == 0 => {
                    return Ok(());
                }
                "idle" if shown["queued"] == 0 => return Ok(()),
                // By itself, with the next message or at the end of its turn.
                "idle" | "busy" => std::thread::sleep(Duration::from_millis(20)),
                "failed" if member.kind == Kind::Shell => {
                    self.house.json(&["restart", "--yes", name])?;
                }
                "paused" | "suspended" | "interrupted" => drop(self.house.json(&["resume", name])?),
                _ => return Err(format!("it is stuck: {shown}").into()),
            }
        }
    }

    /// Says whether the agent took the message: nobody but who looks can know.
    fn resolve(&self, member: &Member, open: &Value) -> Outcome {
        let text = open["text"].as_str().unwrap_or_default();
        let word = word_in(text).ok_or_else(|| format!("it asks {open}"))?;
        let told = self.told(member)?.iter().any(|told| told == word);
        let answer = if told { "deny" } else { "allow" };
        let request = open["request"].as_str().ok_or("no request")?;
        // It may have been settled meanwhile.
        self.verb(&["answer", &member.name, answer, "--request", request])?;
        self.count("doubt resolved");
        Ok(())
    }

    /// The words that an agent was told, by its own record.
    fn told(&self, member: &Member) -> Outcome<Vec<String>> {
        if member.kind == Kind::Shell {
            let said = std::fs::read_to_string(self.said().join(&member.name)).unwrap_or_default();
            return Ok(said.lines().map(ToOwned::to_owned).collect());
        }
        let shown = self.house.show(&member.name)?;
        let former = shown["former_refs"].as_array().ok_or("no former_refs")?;
        let mut told = Vec::new();
        for reference in former.iter().chain([&shown["agent_session_ref"]]) {
            let file = format!("{}.jsonl", reference.as_str().unwrap_or_default());
            let record = std::fs::read_to_string(self.house.home().join("rehearsal").join(file));
            let record = record.unwrap_or_default();
            let lines = record.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let texts = lines.filter(|line| line["type"] == "user");
            told.extend(texts.filter_map(|line| Some(word_in(line["text"].as_str()?)?.to_owned())));
        }
        Ok(told)
    }

    /// What happened to each session, by the log, which has no gap.
    fn courses(&self) -> Outcome<BTreeMap<String, Course>> {
        let mut courses: BTreeMap<String, Course> = BTreeMap::new();
        for (line, number) in self.house.ok(&["events"])?.lines().zip(1_u64..) {
            let event: Value = serde_json::from_str(line)?;
            if event["seq"] != number {
                return Err(format!("event {number} is missing: {line}").into());
            }
            let Some(session) = event["session"].as_str() else { continue };
            let given = &mut courses.entry(session.to_owned()).or_default().given;
            match (event["event"].as_str(), given.last_mut()) {
                (Some("process_started"), _) => given.push(Vec::new()),
                (Some("message_taken"), Some(given)) => given.push(event["message"].clone()),
                _ => {}
            }
        }
        Ok(courses)
    }

    /// Each message was told once and in order, and is in the conversation once; its files are there.
    fn check(&self, member: &Member, sent: &[&Sent], course: &Course) -> Outcome {
        if member.kind == Kind::Shell {
            // What was typed last is still read.
            let last = course.given.last().and_then(|given| given.last());
            let word = sent.iter().find(|sent| sent.message.as_ref() == last && last.is_some());
            let word = word.map(|sent| sent.word());
            eventually("the shell reads what was typed", || {
                word.as_ref()
                    .is_none_or(|word| self.told(member).is_ok_and(|told| told.contains(word)))
            })?;
        }
        let told = self.told(member)?;
        let mut seen = BTreeSet::new();
        for word in &told {
            if !seen.insert(word.as_str()) {
                return Err(format!("{word} was told twice").into());
            }
        }
        for sender in 0..SENDERS {
            let words = sent.iter().filter(|sent| sent.sender == sender).map(|sent| sent.word());
            let words: Vec<_> = words.filter(|word| seen.contains(word.as_str())).collect();
            let in_order = told.iter().filter(|word| words.contains(word));
            if !in_order.eq(&words) {
                return Err(format!("sent as {words:?}, told as {told:?}").into());
            }
        }
        for lost in sent.iter().filter(|sent| !seen.contains(sent.word().as_str())) {
            if lost.message.is_some() && !died_with_it(member, lost, sent, course, &seen) {
                return Err(format!("{} was accepted and never told", lost.word()).into());
            }
        }
        self.check_conversation(member, sent, course)?;
        let journal = std::fs::read(member.worktree.join(JOURNAL));
        let journal = journal.map_err(|fault| format!("its journal: {fault}"))?;
        let kept = locked(&member.kept);
        if !journal.starts_with(&kept) {
            let (kept, journal) =
                (String::from_utf8_lossy(&kept), String::from_utf8_lossy(&journal));
            return Err(format!("its journal was {kept:?} and is {journal:?}").into());
        }
        Ok(())
    }

    /// What was taken is in the conversation, once.
    fn check_conversation(&self, member: &Member, sent: &[&Sent], course: &Course) -> Outcome {
        each_entry_once(&self.house, &member.name)?;
        let talk = self.house.talk(&member.name)?;
        let heard = talk.iter().filter(|(voice, _)| voice == "user");
        let heard: Vec<_> = heard.filter_map(|(_, text)| word_in(text)).collect();
        for sent in sent.iter().filter(|sent| sent.message.is_some()) {
            let taken =
                course.given.iter().flatten().any(|given| Some(given) == sent.message.as_ref());
            let times = heard.iter().filter(|word| **word == sent.word()).count();
            if times > 1 || (taken && times == 0) {
                return Err(format!("{} is in the conversation {times} times", sent.word()).into());
            }
        }
        Ok(())
    }

    /// What `ls` says is so, and what runs is listed; once all is stopped, nothing is left.
    fn check_processes(&self) -> Outcome {
        let listed = self.house.json(&["ls"])?;
        let listed = listed.as_array().ok_or("no array")?;
        assert_eq!(listed.len(), self.members.len(), "{listed:?}");
        for member in &self.members {
            let session = listed.iter().find(|session| session["id"] == member.id.as_str());
            let session = session.ok_or_else(|| format!("{} is missing", member.name))?;
            let alive =
                if member.kind == Kind::Shell { marked(&member.id) } else { agents(&member.id) };
            assert_eq!(alive, [pid_of(session)?], "{session}");
        }
        self.house.ok(&["daemon", "stop", "--agents"])?;
        let left = || self.house.processes();
        eventually("nothing is left running", || left().is_empty())
            .map_err(|fault| format!("{fault}: {:?}", left()).into())
    }

    /// Nothing is wrong with the house itself.
    fn check_house(&self) -> Outcome {
        let found = self.look(&["doctor"])?;
        let found = found.as_array().ok_or("no array")?;
        // The disk of this test is small.
        let told = found.iter().filter(|found| found["subject"] != "disk");
        let ill: Vec<_> = told.filter(|found| found["health"] != "good").collect();
        assert!(ill.is_empty(), "{ill:#?}");
        let diary = std::fs::read_to_string(self.house.home().join("daemon.log"))?;
        assert!(!diary.contains("panicked"), "{diary}");
        self.house.git(&["fsck", "--connectivity-only", "--no-dangling"]).map(drop)
    }
}

/// A program that is killed or stopped has not read the last of what was typed. It counts as delivered all the same:
/// nobody can see what an unknown program has read.
fn died_with_it(
    member: &Member,
    lost: &Sent,
    sent: &[&Sent],
    course: &Course,
    told: &BTreeSet<&str>,
) -> bool {
    let was_told = |message: &Value| {
        let word = sent.iter().find(|sent| sent.message.as_ref() == Some(message));
        word.is_some_and(|sent| told.contains(sent.word().as_str()))
    };
    let is_lost = |message: &Value| lost.message.as_ref() == Some(message);
    let Some((_, ended)) = course.given.split_last() else { return false };
    let given = ended.iter().find(|given| given.iter().any(is_lost));
    let behind = given.map(|given| given.iter().skip_while(|message| !is_lost(message)));
    member.kind == Kind::Shell && behind.is_some_and(|mut behind| !behind.any(was_told))
}
