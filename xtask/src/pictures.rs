//! `cargo xtask pictures`: plays sessions of the real Claude Code with the stub model, opens the overview before
//! them, and draws what a terminal shows, into docs/pictures; and the page, as a browser shows it.
#![expect(clippy::cast_precision_loss, reason = "columns and rows of a terminal are small")]

mod page;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, anyhow, ensure};
use glis_screen::{Colour, Look, Screen};
use glis_stub_model::installed::CLAUDE;
use glis_stub_model::{Model, Step, seed};
use glis_wire::hold::Size;
use serde_json::{Value, json};

use crate::bench::{Terminal, Window};
use crate::cargo::Workspace;
use crate::proc;

/// As wide as the columns of a page that tells of it, and side by side.
const SIZE: Size = Size { columns: 124, rows: 30 };
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
    let glis = workspace.glis()?;
    let folder = workspace.root.join("docs/pictures");
    std::fs::create_dir_all(&folder)?;
    if let [option, views] = given {
        ensure!(option == "--views", "`cargo xtask pictures [--views FOLDER]`");
        page::take(&workspace, &glis, page::Which::Views(Path::new(views)))?;
        return Ok(ExitCode::SUCCESS);
    }
    page::take(&workspace, &glis, page::Which::Docs(&folder))?;
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
    window.until("the list", |lines| shows(lines, "5 sessions") && shows(lines, "1. Yes"))?;
    Ok(window)
}

fn at_work(stage: &Stage) -> Result<()> {
    let (shop, site) = (stage.repository("shop")?, stage.repository("site")?);
    let new = |repo: &Path, name: &str, prompt: &str, steps: &[Step]| {
        stage.model.learn(prompt, steps);
        let repo = repo.display().to_string();
        stage.glis(&["new", name, "--agent", "claude", "--repo", &repo, "--prompt", prompt])
    };
    let prices = [writes("prices.toml", "eur = 1.08\n", ""), says("Prices are in euros.")];
    let guide = "Begin here.\nThen go on.\n";
    let docs = [writes("guide.md", guide, ""), says("The guide has a first chapter.")];
    let tests = json!({"command": "cargo test -p web login", "description": "Test the login"});
    let login = [
        writes("src/limit.rs", "pub const LIMIT: u32 = 5;\n", "First the limit itself."),
        Step { tool: Some("Bash".to_owned()), input: tests, ..says("Now its tests.") },
    ];
    new(&shop, "prices", "Convert the prices to euros.", &prices)?;
    new(&shop, "search", "Index the catalogue.", &works("Reading the catalogue."))?;
    new(&site, "dark-mode", "Add a dark mode.", &works("Two palettes, one per background."))?;
    new(&site, "docs", "Write a guide for newcomers.", &docs)?;
    new(&shop, "fix-login", "Limit failed logins to five a minute.", &login)?;
    stage.glis(&["wait", "fix-login", "--for", "waiting", "--timeout", "60s"])?;
    stage.glis(&["wait", "prices", "--for", "idle"])?;
    stage.glis(&["wait", "docs", "--for", "idle"])?;
    stage.glis(&["pause", "docs"])?;
    for held in ["Reading the catalogue.", "Two palettes, one per background."] {
        stage.model.until_held(held).map_err(|why| anyhow!(why))?;
    }
    Ok(())
}

/// A loop that an interrupt has paused.
fn paused_loop(stage: &Stage) -> Result<Window> {
    let shop = stage.repository("shop")?.display().to_string();
    let (prompt, index) = ("Check the next page of the catalogue.", "Index the catalogue.");
    let page = writes("pages.md", "checked\n", "One page at a time.");
    stage.model.learn(prompt, &[page, says("One page of the catalogue is checked.")]);
    stage.model.learn(index, &works("Reading the catalogue."));
    let how = ["--agent", "claude", "--headless", "--max", "40", "--repo", &shop];
    let begin = ["loop", "nightly-checks", "--prompt", prompt];
    stage.glis(&[&begin[..], &how[..]].concat())?;
    stage.glis(&["new", "search", "--agent", "claude", "--prompt", index, "--repo", &shop])?;
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

fn says(text: &str) -> Step {
    Step { text: Some(text.to_owned()), ..Step::default() }
}

/// Says this, looks at a file, and goes on thinking while the scene lasts.
fn works(text: &str) -> [Step; 2] {
    let look = Some("Read".to_owned());
    let looks = Step { tool: look, input: json!({"file_path": "README"}), ..says(text) };
    [looks, Step { hold_first: Some(text.to_owned()), ..Step::default() }]
}

fn writes(file: &str, content: &str, before: &str) -> Step {
    let input = json!({"file_path": file, "content": content});
    Step { tool: Some("Write".to_owned()), input, ..says(before) }
}

fn shows(lines: &[String], part: &str) -> bool {
    lines.iter().any(|line| line.contains(part))
}

/// A user with a home, Claude Code and a model.
struct Stage {
    glis: PathBuf,
    home: tempfile::TempDir,
    mark: String,
    model: Model,
    env: Vec<(&'static str, String)>,
}

impl Stage {
    fn set(glis: &Path) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("").rand_bytes(4).tempdir_in("/tmp")?;
        let mark = format!("{MARK}={}", home.path().display());
        ensure!(home.path().as_os_str().len() == HOME.len(), "another length than {HOME}");
        // A machine that is short of memory would suspend what is to be seen, and a user who is
        // asked about commands alone has less to answer.
        let config = home.path().join(".config/glis");
        let text =
            "[memory]\nenabled = false\n\n[persona.default]\npermission_mode = \"acceptEdits\"\n";
        std::fs::create_dir_all(&config)?;
        std::fs::write(config.join("config.toml"), text)?;
        let program = CLAUDE.program().context("not installed; `cargo xtask agents` does that")?;
        let bin = home.path().join("bin");
        std::fs::create_dir(&bin)?;
        std::os::unix::fs::symlink(program, bin.join(CLAUDE.name))?;
        let model = Model::start()?;
        let mut env = seed::plant(&CLAUDE, home.path(), home.path(), &model.url())?;
        env.push(("PATH", format!("{}:{}", bin.display(), std::env::var("PATH")?)));
        Ok(Self { glis: glis.to_owned(), home, mark, model, env })
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let own = ["TMUX", "GLIS", "XDG", "GIT", "NO_COLOR"];
            if own.iter().chain(seed::FOREIGN).any(|own| text.starts_with(own)) {
                command.env_remove(&name);
            }
        }
        command.env("HOME", self.home()).env(MARK, self.home()).current_dir(self.home());
        command.env("TERM", "xterm-256color").env("COLORTERM", "truecolor").env("LANG", "C.UTF-8");
        command.envs(self.env.iter().cloned());
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
        self.trust(&repo)?;
        Ok(repo)
    }

    /// Claude Code would ask about a folder before it takes a word.
    fn trust(&self, repo: &Path) -> Result<()> {
        let file = seed::config(&CLAUDE, self.home()).join(".claude.json");
        let mut known: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
        known["projects"][repo.display().to_string()] = json!({"hasTrustDialogAccepted": true});
        Ok(std::fs::write(&file, known.to_string())?)
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
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\">\n\
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
    // Many fonts have no such sign, or a coloured one; the same goes for `⎿` below.
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
    // Browsers drop the blanks at the beginning of a text and join those within it.
    let text = text.replace('⎿', "└").replace(' ', "\u{a0}");
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
        let blank = stretch.text.len() - stretch.text.trim_end_matches(' ').len();
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
