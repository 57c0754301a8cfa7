//! What an agent asks, and how it is answered: once, by the right question, or not at all.

use crate::support::house::{Background, House, Outcome, eventually, kill_and_wait};
use crate::support::wreck::{holder_of, pid_of};
use serde_json::{Value, json};

/// The two faces of the rehearsal agent.
const FACES: [&[&str]; 2] = [&["--headless"], &[]];

fn asked(house: &House, face: &[&str], text: &str) -> Outcome<Value> {
    house.json(&[&["new", "blue", "--agent", "rehearsal"], face].concat())?;
    house.ok(&["send", "blue", text])?;
    house.until("blue", "waiting")
}

#[test]
fn an_approval_is_allowed_or_denied_by_a_word() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        let asks = asked(&house, face, "approve delete everything? ;; write gone.txt x")?;
        assert_eq!(asks["waiting_for"]["kind"], "approval");
        assert_eq!(asks["waiting_for"]["text"], "delete everything?");
        // A slip of the pen is no answer.
        for slip in ["maybe", "Allow", "", "allow "] {
            assert_eq!(house.fails(&["answer", "blue", slip])?.0, 2, "{slip:?}");
        }
        assert_eq!(house.show("blue")?["status"], "waiting");
        house.ok(&["answer", "blue", "deny"])?;
        let idle = house.until("blue", "idle")?;
        assert_eq!(idle["waiting_for"], Value::Null);
        assert!(!house.file("blue", "gone.txt")?.exists());

        house.ok(&["send", "blue", "approve once more? ;; write done.txt x"])?;
        house.until("blue", "waiting")?;
        house.ok(&["answer", "blue", "allow"])?;
        house.until("blue", "idle")?;
        assert!(house.file("blue", "done.txt")?.exists());
    }
    Ok(())
}

#[test]
fn a_question_takes_any_text() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        let asks = asked(&house, face, "question Which colour?")?;
        assert_eq!(asks["waiting_for"]["kind"], "question");
        assert_eq!(asks["waiting_for"]["text"], "Which colour?");
        // Nobody has said anything by that, and leave for a session is no answer to a question.
        for none in [&["answer", "blue", ""][..], &["answer", "blue", "allow", "--for-session"]] {
            assert_eq!(house.fails(none)?.0, 4, "{none:?}");
        }
        assert_eq!(house.show("blue")?["waiting_for"], asks["waiting_for"]);
        house.ok(&["answer", "blue", "caf\u{e9} au lait, -5 % \u{1f43f}"])?;
        house.until("blue", "idle")?;
        let id = asks["agent_session_ref"].as_str().ok_or("no ref")?;
        let transcript = house.home().join("rehearsal").join(format!("{id}.jsonl"));
        let told = std::fs::read_to_string(transcript)?;
        assert!(told.contains("caf\u{e9} au lait, -5 % \u{1f43f}"), "{told}");
    }
    Ok(())
}

/// Nobody has the answer, whether the daemon knows of the death already or not.
#[test]
fn an_answer_to_one_that_was_killed_is_not_given() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        let asks = asked(&house, face, "approve go on?")?;
        kill_and_wait(holder_of(pid_of(&asks)?)?)?;
        let (status, error) = house.fails(&["answer", "blue", "allow"])?;
        assert_eq!((status, &error["kind"]), (4, &json!("refused")), "{error}");
        house.until("blue", "interrupted")?;
    }
    Ok(())
}

#[test]
fn an_answer_is_for_the_question_it_names() -> Outcome {
    let house = House::new()?;
    let asks = asked(&house, FACES[0], "approve one? ;; approve two?")?;
    let (status, error) = house.fails(&["answer", "blue", "allow", "--request", "other"])?;
    let open = asks["waiting_for"]["request"].as_str().ok_or("no request")?.to_owned();
    assert_eq!(status, 4);
    assert!(error["message"].as_str().is_some_and(|m| m.contains(&open)), "{error}");
    house.ok(&["answer", "blue", "allow", "--request", &open])?;
    house.follow(1)?.until(|e| e["event"] == "ask_gone")?;
    house.until("blue", "waiting")?;
    // The second question is another one: the answer to the first is void.
    assert_eq!(house.fails(&["answer", "blue", "allow", "--request", &open])?.0, 4);
    let second = house.show("blue")?;
    assert_eq!(second["waiting_for"]["text"], "two?");
    Ok(())
}

