//! `plan`: its file is checked, shown and changed as a whole, and the user's own words in it stay.

use crate::support::house::{House, Outcome};
use serde_json::json;

fn file(house: &House) -> std::path::PathBuf {
    house.repo().join(".glis/plan.toml")
}

#[test]
fn a_plan_is_written_task_by_task_and_keeps_what_was_written_by_hand() -> Outcome {
    let house = House::new()?;
    let (status, error) = house.fails(&["plan", "show"])?;
    assert!(status == 3 && error["hint"].as_str().is_some_and(|hint| hint.contains("plan add")));
    house.ok(&["plan", "add", "dust", "--prompt", "Dust everything."])?;
    let by_hand = format!("# Ours.\n{}", std::fs::read_to_string(file(&house))?);
    std::fs::write(file(&house), &by_hand)?;
    house.ok(&[
        "plan", "add", "sweep", "--prompt", "- Sweep.", "--needs", "dust", "--accept", "true",
    ])?;
    house.ok(&["plan", "edit", "sweep", "--title", "The floor", "--accept", ""])?;
    let shown = String::from_utf8(house.glis().args(["plan", "show"]).output()?.stdout)?;
    assert_eq!(shown, "├─ ● dust\n└─ ○ sweep  The floor  (needs dust)\n");
    let tasks = house.json(&["plan", "show"])?["tasks"].clone();
    assert_eq!((&tasks[0]["ready"], &tasks[1]["ready"]), (&json!(true), &json!(false)));
    assert_eq!((&tasks[1]["accept"], &tasks[1]["prompt"]), (&json!(null), &json!("- Sweep.")));
    house.ok(&["plan", "rm", "sweep"])?;
    assert_eq!(std::fs::read_to_string(file(&house))?, by_hand);
    Ok(())
}

#[test]
fn what_would_not_be_a_plan_is_told_by_line_and_not_written() -> Outcome {
    let house = House::new()?;
    house.ok(&["plan", "add", "dust", "--prompt", "x"])?;
    house.ok(&["plan", "add", "sweep", "--prompt", "x", "--needs", "dust"])?;
    let before = std::fs::read_to_string(file(&house))?;
    for (refused, exit) in [
        (&["plan", "add", "dust", "--prompt", "x"][..], 2),
        (&["plan", "add", "Loud", "--prompt", "x"], 2),
        (&["plan", "edit", "dust", "--needs", "sweep"], 2),
        (&["plan", "edit", "nothing", "--title", "x"], 3),
        (&["plan", "rm", "dust"], 4),
    ] {
        assert_eq!(house.fails(refused)?.0, exit, "{refused:?}");
        assert_eq!(std::fs::read_to_string(file(&house))?, before, "{refused:?}");
    }
    std::fs::write(file(&house), format!("{before}needs = [\"dust\"]\n\n[[task]]\nid = \"x\"\n"))?;
    let checked = house.glis().args(["plan", "check"]).output()?;
    assert_eq!(checked.status.code(), Some(1));
    let told = String::from_utf8(checked.stdout)?;
    assert!(told.contains("/.glis/plan.toml:"), "{told}");
    Ok(())
}

#[test]
fn a_title_cannot_turn_what_stands_beside_it() -> Outcome {
    let house = House::new()?;
    let add = ["plan", "add", "dust", "--prompt", "x", "--title", "a\u{202e}b"];
    let (status, error) = house.fails(&add)?;
    assert_eq!(status, 2, "{error}");
    let told = error["message"].as_str().unwrap_or_default();
    assert!(
        told.contains("`dust` has letters in `title` that are not seen: a\\u{202e}b"),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_folder_with_an_empty_git_folder_is_no_repository() -> Outcome {
    let house = House::new()?;
    let folder = house.repo().join("../elsewhere");
    std::fs::create_dir_all(folder.join(".git"))?;
    let add = ["plan", "add", "dust", "--prompt", "x"];
    let output = house.glis().args(add).current_dir(&folder).output()?;
    assert!(!output.status.success(), "{output:?}");
    assert!(!folder.join(".glis").exists(), "a plan was written where no repository is");
    // An inner one is passed by, as git does it.
    let within = house.repo().join("within");
    std::fs::create_dir_all(within.join(".git"))?;
    house.glis().args(add).current_dir(&within).output()?;
    assert!(file(&house).exists() && !within.join(".glis").exists());
    Ok(())
}
