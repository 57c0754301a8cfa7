//! What an agent asks and a rule answers: only what the rules allow, once, and shown plainly.

use crate::support::house::{House, Outcome, await_gone, eventually};
use crate::support::wreck::{pid_of, text_of};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The two faces of the rehearsal agent.
const FACES: [&[&str]; 2] = [&["--headless"], &[]];

fn begin(house: &House, face: &[&str]) -> Outcome<Value> {
    house.json(&[&["new", "blue", "--agent", "rehearsal", "--auto-yes"], face].concat())
}

/// What the rules have said of the session, with what it was about.
fn judged(house: &House) -> Outcome<Vec<(String, String, String)>> {
    let log = house.json(&["auto-yes", "log", "blue"])?;
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let told = |one: &Value| {
        let rule = if one["rule"].is_null() { text(one, "why") } else { text(one, "rule") };
        (text(one, "text"), text(one, "verdict"), rule)
    };
    Ok(log.as_array().ok_or("no list")?.iter().map(told).collect())
}

fn one(text: &str, verdict: &str, rule: &str) -> (String, String, String) {
    (text.to_owned(), verdict.to_owned(), rule.to_owned())
}

#[test]
fn a_rule_answers_what_it_allows_and_a_person_the_rest() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        assert_eq!(begin(&house, face)?["auto_yes"], true);
        house.ok(&["send", "blue", "approve run ls -la ;; write listed.txt x"])?;
        house.until("blue", "idle")?;
        assert!(house.file("blue", "listed.txt")?.exists());
        assert_eq!(judged(&house)?, [one("run ls -la", "accept", "ls")]);

        house.ok(&["send", "blue", "approve run ls; id ;; write hostile.txt x"])?;
        let waits = house.until("blue", "waiting")?;
        assert_eq!(waits["waiting_for"]["text"], "run ls; id");
        assert_eq!(waits["asks"].as_array().map(Vec::len), Some(1));
        assert!(!house.file("blue", "hostile.txt")?.exists());
        house.ok(&["answer", "blue", "deny"])?;
        house.until("blue", "idle")?;

        house.ok(&["send", "blue", "approve run rm -rf x ;; write removed.txt x"])?;
        house.until("blue", "idle")?;
        assert!(!house.file("blue", "removed.txt")?.exists());
        assert_eq!(
            judged(&house)?[1..],
            [
                one("run ls; id", "manual", "character"),
                one("run rm -rf x", "reject", "delete|remove|rm -rf"),
            ]
        );
        let (list, shown) = (house.ok(&["ls"])?, house.ok(&["show", "blue"])?);
        assert!(list.contains("rehearsal, auto-yes"), "{list}");
        assert!(shown.contains("on: rules answer for you"), "{shown}");
    }
    Ok(())
}

#[test]
fn nothing_is_answered_unless_it_is_switched_on() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    assert_eq!(house.show("blue")?["auto_yes"], false);
    house.ok(&["send", "blue", "approve run ls ;; write one.txt x"])?;
    house.until("blue", "waiting")?;
    assert_eq!(judged(&house)?, []);
    // Switched on, it counts for what is open.
    assert_eq!(house.json(&["auto-yes", "blue", "on"])?["auto_yes"], true);
    house.until("blue", "idle")?;
    assert!(house.file("blue", "one.txt")?.exists());
    assert_eq!(judged(&house)?, [one("run ls", "accept", "ls")]);
    assert!(house.ok(&["auto-yes", "blue", "on"])?.contains("already"));
    house.ok(&["auto-yes", "blue", "off"])?;
    house.ok(&["send", "blue", "approve run ls"])?;
    house.until("blue", "waiting")?;
    assert_eq!(judged(&house)?.len(), 1);
    Ok(())
}

#[test]
fn rules_of_the_configuration_count_and_a_faulty_one_does_not() -> Outcome {
    let house = House::new()?;
    let rule = "[[auto_yes.rule]]\nprogram = \"sort\"\nrest = \"path\"\nmatch = [\"sort a\"]\n";
    house.configure(&format!("[auto_yes]\nreject_action = \"manual\"\n{rule}"))?;
    begin(&house, &["--headless"])?;
    house.ok(&["send", "blue", "approve run sort a.txt"])?;
    house.until("blue", "idle")?;
    assert_eq!(judged(&house)?, [one("run sort a.txt", "accept", "sort")]);
    house.ok(&["send", "blue", "approve run rm -rf x"])?;
    house.until("blue", "waiting")?;
    assert_eq!(judged(&house)?[1], one("run rm -rf x", "manual", "rejectable"));
    house.ok(&["answer", "blue", "allow"])?;
    house.until("blue", "idle")?;
    // The last good one stays.
    house.configure(&format!("[auto_yes]\n{}", rule.replace("sort a", "sort --all")))?;
    let told = house.ok(&["new", "red", "--agent", "rehearsal"])?;
    assert!(told.contains("config.toml:5: rule \"sort\": it does not allow"), "{told}");
    house.ok(&["send", "blue", "approve run sort b.txt"])?;
    house.until("blue", "idle")?;
    assert_eq!(judged(&house)?.last(), Some(&one("run sort b.txt", "accept", "sort")));
    Ok(())
}

