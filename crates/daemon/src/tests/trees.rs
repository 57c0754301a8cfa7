//! Worktrees, with git and nothing else.

use super::Bench;
use glis_core::OpId;
use glis_core::input::Outcome;
use glis_core::pause::Moment;
use glis_core::session::Chore;
use glis_snapshot::git;
use std::path::{Path, PathBuf};

const OP: OpId = OpId(7);

#[tokio::test]
async fn a_worktree_is_made_saved_and_brought_back_after_it_was_deleted() {
    let mut bench = Bench::new();
    let (trees, mut session) = (bench.trees(), bench.session());
    trees.make(&session, OP);
    let Outcome::WorktreeMade { worktree, branch, .. } = bench.outcome().await else { panic!() };
    assert_eq!(branch, Some(format!("glis/{}", session.name)));
    let place = PathBuf::from(&worktree);
    assert_eq!(std::fs::read_to_string(place.join("a.txt")).unwrap(), "one\n");
    (session.place.worktree, session.place.branch) = (Some(worktree), branch);
    std::fs::write(place.join("a.txt"), "two\n").unwrap();
    std::fs::write(place.join("new.bin"), [0, 159, 146, 150]).unwrap();
    trees.take_snapshot(&session, OP, Moment::BeforeStop);
    let Outcome::SnapshotTaken { result: Ok(saved), .. } = bench.outcome().await else { panic!() };
    let (taken, left_out) = (saved.snapshot.unwrap(), saved.left_out);
    assert_eq!(left_out.total, 0);
    std::fs::remove_dir_all(&place).unwrap();
    trees.do_chore(&session, OP, Chore::Restore(taken.name.clone()));
    let restored = bench.outcome().await;
    assert!(matches!(restored, Outcome::ChoreEnded { result: Ok(_), .. }), "{restored:?}");
    assert_eq!(std::fs::read_to_string(place.join("a.txt")).unwrap(), "two\n");
    assert_eq!(std::fs::read(place.join("new.bin")).unwrap(), [0, 159, 146, 150]);
    // The user's own checkout has seen nothing of it.
    assert_eq!(std::fs::read_to_string(bench.repo.join("a.txt")).unwrap(), "one\n");
}

/// What a repository has of snapshots, and what lies among its objects.
fn kept(repo: &Path) -> (String, Vec<PathBuf>) {
    let refs = git::run(repo, &["for-each-ref", "refs/glis"]).unwrap();
    let packs = std::fs::read_dir(repo.join(".git/objects/pack")).unwrap();
    let mut packs: Vec<_> = packs.map(|entry| entry.unwrap().path()).collect();
    packs.sort();
    (refs, packs)
}

#[tokio::test]
async fn a_pause_that_would_lose_something_is_known_before_it_begins() {
    let mut bench = Bench::new();
    let (trees, mut session) = (bench.trees(), bench.session());
    std::fs::write(bench.repo.join(".git/info/exclude"), "secret\n").unwrap();
    trees.make(&session, OP);
    let Outcome::WorktreeMade { worktree, .. } = bench.outcome().await else { panic!() };
    session.place.worktree = Some(worktree.clone());
    assert_eq!(trees.would_lose(&session).total, 0);
    std::fs::write(Path::new(&worktree).join("secret"), "ignored by git\n").unwrap();
    let (inner, before) = (Path::new(&worktree).join("inner"), kept(&bench.repo));
    std::fs::create_dir(&inner).unwrap();
    git::run(&inner, &["init", "--quiet"]).unwrap();
    std::fs::write(inner.join(".git/info/exclude"), "hidden\n").unwrap();
    std::fs::write(inner.join("hidden"), "ignored by the inner one\n").unwrap();
    let lost = trees.would_lose(&session);
    assert_eq!((lost.total, lost.first), (2, vec!["inner/hidden".to_owned(), "secret".to_owned()]));
    assert_eq!(kept(&bench.repo), before, "a look writes nothing");
    trees.check_save(&session, OP);
    assert_eq!(bench.outcome().await, Outcome::SaveChecked { op: OP, result: Ok(()) });
    // A repository that was moved away is named, whatever git would say.
    std::fs::rename(&bench.repo, bench.folder.path().join("moved")).unwrap();
    trees.check_save(&session, OP);
    let Outcome::SaveChecked { result: Err(why), .. } = bench.outcome().await else { panic!() };
    assert!(why.stored().contains(&format!("{} is missing", bench.repo.display())), "{why}");
}

#[tokio::test]
async fn two_sessions_of_one_repository_have_places_of_their_own() {
    let mut bench = Bench::new();
    let trees = bench.trees();
    let (first, second) = (bench.session(), bench.session());
    trees.make(&first, OP);
    let Outcome::WorktreeMade { worktree, branch, .. } = bench.outcome().await else { panic!() };
    // Under the same name: the branch of the first is not moved, and its files are not touched.
    std::fs::write(Path::new(&worktree).join("a.txt"), "mine\n").unwrap();
    trees.make(&second, OP);
    let Outcome::WorktreeMade { worktree: other, branch: beside, .. } = bench.outcome().await
    else {
        panic!()
    };
    assert_ne!((&worktree, &branch), (&other, &beside));
    assert_eq!(std::fs::read_to_string(Path::new(&worktree).join("a.txt")).unwrap(), "mine\n");
    assert_eq!(std::fs::read_to_string(Path::new(&other).join("a.txt")).unwrap(), "one\n");
    // A step that is repeated after a crash finds what is there.
    trees.make(&first, OP);
    let Outcome::WorktreeMade { worktree: again, .. } = bench.outcome().await else { panic!() };
    assert_eq!(again, worktree);
}
