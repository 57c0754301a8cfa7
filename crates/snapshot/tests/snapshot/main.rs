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
mod speed;
mod states;
mod way;
