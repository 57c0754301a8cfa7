//! Programs that are too old: refused before anything is started, with what is needed instead.

use crate::support::house::{House, Outcome};
use std::os::unix::fs::PermissionsExt as _;

/// Each agent that has a lowest version, one that is too old by a hair, and how it says so.
const TOO_OLD: [(&str, &str, &str); 4] = [
    ("claude", "2.1.324 (Claude Code)", "2.1.325"),
    ("codex", "codex-cli 0.149.9", "0.150.0"),
    ("opencode", "1.17.99", "1.18.0"),
    ("gemini", "0.60.9", "0.61.0"),
];

#[test]
fn a_program_that_is_too_old_is_refused_and_the_needed_version_named() -> Outcome {
    let mut house = House::new()?;
    let bin = house.folder().join("bin");
    std::fs::create_dir_all(&bin)?;
    for (agent, version, _) in TOO_OLD {
        let program = bin.join(agent);
        // Whoever starts it for anything else than its version has not looked at that.
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo '{version}' && exit\n\
                              touch {}/{agent}-was-started\n",
            bin.display()
        );
        std::fs::write(&program, script)?;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    }
    house.surround("PATH", format!("{}:{}", bin.display(), std::env::var("PATH")?));
    for (agent, version, needed) in TOO_OLD {
        let args = ["new", agent, "--agent", agent, "--headless", "--prompt", "hello"];
        let (status, error) = house.fails(&args)?;
        let message = error["message"].as_str().unwrap_or_default();
        let number = version.split(' ').find(|word| word.contains('.')).unwrap_or(version);
        assert_eq!(status, 1, "{agent}: {error}");
        assert!(message.contains(number) && message.contains(needed), "{agent}: {error}");
        assert_eq!(house.show(agent)?["status"], "failed");
        assert!(!bin.join(format!("{agent}-was-started")).exists(), "{agent} was started");
    }
    Ok(())
}

/// No start says so: vendors release daily.
#[test]
fn doctor_tells_once_of_a_version_that_was_not_tested() -> Outcome {
    let mut house = House::new()?;
    let bin = house.folder().join("bin");
    std::fs::create_dir_all(&bin)?;
    let program = bin.join("codex");
    let script =
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'codex-cli 9.9.9' && exit\nexec sleep 600\n";
    std::fs::write(&program, script)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    house.surround("PATH", format!("{}:{}", bin.display(), std::env::var("PATH")?));
    for name in ["blue", "red"] {
        let made = house.json(&["new", name, "--agent", "codex"])?;
        assert_eq!(made["warnings"], serde_json::json!([]), "{made}");
    }
    let told = house.json(&["doctor"])?;
    let findings = told.as_array().or(told["findings"].as_array()).ok_or("no findings")?;
    let is_ours = |message: &&str| message.contains("is version 9.9.9, newer than");
    let messages = findings.iter().filter_map(|finding| finding["message"].as_str());
    assert_eq!(messages.filter(is_ours).count(), 1, "{told}");
    Ok(())
}
