//! A disk without room: the bot waits for some, and goes on as if there had always been.

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

/// Somebody cleans up, and takes the bot's file away while it runs.
#[test]
fn what_the_bot_knows_outlives_its_file() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one.", "one.")?;
    let file = bot.house.home().join("chat.db");
    std::fs::remove_file(&file)?;
    bot.ask("say two.", "two.")?;
    assert!(file.exists());
    let log = std::fs::read_to_string(bot.log())?;
    assert_eq!(log.matches("beginning anew").count(), 1, "{log}");
    bot.ask("/status", "blue \u{b7} rehearsal")?;
    Ok(())
}
