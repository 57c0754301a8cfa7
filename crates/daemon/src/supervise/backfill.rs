//! What an agent said before: output that was lost when a holder was killed is recovered from the
//! agent's own transcript, and a dialect that is new hears again what it has to know.

use glis_agent::{Dialect, Heard};
use glis_core::input::Sign;
use glis_record::conversation;
use glis_record::output::OutputLog;
use glis_screen::Output as _;
use glis_wire::view::{Entry, Voice};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// How much of the output is read at once after the fact.
pub(super) const STRETCH_BYTES: usize = 256 * 1024;
/// How much of what an agent said earlier in its run is heard again: its first words, which name
/// things, and its last ones, which may still wait for an answer.
const FIRST_WORDS_BYTES: u64 = 1024 * 1024;
const LAST_WORDS_BYTES: u64 = 16 * 1024 * 1024;

/// What a conversation holds under one session id of the agent.
#[derive(Default)]
pub(super) struct Known {
    /// How often each thing was said.
    words: HashMap<(Voice, String), usize>,
    /// Tools since the last words.
    tools: usize,
}

impl Known {
    /// What the conversation in `path` holds.
    pub(super) fn of(path: &Path, agent_ref: &str) -> io::Result<Self> {
        let mut known = Self::default();
        conversation::each(path, |entry| {
            if conversation::under(&entry) == Some(agent_ref) {
                known.add(entry);
            }
        })?;
        Ok(known)
    }

    fn add(&mut self, entry: Entry) {
        match entry.voice {
            Voice::User | Voice::Assistant => {
                *self.words.entry((entry.voice, entry.content)).or_default() += 1;
                self.tools = 0;
            }
            Voice::Tool => self.tools += 1,
            Voice::System => {}
        }
    }

    /// What of a transcript comes behind the last words that both have. Tools are counted only: an
    /// agent may write them down in other words than it tells them.
    pub(super) fn lack(mut self, told: Vec<Heard>) -> Vec<Heard> {
        let mut from = 0;
        for (place, heard) in (1..).zip(&told) {
            let Some(said) = &heard.said else { continue };
            let known = self.words.get_mut(&(said.voice, said.content.clone()));
            if let Some(left) = known.filter(|left| **left > 0) {
                *left -= 1;
                from = place;
            }
        }
        // That a message was taken comes right behind its words, and is known with them.
        let behind = told.get(from).and_then(|heard| heard.sign.as_ref());
        let from = from + usize::from(matches!(behind, Some(Sign::TookMessage { .. })));
        let mut tools = self.tools;
        let is_lost = |heard: &Heard| {
            let is_tool = heard.said.as_ref().is_some_and(|said| said.voice == Voice::Tool);
            let is_known = is_tool && tools > 0;
            tools -= usize::from(is_known);
            !is_known
        };
        told.into_iter().skip(from).filter(is_lost).collect()
    }
}

/// Lets a dialect hear again what was said before, without any consequence: it has to know what it
/// is talking about.
pub(super) fn remind(
    dialect: &mut dyn Dialect,
    log: &OutputLog,
    began: u64,
    end: u64,
) -> io::Result<()> {
    let mut at = began;
    while at < end {
        let far = at >= began + FIRST_WORDS_BYTES && at + LAST_WORDS_BYTES < end;
        if far {
            at = end - LAST_WORDS_BYTES;
        }
        let wanted =
            usize::try_from(end - at).map_or(STRETCH_BYTES, |left| left.min(STRETCH_BYTES));
        let stretch = log.read(at, wanted)?;
        let before_end = usize::try_from(end.saturating_sub(stretch.at)).unwrap_or(usize::MAX);
        let bytes = stretch.bytes.get(..before_end).unwrap_or(&stretch.bytes);
        if bytes.is_empty() {
            break;
        }
        drop(dialect.hear(stretch.at, bytes));
        at = stretch.at + bytes.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_agent::Said;

    fn known(entries: &[(Voice, &str)]) -> Known {
        let mut known = Known::default();
        for (voice, content) in entries {
            let (timestamp, content) = (String::new(), (*content).to_owned());
            known.add(Entry {
                timestamp,
                voice: *voice,
                content,
                metadata: serde_json::Map::default(),
            });
        }
        known
    }

    fn told(entries: &[(Voice, &str)]) -> Vec<Heard> {
        let said = |(voice, content): &(Voice, &str)| Some(Said::new(*voice, *content));
        let heard = |entry| Heard { at: 0, sign: None, said: said(entry) };
        entries.iter().map(heard).collect()
    }

    fn words(lost: &[Heard]) -> Vec<&str> {
        lost.iter().filter_map(|heard| Some(heard.said.as_ref()?.content.as_str())).collect()
    }

    const ASKED: (Voice, &str) = (Voice::User, "go on");
    const DONE: (Voice, &str) = (Voice::Assistant, "done");

    #[test]
    fn the_same_words_again_are_not_those_of_before() {
        let transcript = [ASKED, DONE, ASKED, DONE];
        assert_eq!(words(&known(&[ASKED, DONE, ASKED]).lack(told(&transcript))), ["done"]);
        assert_eq!(words(&known(&[ASKED, DONE]).lack(told(&transcript))), ["go on", "done"]);
        assert!(known(&transcript).lack(told(&transcript)).is_empty());
    }

    #[test]
    fn a_tool_that_was_told_in_other_words_is_the_same() {
        let (ran, wrote) = ((Voice::Tool, "bash -c ls"), (Voice::Tool, "a.txt"));
        let transcript = [ASKED, (Voice::Tool, "ls"), wrote, DONE];
        assert_eq!(words(&known(&[ASKED, ran]).lack(told(&transcript))), ["a.txt", "done"]);
        assert!(known(&[ASKED, ran, wrote, DONE]).lack(told(&transcript)).is_empty());
    }

    #[test]
    fn what_comes_behind_the_last_words_counts_without_any() {
        let took = Heard { at: 1, sign: Some(Sign::TookMessage { text: None }), said: None };
        let mut asked = told(&[ASKED]);
        asked.push(took);
        assert!(known(&[ASKED]).lack(asked).is_empty());
        let mut transcript = told(&[ASKED, DONE]);
        transcript.push(Heard { at: 1, sign: Some(Sign::TurnEnded), said: None });
        let lost = known(&[ASKED, DONE]).lack(transcript);
        assert_eq!(
            lost.iter().map(|heard| heard.sign.clone()).collect::<Vec<_>>(),
            [Some(Sign::TurnEnded)]
        );
    }
}
