//! The system has no more to give: no process, no thread.

use crate::daemon::outside::Tenant;
use crate::support::house::{House, Outcome};
use rustix::process::{Resource, getrlimit};
use serde_json::Value;
use std::path::Path;

/// Lets the daemon have no more processes and threads than it has, or as many as before.
fn limit(daemon: &Value, most: Most) -> Outcome {
    let most = match most {
        Most::None => "1".to_owned(),
        // The daemon had ours.
        Most::AsBefore => getrlimit(Resource::Nproc)
            .current
            .map_or_else(|| "unlimited".to_owned(), |most| most.to_string()),
    };
    // By its own user: root may not where it has lost the right to.
    let mut command = Tenant::command(Path::new("prlimit"));
    let output =
        command.args(["--pid", &daemon.to_string(), &format!("--nproc={most}:")]).output()?;
    assert!(output.status.success(), "{output:?}");
    Ok(())
}

#[derive(Clone, Copy)]
enum Most {
    None,
    AsBefore,
}

#[test]
fn without_processes_a_request_fails_and_the_daemon_lives() -> Outcome {
    let house = House::new()?;
    // As somebody else than root, for whom there is no such limit.
    let tenant = Tenant::new(&house)?;
    tenant.json(&["new", "blue", "--agent", "rehearsal", "--headless", "--prompt", "say hello"])?;
    let blue = tenant.json(&["wait", "blue", "--for", "idle", "--timeout", "40s"])?;
    let status = tenant.json(&["daemon", "status"])?;
    let daemon = &status["pid"];
    limit(daemon, Most::None)?;
    let verbs = [
        &["new", "red", "--agent", "rehearsal", "--headless"][..],
        &["snapshot", "blue"],
        &["pause", "blue"],
        &["diff", "blue"],
        &["snapshots", "blue"],
        &["search", "hello"],
        &["doctor"],
    ];
    for verb in verbs {
        let output = tenant.glis(verb).output()?;
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let document: Value = serde_json::from_str(&told).map_err(|_| format!("{output:?}"))?;
        let refused = matches!(output.status.code(), Some(1 | 2))
            && document["error"]["message"].to_string().contains("temporarily unavailable");
        // What asks for no process may succeed.
        let fine = ["search", "doctor"].contains(&verb[0]);
        assert!(refused || fine, "{verb:?}: {output:?}");
        let now = tenant.json(&["daemon", "status"])?;
        assert_eq!(now["pid"], status["pid"], "{verb:?}: the daemon lives");
    }
    assert_eq!(tenant.json(&["show", "blue"])?["pid"], blue["pid"]);
    limit(daemon, Most::AsBefore)?;
    assert_eq!(tenant.json(&["pause", "blue"])?["status"], "paused");
    tenant.json(&["new", "red", "--agent", "rehearsal", "--headless"])?;
    Ok(())
}

#[test]
fn without_a_process_for_its_holder_a_start_fails_and_may_be_tried_again() -> Outcome {
    let house = House::new()?;
    let tenant = Tenant::new(&house)?;
    tenant.json(&["new", "blue", "--agent", "rehearsal", "--headless", "--prompt", "say hello"])?;
    tenant.json(&["wait", "blue", "--for", "idle", "--timeout", "40s"])?;
    tenant.json(&["pause", "blue"])?;
    let status = tenant.json(&["daemon", "status"])?;
    // Whoever holders are born of, but not the daemon.
    let nursery: Vec<Value> = house
        .processes()
        .into_iter()
        .map(Value::from)
        .filter(|pid| *pid != status["pid"])
        .collect();
    assert!(!nursery.is_empty(), "a nursery is there");
    for pid in &nursery {
        limit(pid, Most::None)?;
    }
    let output = tenant.glis(&["resume", "blue"]).output()?;
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("temporarily unavailable"), "{told}");
    assert_eq!(tenant.json(&["daemon", "status"])?["pid"], status["pid"], "the daemon lives");
    assert_eq!(tenant.json(&["show", "blue"])?["status"], "paused");
    for pid in &nursery {
        limit(pid, Most::AsBefore)?;
    }
    tenant.json(&["resume", "blue"])?;
    Ok(())
}
