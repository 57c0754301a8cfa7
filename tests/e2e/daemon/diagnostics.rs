//! What the daemon tells about itself: by level, in bounded files, and nothing of what people say.

use crate::support::house::{House, Outcome, eventually};

/// A word of a prompt, and the value of a variable.
const SAID: &str = "quetzalcoatlus";

fn lines(house: &House) -> Outcome<Vec<String>> {
    let told = house.json(&["daemon", "log", "--lines", "100000"])?;
    let lines = told["lines"].as_array().ok_or("no lines")?;
    Ok(lines.iter().filter_map(|line| line.as_str().map(str::to_owned)).collect())
}

#[test]
fn it_is_printed_whether_or_not_the_daemon_runs() -> Outcome {
    let house = House::new()?;
    house.json(&["daemon", "start"])?;
    let begun = |line: &String| line.contains(" INFO ") && line.contains("started, pid");
    assert_eq!(lines(&house)?.iter().filter(|line| begun(line)).count(), 1);
    house.kill_daemon()?;
    assert_eq!(lines(&house)?.iter().filter(|line| begun(line)).count(), 1, "none was started");
    let last = house.ok(&["daemon", "log", "--lines", "1"])?;
    assert_eq!(last.trim_end().lines().count(), 1, "{last}");
    Ok(())
}

#[test]
fn its_level_counts_at_once_and_no_word_of_anybody_is_in_it() -> Outcome {
    let mut house = House::new()?;
    house.surround("SECRET_OF_THE_HOUSE", SAID);
    house.json(&[
        "new",
        "blue",
        "--agent",
        "rehearsal",
        "--headless",
        "--prompt",
        &format!("say {SAID}"),
    ])?;
    house.until("blue", "idle")?;
    house.ok(&["pause", "blue"])?;
    let told = lines(&house)?;
    assert!(told.iter().all(|line| !line.contains(" DEBUG ")), "{told:#?}");
    house.configure("[log]\nlevel = \"debug\"\n")?;
    eventually("the level counts", || {
        house.ok(&["resume", "blue"]).ok();
        house.ok(&["pause", "blue"]).ok();
        let told = lines(&house).unwrap_or_default();
        told.iter().any(|line| line.contains(" DEBUG ") && line.contains("start_ended"))
    })?;
    house.ok(&["resume", "blue", "--prompt", &format!("say {SAID} again")])?;
    house.until("blue", "idle")?;
    let told = lines(&house)?;
    assert!(told.iter().all(|line| !line.contains(SAID)), "{told:#?}");
    Ok(())
}

#[test]
fn a_large_file_is_moved_aside_and_still_read() -> Outcome {
    let house = House::new()?;
    std::fs::create_dir_all(house.home())?;
    let path = house.home().join("daemon.log");
    let mut former = "a line of a former daemon\n".repeat(200_000);
    former.push_str("its last line\n");
    std::fs::write(&path, former)?;
    house.json(&["daemon", "start"])?;
    assert!(std::fs::metadata(&path)?.len() < 100_000, "it goes on in a file of its own");
    let told = lines(&house)?;
    let last = told.iter().position(|line| line == "its last line").ok_or("it is lost")?;
    assert!(
        told.iter().skip(last).any(|line| line.contains("started, pid")),
        "{:?}",
        &told[last..]
    );
    Ok(())
}
