//! Who is let in: every combination of name, page and credential, on every kind of request.

use crate::support::house::{House, Outcome, eventually};
use crate::support::web::{Answer, Web, head};
use serde_json::{Value, json};
use std::io::{BufReader, Read as _};

/// A token with this scope.
pub(super) fn token(house: &House, name: &str, scope: &str) -> Outcome<String> {
    let made = house.json(&["web", "token", "--name", name, "--scope", scope])?;
    Ok(made["token"].as_str().ok_or("no token")?.to_owned())
}

/// Pairs a device; what its browser is told. Nothing of it is a cookie.
pub(super) fn paired(house: &House, web: &Web, name: &str, scope: &str) -> Outcome<Value> {
    let link = house.json(&["web", "pair", "--name", name, "--scope", scope])?;
    let answer = web.pair(link["url"].as_str().ok_or("no link")?)?;
    assert_eq!((answer.status, answer.header("set-cookie")), (200, None), "{answer:?}");
    answer.json()
}

/// Pairs a device; the ticket that it shows with its calls.
pub(super) fn ticket(house: &House, web: &Web, name: &str, scope: &str) -> Outcome<String> {
    let paired = paired(house, web, name, scope)?;
    let given = web.ticket(paired["secret"].as_str().ok_or("no secret")?)?;
    Ok(given.json()?["ticket"].as_str().ok_or_else(|| format!("{given:?}"))?.to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Get,
    Post,
    Stream,
    Socket,
}

/// One cell: its headers, and whether it is ours.
struct Cell {
    kind: Kind,
    headers: Vec<(&'static str, String)>,
    is_ours: bool,
}

fn cells(web: &Web, ticket: &str, token: &str, revoked: &str) -> Vec<Cell> {
    let (own, port) = (web.host(), web.address.port());
    let hosts = [
        vec![own.clone()],
        vec![web.address.to_string()],
        vec!["evil.example".to_owned()],
        vec![format!("evil.example:{port}")],
        vec![format!("192.0.2.1:{port}")],
        vec![],
        vec![own.clone(), own.clone()],
    ];
    let origins = [
        None,
        Some(format!("http://{own}")),
        Some(format!("http://{}", web.address)),
        Some("http://evil.example".to_owned()),
        Some("null".to_owned()),
    ];
    let bearer = |token: &str| Some(("Authorization", format!("Bearer {token}")));
    let mut cells = Vec::new();
    for kind in [Kind::Get, Kind::Post, Kind::Stream, Kind::Socket] {
        let by_page = match kind {
            Kind::Get | Kind::Post | Kind::Stream => Some(("X-Glis-Ticket", ticket.to_owned())),
            Kind::Socket => Some(("Sec-WebSocket-Protocol", format!("glis, {ticket}"))),
        };
        let credentials = [by_page, bearer(token), None, bearer(revoked)];
        for (h, host) in hosts.iter().enumerate() {
            for (o, origin) in origins.iter().enumerate() {
                for (c, credential) in credentials.iter().enumerate() {
                    let mut headers: Vec<_> = host.iter().map(|h| ("Host", h.clone())).collect();
                    headers.extend(origin.iter().map(|origin| ("Origin", origin.clone())));
                    headers.extend(credential.clone());
                    headers.push(("X-Glis", "1".to_owned()));
                    // Under its own name the page has its ticket; at the number there are tokens alone.
                    let is_ours = match h {
                        0 => o < 2 && c < 2,
                        1 => (o == 0 || o == 2) && c == 1,
                        _ => false,
                    };
                    cells.push(Cell { kind, headers, is_ours });
                }
            }
        }
    }
    cells
}

/// What a cell gets. A stream or a socket that is opened is closed again at once.
fn asked(web: &Web, cell: &Cell, minutes: usize) -> Outcome<Answer> {
    let headers: Vec<(&str, &str)> = cell.headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let socket = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let (line, headers) = match cell.kind {
        Kind::Get => return web.ask("GET /api/v1/sessions", &headers, ""),
        Kind::Post => {
            let body = json!({"minutes": minutes.to_string()}).to_string();
            return web.ask("POST /api/v1/sessions/blue/timeout", &headers, &body);
        }
        Kind::Stream => ("GET /api/v1/events", headers),
        Kind::Socket => ("GET /api/v1/sessions/blue/terminal", [&headers[..], &socket].concat()),
    };
    let mut reader = BufReader::new(web.open(line, &headers, "")?);
    let (status, headers) = head(&mut reader)?;
    let mut body = String::new();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    if let Some(length) = length.and_then(|(_, length)| length.parse().ok()) {
        reader.take(length).read_to_string(&mut body)?;
    }
    Ok(Answer { status, headers, body })
}

#[test]
fn only_our_own_name_page_and_credential_get_in() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let ticket = ticket(&house, &web, "phone", "manage")?;
    let good = token(&house, "script", "manage")?;
    let revoked = token(&house, "former", "manage")?;
    house.ok(&["web", "revoke", "former"])?;
    let cells = cells(&web, &ticket, &good, &revoked);
    assert_eq!(cells.len(), 560);
    let mut let_in = 0;
    let mut minutes = 0;
    for cell in &cells {
        minutes += usize::from(cell.kind == Kind::Post);
        let answer = asked(&web, cell, minutes)?;
        let expected = match (cell.is_ours, cell.kind) {
            (true, Kind::Socket) => &[101][..],
            (true, Kind::Get | Kind::Post | Kind::Stream) => &[200],
            // One without a host, or with two, may be refused by the parser already.
            (false, _) => &[400, 401, 403, 421],
        };
        let what = || format!("{:?} {:?}: {answer:?}", cell.kind, cell.headers);
        assert!(expected.contains(&answer.status), "{}", what());
        assert!(cell.is_ours || !answer.body.contains("blue"), "{}", what());
        let_in += usize::from(cell.is_ours);
    }
    assert_eq!(let_in, 24);
    // What was refused has done nothing.
    let events = house.ok(&["events"])?;
    let set = events.lines().filter(|line| line.contains("\"idle_limit_set\"")).count();
    assert_eq!(set, 6, "{events}");
    Ok(())
}

#[test]
fn what_changes_says_that_it_is_meant_and_names_no_other_page() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let (host, bearer) = (web.host(), format!("Bearer {token}"));
    let own = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    let body = json!({"minutes": "7"}).to_string();
    let line = "POST /api/v1/sessions/blue/timeout";
    let answer = web.ask(line, &own, &body)?;
    assert_eq!((answer.status, &answer.json()?["error"]["kind"]), (403, &json!("not_meant")));
    // What a form of another page can send.
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let length = body.len().to_string();
        let form = [("X-Glis", "1"), ("Content-Type", kind), ("Content-Length", &length)];
        let headers = [&own[..], &form].concat();
        let close = [&headers[..], &[("Connection", "close")]].concat();
        let mut stream = web.open(line, &close, "")?;
        std::io::Write::write_all(&mut stream, body.as_bytes())?;
        assert_eq!(head(&mut BufReader::new(stream))?.0, 415, "{kind}");
    }
    for site in ["cross-site", "same-site"] {
        let headers = [&own[..], &[("Sec-Fetch-Site", site)]].concat();
        assert_eq!(web.ask("GET /api/v1/sessions", &headers, "")?.status, 403);
    }
    let absolute = format!("GET http://{host}/api/v1/sessions");
    assert_eq!(web.ask(&absolute, &own, "")?.status, 421);
    assert_eq!(house.show("blue")?["idle_timeout_secs"], 600);
    Ok(())
}

