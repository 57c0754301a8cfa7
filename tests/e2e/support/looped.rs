//! Loops of the rehearsal agent, and how to wait for what they come to.

use crate::support::house::{House, Lines, Outcome};
use serde_json::Value;
use std::path::PathBuf;

/// One iteration: a line in a file, and then nothing until the test lets it go on.
pub(crate) const HELD: &str = "append work.txt x\\n ;; run while ! test -e \"$HOLD/go\"; do sleep 0.02; done; rm \"$HOLD/go\"";
/// One iteration that is over at once, and leaves something.
pub(crate) const QUICK: &str = "append work.txt x\\n";

/// A house in which what is held can be let go.
pub(crate) fn house() -> Outcome<House> {
    let mut house = House::new()?;
    let hold = held(&house);
    std::fs::create_dir(&hold)?;
    house.surround("HOLD", hold.to_string_lossy());
    Ok(house)
}

fn held(house: &House) -> PathBuf {
    house.folder().join("hold")
}

/// Lets the iteration that is held go on, once.
pub(crate) fn let_go(house: &House) -> Outcome {
    Ok(std::fs::write(held(house).join("go"), "")?)
}

/// Begins a loop without a terminal.
pub(crate) fn begin(house: &House, prompt: &str, options: &[&str]) -> Outcome<Value> {
    let usual = ["loop", "l", "--agent", "rehearsal", "--headless", "--prompt", prompt];
    house.json(&[&usual, options].concat())
}

/// How far the loop is.
pub(crate) fn state(house: &House) -> Outcome<Value> {
    Ok(house.show("l")?["loop"].clone())
}

/// Everything that happens, from the first event on.
pub(crate) struct Watch(Lines);

impl Watch {
    pub(crate) fn of(house: &House) -> Outcome<Self> {
        Ok(Self(house.follow(1)?))
    }

    /// Waits for the next event of this name.
    pub(crate) fn until(&mut self, event: &str) -> Outcome<Value> {
        self.0.until(|told| told["event"] == event)
    }

    /// Waits until the agent runs a command in this iteration: then it is held.
    pub(crate) fn until_held(&mut self, iteration: u32) -> Outcome {
        if iteration > 1 {
            self.0.until(|told| told["event"] == "loop_began" && told["iteration"] == iteration)?;
        }
        let runs = |told: &Value| {
            let what = told["what"].as_str().unwrap_or_default();
            told["event"] == "tool_began" && what.starts_with("run")
        };
        self.0.until(runs).map(drop)
    }
}

/// How many lines the iterations have left.
pub(crate) fn lines(house: &House) -> Outcome<usize> {
    let text = std::fs::read_to_string(house.file("l", "work.txt")?).unwrap_or_default();
    Ok(text.lines().count())
}
