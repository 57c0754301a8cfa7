//! A session as it is shown: what the log knows, and what its files tell.

use super::Bench;
use crate::environments::{EnvNote, EnvOrigin};
use crate::live::Live;
use crate::looks::Looks;
use crate::screens::Screens;
use crate::views::Views;
use glis_core::phase::{Phase, Rest};
use std::sync::Arc;

fn views(bench: &Bench) -> (Arc<Views>, Arc<Live>) {
    let live = Arc::new(Live::new(bench.home.clone()));
    let views = Views {
        home: bench.home.clone(),
        live: Arc::clone(&live),
        environments: Arc::clone(&bench.environments),
        launcher: bench.launcher(),
        screens: Arc::new(Screens::default()),
        timers: bench.timers(),
        accesses: Arc::default(),
        pools: bench.pools.clone(),
        looks: Looks::new(bench.pools.clone()),
    };
    (Arc::new(views), live)
}

#[tokio::test]
async fn what_is_known_beside_the_log_is_shown_with_it() {
    let bench = Bench::new();
    let ((views, live), session) = (views(&bench), bench.session());
    bench.speak(&session, "hello");
    let names = vec!["PATH".to_owned()];
    let origin = EnvOrigin::Daemon;
    let note = EnvNote { names: names.clone(), origin, ..EnvNote::default() };
    bench.environments.note(&session.id, note);
    live.set_audience(&session.id, 2);
    live.note_gap(&session.id, 17);
    let shown = views.one(&session).await;
    assert_eq!((shown.attached, shown.output_gap_at), (2, Some(17)));
    assert_eq!(shown.env_names, names);
    let warned = |what: &str| shown.warnings.iter().any(|warning| warning.contains(what));
    assert!(warned("the daemon's own environment"), "{:?}", shown.warnings);
    // It has spoken, and its transcript is nowhere.
    assert_eq!(shown.last_action.as_deref(), Some("hello"));
    assert!(warned("its transcript is missing"), "{:?}", shown.warnings);
}

#[tokio::test]
async fn a_look_is_noted_unless_the_session_was_removed() {
    let bench = Bench::new();
    let ((views, _), session) = (views(&bench), bench.session());
    let dir = bench.home.session(&session.id.0);
    std::fs::create_dir_all(&dir).unwrap();
    assert_eq!(views.one(&session).await.last_accessed_at, None);
    views.looked_at(&session);
    while views.one(&session).await.last_accessed_at.is_none() {
        tokio::task::yield_now().await;
    }
    let mut removed = bench.session();
    removed.phase = Phase::Rest(Rest::Archived);
    let aside = bench.home.trash().join(&removed.id.0).join("session");
    assert_eq!(views.folder_of(&removed), aside, "it is read where it was put");
    views.looked_at(&removed);
    assert_eq!(views.one(&removed).await.last_accessed_at, None);
    assert!(!aside.exists() && !bench.home.session(&removed.id.0).exists());
}

#[tokio::test]
async fn sessions_are_shown_in_the_order_that_was_asked_for() {
    let bench = Bench::new();
    let (views, _) = views(&bench);
    let mut sessions: Vec<_> = (0..30).map(|_| bench.session()).collect();
    sessions.sort_by(|a, b| b.id.cmp(&a.id));
    let ids: Vec<_> = sessions.iter().map(|session| session.id.0.clone()).collect();
    let shown: Vec<_> = views
        .rows(sessions.into_iter().map(Arc::new).collect())
        .await
        .into_iter()
        .map(|view| view.id)
        .collect();
    assert_eq!(shown, ids);
}
