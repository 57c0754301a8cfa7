//! Who may use the page and the API: devices that were paired, tokens for scripts, codes that wait.

mod live;
mod store;

pub(crate) use live::Devices;
pub(crate) use store::{Store, StoreFault};

use crate::secret;
use glis_wire::call::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;

/// How long a pairing code is good for: long enough to walk to a phone, too short to be found later.
const CODE_SECS: i64 = 10 * 60;
/// 128 bits.
const CODE_CHARS: usize = 32;
/// More codes than this at once are a script's mistake; the oldest goes.
const CODES_MAX: usize = 16;
/// A link stays in a history or a chat for long: so many that were used or became too old are still known as such.
const SPENT_MAX: usize = 64;
/// Longer names would not fit where they are shown.
const NAME_CHARS_MAX: usize = 64;
/// Enough to tell the pages of one machine apart. It is no secret: the server tells it to whoever asks.
const HOST_CHARS: usize = 4;
const DAY_SECS: i64 = 24 * 60 * 60;
/// More servers of one home do not run at once; the address of the oldest is forgotten.
const URLS_MAX: usize = 8;
/// A secret that was not used for so long is in a browser that nobody uses.
const UNUSED_SECS_MAX: i64 = 30 * DAY_SECS;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Book {
    /// The name that the page has on this machine. It stays, and bookmarks and devices with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// Where the page was served, for links and QR codes, the latest last.
    #[serde(default)]
    pub(crate) urls: Vec<String>,
    /// What the server proves itself by to the devices that it has paired. It lets nobody in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server_secret: Option<String>,
    #[serde(default)]
    pub(crate) devices: Vec<Device>,
    /// Codes that no device has used yet.
    #[serde(default)]
    codes: Vec<Code>,
    /// The hashes of codes that were good once, the latest last.
    #[serde(default)]
    spent: Vec<String>,
    /// Wrong codes since the last right one; there may be almost twice as many, since not each one is written.
    #[serde(default)]
    pub(crate) wrong: u32,
}

/// A device or a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Device {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) scope: Scope,
    /// Since when, RFC 3339.
    pub(crate) since: String,
    /// When it last came, RFC 3339, to the day: it is not written each time. None if it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_used: Option<String>,
    hash: String,
}

impl Device {
    /// What nobody can make for this device who does not know that secret.
    pub(crate) fn sign(&self, secret: &str) -> String {
        secret::hash(&format!("{secret} {} {}", self.id, self.hash))
    }

    /// Whether it has to be paired again. Whoever has a token keeps it for when it is needed.
    pub(crate) fn has_expired(&self, now: i64) -> bool {
        match self.kind {
            Kind::Cookie => true,
            Kind::Browser => self.unused_secs(now) > UNUSED_SECS_MAX,
            Kind::Token => false,
        }
    }

    /// Whether its last use is too long ago to be told to the day.
    pub(crate) fn is_to_be_noted(&self, now: i64) -> bool {
        self.last_used.is_none() || self.unused_secs(now) >= DAY_SECS
    }

    /// How long ago it last came, or was made. A time that cannot be read is that of no device of ours.
    fn unused_secs(&self, now: i64) -> i64 {
        let last = self.last_used.as_ref().unwrap_or(&self.since).parse::<jiff::Timestamp>();
        last.map_or(i64::MAX, |last| now.saturating_sub(last.as_second()))
    }
}

/// What who asks is told of itself.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeviceView {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) scope: Scope,
}

/// It is known no more.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Forgotten {
    /// Its name.
    pub(crate) forgotten: String,
}

/// How it proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// By a cookie, as older versions had it. A browser sends one to every port of its name, so it counts no more.
    #[serde(rename = "device")]
    Cookie,
    /// By a secret that its browser keeps for the page alone.
    Browser,
    /// By a bearer token.
    Token,
}

/// A device that was paired, with what only its browser is told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Paired {
    pub(crate) device: Device,
    pub(crate) secret: String,
    /// What the server proves itself by to this device.
    pub(crate) server_key: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Code {
    hash: String,
    name: String,
    scope: Scope,
    /// Unix time at which it is no good any more.
    until: i64,
}

