//! Opens a browser. The address has a code, and every user of a machine sees the arguments of programs: the browser is
//! given a file that only this user can read, and which leads on to the address.

use std::env;
use std::io::Write as _;
use std::process::Stdio;

use tempfile::NamedTempFile;

/// Opens the address, if there is a screen to do it on. The file must stay until the browser has read it; `None`: nothing
/// was opened.
pub fn open(url: &str) -> Option<NamedTempFile> {
    let program = program()?;
    match lead_to(url).and_then(|file| start(&program, file)) {
        Ok(file) => Some(file),
        Err(error) => {
            tracing::debug!("no browser was opened: {error}");
            None
        }
    }
}

/// A file of this user alone that leads to the address.
fn lead_to(url: &str) -> std::io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("memorist-").suffix(".html").tempfile()?;
    write!(
        file,
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>memorist</title>\n\
         <p><a href=\"{url}\">Open memorist</a></p>\n"
    )?;
    file.flush()?;
    Ok(file)
}

fn start(program: &[&str], file: NamedTempFile) -> std::io::Result<NamedTempFile> {
    let (name, arguments) = (program[0], &program[1..]);
    let quiet = Stdio::null;
    let mut command = memorist_durable::command(name)?;
    command.args(arguments).arg(file.path()).stdin(quiet()).stdout(quiet()).stderr(quiet());
    // Ctrl-C ends this program, and not the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    // Waited for, so that it leaves no dead process behind.
    std::thread::spawn(move || child.wait());
    Ok(file)
}

/// The program that opens a file of this kind, if there is one.
fn program() -> Option<Vec<&'static str>> {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(windows) {
        return Some(vec!["rundll32", "url.dll,FileProtocolHandler"]);
    }
    // The screen is on another machine.
    if is_set("SSH_CONNECTION") {
        return None;
    }
    if cfg!(target_os = "macos") {
        return Some(vec!["open"]);
    }
    // Without a screen it would start a browser in the terminal.
    (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")).then(|| vec!["xdg-open"])
}
