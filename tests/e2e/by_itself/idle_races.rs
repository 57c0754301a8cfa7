//! A message at the very moment at which an idle session's time is over: it is worked off exactly once,
//! by the process that is there or by the next one.

use crate::support::house::{House, Outcome, eventually};
use std::time::Duration;

/// From well before the time is over to well after the process is gone.
const MOMENTS_MS: [u64; 12] = [0, 1, 2, 3, 5, 8, 12, 18, 30, 60, 120, 250];

/// Sends a message so many milliseconds after, or before, its time is over.
fn meets(house: &House, n: usize, moment: Duration, first: &str) -> Outcome {
    let text = format!("append heard.txt message-{n}\\n");
    std::thread::scope(|scope| -> Outcome {
        let sender = scope.spawn(|| {
            // Not for a state to come: the moments are what is tried here.
            if first == "time" {
                std::thread::sleep(moment);
            }
            house.json(&["send", "blue", &text]).map_err(|fault| fault.to_string())
        });
        if first == "message" {
            std::thread::sleep(moment);
        }
        house.pass_minutes(10);
        sender.join().map_err(|_| "the sender panicked")??;
        Ok(())
    })
}

/// Wakes it where a message that came long before was worked off, and then its time was over.
fn is_awake(house: &House) -> Outcome {
    eventually("it is awake", || {
        let Ok(shown) = house.show("blue") else { return false };
        if shown["status"] == "suspended" && shown["queued"] == 0 {
            house.turn("blue", "say awake").ok();
        }
        shown["status"] == "idle" && house.timers_set("idle") > 0
    })
}

/// Plays every moment, and looks whether each message was worked off once.
fn each_message_is_worked_off_once(face: &[&str]) -> Outcome {
    let house = House::of_moved_time()?;
    house.json(&[&["new", "blue", "--agent", "rehearsal"], face].concat())?;
    house.turn("blue", "write heard.txt begun\\n")?;
    let mut sent = 0;
    for first in ["time", "message"] {
        for moment in MOMENTS_MS {
            is_awake(&house)?;
            meets(&house, sent, Duration::from_millis(moment), first)?;
            sent += 1;
            let heard = format!("message-{}", sent - 1);
            eventually("it is heard", || {
                let file =
                    house.file("blue", "heard.txt").and_then(|f| Ok(std::fs::read_to_string(f)?));
                file.is_ok_and(|text| text.contains(&heard))
            })?;
        }
    }
    house.until("blue", "idle,suspended")?;
    let text = std::fs::read_to_string(house.file("blue", "heard.txt")?)?;
    let talk = house.talk("blue")?;
    for n in 0..sent {
        let word = format!("message-{n}");
        let times = text.split_whitespace().filter(|heard| *heard == word).count();
        assert_eq!(times, 1, "{word}: {text}");
        let told = format!("append heard.txt {word}\\n");
        let said = talk.iter().filter(|(voice, text)| voice == "user" && *text == told).count();
        assert_eq!(said, 1, "{word}: {talk:?}");
    }
    let events = house.ok(&["events"])?;
    assert!(!events.contains("message_doubted"), "a message was in doubt");
    assert!(!events.contains("\"interrupted\""), "a process died uncleanly");
    let woken = events.lines().filter(|line| line.contains("stop_began")).count();
    assert!(woken > 0, "no moment met a stop");
    Ok(())
}

#[test]
fn a_message_at_the_moment_of_suspension_is_worked_off_once_headless() -> Outcome {
    each_message_is_worked_off_once(&["--headless"])
}

#[test]
fn a_message_at_the_moment_of_suspension_is_worked_off_once_in_a_terminal() -> Outcome {
    each_message_is_worked_off_once(&[])
}
