//! Snapshots of real repositories: what is saved comes back, whatever happened in between.

mod clearing;
mod coming;
mod faults;
mod hostile;
mod house;
mod keeping;
mod making;
mod nested;
mod random;
mod rights;
#[path = "../../../../tests/support/seeds.rs"]
mod seeds;
#[path = "../../../../tests/support/skip.rs"]
mod skip;
mod speed;
mod states;
mod way;
