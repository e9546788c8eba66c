//! The binary `polymnemo`; everything is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    polymnemo_server::cli::run()
}
