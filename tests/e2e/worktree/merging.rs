//! `merge`: a session's work in a branch, while every checkout stays as it is.

use crate::support::house::{House, Outcome};

/// A session that has written a file and is idle.
fn worker(house: &House, name: &str, text: &str) -> Outcome {
    house.rehearsal(name)?;
    house.turn(name, &format!("write file.txt {text}"))?;
    Ok(())
}

fn head(house: &House) -> Outcome<(String, String)> {
    Ok((house.git(&["rev-parse", "main"])?, house.git(&["status", "--porcelain"])?))
}

#[test]
fn work_is_merged_beside_a_branch_that_is_checked_out() -> Outcome {
    let house = House::new()?;
    worker(&house, "blue", "two")?;
    let before = head(&house)?;
    let told = house.ok(&["merge", "blue"])?;
    assert!(told.starts_with("file.txt  +1 -1\n1 file, +1 -1\nmain is checked out in "), "{told}");
    assert!(told.ends_with("\n  git merge --ff-only glis/merge/blue\n"), "{told}");
    assert_eq!(head(&house)?, before);
    house.git(&["merge", "--ff-only", "--quiet", "glis/merge/blue"])?;
    assert_eq!(house.git(&["show", "main:file.txt"])?, "two");
    let author = house.git(&["log", "-1", "--format=%an <%ae>", "main"])?;
    assert_eq!(author, "Test <test@example.org>");
    let again = house.json(&["merge", "blue"])?;
    assert_eq!((&again["already"], &again["branch"]), (&true.into(), &"main".into()));
    assert_eq!(house.show("blue")?["status"], "idle");
    Ok(())
}

#[test]
fn a_branch_that_is_checked_out_nowhere_gets_the_work_itself() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "target"])?;
    worker(&house, "blue", "two")?;
    let merged = house.json(&["merge", "blue", "--into", "target"])?;
    assert_eq!((&merged["branch"], &merged["checked_out"]), (&"target".into(), &().into()));
    assert_eq!(house.git(&["show", "target:file.txt"])?, "two");
    let (status, error) = house.fails(&["merge", "blue", "--into", "nothing"])?;
    assert_eq!(status, 2, "{error}");
    Ok(())
}

#[test]
fn a_conflict_is_told_with_its_files_and_leaves_nothing_behind() -> Outcome {
    let house = House::new()?;
    worker(&house, "blue", "two")?;
    std::fs::write(house.repo().join("file.txt"), "three\n")?;
    house.git(&["commit", "--quiet", "--all", "--message=three"])?;
    let before = head(&house)?;
    let (status, error) = house.fails(&["merge", "blue"])?;
    assert_eq!(status, 4, "{error}");
    let told = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    assert!(
        told("message").contains("file.txt") && told("hint").contains("glis send blue"),
        "{error}"
    );
    assert_eq!(head(&house)?, before);
    assert!(house.git(&["rev-parse", "--verify", "glis/merge/blue"]).is_err());
    // Its agent resolves it.
    house.turn("blue", "run git commit -qam mine; git merge -q -s ours main")?;
    house.ok(&["merge", "blue"])?;
    assert_eq!(house.git(&["show", "glis/merge/blue:file.txt"])?, "two");
    Ok(())
}

#[test]
fn what_is_at_work_or_in_place_is_not_merged() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "work 60"])?;
    house.until("blue", "busy")?;
    assert_eq!(house.fails(&["merge", "blue"])?.0, 4);
    house.json(&["new", "own", "--agent", "rehearsal", "--headless", "--in-place"])?;
    assert_eq!(house.fails(&["merge", "own"])?.0, 4);
    assert_eq!(house.fails(&["merge", "nothing"])?.0, 3);
    Ok(())
}

#[test]
fn a_merge_that_is_killed_can_be_repeated() -> Outcome {
    let mut house = House::new()?;
    worker(&house, "blue", "two")?;
    house.kill_daemon()?;
    house.surround("GLIS_FAILPOINT", "abort@merge@blue");
    let before = head(&house)?;
    let mut killed = house.glis();
    killed.args(["--json", "merge", "blue"]);
    assert!(!killed.output()?.status.success());
    assert_eq!(head(&house)?, before);
    house.spare("GLIS_FAILPOINT");
    let merged = house.json(&["merge", "blue"])?;
    assert_eq!(
        (&merged["committed"], &merged["branch"]),
        (&false.into(), &"glis/merge/blue".into())
    );
    assert_eq!(house.git(&["show", "glis/merge/blue:file.txt"])?, "two");
    Ok(())
}
