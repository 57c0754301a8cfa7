//! What a server has to bear: many clients, one that never reads, heads and bodies that never end.

use super::guard::token;
use crate::support::house::{House, Outcome, eventually};
use crate::support::web::{Shown, Terminal, Web, head};
use serde_json::{Value, json};
use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Three browsers have six connections each; the rest are scripts.
const CLIENTS: usize = 200;

#[test]
fn two_hundred_clients_are_told_beside_one_that_never_reads() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let (host, bearer) = (web.host(), format!("Bearer {token}"));
    let headers = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    let deaf = web.open("GET /api/v1/events", &headers, "")?;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(web.events(&token, None)?);
    }
    house.rehearsal("blue")?;
    for client in &mut clients {
        let mut last = 0;
        loop {
            let (seq, event) = client.next()?.ok_or("the stream ended")?;
            assert_eq!(seq, last + 1);
            last = seq;
            if event["event"] == "session_created" {
                break;
            }
        }
    }
    assert_eq!(web.get("/api/v1/sessions", &token)?.status, 200);
    drop(deaf);
    Ok(())
}

#[test]
fn heads_and_bodies_that_never_end_keep_nobody_out() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let (host, bearer) = (web.host(), format!("Bearer {token}"));
    let mut slow = TcpStream::connect(web.address)?;
    slow.write_all(b"GET / HTTP/1.1\r\nHost: ")?;
    let endless = [
        ("Host", host.as_str()),
        ("Authorization", bearer.as_str()),
        ("X-Glis", "1"),
        ("Content-Type", "application/json"),
        ("Content-Length", "100"),
    ];
    let endless = web.open("POST /api/v1/sessions/blue/send", &endless, "")?;
    let huge = [("Host", host.as_str()), ("Authorization", &bearer), ("X-Glis", "1")];
    let length = (4 * 1024 * 1024).to_string();
    let huge = [&huge[..], &[("Content-Length", length.as_str())]].concat();
    let huge = web.open("POST /api/v1/sessions/blue/send", &huge, "")?;
    assert_eq!(head(&mut BufReader::new(huge))?.0, 413);
    // Meanwhile others are served.
    assert_eq!(web.get("/api/v1/sessions", &token)?.status, 200);
    assert_eq!(head(&mut BufReader::new(endless))?.0, 408);
    slow.set_read_timeout(Some(Duration::from_secs(60)))?;
    let began = Instant::now();
    let mut rest = Vec::new();
    // Whether it is told or hung up on: it does not keep its place.
    slow.read_to_end(&mut rest).ok();
    assert!(began.elapsed() < Duration::from_secs(60), "a head that never ends is waited for");
    assert!(house.talk("blue")?.is_empty(), "half of a message was sent");
    Ok(())
}

/// Six times as many as there is room for without a credential.
const SILENT: usize = 1500;
/// A call that waits for silent ones to be given up takes longer than this, on any machine.
const MOMENT: Duration = Duration::from_secs(5);

#[test]
fn connections_that_say_nothing_keep_nobody_out() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let mut known = web.events(&token, None)?;
    let mut silent = Vec::new();
    for _ in 0..SILENT {
        silent.push(TcpStream::connect(web.address)?);
    }
    let began = Instant::now();
    assert_eq!(web.get("/api/v1/status", &token)?.status, 200);
    assert!(began.elapsed() < MOMENT, "{:?}", began.elapsed());
    // Who was let in before has not been sent away.
    house.rehearsal("blue")?;
    known.until(|event| event["event"] == "session_created")?;
    // The first of them were hung up on, and the last ones may still speak.
    let first = silent.first_mut().ok_or("none")?;
    first.set_read_timeout(Some(MOMENT))?;
    assert_eq!(first.read(&mut [0; 1])?, 0);
    let mut last = silent.pop().ok_or("none")?;
    last.set_read_timeout(Some(MOMENT))?;
    last.write_all(format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", web.host()).as_bytes())?;
    assert_eq!(head(&mut BufReader::new(last))?.0, 200);
    Ok(())
}

