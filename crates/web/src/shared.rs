//! What every request needs.

use crate::Setup;
use crate::devices::Devices;
use crate::hosts::Hosts;
use crate::hub::Hub;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The same for all requests of a server.
pub(crate) struct Shared {
    pub(crate) setup: Setup,
    pub(crate) hosts: Hosts,
    pub(crate) devices: Devices,
    pub(crate) hub: Arc<Hub>,
    /// The calls that may still begin.
    pub(crate) calls: Arc<Semaphore>,
}