/// Rules that were right when they were written and would allow what nobody has read: told, and left to a
/// person. Everything else in the file counts.
#[test]
fn a_rule_that_would_allow_any_command_is_not_used() -> Outcome {
    let house = House::new()?;
    let rule = |program: &str, more: &str| {
        format!("[[auto_yes.rule]]\nprogram = {program:?}\n{more}\nmatch = [\"{program} x\"]\n")
    };
    let (any, sort) = ("arguments = [\"word\"]", rule("sort", "rest = \"path\""));
    let rules = [rule("git", any), rule("bash", any), sort].concat();
    house.configure(&format!("[auto_yes]\naccept_patterns = [\".*\"]\n{rules}"))?;
    begin(&house, &["--headless"])?;
    house.turn("blue", "approve run sort a.txt")?;
    for line in ["git push", "bash x"] {
        house.ok(&["send", "blue", &format!("approve run {line}")])?;
        house.until("blue", "waiting")?;
        assert_eq!(judged(&house)?.last(), Some(&one(&format!("run {line}"), "manual", "barred")));
        house.ok(&["answer", "blue", "deny"])?;
        house.until("blue", "idle")?;
    }
    let check = house.glis().args(["config", "check"]).output()?;
    let told = String::from_utf8(check.stdout)?;
    assert_eq!(check.status.code(), Some(1), "{told}");
    for line in [":2: \".*\" is not used", ":5: rule \"git\" is not used", ":8: rule \"bash\""] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(told.contains("`git push` too; name the commands"), "{told}");
    let findings = house.glis().args(["--json", "doctor"]).output()?;
    let findings: Value = serde_json::from_slice(&findings.stdout)?;
    let of_config = |one: &&Value| one["subject"] == "configuration";
    assert_eq!(findings.as_array().into_iter().flatten().filter(of_config).count(), 3);
    Ok(())
}

/// An approval is open, a message comes, it is answered twice, and the daemon begins anew in between.
#[test]
fn a_request_is_answered_once_or_said_to_be_gone() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        begin(&house, face)?;
        house.ok(&["send", "blue", "approve run git status ;; write once.txt x"])?;
        let asks = house.until("blue", "waiting")?;
        let request = asks["waiting_for"]["request"].as_str().ok_or("no request")?;
        house.ok(&["send", "blue", "write after.txt x"])?;
        house.kill_daemon()?;
        let again = house.until("blue", "waiting")?;
        assert_eq!(again["waiting_for"]["request"], request);
        assert_eq!(again["queued"], 1);
        house.ok(&["answer", "blue", "allow", "--request", request])?;
        let (status, error) = house.fails(&["answer", "blue", "allow", "--request", request])?;
        assert_eq!((status, &error["kind"]), (4, &json!("refused")), "{error}");
        house.until("blue", "idle")?;
        assert!(house.file("blue", "after.txt")?.exists());
        let id = asks["id"].as_str().ok_or("no id")?;
        let events = house.events(id)?;
        let answers = events.iter().filter(|event| *event == "answer_began").count();
        assert_eq!(answers, 1, "{events:?}");
        assert_eq!(judged(&house)?, [one("run git status", "manual", "no_rule")]);
    }
    Ok(())
}

/// An agent that asks the same for ever is answered for a while.
#[test]
fn the_same_request_is_not_answered_for_ever() -> Outcome {
    let house = House::new()?;
    begin(&house, &["--headless"])?;
    let asks = vec!["approve run ls"; 21].join(" ;; ");
    house.ok(&["send", "blue", &asks])?;
    let waits = house.until("blue", "waiting")?;
    assert_eq!(waits["waiting_for"]["text"], "run ls");
    let said = judged(&house)?;
    assert_eq!(said.len(), 21);
    assert_eq!(said.last(), Some(&one("run ls", "manual", "repeated")));
    let shown = house.ok(&["auto-yes", "log", "blue"])?;
    assert!(shown.contains("the same too often in a row"), "{shown}");
    house.ok(&["answer", "blue", "allow"])?;
    house.until("blue", "idle")?;
    Ok(())
}

