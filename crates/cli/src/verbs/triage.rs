//! Labels, pins and snoozes.

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