/// Why a change was not made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// There is one of this name.
    #[error("there is a device or token `{0}` already")]
    NameTaken(String),
    /// Names are shown in one line.
    #[error("a name has 1 to {NAME_CHARS_MAX} characters, none of them a control character")]
    BadName,
    /// This code was never given out, or so long ago that it is forgotten.
    #[error("this code is not valid: it is too old, or was mistyped")]
    WrongCode,
    /// It was given out, and is no good any more. Who has it knows no secret.
    #[error("this link was used already, or is more than {} minutes old: each link pairs one device", CODE_SECS / 60)]
    SpentCode,
    /// There is no random number to be had.
    #[error("no random number: {0}")]
    NoRandom(String),
}

impl From<io::Error> for Refused {
    fn from(fault: io::Error) -> Self {
        Self::NoRandom(fault.to_string())
    }
}

impl Book {
    /// The name of the page on this machine; made when it is first needed.
    pub(crate) fn host(&mut self) -> Result<String, Refused> {
        if let Some(host) = &self.host {
            return Ok(host.clone());
        }
        let letters: String = secret::fresh()?.chars().take(HOST_CHARS).collect();
        Ok(self.host.insert(format!("glis-{letters}.localhost")).clone())
    }

    /// Notes where the page is served.
    pub(crate) fn note_url(&mut self, url: String) {
        self.urls.retain(|known| *known != url);
        self.urls.push(url);
        let over = self.urls.len().saturating_sub(URLS_MAX);
        self.urls.drain(..over);
    }

    /// What the server proves itself by to this device: no other one can be told by it that it is the server. None if
    /// nobody was ever to be paired.
    pub(crate) fn server_key(&self, id: &str) -> Option<String> {
        self.server_secret.as_ref().map(|secret| server_key(secret, id))
    }

    /// What all such keys are made of; made when it is first needed.
    fn server_secret(&mut self) -> Result<String, Refused> {
        if let Some(secret) = &self.server_secret {
            return Ok(secret.clone());
        }
        Ok(self.server_secret.insert(secret::fresh()?).clone())
    }

    /// Makes a code that one device can be paired with, once.
    pub(crate) fn offer(&mut self, now: i64, name: &str, scope: Scope) -> Result<String, Refused> {
        self.check_name(name)?;
        self.drop_old(now);
        self.server_secret()?;
        if self.codes.len() >= CODES_MAX {
            let oldest = self.codes.remove(0);
            self.spend(oldest.hash);
        }
        // Half of it cannot be guessed either, and its QR code is easier to read.
        let code: String = secret::fresh()?.chars().take(CODE_CHARS).collect();
        let (name, hash) = (name.to_owned(), secret::hash(&code));
        self.codes.push(Code { hash, name, scope, until: now + CODE_SECS });
        Ok(code)
    }

    /// Exchanges a code for a device and its secret. The code is used up.
    pub(crate) fn redeem(&mut self, now: i64, code: &str) -> Result<Paired, Refused> {
        self.drop_old(now);
        // Opening an old link again is no guess: it does not count.
        if self.spent.iter().any(|known| secret::is_hash_of(known, code)) {
            return Err(Refused::SpentCode);
        }
        let found = self.codes.iter().position(|known| secret::is_hash_of(&known.hash, code));
        let found = found.ok_or(Refused::WrongCode)?;
        let Code { name, scope, hash, .. } = self.codes.remove(found);
        self.spend(hash);
        self.wrong = 0;
        let name = self.free_name(name);
        let (device, secret) = self.add(now, Kind::Browser, name, scope)?;
        let server_key = server_key(&self.server_secret()?, &device.id);
        Ok(Paired { device, secret, server_key })
    }