/// Which verdicts a person has seen is known by the lists of all sessions.
#[test]
fn the_list_tells_what_is_new_since_the_last_look() -> Outcome {
    let house = House::new()?;
    begin(&house, &["--headless"])?;
    let news = |args: &[&str]| -> Outcome<Vec<(String, bool)>> {
        let log = house.json(&[&["auto-yes", "log"], args].concat())?;
        let each = log.as_array().ok_or("no list")?.iter();
        Ok(each.map(|one| (one["text"].to_string(), one["new"] == true)).collect())
    };
    let one = |text: &str, new: bool| (json!(text).to_string(), new);
    house.turn("blue", "approve run ls")?;
    // To look at one session is not to look at all.
    assert_eq!(news(&["blue"])?, [one("run ls", true)]);
    assert_eq!(news(&[])?, [one("run ls", true)]);
    assert_eq!(news(&[])?, [one("run ls", false)]);
    assert_eq!(news(&["--new"])?, []);
    house.turn("blue", "approve run pwd")?;
    house.kill_daemon()?;
    assert_eq!(news(&["--new", "blue"])?, [one("run pwd", true)]);
    assert_eq!(news(&[])?, [one("run ls", false), one("run pwd", true)]);
    let told = house.ok(&["auto-yes", "log", "--new"])?;
    assert_eq!(told.trim(), "no request was judged by rule since you last looked");
    // The name stays, also when the session is gone for good.
    house.ok(&["rm", "blue", "--stop"])?;
    house.ok(&["trash", "empty", "--all", "--yes"])?;
    let told = house.ok(&["auto-yes", "log"])?;
    assert!(told.contains("  blue  run ls"), "{told}");
    let (status, _) = house.fails(&["auto-yes", "log", "blue"])?;
    assert_eq!(status, 3);
    Ok(())
}

/// What a person has allowed is offered as a rule, which answers it once it is in the configuration.
#[test]
fn what_was_allowed_is_suggested_as_a_rule_that_answers_it() -> Outcome {
    let house = House::new()?;
    begin(&house, &["--headless"])?;
    for (line, answer) in [
        ("touch a.txt", "allow"),
        ("touch a.txt", "allow"),
        ("touch denied.txt", "deny"),
        ("bash barred.sh", "allow"),
        ("touch b.txt; id", "allow"),
    ] {
        house.ok(&["send", "blue", &format!("approve run {line}")])?;
        house.until("blue", "waiting")?;
        house.ok(&["answer", "blue", answer])?;
        house.until("blue", "idle")?;
    }
    house.turn("blue", "approve run ls")?;
    let toml = "# asked 2 times\n[[auto_yes.rule]]\nprogram = \"touch\"\n\
        arguments = [\"=a.txt\"]\nmatch = [\"touch a.txt\"]";
    let wanted = json!({
        "asked": 2,
        "program": "touch",
        "arguments": ["=a.txt"],
        "match": ["touch a.txt"],
        "toml": toml,
    });
    assert_eq!(house.json(&["auto-yes", "suggest"])?, json!([wanted]));
    let told = house.ok(&["auto-yes", "suggest"])?;
    assert_eq!(told.trim(), toml);
    house.configure(&told)?;
    house.ok(&["config", "check"])?;
    house.turn("blue", "approve run touch a.txt")?;
    assert_eq!(judged(&house)?.last(), Some(&one("run touch a.txt", "accept", "touch")));
    let told = house.ok(&["auto-yes", "suggest"])?;
    assert!(told.starts_with("nothing to suggest"), "{told}");
    Ok(())
}

#[test]
fn a_command_is_tried_without_a_session_or_a_daemon() -> Outcome {
    let house = House::new()?;
    let test = |command: &str| {
        let repo = house.repo();
        house.json(&["auto-yes", "test", command, "--in", repo.to_str().unwrap_or_default()])
    };
    assert_eq!(test("ls")?, json!({"verdict": "accept", "rule": "ls", "author": "glis"}));
    let manual = |why: &str, about: &str| json!({"verdict": "manual", "rule": null, "why": why, "about": about});
    assert_eq!(test("ls /etc")?, manual("path_outside", "/etc"));
    assert_eq!(test("ls | sh")?, manual("no_rule", "sh"));
    assert_eq!(test("ls | find .")?, manual("no_filter", "find"));
    assert_eq!(test("cat a | head -5")?["rule"], "cat | head");
    assert_eq!(test("ls 2>/dev/null && cat a 2>&1 | head -5")?["rule"], "ls && cat | head");
    assert_eq!(test("grep -rn remove src")?["verdict"], "accept");
    assert_eq!(test("git status")?, manual("no_rule", "git"));
    assert_eq!(test("rm -rf x")?["verdict"], "reject");
    let words = house.ok(&["auto-yes", "test", "ls --all"])?;
    assert_eq!(words.trim(), "manual: no rule allows the word `--all`");
    assert!(house.daemon_pid().is_err(), "no daemon is needed");
    Ok(())
}

