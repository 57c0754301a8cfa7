//! What comes with a message: files for the worktree, and voice that becomes words.

use super::say::Say;
use super::{Asked, Bot, Dealt};
use crate::channel::ChannelFault;
use crate::inbox::name_of;
use crate::outbox::Lane;
use crate::policy::{Attached, Said};
use crate::text::Text;
use crate::voice::Unheard;
use crate::words;
use std::path::PathBuf;
use std::time::Duration;

/// Before a file is asked for again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];
/// A longer ban is told instead of waited for: what is said behind the file waits with it.
const BAN_SECS_MAX: u64 = 30;

/// Why a file is not here.
enum Unfetched {
    /// The network does not give out so much.
    TooLarge { bytes: u64, most: u64 },
    /// The network does not give it now.
    Network(ChannelFault),
    /// It cannot be written.
    Disk(std::io::Error),
}

impl Bot {
    /// A message with a file. The daemon copies it into the worktree and names it in the message.
    pub(super) fn words_with_file(&self, asked: &Asked, said: &Said, file: &Attached) -> Dealt {
        if self.answers(asked, said)?.is_some() {
            return self.reply(asked, words::FILE_IS_NO_ANSWER);
        }
        self.with_current(asked, |session| {
            let path = match self.fetched(asked, file) {
                Ok(path) => path,
                Err(why) => return self.tell_unfetched(asked, &why),
            };
            let text =
                if said.text.is_empty() { words::only_a(file.kind) } else { said.text.as_str() };
            self.send_words(asked, &session, text, vec![crate::home::text(&path)])?;
            self.its.inbox.forget(asked.update);
            Ok(())
        })
    }

    /// Something spoken: its words are the message.
    pub(super) fn voice(&self, asked: &Asked, said: &Said, file: &Attached) -> Dealt {
        // A repeat must say the same: a program may hear other words the second time.
        let known = self.store().look().update(asked.update)?;
        let text = match known.and_then(|update| update.heard) {
            Some(text) => text,
            None => match self.transcribe(asked, file) {
                Ok(text) => {
                    let text = [said.text.as_str(), text.as_str()].join("\n").trim().to_owned();
                    let say = Say::text(asked.place, Lane::Reply, words::heard(&text));
                    self.change(|change| {
                        change.hear(asked.update, &text)?;
                        say.put(change, asked.user)
                    })?;
                    text
                }
                Err(told) => return told,
            },
        };
        self.its.inbox.forget(asked.update);
        self.plain_words(asked, said, &text)
    }

    /// The words of a recording; otherwise what was told instead.
    fn transcribe(&self, asked: &Asked, file: &Attached) -> Result<String, Dealt> {
        if !self.its.voice.is_set() {
            return Err(self.reply(asked, format!("{} Nothing was sent.", Unheard::NoCommand)));
        }
        let path = self.fetched(asked, file).map_err(|why| self.tell_unfetched(asked, &why))?;
        self.its.voice.hear(&path).map_err(|why| {
            let text = format!("{why} Nothing was sent.");
            match why {
                Unheard::Failed { .. } => self.offer_again(asked, text),
                Unheard::NoCommand | Unheard::Nothing => self.reply(asked, text),
            }
        })
    }

    /// Where the file of an update lies. One that lies there already is not asked for again.
    fn fetched(&self, asked: &Asked, file: &Attached) -> Result<PathBuf, Unfetched> {
        let name = name_of(file);
        if let Some(path) = self.its.inbox.get(asked.update, &name) {
            return Ok(path);
        }
        let most = self.its.channel.file_bytes_max();
        if let Some(bytes) = file.bytes.filter(|bytes| *bytes > most) {
            return Err(Unfetched::TooLarge { bytes, most });
        }
        let bytes = self.fetch(&file.id).map_err(Unfetched::Network)?;
        self.its.inbox.put(asked.update, &name, &bytes).map_err(Unfetched::Disk)
    }

    fn fetch(&self, file: &str) -> Result<Vec<u8>, ChannelFault> {
        for pause in PAUSES {
            let fault = match self.its.channel.fetch(file) {
                Ok(bytes) => return Ok(bytes),
                Err(fault) => fault,
            };
            let ban = if let ChannelFault::TooMany(secs) = fault { Some(secs) } else { None };
            let is_away = matches!(fault, ChannelFault::Unreachable(_) | ChannelFault::Server(_));
            (self.its.rest)(match ban {
                Some(secs) if secs <= BAN_SECS_MAX => Duration::from_secs(secs.max(1)),
                None if is_away => pause,
                Some(_) | None => return Err(fault),
            });
        }
        self.its.channel.fetch(file)
    }

    fn tell_unfetched(&self, asked: &Asked, why: &Unfetched) -> Dealt {
        let why = match why {
            Unfetched::TooLarge { bytes, most } => {
                return self.reply(asked, words::too_large(*bytes, *most));
            }
            Unfetched::Network(fault) => format!("fetched: {fault}"),
            Unfetched::Disk(fault) => format!("written: {fault}"),
        };
        self.offer_again(asked, format!("The file was not {why}. Nothing was sent."))
    }

    /// Nothing was done with an update; it can be tried once more by a button.
    pub(super) fn offer_again(&self, asked: &Asked, text: String) -> Dealt {
        let session = self.meant(asked)?;
        self.offer(asked, session, (Text::plain(text), "Try again"))
    }
}
