//! Builds the page of the viewer with npm and embeds it. Without Node the program is built without the page, and `barchan view`
//! reports that it is missing.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// Oldest Node that the tools of the page run on.
const OLDEST_NODE: u32 = 20;
/// Sources of the page, in `viewer/`.
const SOURCES: &[&str] = &[
    "src",
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
];
/// Environment variable with the folder of a prebuilt page.
const PREBUILT: &str = "BARCHAN_VIEWER_DIST";

/// Writes the list of the page's files to `viewer.rs` in `out`.
pub fn embed(viewer: &Path, out: &Path) -> io::Result<()> {
    println!("cargo:rerun-if-env-changed={PREBUILT}");
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", viewer.join(source).display());
    }
    let page = match env::var_os(PREBUILT).map(PathBuf::from) {
        Some(prebuilt) if prebuilt.join("index.html").is_file() => Ok(prebuilt),
        Some(prebuilt) => Err(format!(
            "{PREBUILT} is {}, which has no index.html",
            prebuilt.display()
        )),
        None => build(viewer, &out.join("viewer")),
    };
    let mut list = String::from("&[\n");
    match page {
        Ok(page) => {
            let page = page.canonicalize()?;
            for file in files(&page)? {
                let name = file
                    .strip_prefix(&page)
                    .unwrap_or(&file)
                    .to_string_lossy()
                    .replace('\\', "/");
                let _ = writeln!(list, "    ({name:?}, include_bytes!({file:?}).as_slice()),");
            }
        }
        Err(reason) => println!(
            "cargo:warning=barchan is built without the page of `barchan view`: {reason}. It needs Node {OLDEST_NODE} or newer \
             with npm, and the network once; then: touch viewer/package.json && cargo build"
        ),
    }
    list.push(']');
    fs::write(out.join("viewer.rs"), list)
}

/// Builds into `page`; the error names what is missing.
fn build(viewer: &Path, page: &Path) -> Result<PathBuf, String> {
    if !viewer.join("package.json").is_file() {
        return Err("the folder viewer/ is missing".into());
    }
    check_node()?;
    let lock_file = viewer.join("package-lock.json");
    let lock = File::open(&lock_file).map_err(|e| format!("{}: {e}", lock_file.display()))?;
    // Concurrent builds must not install into the same folder.
    lock.lock()
        .map_err(|e| format!("{}: {e}", lock_file.display()))?;
    if is_outdated(&viewer.join("node_modules/.package-lock.json"), &lock_file) {
        // Not `npm ci`, which refuses a lock file without the optional packages of this platform.
        let arguments = ["install", "--no-save", "--prefer-offline"];
        run(viewer, "npm", &arguments)?;
    }
    let target = page.to_string_lossy();
    run(
        viewer,
        "npm",
        &[
            "run",
            "--silent",
            "build",
            "--",
            "--outDir",
            &target,
            "--emptyOutDir",
        ],
    )?;
    Ok(page.to_owned())
}

fn check_node() -> Result<(), String> {
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|_| "Node is not installed".to_owned())?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let major = version
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|n| n.parse::<u32>().ok());
    match major {
        Some(major) if major >= OLDEST_NODE => Ok(()),
        _ => Err(format!("the version of Node is {version:?}")),
    }
}

/// Whether the packages were installed before the last change of the lock file, or never.
fn is_outdated(installed: &Path, list: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
    match (time(installed), time(list)) {
        (Some(installed), Some(list)) => installed < list,
        _ => true,
    }
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output();
    let output = output.map_err(|e| format!("{program} cannot be started ({e})"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let reason = lines[..lines.len().min(4)].join(" | ");
    Err(format!(
        "`{program} {}` failed: {reason}",
        arguments.join(" ")
    ))
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
