//! A record as it is stored: its row, and the sum over all of it.

use super::carve::{Carved, carve};
use glis_core::{Event, Origin, Recorded, Status, Subject};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One row as it is stored; `None` where the record is damaged.
pub(super) struct Row {
    pub(super) seq: u64,
    pub(super) sum: i64,
    pub(super) recorded: Option<Recorded>,
}

pub(super) fn row_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
    let recorded = || -> Option<Recorded> {
        let (at, session, body): (i64, String, String) =
            (row.get(1).ok()?, row.get(2).ok()?, row.get(3).ok()?);
        is_sound(row.get(4).ok()?, seq, at, &session, &body).then_some(())?;
        read(seq, at, session, &body)
    };
    Ok(Row { seq, sum: row.get(4).unwrap_or_default(), recorded: recorded() })
}

/// Every sound record in the bytes of a log and its journal, oldest first.
pub(super) fn carved(main: &[u8], journal: &[u8]) -> Vec<Recorded> {
    let records = carve(main, journal, is_whole).into_values();
    let recorded = records.filter_map(|carved| {
        read(u64::try_from(carved.seq).ok()?, carved.at, carved.session, &carved.body)
    });
    recorded.collect()
}

/// Whether a carved record is what was written.
pub(super) fn is_whole(carved: &Carved) -> bool {
    u64::try_from(carved.seq).is_ok_and(|seq| {
        seq > 0 && is_sound(carved.sum, seq, carved.at, &carved.session, &carved.body)
    })
}

/// Whether a record is what was written, by the sum of the present form or by that of the first. A
/// damaged record of the one has the sum of the other as seldom as any other number.
pub(super) fn is_sound(sum: i64, seq: u64, at: i64, session: &str, body: &str) -> bool {
    sum == sum_of(seq, at, session, body) || sum == fnv(FNV_START, body.as_bytes()).cast_signed()
}

pub(super) fn sum_of_record(recorded: &Recorded) -> rusqlite::Result<i64> {
    let body = body_of(recorded)?;
    Ok(sum_of(recorded.seq, recorded.at, &recorded.subject.stored(), &body))
}

/// An event of which more is known than itself, as it is stored. Of most nothing is, and they are stored
/// alone, as every event was in the form before this one.
#[derive(Serialize, Deserialize)]
struct Noted<'r> {
    event: Cow<'r, Event>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Cow<'r, Origin>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
}

/// What a body begins with that has more than the event. No event has this name.
const NOTED: &str = "{\"event\":";

pub(super) fn body_of(recorded: &Recorded) -> rusqlite::Result<String> {
    let Recorded { event, from, status, .. } = recorded;
    let body = if from.is_none() && status.is_none() {
        serde_json::to_string(event)
    } else {
        let (event, from) = (Cow::Borrowed(event), from.as_ref().map(Cow::Borrowed));
        serde_json::to_string(&Noted { event, from, status: *status })
    };
    body.map_err(|fault| rusqlite::Error::ToSqlConversionFailure(Box::new(fault)))
}

fn read(seq: u64, at: i64, session: String, body: &str) -> Option<Recorded> {
    let subject = Subject::of(session);
    if !body.starts_with(NOTED) {
        return Some(Recorded::new(
            seq,
            at,
            subject,
            serde_json::from_slice(body.as_bytes()).ok()?,
        ));
    }
    let Noted { event, from, status } = serde_json::from_slice(body.as_bytes()).ok()?;
    let (event, from) = (event.into_owned(), from.map(Cow::into_owned));
    Some(Recorded { seq, at, subject, event, from, status })
}

/// The sum over everything that a record says. What stands before the body has a fixed length or
/// an end, so that no two records run together.
pub(super) fn sum_of(seq: u64, at: i64, session: &str, body: &str) -> i64 {
    let hash = fnv(FNV_START, &seq.to_le_bytes());
    let hash = fnv(hash, &at.to_le_bytes());
    let hash = fnv(fnv(hash, session.as_bytes()), &[0]);
    fnv(hash, body.as_bytes()).cast_signed()
}

pub(super) const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: enough to notice a flipped bit, cheap enough to check at every start.
pub(super) fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

pub(super) fn signed(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}
