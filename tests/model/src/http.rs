//! HTTP/1.1 as far as agents use it: requests with a length or in chunks, answers whole or as a
//! stream of events.

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// A conversation of many megabytes is no conversation of a test.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
const HEAD_BYTES_MAX: u64 = 256 * 1024;

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// Reads the next request of a connection; `None` at its end. `send_body` is called when the client
/// waits for a word before it sends the body.
pub(crate) fn read(
    reader: &mut BufReader<impl io::Read>,
    send_body: impl FnOnce() -> io::Result<()>,
) -> io::Result<Option<Request>> {
    let mut head = reader.take(HEAD_BYTES_MAX);
    let Some(first) = line(&mut head)? else { return Ok(None) };
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(bad("the first line is no request"));
    };
    let mut request =
        Request { method: method.to_owned(), target: target.to_owned(), ..Request::default() };
    loop {
        let text = line(&mut head)?.ok_or_else(|| bad("the headers end too early"))?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| bad("a header has no colon"))?;
        request.headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    if request.header("expect").is_some_and(|what| what.eq_ignore_ascii_case("100-continue")) {
        send_body()?;
    }
    request.body = body(&request, reader)?;
    Ok(Some(request))
}

fn body(request: &Request, reader: &mut BufReader<impl io::Read>) -> io::Result<Vec<u8>> {
    if request.header("transfer-encoding").is_some_and(|how| how.contains("chunked")) {
        return chunks(reader);
    }
    let length = request.header("content-length").map_or(Ok(0), str::parse::<usize>);
    exactly(reader, length.map_err(|_| bad("the length of the body is no number"))?)
}

fn chunks(reader: &mut BufReader<impl io::Read>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let text = line(reader)?.ok_or_else(|| bad("the chunks end too early"))?;
        let size = text.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| bad("a chunk has no size"))?;
        if size == 0 {
            while line(reader)?.is_some_and(|trailer| !trailer.is_empty()) {}
            return Ok(body);
        }
        if body.len() + size > BODY_BYTES_MAX {
            return Err(bad("the body is too long"));
        }
        body.extend(exactly(reader, size)?);
        line(reader)?;
    }
}

fn exactly(reader: &mut BufReader<impl io::Read>, length: usize) -> io::Result<Vec<u8>> {
    if length > BODY_BYTES_MAX {
        return Err(bad("the body is too long"));
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    if reader.read_line(&mut text)? == 0 {
        return Ok(None);
    }
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The way back to the client.
pub(crate) struct Reply {
    stream: TcpStream,
    /// Whether the head of a stream went out already.
    begun: bool,
}

impl Reply {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, begun: false }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// One whole answer.
    pub(crate) fn json(
        &mut self,
        status: u16,
        headers: &[(&str, String)],
        body: &Value,
    ) -> io::Result<()> {
        let body = body.to_string();
        let headers: String =
            headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
        let (reason, length) = (reason(status), body.len());
        let head = format!(
            "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}\r\n"
        );
        self.stream.write_all(format!("{head}{body}").as_bytes())
    }

    /// An answer to a look without a body.
    pub(crate) fn head(&mut self) -> io::Result<()> {
        self.stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    }

    /// One event of a stream; the first one brings the head with it.
    pub(crate) fn event(&mut self, name: Option<&str>, data: &Value) -> io::Result<()> {
        let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        self.chunk(&format!("{name}data: {data}\n\n"))
    }

    /// A line of a stream that is no JSON.
    pub(crate) fn word(&mut self, word: &str) -> io::Result<()> {
        self.chunk(&format!("data: {word}\n\n"))
    }

    /// The proper end of a stream.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }

    fn chunk(&mut self, text: &str) -> io::Result<()> {
        const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
            cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
        let head = if std::mem::replace(&mut self.begun, true) { "" } else { HEAD };
        let length = text.len();
        self.stream.write_all(format!("{head}{length:x}\r\n{text}\r\n").as_bytes())
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        529 => "Overloaded",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> io::Result<Option<Request>> {
        read(&mut BufReader::new(text.as_bytes()), || Ok(()))
    }

    #[test]
    fn a_body_comes_by_length_or_in_chunks() {
        let whole = "POST /v1/x?a=b HTTP/1.1\r\nContent-Length: 4\r\nX-Y: z\r\n\r\nbody";
        let request = read_all(whole).unwrap().unwrap();
        assert_eq!((request.method.as_str(), request.path()), ("POST", "/v1/x"));
        assert_eq!(request.header("x-y"), Some("z"));
        assert_eq!(request.body, b"body");
        let pieces = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbod\r\n1;x=y\r\ny\r\n0\r\n\r\n";
        assert_eq!(read_all(pieces).unwrap().unwrap().body, b"body");
    }

    #[test]
    fn the_end_of_a_connection_is_no_fault_but_half_a_request_is() {
        assert_eq!(read_all("").unwrap(), None);
        for half in [
            "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nbody",
            "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            "POST / HTTP/1.1\r\nno colon\r\n\r\n",
            "POST\r\n\r\n",
            "GET / HTTP/1.1\r\n",
        ] {
            assert!(read_all(half).is_err(), "{half:?}");
        }
    }

    #[test]
    fn a_client_that_waits_for_a_word_gets_it() {
        let text = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx";
        let mut asked = false;
        let request = read(&mut BufReader::new(text.as_bytes()), || {
            asked = true;
            Ok(())
        });
        assert_eq!(request.unwrap().unwrap().body, b"x");
        assert!(asked);
    }
}
