//! Time: the timers that the core sets by name, and how long anything else takes. A test can move it
//! by hand.
//!
//! Spans are measured by a clock that nothing sets back. A timer for a time of day looks at the clock
//! on the wall again when the kernel tells that it was set; nothing looks again and again.

mod by_hand;
mod set;
mod time;
mod wall;

pub(crate) use time::Time;

use crate::mailbox::Mailbox;
use crate::panics::held;
use crate::pools::{Kind, Pools};
use crate::settings::Settings;
use crate::tasks::beside;
use glis_config::Config;
use glis_core::timer::{Span, When};
use glis_core::{Input, Subject, TimerKey};
use set::{Due, Set};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

pub(crate) struct Timers {
    pub(crate) time: Time,
    settings: Arc<Settings>,
    set: Arc<Mutex<Set>>,
    /// Another one may be the next to fire.
    changed: Arc<Notify>,
}

impl Timers {
    pub(crate) fn new(mailbox: Mailbox, settings: Arc<Settings>, pools: Pools) -> Self {
        let (time, set, changed) = (Time::default(), Arc::default(), Arc::default());
        by_hand::begin(&time);
        wall::follow(time.sets.clone());
        let timers = Self { time, settings, set, changed };
        timers.follow(mailbox, pools);
        timers
    }

    /// Tells the controller when the time of one has come. One task waits for all: of thousands of sessions at rest each
    /// may have a timer.
    fn follow(&self, mailbox: Mailbox, pools: Pools) {
        let (time, settings) = (self.time.clone(), Arc::clone(&self.settings));
        let (set, changed) = (Arc::clone(&self.set), Arc::clone(&self.changed));
        beside(async move {
            loop {
                let (span, wall) = held(&set).next();
                let due = tokio::select! {
                    () = changed.notified() => continue,
                    () = time.until(span) => span,
                    () = time.until(wall) => wall,
                };
                let fired = due.and_then(|due| held(&set).take(due).zip(Some(due)));
                let Some(((subject, key), due)) = fired else { continue };
                by_hand::show(held(&set).keys());
                by_hand::show_fired(key);
                let (settings, mailbox, pools) =
                    (Arc::clone(&settings), mailbox.clone(), pools.clone());
                beside(async move {
                    // Hours may have passed: what was forbidden meanwhile is not done. The end of a
                    // span, which bounds what hangs, waits for no disk.
                    if matches!(due, Due::Wall(_)) {
                        drop(pools.run_blocking(Kind::Settings, move || settings.look()).await);
                    }
                    mailbox.tell(Input::TimerFired { subject, key }).await;
                });
            }
        });
    }

    /// Tells the controller when the time has come. A timer of the same key is forgotten.
    pub(crate) fn set(&self, subject: Subject, key: TimerKey, when: When) {
        let due = match when {
            When::After(span) => Due::Span(self.time.now() + length(span, &self.settings.now())),
            When::At(at_ms) => Due::Wall(at_ms),
        };
        let mut set = held(&self.set);
        set.insert((subject, key), due);
        by_hand::show(set.keys());
        self.changed.notify_one();
    }

    /// Forgets a timer that nothing waits for any more.
    pub(crate) fn drop_timer(&self, subject: Subject, key: TimerKey) {
        let mut set = held(&self.set);
        if set.remove(&(subject, key)).is_some() {
            by_hand::show(set.keys());
        }
    }

    /// How much is left of a span that a timer waits for.
    pub(crate) fn left(&self, subject: Subject, key: TimerKey) -> Option<Duration> {
        match held(&self.set).due(&(subject, key))? {
            Due::Span(due) => Some(due.saturating_duration_since(self.time.now())),
            Due::Wall(_) => None,
        }
    }

    /// What is configured at the moment.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.settings.now()
    }
}

fn length(span: Span, config: &Config) -> Duration {
    match span {
        Span::Exactly(span) => span,
        Span::SafeState => config.safe_state_time(),
        Span::Step => Duration::from_secs(config.pause.save_secs.into()),
        Span::ForcedStep => config.force_time(),
        Span::Idle => config.idle.timeout,
        Span::TaskIdle => config.idle.task_timeout,
        Span::Gate => Duration::from_secs(config.pause.all_secs),
        Span::Verdict => config.auto_yes.timeout(),
    }
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
        (Timers::new(mailbox, Arc::new(settings), Pools::default()), inbox, folder)
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
        assert_eq!(held(&timers.set).keys().count(), 1, "the other one waits");
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
        assert_eq!(held(&timers.set).keys().count(), 1, "the other one waits");
    }

    #[tokio::test]
    async fn a_time_of_day_that_is_over_fires_at_once() {
        let (timers, mut inbox, _folder) = timers();
        let key = TimerKey::Ready(OpId(1));
        timers.set(Subject::House, key, When::At(0));
        assert_eq!(fired(&mut inbox).await, key);
    }
}
