//! Snapshots of real repositories: what is saved comes back, whatever happened in between.

mod clearing;
mod coming;
mod faults;
mod hostile;
mod house;
mod keeping;
mod making;
mod merging;
mod nested;
#[path = "../../../prove/src/portrait.rs"]
mod portrait;
mod random;
mod rights;
#[path = "../../../../tests/e2e/support/seeds.rs"]
mod seeds;
#[path = "../../../../tests/e2e/support/skip.rs"]
mod skip;
mod speed;
mod states;
mod submodules;
mod way;
