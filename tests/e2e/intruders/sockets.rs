//! Whoever finds a socket and speaks nonsense, too much, or nothing at all.

use crate::support::house::{House, Outcome, lives};
use crate::support::skip::skip;
use crate::support::wreck::{folder, pid_of, text_of};
use glis_wire::frame::Decoder;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A house with an agent, and both doors that somebody could knock at.
fn doors(house: &House) -> Outcome<(Value, [PathBuf; 2])> {
    house.rehearsal("blue")?;
    let session = house.turn("blue", "write a.txt one")?;
    let holder = folder(house, &text_of(&session, "id")?).join("hold.sock");
    Ok((session, [house.home().join("daemon.sock"), holder]))
}

/// One document as a frame.
fn words(document: &Value) -> Vec<u8> {
    let body = document.to_string().into_bytes();
    let mut frame = u32::try_from(body.len() + 1).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    frame.push(0);
    frame.extend(body);
    frame
}

/// What the front end says first.
fn greeting() -> Vec<u8> {
    words(&json!({"protocol": 1, "version": "0"}))
}

fn call(request: &Value) -> Vec<u8> {
    words(&json!({"request": request}))
}

/// All is as it was: the same daemon, the same agent, and both do their work.
fn unharmed(house: &House, before: &Value, daemon: i32) -> Outcome {
    assert_eq!(house.daemon_pid()?, daemon);
    let now = house.turn("blue", "say hello")?;
    assert_eq!(now["pid"], before["pid"]);
    Ok(())
}

fn resident_kb(pid: i32) -> Outcome<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_ascii_whitespace().next().ok_or("no number")?.parse()?)
}

#[test]
fn nonsense_closes_its_own_connection_and_nothing_else() -> Outcome {
    let house = House::new()?;
    let (before, doors) = doors(&house)?;
    let daemon = house.daemon_pid()?;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes();
    let mut deep_frame = u32::try_from(deep.len() + 1)?.to_le_bytes().to_vec();
    deep_frame.push(0);
    deep_frame.extend(deep);
    let speeches: Vec<Vec<u8>> = vec![
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        vec![0xff; 64 * 1024],
        vec![0; 64],
        u32::MAX.to_le_bytes().to_vec(),
        [greeting(), u32::MAX.to_le_bytes().to_vec()].concat(),
        [greeting(), vec![200, 0, 0, 0, 0, b'{']].concat(),
        vec![3, 0, 0, 0, 9, 9, 9],
        deep_frame.clone(),
        [greeting(), deep_frame].concat(),
        [greeting(), words(&json!({"request": {"launch_missiles": {}}}))].concat(),
        [greeting(), words(&json!({"request": {"show": {"session": "x".repeat(100_000)}}}))]
            .concat(),
        words(&json!({"stop": "everything"})),
        words(&json!({"signal": {"number": 12345}})),
    ];
    for door in &doors {
        for speech in &speeches {
            let mut intruder = UnixStream::connect(door)?;
            // The other side may hang up in the middle of it.
            drop(intruder.write_all(speech));
            drop(intruder.shutdown(std::net::Shutdown::Write));
            intruder.set_read_timeout(Some(Duration::from_secs(15)))?;
            let mut said = Vec::new();
            let end = intruder.read_to_end(&mut said);
            let hung_up = end
                .as_ref()
                .err()
                .is_none_or(|fault| fault.kind() == std::io::ErrorKind::ConnectionReset);
            assert!(hung_up, "{end:?} after {:?}", speech.get(..40.min(speech.len())));
        }
    }
    unharmed(&house, &before, daemon)
}

#[test]
fn three_hundred_silent_connections_only_cost_patience() -> Outcome {
    let house = House::new()?;
    let (before, doors) = doors(&house)?;
    let daemon = house.daemon_pid()?;
    let holder = UnixStream::connect(&doors[1])?;
    let mut silent = vec![holder];
    for door in &doors {
        for _ in 0..300 {
            let Ok(stream) = connect_or_not(door) else { break };
            silent.push(stream);
        }
    }
    assert!(lives(daemon));
    // Those who are inside already lose nothing, and whoever comes now is let in in the end.
    let waited = std::time::Instant::now();
    unharmed(&house, &before, daemon)?;
    assert!(waited.elapsed() < Duration::from_secs(40), "{:?}", waited.elapsed());
    drop(silent);
    unharmed(&house, &before, daemon)
}

/// A full queue must not stop the test itself.
fn connect_or_not(door: &PathBuf) -> Outcome<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(door)?)?;
    Ok(UnixStream::from(socket))
}