#[test]
fn looks_at_a_plan_that_is_a_pipe_leave_no_call_under_way() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    std::fs::create_dir_all(house.repo().join(".glis"))?;
    let pipe = house.repo().join(".glis/plan.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status()?;
    assert!(made.success());
    let (host, bearer) = (web.host(), format!("Bearer {token}"));
    let headers = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    let line = format!("GET /api/v1/plan/check?repo={}", house.repo().display());
    // Each of them gives up at once.
    for _ in 0..2 * CALLS {
        drop(web.open(&line, &headers, "")?);
    }
    eventually("its places are free", || {
        let calls = (0..CALLS).map(|_| web.get("/api/v1/sessions", &token));
        calls.into_iter().all(|answer| answer.is_ok_and(|answer| answer.status == 200))
    })?;
    let told = web.ask(&line, &headers, "")?.json()?;
    let message = told["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("plan.toml"), "{told}");
    Ok(())
}

/// So many calls one device may have under way; the server's own bound is four times that.
const CALLS: usize = 32;

#[test]
fn a_device_that_asks_for_too_much_keeps_nobody_else_out() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let (greedy, other) = (token(&house, "greedy", "watch")?, token(&house, "other", "watch")?);
    let wait = || -> Outcome<BufReader<TcpStream>> {
        let (host, bearer) = (web.host(), format!("Bearer {greedy}"));
        let body = "{\"for\":[\"failed\"],\"timeout\":\"600s\"}";
        let length = body.len().to_string();
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", bearer.as_str()),
            ("X-Glis", "1"),
            ("Content-Type", "application/json"),
            ("Content-Length", length.as_str()),
        ];
        Ok(BufReader::new(web.open("POST /api/v1/sessions/blue/wait", &headers, body)?))
    };
    let waits: Vec<_> = (0..CALLS).map(|_| wait()).collect::<Outcome<_>>()?;
    // One more is refused once all of them are under way.
    eventually("it is told to come again", || {
        web.get("/api/v1/sessions", &greedy).is_ok_and(|answer| answer.status == 503)
    })?;
    assert_eq!(web.get("/api/v1/sessions", &other)?.status, 200, "others are served");
    // Who goes away waits for nothing any more.
    drop(waits);
    eventually("its places are free", || {
        web.get("/api/v1/sessions", &greedy).is_ok_and(|answer| answer.status == 200)
    })?;
    let mut waits: Vec<_> = (0..CALLS).map(|_| wait()).collect::<Outcome<_>>()?;
    let began = Instant::now();
    house.ok(&["web", "revoke", "greedy"])?;
    for wait in &mut waits {
        assert_eq!(head(wait)?.0, 401, "who is revoked is told nothing any more");
    }
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    Ok(())
}

/// More than fits into one answer of the daemon, if it were answered whole.
const OUTPUT_BYTES: usize = 12_000_000;
/// What an answer has at most, and what one takes that is not read: its text twice, while it is made.
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;

#[test]
fn a_long_output_is_answered_in_parts_and_unread_answers_have_a_bound() -> Outcome {
    let house = House::new()?;
    let print = format!("head -c {OUTPUT_BYTES} /dev/zero | tr '\\0' x; echo; touch printed; cat");
    house.command("long", &["sh", "-c", &print])?;
    let printed = house.file("long", "printed")?;
    eventually("it has printed all", || printed.exists())?;
    let web = Web::start(&house)?;
    let (token, other) = (token(&house, "script", "watch")?, token(&house, "other", "watch")?);
    let (mut from, mut printed) = (0, 0);
    loop {
        let part = web.get(&format!("/api/v1/sessions/long/output?from={from}"), &token)?.json()?;
        let bytes = part["bytes"].as_u64().ok_or("no number of bytes")?;
        assert!(bytes <= ANSWER_BYTES_MAX, "{bytes}");
        assert_eq!(part["offset"].as_u64(), Some(from));
        printed += part["text"].as_str().ok_or("no text")?.matches('x').count();
        from += bytes;
        if bytes == 0 {
            break;
        }
    }
    assert_eq!(printed, OUTPUT_BYTES);
    let before = resident_kb(web.pid())?;
    let (host, bearer) = (web.host(), format!("Bearer {token}"));
    let headers = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    let line = "GET /api/v1/sessions/long/output";
    let unread = (0..4 * CALLS).map(|_| web.open(line, &headers, ""));
    let unread: Vec<TcpStream> = unread.collect::<Outcome<_>>()?;
    eventually("no more is answered to who does not read", || {
        web.get("/api/v1/sessions", &token).is_ok_and(|answer| answer.status == 503)
    })?;
    assert_eq!(web.get("/api/v1/sessions", &other)?.status, 200, "others are served");
    let grown = resident_kb(web.pid())?.saturating_sub(before);
    let most = CALLS as u64 * 3 * ANSWER_BYTES_MAX / 1024;
    assert!(grown < most, "{grown} kB for what nobody reads");
    drop(unread);
    Ok(())
}

