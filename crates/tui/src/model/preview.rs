//! The terminal of the session in hand, as a small emulator of our own shows it.

use crate::message::{PreviewNews, Told};
use glis_screen::Screen;
use glis_wire::hold::Size;

/// The terminal of one session.
#[derive(Default)]
pub(crate) struct Preview {
    /// Whose it is.
    pub(crate) session: Option<String>,
    /// Which of its processes.
    pub(crate) generation: u32,
    pub(crate) shown: Shown,
    /// When it is to be followed: not before the hand rests on it.
    pub(crate) follow_at: Option<u64>,
    /// Whether it was asked for and has not come yet.
    pub(crate) is_asked: bool,
    /// The offset of the next byte.
    pub(crate) at: u64,
}

/// What is there to be seen.
#[derive(Default)]
pub(crate) enum Shown {
    /// Nothing yet.
    #[default]
    Nothing,
    /// The screen; whether it lives.
    Screen(Box<Screen>, Life),
    /// It cannot be shown.
    Refused(Told),
}

/// Whether a screen goes on.
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

    /// Takes what came of its session.
    pub(crate) fn hear(&mut self, news: PreviewNews) {
        match news {
            PreviewNews::Painted { bytes, from, size } => {
                self.is_asked = false;
                self.paint(&bytes, from, size);
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

    fn paint(&mut self, bytes: &[u8], from: u64, size: Size) {
        let mut screen = Screen::new(size);
        screen.feed(bytes);
        self.at = from;
        self.shown = Shown::Screen(Box::new(screen), Life::Live);
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
