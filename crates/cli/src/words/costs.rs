//! What agents have used, as a table.

use crate::width::width;
use glis_core::plain::in_sight;
use glis_wire::view::CostView;

/// What `cost` prints: a line each, and the sum.
pub(crate) fn costs(all: &[CostView]) -> String {
    if all.is_empty() {
        return "No agent has told what it used.".to_owned();
    }
    let sum = CostView::together(all);
    let several = (all.len() > 1).then_some(&sum);
    let name = |one: &CostView| in_sight(&one.key);
    let names: Vec<String> = all.iter().chain(several).map(name).collect();
    let wide = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let line = |(one, name): (&CostView, &String)| {
        let usd = one.usd.map_or_else(|| "-".to_owned(), |usd| format!("${usd:.2}"));
        let gap = " ".repeat(wide - width(name));
        format!("{name}{gap}  {:>12}  {:>12}  {usd:>9}", one.tokens_in, one.tokens_out)
    };
    let head = format!("{:wide$}  {:>12}  {:>12}  {:>9}", "", "TOKENS IN", "TOKENS OUT", "COST");
    let lines = all.iter().chain(several).zip(&names).map(line);
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}
