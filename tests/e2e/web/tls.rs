//! A server with a certificate of its own, spoken to by a client that has nothing of ours.

use crate::support::browser::play_before;
use crate::support::house::{House, Outcome};
use crate::support::skip::skip;
use crate::support::web::Web;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A certificate for this machine and its key.
struct Pair {
    certificate: String,
    key: String,
}

impl Pair {
    fn args(&self) -> [&str; 4] {
        ["--tls-cert", &self.certificate, "--tls-key", &self.key]
    }
}

fn openssl(args: &[&str]) -> Outcome {
    let made = Command::new("openssl").args(args).stdin(Stdio::null()).output()?;
    if made.status.success() {
        return Ok(());
    }
    Err(format!("openssl {args:?}: {}", String::from_utf8_lossy(&made.stderr)).into())
}

/// Where a file of a test goes.
fn file(house: &House, name: &str) -> Outcome<String> {
    Ok(house.folder().join(name).to_str().ok_or("no path")?.to_owned())
}

fn pair(house: &House, name: &str) -> Outcome<Pair> {
    let certificate = file(house, &format!("{name}.pem"))?;
    let key = file(house, &format!("{name}.key"))?;
    let asked = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    let names = "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:desk.example";
    let subject = format!("/CN={name}");
    let of = ["-subj", &subject, "-addext", names, "-addext", "basicConstraints=critical,CA:FALSE"];
    openssl(&[&asked[..], &of, &["-keyout", &key, "-out", &certificate]].concat())?;
    Ok(Pair { certificate, key })
}

/// A pair that was good for no time at all.
fn expired(house: &House, from: &Pair) -> Outcome<Pair> {
    let (asked, certificate) = (file(house, "old.req")?, file(house, "old.pem")?);
    openssl(&["req", "-new", "-key", &from.key, "-subj", "/CN=old", "-out", &asked])?;
    let made = ["x509", "-req", "-in", &asked, "-signkey", &from.key, "-days", "0"];
    openssl(&[&made[..], &["-out", &certificate]].concat())?;
    Ok(Pair { certificate, key: from.key.clone() })
}

fn has_openssl() -> bool {
    Command::new("openssl").arg("version").output().is_ok_and(|told| told.status.success())
}

fn without() -> Outcome {
    skip("there is no openssl to make a certificate with", Some("openssl"))
}

fn start(house: &House, pair: &Pair, more: &[&str]) -> Outcome<Web> {
    Web::start_as(house, "https", &[&pair.args()[..], &["--listen", "127.0.0.1:0"], more].concat())
}

/// A connection that trusts this certificate alone, for this name, and has said this.
fn connect(web: &Web, pair: &Pair, name: &str, said: &str) -> Outcome<Child> {
    let mut command = Command::new("openssl");
    command.args(["s_client", "-quiet", "-verify_return_error", "-verify", "1"]);
    command.args(["-connect", &web.host(), "-CAfile", &pair.certificate]);
    command.args(["-servername", name, "-verify_hostname", name]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    child.stdin.as_mut().ok_or("no stdin")?.write_all(said.as_bytes())?;
    Ok(child)
}

/// The whole answer to a request.
fn asked(web: &Web, pair: &Pair, name: &str, request: &str) -> Outcome<String> {
    let child = connect(web, pair, name, request)?;
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(text)
}

fn request(line: &str, headers: &[(&str, &str)], body: &str) -> Outcome<String> {
    let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n")?;
    }
    if !body.is_empty() {
        let length = body.len();
        write!(text, "Content-Type: application/json\r\nContent-Length: {length}\r\n")?;
    }
    Ok(format!("{text}\r\n{body}"))
}

/// What the body of an answer has under this name.
fn said(answer: &str, name: &str) -> Outcome<String> {
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let body: serde_json::Value = serde_json::from_str(body).map_err(|_| answer.to_owned())?;
    Ok(body[name].as_str().ok_or_else(|| answer.to_owned())?.to_owned())
}

