//! What a start needs, looked at without starting anything.

use super::{Bench, caller};
use glis_core::input::Outcome;
use glis_core::refusal::ResumeFault;
use glis_core::{OpId, Session};

/// A session whose worktree is there.
async fn placed(bench: &mut Bench) -> Session {
    let mut session = bench.session();
    bench.trees().make(&session, OpId(7));
    let Outcome::WorktreeMade { worktree, branch, .. } = bench.outcome().await else { panic!() };
    (session.place.worktree, session.place.branch) = (Some(worktree), branch);
    session
}

#[tokio::test]
async fn a_program_is_looked_for_where_the_caller_would_find_it() {
    let mut bench = Bench::new();
    let (launcher, mut session) = (bench.launcher(), placed(&mut bench).await);
    "command".clone_into(&mut session.spec.agent);
    session.spec.argv = vec!["worker".to_owned(), "--fast".to_owned()];
    (session.agent.agent_ref, session.agent.ran) = (None, false);
    let bin = bench.folder.path().join("bin");
    bench.environments.remember(&session.id, caller(&bin, &[]));
    let missing = launcher.can_start(&session);
    assert!(matches!(missing, Err(ResumeFault::NotInstalled(_))), "{missing:?}");
    bench.environments.remember(&session.id, caller(&bin, &["worker"]));
    assert_eq!(launcher.can_start(&session), Ok(Vec::new()));
}

#[tokio::test]
async fn a_worktree_that_is_another_repositorys_is_not_started_in() {
    let mut bench = Bench::new();
    let (launcher, session) = (bench.launcher(), placed(&mut bench).await);
    let other = Bench::new();
    let elsewhere = other.repo.to_str().unwrap().to_owned();
    let mut strange = session.clone();
    strange.place.worktree = Some(elsewhere.clone());
    let Err(ResumeFault::WrongRoot(why)) = launcher.check(&strange) else { panic!() };
    assert!(why.contains(&elsewhere), "{why}");
    // A repository that is gone is told as such, before anything is touched.
    std::fs::rename(&bench.repo, bench.folder.path().join("moved")).unwrap();
    let Err(ResumeFault::System(why)) = launcher.check(&session) else { panic!() };
    assert!(why.contains("is missing"), "{why}");
}

#[tokio::test]
async fn a_conversation_is_lost_only_where_neither_it_nor_a_copy_is_there() {
    let mut bench = Bench::new();
    let (launcher, mut session) = (bench.launcher(), placed(&mut bench).await);
    let place = bench.home.state.join("rehearsal");
    std::fs::create_dir_all(&place).unwrap();
    let transcript = place.join("ref-1.jsonl");
    session.agent.agent_ref = Some("ref-1".to_owned());
    session.agent.ran = true;
    // Of an agent that has said nothing, nothing can be missing.
    assert_eq!(launcher.lost_conversation(&session), None);
    bench.speak(&session, "hello");
    let lost = launcher.lost_conversation(&session);
    assert_eq!(lost, Some(transcript.display().to_string()));
    std::fs::write(&transcript, "{\"type\":\"user\",\"text\":\"hello\"}\n").unwrap();
    assert_eq!(launcher.lost_conversation(&session), None);
    // What never ran has nothing to lose.
    std::fs::remove_file(&transcript).unwrap();
    session.agent.ran = false;
    assert_eq!(launcher.lost_conversation(&session), None);
}
