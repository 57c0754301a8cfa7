//! What a session is made of, before anything is made.

use super::{Bench, caller};
use crate::create::{Creator, NotCreated};
use crate::environments::EnvOrigin;
use glis_core::{Event, Face, Origin};
use glis_snapshot::git;
use glis_wire::client::NewSession;
use std::path::Path;

fn creator(bench: &Bench) -> Creator {
    Creator { common: bench.common(), mailbox: bench.mailbox.clone(), jobs: bench.jobs() }
}

fn wanted(repo: &Path) -> NewSession {
    NewSession {
        agent: Some("rehearsal".to_owned()),
        repo: repo.to_str().unwrap().to_owned(),
        headless: true,
        ..NewSession::default()
    }
}

/// The names, agents and callers of the sessions that were made.
fn made(bench: &Bench) -> Vec<(String, String, Option<Origin>)> {
    let log = bench.log().into_iter();
    let made = log.filter_map(|recorded| {
        let Event::SessionCreated { name, spec, .. } = recorded.event else { return None };
        Some((name, spec.agent.clone(), recorded.from))
    });
    made.collect()
}

fn refused<T>(created: Result<T, NotCreated>) -> (String, String) {
    match created {
        Err(NotCreated::Unusable { message, hint }) => (message, hint),
        Err(NotCreated::Refused(refusal)) => (format!("{refusal:?}"), String::new()),
        Ok(_) | Err(NotCreated::NoName | NotCreated::Ending) => panic!("it is not refused"),
    }
}

#[tokio::test]
async fn a_name_is_made_from_the_prompt_and_each_session_gets_another() {
    let bench = Bench::new();
    let creator = creator(&bench);
    let from = Origin::new(Face::Chat, "42");
    let new = NewSession { prompt: Some("Fix the login page".to_owned()), ..wanted(&bench.repo) };
    for _ in 0..2 {
        assert!(creator.create(&new, None, Some(&from)).await.is_ok());
    }
    let made = made(&bench);
    let [(first, _, by), (second, ..)] = made.as_slice() else { panic!("{made:?}") };
    assert!(first.contains("login"), "{first}");
    assert!(second.starts_with(first.as_str()) && second != first, "{second}");
    assert_eq!(by.as_ref(), Some(&from));
}

#[tokio::test]
async fn the_agent_is_the_first_that_the_caller_has_installed() {
    let bench = Bench::new();
    let creator = creator(&bench);
    let new = NewSession { agent: None, headless: false, ..wanted(&bench.repo) };
    let bin = bench.folder.path().join("bin");
    let none = caller(&bin, &[]);
    let (message, hint) = refused(creator.create(&new, Some(&none), None).await);
    assert!(message.contains("no agent is installed"), "{message}");
    assert!(hint.contains("--agent rehearsal"), "{hint}");
    let some = caller(&bin, &["gemini", "codex"]);
    let created = creator.create(&new, Some(&some), None).await.ok().unwrap();
    assert_eq!(made(&bench).first().map(|(_, agent, _)| agent.as_str()), Some("codex"));
    assert!(created.notes.iter().any(|note| note.contains("codex")), "{:?}", created.notes);
    // It will be started as its caller would start it.
    let mut session = bench.session();
    session.id = created.id;
    let (env, origin) = bench.environments.of_next_start(&session);
    assert_eq!((env, origin), (some.env, EnvOrigin::Caller));
}

#[tokio::test]
async fn where_no_session_can_be_the_way_out_is_told_and_nothing_is_recorded() {
    let bench = Bench::new();
    let creator = creator(&bench);
    let base = NewSession { base: Some("nowhere".to_owned()), ..wanted(&bench.repo) };
    let (_, hint) = refused(creator.create(&base, None, None).await);
    assert!(hint.contains("main"), "the branches that are there: {hint}");
    let bare = bench.folder.path().join("bare");
    let (from, to) = (bench.repo.to_str().unwrap(), bare.to_str().unwrap());
    git::run(bench.folder.path(), &["clone", "--quiet", "--bare", from, to]).unwrap();
    let (message, _) = refused(creator.create(&wanted(&bare), None, None).await);
    assert!(message.contains("bare repository"), "{message}");
    let (_, hint) = refused(creator.create(&wanted(bench.folder.path()), None, None).await);
    assert!(hint.contains("git init"), "{hint}");
    let name = NewSession { name: Some("../x".to_owned()), ..wanted(&bench.repo) };
    assert!(refused(creator.create(&name, None, None).await).0.contains("BadName"));
    assert_eq!(made(&bench), []);
}
