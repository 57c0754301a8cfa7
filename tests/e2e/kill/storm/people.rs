//! Those who use a house in a storm: some send, and some pause, resume, stop and restart.

use super::{HANDS, JOURNAL, Kind, Member, Storm, locked};
use crate::support::dice::Dice;
use crate::support::house::Outcome;
use serde_json::Value;
use std::time::Duration;

/// A message, known by a word that no other has.
pub(super) struct Sent {
    pub(super) to: usize,
    pub(super) sender: usize,
    pub(super) number: usize,
    /// Its number in the house, if it was accepted.
    pub(super) message: Option<Value>,
}

impl Sent {
    pub(super) fn word(&self) -> String {
        format!("word-{}-{}", self.sender, self.number)
    }
}

/// The word of a message, by what its agent was told.
pub(super) fn word_in(text: &str) -> Option<&str> {
    text.split_whitespace().rfind(|part| part.starts_with("word-"))
}

/// What is done with a session beside sending.
#[derive(Debug, Clone, Copy)]
enum Act {
    Pause(&'static [&'static str]),
    Verb(&'static [&'static str]),
    LoseWorktree,
}

const ACTS: [Act; 12] = [
    Act::Pause(&[]),
    Act::Pause(&["--mode", "boundary"]),
    Act::Pause(&["--mode", "force"]),
    Act::Pause(&["--remove-worktree"]),
    Act::Verb(&["resume"]),
    Act::Verb(&["resume"]),
    Act::Verb(&["stop"]),
    Act::Verb(&["restart", "--yes"]),
    Act::Verb(&["compact"]),
    Act::Verb(&["log"]),
    Act::Verb(&["diff"]),
    Act::LoseWorktree,
];

impl Storm {
    /// Sends message after message. One whose fate is unknown is sent again under the same key.
    pub(super) fn send_on(&self, sender: usize, dice: &mut Dice) -> Outcome<Vec<Sent>> {
        let mut all = Vec::new();
        while self.lasts() {
            let to = usize::try_from(dice.below(self.members.len() as u64))?;
            let mut sent = Sent { to, sender, number: all.len(), message: None };
            let (member, word) = (&self.members[to], sent.word());
            let text = self.text_for(member, &word, dice);
            while self.lasts() {
                let output = self.verb(&["--key", &word, "send", &member.name, &text])?;
                let answer: Value = serde_json::from_slice(&output.stdout)?;
                match output.status.code() {
                    Some(0) => {
                        sent.message = Some(answer["message"].clone());
                        break;
                    }
                    // A daemon has begun with it and died: nobody is told more under this key.
                    _ if answer["error"]["message"].to_string().contains("not done again") => break,
                    // No room on the disk, or no daemon that answers.
                    Some(1 | 8) => {}
                    // A shell that was killed takes no message.
                    _ => break,
                }
            }
            all.push(sent);
        }
        Ok(all)
    }

    /// Something that leaves a trace of the word where the test can find it.
    fn text_for(&self, member: &Member, word: &str, dice: &mut Dice) -> String {
        let slowly = *dice.one_of(&["", "", "", "work 0.3 ;; "]);
        match member.kind {
            Kind::Headless | Kind::Terminal => {
                format!("{slowly}append {JOURNAL} {word}\\n ;; say {word}")
            }
            Kind::Shell => {
                format!(">>'{}' echo {word}", self.said().join(&member.name).display())
            }
        }
    }

    /// Does one thing after the other with the sessions that are in these hands.
    pub(super) fn meddle(&self, hands: usize, dice: &mut Dice) -> Outcome {
        let own: Vec<&Member> = self.members.iter().skip(hands).step_by(HANDS).collect();
        while self.lasts() {
            let (member, act) = (*dice.one_of(&own), *dice.one_of(&ACTS));
            match act {
                Act::Pause(how) => self.pause(member, how)?,
                Act::Verb(words) => {
                    let refused =
                        self.verb(&[words, &[&member.name]].concat())?.status.code() == Some(4);
                    if refused && member.kind == Kind::Shell && words == ["resume"] {
                        // Killed: a shell has no conversation to go on with.
                        self.verb(&["restart", "--yes", &member.name])?;
                    }
                }
                Act::LoseWorktree => self.lose_worktree(member)?,
            }
            std::thread::sleep(Duration::from_millis(dice.below(100)));
        }
        Ok(())
    }

    /// What is in the journal when a pause is confirmed is safe from then on.
    fn pause(&self, member: &Member, how: &[&str]) -> Outcome {
        let output = self.verb(&[&["pause", &member.name], how].concat())?;
        let journal = std::fs::read(member.worktree.join(JOURNAL));
        if let (true, Ok(journal)) = (output.status.success(), journal) {
            *locked(&member.kept) = journal;
        }
        Ok(())
    }

    /// The whole folder at once, and nothing in it is deleted: a save that is under way would take that for the
    /// agent's own work.
    fn lose_worktree(&self, member: &Member) -> Outcome {
        let lost = self.house.home().join("lost");
        std::fs::create_dir_all(&lost)?;
        let place = lost.join(format!("{}-{}", member.name, std::fs::read_dir(&lost)?.count()));
        // It may be lost already, or removed by a pause.
        if std::fs::rename(&member.worktree, place).is_ok() {
            self.count("worktree lost");
        }
        Ok(())
    }
}
