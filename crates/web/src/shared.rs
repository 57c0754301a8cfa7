//! What every request needs.

use crate::devices::Devices;
use crate::hosts::Hosts;
use crate::hub::Hub;
use crate::places::Places;
use crate::ticket::Tickets;
use glis_client::Connector;
use std::sync::Arc;

/// The same for all requests of a server.
pub(crate) struct Shared {
    pub(crate) connector: Connector,
    pub(crate) hosts: Hosts,
    pub(crate) devices: Devices,
    pub(crate) tickets: Tickets,
    pub(crate) hub: Arc<Hub>,
    /// For calls that are under way, and answers that are being taken.
    pub(crate) calls: Places,
    /// For pages that listen, and terminals.
    pub(crate) streams: Places,
}