#[test]
fn another_user_gets_no_word_from_either_door() -> Outcome {
    let house = House::new()?;
    let (before, doors) = doors(&house)?;
    let daemon = house.daemon_pid()?;
    let nobody = |args: &[&str]| {
        let ids = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        Command::new("setpriv").args(ids).args(args).env("GLIS_HOME", house.home()).output()
    };
    match nobody(&["true"]) {
        Ok(output) if output.status.success() => {}
        Ok(_) => return skip("only root can act as another user", None),
        Err(fault) => return skip(&format!("setpriv: {fault}"), Some("util-linux")),
    }
    let program = house.repo().join("glis-copy");
    std::fs::copy(crate::support::house::program(), &program)?;
    let program = program.to_str().ok_or("no path")?.to_owned();
    let closed = nobody(&[&program, "ls"])?;
    assert_eq!(closed.status.code(), Some(8), "{closed:?}");
    // Even if somebody opened every folder on the way.
    let home = house.home();
    let parent = home.parent().ok_or("no parent")?;
    let session = doors[1].parent().ok_or("no folder")?;
    let all = [parent, &home, &home.join("sessions"), session, &doors[0], &doors[1]];
    for path in all {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
    }
    let refused = nobody(&[&program, "--json", "daemon", "status"])?;
    assert_eq!(refused.status.code(), Some(8), "{refused:?}");
    let stolen = nobody(&[&program, "--json", "send", "blue", "write stolen.txt yes"])?;
    assert!(!stolen.status.success(), "{stolen:?}");
    assert!(!house.file("blue", "stolen.txt")?.exists());
    unharmed(&house, &before, daemon)
}

#[test]
fn a_reader_that_never_reads_costs_no_memory_and_no_time() -> Outcome {
    let house = House::new()?;
    let (before, doors) = doors(&house)?;
    let daemon = house.daemon_pid()?;
    let agent = pid_of(&before)?;
    let holder = crate::support::wreck::holder_of(agent)?;
    let mut deaf = Vec::new();
    for request in [
        json!({"output": {"session": "blue", "from": 0, "follow": true}}),
        json!({"events": {"from": 1, "follow": true}}),
        json!({"log": {"session": "blue", "follow": true}}),
        json!({"attach": {"session": "blue"}}),
        json!({"wait": {"session": "blue", "statuses": ["archived"], "timeout_ms": null}}),
    ] {
        let mut stream = UnixStream::connect(&doors[0])?;
        stream.write_all(&greeting())?;
        stream.write_all(&call(&request))?;
        deaf.push(stream);
    }
    let mut follower = UnixStream::connect(&doors[1])?;
    follower.write_all(&words(&json!({"follow": {"from": 0}})))?;
    deaf.push(follower);
    let sizes = (resident_kb(daemon)?, resident_kb(holder)?);
    house.turn("blue", "flood 8")?;
    unharmed(&house, &before, daemon)?;
    let after = (resident_kb(daemon)?, resident_kb(holder)?);
    assert!(after.0 < sizes.0 + 64 * 1024, "daemon: {sizes:?} {after:?}");
    assert!(after.1 < sizes.1 + 8 * 1024, "holder: {sizes:?} {after:?}");
    drop(deaf);
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    Ok(())
}

#[test]
fn whoever_listens_late_still_hears_how_it_ended() -> Outcome {
    let house = House::new()?;
    let id = text_of(&house.rehearsal("blue")?, "id")?;
    // Thousands of events, more than anybody keeps for a listener that does not listen.
    let busy = format!("work 1{}", " ;; write a.txt x".repeat(800));
    house.ok(&["send", "blue", &busy])?;
    house.until("blue", "busy")?;
    let mut late = UnixStream::connect(house.home().join("daemon.sock"))?;
    late.set_read_timeout(Some(Duration::from_secs(60)))?;
    let pause = json!({"pause": {"mode": "boundary", "on_timeout": "refuse"}});
    late.write_all(&greeting())?;
    late.write_all(&call(&json!({"act": {"session": "blue", "action": pause}})))?;
    let mut events = house.follow(1)?;
    let begun = events.until(|e| e["event"] == "pause_began" && e["session"] == id.as_str())?;
    let ended = events.until(|e| e["event"] == "paused" && e["session"] == id.as_str())?;
    // And as many behind the end, so that it is not among the last ones either.
    house.rehearsal("red")?;
    house.turn("red", &busy)?;
    let happened = ended["seq"].as_u64().unwrap_or(0) - begun["seq"].as_u64().unwrap_or(0);
    let mut steps = 0;
    let mut decoder = Decoder::default();
    let answer = loop {
        if let Some(frame) = decoder.next_frame()? {
            match frame.words::<Value>()? {
                word if word["step"].is_object() => steps += 1,
                word if word["protocol"].is_u64() => {}
                word => break word,
            }
            continue;
        }
        let mut piece = [0; 4096];
        let read = late.read(&mut piece)?;
        assert!(read > 0, "sent away after {steps} steps");
        decoder.feed(&piece[..read]);
    };
    assert_eq!(answer["done"]["session"]["status"], "paused", "{answer}");
    assert!(happened > 1500, "only {happened} events");
    assert!(steps + 500 < happened, "it was never left behind: {steps} of {happened}");
    Ok(())
}