#[test]
fn two_answers_at_once_count_as_one() -> Outcome {
    let house = House::new()?;
    asked(&house, FACES[0], "approve one? ;; approve two?")?;
    let request = house.show("blue")?["waiting_for"]["request"].clone();
    let request = request.as_str().ok_or("no request")?;
    let answer = ["answer", "blue", "allow", "--request", request];
    let answers = (0..4)
        .map(|_| Background::start(house.glis().args(answer)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut given = 0;
    for mut answer in answers {
        given += u32::from(answer.0.wait()?.success());
    }
    assert_eq!(given, 1);
    house.until("blue", "waiting")?;
    assert_eq!(house.show("blue")?["waiting_for"]["text"], "two?");
    assert_eq!(house.fails(&["answer", "blue", "allow", "--request", request])?.0, 4);
    house.ok(&["answer", "blue", "allow"])?;
    house.until("blue", "idle")?;
    assert_eq!(house.fails(&["answer", "blue", "allow"])?.0, 4);
    Ok(())
}

#[test]
fn a_question_outlives_the_daemon_and_ends_with_the_process() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        let before = asked(&house, face, "approve go on? ;; write done.txt x")?;
        house.kill_daemon()?;
        let after = house.show("blue")?;
        assert_eq!(after["waiting_for"], before["waiting_for"]);
        house.ok(&["answer", "blue", "allow"])?;
        house.until("blue", "idle")?;
        assert!(house.file("blue", "done.txt")?.exists());

        house.ok(&["send", "blue", "approve again?"])?;
        let asks = house.until("blue", "waiting")?;
        kill_and_wait(i32::try_from(asks["pid"].as_i64().ok_or("no pid")?)?)?;
        let dead = house.until("blue", "interrupted")?;
        assert_eq!(dead["waiting_for"], Value::Null);
        assert_eq!(dead["was_asking"][0]["text"], "again?");
        assert_eq!(house.fails(&["answer", "blue", "allow"])?.0, 4);

        house.ok(&["resume", "blue"])?;
        house.until("blue", "idle")?;
        house.ok(&["send", "blue", "approve once more?"])?;
        house.until("blue", "waiting")?;
        let stopped = house.json(&["stop", "blue"])?;
        assert_eq!(stopped["was_asking"][0]["text"], "once more?", "{stopped}");
    }
    Ok(())
}

#[test]
fn what_was_asked_when_a_session_was_paused_is_kept_and_cannot_be_answered() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        asked(&house, face, "approve push to main?")?;
        let paused = house.json(&["pause", "blue"])?;
        assert_eq!(paused["status"], "paused");
        assert_eq!(paused["waiting_for"], Value::Null);
        assert_eq!(paused["was_asking"][0]["text"], "push to main?");
        house.kill_daemon()?;
        let after = house.show("blue")?;
        assert_eq!(
            (&after["waiting_for"], &after["was_asking"][0]["text"]),
            (&Value::Null, &json!("push to main?"))
        );
        assert_eq!(house.fails(&["answer", "blue", "allow"])?.0, 4);
        for told in [house.ok(&["show", "blue"])?, house.ok(&["ls"])?] {
            assert!(told.contains("push to main?") && !told.contains("glis answer"), "{told}");
        }
        house.ok(&["resume", "blue"])?;
        let idle = house.until("blue", "idle")?;
        // Nobody has answered it: that stays to be seen until the agent has words again.
        assert_eq!(idle["waiting_for"], Value::Null);
        assert_eq!(idle["was_asking"][0]["text"], "push to main?");
        let told = house.turn("blue", "say gone on")?;
        assert_eq!(told["was_asking"], json!([]));
    }
    Ok(())
}

#[test]
fn messages_wait_behind_a_question() -> Outcome {
    let house = House::new()?;
    asked(&house, FACES[1], "approve first?")?;
    house.ok(&["send", "blue", "say second"])?;
    let waiting = house.show("blue")?;
    assert_eq!((&waiting["status"], &waiting["queued"]), (&json!("waiting"), &json!(1)));
    house.ok(&["answer", "blue", "allow"])?;
    house.turn("blue", "say third")?;
    let talk = house.talk("blue")?;
    let users: Vec<_> = talk.iter().filter(|(v, _)| v == "user").map(|(_, t)| t.as_str()).collect();
    assert_eq!(users, ["approve first?", "say second", "say third"]);
    Ok(())
}

#[test]
fn a_question_on_the_screen_of_any_program_is_answered_with_its_letter() -> Outcome {
    let house = House::new()?;
    let script = "printf 'Install it? [Y/n] '; read word; echo \"got $word\"; \
                  printf 'Which one? '; read word; echo \"got $word\"";
    house.command("tool", &["sh", "-c", script])?;
    let asks = house.until("tool", "waiting")?;
    assert_eq!(asks["waiting_for"]["text"], "Install it? [Y/n]");
    assert_eq!(asks["waiting_for"]["kind"], "approval");
    house.ok(&["answer", "tool", "allow"])?;
    let second = house.follow(1)?.until(|e| {
        e["event"] == "asked" && e["ask"]["text"].as_str().is_some_and(|t| t == "Which one?")
    })?;
    assert_ne!(second["ask"]["id"], asks["waiting_for"]["request"]);
    // An unknown program may want any word.
    house.ok(&["answer", "tool", "blue"])?;
    house.until("tool", "completed")?;
    let screen = house.ok(&["screen", "tool"])?;
    assert!(screen.contains("got y") && screen.contains("got blue"), "{screen}");
    Ok(())
}

