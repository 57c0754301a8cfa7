//! `cargo xtask pictures`: plays sessions of the rehearsal agent, opens the overview before them, and draws
//! what a terminal shows, into docs/pictures; and the page, as a browser shows it.
#![expect(clippy::cast_precision_loss, reason = "columns and rows of a terminal are small")]

mod page;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Result, ensure};
use glis_screen::{Colour, Look, Screen};
use glis_wire::hold::Size;

use crate::bench::{Terminal, Window};
use crate::cargo::{Workspace, cargo};
use crate::proc;

/// As wide as the columns of a page that tells of it, and side by side.
const SIZE: Size = Size { columns: 124, rows: 24 };
/// The user whose home is shown. The real place has as many letters.
const HOME: &str = "/home/ada";
/// What tells the processes of this run from all others.
const MARK: &str = "GLIS_PICTURES_RUN";

/// The size of a cell, and of the letters in it.
const CELL: (f64, f64) = (8.0, 17.0);
const LETTERS: u32 = 13;
const EDGE: f64 = 10.0;
const GROUND: &str = "#1e1e2e";
const INK: &str = "#d8dee9";

/// Draws all pictures. With `--views FOLDER` those of every view of the page instead, to be looked at.
pub(crate) fn run(given: &[OsString]) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    // Another build of the program, as the end-to-end tests take it.
    let other = std::env::var_os("GLIS_BINARY").map(PathBuf::from);
    if other.is_none() {
        let mut build = cargo();
        build.args(["build", "--bin", "glis"]).current_dir(&workspace.root);
        ensure!(build.status()?.success(), "the build failed");
    }
    let glis = other.unwrap_or_else(|| workspace.debug("glis"));
    let folder = workspace.root.join("docs/pictures");
    std::fs::create_dir_all(&folder)?;
    if let [option, views] = given {
        ensure!(option == "--views", "`cargo xtask pictures [--views FOLDER]`");
        page::take(&workspace, &glis, page::Which::Views(Path::new(views)))?;
        return Ok(ExitCode::SUCCESS);
    }
    page::take(&workspace, &glis, page::Which::Readme(&folder))?;
    for (name, scene) in [("overview", overview as Scene), ("paused-loop", paused_loop)] {
        let stage = Stage::set(&glis)?;
        let mut window = scene(&stage)?;
        window.pass(std::time::Duration::from_millis(300))?;
        let file = folder.join(format!("{name}.svg"));
        let home = stage.home().display().to_string();
        std::fs::write(&file, svg(window.screen(), &home))?;
        println!("{}", file.display());
        window.close()?;
    }
    Ok(ExitCode::SUCCESS)
}

type Scene = fn(&Stage) -> Result<Window>;

/// Two repositories at work: one agent asks, one is paused, others work.
fn overview(stage: &Stage) -> Result<Window> {
    at_work(stage)?;
    let mut window = stage.window()?;
    window
        .until("the list", |lines| shows(lines, "5 sessions") && shows(lines, "now its tests"))?;
    Ok(window)
}

fn at_work(stage: &Stage) -> Result<()> {
    let (shop, site) = (stage.repository("shop")?, stage.repository("site")?);
    let new = |repo: &Path, name: &str, prompt: &str| {
        let repo = repo.display().to_string();
        stage.glis(&["new", name, "--agent", "rehearsal", "--repo", &repo, "--prompt", prompt])
    };
    let login = "say Five failed logins a minute, then a pause. ;; write src/limit.rs pub const \
                 LIMIT: u32 = 5; ;; say The limit is in; now its tests. ;; approve Bash: cargo \
                 test -p web login";
    let docs = "todo Write the index|Add examples|Link the guide ;; write guide.md Begin here.\\nThen go \
                on.\\n ;; say The guide has a first chapter.";
    new(&shop, "prices", "write prices.toml eur = 1.08 ;; say Prices are in euros.")?;
    new(&shop, "search", "say Indexing the catalogue. ;; work 600")?;
    new(&site, "dark-mode", "say Two palettes, one per background. ;; work 600")?;
    new(&site, "docs", docs)?;
    new(&shop, "fix-login", login)?;
    stage.glis(&["wait", "fix-login", "--for", "waiting"])?;
    stage.glis(&["wait", "prices", "--for", "idle"])?;
    stage.glis(&["wait", "docs", "--for", "idle"])?;
    stage.glis(&["pause", "docs"])
}

