//! What is found in a house that was made wrong on purpose.

use super::Bench;
use crate::doctor::Doctor;
use crate::live::Live;
use glis_core::input::{Command, Input};
use glis_wire::view::{Finding, Health};
use std::sync::Arc;

fn doctor(bench: &Bench) -> Doctor {
    Doctor {
        live: Arc::new(Live::new(bench.home.clone())),
        home: bench.home.clone(),
        settings: Arc::clone(&bench.settings),
        mailbox: bench.mailbox.clone(),
        trees: bench.trees(),
        launcher: bench.launcher(),
    }
}

/// What is not as it should be. How full the disk of this machine is, is not ours to say.
fn wrong(findings: Vec<Finding>) -> Vec<Finding> {
    let wrong = |finding: &Finding| finding.health != Health::Good && finding.subject != "disk";
    findings.into_iter().filter(wrong).collect()
}

#[tokio::test]
async fn in_a_sound_house_nothing_is_found() {
    let bench = Bench::new();
    private(&bench);
    assert_eq!(wrong(doctor(&bench).examine().await), []);
}

fn private(bench: &Bench) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(&bench.home.state, mode).unwrap();
}

#[tokio::test]
async fn a_strange_folder_and_a_broken_configuration_are_found() {
    let bench = Bench::new();
    private(&bench);
    let strange = bench.home.session("nobody-knows");
    std::fs::create_dir_all(&strange).unwrap();
    std::fs::write(bench.home.config_file(), "[pause]\nsave_state = 1\n").unwrap();
    bench.settings.look();
    let found = wrong(doctor(&bench).examine().await);
    let of = |subject: &str| found.iter().find(|finding| finding.subject == subject);
    let configuration = of("configuration").unwrap();
    assert_eq!(configuration.health, Health::Bad);
    assert!(configuration.message.contains("save_state"), "{configuration:?}");
    let sessions = of("sessions").unwrap();
    assert!(sessions.message.contains(&strange.display().to_string()), "{sessions:?}");
    assert!(sessions.hint.is_some() && configuration.hint.is_some(), "each has a way out");
}

#[tokio::test]
async fn a_repository_that_was_moved_is_named_with_its_session() {
    let bench = Bench::new();
    private(&bench);
    let session = bench.session();
    let command = Command::New {
        id: session.id.clone(),
        name: "blue".to_owned(),
        spec: Box::new(session.spec.clone()),
        agent_ref: None,
    };
    assert!(
        bench.mailbox.ask(Input::Command(command), None).await.is_some_and(|reply| reply.is_ok())
    );
    std::fs::rename(&bench.repo, bench.folder.path().join("moved")).unwrap();
    let found = wrong(doctor(&bench).examine().await);
    let place = bench.repo.display().to_string();
    assert!(found.iter().any(|finding| finding.message.contains(&place)), "{found:#?}");
}
