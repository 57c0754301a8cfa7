//! Notifications: what the user is told of, once, and by which way.

use crate::support::clock::WallClock;
use crate::support::house::{House, Outcome, eventually, kill_and_wait};
use crate::support::planned::{Window, plan, task};
use crate::support::wreck::pid_of;
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A house whose notices are lines of a file.
fn noted() -> Outcome<(House, PathBuf)> {
    let house = House::of_moved_time()?;
    let file = house.folder().join("news.jsonl");
    house.configure(&format!("[notify]\ncommand = \"cat >> '{}'\"\n", file.display()))?;
    Ok((house, file))
}

fn notices(file: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Waits for a number of notices, and returns who they are about and of what kind.
fn told(house: &House, file: &PathBuf, number: usize) -> Outcome<Vec<(String, String)>> {
    house.while_time_flies(|| {
        eventually(&format!("{number} notices"), || notices(file).len() >= number)
    })?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |notice: &Value| (text(&notice["session"]["name"]), text(&notice["kind"]));
    Ok(notices(file).iter().map(of).collect())
}

fn pair(name: &str, kind: &str) -> (String, String) {
    (name.to_owned(), kind.to_owned())
}

#[test]
fn what_waits_has_finished_or_has_failed_is_told_once() -> Outcome {
    let (house, file) = noted()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "approve use ghp_0123456789abcdefghijklmnopqrstuvwxyz01?"])?;
    house.until("blue", "waiting")?;
    assert_eq!(told(&house, &file, 1)?, [pair("blue", "waiting")]);
    let notice = notices(&file).remove(0);
    assert_eq!(
        (&notice["status"], &notice["event"]["event"]),
        (&json!("waiting"), &json!("asked"))
    );
    assert!(notice["text"].as_str().is_some_and(|text| text.contains("[redacted]")), "{notice}");
    assert!(!notice.to_string().contains("ghp_0123"), "{notice}");
    house.ok(&["answer", "blue", "deny"])?;
    house.until("blue", "idle")?;
    assert_eq!(told(&house, &file, 2)?[1], pair("blue", "finished"));
    let pid = pid_of(&house.show("blue")?)?;
    kill_and_wait(pid)?;
    house.until("blue", "interrupted")?;
    assert_eq!(told(&house, &file, 3)?[2], pair("blue", "failed"));
    Ok(())
}

/// Whoever has resumed it, or a time: it stands still until somebody tells it to go on.
#[test]
fn what_a_pause_has_cut_off_its_question_is_told_when_it_is_back() -> Outcome {
    let (house, file) = noted()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "approve run make x"])?;
    house.until("blue", "waiting")?;
    assert_eq!(told(&house, &file, 1)?, [pair("blue", "waiting")]);
    house.ok(&["pause", "blue"])?;
    house.ok(&["resume", "blue"])?;
    assert_eq!(told(&house, &file, 2)?[1], pair("blue", "waiting"));
    let notice = notices(&file).remove(1);
    let text = notice["text"].as_str().unwrap_or_default();
    assert!(text.contains("before its pause it asked") && text.contains("make x"), "{notice}");
    Ok(())
}

#[test]
fn a_resume_is_no_news_and_neither_is_a_restart_of_the_daemon() -> Outcome {
    let (house, file) = noted()?;
    for name in ["blue", "red"] {
        house.rehearsal(name)?;
    }
    house.turn("blue", "say hello")?;
    assert_eq!(told(&house, &file, 1)?, [pair("blue", "finished")]);
    house.ok(&["send", "red", "question Which colour?"])?;
    house.until("red", "waiting")?;
    assert_eq!(told(&house, &file, 2)?[1], pair("red", "waiting"));
    house.kill_daemon()?;
    house.ok(&["pause", "blue"])?;
    house.ok(&["resume", "blue"])?;
    house.until("blue", "idle")?;
    // The next thing that is told is the next thing that has happened.
    house.turn("blue", "say again")?;
    assert_eq!(told(&house, &file, 3)?[2..], [pair("blue", "finished")]);
    Ok(())
}

#[test]
fn a_usage_limit_is_told_once_with_its_reset() -> Outcome {
    let (house, file) = noted()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "limit +3600"])?;
    house.until("blue", "paused")?;
    assert_eq!(told(&house, &file, 1)?, [pair("blue", "limit")]);
    let text = notices(&file).remove(0)["text"].to_string();
    assert!(text.contains("its usage limit is reached; it resets at 20"), "{text}");
    house.ok(&["resume", "blue"])?;
    house.until("blue", "idle")?;
    assert_eq!(told(&house, &file, 2)?[1..], [pair("blue", "finished")]);
    Ok(())
}

#[test]
fn what_happened_while_no_daemon_ran_is_told_by_the_next() -> Outcome {
    let (house, file) = noted()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    told(&house, &file, 1)?;
    let pid = pid_of(&house.show("blue")?)?;
    house.kill_daemon()?;
    kill_and_wait(pid)?;
    house.ok(&["ls"])?;
    assert_eq!(told(&house, &file, 2)?[1], pair("blue", "failed"));
    Ok(())
}

#[test]
fn only_what_was_asked_for_is_told_and_a_command_that_hangs_holds_nothing_up() -> Outcome {
    let (house, file) = noted()?;
    let text = format!(
        "[notify]\non = [\"waiting\"]\ncommand = \"cat >> '{}'; exit 3\"\n",
        file.display()
    );
    house.configure(&text)?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    house.ok(&["send", "blue", "question Which colour?"])?;
    house.until("blue", "waiting")?;
    assert_eq!(told(&house, &file, 1)?, [pair("blue", "waiting")]);
    let hangs = text.replace("exit 3", "exec sleep 15");
    house.configure(&hangs)?;
    house.ok(&["answer", "blue", "green"])?;
    house.until("blue", "idle")?;
    house.ok(&["send", "blue", "question Which shape?"])?;
    house.until("blue", "waiting")?;
    assert_eq!(told(&house, &file, 2)?.len(), 2);
    house.ok(&["answer", "blue", "round"])?;
    house.until("blue", "idle")?;
    Ok(())
}

