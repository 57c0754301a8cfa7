//! Whoever means harm or is merely clumsy: broken homes, odd words, many shells at once.

use crate::support::freezer::Freezer;
use crate::support::house::{Background, House, Outcome, eventually};
use crate::support::skip::skip;
use crate::support::wreck::times_told;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Output};

/// The program in a house of the caller's choice.
fn elsewhere(house: &House, args: &[&str], home: Option<&OsStr>) -> Outcome<Output> {
    let mut command = house.glis();
    command.arg("--json").args(args);
    match home {
        Some(home) => command.env("GLIS_HOME", home),
        None => command.env_remove("GLIS_HOME").env_remove("HOME"),
    };
    Ok(command.output()?)
}

fn error(output: &Output) -> Outcome<Value> {
    let document: Value = serde_json::from_slice(&output.stdout)?;
    Ok(document["error"].clone())
}

#[test]
fn a_home_that_cannot_be_one_is_told_as_no_daemon() -> Outcome {
    let house = House::new()?;
    let file = house.repo().join("file.txt");
    let below = file.join("home");
    let homes = [
        Some(file.as_os_str()),
        Some(below.as_os_str()),
        Some(OsStr::new("/proc/1/nowhere")),
        Some(OsStr::from_bytes(b"/tmp/\xff\xfe")),
        None,
    ];
    for home in homes {
        for args in [&["ls"][..], &["new", "x", "--agent", "rehearsal"], &["daemon", "start"]] {
            let output = elsewhere(&house, args, home)?;
            let error = error(&output)?;
            assert_eq!(output.status.code(), Some(8), "{home:?}: {error}");
            assert_eq!(error["kind"], "no_daemon", "{home:?}: {error}");
            assert!(error["hint"].is_string(), "{home:?}: {error}");
        }
    }
    Ok(())
}

#[test]
fn a_fault_in_the_configuration_is_told_with_its_line_and_harms_nothing() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\nsafe_state_secs = 5\nsave_state = 1\n")?;
    let (status, error) = house.fails(&["ls"])?;
    assert_eq!(status, 8);
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("config.toml:3: unknown field"), "{message}");
    house.configure("")?;
    assert_eq!(house.json(&["ls"])?, json!([]));
    Ok(())
}

#[test]
fn a_relative_home_is_refused_before_it_is_another_one_in_every_folder() -> Outcome {
    let house = House::new()?;
    for args in [&["ls"][..], &["daemon", "start"], &["daemon", "run"], &["daemon", "status"]] {
        let output = elsewhere(&house, args, Some(OsStr::new("../home")))?;
        let error = error(&output)?;
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(hint.starts_with("set GLIS_HOME=/"), "{args:?}: {error}");
    }
    assert!(!house.home().exists(), "it was made all the same");
    // An empty one is as good as none.
    let mut command = house.glis();
    command.args(["--json", "daemon", "status"]).env("GLIS_HOME", "");
    let output = command.env("HOME", house.folder().join("user")).output()?;
    assert_eq!(output.status.code(), Some(8));
    Ok(())
}

#[test]
fn many_first_commands_at_once_find_one_daemon() -> Outcome {
    let house = House::new()?;
    for _ in 0..3 {
        let looks = (0..8)
            .map(|_| Background::start(house.glis().args(["ls"])))
            .collect::<Result<Vec<_>, _>>()?;
        for mut look in looks {
            assert_eq!(look.0.wait()?.code(), Some(0));
        }
        house.daemon_pid()?;
        house.ok(&["daemon", "stop"])?;
    }
    Ok(())
}

#[test]
fn a_name_is_given_to_one_of_many_who_want_it_at_once() -> Outcome {
    let house = House::new()?;
    house.ok(&["ls"])?;
    let args = ["new", "blue", "--agent", "rehearsal", "--headless"];
    let wishes = (0..6)
        .map(|_| Background::start(house.glis().args(args)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut codes = Vec::new();
    for mut wish in wishes {
        codes.push(wish.0.wait()?.code());
    }
    codes.sort_unstable();
    assert_eq!(codes[..2], [Some(0), Some(4)], "{codes:?}");
    assert_eq!(house.git(&["worktree", "list"])?.lines().count(), 2);
    assert_eq!(house.json(&["ls"])?.as_array().map(Vec::len), Some(1));
    let removals = (0..4)
        .map(|_| Background::start(house.glis().args(["rm", "blue"])))
        .collect::<Result<Vec<_>, _>>()?;
    // Asking for what is under way is no error, and afterwards the name is unknown.
    let mut codes = Vec::new();
    for mut removal in removals {
        codes.push(removal.0.wait()?.code());
    }
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 3))), "{codes:?}");
    assert!(codes.contains(&Some(0)), "{codes:?}");
    assert_eq!(house.json(&["ls"])?, json!([]));
    let all = house.json(&["ls", "--all"])?;
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
    let events = house.events(all[0]["id"].as_str().ok_or("no id")?)?;
    for step in ["removal_began", "archived"] {
        assert_eq!(events.iter().filter(|event| *event == step).count(), 1, "{events:?}");
    }
    Ok(())
}

