//! Messages: stored first, delivered once and in order, whatever is in them.

use crate::support::house::{Background, House, Outcome};
use glis_wire::frame::{Decoder, encode_words};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

fn said_by_user(house: &House, name: &str) -> Outcome<Vec<String>> {
    let talk = house.talk(name)?.into_iter();
    Ok(talk.filter(|(voice, _)| voice == "user").map(|(_, text)| text).collect())
}

/// Sends a message through standard input.
fn pour(house: &House, name: &str, text: &[u8]) -> Outcome<std::process::Output> {
    let mut send = house.glis();
    send.args(["--json", "send", name, "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut send = send.stderr(Stdio::piped()).spawn()?;
    let mut stdin = send.stdin.take().ok_or("no stdin")?;
    // It may refuse before it has read everything.
    drop(stdin.write_all(text));
    drop(stdin);
    Ok(send.wait_with_output()?)
}

#[test]
fn messages_to_a_paused_session_wait_and_arrive_in_order_after_resume() -> Outcome {
    for face in [&["--headless"][..], &[]] {
        let house = House::new()?;
        house.json(&[&["new", "blue", "--agent", "rehearsal"], face].concat())?;
        house.turn("blue", "say zero")?;
        house.ok(&["pause", "blue"])?;
        for (before, text) in ["say one", "say two", "say three"].into_iter().enumerate() {
            let sent = house.json(&["send", "blue", text])?;
            assert_eq!((&sent["status"], &sent["before"]), (&json!("paused"), &json!(before)));
        }
        let said = house.ok(&["send", "blue", "say four"])?;
        assert!(said.contains("Session is paused. `glis resume blue` to continue."), "{said}");
        house.kill_daemon()?;
        let paused = house.show("blue")?;
        assert_eq!((&paused["status"], &paused["queued"]), (&json!("paused"), &json!(4)));
        house.ok(&["resume", "blue", "--prompt", "say five"])?;
        house.turn("blue", "say six")?;
        let wanted = ["zero", "one", "two", "three", "four", "five", "six"];
        assert_eq!(said_by_user(&house, "blue")?, wanted.map(|word| format!("say {word}")));
    }
    Ok(())
}

#[test]
fn a_message_wakes_a_suspended_session_and_is_its_first() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.turn("blue", "say before")?;
    house.ok(&["stop", "blue"])?;
    let sent = house.ok(&["send", "blue", "say after"])?;
    assert_eq!(sent.trim(), "Resuming session...");
    house.turn("blue", "say last")?;
    assert_eq!(said_by_user(&house, "blue")?, ["say before", "say after", "say last"]);
    assert_eq!(house.show("blue")?["generation"], 2);
    Ok(())
}

#[test]
fn a_message_to_a_busy_agent_is_delivered_after_its_turn() -> Outcome {
    for face in [&["--headless"][..], &[]] {
        let house = House::new()?;
        house.json(&[&["new", "blue", "--agent", "rehearsal"], face].concat())?;
        house.ok(&["send", "blue", "work 0.5 ;; say slow"])?;
        house.until("blue", "busy")?;
        let sent = house.json(&["send", "blue", "say quick"])?;
        assert_eq!(sent["status"], "busy");
        house.turn("blue", "say end")?;
        let words: Vec<_> = house.talk("blue")?.into_iter().map(|(_, text)| text).collect();
        let wanted = ["work 0.5 ;; say slow", "slow", "say quick", "quick", "say end", "end"];
        assert_eq!(words, wanted);
    }
    Ok(())
}

#[test]
fn after_send_the_session_is_not_idle_until_the_message_was_worked_on() -> Outcome {
    use rustix::process::{Pid, Signal, kill_process};
    let house = House::new()?;
    house.rehearsal("blue")?;
    let idle = house.turn("blue", "say hello")?;
    let pid = i32::try_from(idle["pid"].as_i64().ok_or("no pid")?)?;
    let agent = Pid::from_raw(pid).ok_or("no pid")?;
    // An agent that takes its time to look at its input.
    kill_process(agent, Signal::STOP)?;
    house.ok(&["send", "blue", "write a.txt x"])?;
    let status = house.show("blue")?["status"].clone();
    kill_process(agent, Signal::CONT)?;
    assert_eq!(status, "busy");
    Ok(())
}

#[test]
fn a_message_arrives_as_it_was_written() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    let long = format!("{}\nend", "0123456789abcdef".repeat(6400));
    let texts = [
        "two\nlines",
        "\u{1f43f}\u{fe0f} caf\u{e9} \u{65e5}\u{672c} e\u{301}",
        "keys \x1b[201~\x03\x04\x1b[A \u{9b}31m and a \0 nothing",
        "  leading and trailing  ",
        "\"quoted\" \\n {\"type\":\"interrupt\"}",
        "--flag -x",
        long.as_str(),
    ];
    for text in texts {
        let sent = pour(&house, "blue", text.as_bytes())?;
        assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stdout));
    }
    house.ok(&["send", "blue", "--", "-dash"])?;
    house.ok(&["send", "blue", "-x"])?;
    house.turn("blue", "say done")?;
    let said = said_by_user(&house, "blue")?;
    assert_eq!(said[1..8], texts);
    assert_eq!(said[8..], ["-dash", "-x", "say done"]);
    Ok(())
}