#[test]
fn the_page_has_no_data_and_every_answer_its_rules() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let host = web.host();
    let own = [("Host", host.as_str())];
    let page = web.ask("GET /", &own, "")?;
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("blue"));
    let tag = page.header("etag").ok_or("no etag")?;
    let known = [own[0], ("If-None-Match", tag)];
    assert_eq!(web.ask("GET /", &known, "")?.status, 304);
    let refused = web.ask("GET /api/v1/sessions", &own, "")?;
    let nowhere = web.ask("GET /etc/passwd", &own, "")?;
    let hidden = web.ask("GET /api/v1/nothing", &own, "")?;
    assert_eq!((refused.status, nowhere.status, hidden.status), (401, 404, 401));
    for answer in [&page, &refused, &nowhere] {
        let policy = answer.header("content-security-policy").ok_or("no policy")?;
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control")));
    }
    assert_eq!(refused.header("cache-control"), Some("no-store"));
    Ok(())
}

#[test]
fn it_listens_to_this_machine_alone() -> Outcome {
    let house = House::new()?;
    let (status, told) = house.fails(&["web", "--listen", "0.0.0.0:0"])?;
    assert_eq!((status, &told["kind"]), (2, &json!("usage")));
    let hint = told["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("--behind-proxy"), "{told}");
    let (status, _) = house.fails(&["web", "--listen", "here"])?;
    assert_eq!(status, 2);
    Ok(())
}

#[test]
fn a_scope_is_the_most_that_a_device_may() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "watcher", "watch")?;
    assert_eq!(web.get("/api/v1/sessions/blue", &token)?.status, 200);
    let refused = |path: &str, token: &str, body: Value| -> Outcome {
        let answer = web.post(path, token, &body)?;
        assert_eq!((answer.status, &answer.json()?["error"]["kind"]), (403, &json!("not_allowed")));
        Ok(())
    };
    refused("/api/v1/sessions/blue/send", &token, json!({"text": "hi"}))?;
    refused("/api/v1/sessions/blue/pause", &token, json!({}))?;
    refused("/api/v1/pause", &token, json!({}))?;
    let sender = self::token(&house, "sender", "send")?;
    refused("/api/v1/sessions/blue/answer", &sender, json!({"answer": "allow", "request": "1"}))?;
    // Files are read wherever the caller says: the verb may be allowed, the option is not.
    let file = json!({"text": "hi", "file": ["/etc/passwd"]});
    refused("/api/v1/sessions/blue/send", &sender, file)?;
    assert_eq!(
        web.post("/api/v1/sessions/blue/send", &sender, &json!({"text": "hi"}))?.status,
        200
    );
    Ok(())
}

