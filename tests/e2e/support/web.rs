//! A server of a house, and what speaks HTTP to it word by word: no library corrects what a test means.

use crate::support::described;
use crate::support::house::{House, Outcome, kill_and_wait};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Longer than anything of ours takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Web {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Where the page is, with its own name.
    pub(crate) url: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Outcome<Value> {
        serde_json::from_str(&self.body).map_err(|fault| format!("{fault}: {self:?}").into())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Web {
    /// A server on a port of its own.
    pub(crate) fn start(house: &House) -> Outcome<Self> {
        Self::start_at(house, "127.0.0.1:0")
    }

    pub(crate) fn start_at(house: &House, place: &str) -> Outcome<Self> {
        Self::start_as(house, "http", &["--listen", place])
    }

    /// A server that was given these arguments, and has to print a URL of this scheme.
    pub(crate) fn start_as(house: &House, scheme: &str, args: &[&str]) -> Outcome<Self> {
        let mut command = house.glis();
        let mut child = command.arg("web").args(args).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut line)?;
        let told = line.trim().strip_suffix(')').and_then(|line| line.split_once(" ("));
        let told = told.filter(|(url, _)| url.starts_with(&format!("{scheme}://")));
        let (url, address) = told.ok_or_else(|| format!("no URL: {line:?}"))?;
        Ok(Self { child, address: address.parse()?, url: url.to_owned() })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it as a crash would.
    pub(crate) fn kill(mut self) -> Outcome {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// The `Host` header of its page.
    pub(crate) fn host(&self) -> String {
        self.url.split_once("://").map(|(_, host)| host.to_owned()).unwrap_or_default()
    }

    /// Sends a head and a body as they are, and returns the stream.
    pub(crate) fn open(
        &self,
        line: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Outcome<TcpStream> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut text = format!("{line} HTTP/1.1\r\n");
        for (name, value) in headers {
            write!(text, "{name}: {value}\r\n")?;
        }
        if !body.is_empty() {
            let length = body.len();
            write!(text, "Content-Type: application/json\r\nContent-Length: {length}\r\n")?;
        }
        text.push_str("\r\n");
        text.push_str(body);
        stream.write_all(text.as_bytes())?;
        Ok(stream)
    }

    /// Asks, and reads the whole answer, which is as the API is described.
    pub(crate) fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Outcome<Answer> {
        let close = [headers, &[("Connection", "close")]].concat();
        let stream = self.open(line, &close, body)?;
        let mut reader = BufReader::new(stream);
        let (status, headers) = head(&mut reader)?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        let answer = Answer { status, headers, body: String::from_utf8(bytes)? };
        if line.contains(" /api/v1/")
            && answer.header("content-type") == Some("application/json")
            && !answer.body.is_empty()
            && let Some(fault) = described::fault(line, status, &answer.json()?)
        {
            return Err(fault.into());
        }
        Ok(answer)
    }

    pub(crate) fn get(&self, path: &str, token: &str) -> Outcome<Answer> {
        let (host, (name, credential)) = (self.host(), credential(token));
        let headers = [("Host", host.as_str()), (name, credential.as_str())];
        self.ask(&format!("GET {path}"), &headers, "")
    }

    pub(crate) fn post(&self, path: &str, token: &str, body: &Value) -> Outcome<Answer> {
        self.post_with(path, token, body, &[])
    }

    pub(crate) fn post_with(
        &self,
        path: &str,
        token: &str,
        body: &Value,
        more: &[(&str, &str)],
    ) -> Outcome<Answer> {
        let (host, (name, credential)) = (self.host(), credential(token));
        let headers = [("Host", host.as_str()), (name, credential.as_str()), ("X-Glis", "1")];
        self.ask(&format!("POST {path}"), &[&headers, more].concat(), &body.to_string())
    }

    /// Pairs a device with the code of a link.
    pub(crate) fn pair(&self, link: &str) -> Outcome<Answer> {
        let code = link.split_once("#pair=").ok_or("no code")?.1;
        self.bring("/pair", &json!({"code": code}))
    }

    /// Asks for a ticket, as the page does for the secret that it was given.
    pub(crate) fn ticket(&self, secret: &str) -> Outcome<Answer> {
        self.bring("/ticket", &json!({"secret": secret}))
    }

    /// Brings something as the page does that is not let in yet.
    fn bring(&self, path: &str, body: &Value) -> Outcome<Answer> {
        let host = self.host();
        self.ask(&format!("POST {path}"), &[("Host", &host), ("X-Glis", "1")], &body.to_string())
    }

    /// The events from a number on.
    pub(crate) fn events(&self, token: &str, last: Option<u64>) -> Outcome<Events> {
        let (host, bearer) = (self.host(), format!("Bearer {token}"));
        let last = last.map(|last| last.to_string());
        let mut headers = vec![
            ("Host", host.as_str()),
            ("Authorization", bearer.as_str()),
            ("Connection", "close"),
        ];
        headers.extend(last.as_ref().map(|last| ("Last-Event-ID", last.as_str())));
        let mut reader = BufReader::new(self.open("GET /api/v1/events", &headers, "")?);
        let (status, headers) = head(&mut reader)?;
        if status != 200 {
            return Err(format!("{status}: {headers:?}").into());
        }
        Ok(Events { reader })
    }
}

/// The header of a script's token or of a page's ticket.
pub(crate) fn credential(given: &str) -> (&'static str, String) {
    let is_ticket = given.contains('.');
    if is_ticket {
        return ("X-Glis-Ticket", given.to_owned());
    }
    ("Authorization", format!("Bearer {given}"))
}

/// A server that takes nothing for this long waits for its own words to be taken.
const STUCK: Duration = Duration::from_secs(5);

/// A terminal as a page has it: a socket, and the rows that its frames have told.
pub(crate) struct Terminal {
    reader: BufReader<TcpStream>,
    pub(crate) screen: Shown,
}

/// What a page keeps of a terminal, also while it is not connected.
#[derive(Default)]
pub(crate) struct Shown {
    /// The text of each row.
    pub(crate) rows: Vec<String>,
    pub(crate) offset: u64,
    /// How many rows the last frame has told.
    pub(crate) told: usize,
}

impl Terminal {
    /// Opens it, of a page that has these rows already.
    pub(crate) fn open(web: &Web, session: &str, token: &str, screen: Shown) -> Outcome<Self> {
        let (host, bearer) = (web.host(), format!("Bearer {token}"));
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", bearer.as_str()),
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let offset = screen.offset;
        let has = if screen.rows.is_empty() { String::new() } else { format!("?offset={offset}") };
        let path = format!("GET /api/v1/sessions/{session}/terminal{has}");
        let mut reader = BufReader::new(web.open(&path, &headers, "")?);
        let (status, headers) = head(&mut reader)?;
        if status != 101 {
            return Err(format!("{status}: {headers:?}").into());
        }
        Ok(Self { reader, screen })
    }

    /// Says something, under a mask of zeros, which changes nothing.
    pub(crate) fn say(&mut self, said: &Value) -> Outcome {
        let text = said.to_string();
        let head = if let Ok(short @ ..126) = u8::try_from(text.len()) {
            vec![0x81, 0x80 | short]
        } else {
            let length = u64::try_from(text.len())?.to_be_bytes();
            [&[0x81, 0x80 | 127][..], &length].concat()
        };
        self.write(&[&head[..], &[0; 4], text.as_bytes()].concat())
    }

    /// Sends bytes as they are.
    /// Writes as long as it is taken.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Outcome {
        let stream = self.reader.get_mut();
        stream.set_write_timeout(Some(STUCK))?;
        Ok(stream.write_all(bytes)?)
    }

    /// Takes the next frame in. Whether it was one with rows.
    pub(crate) fn take(&mut self) -> Outcome<bool> {
        let frame: Value = serde_json::from_slice(&self.message()?)?;
        let Some(told) = frame["rows"].as_array() else { return Ok(false) };
        let count = frame["size"]["rows"].as_u64().ok_or("no size")?;
        let Shown { rows, offset, told: counted } = &mut self.screen;
        rows.resize(usize::try_from(count)?, String::new());
        for row in told {
            let at = usize::try_from(row[0].as_u64().ok_or("no number")?)?;
            let runs = row[1].as_array().into_iter().flatten().filter_map(|run| run[0].as_str());
            *rows.get_mut(at).ok_or("a row beyond the last")? = runs.collect();
        }
        (*offset, *counted) = (frame["offset"].as_u64().ok_or("no offset")?, told.len());
        Ok(true)
    }

    /// One message of the server. They are neither masked nor cut into parts.
    pub(crate) fn message(&mut self) -> Outcome<Vec<u8>> {
        let mut two = [0; 2];
        self.reader.read_exact(&mut two)?;
        let length = match two[1] {
            126 => {
                let mut length = [0; 2];
                self.reader.read_exact(&mut length)?;
                u64::from(u16::from_be_bytes(length))
            }
            127 => {
                let mut length = [0; 8];
                self.reader.read_exact(&mut length)?;
                u64::from_be_bytes(length)
            }
            short => u64::from(short),
        };
        let mut text = vec![0; usize::try_from(length)?];
        self.reader.read_exact(&mut text)?;
        Ok(text)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            drop(kill_and_wait(pid));
        }
        self.child.wait().ok();
    }
}

/// Status and headers, names in small letters.
pub(crate) fn head(reader: &mut BufReader<TcpStream>) -> Outcome<(u16, Vec<(String, String)>)> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| format!("no status: {line:?}"))?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    Ok((status, headers))
}

/// A stream of server-sent events.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
}

impl Events {
    /// The next event of the log; none when the stream ends. What is not of the log is passed over.
    pub(crate) fn next(&mut self) -> Outcome<Option<(u64, Value)>> {
        let (mut id, mut named) = (None, false);
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            // Lines that only tell how long the next piece is.
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.parse()?);
            } else if line.starts_with("event: ") {
                named = true;
            } else if let Some(text) = line.strip_prefix("data: ") {
                match id.take() {
                    Some(id) if !named => return Ok(Some((id, serde_json::from_str(text)?))),
                    Some(_) | None => named = false,
                }
            }
        }
    }

    /// Reads on until an event like this has come.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Outcome<(u64, Value)> {
        loop {
            let (seq, event) = self.next()?.ok_or("the stream ended")?;
            if wanted(&event) {
                return Ok((seq, event));
            }
        }
    }
}