#[test]
fn a_certificate_makes_links_calls_and_sockets_secure() -> Outcome {
    if !has_openssl() {
        return without();
    }
    let house = House::new()?;
    house.command("shell", &["sh", "-c", "echo over the wire; exec cat"])?;
    let pair = pair(&house, "one")?;
    let web = start(&house, &pair, &[])?;
    let host = web.host();
    let link = house.json(&["web", "pair", "--name", "phone"])?;
    let link = link["url"].as_str().ok_or("no link")?;
    assert!(link.starts_with(&format!("https://{host}/#pair=")), "{link}");
    let code = link.split_once("#pair=").ok_or("no code")?.1;
    let body = json!({"code": code}).to_string();
    let origin = format!("https://{host}");
    let own = [("Host", host.as_str()), ("Origin", origin.as_str()), ("X-Glis", "1")];
    let paired = asked(&web, &pair, "localhost", &request("POST /pair", &own, &body)?)?;
    assert!(!paired.contains("set-cookie"), "{paired}");
    let secret = said(&paired, "secret")?;
    let body = json!({"secret": secret}).to_string();
    let given = asked(&web, &pair, "localhost", &request("POST /ticket", &own, &body)?)?;
    let ticket = said(&given, "ticket")?;
    let shown = ("X-Glis-Ticket", ticket.as_str());
    let with = [&own[..2], &[shown]].concat();
    let list = asked(&web, &pair, "localhost", &request("GET /api/v1/sessions", &with, "")?)?;
    assert!(list.starts_with("HTTP/1.1 200 ") && list.contains("\"shell\""), "{list}");
    // A page that came in clear is another page, and another name is another host.
    let plain = format!("http://{host}");
    for (headers, status) in [
        ([("Host", host.as_str()), ("Origin", plain.as_str())], 403),
        ([("Host", "desk.example"), ("Origin", "https://desk.example")], 421),
    ] {
        let headers = [&headers[..], &[shown]].concat();
        let told =
            asked(&web, &pair, "localhost", &request("GET /api/v1/sessions", &headers, "")?)?;
        assert!(told.starts_with(&format!("HTTP/1.1 {status} ")), "{told}");
    }
    let line = "GET /api/v1/sessions/shell/terminal HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: \
        websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let line = format!("{line}Host: {host}\r\nOrigin: {origin}\r\n");
    let upgrade = format!("{line}Sec-WebSocket-Protocol: glis, {ticket}\r\n\r\n");
    let mut socket = connect(&web, &pair, "localhost", &upgrade)?;
    let mut told = Vec::new();
    let mut output = socket.stdout.take().ok_or("no stdout")?;
    while !String::from_utf8_lossy(&told).contains("over the wire") {
        let mut part = [0; 4096];
        let count = output.read(&mut part)?;
        assert!(count > 0, "the terminal ended: {}", String::from_utf8_lossy(&told));
        told.extend_from_slice(part.get(..count).unwrap_or_default());
    }
    assert!(told.starts_with(b"HTTP/1.1 101 "));
    socket.kill()?;
    socket.wait()?;
    // Who speaks in clear is not answered, and keeps nobody out.
    assert!(web.get("/", "").is_err(), "something was said in clear");
    assert!(
        asked(&web, &pair, "localhost", &request("GET /", &own[..1], "")?)?.contains("<title>")
    );
    Ok(())
}

#[test]
fn a_name_of_ones_own_is_in_the_links() -> Outcome {
    if !has_openssl() {
        return without();
    }
    let house = House::new()?;
    let pair = pair(&house, "one")?;
    let all =
        [&pair.args()[..], &["--listen", "127.0.0.1:0", "--public-host", "desk.example"]].concat();
    let mut command = house.glis();
    let mut child = command.arg("web").args(&all).stdout(Stdio::piped()).spawn()?;
    let mut line = [0; 64];
    let count = child.stdout.as_mut().ok_or("no stdout")?.read(&mut line)?;
    let line = String::from_utf8_lossy(line.get(..count).unwrap_or_default()).into_owned();
    child.kill()?;
    child.wait()?;
    assert!(line.starts_with("https://desk.example:"), "{line}");
    Ok(())
}

