//! What an agent has said by the end of its turn, told as new messages.

use super::say::Say;
use crate::outbox::{Item, Lane, What as Sent};
use crate::policy::Place;
use crate::store::{Change, Follow, Mark, StoreFault};
use crate::text::{Text, clean, from_markdown};
use crate::words;
use glis_wire::view::{Entry, SessionView, Voice};

/// How a stretch of an agent's work has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The agent is done with its turn.
    Turn,
    Question,
    /// By something that is told by itself: a pause, a limit, the end of its process.
    Otherwise,
}

/// The place of an entry in its conversation.
pub fn mark_of(entry: &Entry) -> Mark {
    let text = serde_json::to_string(entry).unwrap_or_default();
    // A sum of our own: that of the standard library is another one in the next version.
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Mark { at: entry.timestamp.clone(), sum: sum.cast_signed() }
}

/// The entries behind a mark. One that is gone (the conversation was made short) is known by its time.
pub(super) fn since<'e>(entries: &'e [Entry], mark: &Mark) -> &'e [Entry] {
    let is_told = |entry: &Entry| entry.timestamp == mark.at && mark_of(entry) == *mark;
    let told = entries.iter().rposition(is_told);
    let from = told.map_or_else(
        || entries.iter().position(|entry| entry.timestamp > mark.at).unwrap_or(entries.len()),
        |told| told + 1,
    );
    entries.get(from..).unwrap_or_default()
}

/// What an agent has said since this chat was last told, as new messages.
pub(super) fn tell_words(
    change: &Change<'_>,
    follow: &Follow,
    (end, shown, entries): (End, Option<&SessionView>, &[Entry]),
) -> Result<(), StoreFault> {
    // Read again within the change: another event may have told it meanwhile.
    let follows = change.look().follows_of(&follow.session)?;
    let Some(follow) = follows.iter().find(|known| known.chat == follow.chat) else {
        return Ok(());
    };
    let fresh = since(entries, &follow.told);
    if let Some(last) = fresh.last() {
        let told = mark_of(last);
        change.edit_follow(&follow.session, follow.chat, |follow| follow.told = told)?;
    }
    let said = fresh.iter().filter(|entry| entry.voice == Voice::Assistant);
    let said: Vec<String> = said.map(|entry| clean(entry.content.trim())).collect();
    let whole = said.join("\n\n");
    let text = if !whole.trim().is_empty() {
        from_markdown(&whole)
    } else if end == End::Turn && is_silent(entries, fresh) && !is_told(change, follow, shown)? {
        words::done(fresh)
    } else {
        return clear(change, follow);
    };
    let is_current =
        change.look().current(follow.chat)?.as_deref() == Some(follow.session.as_str());
    let text = lead(follow, is_current).join(&text);
    // What is said before a question explains it and comes with it; not before words that wait for longer.
    let are_words = |item: &Item| {
        let is_final = (item.chat, item.lane) == (follow.chat, Lane::Final);
        is_final && !matches!(item.what, Sent::Clear { .. })
    };
    let explains = end == End::Question && !change.look().has_waiting(are_words)?;
    let lane = if explains { Lane::Approval } else { Lane::Final };
    let say = Say::text(place_of(follow), lane, text).by(&follow.session);
    Say { file: Some((follow.name.clone(), whole)), ..say }.put(change, follow.user)?;
    clear(change, follow)
}

/// Whether a turn has ended without words. Those of one that was quick were told with the turn before it.
fn is_silent(entries: &[Entry], fresh: &[Entry]) -> bool {
    let turn = entries.rsplit(|entry| entry.voice == Voice::User).next().unwrap_or_default();
    let speaks =
        |entry: &Entry| entry.voice == Voice::Assistant && !entry.content.trim().is_empty();
    !fresh.is_empty() || !turn.iter().any(speaks)
}

/// Whether the end of a turn is told otherwise: as an iteration of a loop, or as a task of a plan.
fn is_told(
    change: &Change<'_>,
    follow: &Follow,
    shown: Option<&SessionView>,
) -> Result<bool, StoreFault> {
    let iterates = |shown: &&SessionView| {
        let state = shown.looped.as_deref().map(|looped| looped.state.as_str());
        matches!(state, Some("running" | "pausing"))
    };
    let Some(shown) = shown.filter(|shown| !iterates(shown)) else { return Ok(true) };
    let Some(plan) = &shown.plan else { return Ok(false) };
    Ok(change.look().plan_follow(plan, follow.chat)?.is_some())
}

/// Where a chat hears of a session.
pub(super) fn place_of(follow: &Follow) -> Place {
    Place { chat: follow.chat, thread: follow.thread }
}

/// Whose words follow, where that is not known by itself.
pub(super) fn lead(follow: &Follow, is_current: bool) -> Text {
    if is_current || follow.thread.is_some() {
        return Text::default();
    }
    Text::default().bold(&follow.name).and("\n")
}

/// The picture of what a session did goes, behind its words.
pub(super) fn clear(change: &Change<'_>, follow: &Follow) -> Result<(), StoreFault> {
    let what = Sent::Clear { session: follow.session.clone() };
    change.push((follow.chat, follow.thread), Lane::Final, what)
}

#[cfg(test)]
mod tests;
