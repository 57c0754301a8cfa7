//! Lines on the screen of any program that look like questions: a pattern answers only what the program
//! asks, while it reads from its terminal.

use crate::daemon::outside::Tenant;
use crate::support::house::{House, Outcome};
use crate::support::skip::skip;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Whether a program is shown here what those that it has started wait for; the test is left out if not.
/// A kernel may hide it from everybody, or from all but root.
fn can_see_who_reads(shell: &mut Command) -> Outcome<bool> {
    // The shell itself reads: another child of it may not.
    let look = "sleep 60 & read call < /proc/$!/syscall; seen=$?; kill $!; exit $seen";
    let looked = shell.args(["-c", look]).output()?;
    if !looked.status.success() {
        let why = String::from_utf8(looked.stderr)?;
        skip(&format!("what a child waits for is hidden: {}", why.trim()), None)?;
    }
    Ok(looked.status.success())
}

fn begin(house: &House, name: &str, script: &str) -> Outcome<Value> {
    house.json(&["new", name, "--agent", "command", "--auto-yes", "--", "sh", "-c", script])
}

/// What the patterns have said: the line, the verdict, and why or by which.
fn judged(house: &House, name: &str) -> Outcome<Vec<[String; 3]>> {
    let log = house.json(&["auto-yes", "log", name])?;
    let told = |one: &Value| {
        let by = if one["rule"].is_null() { "why" } else { "rule" };
        ["text", "verdict", by].map(|key| one[key].as_str().unwrap_or_default().to_owned())
    };
    Ok(log.as_array().ok_or("no list")?.iter().map(told).collect())
}

/// The same question twice is two questions; what is rejected is answered with a no; what no pattern is
/// about waits.
#[test]
fn a_program_that_reads_is_answered_by_pattern() -> Outcome {
    if !can_see_who_reads(&mut Command::new("sh"))? {
        return Ok(());
    }
    let house = House::new()?;
    let script = "for q in 'Go on? [Y/n]' 'Go on? [Y/n]' 'Remove it? [Y/n]' 'Really? [y/N]'; do \
                  printf '%s ' \"$q\"; read word; echo \"got $word\"; done";
    begin(&house, "tool", script)?;
    let waits = house.until("tool", "waiting")?;
    assert_eq!(waits["waiting_for"]["text"], "Really? [y/N]");
    let by_pattern =
        |line: &str, verdict: &str, rule: &str| [line, verdict, rule].map(str::to_owned);
    assert_eq!(
        judged(&house, "tool")?,
        [
            by_pattern("Go on? [Y/n]", "accept", r"\[Y/n\]"),
            by_pattern("Go on? [Y/n]", "accept", r"\[Y/n\]"),
            by_pattern("Remove it? [Y/n]", "reject", "delete|remove|rm -rf"),
            by_pattern("Really? [y/N]", "manual", "no_pattern"),
        ]
    );
    house.ok(&["answer", "tool", "deny"])?;
    house.until("tool", "completed")?;
    let screen = house.ok(&["screen", "tool"])?;
    let words: Vec<_> = screen.lines().filter_map(|line| line.strip_prefix("got ")).collect();
    assert_eq!(words, ["y", "y", "n", "n"], "{screen}");
    Ok(())
}

/// Each prints what looks like a question, and none of them reads a line from its terminal: it waits for
/// something else, it reads in the background, two read at once, it reads keys as an editor does.
#[test]
fn what_only_looks_like_a_question_is_left_to_a_person() -> Outcome {
    if !can_see_who_reads(&mut Command::new("sh"))? {
        return Ok(());
    }
    let house = House::new()?;
    let scripts = [
        ("waits", "mkfifo never; printf 'Go on? [Y/n] '; read word < never"),
        (
            "behind",
            "mkfifo never; set -m; (trap '' TTIN; read word < /dev/tty) & \
             printf 'Go on? [Y/n] '; read word < never",
        ),
        ("both", "printf 'Go on? [Y/n] '; cat /dev/tty > one & cat > two; wait"),
        ("sleeps", "printf 'Go on? [Y/n] '; sleep 1000 < /dev/tty"),
    ];
    for (name, script) in scripts {
        begin(&house, name, script)?;
    }
    for (name, _) in scripts {
        let waits = house.until(name, "waiting")?;
        assert_eq!(waits["waiting_for"]["text"], "Go on? [Y/n]", "{name}");
        let manual = ["Go on? [Y/n]", "manual", "not_reading"].map(str::to_owned);
        assert_eq!(judged(&house, name)?, [manual], "{name}");
        let screen = house.ok(&["screen", name])?;
        assert_eq!(screen.trim(), "Go on? [Y/n]", "nothing was typed: {name}");
    }
    Ok(())
}

/// For root the kernel hides nothing. Where `kernel.yama.ptrace_scope` is 1 a user sees only what their
/// own descendants wait for; a machine without yama shows no more than that no right of root is needed.
#[test]
fn a_user_who_is_not_root_is_answered_for_by_pattern_as_well() -> Outcome {
    if !can_see_who_reads(&mut Tenant::command(Path::new("sh")))? {
        return Ok(());
    }
    let house = House::new()?;
    let user = Tenant::new(&house)?;
    let script = "printf 'Go on? [Y/n] '; read word; echo \"got $word\"";
    user.json(&["new", "tool", "--agent", "command", "--auto-yes", "--", "sh", "-c", script])?;
    let ended = user.json(&["wait", "tool", "--for", "completed,waiting", "--timeout", "60s"])?;
    assert_eq!(ended["status"], "completed", "{ended}");
    let judged = user.json(&["auto-yes", "log", "tool"])?;
    assert_eq!(judged[0]["verdict"], "accept", "{judged}");
    Ok(())
}