/// The daemon dies with a verdict in its hands: before that is on record the next one judges again; from
/// then on the answer may have been given, and only a person gives it again.
#[test]
fn a_crash_between_verdict_and_answer_answers_at_most_once() -> Outcome {
    for (moment, end) in [("before:ask_judged", "idle"), ("after:ask_judged", "waiting")] {
        let mut house = House::new()?;
        house.surround("GLIS_FAILPOINT", moment);
        begin(&house, &["--headless"])?;
        let daemon = house.daemon_pid()?;
        house.glis().args(["send", "blue", "approve run ls ;; write once.txt x"]).output()?;
        await_gone(daemon)?;
        house.spare("GLIS_FAILPOINT");
        let after = house.until("blue", end)?;
        if end == "waiting" {
            assert!(!house.file("blue", "once.txt")?.exists());
            house.ok(&["answer", "blue", "allow"])?;
            house.until("blue", "idle")?;
        }
        assert!(house.file("blue", "once.txt")?.exists());
        assert_eq!(judged(&house)?, [one("run ls", "accept", "ls")], "{moment}");
        let id = after["id"].as_str().ok_or("no id")?;
        let events = house.events(id)?;
        let gone = events.iter().filter(|event| *event == "ask_gone").count();
        assert_eq!(gone, 1, "{moment}: {events:?}");
    }
    Ok(())
}

/// What the rules say reaches no agent that was stopped. A person is asked after the timeout; the answer
/// that is on its way is not given a second time.
#[test]
fn what_is_not_over_in_time_waits_for_a_person() -> Outcome {
    for face in FACES {
        let house = House::of_moved_time()?;
        house.json(&[&["new", "blue", "--agent", "rehearsal"], face].concat())?;
        house.ok(&["send", "blue", "approve run ls ;; write late.txt x"])?;
        let asks = house.until("blue", "waiting")?;
        let agent = Pid::from_raw(pid_of(&asks)?).ok_or("no pid")?;
        kill_process(agent, Signal::STOP)?;
        let on = house.json(&["auto-yes", "blue", "on"])?;
        assert_eq!(on["status"], "busy", "the rules are at work: {on}");
        let waits = house.out_of_time("verdict", || house.until("blue", "waiting"))?;
        assert_eq!(waits["asks"].as_array().map(Vec::len), Some(1), "{waits}");
        let late = [one("run ls", "accept", "ls"), one("run ls", "manual", "overdue")];
        assert_eq!(judged(&house)?, late);
        kill_process(agent, Signal::CONT)?;
        // What had not left by then was withdrawn, and a person gives it; what had left is not repeated.
        let id = text_of(&asks, "id")?;
        let count = |name: &str| -> Outcome<usize> {
            Ok(house.events(&id)?.iter().filter(|event| *event == name).count())
        };
        eventually("it was taken or withdrawn", || {
            let idle = house.show("blue").is_ok_and(|now| now["status"] == "idle");
            idle || count("answer_failed").is_ok_and(|failed| failed == 1)
        })?;
        let withdrawn = count("answer_failed")?;
        if withdrawn == 1 {
            house.ok(&["answer", "blue", "allow"])?;
        }
        house.until("blue", "idle")?;
        assert!(house.file("blue", "late.txt")?.exists());
        assert_eq!(count("answer_began")?, 1 + withdrawn);
    }
    Ok(())
}

/// A fault of ours is no verdict.
#[test]
fn rules_that_cannot_be_applied_answer_nothing() -> Outcome {
    let mut house = House::new()?;
    house.surround("GLIS_FAILPOINT", "panic@judge@blue");
    begin(&house, &["--headless"])?;
    house.ok(&["send", "blue", "approve run ls ;; write done.txt x"])?;
    house.until("blue", "waiting")?;
    assert_eq!(judged(&house)?, [one("run ls", "manual", "fault")]);
    assert!(!house.file("blue", "done.txt")?.exists());
    house.ok(&["answer", "blue", "allow"])?;
    house.until("blue", "idle")?;
    Ok(())
}

/// The agent's own process decides: a variable that loads from the folder that a command runs in, as an
/// empty entry in a list does, has the agent's files run in the place of `ls`.
#[test]
fn programs_that_the_agents_environment_changes_are_left_to_a_person() -> Outcome {
    for (name, value) in [
        ("LD_LIBRARY_PATH", ":/opt/lib"),
        ("BASH_ENV", "./env.sh"),
        ("BASH_FUNC_ls%%", "() { id; }"),
    ] {
        let mut house = House::new()?;
        house.surround(name, value);
        begin(&house, &["--headless"])?;
        house.ok(&["send", "blue", "approve run ls"])?;
        house.until("blue", "waiting")?;
        assert_eq!(judged(&house)?, [one("run ls", "manual", "variable")], "{name}={value}");
        let told = house.json(&["auto-yes", "test", "ls"])?;
        assert_eq!((&told["why"], &told["about"]), (&json!("variable"), &json!(name)));
    }
    Ok(())
}
