//! Labels, pins and snoozes, and budgets.

use super::Out;
use super::act::act;
use crate::control;
use glis_client::labels;
use glis_verbs::Complaint;
use glis_wire::client::Action;

pub(super) fn put(name: &str, action: Action, out: &Out) -> Result<(), Complaint> {
    let (session, _) = act(&mut control::connect()?, name, action)?;
    out.document(&session, || labels::put(&session))
}

pub(super) fn budget(name: &str, budget: String, out: &Out) -> Result<(), Complaint> {
    let (session, _) = act(&mut control::connect()?, name, Action::Budget { budget })?;
    out.document(&session, || labels::budgeted(&session))
}