#[test]
fn a_message_to_a_plain_program_is_typing_and_takes_the_scope_for_that() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let asks = "read -p 'Delete everything? [y/N] ' a; echo \"GOT=$a\"; cat";
    house.command("asker", &["bash", "-c", asks])?;
    house.until("asker", "waiting")?;
    house.command("shell", &["bash"])?;
    for scope in ["send", "answer"] {
        let token = token(&house, scope, scope)?;
        for (name, text) in [("asker", "y"), ("shell", "touch ran")] {
            let path = format!("/api/v1/sessions/{name}/send");
            let answer = web.post(&path, &token, &json!({"text": text}))?;
            assert_eq!(answer.status, 403, "{scope} {name}");
            let told = answer.json()?["error"]["message"].to_string();
            assert!(told.contains("plain program") && told.contains("`manage`"), "{told}");
        }
    }
    // Other words than a yes or a no would be a line of a shell as well.
    let request = house.show("asker")?["waiting_for"]["request"].clone();
    let answerer = token(&house, "yes or no", "answer")?;
    for words in ["y\ntouch ran", "y; touch ran"] {
        let words = json!({"answer": words, "request": request});
        let answer = web.post("/api/v1/sessions/asker/answer", &answerer, &words)?;
        assert_eq!(answer.status, 403, "{words}");
    }
    let manager = token(&house, "all", "manage")?;
    let sent = web.post("/api/v1/sessions/shell/send", &manager, &json!({"text": "touch told"}))?;
    assert_eq!(sent.status, 200);
    let told = house.file("shell", "told")?;
    eventually("the shell did what the manager said", || told.exists())?;
    assert!(!house.file("shell", "ran")?.exists());
    assert_eq!(house.show("asker")?["status"], "waiting");
    let yes = json!({"answer": "allow", "request": request, "for_session": true});
    let answer = web.post("/api/v1/sessions/asker/answer", &answerer, &yes)?;
    assert_eq!(answer.status, 403, "nobody knows what the next line of a screen stands for");
    let no = json!({"answer": "deny", "request": request});
    let answer = web.post("/api/v1/sessions/asker/answer", &answerer, &no)?;
    assert_eq!(answer.status, 200);
    Ok(())
}