#[test]
fn verbs_from_many_shells_at_once_leave_one_process_and_every_message() -> Outcome {
    for face in [&["--headless"][..], &[]] {
        let house = House::new()?;
        house.configure("[pause]\ninterrupt_secs = 1\nterminate_secs = 1\n")?;
        house.json(&[&["new", "blue", "--agent", "rehearsal"], face].concat())?;
        house.turn("blue", "say begin")?;
        for round in 0..4 {
            let message = format!("say round{round}");
            let verbs: [&[&str]; 7] = [
                &["pause", "blue"],
                &["resume", "blue"],
                &["stop", "blue"],
                &["send", "blue", &message],
                &["pause", "blue", "--mode", "force"],
                &["resume", "blue"],
                &["restart", "blue"],
            ];
            let verbs = verbs
                .iter()
                .map(|args| Background::start(house.glis().args(*args)))
                .collect::<Result<Vec<_>, _>>()?;
            for mut verb in verbs {
                let code = verb.0.wait()?.code();
                assert!(matches!(code, Some(0 | 2 | 4 | 5 | 7)), "{code:?}");
            }
        }
        house.until("blue", "idle,busy,paused,suspended,waiting,interrupted")?;
        if house.show("blue")?["can_resume"] == true {
            house.ok(&["resume", "blue"])?;
        }
        // A message that was being handed over when its process was ended is asked about.
        loop {
            let open = house.show("blue")?["waiting_for"].clone();
            if open["kind"] != "doubt" {
                break;
            }
            let asked = open["text"].as_str().unwrap_or_default();
            let about = (0..4).map(|n| format!("say round{n}")).find(|text| asked.contains(text));
            let told = times_told(&house, &about.ok_or_else(|| open.to_string())?);
            house.ok(&["answer", "blue", if told == 0 { "allow" } else { "deny" }])?;
        }
        house.turn("blue", "say end")?;
        let talk = house.talk("blue")?;
        for round in 0..4 {
            let said = talk.iter().filter(|(voice, text)| {
                voice == "user" && text.ends_with(&format!("say round{round}"))
            });
            assert_eq!(said.count(), 1, "round {round} is lost or doubled: {talk:?}");
        }
        let agents = house.processes().into_iter().filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == b"rehearse")
        });
        assert_eq!(agents.count(), 1);
    }
    Ok(())
}

#[test]
fn options_may_stand_anywhere_and_nonsense_is_refused() -> Outcome {
    let house = House::new()?;
    house.json(&["new", "--headless", "--agent=rehearsal", "blue"])?;
    for args in [
        &["show", "blue", "--json"][..],
        &["show", "--json", "blue"],
        &["wait", "--timeout", "1s", "--for", "created,idle", "blue"],
        &["wait", "blue", "--for", "created", "--timeout", "0"],
        &["wait", "blue", "--for=created,created"],
        &["output", "--from=0", "blue"],
        &["send", "blue", "--json", "say hi"],
    ] {
        house.ok(args)?;
    }
    for args in [
        &["wait", "blue", "--for", ""][..],
        &["wait", "blue", "--for", "idle,"],
        &["wait", "blue", "--for", "idle", "--timeout", "-1s"],
        &["wait", "blue", "--for", "idle", "--timeout", "nan"],
        &["wait", "blue", "--for", "idle", "--timeout", "1e999"],
        &["pause", "blue", "--mode", "gently"],
        &["pause", "blue", "--all"],
        &["pause", "blue", "--cancel", "--mode", "force"],
        &["events", "--from", "-1"],
        &["output", "blue", "--from", "99999999999999999999999"],
        &["new", "x", "--idle-timeout", "soon"],
        &["send", "blue"],
        &["send", "blue", "one", "two"],
        &["completions", "tcl"],
        &["daemon"],
        &["daemon", "dance"],
    ] {
        let (status, error) = house.fails(args)?;
        assert_eq!((status, error["kind"].as_str()), (2, Some("usage")), "{args:?}: {error}");
    }
    house.ok(&["output", "blue", "--from", "18446744073709551615"])?;
    Ok(())
}

