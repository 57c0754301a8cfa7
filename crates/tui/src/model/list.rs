//! The lines of the list: sessions by repository, who needs a person first.

use super::Model;
use crate::editor::Editor;
use crate::rank::{Rank, fits, rank};
use glis_wire::view::SessionRow;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(crate) struct List {
    /// As they were last put in order.
    pub(crate) lines: Vec<Line>,
    /// The session that was in hand when it was removed: its row stays until a key moves the hand, so that no key
    /// reaches another one.
    pub(crate) removed: Option<SessionRow>,
    pub(crate) marked: BTreeSet<String>,
    /// Where a range of marks began.
    pub(crate) range: Option<String>,
    pub(crate) filter: Editor,
    /// When the order may change again: not right under a hand that moves in it.
    pub(crate) settles_at: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// A repository, with how many of its sessions follow.
    Group {
        repo: String,
        sessions: usize,
    },
    Session(String),
    Gap,
}

impl List {
    /// The sessions from the top; among them the row of one that was removed.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = &String> {
        self.lines.iter().filter_map(|line| match line {
            Line::Session(id) => Some(id),
            Line::Group { .. } | Line::Gap => None,
        })
    }

    pub(crate) fn unmark(&mut self) {
        self.marked.clear();
        self.range = None;
    }

    fn lets_through(&self, session: &SessionRow) -> bool {
        let SessionRow { name, agent, branch, repo_root, status, .. } = session;
        let branch = branch.as_deref().unwrap_or_default();
        let repo = repo_root.rsplit('/').next().unwrap_or_default();
        self.filter.text().split_whitespace().all(|word| {
            [name, agent, branch, repo, status.word()].iter().any(|text| fits(word, text).is_some())
        })
    }
}

impl Model {
    /// Puts the list in order. Within a rank sessions stay as they were made, so that nothing moves
    /// without a reason. The session in hand stays in hand, also if it was removed; if the filter hides it, the one
    /// in its place is.
    pub(crate) fn put_in_order(&mut self) {
        let place = self.place();
        if self.removed_in_hand().is_none_or(|gone| self.rows.all.contains_key(&gone.id)) {
            self.list.removed = None;
        }
        let mut groups: BTreeMap<&str, Vec<(Rank, &SessionRow)>> = BTreeMap::new();
        let wanted = self.rows.all.values().filter(|session| self.list.lets_through(session));
        for session in wanted.chain(&self.list.removed) {
            groups.entry(&session.repo_root).or_default().push((rank(session), session));
        }
        for sessions in groups.values_mut() {
            sessions.sort_by(|(one, a), (other, b)| {
                (one, &a.created_at, &a.id).cmp(&(other, &b.created_at, &b.id))
            });
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        let readiest = |sessions: &[(Rank, &SessionRow)]| sessions.first().map(|(rank, _)| *rank);
        groups.sort_by(|(one, a), (other, b)| (readiest(a), one).cmp(&(readiest(b), other)));
        let mut lines = Vec::new();
        for (repo, sessions) in groups {
            lines.extend((!lines.is_empty()).then_some(Line::Gap));
            lines.push(Line::Group { repo: repo.to_owned(), sessions: sessions.len() });
            lines.extend(sessions.iter().map(|(_, session)| Line::Session(session.id.clone())));
        }
        self.list.lines = lines;
        self.list.settles_at = None;
        let listed = |id: &String| self.list.ids().any(|listed| listed == id);
        if !self.hand.selected.as_ref().is_some_and(listed) {
            let last = self.list.ids().count().saturating_sub(1);
            let next = self.list.ids().nth(place.unwrap_or(0).min(last)).cloned();
            self.hand.selected = next;
        }
    }

    /// How many sessions stand above the one in hand.
    pub(crate) fn place(&self) -> Option<usize> {
        let selected = self.hand.selected.as_ref()?;
        self.list.ids().position(|id| id == selected)
    }
}
