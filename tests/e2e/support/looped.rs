//! Loops of the rehearsal agent, and how to wait for what they come to.

use crate::support::house::{House, Lines, Outcome, eventually};
use serde_json::Value;
use std::path::PathBuf;

/// One iteration: a line in a file, and then nothing until the test lets it go on.
pub(crate) const HELD: &str = "append work.txt x\\n ;; run while ! test -e \"$HOLD/go\"; do sleep 0.02; done; rm \"$HOLD/go\"";
/// One iteration that is over at once, and leaves something.
pub(crate) const QUICK: &str = "append work.txt x\\n";

/// A command for `--until` that notes that it is asked, and waits to be told what it says.
pub(crate) const ASKED: &str = "echo $$ >> \"$HOLD/asked\"; while ! test -e \"$HOLD/tell\"; do sleep 0.02; done; \
     said=$(cat \"$HOLD/tell\"); rm \"$HOLD/tell\"; test \"$said\" = yes";

/// A house in which what is held can be let go.
pub(crate) fn house() -> Outcome<House> {
    holding(House::new()?)
}

/// The same of any house.
pub(crate) fn holding(mut house: House) -> Outcome<House> {
    let hold = held(&house);
    std::fs::create_dir(&hold)?;
    house.surround("HOLD", hold.to_string_lossy());
    Ok(house)
}

/// The processes of [`ASKED`], in the order in which they were asked.
pub(crate) fn asked(house: &House) -> Vec<i32> {
    let text = std::fs::read_to_string(held(house).join("asked")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Waits until [`ASKED`] was asked so often.
pub(crate) fn until_asked(house: &House, times: usize) -> Outcome {
    eventually("the command of --until is asked", || asked(house).len() >= times)
}

/// Has [`ASKED`] say `yes` or `no`, once.
pub(crate) fn tell(house: &House, said: &str) -> Outcome {
    let fresh = held(house).join("tell.fresh");
    std::fs::write(&fresh, said)?;
    Ok(std::fs::rename(fresh, held(house).join("tell"))?)
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

/// Begins a loop without a terminal that works from a file of the repository.
pub(crate) fn begin_from(house: &House, spec: &str, options: &[&str]) -> Outcome<Value> {
    let usual = ["loop", "l", "--agent", "rehearsal", "--headless", "--spec", spec];
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

    /// Waits for an event like this.
    pub(crate) fn until_like(&mut self, wanted: impl Fn(&Value) -> bool) -> Outcome<Value> {
        self.0.until(wanted)
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

/// The fields of a loop that are to be these.
pub(crate) fn is(house: &House, wanted: &[(&str, Value)]) -> Outcome {
    let found = state(house)?;
    for (field, value) in wanted {
        if found[*field] != *value {
            return Err(format!("{field} is not {value}: {found}").into());
        }
    }
    Ok(())
}

/// How many lines the iterations have left.
pub(crate) fn lines(house: &House) -> Outcome<usize> {
    let text = std::fs::read_to_string(house.file("l", "work.txt")?).unwrap_or_default();
    Ok(text.lines().count())
}
