//! What each state does with each command, and the stories that a session can live through.

#[path = "transitions/budgets.rs"]
mod budgets;
#[path = "transitions/script.rs"]
mod script;
#[path = "transitions/state.rs"]
mod state;
#[path = "transitions/words.rs"]
mod words;

#[path = "transitions/appointments.rs"]
mod appointments;
#[path = "transitions/asks.rs"]
mod asks;
#[path = "transitions/callers.rs"]
mod callers;
#[path = "transitions/chores.rs"]
mod chores;
#[path = "transitions/compactions.rs"]
mod compactions;
#[path = "transitions/gate.rs"]
mod gate;
#[path = "transitions/gate_midway.rs"]
mod gate_midway;
#[path = "transitions/idle.rs"]
mod idle;
#[path = "transitions/judged.rs"]
mod judged;
#[path = "transitions/kept.rs"]
mod kept;
#[path = "transitions/limits.rs"]
mod limits;
#[path = "transitions/loop_races.rs"]
mod loop_races;
#[path = "transitions/loops.rs"]
mod loops;
#[path = "transitions/page.rs"]
mod page;
#[path = "transitions/pauses.rs"]
mod pauses;
#[path = "transitions/plans.rs"]
mod plans;
#[path = "transitions/recovery.rs"]
mod recovery;
#[path = "transitions/regressions.rs"]
mod regressions;
#[path = "transitions/rescues.rs"]
mod rescues;
#[path = "transitions/starts.rs"]
mod starts;
#[path = "transitions/stops.rs"]
mod stops;
#[path = "transitions/stuck.rs"]
mod stuck;
#[path = "transitions/table.rs"]
mod table;
#[path = "transitions/talks.rs"]
mod talks;
#[path = "transitions/together.rs"]
mod together;
#[path = "transitions/trees.rs"]
mod trees;
#[path = "transitions/triage.rs"]
mod triage;
#[path = "transitions/under_way.rs"]
mod under_way;
#[path = "transitions/usage_limits.rs"]
mod usage_limits;