/// A program of this text.
fn program(at: &Path, text: &str) -> Outcome {
    std::fs::write(at, format!("#!/bin/sh\n{text}\n"))?;
    Ok(std::fs::set_permissions(at, Permissions::from_mode(0o755))?)
}

#[test]
fn a_desktop_is_told_by_notify_send_and_no_secret_with_it() -> Outcome {
    let mut house = House::of_moved_time()?;
    let (bin, shown) = (house.folder().join("desktop"), house.folder().join("shown"));
    std::fs::create_dir(&bin)?;
    program(&bin.join("notify-send"), &format!("echo \"$*\" >> '{}'", shown.display()))?;
    house.surround("PATH", format!("{}:{}", bin.display(), std::env::var("PATH")?));
    house.surround("DISPLAY", ":9");
    house.surround("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    house.configure("[notify]\ndesktop = true\n")?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "approve use ghp_0123456789abcdefghijklmnopqrstuvwxyz01?"])?;
    house.until("blue", "waiting")?;
    let told = || std::fs::read_to_string(&shown).unwrap_or_default();
    house.while_time_flies(|| eventually("it is shown", || told().ends_with('\n')))?;
    assert!(told().starts_with("--app-name=glis -- blue waits for you "), "{}", told());
    assert!(told().contains("[redacted]") && !told().contains("ghp_0123"), "{}", told());
    Ok(())
}

#[test]
fn a_resume_by_itself_is_told_as_failed_once_it_is_given_up() -> Outcome {
    let (mut house, file) = noted()?;
    let clock = WallClock::of(&mut house)?;
    let tool = house.folder().join("tool");
    program(&tool, "exec sleep 1000")?;
    house.command("blue", &[&tool.to_string_lossy()])?;
    house.ok(&["pause", "blue", "--mode", "force", "--for", "1h"])?;
    std::fs::rename(&tool, tool.with_extension("away"))?;
    // An hour until its time, and an hour and some minutes in which it is tried again and again.
    let mut passed = 0;
    house.while_time_flies(|| {
        for tries in 1..=7_u64 {
            passed += 4000;
            clock.ahead(&house, passed)?;
            eventually("it has failed once more", || {
                let shown = house.show("blue").unwrap_or_default();
                shown["failed_starts"].as_u64() >= Some(tries)
            })?;
        }
        Outcome::<()>::Ok(())
    })?;
    let shown = house.show("blue")?;
    assert_eq!((&shown["status"], &shown["resume_at"]), (&json!("paused"), &Value::Null));
    assert!(shown["warnings"].to_string().contains("it is not tried again"), "{shown}");
    assert_eq!(told(&house, &file, 1)?, [pair("blue", "failed")]);
    let text = notices(&file).remove(0)["text"].to_string();
    assert!(text.contains("it could not be resumed by itself: "), "{text}");
    Ok(())
}

#[test]
fn work_that_cannot_be_merged_or_is_not_accepted_is_told() -> Outcome {
    let (house, file) = noted()?;
    let tasks = [
        task("one", "write file.txt one", &[], None),
        task("two", "write file.txt two", &[], None),
        task("bad", "write bad.txt b", &[], Some("exit 3")),
    ];
    plan(&house, &tasks)?;
    let (status, said, _) = Window::open(&house, &["--jobs", "3"])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    let of_runs = || -> Vec<Value> {
        notices(&file).into_iter().filter(|notice| notice["run"].is_string()).collect()
    };
    house.while_time_flies(|| eventually("two notices", || of_runs().len() == 2))?;
    let told = of_runs();
    let of = |kind: &str| told.iter().find(|notice| notice["kind"] == kind);
    let waiting = of("waiting").ok_or("nothing waits")?;
    assert!(waiting["text"].as_str().is_some_and(|text| text.contains("file.txt")), "{waiting}");
    assert_eq!(waiting["run"], waiting["session"]["name"]);
    let failed = of("failed").ok_or("nothing has failed")?;
    assert_eq!(failed["run"], "bad-3", "what went on by itself needs nobody: {failed}");
    Ok(())
}

/// A plan that is done, and a task that an agent proposes meanwhile: each once, with the next step.
#[test]
fn a_plan_that_is_done_and_a_task_that_is_proposed_are_told() -> Outcome {
    let (house, file) = noted()?;
    plan(&house, &[task("one", "write one.txt 1", &[], None)])?;
    let (status, said, _) = Window::open(&house, &[])?.end()?;
    assert_eq!(status, Some(0), "{said}");
    let texts = |words: &str| -> usize {
        let told = notices(&file);
        told.iter().filter(|one| one["text"].as_str().is_some_and(|t| t.contains(words))).count()
    };
    let done = "the plan tidy-up is done; `glis merge tidy-up` takes it in";
    house.while_time_flies(|| eventually("its end is told", || texts(done) == 1))?;
    house.ok(&["plan", "add", "two", "--prompt", "write two.txt 2", "--propose"])?;
    let proposed = "an agent proposes the task two; `glis plan approve two` has it worked on";
    house.while_time_flies(|| eventually("it is proposed", || texts(proposed) == 1))?;
    house.kill_daemon()?;
    house.ok(&["ls"])?;
    house.ok(&["merge", "tidy-up"])?;
    assert_eq!((texts(done), texts(proposed)), (1, 1));
    Ok(())
}
