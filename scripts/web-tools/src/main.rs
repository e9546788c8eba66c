//! `polymnemo-web-tools WASM FOLDER NAME` writes `NAME.js` and `NAME_bg.wasm` into FOLDER, for browsers to load as a
//! module: the library behind the `wasm-bindgen` program, without the rest of that program.

use std::env::args;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    let [wasm, folder, name] = arguments.as_slice() else {
        eprintln!("usage: polymnemo-web-tools WASM FOLDER NAME");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let written = bindgen
        .web(true)
        .and_then(|bindgen| bindgen.input_path(wasm).out_name(name).typescript(false).generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wasm-bindgen: {error:?}");
            ExitCode::FAILURE
        }
    }
}
