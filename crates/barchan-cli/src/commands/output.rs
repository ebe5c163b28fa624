//! Writing to the terminal. A closed pipe (`barchan scenes | head -1`) is not an error; a full disk is.

use super::Failure;
use barchan::scene::numbers::rounded;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Prints a line of the result on standard output.
pub fn say(text: impl Display) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::work(format_args!(
            "could not write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Prints a message on standard error.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints warnings on standard error.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        note(format_args!("warning: {warning}"));
    }
}

/// Prints a result: as the JSON object of `--json`, or else as `show` does.
pub fn report<T: Serialize>(
    result: &T,
    json: bool,
    show: impl FnOnce(&T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if json { say_json(result) } else { show(result) }
}

/// Prints the JSON object of `--json`, the last line on standard output.
pub fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    match serde_json::to_string(value) {
        Ok(text) => say(text),
        Err(error) => Err(Failure::work(format_args!(
            "the result cannot be written as JSON: {error}"
        ))),
    }
}

/// A number with at most six significant digits.
pub fn number(value: f64) -> String {
    rounded(value, 6)
}

/// Work per time [1/s]; 0 before any time has passed.
pub fn rate(work: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { work / seconds } else { 0.0 }
}

/// A number of bytes in a suitable unit.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A count with its digits in groups of three: `1 234 567`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A duration [s] in readable form: `4.2 s`, `3 min 20 s`, `2 h 05 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..60 => format!("{:.1} s", seconds.max(0.0)),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_readable() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(duration(4.24), "4.2 s");
        assert_eq!(duration(200.0), "3 min 20 s");
        assert_eq!(duration(7500.0), "2 h 05 min");
    }
}
