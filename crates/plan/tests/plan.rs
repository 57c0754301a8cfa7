//! Plans: what is wrong with one, what can be worked on, how it is drawn and how it is changed.

use glis_core::plan::schedule::Schedule;
use glis_core::plan::{TaskSpec, schedule_of};
use glis_plan::{Change, Changes, Fault, Plan, Task, add, draw, edit, remove};
use std::time::{Duration, Instant};

const SPRING: &str = r#"# What is to be done.
[plan]
title = "Spring cleaning"

[[task]]
id = "house"
title = "The house"

[[task]]
id = "dust"          # first of all
parent = "house"
prompt = "Dust everything."

[[task]]
id = "sweep"
parent = "house"
needs = ["dust"]
prompt = "Sweep the floor."
accept = "test -e swept"

[[task]]
id = "party"
needs = ["house"]
prompt = """
Invite everybody.
"""
"#;

fn faults(text: &str) -> Vec<String> {
    let faults = Plan::read(text).err().unwrap_or_default();
    faults.iter().map(Fault::to_string).collect()
}

/// A plan of tasks, each with what it needs.
fn of(tasks: &[(&str, &[&str])]) -> String {
    let task = |(id, needs): &(&str, &[&str])| {
        format!("[[task]]\nid = {id:?}\nprompt = \"x\"\nneeds = {needs:?}\n\n")
    };
    tasks.iter().map(task).collect()
}

fn specs(plan: &Plan) -> Vec<TaskSpec> {
    plan.tasks.iter().cloned().map(TaskSpec::from).collect()
}

fn ready(schedule: &Schedule) -> Vec<&str> {
    schedule.ready().collect()
}

#[test]
fn a_plan_is_read_with_everything_in_it() {
    let plan = Plan::read(SPRING).unwrap();
    assert_eq!(plan.title.as_deref(), Some("Spring cleaning"));
    let sweep = plan.task("sweep").unwrap();
    assert_eq!((sweep.line, sweep.parent.as_deref()), (14, Some("house")));
    assert_eq!(
        (sweep.needs.as_slice(), sweep.accept.as_deref()),
        (&["dust".to_owned()][..], Some("test -e swept"))
    );
    assert_eq!(plan.task("party").unwrap().prompt.as_deref(), Some("Invite everybody.\n"));
    assert!(plan.is_group("house") && !plan.is_group("party"));
    assert_eq!(Plan::read(""), Ok(Plan::default()));
}

#[test]
fn every_fault_is_told_with_its_line() {
    assert_eq!(faults("[[task]]\nid = \"a\"\n\n[[task]\n").len(), 1);
    assert!(faults("[[task]]\nid = \"a\"\n\n[[task]\n")[0].starts_with("4: "));
    let text = "[plan]\nname = \"x\"\n\n[[task]]\nid = \"A\"\nprompt = \"x\"\n\n[[task]]\nid = 3\n\n\
                [[task]]\nprompt = \"x\"\ncolour = 1\n\n[[task]]\nid = \"b\"\nneeds = \"c\"\nprompt = \"\"\n";
    let told = faults(text);
    let lines: Vec<_> = told.iter().map(|told| told.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["2", "4", "9", "11", "13", "15", "17", "18"], "{told:#?}");
    assert_eq!(faults("task = 3\n"), ["1: each task is a table: write `[[task]]`"]);
}

#[test]
fn what_is_there_twice_or_not_at_all_is_a_fault() {
    let told = faults(&of(&[("a", &[]), ("a", &[]), ("b", &["aa", "b"])]));
    assert_eq!(
        told,
        [
            "6: the id `a` is taken by the task of line 1",
            "11: `b` has `aa` in `needs`, and there is no such task; did you mean `a`?",
            "11: `b` names itself in `needs`",
        ]
    );
}

#[test]
fn a_circle_is_told_once_and_what_waits_behind_it_too() {
    let told = faults(&of(&[
        ("free", &[]),
        ("a", &["c"]),
        ("b", &["a"]),
        ("c", &["b", "free"]),
        ("d", &["c"]),
        ("x", &["y"]),
        ("y", &["x"]),
    ]));
    assert_eq!(
        told,
        [
            "6: dependency cycle: a \u{2192} c \u{2192} b \u{2192} a",
            "21: `d` can never begin: it depends on a cycle",
            "26: dependency cycle: x \u{2192} y \u{2192} x",
        ]
    );
}

