//! The lifecycle of sessions as a pure function: an input goes in, events and effects come out.
//!
//! [`House::decide`] says what an input leads to and changes nothing; [`House::apply`] folds a
//! recorded event into the state. The caller stamps the events, makes them durable, and
//! only then carries out the effects. Nothing here reads a clock, a file or the environment.
#![forbid(unsafe_code)]
// A new member of an enum of ours stops the compiler wherever it matters.
#![deny(clippy::wildcard_enum_match_arm)]

pub mod amount;
pub mod budget;
pub mod by_itself;
pub mod caller;
mod callers;
pub mod card;
mod claims;
pub mod compaction;
mod decide;
pub mod decision;
mod draft;
pub mod effect;
pub mod event;
pub mod failure;
mod fold;
pub mod gate;
pub mod house;
pub mod ids;
mod index;
pub mod input;
mod known;
pub mod leftover;
pub mod limits;
mod loop_spec;
pub mod looping;
pub mod merge;
pub mod name;
pub mod pause;
pub mod phase;
pub mod plain;
pub mod plan;
pub mod queue;
pub mod rare;
pub mod reason;
pub mod redact;
pub mod refusal;
mod rescue;
pub mod rule;
pub mod run;
pub mod safe;
pub mod session;
pub mod shared;
pub mod spec;
pub mod spending;
pub mod status;
pub mod subject;
pub mod talk;
pub mod task;
pub mod timer;
pub mod tree;
pub mod triage;
pub mod usage_limit;
pub mod verdict;
mod waiting;

pub use caller::{Face, Origin};
pub use card::Card;
pub use decision::{Decision, Reply};
pub use effect::Effect;
pub use event::{Event, Recorded};
pub use failure::{End, Failure};
pub use gate::{Gate, GateCommand, GateEvent};
pub use house::House;
pub use ids::{AskId, MessageId, OpId, PlanId, RunId, SessionId};
pub use input::{Command, Input};
pub use plan::{Plan, PlanCommand, PlanEvent, PlanOutcome};
pub use refusal::Refusal;
pub use session::{Phase, Session};
pub use status::Status;
pub use subject::Subject;
pub use timer::TimerKey;
