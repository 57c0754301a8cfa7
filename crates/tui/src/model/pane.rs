//! What is shown of the session in hand: its terminal, by a small emulator of our own, and other views.

use super::{Past, Reader, Reading, Sheet};
use crate::message::{Fetched, PreviewNews, Tab, Told};
use crate::remarks::Remarks;
use glis_screen::Screen;
use glis_wire::hold::Size;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Pane {
    pub(crate) tab: Tab,
    pub(crate) scroll: usize,
    pub(crate) page: Page,
    /// The page as it is laid out, and the hand in it.
    pub(crate) sheet: Sheet,
    pub(crate) reader: Reader,
    /// Counts what makes the page another one, but for entries that are added to it.
    pub(crate) change: u64,
    /// What was done with the diff of each session.
    pub(crate) remarks: BTreeMap<String, Remarks>,
    pub(crate) zoom: Zoom,
    /// The session whose terminal has the size of the pane by our wish, and that.
    pub(crate) fitted: Option<(String, Size)>,
    pub(crate) preview: Preview,
    /// What has scrolled out of its terminal, while that is looked at.
    pub(crate) past: Option<Past>,
}

impl Pane {
    /// What is shown is another page than was laid out.
    pub(crate) fn changed(&mut self) {
        self.change += 1;
    }
}

/// How much of the screen the session in hand has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Zoom {
    /// It shares it with the list.
    #[default]
    Half,
    Full,
    /// The list has all of it.
    List,
}

impl Zoom {
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Half => Self::Full,
            Self::Full => Self::List,
            Self::List => Self::Half,
        }
    }
}

/// What is shown beside its terminal.
pub(crate) type Page = Reading<Fetched>;

#[derive(Default)]
pub(crate) struct Preview {
    pub(crate) session: Option<String>,
    pub(crate) generation: u32,
    pub(crate) shown: Shown,
    /// When it is to be followed: not before the hand rests on it.
    pub(crate) follow_at: Option<u64>,
    /// Whether it was asked for and has not come yet.
    pub(crate) is_asked: bool,
    /// The offset of the next byte.
    pub(crate) at: u64,
}

#[derive(Default)]
pub(crate) enum Shown {
    #[default]
    Nothing,
    /// The screen; whether it lives.
    Screen(Box<Screen>, Life),
    Refused(Told),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Live,
    Ended,
}

impl Preview {
    /// Of this session and process, to be followed at this time.
    pub(crate) fn of(session: Option<String>, generation: u32, follow_at: u64) -> Self {
        Self { session, generation, follow_at: Some(follow_at), ..Self::default() }
    }

    /// The screen, while its process lives.
    pub(crate) fn live(&self) -> Option<&Screen> {
        match &self.shown {
            Shown::Screen(screen, Life::Live) => Some(screen),
            Shown::Screen(_, Life::Ended) | Shown::Nothing | Shown::Refused(_) => None,
        }
    }

    pub(crate) fn hear(&mut self, news: PreviewNews) {
        match news {
            PreviewNews::Painted { bytes, from, size } => {
                let mut screen = Screen::new(size);
                screen.feed(&bytes);
                (self.is_asked, self.at) = (false, from);
                self.shown = Shown::Screen(Box::new(screen), Life::Live);
            }
            PreviewNews::Output { at, bytes } => self.feed(at, &bytes),
            PreviewNews::Resized(size) => {
                if let Shown::Screen(screen, _) = &mut self.shown {
                    screen.resize(size);
                }
            }
            PreviewNews::Ended => {
                if let Shown::Screen(_, life) = &mut self.shown {
                    *life = Life::Ended;
                }
            }
            PreviewNews::Refused(told) => {
                self.is_asked = false;
                self.shown = Shown::Refused(told);
            }
        }
    }

    /// Output may begin before what was painted, or behind a gap.
    fn feed(&mut self, at: u64, bytes: &[u8]) {
        let Shown::Screen(screen, life) = &mut self.shown else { return };
        *life = Life::Live;
        let known = usize::try_from(self.at.saturating_sub(at)).unwrap_or(usize::MAX);
        let Some(fresh) = bytes.get(known.min(bytes.len())..) else { return };
        if at > self.at {
            screen.skip_to(at);
        }
        screen.feed(fresh);
        self.at = self.at.max(at + bytes.len() as u64);
    }
}
