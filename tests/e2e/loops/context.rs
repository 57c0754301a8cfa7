//! What an iteration begins with and leaves: its conversation, its commit, its check list.

use crate::support::house::{House, Outcome, eventually};
use crate::support::looped::{HELD, QUICK, Watch, begin, begin_from, house, is, let_go};
use serde_json::{Value, json};

/// How many messages the agent remembers in each iteration.
fn remembered(house: &House) -> Outcome<Vec<String>> {
    let talk = house.talk("l")?;
    let said =
        talk.into_iter().filter(|(who, text)| who == "assistant" && text.contains("remember"));
    Ok(said.filter_map(|(_, text)| text.lines().next().map(ToOwned::to_owned)).collect())
}

#[test]
fn context_is_fresh_by_default() -> Outcome {
    let house = house()?;
    begin(&house, &format!("recall ;; {QUICK}"), &["--max", "3"])?;
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(remembered(&house)?, ["I remember 1 messages:"; 3]);
    assert_eq!(house.show("l")?["former_refs"].as_array().map(Vec::len), Some(2));
    Ok(())
}

#[test]
fn context_continue_goes_on_in_one_conversation() -> Outcome {
    let house = house()?;
    begin(&house, &format!("recall ;; {QUICK}"), &["--max", "3", "--context", "continue"])?;
    Watch::of(&house)?.until("loop_done")?;
    let wanted = ["I remember 1 messages:", "I remember 2 messages:", "I remember 3 messages:"];
    assert_eq!(remembered(&house)?, wanted);
    let shown = house.show("l")?;
    assert_eq!((&shown["former_refs"], &shown["generation"]), (&json!([]), &json!(1)), "{shown}");
    assert!(house.ok(&["show", "l"])?.contains("in one conversation"));
    Ok(())
}

#[test]
fn a_continued_one_is_paused_after_its_iteration_and_comes_back_to_its_conversation() -> Outcome {
    let house = house()?;
    begin(&house, &format!("recall ;; {HELD}"), &["--max", "2", "--context", "continue"])?;
    let mut watch = Watch::of(&house)?;
    watch.until_held(1)?;
    let mut window = house.glis();
    let mut window = window.args(["pause", "l"]).spawn()?;
    watch.until("loop_pause_asked")?;
    let_go(&house)?;
    house.until("l", "paused")?;
    window.wait()?;
    is(&house, &[("iteration", json!(1)), ("state", json!("paused"))])?;
    house.ok(&["resume", "l"])?;
    watch.until_held(2)?;
    let_go(&house)?;
    watch.until("loop_done")?;
    assert_eq!(remembered(&house)?, ["I remember 1 messages:", "I remember 2 messages:"]);
    Ok(())
}

#[test]
fn auto_commit_makes_a_commit_of_every_iteration_that_changed_something() -> Outcome {
    let house = house()?;
    // The second one only looks.
    let prompt = "run n=$(cat ../n 2>/dev/null || echo 1); echo $((n + 1)) > ../n; test $n = 2 || echo $n >> work.txt";
    begin(&house, prompt, &["--max", "3", "--auto-commit"])?;
    Watch::of(&house)?.until("loop_done")?;
    let log = house.git(&["log", "--reverse", "--format=%s", "main..glis/l"])?;
    let numbers: Vec<&str> = log.lines().filter_map(|line| line.get(line.len() - 3..)).collect();
    assert_eq!(numbers, ["(1)", "(3)"], "{log}");
    assert_eq!(house.git(&["show", "glis/l:work.txt"])?, "1\n3");
    let author = house.git(&["log", "-1", "--format=%an <%ae>", "glis/l"])?;
    assert_eq!(author, "Test <test@example.org>");
    assert_eq!(house.show("l")?["loop"]["note"], Value::Null);
    Ok(())
}

#[test]
fn without_it_nothing_is_committed_and_changed_files_are_told() -> Outcome {
    let house = house()?;
    begin(&house, QUICK, &["--max", "2"])?;
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(house.git(&["log", "--format=%s", "main..glis/l"])?, "");
    let told = house.ok(&["diff", "l", "--stat"])?;
    assert!(told.contains("1 file, +2 -0"), "{told}");
    assert_eq!(house.json(&["pause", "l"])?["changed_files"], 1);
    // The next daemon knows it too.
    house.kill_daemon()?;
    assert_eq!(house.show("l")?["changed_files"], 1);
    Ok(())
}

/// Done, active, open.
fn counts(house: &House) -> Outcome<[Value; 3]> {
    let shown = house.show("l")?;
    Ok(["tasks_done", "tasks_active", "tasks_open"].map(|field| shown[field].clone()))
}

