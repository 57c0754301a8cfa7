//! Where sessions work: worktrees and branches of their own, or the repository itself.

use crate::support::house::{House, Outcome};
use serde_json::{Value, json};
use std::path::Path;

fn text<'a>(session: &'a Value, field: &str) -> Outcome<&'a str> {
    Ok(session[field].as_str().ok_or_else(|| format!("no {field} in {session}"))?)
}

#[test]
fn a_removed_session_keeps_its_files_in_the_trash_and_gives_its_name_back() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write new.txt kept ;; edit file.txt one => two")?;
    assert_eq!(house.fails(&["rm", "blue"])?.0, 4);
    let stopped = house.json(&["stop", "blue"])?;
    let removed = house.json(&["rm", "blue"])?;
    assert_eq!(removed["session"]["status"], "archived");
    let trash = Path::new(text(&removed, "place")?);
    assert_eq!(std::fs::read_to_string(trash.join("worktree/new.txt"))?, "kept");
    assert_eq!(std::fs::read_to_string(trash.join("worktree/file.txt"))?, "two\n");
    assert!(trash.join("session/conversation.jsonl").exists());
    assert!(!Path::new(text(&stopped, "worktree")?).exists());
    assert_eq!(
        house.git(&["branch", "--list", "glis/blue"])?.trim_start_matches(['+', ' ']),
        "glis/blue"
    );
    assert_eq!(house.fails(&["show", "blue"])?.0, 3);
    assert_eq!(house.json(&["ls"])?, json!([]));
    assert_eq!(house.json(&["ls", "--all"])?[0]["name"], "blue");

    let again = house.rehearsal("blue")?;
    assert_eq!(again["branch"], "glis/blue-2");
    assert_ne!(again["worktree"], stopped["worktree"]);
    let begin = std::fs::read_to_string(Path::new(text(&again, "worktree")?).join("file.txt"))?;
    assert_eq!(begin, "one\n");
    Ok(())
}

#[test]
fn a_session_in_place_leaves_the_repository_as_it_is() -> Outcome {
    let house = House::new()?;
    std::fs::write(house.repo().join("untracked.txt"), "mine")?;
    let args = ["new", "here", "--agent", "rehearsal", "--headless", "--in-place"];
    let session = house.json(&args)?;
    assert_eq!(session["worktree"], json!(house.repo().canonicalize()?));
    assert_eq!(session["branch"], Value::Null);
    house.turn("here", "write made.txt x")?;
    house.ok(&["stop", "here"])?;
    house.ok(&["rm", "here"])?;
    for file in ["file.txt", "untracked.txt", "made.txt", ".git/HEAD"] {
        assert!(house.repo().join(file).exists(), "{file} is gone");
    }
    assert_eq!(house.git(&["branch", "--format=%(refname:short)"])?, "main");
    Ok(())
}

#[test]
fn what_a_session_in_place_saved_can_be_taken_out_though_its_folder_is_gone() -> Outcome {
    let house = House::new()?;
    let deep = house.repo().join("one/two");
    std::fs::create_dir_all(&deep)?;
    let place = deep.to_str().ok_or("no text")?;
    let args = ["new", "here", "--agent", "rehearsal", "--headless", "--in-place", "--repo", place];
    house.json(&args)?;
    house.turn("here", "write made.txt x")?;
    house.json(&["pause", "here"])?;
    std::fs::remove_dir_all(house.repo().join("one"))?;
    assert!(!house.json(&["snapshots", "here"])?.as_array().ok_or("no array")?.is_empty());
    let to = house.folder().join("out");
    house.json(&["restore", "here", "--to", to.to_str().ok_or("no text")?])?;
    assert_eq!(std::fs::read_to_string(to.join("one/two/made.txt"))?, "x");
    Ok(())
}

#[test]
fn a_folder_without_a_repository_is_good_enough_in_place() -> Outcome {
    let house = House::new()?;
    let plain = house.repo().join("../plain");
    std::fs::create_dir(&plain)?;
    let folder = plain.to_str().ok_or("path")?;
    let (status, error) = house.fails(&["new", "x", "--agent", "rehearsal", "--repo", folder])?;
    assert_eq!(status, 2, "{error}");
    let args = ["new", "x", "--agent", "command", "--in-place", "--repo", folder, "--", "pwd"];
    house.json(&args)?;
    house.until("x", "completed")?;
    assert_eq!(house.ok(&["screen", "x"])?.trim(), plain.canonicalize()?.to_str().ok_or("path")?);
    Ok(())
}

