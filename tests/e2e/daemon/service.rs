//! The daemon as a service of systemd: its unit is sound, only the daemon ends with it, and a file
//! of somebody else's is left alone.

use crate::support::house::{Background, House, Outcome, lives};
use crate::support::skip::skip;
use crate::support::wreck::pid_of;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::Command;

/// A house whose user has no systemd: the real user's must hear nothing of a test.
pub(crate) fn house() -> Outcome<House> {
    let mut house = House::new()?;
    for (name, folder) in [("XDG_CONFIG_HOME", "config"), ("XDG_RUNTIME_DIR", "runtime")] {
        let folder = house.folder().join(folder);
        std::fs::create_dir(&folder)?;
        house.surround(name, folder.to_string_lossy());
    }
    house.spare("DBUS_SESSION_BUS_ADDRESS");
    Ok(house)
}

fn install(house: &House) -> Outcome<PathBuf> {
    let told = house.json(&["daemon", "install"])?;
    assert_eq!(told["started"], false, "{told}");
    Ok(PathBuf::from(told["unit"].as_str().ok_or("no unit")?))
}

/// The values of a key of the unit, without the quotes that the file has around them.
fn values(unit: &str, key: &str) -> Vec<String> {
    let values = unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    values.map(|value| value.replace('"', "")).collect()
}

#[test]
fn the_unit_is_sound() -> Outcome {
    let house = house()?;
    let unit = install(&house)?;
    let checked = Command::new("systemd-analyze")
        .args(["--user", "verify"])
        .arg(&unit)
        .env("XDG_RUNTIME_DIR", house.folder().join("runtime"))
        .output();
    let Ok(checked) = checked else {
        return skip("there is no systemd-analyze", Some("systemd"));
    };
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && said.trim().is_empty(), "{said}");
    Ok(())
}

/// Plays what systemd does with `KillMode=process`: the daemon is ended, and nothing else.
#[test]
fn its_stop_leaves_the_agents_running() -> Outcome {
    let house = house()?;
    let unit = std::fs::read_to_string(install(&house)?)?;
    assert_eq!(values(&unit, "KillMode"), ["process"]);
    let line = values(&unit, "ExecStart").pop().ok_or("starts nothing")?;
    let (program, words) = line.split_once(' ').ok_or("no words")?;
    let mut command = Command::new(program);
    command.args(words.split(' ')).env_clear().current_dir("/");
    for variable in values(&unit, "Environment") {
        let (name, value) = variable.split_once('=').ok_or("no value")?;
        command.env(name, value);
    }
    house.around(&mut command);
    let mut service = Background::start(&mut command)?;
    let mut ready = String::new();
    BufReader::new(service.0.stdout.take().ok_or("no output")?).read_line(&mut ready)?;
    assert_eq!(ready, "ready\n");
    let main = i32::try_from(service.0.id())?;
    assert_eq!(house.daemon_pid()?, main);
    house.in_terminal("x")?;
    let agent = pid_of(&house.until("x", "idle")?)?;
    kill_process(Pid::from_raw(main).ok_or("no pid")?, Signal::TERM)?;
    assert!(service.0.wait()?.success(), "a service that is stopped has not failed");
    assert!(lives(agent));
    let after = house.until("x", "idle")?;
    assert_eq!(pid_of(&after)?, agent);
    assert_ne!(house.daemon_pid()?, main);
    Ok(())
}

#[test]
fn it_is_installed_twice_and_removed_twice() -> Outcome {
    let house = house()?;
    let unit = install(&house)?;
    let first = std::fs::read_to_string(&unit)?;
    assert_eq!(install(&house)?, unit);
    assert_eq!(std::fs::read_to_string(&unit)?, first);
    assert_eq!(house.json(&["daemon", "uninstall"])?["removed"], true);
    assert!(!unit.exists());
    assert_eq!(house.json(&["daemon", "uninstall"])?["removed"], false);
    // Nothing of it needs a daemon, and none was started.
    assert_eq!(house.fails(&["daemon", "status"])?.0, 8);
    Ok(())
}

/// The bot has a unit of its own, which goes with the daemon's.
#[test]
fn the_bot_is_a_service_as_well() -> Outcome {
    let house = house()?;
    let (status, error) = house.fails(&["daemon", "install", "--chat"])?;
    assert_eq!(status, 2, "{error}");
    house.configure("[chat.telegram]\nallowed_users = [7]\n")?;
    let told = house.json(&["daemon", "install", "--chat"])?;
    let bot = PathBuf::from(told["bot"].as_str().ok_or("no unit")?);
    let unit = std::fs::read_to_string(&bot)?;
    assert!(values(&unit, "ExecStart")[0].ends_with(" chat"), "{unit}");
    assert_eq!(values(&unit, "After"), [told["name"].as_str().ok_or("no name")?]);
    std::fs::write(&bot, "[Service]\nExecStart=/bin/true\n")?;
    assert_eq!(house.fails(&["daemon", "install", "--chat"])?.0, 4);
    std::fs::write(&bot, &unit)?;
    assert_eq!(house.json(&["daemon", "uninstall"])?["removed"], true);
    assert!(!bot.exists());
    Ok(())
}

#[test]
fn a_unit_of_somebody_else_is_left_alone() -> Outcome {
    let house = house()?;
    let unit = install(&house)?;
    std::fs::write(&unit, "[Service]\nExecStart=/bin/true\n")?;
    for verb in ["install", "uninstall"] {
        let (status, error) = house.fails(&["daemon", verb])?;
        assert_eq!((status, &error["kind"]), (4, &"refused".into()), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&unit)?, "[Service]\nExecStart=/bin/true\n");
    Ok(())
}
