//! HTTP/1.1 as far as the bot uses it.

use serde_json::{Value, json};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// A request that is longer is none of ours.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) kind: String,
    pub(crate) body: Vec<u8>,
}

/// The next request of a connection; `None` at its end.
pub(crate) fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut kind, mut length, mut chunked) = (String::new(), 0, false);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-type" => value.clone_into(&mut kind),
            "content-length" => length = value.parse().unwrap_or(0),
            "transfer-encoding" => chunked = value.contains("chunked"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
            let mut part = vec![0; size.min(BODY_BYTES_MAX)];
            reader.read_exact(&mut part)?;
            line.clear();
            reader.read_line(&mut line)?;
            if size == 0 {
                break;
            }
            body.extend(part);
        }
    } else {
        body = vec![0; usize::min(length, BODY_BYTES_MAX)];
        reader.read_exact(&mut body)?;
    }
    Ok(Some(Request { path, kind, body }))
}

/// The fields of a request's body, and the file in it.
pub(crate) fn fields(request: &Request) -> (Value, Option<(String, Vec<u8>)>) {
    let Some(boundary) = request.kind.split("boundary=").nth(1) else {
        return (serde_json::from_slice(&request.body).unwrap_or_default(), None);
    };
    let (mut fields, mut file) = (json!({}), None);
    let text = String::from_utf8_lossy(&request.body).into_owned();
    for part in text.split(&format!("--{boundary}")) {
        let Some((head, body)) = part.split_once("\r\n\r\n") else { continue };
        let body = body.strip_suffix("\r\n").unwrap_or(body);
        let named = |what: &str| {
            let from = head.split(&format!("{what}=\"")).nth(1)?;
            Some(from.split('"').next()?.to_owned())
        };
        // The name of the field comes first.
        let Some(name) = named("; name") else { continue };
        match named("filename") {
            Some(filename) => file = Some((filename, body.as_bytes().to_vec())),
            None => {
                fields[name] =
                    body.parse::<i64>().map_or_else(|_| json!(body), |number| json!(number));
            }
        }
    }
    (fields, file)
}

/// The bytes of a file.
pub(crate) fn write_file(stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    let length = bytes.len();
    let head = format!(
        "HTTP/1.1 200 Status\r\ncontent-type: application/octet-stream\r\ncontent-length: {length}\r\n\r\n"
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(bytes)?;
    stream.flush()
}

/// A whole answer, or half of one.
pub(crate) fn write(stream: &TcpStream, status: u16, body: &Value, half: bool) -> io::Result<()> {
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    let shown = if half { body.get(..length / 2).unwrap_or_default() } else { body.as_str() };
    let mut stream = stream;
    stream.write_all(format!("{head}{shown}").as_bytes())?;
    stream.flush()
}
