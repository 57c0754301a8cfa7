//! How many agents may run at once: told to the house whenever the configuration says otherwise.

use crate::mailbox::Mailbox;
use crate::settings::Settings;
use glis_core::Input;
use glis_core::limits::Limits;
use std::sync::Arc;
use tokio::sync::Mutex;

/// What the house was last told.
pub(crate) struct Places {
    settings: Arc<Settings>,
    mailbox: Mailbox,
    /// Held while it is told, so that no request overtakes what it is to be judged by.
    told: Mutex<Option<Limits>>,
}

impl Places {
    pub(crate) fn new(settings: Arc<Settings>, mailbox: Mailbox) -> Arc<Self> {
        Arc::new(Self { settings, mailbox, told: Mutex::default() })
    }

    /// Reads the configuration if it has changed.
    pub(crate) async fn refresh(&self) {
        Arc::clone(&self.settings).refresh().await;
        self.tell().await;
    }

    /// Tells the house what is configured, unless it knows.
    pub(crate) async fn tell(&self) {
        let limits = self.settings.now().limits.limits();
        let mut told = self.told.lock().await;
        if told.is_some_and(|told| told.closed) {
            return;
        }
        if told.replace(limits) != Some(limits) {
            self.mailbox.tell(Input::Limits(limits)).await;
        }
    }

    /// Nothing starts any more: the agents are ended, and what waits is left to the next daemon.
    pub(crate) async fn close(&self) {
        let limits = Limits { closed: true, ..self.settings.now().limits.limits() };
        let mut told = self.told.lock().await;
        *told = Some(limits);
        self.mailbox.tell(Input::Limits(limits)).await;
    }
}