/// What both terminals are told before the server's memory is looked at, and after.
const SHARE_BYTES: u64 = 4 * 1024 * 1024;
/// An emulator, its rows and a frame are far below this; what was not read would be above it.
const GROWTH_KB_MAX: u64 = 8 * 1024;

#[test]
fn a_terminal_that_is_never_read_costs_no_memory_and_no_other_terminal() -> Outcome {
    let house = House::new()?;
    let flood = "while :; do seq -f 'line %07.0f of a flood that does not end' 1 100000; done";
    house.command("flood", &["sh", "-c", flood])?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let mut deaf = Vec::new();
    for _ in 0..4 {
        deaf.push(Terminal::open(&web, "flood", &token, Shown::default())?);
    }
    let mut reads = Terminal::open(&web, "flood", &token, Shown::default())?;
    let mut on_by = |bytes: u64| -> Outcome {
        reads.take()?;
        let end = reads.screen.offset + bytes;
        while reads.screen.offset < end {
            reads.take()?;
        }
        Ok(())
    };
    on_by(SHARE_BYTES)?;
    let before = resident_kb(web.pid())?;
    on_by(2 * SHARE_BYTES)?;
    let after = resident_kb(web.pid())?;
    assert!(after < before + GROWTH_KB_MAX, "{before} kB became {after} kB");
    assert_eq!(web.get("/api/v1/sessions", &token)?.status, 200);
    house.ok(&["stop", "flood"])?;
    drop(deaf);
    Ok(())
}

/// Pings of as many bytes as they may have, in pieces of some.
const PING_PIECES: usize = 500;
/// What waits to be written for one page is far less than all the answers to them.
const PONGS_KB_MAX: u64 = 16 * 1024;

#[test]
fn answers_to_pings_that_are_never_read_are_not_kept() -> Outcome {
    let house = House::new()?;
    house.command("still", &["cat"])?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let mut terminal = Terminal::open(&web, "still", &token, Shown::default())?;
    terminal.take()?;
    let before = resident_kb(web.pid())?;
    let ping = [&[0x89, 0x80 | 0x7d, 0, 0, 0, 0][..], &[b'p'; 125]].concat().repeat(500);
    for _ in 0..PING_PIECES {
        // Whether it is read on, left there or hung up on: it is not kept.
        if terminal.write(&ping).is_err() {
            break;
        }
    }
    let after = resident_kb(web.pid())?;
    assert!(after < before + PONGS_KB_MAX, "{before} kB became {after} kB");
    assert_eq!(web.get("/api/v1/sessions", &token)?.status, 200);
    Ok(())
}

/// A little more than is taken at once.
const PASTE_BYTES: usize = 70_000;

#[test]
fn a_paste_that_is_too_long_is_refused_with_a_word_and_the_terminal_goes_on() -> Outcome {
    let house = House::new()?;
    house.command("echo", &["cat"])?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    let mut terminal = Terminal::open(&web, "echo", &token, Shown::default())?;
    terminal.say(&json!({"paste": "x".repeat(PASTE_BYTES)}))?;
    let refused = loop {
        let told: Value = serde_json::from_slice(&terminal.message()?)?;
        if let Some(why) = told["refused"].as_str() {
            break why.to_owned();
        }
    };
    assert!(refused.contains("at most 64 kB"), "{refused}");
    terminal.say(&json!({"text": "still here"}))?;
    while !terminal.screen.rows.iter().any(|row| row.contains("still here")) {
        terminal.take()?;
    }
    assert!(!terminal.screen.rows.concat().contains("xx"), "half of it was typed");
    Ok(())
}

fn resident_kb(pid: u32) -> Outcome<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_ascii_whitespace().next().ok_or("no number")?.parse()?)
}
