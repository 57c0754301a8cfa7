//! The limits of a process: those of the command that starts it.

use crate::support::house::{House, Outcome, eventually, program};

#[test]
fn a_process_gets_the_limits_of_the_command_that_starts_it() -> Outcome {
    let house = House::new()?;
    house.ok(&["daemon", "start"])?;
    let glis = program();
    let glis = glis.to_str().ok_or("path")?;
    let mut shell = std::process::Command::new("sh");
    let line = format!(
        "ulimit -n 321; ulimit -c 0; exec {glis} new blue --agent command -- sh -c 'ulimit -n; ulimit -c; sleep 600'"
    );
    house.enter(shell.args(["-c", &line])).current_dir(house.repo());
    assert!(shell.output()?.status.success());
    eventually("it has the caller's", || {
        house.ok(&["output", "blue"]).is_ok_and(|o| o.replace('\r', "").contains("321\n0\n"))
    })?;
    // Another caller, other limits.
    house.ok(&["stop", "blue"])?;
    let before = house.ok(&["output", "blue"])?.len();
    shell = std::process::Command::new("sh");
    let line = format!("ulimit -n 654; exec {glis} resume blue");
    house.enter(shell.args(["-c", &line])).current_dir(house.repo());
    assert!(shell.output()?.status.success());
    eventually("it has the next caller's", || {
        house
            .ok(&["output", "blue"])
            .is_ok_and(|o| o.get(before..).is_some_and(|new| new.contains("654")))
    })?;
    Ok(())
}
