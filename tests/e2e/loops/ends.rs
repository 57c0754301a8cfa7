//! How a loop ends, and what it pauses itself for.

use crate::support::house::Outcome;
use crate::support::looped::{QUICK, Watch, begin, house, lines, state};

#[test]
fn as_many_iterations_as_were_asked_for_each_in_a_conversation_of_its_own() -> Outcome {
    let house = house()?;
    let begun = begin(&house, QUICK, &["--max", "3"])?;
    assert_eq!(begun["loop"]["max"], 3, "{begun}");
    Watch::of(&house)?.until("loop_done")?;
    let shown = house.show("l")?;
    assert_eq!(shown["loop"]["state"], "done", "{shown}");
    assert_eq!(shown["loop"]["done_by"], "max", "{shown}");
    assert_eq!(lines(&house)?, 3);
    assert_eq!(shown["former_refs"].as_array().map(Vec::len), Some(2), "{shown}");
    assert_eq!(state(&house)?["iteration"], 3);
    Ok(())
}
