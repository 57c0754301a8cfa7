//! A network that enforces its rules and breaks its promises.

use super::random::Random;
use super::{Killed, now};
use crate::channel::{Channel, ChannelFault, Me};
use crate::outbox::{Key, Outcome, What};
use crate::policy::Place;
use crate::text::Text;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

#[derive(Default)]
struct State {
    updates: Vec<(i64, Value)>,
    /// Messages in the order in which they came: chat, number, words, buttons.
    messages: Vec<(i64, i64, String, Vec<String>)>,
    banned_until: BTreeMap<i64, i64>,
    times: BTreeMap<i64, Vec<i64>>,
    faults: u64,
    early: u64,
    well: bool,
    /// Every button that was ever shown: chat, message, words, data.
    labels: Vec<(i64, i64, String, String)>,
    /// The messages that have lost theirs.
    bare: Vec<(i64, i64)>,
    ban_next: Option<i64>,
    /// Pictures of what goes on that are to be seen, and the number of the last.
    previews: Vec<i64>,
    preview: i64,
    /// So many requests for a file come to nothing.
    unfetched: u32,
    /// How many files it has taken.
    files: usize,
    /// What it does not take: messages with these words, and files of such a name.
    refused: Option<&'static str>,
    /// The next message to this chat is not answered before something comes here.
    stalled: Option<(i64, Receiver<()>)>,
    /// What popped up at presses.
    acks: Vec<String>,
    /// Every picture that was shown: chat and words.
    pictures: Vec<(i64, String)>,
}

pub(super) struct Network {
    random: Mutex<Random>,
    state: Mutex<State>,
}

impl Network {
    pub(super) fn new(seed: u64) -> Self {
        let random = Mutex::new(Random::new(seed ^ 0x5555));
        Self { random, state: Mutex::default() }
    }

    fn below(&self, most: usize) -> usize {
        self.random.lock().unwrap().below(most)
    }

    pub(super) fn add_update(&self, id: i64, body: Value) {
        self.state.lock().unwrap().updates.push((id, body));
    }

    /// What was not forgotten yet; up to the offset it is from now on, or almost.
    pub(super) fn pending(&self, offset: Option<i64>) -> Vec<Value> {
        let mut state = self.state.lock().unwrap();
        let again = if self.random.lock().unwrap().one_in(5) { 5 } else { 0 };
        let from = offset.unwrap_or(0) - again;
        state.updates.retain(|(id, _)| *id >= from);
        state.updates.iter().map(|(_, body)| body.clone()).collect()
    }

    /// Another bot has none of these updates.
    pub(super) fn forget_updates(&self) {
        self.state.lock().unwrap().updates.clear();
    }

    /// Whether nothing waits to be asked for.
    pub(super) fn is_heard(&self) -> bool {
        self.state.lock().unwrap().updates.is_empty()
    }

    pub(super) fn any_button(&self) -> Option<(i64, i64, String)> {
        let state = self.state.lock().unwrap();
        let all: Vec<_> = state
            .messages
            .iter()
            .flat_map(|(chat, id, _, keys)| keys.iter().map(|key| (*chat, *id, key.clone())))
            .collect();
        drop(state);
        let at = (!all.is_empty()).then(|| self.below(all.len()))?;
        all.into_iter().nth(at)
    }

    /// Every button in a chat with these words on it, the oldest first: message and data.
    pub(super) fn buttons(&self, chat: i64, label: &str) -> Vec<(i64, String)> {
        let state = self.state.lock().unwrap();
        let own =
            state.labels.iter().filter(|(c, _, known, _)| (*c, known.as_str()) == (chat, label));
        own.map(|(_, message, _, data)| (*message, data.clone())).collect()
    }

    /// The last button in a chat with these words on it.
    pub(super) fn button(&self, chat: i64, label: &str) -> Option<(i64, String)> {
        let state = self.state.lock().unwrap();
        let own = state.labels.iter().rev().filter(|(c, ..)| *c == chat);
        own.filter(|(_, _, known, _)| known == label)
            .map(|(_, message, _, data)| (*message, data.clone()))
            .next()
    }

    /// The next request is answered with a ban.
    pub(super) fn ban_next(&self, secs: i64) {
        self.state.lock().unwrap().ban_next = Some(secs);
    }

    /// The next message to this chat is answered when something is sent to what is returned.
    pub(super) fn stall(&self, chat: i64) -> Sender<()> {
        let (answer, answered) = mpsc::channel();
        self.state.lock().unwrap().stalled = Some((chat, answered));
        answer
    }

    /// So many requests for a file come to nothing.
    pub(super) fn lose_files(&self, times: u32) {
        self.state.lock().unwrap().unfetched = times;
    }

    /// Takes no message with these words from now on, and no file of such a name.
    pub(super) fn refuse(&self, what: &'static str) {
        self.state.lock().unwrap().refused = Some(what);
    }

