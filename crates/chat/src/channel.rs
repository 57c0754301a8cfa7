//! The seam to a network: what a bot needs of one, and what can go wrong. Limits are data.

pub mod fault;

pub use fault::ChannelFault;

use crate::outbox::{Outcome, What};
use crate::policy::Place;
use crate::text::Text;
use serde_json::Value;
use std::time::Duration;

/// Who a bot is on its network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Me {
    /// Its number, which no other bot has.
    pub number: i64,
    pub name: String,
}

/// A network that a bot talks on. Each call is one request.
pub trait Channel: Send + Sync {
    /// The bytes of the largest file that it gives out.
    fn file_bytes_max(&self) -> u64;
    fn introduce(&self) -> Result<Me, ChannelFault>;
    fn announce(&self, commands: &[(&str, &str)]) -> Result<(), ChannelFault>;
    /// What has come from `offset` on; waits so long for something. Those before it are forgotten there. Without
    /// one, everything that was not forgotten yet.
    fn updates(&self, offset: Option<i64>, wait: Duration) -> Result<Vec<Value>, ChannelFault>;
    /// Does what waits in the outbox, in this place. The number of the message or topic that is made by that.
    fn send(&self, to: Place, what: &What) -> Outcome;
    /// A message that shows something unfinished and rings nowhere. Its number.
    fn preview(&self, to: Place, text: &Text) -> Result<i64, ChannelFault>;
    /// Takes a message away. One that is gone already is no fault.
    fn delete(&self, chat: i64, message: i64) -> Result<(), ChannelFault>;
    /// The bytes of a file that a user has sent.
    fn fetch(&self, file: &str) -> Result<Vec<u8>, ChannelFault>;
}