#[test]
fn nothing_that_an_agent_or_a_caller_writes_moves_a_persons_cursor() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say \x1b]0;title\x07 \x1b[2J \u{9b}31m \r over")?;
    house.ok(&["send", "blue", "approve \x1b[2Jreally?"])?;
    house.until("blue", "waiting")?;
    let mut shown = String::new();
    for args in [&["ls"][..], &["show", "blue"], &["log", "blue"], &["screen", "blue"]] {
        shown += &house.ok(args)?;
    }
    for args in [&["show", "\x1b[31mred"][..], &["new", "\x1b[31mred"], &["\x1b[31m"]] {
        shown += &String::from_utf8(house.glis().args(args).output()?.stderr)?;
    }
    let hidden = |c: char| c.is_control() && c != '\n';
    assert!(!shown.contains(hidden), "{shown:?}");
    Ok(())
}

#[test]
fn shells_and_man_can_read_what_is_made_for_them() -> Outcome {
    let house = House::new()?;
    for shell in ["bash", "zsh", "fish"] {
        let script = house.ok(&["completions", shell])?;
        for verb in ["pause", "resume", "attach", "daemon"] {
            assert!(script.contains(verb), "{shell} does not complete {verb}");
        }
        let file = house.repo().join("completions");
        std::fs::write(&file, script)?;
        // Not every machine has every shell.
        if let Ok(checked) = Command::new(shell).arg("-n").arg(&file).output() {
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        }
    }
    let page = house.ok(&["man"])?;
    assert!(page.contains(".TH glis"), "{page}");
    for part in [".SH NAME", ".SH SYNOPSIS", "glis pause", "Exit codes"] {
        assert!(page.contains(part), "{part} is missing");
    }
    Ok(())
}

/// The demo with its temporary folder in a place of the test's own.
fn demo(house: &House) -> Outcome<(Command, std::path::PathBuf)> {
    let place = house.repo().join("../demo");
    std::fs::create_dir_all(&place)?;
    let mut command = house.glis();
    command.args(["demo", "--json"]).env("TMPDIR", &place);
    Ok((command, place))
}

/// Every process that works in this folder, by its environment.
fn at_work_in(place: &std::path::Path) -> usize {
    let wanted = format!("{}/glis-demo-", place.display()).into_bytes();
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let environs = entries.filter_map(|e| std::fs::read(e.ok()?.path().join("environ")).ok());
    environs.filter(|all| all.windows(wanted.len()).any(|part| part == wanted)).count()
}

#[test]
fn the_demo_does_not_touch_the_repository_that_the_environment_names() -> Outcome {
    let house = House::new()?;
    let (mut command, place) = demo(&house)?;
    let facts = || -> Outcome<String> {
        let refs = house.git(&["for-each-ref"])?;
        let objects = house.git(&["count-objects", "-v"])?;
        let index = std::fs::read(house.repo().join(".git/index"))?;
        let config = std::fs::read_to_string(house.repo().join(".git/config"))?;
        Ok(format!("{refs} {objects} {index:?} {config}"))
    };
    let before = facts()?;
    let output = command
        .env("GIT_DIR", house.repo().join(".git"))
        .env("GIT_WORK_TREE", house.repo())
        .env("GIT_INDEX_FILE", house.repo().join(".git/index"))
        .output()?;
    assert_eq!(facts()?, before);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(std::fs::read_dir(&place)?.count(), 0);
    Ok(())
}

#[test]
fn a_demo_that_is_interrupted_leaves_nothing_behind() -> Outcome {
    use rustix::process::{Pid, Signal, kill_process};
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let house = House::new()?;
        let (mut command, place) = demo(&house)?;
        let mut demo = Background::start(&mut command)?;
        while at_work_in(&place) < 3 {
            assert!(demo.0.try_wait()?.is_none(), "the demo ended by itself");
        }
        kill_process(Pid::from_child(&demo.0), signal)?;
        let code = demo.0.wait()?.code();
        let mut told = String::new();
        demo.0.stdout.take().ok_or("no output")?.read_to_string(&mut told)?;
        demo.0.stderr.take().ok_or("no output")?.read_to_string(&mut told)?;
        assert_eq!(code, Some(status), "{told}");
        assert_eq!(std::fs::read_dir(&place)?.count(), 0);
        // A daemon closes its doors a moment before it is gone.
        eventually("nothing is left at work", || at_work_in(&place) == 0)?;
    }
    Ok(())
}

#[test]
fn a_daemon_that_does_not_answer_is_told_with_its_pid_and_its_diary() -> Outcome {
    let house = House::new()?;
    // One that was merely stopped would be woken.
    let Some(freezer) = Freezer::new() else {
        return skip("no control group freezes processes here", None);
    };
    house.ok(&["ls"])?;
    let daemon = house.daemon_pid()?;
    freezer.freeze(daemon)?;
    let (status, error) = house.fails(&["ls"])?;
    assert_eq!((status, error["kind"].as_str()), (8, Some("no_daemon")), "{error}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains(&daemon.to_string()), "{message}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("daemon.log")), "{error}");
    freezer.thaw()?;
    assert_eq!(house.json(&["ls"])?, json!([]));
    Ok(())
}
