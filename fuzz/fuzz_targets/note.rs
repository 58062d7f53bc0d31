#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memorist_sources::fuzzing::note(bytes));
