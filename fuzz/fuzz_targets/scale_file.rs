#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(memorist_engine::fuzzing::scale_file(bytes)));
