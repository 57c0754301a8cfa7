//! Whether the event log is what was written. A start looks only at what follows its checkpoint; here
//! every record is looked at.

use super::finding::{bad, finding, warning};
use crate::log::{Checked, Checkpoint, Mark};
use crate::mailbox::Mailbox;
use crate::{copies, opening};
use glis_wire::home::{EVENTS, Home};
use glis_wire::view::{Finding, Health};
use std::path::Path;

/// What findings about it are about.
pub(super) const SUBJECT: &str = "event log";

/// Records that the controller looks at in one go: a few milliseconds.
const PIECE: u32 = 4000;

pub(super) async fn examine(home: &Home, mailbox: &Mailbox) -> Vec<Finding> {
    let mut findings: Vec<_> = kept(&home.state).into_iter().collect();
    let checkpoint = Checkpoint::mark(&copies::folder(&home.state));
    let checked = match checkpoint {
        Some(mark) => match look(mailbox, Mark::default(), mark.seq).await {
            Some(before) => {
                // Sound records are no proof that none was taken out or exchanged.
                if before.damaged.is_empty() && before.end.chain != mark.chain {
                    findings.push(exchanged(&mark));
                }
                let rest = look(mailbox, before.end, u64::MAX).await;
                rest.map(|rest| [before.damaged, rest.damaged].concat())
            }
            None => None,
        },
        None => look(mailbox, Mark::default(), u64::MAX).await.map(|checked| checked.damaged),
    };
    findings.extend(match checked {
        Some(damaged) => told(&damaged),
        None => Some(unreadable()),
    });
    let suspicious = findings.iter().any(|finding| finding.health == Health::Bad);
    if suspicious {
        opening::suspect(home);
    }
    if findings.is_empty() {
        findings.push(finding(SUBJECT, Health::Good, "sound".to_owned(), None));
    }
    findings
}

/// Looks at every record up to this one, piece by piece, so that nothing waits for it.
async fn look(mailbox: &Mailbox, after: Mark, to: u64) -> Option<Checked> {
    let mut all = Checked { end: after, damaged: Vec::new() };
    loop {
        let piece = mailbox.check(all.end, to, PIECE).await?;
        let more = piece.end != all.end;
        all.end = piece.end;
        all.damaged.extend(piece.damaged);
        if !more {
            return Some(all);
        }
    }
}

fn told(damaged: &[u64]) -> Option<Finding> {
    let first = damaged.first()?;
    let message = format!("{} damaged records, number {first} first", damaged.len());
    let hint = "what they led to is in the checkpoint. `glis daemon stop`: the next start puts in \
                what the copies in backup/ have, and flags the sessions that lack something";
    Some(bad(SUBJECT, message, hint))
}

fn unreadable() -> Finding {
    let hint = "`glis daemon stop`: the next start saves what can be read and puts in what the \
                copies in backup/ have";
    bad(SUBJECT, "it cannot be read to its end".to_owned(), hint)
}

fn exchanged(mark: &Mark) -> Finding {
    let message = format!(
        "records up to number {} are not the ones that were written: some are missing or exchanged",
        mark.seq
    );
    let hint = "the state is that of the checkpoint; the copies in backup/ have the records";
    warning(SUBJECT, message, hint)
}

/// A damaged log was salvaged at a start; the damaged file is still there to be looked at.
fn kept(state: &Path) -> Option<Finding> {
    let entries = std::fs::read_dir(state).ok()?;
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // Other files are put aside by a name of the same form, and are told of by those whose they are.
    let is_log = |name: &String| name.starts_with(EVENTS) && name.contains(".damaged-");
    let name = names.find(|name| is_log(name) && !name.ends_with("-wal"))?;
    let message = format!("a damaged log was found earlier and kept as {name}");
    Some(warning(
        SUBJECT,
        message,
        "what could be read was carried over; look at it, then remove it",
    ))
}
