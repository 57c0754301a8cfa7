//! The page that says which test holds which criterion.

use std::fs;

/// The page.
const PAGE: &str = "docs/criteria.md";
/// The folder that its names begin in, unless they begin at the top.
const TESTS: &str = "tests/e2e";

/// A line of a table: what must hold, and the tests in each of its cells.
struct Criterion<'p> {
    what: &'p str,
    /// With the rehearsal agent, with real agents, in the terminal UI; elsewhere there is one cell.
    cells: Vec<Vec<&'p str>>,
}

fn criteria(page: &str) -> Vec<Criterion<'_>> {
    let rows = page.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    let rows = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let rows = rows.filter(|cells| !cells[0].starts_with("--") && cells[0] != "what must hold");
    rows.map(|cells| Criterion {
        what: cells[0],
        // What stands between two backticks is every second part.
        cells: cells[1..].iter().map(|cell| cell.split('`').skip(1).step_by(2).collect()).collect(),
    })
    .collect()
}

/// Why a name of the page is not that of a test.
fn fault(name: &str) -> Option<String> {
    let Some((file, test)) = name.split_once("::") else {
        return Some("names no test".to_owned());
    };
    let below = super::root().join(TESTS).join(file);
    let file = if below.exists() { below } else { super::root().join(file) };
    let Ok(text) = fs::read_to_string(&file) else {
        return Some(format!("{} cannot be read", file.display()));
    };
    let found = text.split("#[test]\n").skip(1).any(|part| {
        let code = part.lines().map(str::trim_start).find(|line| line.starts_with("fn "));
        code.is_some_and(|line| line.starts_with(&format!("fn {test}(")))
    });
    (!found).then(|| "there is no such test".to_owned())
}

#[test]
fn every_criterion_is_held_by_tests_that_are_there() {
    let page = fs::read_to_string(super::root().join(PAGE)).unwrap();
    let mut faults = Vec::new();
    let all = criteria(&page);
    for Criterion { what, cells } in &all {
        for name in cells.iter().flatten() {
            faults.extend(fault(name).map(|why| format!("{what}: `{name}`: {why}")));
        }
        let held: Vec<bool> = cells.iter().map(|cell| !cell.is_empty()).collect();
        // Plans and loops: with both kinds of agents, or in the terminal UI alone. Else by any test.
        if !matches!(held.as_slice(), [true, true, _] | [false, false, true] | [true]) {
            faults.push(format!("{what}: rule criteria: by which tests is it held?"));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    assert_eq!(all.len(), 98, "a criterion is dropped by decision: change this number with it");
}

#[test]
fn a_test_that_is_not_there_is_told() {
    for name in ["plans/interrupted.rs::no_such_test", "plans/no_such_file.rs::x", "nothing"] {
        assert!(fault(name).is_some(), "{name}");
    }
    // A function is no test.
    assert!(fault("plans/interrupted.rs::interrupted").is_some());
}