    /// Codes that are too old are no good any more.
    fn drop_old(&mut self, now: i64) {
        let (good, old): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.codes).into_iter().partition(|code| code.until > now);
        self.codes = good;
        for code in old {
            self.spend(code.hash);
        }
    }

    fn spend(&mut self, hash: String) {
        self.spent.push(hash);
        let over = self.spent.len().saturating_sub(SPENT_MAX);
        self.spent.drain(..over);
    }

    /// Makes a token for a script.
    pub(crate) fn token(
        &mut self,
        now: i64,
        name: &str,
        scope: Scope,
    ) -> Result<(Device, String), Refused> {
        self.check_name(name)?;
        self.add(now, Kind::Token, name.to_owned(), scope)
    }

    /// Takes a device or token away, by its name or id.
    pub(crate) fn revoke(&mut self, given: &str) -> Option<Device> {
        let by_name = self.devices.iter().position(|device| device.name == given);
        let found = by_name.or_else(|| self.devices.iter().position(|device| device.id == given));
        found.map(|at| self.devices.remove(at))
    }

    /// Notes that a device was used.
    pub(crate) fn note_use(&mut self, now: i64, id: &str) {
        if let Some(device) = self.devices.iter_mut().find(|device| device.id == id) {
            device.last_used = Some(rfc3339(now));
        }
    }

    /// Whose secret this is. Every one is compared, so that time tells nothing.
    pub(crate) fn owner(&self, kind: Kind, secret: &str) -> Option<&Device> {
        let (mut owner, hash) = (None, secret::hash(secret));
        for device in &self.devices {
            if secret::are_same(&device.hash, &hash) && device.kind == kind {
                owner = Some(device);
            }
        }
        owner
    }

    /// Whether this device is still there, with the same right.
    pub(crate) fn still_has(&self, id: &str, scope: Scope) -> bool {
        self.devices.iter().any(|device| device.id == id && device.scope == scope)
    }

    fn add(
        &mut self,
        now: i64,
        kind: Kind,
        name: String,
        scope: Scope,
    ) -> Result<(Device, String), Refused> {
        let secret = format!("glis_{}", secret::fresh()?);
        let id: String = secret::fresh()?.chars().take(8).collect();
        let hash = secret::hash(&secret);
        let device = Device { id, name, kind, scope, since: rfc3339(now), last_used: None, hash };
        self.devices.push(device.clone());
        Ok((device, secret))
    }

    fn check_name(&self, name: &str) -> Result<(), Refused> {
        let chars = name.chars().count();
        if chars == 0 || chars > NAME_CHARS_MAX || name.chars().any(char::is_control) {
            return Err(Refused::BadName);
        }
        if self.devices.iter().any(|device| device.name == name) {
            return Err(Refused::NameTaken(name.to_owned()));
        }
        Ok(())
    }

    /// The name, with a number if it was taken while its code waited.
    fn free_name(&self, name: String) -> String {
        let taken = |name: &str| self.devices.iter().any(|device| device.name == name);
        if !taken(&name) {
            return name;
        }
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        numbered.into_iter().find(|name| !taken(name)).unwrap_or(name)
    }
}

fn server_key(secret: &str, id: &str) -> String {
    secret::hash(&format!("server {secret} {id}"))
}

