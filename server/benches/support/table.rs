/// A table for people, in Markdown: the first column aligned to the left, all others to the right.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this line of headings and nothing below it yet.
    pub(crate) fn new<const COLUMNS: usize>(headings: [&str; COLUMNS]) -> Self {
        Self { rows: vec![headings.map(str::to_owned).to_vec()] }
    }

    /// Adds a line.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|column| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max())
            .map(Option::unwrap_or_default)
            .collect();
        for (place, row) in self.rows.iter().enumerate() {
            for (column, width) in widths.iter().copied().enumerate() {
                let cell = row.get(column).map(String::as_str).unwrap_or_default();
                match column {
                    0 => write!(formatter, "| {cell:<width$} |")?,
                    _ => write!(formatter, " {cell:>width$} |")?,
                }
            }
            writeln!(formatter)?;
            if place == 0 {
                for (column, width) in widths.iter().copied().enumerate() {
                    let line = "-".repeat(width);
                    write!(formatter, "{}", if column == 0 { format!("| {line} |") } else { format!(" {line}:|") })?;
                }
                writeln!(formatter)?;
            }
        }
        Ok(())
    }
}
