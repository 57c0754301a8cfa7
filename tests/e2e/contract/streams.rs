//! Standard output that is closed, or whose reader goes away.

use crate::support::house::{House, Outcome};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Far more than it takes to notice anything on a loaded machine, and far less than for ever.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_closed_standard_output_is_a_failure() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    for verb in ["ls", "ls --json", "show blue", "events", "output blue", "help", "--version"] {
        let line = format!("{} {verb} >&-", crate::support::house::program().display());
        let mut shell = Command::new("sh");
        house.enter(shell.args(["-c", &line])).current_dir(house.repo());
        let output = shell.output()?;
        if verb == "output blue" {
            // Nothing was printed yet, so nothing could not be written.
            assert_eq!(output.status.code(), Some(0), "{verb}");
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{verb}");
        let told = String::from_utf8(output.stderr)?;
        assert!(told.contains("standard output is closed"), "{verb}: {told}");
    }
    // What is thrown away on purpose is written.
    let mut thrown = house.glis();
    assert!(thrown.arg("ls").stdout(Stdio::null()).status()?.success());
    Ok(())
}

#[test]
fn a_follower_ends_with_its_reader_and_not_with_the_next_line() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hi")?;
    for args in [
        &["log", "blue", "--follow"][..],
        &["--json", "log", "blue", "--follow"],
        &["events", "--follow"],
        &["output", "blue", "--follow"],
        &["--json", "output", "blue", "--follow"],
    ] {
        let mut follower = house.glis();
        let mut follower =
            follower.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut reader = BufReader::new(follower.stdout.take().ok_or("no pipe")?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        assert!(!line.is_empty(), "{args:?}");
        assert_eq!(follower.try_wait()?, None, "{args:?} follows");
        drop(reader);
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = follower.try_wait()? {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                follower.kill()?;
                follower.wait()?;
                return Err(format!("{args:?} stays for ever").into());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(status.code(), Some(0), "{args:?}: enough is no failure");
    }
    Ok(())
}

#[test]
fn an_option_behind_the_words_of_a_search_is_an_option() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say needle --json")?;
    let found: serde_json::Value =
        serde_json::from_str(&house.ok(&["search", "needle", "--json"])?)?;
    assert!(found.as_array().is_some_and(|hits| !hits.is_empty()), "{found}");
    let some = house.ok(&["search", "needle", "--most", "1", "--json"])?;
    let some: serde_json::Value = serde_json::from_str(&some)?;
    assert_eq!(some.as_array().map(Vec::len), Some(1));
    let literal = house.ok(&["search", "--", "needle", "--json"])?;
    assert!(literal.contains("needle"), "{literal}");
    Ok(())
}