#[test]
fn an_answer_that_nobody_takes_is_not_told_as_answered() -> Outcome {
    use rustix::process::{Pid, Signal, kill_process};
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    house.ok(&["send", "blue", "approve go?"])?;
    let agent = Pid::from_raw(pid_of(&house.until("blue", "waiting")?)?).ok_or("no pid")?;
    kill_process(agent, Signal::STOP)?;
    assert_eq!(house.ok(&["answer", "blue", "allow"])?, "answer sent; `blue` still asks\n");
    kill_process(agent, Signal::CONT)?;
    house.until("blue", "idle")?;
    house.ok(&["send", "blue", "approve again?"])?;
    house.until("blue", "waiting")?;
    assert!(house.ok(&["answer", "blue", "allow"])?.starts_with("answered; `blue` is "));
    Ok(())
}

/// An agent that takes no reason with a no is told as soon as it takes a message.
#[test]
fn a_no_is_told_with_its_reason() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "approve run it ;; write done.txt x"])?;
    house.until("blue", "waiting")?;
    let (status, error) = house.fails(&["answer", "blue", "allow", "--reason", "x"])?;
    assert_eq!((status, &error["kind"]), (2, &json!("usage")), "{error}");
    let (status, _) = house.fails(&["answer", "blue", "deny", "--reason", " "])?;
    assert_eq!(status, 2);
    house.ok(&["answer", "blue", "deny", "--reason", "say it is Friday"])?;
    eventually("the reason has arrived", || {
        house.show("blue").is_ok_and(|now| now["status"] == "idle" && now["queued"] == 0)
    })?;
    assert!(!house.file("blue", "done.txt")?.exists());
    let talk = house.talk("blue")?;
    assert!(talk.contains(&("user".to_owned(), "say it is Friday".to_owned())), "{talk:?}");
    Ok(())
}

/// `resume --answer` is for a session that waits, and says how another one is.
#[test]
fn a_session_that_waits_goes_on_with_an_answer() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    let (status, error) = house.fails(&["resume", "blue", "--answer", "allow"])?;
    assert_eq!((status, &error["kind"]), (4, &json!("refused")), "{error}");
    assert!(error["message"].as_str().is_some_and(|m| m.contains("is idle and asks nothing")));
    house.ok(&["send", "blue", "approve run it ;; write done.txt x"])?;
    house.until("blue", "waiting")?;
    let (status, _) = house.fails(&["resume", "blue", "--answer", "perhaps"])?;
    assert_eq!(status, 2, "a slip of the pen is no answer");
    house.json(&["resume", "blue", "--answer", "allow"])?;
    house.until("blue", "idle")?;
    assert!(house.file("blue", "done.txt")?.exists());
    house.ok(&["pause", "blue"])?;
    let (_, error) = house.fails(&["resume", "blue", "--answer", "allow"])?;
    assert!(error["message"].as_str().is_some_and(|m| m.contains("is paused")), "{error}");
    assert_eq!(house.show("blue")?["status"], "paused");
    for wrong in [&["resume", "--all", "--answer", "x"][..], &["resume", "a", "b", "--answer", "x"]]
    {
        assert_eq!(house.fails(wrong)?.0, 2, "{wrong:?}");
    }
    Ok(())
}

/// By rule nothing but Enter is typed.
#[test]
fn a_rule_presses_enter_where_a_program_waits_for_it() -> Outcome {
    let house = House::new()?;
    let script = "printf 'Press Enter to continue... '; read x; echo \"got <$x>\"; sleep 600";
    house.json(&["new", "tool", "--auto-yes", "--", "sh", "-c", script])?;
    eventually("it was Enter", || {
        house.ok(&["screen", "tool"]).is_ok_and(|screen| screen.contains("got <>"))
    })
}

#[test]
fn a_program_that_waits_for_enter_asks_and_an_empty_message_is_its_enter() -> Outcome {
    let house = House::new()?;
    let script = "printf 'Press Enter to continue... '; read x; printf 'Continue?'; read y; \
                  echo \"got <$x> <$y>\"; sleep 600";
    house.command("tool", &["sh", "-c", script])?;
    let asks = house.until("tool", "waiting")?;
    assert_eq!(asks["waiting_for"]["text"], "Press Enter to continue...");
    house.ok(&["send", "tool", ""])?;
    eventually("it asks again", || {
        house.show("tool").is_ok_and(|shown| shown["waiting_for"]["text"] == "Continue?")
    })?;
    house.ok(&["send", "tool", ""])?;
    eventually("both were Enter", || {
        house.ok(&["screen", "tool"]).is_ok_and(|screen| screen.contains("got <> <>"))
    })?;
    house.rehearsal("blue")?;
    let (status, error) = house.fails(&["send", "blue", ""])?;
    assert_eq!((status, &error["message"]), (2, &json!("the message is empty")));
    Ok(())
}
