//! Memory that runs short: idle sessions are suspended, the longest idle first, one at a time.

use crate::support::house::{House, Outcome, eventually};
use serde_json::Value;

fn status(house: &House, name: &str) -> String {
    let shown = house.show(name).unwrap_or_default();
    shown["status"].as_str().unwrap_or_default().to_owned()
}

/// Three that are idle, the oldest first, and one at work.
fn house_of_four() -> Outcome<House> {
    let house = House::new()?;
    populate(&house)?;
    Ok(house)
}

fn populate(house: &House) -> Outcome {
    for name in ["old", "young", "youngest"] {
        house.rehearsal(name)?;
        house.turn(name, "hold 8 ;; say hello")?;
    }
    house.rehearsal("busy")?;
    house.ok(&["send", "busy", "work 600"])?;
    house.until("busy", "busy").map(drop)
}

#[test]
fn the_longest_idle_goes_first_and_no_busy_one_ever() -> Outcome {
    let house = house_of_four()?;
    // Longest idle is what has done nothing for longest, whatever was made first.
    house.turn("old", "say again")?;
    house.ok(&["timeout", "youngest", "off"])?;
    let held = house.show("young")?["memory_bytes"].as_u64().ok_or("no memory")?;
    assert!(held > 0);
    let ls = house.ok(&["ls"])?;
    assert!(ls.contains("MEMORY") && ls.contains(" MB"), "{ls}");
    house.runs_short()?;
    let suspended = house.until("young", "suspended")?;
    assert_eq!(suspended["pause_reason"], "resource", "{suspended}");
    assert_eq!((&suspended["memory_bytes"], &suspended["pid"]), (&Value::Null, &Value::Null));
    assert_eq!(status(&house, "old"), "idle", "one at a time");
    let back = |house: &House| -> Outcome<u64> {
        let told = house.json(&["daemon", "status"])?;
        Ok(told["memory_given_back_bytes"].as_u64().ok_or("not told")?)
    };
    let first = back(&house)?;
    assert!(first > 0);
    assert!(house.ok(&["ls"])?.contains("MB given back by suspended sessions"));
    house.runs_short()?;
    house.until("old", "suspended")?;
    assert!(back(&house)? > first);
    // There is nothing left that may go; what is asked then is answered behind it.
    house.runs_short()?;
    house.turn("young", "say back")?;
    assert_eq!(
        (status(&house, "youngest"), status(&house, "busy")),
        ("idle".into(), "busy".into())
    );
    Ok(())
}

#[test]
fn a_kernel_that_measures_no_pressure_is_asked_for_what_is_left() -> Outcome {
    let house = House::new()?;
    let meminfo = |percent: u32| {
        let text = format!("MemTotal: 100000 kB\nMemAvailable: {} kB\n", percent * 1000);
        std::fs::write(house.memory().join("meminfo"), text)
    };
    meminfo(50)?;
    populate(&house)?;
    assert_eq!(status(&house, "old"), "idle");
    meminfo(5)?;
    // The house is idle but for one at work: the next thing that takes memory is looked at.
    eventually("one that is idle goes", || {
        house.turn("youngest", "say more").ok();
        status(&house, "old") == "suspended"
    })?;
    // It did not ease: the next one follows, and so on. A message wakes each of them all the same.
    eventually("the next one follows", || status(&house, "young") == "suspended")?;
    assert_eq!(status(&house, "busy"), "busy");
    Ok(())
}

#[test]
fn it_can_be_switched_off() -> Outcome {
    let house = House::new()?;
    house.configure("[memory]\nenabled = false\n")?;
    populate(&house)?;
    // Only the oldest could go.
    house.ok(&["timeout", "young", "off"])?;
    house.ok(&["timeout", "youngest", "off"])?;
    house.runs_short()?;
    house.turn("youngest", "say still here")?;
    assert_eq!(status(&house, "old"), "idle");
    // Switched on, the next time is heeded, for which another one is left. What was told before that was
    // looked at before, so that the oldest would be gone by then.
    house.ok(&["timeout", "old", "off"])?;
    house.ok(&["timeout", "young", "10"])?;
    house.configure("[memory]\nenabled = true\n")?;
    // A call is what has the daemon look at its configuration.
    house.ok(&["ls"])?;
    house.runs_short()?;
    house.until("young", "suspended")?;
    assert_eq!(status(&house, "old"), "idle");
    Ok(())
}

/// What holds a megabyte would be gone, and the machine as short of memory as before.
#[test]
fn what_gives_nothing_back_is_left_alone() -> Outcome {
    let house = House::new()?;
    house.rehearsal("light")?;
    house.turn("light", "say hello")?;
    house.rehearsal("heavy")?;
    house.turn("heavy", "hold 8 ;; say hello")?;
    house.runs_short()?;
    house.until("heavy", "suspended")?;
    assert_eq!(status(&house, "light"), "idle", "it has been idle for longer");
    Ok(())
}