#[test]
fn a_pair_that_cannot_be_served_is_told_with_its_remedy() -> Outcome {
    if !has_openssl() {
        return without();
    }
    let house = House::new()?;
    let (one, other) = (pair(&house, "one")?, pair(&house, "other")?);
    let old = expired(&house, &one)?;
    let (locked, binary) = (file(&house, "locked.key")?, file(&house, "binary.pem")?);
    openssl(&["pkey", "-aes256", "-passout", "pass:x", "-in", &one.key, "-out", &locked])?;
    openssl(&["x509", "-outform", "der", "-in", &one.certificate, "-out", &binary])?;
    let away = file(&house, "away.pem")?;
    for (certificate, key, said) in [
        (away.as_str(), one.key.as_str(), "cannot read"),
        (&one.certificate, &away, "cannot read"),
        (house.folder().to_str().ok_or("no path")?, &one.key, "cannot read"),
        (&one.key, &one.certificate, "there is no certificate in"),
        (&one.certificate, &one.certificate, "there is no private key in"),
        (&binary, &one.key, "there is no certificate in"),
        (&one.certificate, &locked, "has a password"),
        (&one.certificate, &other.key, "is not the key of the certificate"),
        (&old.certificate, &old.key, "expired on 20"),
    ] {
        let args = ["web", "--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key];
        let (status, told) = house.fails(&args)?;
        assert_eq!((status, &told["kind"]), (2, &json!("usage")), "{told}");
        let message = told["message"].as_str().unwrap_or_default();
        assert!(message.contains(said), "{said}: {told}");
        assert!(said == "cannot read" || told["hint"] != Value::Null, "{told}");
    }
    let alone = house.glis().args(["web", "--tls-cert", &one.certificate]).output()?;
    assert_eq!(alone.status.code(), Some(2));
    let proxy = ["--behind-proxy", "--public-host", "x"];
    let both = house.glis().arg("web").args(one.args()).args(proxy).output()?;
    assert_eq!(both.status.code(), Some(2));
    Ok(())
}

#[test]
fn a_renewed_certificate_counts_at_once_and_a_broken_one_never() -> Outcome {
    if !has_openssl() {
        return without();
    }
    let house = House::new()?;
    let (one, other) = (pair(&house, "one")?, pair(&house, "other")?);
    let web = start(&house, &one, &[])?;
    let host = web.host();
    let page = request("GET /", &[("Host", host.as_str())], "")?;
    let old = Pair { certificate: file(&house, "old.pem")?, key: one.key.clone() };
    std::fs::copy(&one.certificate, &old.certificate)?;
    // Half of a renewal: the certificate is written and its key is not.
    std::fs::rename(&other.certificate, &one.certificate)?;
    assert!(asked(&web, &old, "localhost", &page).is_ok());
    std::fs::rename(&other.key, &one.key)?;
    assert!(asked(&web, &one, "localhost", &page).is_ok());
    assert!(asked(&web, &old, "localhost", &page).is_err(), "the old one is served still");
    std::fs::remove_file(PathBuf::from(&one.key))?;
    let kept = Pair { certificate: one.certificate.clone(), key: String::new() };
    assert!(asked(&web, &kept, "localhost", &page).is_ok(), "nothing is served");
    Ok(())
}

#[test]
fn a_browser_pairs_reads_and_types_over_tls() -> Outcome {
    if !has_openssl() {
        return without();
    }
    play_before("tls", |house| start(house, &pair(house, "one")?, &[]))
}