/// A loop that an interrupt has paused.
fn paused_loop(stage: &Stage) -> Result<Window> {
    let shop = stage.repository("shop")?.display().to_string();
    let prompt = "say One page of the catalogue is checked. ;; write pages.md checked ;; work 1";
    let how = ["--agent", "rehearsal", "--headless", "--max", "40", "--repo", &shop];
    let begin = ["loop", "nightly-checks", "--prompt", prompt];
    stage.glis(&[&begin[..], &how[..]].concat())?;
    let busy = ["new", "search", "--agent", "rehearsal", "--prompt", "work 600", "--repo", &shop];
    stage.glis(&busy)?;
    let mut window = stage.window()?;
    window.until("the loop", |lines| shows(lines, "nightly-checks"))?;
    window.type_in("/night\r")?;
    window.until("its line", |lines| shows(lines, "Iteration #3"))?;
    window.type_in("\x1b")?;
    window.until("the list", |lines| shows(lines, "search"))?;
    window.type_in("\x03")?;
    window.until("its end", |lines| shows(lines, "⏸ PAUSED"))?;
    Ok(window)
}

fn shows(lines: &[String], part: &str) -> bool {
    lines.iter().any(|line| line.contains(part))
}

/// A user with nothing but a home.
struct Stage {
    glis: PathBuf,
    home: tempfile::TempDir,
    mark: String,
}

impl Stage {
    fn set(glis: &Path) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("").rand_bytes(4).tempdir_in("/tmp")?;
        let mark = format!("{MARK}={}", home.path().display());
        ensure!(home.path().as_os_str().len() == HOME.len(), "another length than {HOME}");
        // A machine that is short of memory would suspend what is to be seen.
        let config = home.path().join(".config/glis");
        std::fs::create_dir_all(&config)?;
        std::fs::write(config.join("config.toml"), "[memory]\nenabled = false\n")?;
        Ok(Self { glis: glis.to_owned(), home, mark })
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["TMUX", "GLIS", "XDG", "GIT", "NO_COLOR"].iter().any(|own| text.starts_with(own)) {
                command.env_remove(&name);
            }
        }
        command.env("HOME", self.home()).env(MARK, self.home()).current_dir(self.home());
        command.env("TERM", "xterm-256color").env("COLORTERM", "truecolor").env("LANG", "C.UTF-8");
        command
    }

    fn repository(&self, name: &str) -> Result<PathBuf> {
        let repo = self.home().join("src").join(name);
        std::fs::create_dir_all(&repo)?;
        std::fs::write(repo.join("README"), "A place to work in.\n")?;
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@localhost"];
        for words in [["init", "-q", "."], ["add", "--all", "."], ["commit", "-qm", "begin"]] {
            let mut git = self.command(Path::new("git"));
            let done =
                git.args(who).args(words).current_dir(&repo).stdin(Stdio::null()).status()?;
            ensure!(done.success(), "git {words:?}: {done}");
        }
        Ok(repo)
    }

    fn glis(&self, words: &[&str]) -> Result<()> {
        let mut command = self.command(&self.glis);
        let done = command.args(words).stdin(Stdio::null()).output()?;
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        ensure!(done.status.success(), "glis {words:?}: {}: {told}", done.status);
        Ok(())
    }

    fn window(&self) -> Result<Window> {
        let mut command = self.command(&self.glis);
        command.current_dir(self.home().join("src/shop"));
        Ok(Window::on(Terminal::start_with(&mut command, SIZE)?, SIZE))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        proc::end_marked(&self.mark);
    }
}

/// One stretch of a row that looks alike.
struct Stretch {
    column: usize,
    columns: usize,
    text: String,
    look: Look,
}

/// The screen as a drawing.
fn svg(screen: &Screen, home: &str) -> String {
    let size = screen.size();
    let (width, height) =
        (f64::from(size.columns) * CELL.0 + 2.0 * EDGE, f64::from(size.rows) * CELL.1 + 2.0 * EDGE);
    let mut drawn = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-size=\"{LETTERS}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" xml:space=\"preserve\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{GROUND}\"/>\n"
    );
    for (row, stretches) in rows(screen, home).iter().enumerate() {
        let y = EDGE + row as f64 * CELL.1;
        for stretch in stretches {
            draw(&mut drawn, stretch, y);
        }
    }
    drawn.push_str("</svg>\n");
    drawn
}