#[test]
fn a_task_that_needs_its_own_group_waits_for_itself() {
    let text = "[[task]]\nid = \"g\"\n\n[[task]]\nid = \"a\"\nparent = \"g\"\nprompt = \"x\"\nneeds = [\"g\"]\n";
    let told = faults(text);
    assert_eq!(told, ["1: dependency cycle: g \u{2192} a \u{2192} g"]);
    let parents = "[[task]]\nid = \"a\"\nparent = \"b\"\n\n[[task]]\nid = \"b\"\nparent = \"a\"\n";
    assert_eq!(faults(parents).len(), 1);
}

#[test]
fn what_can_be_worked_on_comes_in_the_order_of_the_file() {
    let plan = Plan::read(SPRING).unwrap();
    let mut schedule = schedule_of(&specs(&plan));
    assert_eq!(ready(&schedule), ["dust"]);
    assert!(!schedule.finish("sweep"), "it was not ready");
    assert!(schedule.take("dust") && !schedule.take("dust"));
    assert!(ready(&schedule).is_empty());
    assert!(schedule.give_back("dust") && !schedule.give_back("dust"));
    assert!(schedule.finish("dust") && !schedule.finish("dust"));
    assert_eq!(ready(&schedule), ["sweep"]);
    assert!(schedule.finish("sweep"));
    assert_eq!(ready(&schedule), ["party"], "a group is done when its tasks are");
    assert!(!schedule.is_over());
    assert!(schedule.finish("party") && schedule.is_over());
}

#[test]
fn what_a_group_needs_its_tasks_need_too() {
    let text = "[[task]]\nid = \"late\"\nneeds = [\"first\"]\n\n\
                [[task]]\nid = \"inner\"\nparent = \"late\"\nprompt = \"x\"\n\n\
                [[task]]\nid = \"first\"\nprompt = \"x\"\n";
    let mut schedule = schedule_of(&specs(&Plan::read(text).unwrap()));
    assert_eq!(ready(&schedule), ["first"]);
    schedule.finish("first");
    assert_eq!(ready(&schedule), ["inner"]);
}

#[test]
fn a_plan_is_drawn_as_a_tree() {
    let plan = Plan::read(SPRING).unwrap();
    let drawn = draw(plan.title.as_deref(), &specs(&plan), |task| {
        if task.id == "dust" { "\u{2713}" } else { "\u{25cb}" }.to_owned()
    });
    let expected = "\
Spring cleaning
├─ ○ house  The house
│  ├─ ✓ dust
│  └─ ○ sweep  (needs dust)
└─ ○ party  (needs house)";
    assert_eq!(drawn.join("\n"), expected);
}

#[test]
fn a_change_touches_nothing_else() {
    let changes = Changes {
        prompt: Change::Set("Sweep twice.".to_owned()),
        accept: Change::Drop,
        ..Changes::default()
    };
    let changed = edit(SPRING, "sweep", &changes).unwrap();
    let expected = SPRING
        .replace("\"Sweep the floor.\"", "\"Sweep twice.\"")
        .replace("accept = \"test -e swept\"\n", "");
    assert_eq!(changed, expected);
    let task = Task {
        id: "rest".to_owned(),
        prompt: Some("Sleep.".to_owned()),
        needs: vec!["party".to_owned()],
        ..Task::default()
    };
    let added = add(SPRING, &task).unwrap();
    let end = "\n[[task]]\nid = \"rest\"\nprompt = \"Sleep.\"\nneeds = [\"party\"]\n";
    assert_eq!(added, format!("{SPRING}{end}"));
    assert_eq!(remove(&added, "rest").unwrap(), SPRING);
    let first = Task { id: "a".to_owned(), prompt: Some("x".to_owned()), ..Task::default() };
    assert_eq!(add("", &first).unwrap(), "[[task]]\nid = \"a\"\nprompt = \"x\"\n");
}