#[test]
fn a_base_is_understood_where_the_caller_stands() -> Outcome {
    let house = House::new()?;
    let first = house.git(&["rev-parse", "HEAD"])?;
    std::fs::write(house.repo().join("file.txt"), "two\n")?;
    house.git(&["commit", "--quiet", "--all", "--message=two"])?;
    house.git(&["tag", "v2"])?;
    for (name, base, wanted) in
        [("a", "HEAD~1", "one\n"), ("b", "v2", "two\n"), ("c", first.as_str(), "one\n")]
    {
        let args = ["new", name, "--agent", "rehearsal", "--headless", "--base", base];
        let session = house.json(&args)?;
        let file = Path::new(text(&session, "worktree")?).join("file.txt");
        assert_eq!(std::fs::read_to_string(file)?, wanted, "{base}");
    }
    for base in ["nowhere", "--help", "", "HEAD:file.txt", "HEAD~99", "main..v2"] {
        let base = format!("--base={base}");
        let (status, error) = house.fails(&["new", "x", "--agent", "rehearsal", &base])?;
        assert_eq!(status, 2, "{base}: {error}");
        assert_eq!(house.fails(&["show", "x"])?.0, 3, "{base} left a session behind");
    }
    Ok(())
}

#[test]
fn a_folder_inside_the_repository_means_the_repository() -> Outcome {
    let house = House::new()?;
    std::fs::create_dir_all(house.repo().join("a/b"))?;
    let session =
        house.json(&["new", "x", "--agent", "rehearsal", "--headless", "--repo", "a/b"])?;
    assert_eq!(session["repo_root"], json!(house.repo().canonicalize()?));
    // From inside another session's worktree, it is still the one repository.
    let worktree = house.file("x", "")?;
    let output = house
        .glis()
        .args(["--json", "new", "y", "--agent", "rehearsal", "--headless"])
        .current_dir(&worktree)
        .output()?;
    let inner: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(inner["repo_root"], session["repo_root"]);
    assert_eq!(inner["branch"], "glis/y");
    Ok(())
}

#[test]
fn a_repository_without_a_commit_gets_an_empty_worktree() -> Outcome {
    let house = House::new()?;
    let young = house.repo().join("../young");
    std::fs::create_dir(&young)?;
    let folder = young.to_str().ok_or("path")?.to_owned();
    house.git(&["init", "--quiet", "--initial-branch=main", &folder])?;
    let args = ["new", "x", "--agent", "rehearsal", "--headless", "--repo", folder.as_str()];
    let session = house.json(&args)?;
    assert_eq!(session["branch"], "glis/x");
    house.turn("x", "write a.txt hello")?;
    assert!(house.file("x", "a.txt")?.exists());
    house.ok(&["pause", "x"])?;
    house.ok(&["resume", "x"])?;
    house.until("x", "idle")?;
    Ok(())
}

#[test]
fn a_hostile_name_is_refused_before_git_or_a_daemon_sees_it() -> Outcome {
    let house = House::new()?;
    let refs = house.git(&["for-each-ref"])?;
    let long = "a".repeat(65);
    for name in [
        "",
        " ",
        "-",
        "-rf",
        "--upload-pack=x",
        ".",
        "..",
        "../x",
        "../../etc/passwd",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "a b",
        "a\tb",
        "a\nb",
        "a;b",
        "a$(id)",
        "`id`",
        "a*",
        "a?",
        "a~1",
        "a^",
        "a:b",
        "a@{1}",
        "@",
        "HEAD",
        "Upper",
        "\u{e9}",
        "\u{1f43f}",
        "a..b",
        "a.lock",
        "a.",
        ".a",
        "\x1b[31m",
        "a\u{202e}b",
        &long,
    ] {
        let (status, error) = house
            .fails(&["new", name, "--agent", "rehearsal"])
            .map_err(|fault| format!("{name:?}: {fault}"))?;
        assert_eq!(status, 2, "{name:?}: {error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
    assert_eq!(house.git(&["for-each-ref"])?, refs);
    assert_eq!(house.git(&["worktree", "list"])?.lines().count(), 1);
    assert_eq!(house.json(&["ls", "--all"])?, json!([]));
    for name in ["a", "0", "x.y_z-1", &"a".repeat(64)] {
        assert_eq!(house.rehearsal(name)?["branch"], format!("glis/{name}"));
    }
    Ok(())
}
