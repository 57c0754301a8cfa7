//! `web pair|devices|revoke|token`: they change the file of the devices, whether a server runs or not.

use crate::devices::{self, Book, Device, Refused, Store, StoreFault};
use crate::hosts::{LOOPBACKS, USUAL};
use crate::{proof, secret};
use glis_verbs::{Complaint, Kind};
use glis_wire::call::Scope;
use glis_wire::home::Home;
use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};
use serde_json::{Value, json};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A server on this machine is connected to at once.
const REACH_TIME: Duration = Duration::from_millis(500);
/// And answers soon, also where much else runs.
const ANSWER_TIME: Duration = Duration::from_secs(3);
/// More than the proof and its headers is no answer of ours.
const ANSWER_BYTES_MAX: u64 = 8 * 1024;
/// What asks for a proof here is no device.
const NO_DEVICE: &str = "pair";

/// What is printed: for a script, and for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// For a script.
    pub document: Value,
    /// For a person.
    pub words: String,
}

/// Makes a link that pairs one device, and shows it as a QR code as well.
pub fn pair(home: &Home, name: &str, scope: Scope) -> Result<Said, Complaint> {
    let (code, host, book) = store(home).change(|book| {
        let code = book.offer(now(), name, scope)?;
        Ok((code, book.host()?, book.clone()))
    })?;
    let (url, reach) = reachable(&host, &book);
    // The fragment is not sent to any server, so no log of a proxy has it.
    let link = format!("{url}#pair={code}");
    let drawn = QrCode::with_error_correction_level(&link, EcLevel::L).map(|code| {
        code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build()
    });
    let (may, drawn) = (scope.word(), drawn.unwrap_or_default());
    let mut words = format!(
        "{drawn}\n{link}\n\nOpens the page as `{name}`, which may `{may}`. Good once, for ten minutes."
    );
    if scope == Scope::Manage {
        words.push_str(
            "\nThat is everything, typing into terminals included; `--scope watch`, `send` or `answer` is less.",
        );
    }
    let places = places(&url);
    if !places.is_empty() && places.iter().all(|place| place.ip().is_loopback()) {
        words.push_str(
            "\nOnly a browser on this machine can open it. Another one, such as a phone's, comes by TLS: \
             `glis help web`.",
        );
    }
    if reach == Reach::Nobody {
        words.push_str("\nNobody answers there yet: run `glis web` first.");
    }
    let answers = reach != Reach::Nobody;
    let document = json!({"url": link, "name": name, "scope": may, "answers": answers});
    Ok(Said { document, words })
}

/// Whether somebody answers at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Answered,
    Nobody,
    /// It is the name of a proxy or a certificate, which need not be reached from here.
    Unknown,
}

/// Where the page is: the latest of its servers that answers, or else where it was last served.
fn reachable(host: &str, book: &Book) -> (String, Reach) {
    let port = USUAL.rsplit(':').next().unwrap_or_default();
    let usual = format!("http://{host}:{port}/");
    let last = book.urls.last().unwrap_or(&usual);
    match reach(last, book) {
        Reach::Nobody => {}
        known @ (Reach::Answered | Reach::Unknown) => return (last.clone(), known),
    }
    let mut others = book.urls.iter().rev().skip(1).chain([&usual]);
    let answers = others.find(|url| reach(url, book) == Reach::Answered);
    answers.map_or((last.clone(), Reach::Nobody), |url| (url.clone(), Reach::Answered))
}

fn reach(url: &str, book: &Book) -> Reach {
    let places = places(url);
    let answers = |place: &SocketAddr| match url.strip_prefix("http://") {
        // Another program may have the port by now, and is not to get the code of a link.
        Some(host) => is_ours(*place, host.trim_end_matches('/'), book).unwrap_or(false),
        None => TcpStream::connect_timeout(place, REACH_TIME).is_ok(),
    };
    match places.as_slice() {
        [] => Reach::Unknown,
        places if places.iter().any(answers) => Reach::Answered,
        _ => Reach::Nobody,
    }
}

/// Whether the server there proves that it is one of this home.
fn is_ours(place: SocketAddr, host: &str, book: &Book) -> io::Result<bool> {
    let nonce = secret::fresh()?;
    let mut stream = TcpStream::connect_timeout(&place, REACH_TIME)?;
    stream.set_read_timeout(Some(ANSWER_TIME))?;
    let target = format!("{}?device={NO_DEVICE}&nonce={nonce}", proof::PATH);
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer)?;
    let wanted = proof::of(book, &format!("http://{host}"), NO_DEVICE, &nonce);
    Ok(wanted.is_some_and(|proof| answer.contains(&proof)))
}

/// Where an address leads; nowhere that is known here if it has a name that is not the page's own.
fn places(url: &str) -> Vec<SocketAddr> {
    let place = url.split("://").nth(1).unwrap_or_default().trim_end_matches('/');
    if let Ok(place) = place.parse() {
        return vec![place];
    }
    let (name, port) = place.rsplit_once(':').unwrap_or((place, "80"));
    let port = port.parse().ok().filter(|_| name.ends_with(".localhost"));
    port.map_or_else(Vec::new, |port| LOOPBACKS.map(|ip| SocketAddr::new(ip, port)).to_vec())
}

