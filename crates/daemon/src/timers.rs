//! Time: the timers that the core sets by name, and how long anything else takes. A test can move it
//! by hand.
//!
//! Spans are measured by a clock that nothing sets back. A timer for a time of day looks at the clock
//! on the wall again when the kernel tells that it was set; nothing looks again and again.

mod by_hand;
mod time;
mod wall;

pub(crate) use time::Time;

use crate::mailbox::Mailbox;
use crate::settings::Settings;
use glis_config::Config;
use glis_core::timer::{Span, When};
use glis_core::{Input, Subject, TimerKey};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// The timers that are set.
pub(crate) struct Timers {
    pub(crate) time: Time,
    mailbox: Mailbox,
    settings: Arc<Settings>,
    /// The controller, which sets timers, is a thread without a runtime of its own.
    runtime: Handle,
    set: Arc<Mutex<Set>>,
}

/// Each timer's task, by what it is for, and when it fires if that is a span's end.
type Set = HashMap<(Subject, TimerKey), (AbortHandle, Option<Instant>)>;

impl Timers {
    pub(crate) fn new(mailbox: Mailbox, settings: Arc<Settings>) -> Self {
        let time = Time::default();
        by_hand::begin(&time);
        wall::follow(time.sets.clone());
        Self { time, mailbox, settings, runtime: Handle::current(), set: Arc::default() }
    }

    /// Tells the controller when the time has come. A timer of the same key is forgotten.
    pub(crate) fn set(&self, subject: Subject, key: TimerKey, when: When) {
        let (time, mailbox) = (self.time.clone(), self.mailbox.clone());
        let span = match when {
            When::After(span) => Ok(length(span, &self.settings.now())),
            When::At(at_ms) => Err(at_ms),
        };
        // From this moment on, and not from when its task is first run.
        let due = span.map(|span| time.now() + span);
        let name = (subject, key);
        let (own, set) = (name.clone(), Arc::clone(&self.set));
        let settings = Arc::clone(&self.settings);
        // Held until the task is in the table, so that it cannot take itself out before.
        let mut table = lock(&self.set);
        let task = self.runtime.spawn(async move {
            match due {
                Ok(due) => time.sleep_until(due).await,
                Err(at_ms) => {
                    time.sleep_until_wall(at_ms).await;
                    // Hours may have passed: what was forbidden meanwhile is not done. The end of a
                    // span, which bounds what hangs, waits for no disk.
                    settings.refresh().await;
                }
            }
            forget(&set, &own);
            by_hand::show_fired(own.1);
            let (subject, key) = own;
            mailbox.tell(Input::TimerFired { subject, key }).await;
        });
        if let Some((former, _)) = table.insert(name, (task.abort_handle(), due.ok())) {
            former.abort();
        }
        by_hand::show(table.keys().map(|(_, key)| key));
    }
}

impl Timers {
    /// Forgets a timer that nothing waits for any more.
    pub(crate) fn drop_timer(&self, subject: Subject, key: TimerKey) {
        let mut table = lock(&self.set);
        if let Some((task, _)) = table.remove(&(subject, key)) {
            task.abort();
            by_hand::show(table.keys().map(|(_, key)| key));
        }
    }

    /// How much is left of a span that a timer waits for.
    pub(crate) fn left(&self, subject: Subject, key: TimerKey) -> Option<Duration> {
        let due = lock(&self.set).get(&(subject, key)).and_then(|(_, due)| *due)?;
        Some(due.saturating_duration_since(self.time.now()))
    }

    /// What is configured at the moment.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.settings.now()
    }
}

fn forget(set: &Mutex<Set>, name: &(Subject, TimerKey)) {
    let mut table = lock(set);
    table.remove(name);
    by_hand::show(table.keys().map(|(_, key)| key));
}

fn length(span: Span, config: &Config) -> Duration {
    match span {
        Span::Exactly(span) => span,
        Span::SafeState => config.safe_state_time(),
        Span::Step => config.save_time(),
        Span::ForcedStep => config.force_time(),
        Span::Idle => config.idle.timeout,
        Span::TaskIdle => config.idle.task_timeout,
        Span::Gate => config.all_time(),
        Span::Verdict => config.auto_yes.timeout(),
    }
}

/// Each entry stands alone, so that a panic elsewhere leaves the table usable.
fn lock(set: &Mutex<Set>) -> MutexGuard<'_, Set> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::Mail;
    use glis_core::{MessageId, OpId};
    use tokio::sync::mpsc;

    /// Timers by a configuration of nothing, and what they tell.
    fn timers() -> (Timers, mpsc::Receiver<Mail>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let [file, copies] = ["config.toml", "backup"].map(|name| folder.path().join(name));
        let settings = Settings::open(file, copies).unwrap();
        let (mailbox, inbox) = Mailbox::new("a log");
        (Timers::new(mailbox, Arc::new(settings)), inbox, folder)
    }

    async fn fired(inbox: &mut mpsc::Receiver<Mail>) -> TimerKey {
        let Some(Mail::Input(Input::TimerFired { key, .. })) = inbox.recv().await else {
            panic!("no timer");
        };
        key
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn time_that_is_moved_by_hand_has_passed_at_once() {
        let (timers, mut inbox, _folder) = timers();
        let subject = || Subject::House;
        let after = |span| When::After(Span::Exactly(span));
        timers.set(subject(), TimerKey::Ready(OpId(1)), after(2 * HOUR));
        timers.set(subject(), TimerKey::SafeState(OpId(1)), after(HOUR));
        timers.time.moved.send_replace(HOUR);
        assert_eq!(fired(&mut inbox).await, TimerKey::SafeState(OpId(1)));
        assert_eq!(lock(&timers.set).len(), 1, "the other one waits");
        timers.time.moved.send_replace(2 * HOUR);
        assert_eq!(fired(&mut inbox).await, TimerKey::Ready(OpId(1)));
    }

    #[tokio::test]
    async fn a_timer_that_is_set_again_fires_once_and_by_its_last_time() {
        let (timers, mut inbox, _folder) = timers();
        let subject = || Subject::House;
        let retry = TimerKey::Retry(MessageId(1));
        timers.set(subject(), retry, When::After(Span::Exactly(HOUR)));
        timers.set(subject(), retry, When::After(Span::Exactly(3 * HOUR)));
        timers.set(subject(), TimerKey::Step(OpId(2)), When::After(Span::Exactly(2 * HOUR)));
        timers.time.moved.send_replace(2 * HOUR);
        assert_eq!(fired(&mut inbox).await, TimerKey::Step(OpId(2)));
        timers.time.moved.send_replace(3 * HOUR);
        assert_eq!(fired(&mut inbox).await, retry);
    }

    #[tokio::test]
    async fn a_time_of_day_is_looked_at_again_when_the_clock_was_set() {
        let (timers, mut inbox, _folder) = timers();
        let (near, far) = (TimerKey::Ready(OpId(1)), TimerKey::Ready(OpId(2)));
        let now = crate::clock::now().as_millisecond();
        timers.set(Subject::House, far, When::At(now + 3_600_000));
        timers.set(Subject::House, near, When::At(now + 20));
        timers.time.sets.send_modify(|times| *times += 1);
        assert_eq!(fired(&mut inbox).await, near);
        assert_eq!(lock(&timers.set).len(), 1, "the other one waits");
    }

    #[tokio::test]
    async fn a_time_of_day_that_is_over_fires_at_once() {
        let (timers, mut inbox, _folder) = timers();
        let key = TimerKey::Ready(OpId(1));
        timers.set(Subject::House, key, When::At(0));
        assert_eq!(fired(&mut inbox).await, key);
    }
}
