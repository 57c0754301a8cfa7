//! The lines of the list: sessions by what they need, or by repository; who needs a person first.

use super::Model;
use crate::editor::Editor;
use crate::fits::fits;
use glis_wire::need::Need;
use glis_wire::view::SessionRow;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// More that rest than these are folded.
const REST_SHOWN: usize = 4;

/// What the groups of the list are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    Need,
    Repository,
}

#[derive(Default)]
pub(crate) struct List {
    /// As they were last put in order.
    pub(crate) lines: Vec<Line>,
    pub(crate) order: Order,
    /// Those at rest are one line.
    pub(crate) folds: bool,
    /// That is as it was chosen, and not by their number.
    pub(crate) fold_chosen: bool,
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
    /// A repository, and how many sessions it has.
    Repository {
        repo: String,
        sessions: usize,
    },
    /// What sessions need, and how many do.
    Group {
        need: Need,
        sessions: usize,
    },
    /// How many are not shown, by status.
    Folded(String),
    Session(String),
    Gap,
}

impl Line {
    /// The session that this is the row of.
    pub(crate) fn session(&self) -> Option<&String> {
        match self {
            Self::Session(id) => Some(id),
            Self::Repository { .. } | Self::Group { .. } | Self::Folded(_) | Self::Gap => None,
        }
    }
}

/// The name of a repository, which is its folder's.
pub(crate) fn folder_of(repo: &str) -> &str {
    repo.rsplit('/').next().unwrap_or_default()
}

impl List {
    /// The sessions from the top; among them the row of one that was removed.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = &String> {
        self.lines.iter().filter_map(Line::session)
    }

    pub(crate) fn unmark(&mut self) {
        self.marked.clear();
        self.range = None;
    }

    fn lets_through(&self, session: &SessionRow) -> bool {
        let SessionRow { name, agent, branch, repo_root, status, labels, .. } = session;
        let branch = branch.as_deref().unwrap_or_default();
        let repo = folder_of(repo_root);
        self.filter.text().split_whitespace().all(|word| {
            let labels = labels.iter().map(String::as_str);
            let mut texts = [name, agent, branch, repo, status.word()].into_iter().chain(labels);
            texts.any(|text| fits(word.trim_start_matches('#'), text).is_some())
        })
    }
}

fn sorted<'a>(sessions: impl Iterator<Item = &'a SessionRow>) -> Vec<(Need, &'a SessionRow)> {
    let mut all: Vec<_> = sessions.map(|session| (session.place(), session)).collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|((need, ..), session)| (need, session)).collect()
}

impl List {
    /// A group for each repository, the one that needs a person most first.
    fn by_repository(sessions: Vec<(Need, &SessionRow)>) -> Vec<Vec<Line>> {
        let mut groups: BTreeMap<&str, Vec<(Need, &SessionRow)>> = BTreeMap::new();
        for one in sessions {
            groups.entry(&one.1.repo_root).or_default().push(one);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(repo, sessions)| (sessions.first().map(|(need, _)| *need), *repo));
        let lines = groups.into_iter().map(|(repo, sessions)| {
            let head = Line::Repository { repo: repo.to_owned(), sessions: sessions.len() };
            let rows = sessions.iter().map(|(_, session)| Line::Session(session.id.clone()));
            iter::once(head).chain(rows).collect()
        });
        lines.collect()
    }

    /// A group for each need. Many that rest are one line, but for the one in hand and those that are marked.
    fn by_need(&self, sessions: &[(Need, &SessionRow)], hand: Option<&String>) -> Vec<Vec<Line>> {
        let rest = sessions.iter().filter(|(need, _)| *need == Need::Rest).count();
        let folds = self.folds && rest < sessions.len() && self.filter.text().is_empty();
        let stays =
            |one: &SessionRow| one.pinned || Some(&one.id) == hand || self.marked.contains(&one.id);
        let group = |need: Need| {
            let own = || sessions.iter().filter(|(one, _)| *one == need).map(|(_, own)| own);
            let count = own().count();
            let mut lines = vec![Line::Group { need, sessions: count }];
            let mut hidden: BTreeMap<&str, usize> = BTreeMap::new();
            for session in own() {
                if folds && need == Need::Rest && !stays(session) {
                    *hidden.entry(session.status.word()).or_default() += 1;
                } else {
                    lines.push(Line::Session(session.id.clone()));
                }
            }
            if !hidden.is_empty() {
                let counts = hidden.iter().map(|(word, count)| format!("{count} {word}"));
                lines.push(Line::Folded(counts.collect::<Vec<_>>().join(", ")));
            }
            (count > 0).then_some(lines)
        };
        Need::ALL.into_iter().filter_map(group).collect()
    }
}

impl Model {
    /// Puts the list in order. The session in hand stays in hand, also if it was removed; if the filter hides it, the one
    /// in its place is.
    pub(crate) fn put_in_order(&mut self) {
        let place = self.place();
        if self.removed_in_hand().is_none_or(|gone| self.rows.all.contains_key(&gone.id)) {
            self.list.removed = None;
        }
        let wanted = self.rows.all.values().filter(|session| self.list.lets_through(session));
        let sessions = sorted(wanted.chain(&self.list.removed));
        // Not under the eyes of a person, who would look for what was there.
        let first = self.list.lines.is_empty();
        if !self.list.fold_chosen && (first || !self.keyboard.is_looked_at(self.now)) {
            let rest = sessions.iter().filter(|(need, _)| *need == Need::Rest).count();
            self.list.folds = rest > REST_SHOWN;
        }
        let lines = match self.list.order {
            Order::Need => self.list.by_need(&sessions, self.hand.selected.as_ref()).concat(),
            Order::Repository => List::by_repository(sessions).join(&Line::Gap),
        };
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
