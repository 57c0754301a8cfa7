//! The lines of the list: sessions by repository, who needs a person first.

use super::Model;
use crate::rank::{Rank, fits, rank};
use glis_wire::view::SessionView;
use std::collections::BTreeMap;

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// A repository, with how many of its sessions follow.
    Group {
        repo: String,
        sessions: usize,
    },
    Session(String),
    /// Air between two repositories.
    Gap,
}

impl Model {
    /// Puts the list in order. Within a rank sessions stay as they were made, so that nothing moves
    /// without a reason. The session in hand stays in hand, also if it was removed; if the filter hides it, the one
    /// in its place is.
    pub(crate) fn put_in_order(&mut self) {
        let place = self.place();
        if self.removed_in_hand().is_none_or(|gone| self.sessions.contains_key(&gone.id)) {
            self.removed = None;
        }
        let mut groups: BTreeMap<&str, Vec<(Rank, &SessionView)>> = BTreeMap::new();
        let wanted = self.sessions.values().filter(|session| self.is_wanted(session));
        for session in wanted.chain(&self.removed) {
            groups.entry(&session.repo_root).or_default().push((rank(session), session));
        }
        for sessions in groups.values_mut() {
            sessions.sort_by(|(one, a), (other, b)| {
                (one, &a.created_at, &a.id).cmp(&(other, &b.created_at, &b.id))
            });
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        let readiest = |sessions: &[(Rank, &SessionView)]| sessions.first().map(|(rank, _)| *rank);
        groups.sort_by(|(one, a), (other, b)| (readiest(a), one).cmp(&(readiest(b), other)));
        let mut lines = Vec::new();
        for (repo, sessions) in groups {
            lines.extend((!lines.is_empty()).then_some(Line::Gap));
            lines.push(Line::Group { repo: repo.to_owned(), sessions: sessions.len() });
            lines.extend(sessions.iter().map(|(_, session)| Line::Session(session.id.clone())));
        }
        self.lines = lines;
        self.settles_at = None;
        let listed = |id: &String| self.ids().any(|listed| listed == id);
        if !self.selected.as_ref().is_some_and(listed) {
            let last = self.ids().count().saturating_sub(1);
            let next = self.ids().nth(place.unwrap_or(0).min(last)).cloned();
            self.selected = next;
        }
    }

    /// How many sessions stand above the one in hand.
    pub(crate) fn place(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.ids().position(|id| id == selected)
    }

    fn is_wanted(&self, session: &SessionView) -> bool {
        let filter = self.filter.text();
        if filter.is_empty() {
            return true;
        }
        let SessionView { name, agent, branch, repo_root, status, .. } = session;
        let branch = branch.as_deref().unwrap_or_default();
        let repo = repo_root.rsplit('/').next().unwrap_or_default();
        filter.split_whitespace().all(|word| {
            [name, agent, branch, repo, status.word()].iter().any(|text| fits(word, text).is_some())
        })
    }
}
