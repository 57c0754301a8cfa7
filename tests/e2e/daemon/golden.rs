//! A home as an older build left it is taken over: questions of a pause, a plan at work, devices.
//!
//! `golden/home-0.1.0.tar.gz` is a home and its repository as the first build left them when everything in it
//! was killed: `asked` was paused at a question with a message behind it, `talker` was idle in its terminal,
//! task `b` of three was at work, a script had a token and a browser a cookie.
//!
//! `golden/plan-0.1.0.tar.gz` is one as the last build left it that judged work before it committed it, when everything
//! in it was killed. Of a plan of nine tasks, three at a time, `dust` and `left` were merged, `right` was in conflict
//! with `left`, `wash` was not accepted, the `accept` of `judged` ran, `long` was at work, `ask` waited for an answer,
//! `rest` was ready and `end` needed others.
//!
//! Nothing of them is ever edited; only the folder that they were made in gets the name of the test's own.

use crate::support::house::{House, Outcome};
use crate::support::planned::{BRANCH, Window, record, runs};
use crate::support::web::Web;
use crate::support::wreck::{relocate, text_of};
use std::path::Path;
use std::process::Command;

/// Where the home and the repository were.
const MADE_IN: &str = "/tmp/glis-golden";
/// What the script had.
const TOKEN: &str = "glis_0d7925e7f7f13b33ee81160adcdac5f0baad4b6b81d6e9cf972f963d30da1a2c";
/// What the browser had.
const COOKIE: &str =
    "glis-7999=glis_8cd8b8d57749475508a651f65369fb8583b50acb05001dea8cca45c21b0aa504";

fn golden(archive: &str) -> Outcome<House> {
    let house = House::new()?;
    std::fs::remove_dir_all(house.repo())?;
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/golden");
    let archive = golden.join(format!("{archive}-0.1.0.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--no-same-owner", "-xzf"]).arg(archive).arg("-C").arg(house.folder());
    assert!(tar.status()?.success());
    relocate(&house, MADE_IN)?;
    Ok(house)
}

#[test]
fn what_was_paused_at_a_question_goes_on_after_the_upgrade() -> Outcome {
    let house = golden("home")?;
    let asked = house.show("asked")?;
    assert_eq!((&asked["status"], &asked["queued"]), (&"paused".into(), &1.into()), "{asked}");
    assert_eq!(asked["was_asking"][0]["text"], "push to main?");
    assert_eq!(asked["last_prompt"], "write notes.txt kept ;; say Ready. ;; approve push to main?");
    house.ok(&["resume", "asked"])?;
    house.until("asked", "idle")?;
    let said = house.talk("asked")?;
    let told =
        said.iter().filter(|(voice, text)| voice == "user" && text.contains("queued before"));
    assert_eq!(told.count(), 1, "{said:?}");
    assert_eq!(std::fs::read_to_string(house.file("asked", "notes.txt")?)?.trim(), "kept");
    let talker = house.show("talker")?;
    assert!(talker["resumable"] == true && talker["pid"].is_null(), "{talker}");
    house.ok(&["resume", "talker"])?;
    house.turn("talker", "recall")?;
    let said = house.talk("talker")?;
    assert!(
        said.iter().any(|(_, text)| text.contains("I remember") && text.contains("hello")),
        "{said:?}"
    );
    Ok(())
}

#[test]
fn a_plan_that_was_at_work_goes_on_after_the_upgrade() -> Outcome {
    let house = golden("home")?;
    let run = runs(&house, "b")?.pop().ok_or("no run")?;
    assert_eq!((&run["state"], &run["pause_reason"]), (&"paused".into(), &"crash".into()), "{run}");
    assert!(run["paused_at"].is_string() && run["resumable"] == true, "{run}");
    assert_eq!(record(&house, "a-1")?["state"], "succeeded");
    house.ok(&["resume", "b", "--prompt", "write late.txt late"])?;
    house.follow(1)?.until(|e| e["event"] == "run_succeeded" && e["run"] == "b-1")?;
    house.ok(&["execute"])?;
    assert_eq!(record(&house, "c-1")?["state"], "succeeded");
    let files = house.git(&["ls-tree", "--name-only", BRANCH])?;
    let files: Vec<_> = files.lines().collect();
    assert_eq!(files, [".glis", "a.txt", "b.txt", "c.txt", "file.txt", "late.txt"]);
    Ok(())
}

#[test]
fn every_task_of_a_plan_goes_on_from_where_it_was_after_the_upgrade() -> Outcome {
    let house = golden("plan")?;
    let (status, said, beside) = Window::open(&house, &["--jobs", "3"])?.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    for told in [
        "right: waiting: its work and the plan's branch have changed the same: file.txt",
        "wash: failed: not accepted: exit status: 1",
        "`glis accept wash` takes it as it is",
        "long: paused, its agent died; `glis resume long` goes on",
        "ask: paused, its agent died; `glis resume ask` goes on",
        "4 of 9 tasks are done",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert_eq!(record(&house, "long-1")?["pause_reason"], "crash");
    let resolve = format!("run git merge --strategy-option=ours {BRANCH} --message=both");
    for (task, words) in [("right", resolve.as_str()), ("long", "say on"), ("ask", "say pushed")] {
        house.ok(&["resume", task, "--prompt", words])?;
        let run = format!("{task}-1");
        house.follow(1)?.until(|e| e["event"] == "run_succeeded" && e["run"] == run)?;
    }
    house.ok(&["accept", "wash"])?;
    let said = house.ok(&["execute"])?;
    assert!(said.contains("9 of 9 tasks are done"), "{said}");
    for task in ["dust", "left", "right", "wash", "judged", "long", "ask", "rest", "end"] {
        // Done twice, it would have two.
        assert_eq!(house.git(&["show", &format!("{BRANCH}:{task}.txt")])?, "line", "{task}");
        // What was not accepted has another run with the person's word.
        let wanted = if task == "wash" { 2 } else { 1 };
        assert_eq!(runs(&house, task)?.len(), wanted, "{task}");
    }
    assert_eq!(house.git(&["show", &format!("{BRANCH}:file.txt")])?, "from the right");
    Ok(())
}

#[test]
fn a_token_is_still_good_after_the_upgrade_and_a_browser_pairs_anew() -> Outcome {
    let house = golden("home")?;
    let web = Web::start(&house)?;
    assert_eq!(web.get("/api/v1/sessions", TOKEN)?.status, 200);
    let host = web.host();
    let refused = web.ask("GET /api/v1/sessions", &[("Host", &host), ("Cookie", COOKIE)], "")?;
    assert_eq!(refused.status, 401, "{refused:?}");
    // Other servers of the machine may have seen the cookie: what was in it is good for nothing.
    let secret = COOKIE.split_once('=').ok_or("no secret")?.1;
    assert_eq!(web.ticket(secret)?.status, 401);
    let said = house.ok(&["web", "devices"])?;
    assert!(said.contains("paired by an older version: pair it again"), "{said}");
    let devices = house.json(&["web", "devices"])?;
    let names: Vec<_> =
        devices.as_array().into_iter().flatten().map(|d| text_of(d, "name")).collect();
    assert_eq!(names.into_iter().collect::<Outcome<Vec<_>>>()?, ["script", "phone"]);
    // Where the browser still looks for it, it is told where the page is now.
    let number = format!("127.0.0.1:{}", web.address.port());
    let page = web.ask("GET /", &[("Host", &number)], "")?;
    assert!(page.status == 200 && page.body.contains(&web.url), "{page:?}");
    Ok(())
}
