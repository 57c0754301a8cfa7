//! Records carved out of damaged files, page by page, without asking whether the rest makes sense.
//!
//! The log only grows: a record that is found anywhere and whose sum is right is a record, however
//! stale the page that it lies on. So nothing has to be sound but the record itself.

use std::collections::{BTreeMap, HashMap};

/// What `SQLite` uses unless told otherwise, which we do not.
pub(super) const PAGE: usize = 4096;
const JOURNAL_HEAD: usize = 32;
const FRAME_HEAD: usize = 24;
/// A leaf of a table.
const LEAF: u8 = 0x0d;
/// More columns than a record of ours has.
const COLUMNS_MAX: usize = 8;

/// One record's columns as they lie in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Carved {
    pub(super) seq: i64,
    pub(super) at: i64,
    pub(super) session: String,
    pub(super) body: String,
    pub(super) sum: i64,
}

/// Every record whose form is right, by its number, as often as `accept` takes one.
pub(super) fn carve(
    main: &[u8],
    journal: &[u8],
    accept: impl Fn(&Carved) -> bool,
) -> BTreeMap<i64, Carved> {
    let mut pages: Vec<(usize, &[u8])> =
        main.chunks(PAGE).enumerate().map(|(at, page)| (at + 1, page)).collect();
    pages.extend(frames(journal));
    // The newest version of each page, for what does not fit onto one.
    let newest: HashMap<usize, &[u8]> = pages.iter().copied().collect();
    let mut found = BTreeMap::new();
    for (number, page) in pages {
        for carved in leaf(number, page, &newest).into_iter().filter(|carved| accept(carved)) {
            found.insert(carved.seq, carved);
        }
    }
    found
}

/// The pages in a journal, oldest first, up to the last one that ends a transaction: what comes
/// after it was never promised to anybody.
fn frames(journal: &[u8]) -> Vec<(usize, &[u8])> {
    let body = journal.get(JOURNAL_HEAD..).unwrap_or_default();
    let mut all = Vec::new();
    let mut committed = 0;
    for frame in body.chunks_exact(FRAME_HEAD + PAGE) {
        let (head, page) = frame.split_at(FRAME_HEAD);
        all.push((usize::try_from(big(head, 0)).unwrap_or(0), page));
        if big(head, 4) != 0 {
            committed = all.len();
        }
    }
    all.truncate(committed);
    all
}

fn leaf(number: usize, page: &[u8], newest: &HashMap<usize, &[u8]>) -> Vec<Carved> {
    let start = if number == 1 { 100 } else { 0 };
    if page.get(start) != Some(&LEAF) {
        return Vec::new();
    }
    let cells =
        page.get(start + 3..start + 5).map_or(0, |b| usize::from(b[0]) << 8 | usize::from(b[1]));
    let pointers = page.get(start + 8..).unwrap_or_default().chunks_exact(2).take(cells);
    pointers
        .filter_map(|at| cell(page, usize::from(at[0]) << 8 | usize::from(at[1]), newest))
        .collect()
}

fn cell(page: &[u8], at: usize, newest: &HashMap<usize, &[u8]>) -> Option<Carved> {
    let mut rest = page.get(at..)?;
    let len = usize::try_from(varint(&mut rest)?).ok()?;
    let seq = varint(&mut rest)?;
    let payload = payload(rest, len, newest)?;
    record(seq, &payload)
}

/// A payload that is too long for its page goes on in a chain of others.
fn payload(rest: &[u8], len: usize, newest: &HashMap<usize, &[u8]>) -> Option<Vec<u8>> {
    let (most, least) = (PAGE - 35, (PAGE - 12) * 32 / 255 - 23);
    if len <= most {
        return rest.get(..len).map(<[u8]>::to_vec);
    }
    // A length beyond the whole file is damage.
    if len > newest.len().saturating_mul(PAGE) {
        return None;
    }
    let wanted = least + (len - least) % (PAGE - 4);
    let local = if wanted <= most { wanted } else { least };
    let mut all = rest.get(..local)?.to_vec();
    let mut next = big(rest.get(local..local + 4)?, 0);
    for _ in 0..=newest.len() {
        if all.len() >= len || next == 0 {
            break;
        }
        let page = newest.get(&usize::try_from(next).ok()?)?;
        all.extend_from_slice(page.get(4..)?);
        next = big(page, 0);
    }
    all.truncate(len);
    (all.len() == len).then_some(all)
}

/// `(seq, at, session, body, sum)`, the first of which is the number of the row itself.
fn record(seq: i64, payload: &[u8]) -> Option<Carved> {
    let mut head = payload;
    let head_len = usize::try_from(varint(&mut head)?).ok()?;
    let mut left = head_len.checked_sub(payload.len() - head.len())?;
    let mut values = payload.get(head_len..)?;
    let (mut numbers, mut texts) = (Vec::new(), Vec::new());
    for _ in 0..COLUMNS_MAX {
        if left == 0 {
            break;
        }
        let before = head.len();
        let kind = varint(&mut head)?;
        left = left.checked_sub(before - head.len())?;
        match kind {
            0 => {}
            1..=6 => {
                let len = [1, 2, 3, 4, 6, 8][usize::try_from(kind - 1).ok()?];
                let (bytes, rest) = values.split_at_checked(len)?;
                let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
                let begin = if negative { -1_i64 } else { 0 };
                numbers.push(bytes.iter().fold(begin, |n, byte| n << 8 | i64::from(*byte)));
                values = rest;
            }
            8 | 9 => numbers.push(kind - 8),
            13.. if kind % 2 == 1 => {
                let len = usize::try_from((kind - 13) / 2).ok()?;
                let (bytes, rest) = values.split_at_checked(len)?;
                texts.push(String::from_utf8(bytes.to_vec()).ok()?);
                values = rest;
            }
            _ => return None,
        }
    }
    let ([at, sum], [session, body]) = (numbers.as_slice(), texts.as_slice()) else { return None };
    Some(Carved { seq, at: *at, session: session.clone(), body: body.clone(), sum: *sum })
}

fn varint(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for count in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if count == 8 {
            return Some((value << 8 | u64::from(*byte)).cast_signed());
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value.cast_signed())
}

fn big(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.first_chunk::<4>());
    four.map_or(0, |four| u32::from_be_bytes(*four))
}
