//! The progress that a merge reports while it runs, and how soon it ends when it is stopped.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use memorist_index::{Progress, Stage, WriteError};
use parking_lot::Mutex;

use crate::support::{World, clustered, in_threads, shapes, small};

const DIMS: usize = 16;
const THREADS: usize = 4;

/// An index of one segment, of whose vectors a quarter was deleted: its merge inserts nothing.
fn quarter_deleted() -> World {
    let mut world = World::filled(small(DIMS, 500), &clustered(24, 2000, DIMS, 40), 2000);
    world.apply(Vec::new(), &(0..2000).step_by(4).collect::<Vec<_>>());
    world
}

fn is_about_links(now: Progress) -> bool {
    !matches!(now.stage, Stage::Writing | Stage::Measuring)
}

#[test]
fn mending_a_graph_reports_progress() {
    let mut world = quarter_deleted();
    let reports: Mutex<Vec<Progress>> = Mutex::default();
    let report = |now: Progress| {
        reports.lock().push(now);
        ControlFlow::Continue(())
    };
    // One thread, so that the reports are in order.
    let more = in_threads(1, || world.writer.maintain(&report)).unwrap();
    assert!(!more);
    assert_eq!(shapes(world.folder.path()), [(1500, 32)]);
    let reports = reports.into_inner();
    let Progress { stage, total, .. } = reports[0];
    assert!(is_about_links(reports[0]), "1,500 vectors were mended, and the first report is {stage:?}");
    let of_stage = reports.iter().take_while(|now| (now.stage, now.total) == (stage, total));
    let done: Vec<usize> = of_stage.map(|now| now.done).collect();
    assert!(total > 0 && done.is_sorted() && done.last() == Some(&total), "{stage:?}: {done:?} of {total}");
    assert!(done[0] <= total / 10, "{stage:?}: first reported when {} of {total} were done", done[0]);
}

#[test]
fn mending_a_graph_can_be_stopped() {
    let mut world = quarter_deleted();
    let files = |world: &World| std::fs::read_dir(world.folder.path()).unwrap().count();
    let before = (world.writer.snapshot().generation(), 1500, files(&world));
    for stop_at in [1, 700] {
        let stop = |now: Progress| {
            if is_about_links(now) && now.done >= stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped = world.writer.maintain(&stop);
        assert!(matches!(stopped, Err(WriteError::Cancelled)), "stopped at {stop_at}: {stopped:?}");
        let snapshot = world.writer.snapshot();
        assert_eq!((snapshot.generation(), snapshot.len(), files(&world)), before, "stopped at {stop_at}");
    }
    world.maintain();
    let snapshot = world.writer.snapshot();
    assert_eq!((snapshot.len(), snapshot.verify()), (1500, vec![]));
    assert_eq!(shapes(world.folder.path()), [(1500, 32)], "merged after the stops");
}

/// With many vectors, hundreds are linked at a time.
#[test]
fn a_build_that_is_stopped_ends_where_it_is() {
    let mut options = small(8, 500);
    options.ef_construction = 10;
    let mut world = World::new(options);
    world.apply((0..).zip(clustered(25, 20_000, 8, 40)).collect(), &[]);
    // Somewhere in the first batches and in full ones.
    for stop_at in [70, 270, 500, 1000] {
        let after = AtomicUsize::new(0);
        let stop = |now: Progress| {
            if now.done < stop_at {
                return ControlFlow::Continue(());
            }
            after.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Break(())
        };
        let stopped = in_threads(THREADS, || world.writer.maintain(&stop));
        assert!(matches!(stopped, Err(WriteError::Cancelled)), "stopped at {stop_at}: {stopped:?}");
        let after = after.into_inner();
        println!("stopped at {stop_at}: {after}");
        assert!(after <= 4 * THREADS, "stopped at {stop_at}, the work went on for {after} vectors");
    }
}
