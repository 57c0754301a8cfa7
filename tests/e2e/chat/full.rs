//! A disk without room, and a file that is gone or damaged: the bot goes on.

use crate::disk::full::Small;
use crate::support::bot::BotHouse;
use crate::support::house::{House, Outcome, eventually, lives};
use rustix::mount::MountFlags;

#[test]
fn a_full_disk_is_waited_out() -> Outcome {
    let house = House::new()?;
    let Some(disk) = Small::at(&house.home(), "size=8m,mode=700", MountFlags::empty())? else {
        return Ok(());
    };
    let mut bot = BotHouse::over(house, "rehearsal", "")?;
    bot.start()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("approve go on? ;; say gone on.", "blue asks for approval")?;
    let ballast = disk.fill()?;
    bot.press("Allow once")?;
    bot.say("say and on.");
    let log = || std::fs::read_to_string(bot.log()).unwrap_or_default();
    eventually("the bot has no room", || log().contains("chat.db"))?;
    assert_eq!((bot.count("gone on."), bot.count("and on.")), (0, 0));
    std::fs::remove_file(ballast)?;
    bot.hear("gone on.")?;
    bot.hear("and on.")?;
    assert_eq!((bot.count("gone on."), bot.count("and on.")), (1, 1), "{}", log());
    assert!(lives(i32::try_from(bot.pid()?)?), "{}", log());
    Ok(())
}

/// A power failure or a bad disk takes what the bot knew, and no session.
#[test]
fn a_damaged_file_is_kept_and_told_of_and_the_bot_runs() -> Outcome {
    let mut bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one.", "one.")?;
    bot.kill();
    let file = bot.house.home().join("chat.db");
    std::fs::write(&file, "not a database".repeat(100))?;
    // All of it is there as well, after a kill.
    std::fs::remove_file(bot.house.home().join("chat.db-wal"))?;
    bot.start()?;
    bot.hear("What this bot knew was damaged. It is kept as chat.db.damaged-")?;
    bot.ask("say two.", "No active session")?;
    bot.ask("/switch blue", "Switched to blue")?;
    bot.ask("say three.", "three.")?;
    let log = std::fs::read_to_string(bot.log())?;
    assert!(log.contains("chat.db is damaged; it is kept as chat.db.damaged-"), "{log}");
    let kept = std::fs::read_dir(bot.house.home())?.flatten();
    let kept = kept.filter(|entry| entry.file_name().to_string_lossy().starts_with("chat.db.dam"));
    let kept: Vec<String> = kept.filter_map(|it| std::fs::read_to_string(it.path()).ok()).collect();
    assert_eq!(kept, ["not a database".repeat(100)]);
    let doctor = String::from_utf8(bot.house.glis().arg("doctor").output()?.stdout)?;
    assert!(doctor.contains("the bot @glis_test_bot works"), "{doctor}");
    assert!(
        doctor.contains("what the bot knew was damaged and is kept as chat.db.dam"),
        "{doctor}"
    );
    assert!(!doctor.contains("a damaged log"), "the event log is sound: {doctor}");
    // It is told once.
    bot.kill();
    bot.start()?;
    bot.ask("say four.", "four.")?;
    assert_eq!(bot.count("was damaged"), 1);
    Ok(())
}