pub fn devices(home: &Home) -> Result<Said, Complaint> {
    let Book { devices, wrong, .. } = store(home).read()?;
    let document = devices.iter().map(document).collect();
    let line = |device: &Device| {
        let Device { name, scope, since, last_used, .. } = device;
        let used =
            last_used.as_ref().map_or("no use noted".to_owned(), |at| format!("last used {at}"));
        let end = match device.kind {
            devices::Kind::Cookie => ", paired by an older version: pair it again",
            devices::Kind::Browser if device.has_expired(now()) => ", expired: pair it again",
            devices::Kind::Browser | devices::Kind::Token => "",
        };
        let kind = word(device.kind);
        format!("{name}  {}  {kind}  since {since}  {used}{end}", scope.word())
    };
    let mut lines: Vec<_> = devices.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("no devices; `glis web pair` lets one in".to_owned());
    }
    if wrong > 0 {
        lines
            .push(format!("wrong pairing codes since the last device was paired: {wrong} or more"));
    }
    Ok(Said { document, words: lines.join("\n") })
}

/// Lets a device or a script in no more.
pub fn revoke(home: &Home, given: &str) -> Result<Said, Complaint> {
    let gone = store(home).change(|book| Ok(book.revoke(given)))?;
    let Some(device) = gone else {
        let message = format!("there is no device or token `{given}`");
        return Err(Complaint::new(Kind::NotFound, message).hint("`glis web devices` lists them"));
    };
    let words = format!("`{}` is not let in any more", device.name);
    Ok(Said { document: document(&device), words })
}

/// Makes a token for a script. It is shown this once.
pub fn token(home: &Home, name: &str, scope: Scope) -> Result<Said, Complaint> {
    let (device, secret) = store(home).change(|book| book.token(now(), name, scope))?;
    let mut document = document(&device);
    document["token"] = json!(secret);
    Ok(Said { document, words: secret })
}

/// What is told of a device: nothing that it proves itself by.
pub(crate) fn document(device: &Device) -> Value {
    let Device { id, name, kind, scope, since, last_used, .. } = device;
    json!({
        "id": id, "name": name, "kind": word(*kind), "scope": scope.word(), "since": since,
        "last_used": last_used, "expired": device.has_expired(now()),
    })
}

fn word(kind: devices::Kind) -> &'static str {
    match kind {
        devices::Kind::Cookie | devices::Kind::Browser => "device",
        devices::Kind::Token => "token",
    }
}

fn store(home: &Home) -> Store {
    Store::new(&home.state)
}

pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// What a person is told of a fault of the file.
impl From<StoreFault> for Complaint {
    fn from(fault: StoreFault) -> Self {
        let (kind, hint) = match &fault {
            StoreFault::Refused(Refused::BadName) => (Kind::Usage, "choose another name"),
            StoreFault::Refused(Refused::NameTaken(_)) => {
                (Kind::Refused, "choose another name, or `glis web revoke` that one")
            }
            StoreFault::Refused(Refused::SpentCode) => {
                (Kind::NotPaired("used_code"), "`glis web pair` makes another")
            }
            StoreFault::Refused(Refused::WrongCode) => {
                (Kind::NotPaired("wrong_code"), "`glis web pair` makes another")
            }
            StoreFault::Refused(Refused::NoRandom(_)) => (Kind::Failed, "try again"),
            StoreFault::Io { .. } => {
                (Kind::Failed, "the state folder has to be one that you can write to")
            }
            StoreFault::NotOurs(_) => {
                (Kind::Failed, "make it yours alone: `chmod go=` and `chown`")
            }
            StoreFault::Damaged { .. } => {
                (Kind::Failed, "move it away: then no device is known, and each is paired again")
            }
        };
        Self::new(kind, fault.to_string()).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_shown_once_and_a_link_has_its_code_in_the_fragment() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::under(folder.path());
        let made = token(&home, "ci", Scope::Send).unwrap();
        assert!(made.document["token"].as_str().unwrap().starts_with("glis_"));
        assert_eq!(made.words, made.document["token"].as_str().unwrap());
        let listed = devices(&home).unwrap();
        assert_eq!(listed.document[0]["name"], "ci");
        assert!(listed.document[0].get("token").is_none() && !listed.words.contains(&made.words));
        assert_eq!(token(&home, "ci", Scope::Send).unwrap_err().kind, Kind::Refused);
        let link = pair(&home, "phone", Scope::Watch).unwrap();
        let url = link.document["url"].as_str().unwrap();
        assert!(url.starts_with("http://glis-") && url.contains(".localhost:7717/#pair="), "{url}");
        assert!(link.words.contains("Only a browser on this machine"), "{}", link.words);
        assert!(link.words.contains('\u{2588}'), "a QR code");
        assert_eq!(revoke(&home, "ci").unwrap().document["name"], "ci");
        assert_eq!(revoke(&home, "ci").unwrap_err().kind, Kind::NotFound);
    }
}