#[test]
fn a_long_message_with_keys_in_it_is_pasted_into_a_terminal_as_one() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let body = "0123456789abcdef".repeat(6400);
    let text = format!("caf\u{e9} \x1b[201~\x03\x1b\n{body}\nend");
    let sent = pour(&house, "blue", text.as_bytes())?;
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stdout));
    house.turn("blue", "say done")?;
    let said = said_by_user(&house, "blue")?;
    assert_eq!(said, [format!("caf\u{e9} \n{body}\nend"), "say done".to_owned()]);
    Ok(())
}

#[test]
fn a_message_that_nobody_could_take_is_refused_before_it_is_stored() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    for text in ["", " ", "\n\n", " \t\r\n", "\x1b\x03"] {
        let (status, error) = house.fails(&["send", "blue", text])?;
        assert_eq!((status, error["kind"].as_str()), (2, Some("usage")), "{text:?}");
        assert_eq!(house.fails(&["resume", "blue", "--prompt", text])?.0, 2, "{text:?}");
        let args = ["new", "red", "--agent", "rehearsal", "--prompt", text];
        assert_eq!(house.fails(&args)?.0, 2, "{text:?}");
        assert_eq!(pour(&house, "blue", text.as_bytes())?.status.code(), Some(2), "{text:?}");
    }
    assert_eq!(pour(&house, "blue", b"\xff\xfe\x80")?.status.code(), Some(2));
    let huge = pour(&house, "blue", &vec![b'a'; 10 * 1024 * 1024])?;
    let told = String::from_utf8_lossy(&huge.stdout);
    assert_eq!(huge.status.code(), Some(2), "{told}");
    assert!(told.contains("the message has more than 8.0 MB, and 1 MB is the most"), "{told}");
    assert!(told.contains("--file FILE"), "{told}");
    house.turn("blue", "say still here")?;
    assert_eq!(said_by_user(&house, "blue")?, ["say still here"]);
    assert_eq!(house.fails(&["show", "red"])?.0, 3);
    Ok(())
}

#[test]
fn many_senders_at_once_lose_nothing_and_repeat_nothing() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let sends = (0..12)
        .map(|n| Background::start(house.glis().args(["send", "blue", &format!("say n{n}")])))
        .collect::<Result<Vec<_>, _>>()?;
    for mut send in sends {
        assert!(send.0.wait()?.success());
    }
    house.turn("blue", "say end")?;
    let mut said = said_by_user(&house, "blue")?;
    assert_eq!(said.pop().as_deref(), Some("say end"));
    said.sort_by_key(|text| text.trim_start_matches("say n").parse::<u32>().unwrap_or(99));
    assert_eq!(said, (0..12).map(|n| format!("say n{n}")).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn a_message_that_waits_for_the_turn_outlives_the_daemon_and_is_not_doubted() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "work 0.5 ;; write done.txt x"])?;
    let id = house.until("blue", "busy")?["id"].as_str().ok_or("no id")?.to_owned();
    house.ok(&["send", "blue", "say next"])?;
    let done = house.file("blue", "done.txt")?;
    let transcript = house.show("blue")?["agent_session_ref"].as_str().ok_or("no ref")?.to_owned();
    let transcript = house.home().join("rehearsal").join(format!("{transcript}.jsonl"));
    house.kill_daemon()?;
    // Nobody but the agent itself can tell that its turn is over while there is no daemon; its
    // file is looked at, for ten seconds at most.
    for _ in 0..500 {
        let told = std::fs::read_to_string(&transcript).unwrap_or_default();
        if done.exists() && told.contains("turn_ended") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    house.turn("blue", "say end")?;
    let events = house.events(&id)?;
    assert!(!events.contains(&"message_doubted".to_owned()), "{events:?}");
    assert_eq!(said_by_user(&house, "blue")?.last().map(String::as_str), Some("say end"));
    Ok(())
}