    fn takes(&self, what: &str) -> Result<(), ChannelFault> {
        let refused = self.state.lock().unwrap().refused;
        match refused.filter(|refused| what.contains(refused)) {
            Some(refused) => Err(ChannelFault::Refused(refused.to_owned())),
            None => Ok(()),
        }
    }

    /// What popped up at presses.
    pub(super) fn acks(&self) -> Vec<String> {
        self.state.lock().unwrap().acks.clone()
    }

    /// How many files it has taken.
    pub(super) fn files(&self) -> usize {
        self.state.lock().unwrap().files
    }

    pub(super) fn card_text(&self, chat: i64, message: i64) -> String {
        let state = self.state.lock().unwrap();
        let found = state.messages.iter().find(|(c, id, ..)| (*c, *id) == (chat, message));
        found.map(|(_, _, text, _)| text.clone()).unwrap_or_default()
    }

    /// The words of a chat, in the order in which they came.
    pub(super) fn words_of(&self, chat: i64) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let own = state.messages.iter().filter(|(c, ..)| *c == chat);
        own.map(|(_, _, text, _)| text.clone()).collect()
    }

    /// The number of the last message in a chat with these words.
    pub(super) fn message(&self, chat: i64, words: &str) -> i64 {
        let state = self.state.lock().unwrap();
        let mut own = state.messages.iter().rev().filter(|(c, ..)| *c == chat);
        own.find(|(_, _, text, _)| text.contains(words)).map(|(_, id, ..)| *id).unwrap()
    }

    /// Whether a message has lost its buttons.
    pub(super) fn is_bare(&self, chat: i64, message: i64) -> bool {
        self.state.lock().unwrap().bare.contains(&(chat, message))
    }

    /// The pictures that were shown since this was last asked.
    pub(super) fn take_pictures(&self) -> Vec<(i64, String)> {
        std::mem::take(&mut self.state.lock().unwrap().pictures)
    }

    /// How many pictures of what goes on are to be seen.
    pub(super) fn previews(&self) -> usize {
        self.state.lock().unwrap().previews.len()
    }

    pub(super) fn faults(&self) -> u64 {
        self.state.lock().unwrap().faults
    }

    /// Requests that came before the end of a ban.
    pub(super) fn early(&self) -> u64 {
        self.state.lock().unwrap().early
    }

    pub(super) fn be_well(&self) {
        self.state.lock().unwrap().well = true;
    }

    /// What goes wrong before a request has any effect; `Ok` if nothing does. The flag says that the answer
    /// to what was done is lost.
    fn trouble(&self, chat: i64, plain: bool) -> Result<bool, ChannelFault> {
        // Three of seven requests go wrong.
        let roll = self.below(70);
        let secs = [1, 30, 300, 6775][self.below(4)];
        let mut state = self.state.lock().unwrap();
        let ban = state.banned_until.get(&chat).copied().unwrap_or(0);
        if now() < ban {
            // An early request makes it longer.
            state.early += 1;
            let longer = ban + 10_000;
            state.banned_until.insert(chat, longer);
            let left = (longer - now()).unsigned_abs().div_ceil(1000);
            return Err(ChannelFault::TooMany(left));
        }
        if let Some(secs) = state.ban_next.take() {
            let at = now() + secs * 1000;
            state.banned_until.insert(chat, at);
            return Err(ChannelFault::TooMany(secs.unsigned_abs()));
        }
        if state.well {
            return Ok(false);
        }
        state.faults += u64::from(roll < 30);
        match roll {
            0..5 => {
                let at = now() + secs * 1000;
                state.banned_until.insert(chat, at);
                Err(ChannelFault::TooMany(secs.unsigned_abs()))
            }
            5..12 => Err(ChannelFault::Unreachable("no answer".to_owned())),
            12..16 => Err(ChannelFault::Server("502".to_owned())),
            16..18 if !plain => Err(ChannelFault::Refused("can't parse entities".to_owned())),
            18..19 => Err(ChannelFault::Blocked),
            19..20 => Err(ChannelFault::Unauthorized),
            20..23 => {
                drop(state);
                std::panic::panic_any(Killed)
            }
            23..30 => Ok(true),
            _ => Ok(false),
        }
    }

    fn effect<T>(
        &self,
        (chat, plain): (i64, bool),
        act: impl FnOnce(&mut State) -> T,
    ) -> Result<T, ChannelFault> {
        let lost = self.trouble(chat, plain)?;
        let done = {
            let mut state = self.state.lock().unwrap();
            // Five at once, then one a second (a group: twenty a minute).
            let times = state.times.entry(chat).or_default();
            times.push(now());
            let span = if chat < 0 { 60_000 } else { 5_000 };
            let most = if chat < 0 { 24 } else { 9 };
            let recent = times.iter().filter(|at| now() - **at < span).count();
            assert!(recent <= most, "a flood: {recent} in chat {chat}");
            act(&mut state)
        };
        if !lost {
            return Ok(done);
        }
        if self.below(3) == 0 {
            std::panic::panic_any(Killed);
        }
        Err(ChannelFault::Unreachable("half an answer".to_owned()))
    }
}

