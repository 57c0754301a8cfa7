//! Every state that two sessions can reach, breadth first: commands, reports that come, fail or get
//! lost, timers, signs, deaths and crashes, from an empty house and from one with two agents at work.
//!
//! States that differ only in numbers that were given away count as one. With `CI` set, the searches
//! together visit a million states; with `GLIS_STATES=N` each visits so many.

#[path = "reasons/effect.rs"]
mod reasons;
#[path = "breadth/rules.rs"]
mod rules;
#[path = "breadth/state.rs"]
mod state;
#[path = "breadth/steps.rs"]
mod steps;

use glis_core::spec::Spec;
use state::State;
use std::collections::HashSet;

/// How many states each search visits on a build server: about a minute on two processors. From nothing
/// every state is found; the other two begin where that one comes to late.
const FROM_NOTHING: usize = 500_000;
const FROM_WORK: usize = 250_000;
/// Before a commit a tenth of them has to do.
const AT_HOME: usize = 10;
/// So many steps deep a tenth gets today. From nothing there is little to do at first; from work
/// everything can happen at once.
const DEPTH_FROM_NOTHING: usize = 6;
const DEPTH_FROM_WORK: usize = 4;

/// Where a state is: which of the possible steps was taken, from the beginning on. A state itself is
/// some kilobytes, and there are too many of them to be kept.
type Way = Vec<u16>;

#[test]
fn every_state_after_an_empty_house_holds_every_rule() {
    let root = State::new(&state::agent(false), &state::command(false));
    let story = search(root, &[], (FROM_NOTHING, DEPTH_FROM_NOTHING)).unwrap();
    println!("from an empty house: {story}");
}

#[test]
fn every_state_after_two_agents_at_work_holds_every_rule() {
    let begun = [steps::begin(0), steps::begin(1)].concat();
    let root = State::new(&state::agent(false), &state::agent(false));
    let story = search(root, &begun, (FROM_WORK, DEPTH_FROM_WORK)).unwrap();
    println!("from two agents at work: {story}");
}

#[test]
fn every_state_of_two_agents_with_one_place_holds_every_rule() {
    let begun = [vec![steps::Step::Limits(steps::limits()[0])], steps::begin(0)].concat();
    let root = State::new(&state::agent(false), &state::command(false));
    let story = search(root, &begun, (FROM_WORK, DEPTH_FROM_WORK)).unwrap();
    println!("from one agent at work where one may be: {story}");
}

#[test]
fn every_state_after_two_commands_in_one_folder_holds_every_rule() {
    let (one, two): (Spec, Spec) = (state::command(true), state::command(true));
    let least = (FROM_WORK, DEPTH_FROM_WORK);
    let story = search(State::new(&one, &two), &steps::begin(0), least).unwrap();
    println!("from a command in a folder that two share: {story}");
}

#[test]
fn every_state_of_a_process_that_is_kept_holds_every_rule() {
    let (one, two) = (state::kept(true), state::command(true));
    let least = (FROM_WORK, DEPTH_FROM_WORK);
    let story = search(State::new(&one, &two), &steps::begin(0), least).unwrap();
    println!("from a command that a pause keeps: {story}");
}

#[expect(clippy::disallowed_methods, reason = "how far to go is a wish of the person who looks")]
fn most(usual: usize) -> usize {
    let wish = std::env::var("GLIS_STATES").ok().and_then(|wish| wish.parse().ok());
    let server = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
    wish.unwrap_or(if server { usual } else { usual / AT_HOME })
}

/// Visits everything behind `root`, once `begun` has been done. Tells how far it came; a search that
/// ends before it has seen so many states, or is less deep by then, has not looked.
fn search(
    mut root: State,
    begun: &[steps::Step],
    (usual, deep): (usize, usize),
) -> Result<String, String> {
    for step in begun {
        root.take(step)?;
    }
    let most = most(usual);
    let mut visited = HashSet::from([root.key()]);
    let mut ways: Vec<Way> = vec![Way::new()];
    let (mut depth, mut taken) = (0, 0_u64);
    while !ways.is_empty() && visited.len() < most {
        let mut next = Vec::new();
        for way in &ways {
            let parent = follow(&root, way)?;
            for (number, step) in (0..).zip(parent.steps()) {
                let mut child = parent.clone();
                let told = |fault| format!("{fault}\n{}", tell(&root, way, &step));
                child.take(&step).map_err(told)?;
                taken += 1;
                if visited.insert(child.key()) {
                    child.judge().map_err(told)?;
                    next.push([way.as_slice(), &[number]].concat());
                }
            }
            if visited.len() >= most {
                break;
            }
        }
        ways = next;
        depth += 1;
    }
    let story = format!("depth {depth}, {} states, {taken} steps", visited.len());
    // Who wishes for less than a tenth gets less deep.
    let is_deep = depth >= deep || most < usual / AT_HOME;
    if visited.len() >= most && is_deep { Ok(story) } else { Err(format!("it ran dry: {story}")) }
}

fn follow(root: &State, way: &[u16]) -> Result<State, String> {
    let mut state = root.clone();
    for number in way {
        let step = state.steps().into_iter().nth(usize::from(*number)).ok_or("no such step")?;
        state.take(&step)?;
    }
    Ok(state)
}

/// How a fault came about.
fn tell(root: &State, way: &[u16], last: &steps::Step) -> String {
    let mut told = Vec::new();
    let mut state = root.clone();
    for number in way {
        let Some(step) = state.steps().into_iter().nth(usize::from(*number)) else { break };
        told.push(format!("{step:?}"));
        if state.take(&step).is_err() {
            break;
        }
    }
    told.push(format!("{last:?}"));
    told.join("\n")
}
