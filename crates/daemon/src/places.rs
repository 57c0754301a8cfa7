//! What the house has to know of the configuration, told whenever that says otherwise: how many agents may
//! run at once, and whether its file has a fault.

use crate::diagnostics;
use crate::mailbox::Mailbox;
use crate::pools::{Kind, Pools};
use crate::settings::Settings;
use glis_config::Config;
use glis_core::Input;
use glis_core::limits::Limits;
use std::sync::Arc;
use tokio::sync::Mutex;

/// What the house was last told.
pub(crate) struct Places {
    settings: Arc<Settings>,
    pools: Pools,
    mailbox: Mailbox,
    /// Held while it is told, so that no request overtakes what it is to be judged by.
    told: Mutex<Option<Told>>,
}

struct Told {
    limits: Limits,
    /// What was wrong with the file, if anything was.
    fault: Option<String>,
}

impl Places {
    pub(crate) fn new(settings: Arc<Settings>, pools: Pools, mailbox: Mailbox) -> Arc<Self> {
        Arc::new(Self { settings, pools, mailbox, told: Mutex::default() })
    }

    /// Reads the configuration if it has changed.
    pub(crate) async fn refresh(&self) {
        let settings = Arc::clone(&self.settings);
        drop(self.pools.run_blocking(Kind::Settings, move || settings.look()).await);
        self.tell().await;
    }

    /// Tells the house what is configured, unless it knows.
    pub(crate) async fn tell(&self) {
        let mut told = self.told.lock().await;
        // Looked at once it is this one's turn to tell: what was true before may have been told since.
        let (config, fault) = (self.settings.now(), self.settings.fault());
        diagnostics::set_level(config.log.level);
        let limits = limits(&config);
        let former = told.take();
        if former.as_ref().is_none_or(|former| former.fault != fault) {
            self.mailbox.tell(Input::ConfigRead(fault.clone())).await;
        }
        let known = former.map(|former| former.limits);
        let limits = known.filter(|known| known.closed).unwrap_or(limits);
        if known != Some(limits) {
            self.mailbox.tell(Input::Limits(limits)).await;
        }
        *told = Some(Told { limits, fault });
    }

    /// Nothing starts any more: the agents are ended, and what waits is left to the next daemon.
    pub(crate) async fn close(&self) {
        let limits = Limits { closed: true, ..limits(&self.settings.now()) };
        let mut told = self.told.lock().await;
        let fault = told.take().and_then(|told| told.fault);
        *told = Some(Told { limits, fault });
        self.mailbox.tell(Input::Limits(limits)).await;
    }
}

/// What the house goes by.
fn limits(config: &Config) -> Limits {
    Limits { day: config.budget.day, ..config.concurrency.limits() }
}