/// What is in a file of this name.
pub(super) fn content(file: &str) -> String {
    format!("content of {file}")
}

impl Network {
    fn post(&self, to: Place, text: &Text, keys: &[Vec<Key>]) -> Result<i64, ChannelFault> {
        assert!((1..=4096).contains(&text.units()));
        assert!(keys.iter().flatten().all(|key| key.data.len() <= 64));
        self.takes(&text.text)?;
        let stalled = self.state.lock().unwrap().stalled.take_if(|(chat, _)| *chat == to.chat);
        if let Some((_, answered)) = stalled {
            answered.recv().unwrap();
        }
        self.effect((to.chat, text.entities.is_empty()), |state| {
            let id = i64::try_from(state.messages.len()).unwrap() + 1000;
            for key in keys.iter().flatten() {
                let (label, data) = (key.label.clone(), key.data.clone());
                state.labels.push((to.chat, id, label, data));
            }
            let keys = keys.iter().flatten().map(|key| key.data.clone()).collect();
            state.messages.push((to.chat, id, text.text.clone(), keys));
            id
        })
    }

    fn edit(&self, chat: i64, message: i64, text: &Text) -> Result<(), ChannelFault> {
        self.effect((chat, false), |state| {
            if state.previews.contains(&message) {
                state.pictures.push((chat, text.text.clone()));
            }
            for (_, id, words, keys) in &mut state.messages {
                if *id == message {
                    // Buttons of an old screen can still be pressed: they are kept here.
                    let _ = &keys;
                    words.clone_from(&text.text);
                }
            }
        })
    }
}

impl Channel for Network {
    fn file_bytes_max(&self) -> u64 {
        1000
    }

    fn introduce(&self) -> Result<Me, ChannelFault> {
        Ok(Me { number: 1, name: "glis_bot".to_owned() })
    }

    fn announce(&self, _: &[(&str, &str)]) -> Result<(), ChannelFault> {
        Ok(())
    }

    fn updates(&self, _: Option<i64>, _: Duration) -> Result<Vec<Value>, ChannelFault> {
        Ok(Vec::new())
    }

    fn send(&self, to: Place, what: &What) -> Outcome {
        match what {
            What::Post { text, keys, .. } => self.post(to, text, keys).map(Some),
            What::Edit { message, text } => self.edit(to.chat, *message, text).map(|()| None),
            What::Used { message } => {
                let bare =
                    self.effect((to.chat, false), |state| state.bare.push((to.chat, *message)));
                bare.map(|()| None)
            }
            What::File { name, .. } => {
                self.takes(name)?;
                self.effect((to.chat, true), |state| state.files += 1).map(|()| Some(1))
            }
            What::Topic { .. } => Err(ChannelFault::Unknown),
            What::CloseTopic => to.thread.map_or(Ok(None), |_| Err(ChannelFault::Unknown)),
            What::Clear { .. } => panic!("its message is deleted"),
            What::Ack { words, .. } => {
                self.state.lock().unwrap().acks.push(words.clone());
                Ok(None)
            }
        }
    }

    fn preview(&self, to: Place, text: &Text) -> Result<i64, ChannelFault> {
        assert!((1..=4096).contains(&text.units()));
        let id = self.effect((to.chat, true), |state| {
            state.preview += 1;
            state.pictures.push((to.chat, text.text.clone()));
            state.preview
        })?;
        // One whose answer is lost is known to nobody.
        self.state.lock().unwrap().previews.push(id);
        Ok(id)
    }

    fn delete(&self, chat: i64, message: i64) -> Result<(), ChannelFault> {
        self.effect((chat, true), |state| state.previews.retain(|id| *id != message))
    }

    fn fetch(&self, file: &str) -> Result<Vec<u8>, ChannelFault> {
        let roll = self.below(20);
        let mut state = self.state.lock().unwrap();
        if state.unfetched > 0 {
            state.unfetched -= 1;
            return Err(ChannelFault::Server("502".to_owned()));
        }
        if state.well {
            return Ok(content(file).into_bytes());
        }
        state.faults += u64::from(roll < 8);
        drop(state);
        match roll {
            0..2 => Err(ChannelFault::Unreachable("half an answer".to_owned())),
            2..4 => Err(ChannelFault::Server("502".to_owned())),
            4 => Err(ChannelFault::TooMany(3)),
            5 => Err(ChannelFault::TooMany(6775)),
            6 => Err(ChannelFault::Refused("wrong file_id".to_owned())),
            7 => std::panic::panic_any(Killed),
            _ => Ok(content(file).into_bytes()),
        }
    }
}
