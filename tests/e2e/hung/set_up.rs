//! A set-up command that hangs.

use crate::support::house::{Background, House, Outcome, await_gone, eventually};
use crate::support::wreck::text_of;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn a_forced_pause_ends_a_set_up_that_hangs_and_the_next_start_runs_it_again() -> Outcome {
    let house = House::new()?;
    let repo = house.repo().canonicalize()?.display().to_string();
    let (began, once) = (house.folder().join("began"), house.folder().join("once"));
    // The first time it hangs, with a child in a session of its own.
    let setup = format!(
        "if [ -e {once} ]; then echo done > set-up.txt; exit 0; fi; touch {once}; \
         setsid sleep 600 & echo $! $$ > {began}; sleep 600 & wait",
        once = once.display(),
        began = began.display()
    );
    house.configure(&format!("[repository.{repo:?}]\nsetup = {setup:?}\n"))?;
    let words = ["new", "blue", "--agent", "rehearsal", "--headless", "--prompt", "say hello"];
    let mut new = Background::start(house.glis().args(words))?;
    eventually("the set-up runs", || fs::read_to_string(&began).is_ok_and(|s| s.ends_with('\n')))?;
    let pids = fs::read_to_string(&began)?;
    let pids: Vec<i32> = pids.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let (status, error) = house.fails(&["pause", "blue"])?;
    assert_eq!((status, &error["kind"]), (7, &"busy".into()), "{error}");
    let hint = text_of(&error, "hint")?;
    assert!(hint.contains("pause blue --mode force") && hint.contains("stop blue"), "{hint}");
    let begun = Instant::now();
    let told = house.ok(&["pause", "blue", "--mode", "force"])?;
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(told.contains("its start was called off"), "{told}");
    for pid in pids {
        await_gone(pid)?;
    }
    assert_eq!(new.0.wait()?.code(), Some(4), "a start that was called off is no success");
    let paused = house.show("blue")?;
    assert_eq!((&paused["status"], &paused["queued"]), (&"paused".into(), &1.into()), "{paused}");
    assert!(paused["setup_notes"].to_string().contains("runs it again"), "{paused}");
    house.json(&["resume", "blue"])?;
    let idle = house.until("blue", "idle")?;
    assert_eq!(idle["setup_notes"], serde_json::json!([]), "{idle}");
    assert_eq!(fs::read_to_string(house.file("blue", "set-up.txt")?)?, "done\n");
    assert!(house.ok(&["log", "blue"])?.contains("say hello"));
    Ok(())
}