#[test]
fn a_queue_that_is_full_takes_no_more_and_says_so() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say zero")?;
    house.ok(&["pause", "blue"])?;
    // With the quotes around it, it is just short enough for one message.
    let long = vec![b'x'; 1024 * 1024 - 2];
    for _ in 0..16 {
        let sent = pour(&house, "blue", &long)?;
        assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stdout));
    }
    let refused = pour(&house, "blue", &long)?;
    let error: serde_json::Value = serde_json::from_slice(&refused.stdout)?;
    let error = &error["error"];
    assert_eq!((refused.status.code(), &error["kind"]), (Some(7), &json!("busy")), "{error}");
    let told = error["message"].to_string();
    assert!(told.contains("16 messages wait"), "{told}");
    assert_eq!(house.show("blue")?["queued"], 16, "what was refused is not stored");
    Ok(())
}

/// A file goes into the worktree, under a name that was free, and its place is part of the message.
#[test]
fn a_file_comes_with_a_message() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let notes = house.folder().join("notes.txt");
    let mut places = Vec::new();
    for words in ["one", "two"] {
        std::fs::write(&notes, words)?;
        let file = notes.to_str().ok_or("path")?;
        house.json(&["send", "blue", &format!("say {words}"), "--file", file])?;
        house.until("blue", "idle")?;
    }
    for (who, text) in house.talk("blue")?.into_iter().filter(|(who, _)| who == "user") {
        let place = text.split_once("\n\nFile: ").ok_or_else(|| format!("{who}: {text}"))?.1;
        places.push(std::path::PathBuf::from(place));
    }
    let inside = house.file("blue", ".glis/files")?;
    assert_eq!(places, [inside.join("notes.txt"), inside.join("notes-2.txt")]);
    for (place, words) in places.iter().zip(["one", "two"]) {
        assert_eq!(std::fs::read_to_string(place)?, words);
    }
    let (status, error) = house.fails(&["send", "blue", "say x", "--file", "/nowhere/x.txt"])?;
    assert_eq!(status, 2, "{error}");
    assert!(error["message"].as_str().is_some_and(|m| m.contains("/nowhere/x.txt")), "{error}");
    // A message that is not stored leaves no file.
    house.ok(&["rm", "blue", "--stop"])?;
    assert_eq!(house.fails(&["send", "blue", "x", "--file", "/etc/hostname"])?.0, 3);
    house.command("done", &["true"])?;
    house.until("done", "completed")?;
    assert_eq!(house.fails(&["send", "done", "x", "--file", notes.to_str().ok_or("path")?])?.0, 4);
    let left = std::fs::read_dir(house.file("done", ".glis/files")?)?.count();
    assert_eq!(left, 0);
    Ok(())
}

#[test]
fn a_plan_whose_prompt_no_agent_could_take_is_refused_by_line() -> Outcome {
    let house = House::new()?;
    let plan = format!(
        "[[task]]\nid = \"a\"\nprompt = \"go\"\n[[task]]\nid = \"b\"\nprompt = \"{}\"\n",
        "long ".repeat(2 * 1024 * 1024 / 5)
    );
    std::fs::create_dir_all(house.repo().join(".glis"))?;
    std::fs::write(house.repo().join(".glis/plan.toml"), plan)?;
    for verb in [&["plan", "check"][..], &["execute"]] {
        let output = house.glis().args(verb).output()?;
        assert!(!output.status.success(), "{verb:?}");
        let told = String::from_utf8([output.stdout, output.stderr].concat())?;
        assert!(told.contains("the prompt of `b` has 2.0 MB, and 1 MB is the most"), "{told}");
    }
    Ok(())
}

/// A face of another make may say anything; it is told what is wrong before its connection ends.
#[test]
fn the_daemon_itself_refuses_what_is_too_large() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let mut socket = UnixStream::connect(house.home().join("daemon.sock"))?;
    let mut decoder = Decoder::default();
    let mut next = |socket: &mut UnixStream| -> Outcome<Value> {
        let mut bytes = [0; 4096];
        loop {
            if let Some(frame) = decoder.next_frame()? {
                return Ok(frame.words()?);
            }
            let read = socket.read(&mut bytes)?;
            assert!(read > 0, "the daemon went away without a word");
            decoder.feed(bytes.get(..read).ok_or("too much")?);
        }
    };
    let greeting = next(&mut socket)?;
    socket.write_all(&encode_words(&greeting))?;
    let text = "a".repeat(2 * 1024 * 1024);
    let send = json!({"act": {"session": "blue", "action": {"send": {"text": text}}}});
    socket.write_all(&encode_words(&json!({"request": send})))?;
    let told = next(&mut socket)?["unusable"]["message"].clone();
    assert_eq!(told, "the message as JSON has 2.0 MB, and 1 MB is the most");
    // Only its length: nobody reads the rest.
    socket.write_all(&(10_u32 << 20).to_le_bytes())?;
    let told = next(&mut socket)?["unusable"]["message"].clone();
    assert_eq!(told, "the call has 10.0 MB, and 8 MB is the most");
    assert_eq!(house.show("blue")?["queued"], 0);
    Ok(())
}