fn draw(drawn: &mut String, stretch: &Stretch, y: f64) {
    let Stretch { column, columns, text, look } = stretch;
    let (x, width) = (EDGE + *column as f64 * CELL.0, *columns as f64 * CELL.0);
    let (mut ink, mut ground) = (hex(look.text), hex(look.behind));
    if look.inverse {
        let behind = ground.unwrap_or_else(|| GROUND.to_owned());
        (ink, ground) = (Some(behind), Some(ink.unwrap_or_else(|| INK.to_owned())));
    }
    if let Some(ground) = ground {
        let height = CELL.1;
        // Writing into a string cannot fail, here and below.
        writeln!(
            drawn,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{ground}\"/>"
        )
        .ok();
    }
    if text.trim().is_empty() {
        return;
    }
    // Many fonts have no such sign, or a coloured one.
    if text == "⏸" {
        let ink = ink.unwrap_or_else(|| INK.to_owned());
        for x in [x, x + 4.0] {
            let top = y + 4.0;
            writeln!(
                drawn,
                "<rect x=\"{x}\" y=\"{top}\" width=\"3\" height=\"9\" fill=\"{ink}\"/>"
            )
            .ok();
        }
        return;
    }
    let mut how = String::new();
    for (is_so, told) in [
        (look.bold, " font-weight=\"bold\""),
        (look.italic, " font-style=\"italic\""),
        (look.underlined, " text-decoration=\"underline\""),
        (look.faint, " opacity=\"0.65\""),
    ] {
        how.push_str(if is_so { told } else { "" });
    }
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (base, ink) = (y + CELL.1 * 0.75, ink.unwrap_or_else(|| INK.to_owned()));
    writeln!(
        drawn,
        "<text x=\"{x}\" y=\"{base}\" fill=\"{ink}\" textLength=\"{width}\"{how}>{text}</text>"
    )
    .ok();
}

/// The rows of a screen. The home of the scene is told as that of its user.
fn rows(screen: &Screen, home: &str) -> Vec<Vec<Stretch>> {
    let size = screen.size();
    let mut rows: Vec<Vec<Stretch>> = (0..size.rows).map(|_| Vec::new()).collect();
    screen.each_cell(|column, row, text, look| {
        let Some(row) = rows.get_mut(usize::from(row)) else { return };
        let column = usize::from(column);
        match row.last_mut() {
            // A gap, or a character that fonts draw wider than they say, begins anew.
            Some(last)
                if last.look == look
                    && last.column + last.columns == column
                    && text.is_ascii()
                    && last.text.is_ascii() =>
            {
                last.text.push_str(text);
                last.columns += 1;
            }
            Some(_) | None => {
                let text = text.to_owned();
                row.push(Stretch { column, columns: 1, text, look });
            }
        }
    });
    for stretch in rows.iter_mut().flatten() {
        stretch.text = stretch.text.replace(home, HOME);
        let blank = stretch.text.len() - stretch.text.trim_end().len();
        // Blanks at the end are drawn by nobody, unless there is something behind them.
        if stretch.look.behind == Colour::Own && !stretch.look.inverse && blank > 0 {
            stretch.columns -= blank;
            stretch.text.truncate(stretch.text.len() - blank);
        }
    }
    rows
}

fn hex(colour: Colour) -> Option<String> {
    match colour {
        Colour::Own => None,
        Colour::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Colour::Indexed(index) => Some(indexed(index)),
    }
}

/// The colours that terminals have by number.
fn indexed(index: u8) -> String {
    const NAMED: [&str; 16] = [
        "#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#bac2de",
        "#585b70", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#a6adc8",
    ];
    if let Some(named) = NAMED.get(usize::from(index)) {
        return (*named).to_owned();
    }
    if index >= 232 {
        let grey = 8 + 10 * (index - 232);
        return format!("#{grey:02x}{grey:02x}{grey:02x}");
    }
    let step = |at: u8| if at == 0 { 0 } else { 55 + 40 * at };
    let at = index - 16;
    format!("#{:02x}{:02x}{:02x}", step(at / 36), step(at / 6 % 6), step(at % 6))
}