fn rfc3339(now: i64) -> String {
    jiff::Timestamp::from_second(now).map_or_else(|_| String::new(), |at| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_800_000_000;

    #[test]
    fn a_code_pairs_one_device_once() {
        let mut book = Book::default();
        let code = book.offer(NOON, "phone", Scope::Send).unwrap();
        let Paired { device, secret, .. } = book.redeem(NOON + 1, &code).unwrap();
        assert_eq!((device.name.as_str(), device.scope), ("phone", Scope::Send));
        assert_eq!(book.owner(Kind::Browser, &secret), Some(&device));
        assert_eq!(book.owner(Kind::Token, &secret), None);
        assert_eq!(book.redeem(NOON + 2, &code), Err(Refused::SpentCode));
    }

    #[test]
    fn a_link_that_was_used_is_no_wrong_code() {
        let mut book = Book::default();
        let code = book.offer(NOON, "phone", Scope::Send).unwrap();
        book.redeem(NOON, &code).unwrap();
        assert_eq!(book.redeem(NOON, &code), Err(Refused::SpentCode));
        for number in 0..SPENT_MAX {
            let other = book.offer(NOON, &format!("tablet {number}"), Scope::Send).unwrap();
            book.redeem(NOON, &other).unwrap();
        }
        assert_eq!(book.spent.len(), SPENT_MAX);
        assert_eq!(book.redeem(NOON, &code), Err(Refused::WrongCode));
    }

    #[test]
    fn a_code_is_good_for_ten_minutes() {
        let mut book = Book::default();
        let code = book.offer(NOON, "phone", Scope::Watch).unwrap();
        assert_eq!(book.clone().redeem(NOON + CODE_SECS, &code), Err(Refused::SpentCode));
        assert!(book.redeem(NOON + CODE_SECS - 1, &code).is_ok());
    }

    #[test]
    fn a_device_that_is_not_used_for_a_month_expires_and_a_token_does_not() {
        let mut book = Book::default();
        let code = book.offer(NOON, "phone", Scope::Watch).unwrap();
        let phone = book.redeem(NOON, &code).unwrap().device;
        let (script, _) = book.token(NOON, "ci", Scope::Watch).unwrap();
        let end = NOON + UNUSED_SECS_MAX;
        assert!(!phone.has_expired(end) && phone.has_expired(end + 1));
        assert!(!script.has_expired(end + 1));
        assert!(phone.is_to_be_noted(NOON));
        book.note_use(end, &phone.id);
        let used = book.devices.first().unwrap();
        assert!(!used.has_expired(end + UNUSED_SECS_MAX));
        assert!(!used.is_to_be_noted(end + DAY_SECS - 1) && used.is_to_be_noted(end + DAY_SECS));
    }

    #[test]
    fn the_file_of_an_older_version_is_taken_over() {
        let hash = secret::hash("glis_x");
        let kept = serde_json::json!({
            "url": "http://127.0.0.1:7717/",
            "devices": [
                {
                    "id": "1", "name": "ci", "kind": "token", "scope": "watch",
                    "since": "2026-11-17T09:00:00Z", "hash": hash,
                },
                {
                    "id": "2", "name": "desk", "kind": "device", "scope": "manage",
                    "since": "2027-01-15T08:00:00Z", "hash": secret::hash("glis_y"),
                },
            ],
            "codes": [], "spent": [], "wrong": 3, "silent_until": 1_800_000_000,
        });
        let mut book: Book = serde_json::from_value(kept).unwrap();
        assert_eq!(book.owner(Kind::Token, "glis_x").unwrap().name, "ci");
        assert_eq!(book.owner(Kind::Browser, "glis_y"), None, "what was a cookie counts no more");
        assert!(book.devices.iter().all(|one| one.has_expired(NOON) == (one.name == "desk")));
        let code = book.offer(NOON, "phone", Scope::Watch).unwrap();
        assert!(book.redeem(NOON, &code).is_ok(), "its silence counts no more");
    }

    #[test]
    fn the_page_keeps_its_name() {
        let mut book = Book::default();
        let host = book.host().unwrap();
        let letters = host.strip_prefix("glis-").and_then(|host| host.strip_suffix(".localhost"));
        assert_eq!(letters.map(str::len), Some(HOST_CHARS));
        assert_eq!(book.host().unwrap(), host);
    }

    #[test]
    fn who_is_revoked_is_not_known_any_more() {
        let mut book = Book::default();
        let (one, first) = book.token(NOON, "ci", Scope::Watch).unwrap();
        let (two, second) = book.token(NOON, "cron", Scope::Manage).unwrap();
        assert_eq!(book.token(NOON, "ci", Scope::Watch), Err(Refused::NameTaken("ci".to_owned())));
        assert_eq!(book.revoke(&one.id), Some(one.clone()));
        assert_eq!(book.revoke("ci"), None);
        assert_eq!(book.owner(Kind::Token, &first), None);
        assert_eq!(book.owner(Kind::Token, &second), Some(&two));
        assert!(!book.still_has(&one.id, Scope::Watch) && book.still_has(&two.id, Scope::Manage));
    }

    #[test]
    fn nothing_that_is_kept_is_a_secret() {
        let mut book = Book::default();
        let code = book.offer(NOON, "phone", Scope::Watch).unwrap();
        let (_, token) = book.token(NOON, "ci", Scope::Watch).unwrap();
        let kept = serde_json::to_string(&book).unwrap();
        assert!(!kept.contains(&code) && !kept.contains(token.trim_start_matches("glis_")));
    }

    #[test]
    fn a_name_is_one_line_and_its_own() {
        let mut book = Book::default();
        for bad in ["", "a\nb", &"x".repeat(NAME_CHARS_MAX + 1)] {
            assert_eq!(book.offer(NOON, bad, Scope::Watch), Err(Refused::BadName), "{bad:?}");
        }
        let code = book.offer(NOON, "phone", Scope::Watch).unwrap();
        let same = book.offer(NOON, "phone", Scope::Watch).unwrap();
        assert_eq!(book.redeem(NOON, &code).unwrap().device.name, "phone");
        assert_eq!(book.redeem(NOON, &same).unwrap().device.name, "phone-2");
    }
}
