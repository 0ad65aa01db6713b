//! `certree-check INSTANCE PROOF`: prints one verdict. Exit code 0: verified, 3: verified up to a
//! gap, 1: not verified, 2: a file cannot be read.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    let [instance, proof] = &paths[..] else {
        eprintln!("usage: certree-check INSTANCE.ctd PROOF.ctp");
        return ExitCode::from(2);
    };
    let read = |path| std::fs::read(path).map_err(|error| format!("{path:?}: {error}"));
    match read(instance).and_then(|instance| Ok((instance, read(proof)?))) {
        Err(error) => {
            eprintln!("certree-check: {error}");
            ExitCode::from(2)
        }
        Ok((instance, proof)) => match certree_check::check(&instance, &proof) {
            Ok(verified) => {
                println!("{verified}");
                ExitCode::from(if verified.gap() == 0 { 0 } else { 3 })
            }
            Err(error) => {
                println!("NOT VERIFIED: {error}");
                ExitCode::from(1)
            }
        },
    }
}
