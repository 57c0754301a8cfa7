//! Holders that are stopped, hang or lose their socket. Nothing waits for them for ever.

use crate::support::freezer::Freezer;
use crate::support::held::{BOUND, NO_FREEZER, goes_on, held, signal, warnings};
use crate::support::house::{House, Outcome, eventually, lives};
use crate::support::skip::skip;
use crate::support::wreck::{folder, text_of};
use rustix::process::Signal;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn a_forced_pause_wakes_a_holder_that_is_stopped() -> Outcome {
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    signal(holder, Signal::STOP)?;
    let begun = Instant::now();
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert!(begun.elapsed() < BOUND);
    assert_eq!(paused["status"], "paused");
    let told = format!("its holder (pid {holder}) did not answer");
    assert!(warnings(&paused).contains(&told), "{paused}");
    goes_on(&house, &session)
}

#[test]
fn a_message_wakes_a_holder_that_is_stopped() -> Outcome {
    let house = House::new()?;
    let (_, holder) = held(&house)?;
    signal(holder, Signal::STOP)?;
    house.turn("blue", "say hello")?;
    let diary = fs::read_to_string(house.home().join("daemon.log"))?;
    assert!(diary.contains(&format!("its holder (pid {holder}) was stopped")), "{diary}");
    Ok(())
}

/// Stops a process again and again, until this is dropped.
struct Stopper(Arc<AtomicBool>);

impl Stopper {
    fn of(pid: i32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) && signal(pid, Signal::STOP).is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Self(over)
    }
}

impl Drop for Stopper {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_holder_that_nothing_wakes_is_ended_and_its_tree_is_swept() -> Outcome {
    for verb in [&["pause", "blue", "--mode", "force"][..], &["stop", "blue"]] {
        let house = House::new()?;
        let (session, holder) = held(&house)?;
        let stopper = Stopper::of(holder);
        let begun = Instant::now();
        let ended = house.json(verb)?;
        assert!(begun.elapsed() < BOUND, "{verb:?}");
        drop(stopper);
        let told = format!("its holder (pid {holder}) did not answer and was ended");
        assert!(warnings(&ended).contains(&told), "{ended}");
        assert!(!lives(holder));
        goes_on(&house, &session)?;
    }
    Ok(())
}

#[test]
fn a_holder_whose_socket_is_gone_is_found_by_the_next_daemon() -> Outcome {
    let house = House::new()?;
    let (session, _) = held(&house)?;
    let dir = folder(&house, &text_of(&session, "id")?);
    fs::remove_file(dir.join("hold.sock"))?;
    house.kill_daemon()?;
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert_eq!(paused["status"], "paused");
    goes_on(&house, &session)
}

#[test]
fn a_stopped_holder_without_a_socket_does_not_keep_the_next_daemon() -> Outcome {
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    let dir = folder(&house, &text_of(&session, "id")?);
    signal(holder, Signal::STOP)?;
    fs::remove_file(dir.join("hold.sock"))?;
    house.kill_daemon()?;
    let begun = Instant::now();
    let stopped = house.json(&["stop", "blue"])?;
    assert!(begun.elapsed() < BOUND);
    assert_eq!(stopped["status"], "suspended");
    goes_on(&house, &session)
}

#[test]
fn a_holder_that_cannot_even_be_killed_is_named() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let house = House::new()?;
    let (session, holder) = held(&house)?;
    freezer.freeze(holder)?;
    let begun = Instant::now();
    let (status, error) = house.fails(&["pause", "blue", "--mode", "force"])?;
    assert!(begun.elapsed() < BOUND);
    assert_eq!(status, 1, "{error}");
    let told = format!("its holder (pid {holder}) did not answer and could not be ended");
    assert!(text_of(&error, "message")?.contains(&told), "{error}");
    freezer.thaw()?;
    eventually("the holder dies once it can", || !lives(holder))?;
    house.json(&["pause", "blue"])?;
    goes_on(&house, &session)
}
