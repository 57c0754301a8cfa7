//! What a failing step says first, word for word, and by which word a script knows it.

use super::*;
use glis_core::reason::FailedStep;
use glis_core::refusal::{ResumeFault as Fault, Site};

fn of_pause(step: FailedStep) -> String {
    let (session, why) = ("blue".to_owned(), Why::Other("no".to_owned()));
    Complaint::from(Refusal::Failed { session, step, why, unsent: Vec::new() }).message
}

fn of_resume(why: Fault) -> Complaint {
    Complaint::from(Refusal::NotResumable {
        session: "blue".to_owned(),
        agent: "claude".to_owned(),
        agent_ref: Some("id-1".to_owned()),
        site: Site::Worktree,
        why,
    })
}

/// S1.
#[test]
fn every_failing_step_of_a_pause_leads_with_its_own_words() {
    for (step, lead) in [
        (FailedStep::Capture, "failed to capture PTY state: "),
        (FailedStep::Stash, "failed to stash changes: "),
        (FailedStep::Interrupt, "failed to interrupt agent: "),
        (FailedStep::Conversation, "failed to save conversation: "),
    ] {
        let message = of_pause(step);
        assert!(message.starts_with(lead) && message.contains("`blue`"), "{message}");
        assert!(message.ends_with(": no"), "{message}");
    }
}

/// S1.
#[test]
fn every_failing_step_of_a_resume_leads_with_its_own_words() {
    let no = || "no".to_owned();
    for (fault, lead) in [
        (Fault::NoDirectory(no()), "failed to recreate worktree: "),
        (Fault::WrongRoot(no()), "failed to recreate worktree: "),
        (Fault::NotRestored(no()), "failed to restore stash: "),
        (Fault::NoTerminal(no()), "failed to create tmux session: "),
        (Fault::NoTranscript(no()), "failed to replay context: "),
        (Fault::NotInstalled(no()), "failed to start claude: "),
        (Fault::System(no()), "failed to start claude: "),
    ] {
        let message = of_resume(fault).message;
        assert!(message.starts_with(lead), "{message}");
        assert!(message.contains("session `blue` cannot be resumed"), "{message}");
    }
}

/// S2.
#[test]
fn a_pause_that_ran_out_of_time_says_so() {
    let (session, doing) = ("blue".to_owned(), "timeout waiting for safe state, it runs make");
    let refusal = Refusal::NotSafe { session, doing: doing.to_owned() };
    assert_eq!(
        Complaint::from(refusal).message,
        "Agent not in safe state: timeout waiting for safe state, it runs make; session `blue` \
         keeps running"
    );
}

#[test]
fn each_reason_of_a_failed_resume_has_a_kind_of_its_own_and_one_exit_status() {
    let no = || "no".to_owned();
    let faults = [
        Fault::NoRef,
        Fault::Rejected(no()),
        Fault::WrongRoot(no()),
        Fault::NoDirectory(no()),
        Fault::NotInstalled(no()),
        Fault::WrongVersion(no()),
        Fault::NoTranscript(no()),
        Fault::Locked(no()),
        Fault::NotReady(no()),
        Fault::System(no()),
        Fault::NotRestored(no()),
        Fault::NoTerminal(no()),
    ];
    let mut kinds = std::collections::BTreeSet::new();
    for fault in faults {
        let complaint = of_resume(fault);
        assert_eq!(complaint.kind.exit_status(), 6);
        let kind = complaint.json().error.kind;
        assert!(kinds.insert(kind), "{kind:?} is there twice");
        assert!(complaint.hint.is_some_and(|hint| hint.contains("`glis restart blue`")));
    }
}

#[test]
fn a_session_in_place_gets_hints_that_help_there() {
    for wish in [InPlaceWish::RemoveWorktree, InPlaceWish::Restore] {
        let complaint = Complaint::from(Refusal::InPlace { session: "blue".to_owned(), wish });
        let hint = complaint.hint.unwrap_or_default();
        assert_eq!(complaint.kind.exit_status(), 4);
        assert!(!hint.contains("stop") && hint.contains("blue"), "{hint}");
    }
    let refusal = Refusal::NotResumable {
        session: "blue".to_owned(),
        agent: "claude".to_owned(),
        agent_ref: None,
        site: Site::InPlace,
        why: Fault::NoDirectory("/gone".to_owned()),
    };
    let hint = Complaint::from(refusal).hint.unwrap_or_default();
    assert!(hint.contains("put that back") && !hint.contains("worktree add"), "{hint}");
}
