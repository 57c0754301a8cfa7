//! The lines of the list: sessions by what they need, or by repository; who needs a person first.

use super::{Model, Plans};
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
    pub(crate) saved: Saved,
    /// When the order may change again: not right under a hand that moves in it.
    pub(crate) settles_at: Option<u64>,
}

/// Filters that the daemon keeps for every face, in the order in which they were saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Saved(pub(crate) Vec<String>);

impl Saved {
    pub(crate) fn has(&self, filter: &str) -> bool {
        self.0.iter().any(|saved| saved == filter)
    }

    /// The one behind a filter, round and round; the first if that is not saved.
    pub(crate) fn behind(&self, filter: &str) -> Option<&str> {
        let at = self.0.iter().position(|saved| saved == filter).map_or(0, |at| at + 1);
        self.0.get(at).or(self.0.first()).map(String::as_str)
    }

    /// As they are told beside the one that is typed.
    pub(crate) fn told(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| format!("saved: {}", self.0.join(" · ")))
    }
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
    /// A plan, by its id. Its tasks are the sessions below it.
    Plan(String),
    Session(String),
    Gap,
}

impl Line {
    /// The session that this is the row of.
    pub(crate) fn session(&self) -> Option<&String> {
        match self {
            Self::Session(id) => Some(id),
            Self::Repository { .. }
            | Self::Group { .. }
            | Self::Folded(_)
            | Self::Plan(_)
            | Self::Gap => None,
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

    fn lets_through(&self, session: &SessionRow, plans: &Plans) -> bool {
        let SessionRow { name, agent, branch, repo_root, status, labels, .. } = session;
        let branch = branch.as_deref().unwrap_or_default();
        let repo = folder_of(repo_root);
        self.filter.text().split_whitespace().all(|word| {
            let labels = labels.iter().map(String::as_str);
            let words = [status.word(), plans.badge(session).word];
            let mut texts = [name, agent, branch, repo].into_iter().chain(words).chain(labels);
            texts.any(|text| fits(word.trim_start_matches('#'), text).is_some())
        })
    }
}

/// Their rows. The tasks of a plan stand together below it, where the first of them would.
fn rows<'a>(sessions: impl Iterator<Item = &'a SessionRow>) -> Vec<Line> {
    let sessions: Vec<&SessionRow> = sessions.collect();
    let row = |session: &SessionRow| Line::Session(session.id.clone());
    let mut lines = Vec::new();
    let mut told = BTreeSet::new();
    for session in &sessions {
        match &session.plan {
            None => lines.push(row(session)),
            Some(plan) if told.insert(plan) => {
                lines.push(Line::Plan(plan.clone()));
                let own = sessions.iter().filter(|other| other.plan.as_ref() == Some(plan));
                lines.extend(own.map(|other| row(other)));
            }
            Some(_) => {}
        }
    }
    lines
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
            iter::once(head).chain(rows(sessions.into_iter().map(|(_, session)| session))).collect()
        });
        lines.collect()
    }

    /// A group for each need. Many that rest are one line, but for the one in hand and those that are marked. What of a
    /// plan needs no person stands together, in the group of what goes on of it.
    fn by_need(
        &self,
        plans: &Plans,
        sessions: &[(Need, &SessionRow)],
        hand: Option<&String>,
    ) -> Vec<Vec<Line>> {
        let rest = sessions.iter().filter(|(need, _)| *need == Need::Rest).count();
        let folds = self.folds && rest < sessions.len() && self.filter.text().is_empty();
        let stays =
            |one: &SessionRow| one.pinned || Some(&one.id) == hand || self.marked.contains(&one.id);
        let mut of_plans: BTreeMap<&str, Need> = BTreeMap::new();
        for (need, session) in sessions.iter().filter(|(need, _)| *need > Need::Failed) {
            if let Some(plan) = &session.plan {
                let most = of_plans.entry(plan).or_insert(*need);
                *most = (*most).min(*need);
            }
        }
        let mut groups: BTreeMap<Need, (usize, Vec<&SessionRow>)> = BTreeMap::new();
        let mut hidden: BTreeMap<&str, usize> = BTreeMap::new();
        for (need, session) in sessions {
            let is_hidden = folds && *need == Need::Rest && !stays(session);
            let of_plan = session.plan.as_ref().filter(|_| *need > Need::Failed && !is_hidden);
            let place = of_plan.and_then(|plan| of_plans.get(plan.as_str())).unwrap_or(need);
            let (_, shown) = groups.entry(*place).or_default();
            if is_hidden {
                *hidden.entry(plans.badge(session).word).or_default() += 1;
            } else {
                shown.push(session);
            }
            groups.entry(*need).or_default().0 += 1;
        }
        let group = |(need, (sessions, shown)): (Need, (usize, Vec<&SessionRow>))| {
            let head = Line::Group { need, sessions };
            let rows = match need {
                // Who waits for a person stands alone: that is what is looked for.
                Need::You | Need::Failed => {
                    shown.iter().map(|one| Line::Session(one.id.clone())).collect()
                }
                Need::New | Need::Working | Need::Idle | Need::Rest => rows(shown.into_iter()),
            };
            let counts = hidden.iter().filter(|_| need == Need::Rest);
            let counts: Vec<_> = counts.map(|(word, count)| format!("{count} {word}")).collect();
            let folded = (!counts.is_empty()).then(|| Line::Folded(counts.join(", ")));
            let lines: Vec<Line> = rows.into_iter().chain(folded).collect();
            (!lines.is_empty()).then(|| iter::once(head).chain(lines).collect())
        };
        groups.into_iter().filter_map(group).collect()
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
        let wanted = self.rows.all.values();
        let wanted = wanted.filter(|session| self.list.lets_through(session, &self.rows.plans));
        let sessions = sorted(wanted.chain(&self.list.removed));
        // Not under the eyes of a person, who would look for what was there.
        let first = self.list.lines.is_empty();
        if !self.list.fold_chosen && (first || !self.keyboard.is_looked_at(self.now)) {
            let rest = sessions.iter().filter(|(need, _)| *need == Need::Rest).count();
            self.list.folds = rest > REST_SHOWN;
        }
        let lines = match self.list.order {
            Order::Need => {
                let hand = self.hand.selected.as_ref();
                self.list.by_need(&self.rows.plans, &sessions, hand).concat()
            }
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