#[test]
fn what_would_break_a_plan_is_not_done() {
    let needs = |needs: &[&str]| Changes {
        needs: Change::Set(needs.iter().map(|need| (*need).to_owned()).collect()),
        ..Changes::default()
    };
    assert!(edit(SPRING, "dust", &needs(&["party"])).is_err(), "a circle");
    assert!(edit(SPRING, "dust", &needs(&["nothing"])).is_err());
    assert!(edit(SPRING, "nothing", &Changes::default()).is_err());
    let told: Vec<_> = remove(SPRING, "dust").unwrap_err().iter().map(Fault::to_string).collect();
    assert_eq!(told, ["14: `sweep` names `dust`: change that first"]);
    assert!(add(SPRING, &Task { id: "dust".to_owned(), ..Task::default() }).is_err());
}

/// A plan of so many tasks, each behind two others.
fn wide(tasks: u32) -> String {
    let task = |n: u32| {
        let needs = [n / 2, n / 3].into_iter().filter(|need| *need < n);
        let needs: Vec<_> = needs.map(|need| format!("t{need}")).collect();
        format!("[[task]]\nid = \"t{n}\"\nprompt = \"do it\"\nneeds = {needs:?}\n\n")
    };
    (0..tasks).map(task).collect()
}

/// How long a plan of so many tasks takes to be read and checked, and to be scheduled to its end. The
/// shortest of five times: the machine may have other things to do in the others.
fn spent_on(tasks: u32) -> Result<[Duration; 2], Vec<Fault>> {
    let text = wide(tasks);
    let [mut to_read, mut to_schedule] = [Duration::MAX; 2];
    for _ in 0..5 {
        let begun = Instant::now();
        let plan = Plan::read(&text)?;
        to_read = to_read.min(begun.elapsed());
        let begun = Instant::now();
        let (mut schedule, mut done) = (schedule_of(&specs(&plan)), 0);
        loop {
            let Some(next) = schedule.ready().next().map(str::to_owned) else { break };
            assert!(schedule.finish(&next));
            done += 1;
        }
        to_schedule = to_schedule.min(begun.elapsed());
        assert!(done == tasks && schedule.is_over());
    }
    Ok([to_read, to_schedule])
}

#[test]
fn a_thousand_tasks_are_checked_and_scheduled_in_no_time() {
    let [read, scheduled] = spent_on(1000).unwrap();
    println!("a thousand tasks: {read:?} to read, {scheduled:?} to schedule");
    // An unoptimised build takes ten times as long, and a busy machine twice that.
    let bound = Duration::from_millis(if cfg!(debug_assertions) { 2000 } else { 100 });
    assert!(read + scheduled < bound, "{read:?} {scheduled:?}");
    // Eight times as many take about eight times as long, and on a busy machine the longest are held up most;
    // looked at pair by pair it would be 64 times at least.
    let [read_more, scheduled_more] = spent_on(8000).unwrap();
    println!("eight thousand: {read_more:?} to read, {scheduled_more:?} to schedule");
    assert!(read_more < read * 48, "{read:?} {read_more:?}");
    assert!(scheduled_more < scheduled * 48, "{scheduled:?} {scheduled_more:?}");
}

#[test]
fn a_group_is_made_by_the_first_task_that_names_it() {
    let task = |id: &str, parent: &str| Task {
        id: id.to_owned(),
        prompt: Some("do it".to_owned()),
        parent: Some(parent.to_owned()),
        ..Task::default()
    };
    let text = add("", &task("sub", "core")).unwrap();
    assert_eq!(Plan::read(&text).unwrap().tasks.len(), 2, "{text}");
    assert!(Plan::read(&text).unwrap().is_group("core"));
    let more = add(&text, &task("other", "core")).unwrap();
    assert_eq!(Plan::read(&more).unwrap().tasks.len(), 3, "{more}");
    let slip = add(&text, &task("other", "cora")).unwrap_err();
    assert!(slip[0].why.contains("did you mean `core`?"), "{slip:?}");
}

#[test]
fn what_a_group_without_a_prompt_is_to_do_is_a_fault() {
    let text = "[[task]]\nid = \"g\"\naccept = \"true\"\n\n[[task]]\nid = \"x\"\nprompt = \"p\"\nparent = \"g\"\n";
    let faults = Plan::read(text).unwrap_err();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].why.contains("`accept` means nothing there"), "{faults:?}");
}