#[test]
fn counts_come_from_the_check_list_of_the_spec() -> Outcome {
    let house = house()?;
    let list = "- [x] a\n- [x] b\n- [~] c\n- [ ] d\n- [ ] e\n- [ ] f\n";
    std::fs::write(house.repo().join("tasks.md"), list)?;
    let begun = begin_from(&house, "tasks.md", &["--max", "1"])?;
    assert_eq!(begun["loop"]["spec"], "tasks.md", "{begun}");
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(counts(&house)?, [json!(2), json!(1), json!(3)]);
    for told in [house.ok(&["ls"])?, house.ok(&["show", "l"])?] {
        assert!(told.contains("\u{2713}2 \u{25cf}1 \u{25cb}3"), "{told}");
    }
    // As the agent ticks them off, in its own worktree.
    house.turn("l", "edit tasks.md [~] c => [x] c")?;
    assert_eq!(counts(&house)?, [json!(3), json!(0), json!(3)]);
    assert_eq!(std::fs::read_to_string(house.repo().join("tasks.md"))?, list);
    let told = house.talk("l")?.into_iter().find(|(who, _)| who == "user").ok_or("nothing said")?.1;
    assert!(told.starts_with("Read tasks.md. Do the next item of its check list"), "{told}");
    Ok(())
}

#[test]
fn or_from_the_agents_own_list() -> Outcome {
    let house = house()?;
    let prompt = format!("todo [x] a | [x] b | [~] c | d | e | f ;; {QUICK}");
    begin(&house, &prompt, &["--max", "1"])?;
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(counts(&house)?, [json!(2), json!(1), json!(3)]);
    assert!(house.ok(&["ls"])?.contains("\u{2713}2 \u{25cf}1 \u{25cb}3"));
    Ok(())
}

/// Nothing is paid for a list that is done; what the user adds meanwhile is done as well, whatever the agent has made
/// of the words of the rest.
#[test]
fn a_list_that_is_done_ends_its_loop_and_what_is_added_goes_on() -> Outcome {
    let house = house()?;
    let list = house.repo().join("tasks.md");
    std::fs::write(&list, "- [x] a\n- [x] b\n")?;
    let (_, error) =
        house.fails(&["loop", "l", "--agent", "rehearsal", "--headless", "--spec", "tasks.md"])?;
    assert!(
        error["message"].as_str().is_some_and(|told| told.contains("nothing to do")),
        "{error}"
    );
    std::fs::write(&list, "- [x] a\n- [ ] b\n")?;
    begin_from(&house, "tasks.md", &["--max", "9"])?;
    let mut watch = Watch::of(&house)?;
    watch.until("loop_looked_back")?;
    house.ok(&["pause", "l"])?;
    let own = house.file("l", "tasks.md")?;
    std::fs::write(&own, "- [x] a\n- [x] b, and more than that\n")?;
    std::fs::write(&list, "- [x] a\n- [ ] b\n- [ ] c\n")?;
    house.ok(&["resume", "l"])?;
    eventually("c is taken over", || {
        std::fs::read_to_string(&own).is_ok_and(|text| text.ends_with("than that\n- [ ] c\n"))
    })?;
    house.ok(&["pause", "l"])?;
    std::fs::write(&own, "- [x] a\n- [x] b\n- [x] c\n")?;
    house.ok(&["resume", "l"])?;
    Watch::of(&house)?.until("loop_done")?;
    assert_eq!(house.show("l")?["loop"]["done_by"], "list");
    assert!(house.ok(&["show", "l"])?.contains("its list is done"));
    Ok(())
}

#[test]
fn a_commit_says_what_its_iteration_has_ticked_or_what_its_agent_said() -> Outcome {
    let house = house()?;
    std::fs::write(house.repo().join("tasks.md"), "- [x] a\n- [ ] Mend the door\n- [ ] c\n")?;
    house.git(&["add", "tasks.md"])?;
    house.git(&["commit", "--quiet", "-m", "list"])?;
    begin_from(&house, "tasks.md", &["--max", "9", "--auto-commit"])?;
    Watch::of(&house)?.until("loop_looked_back")?;
    house.ok(&["pause", "l"])?;
    let ticked = "- [x] a\n- [x] Mend the door\n- [ ] c\n";
    std::fs::write(house.file("l", "tasks.md")?, ticked)?;
    house.ok(&["resume", "l"])?;
    let log = || house.git(&["log", "--format=%s", "main..glis/l"]);
    eventually("it is committed", || log().is_ok_and(|log| !log.is_empty()))?;
    let log = log()?;
    assert!(log.lines().any(|line| line.starts_with("Mend the door (")), "{log}");
    house.ok(&["stop", "l"]).map(drop)
}

#[test]
fn what_is_added_to_a_list_between_two_iterations_is_there_for_the_next() -> Outcome {
    let house = house()?;
    std::fs::write(house.repo().join("tasks.md"), "- [ ] a\n")?;
    house.git(&["add", "tasks.md"])?;
    house.git(&["commit", "--quiet", "-m", "list"])?;
    begin_from(&house, "tasks.md", &["--max", "2"])?;
    house.ok(&["pause", "l"])?;
    house.until("l", "paused")?;
    std::fs::write(house.repo().join("tasks.md"), "- [ ] a\n- [ ] b\n")?;
    let said = house.ok(&["resume", "l"])?;
    let own = std::fs::read_to_string(house.file("l", "tasks.md")?)?;
    assert!(own.ends_with("- [ ] b\n"), "before its agent looks: {own}; {said}");
    let shown = house.ok(&["show", "l"])?;
    assert!(shown.contains("an item was added to its list"), "{shown}");
    house.ok(&["stop", "l"]).map(drop)
}
