//! Files that are complete after a crash, and that no other user can swap or change; and the programs that are started.
//!
//! | module | job |
//! |---|---|
//! | `new_file` | [`NewFile`]: written beside its target, synced, renamed into place. The only code that replaces files, but for that of the vector index |
//! | `file_id` | [`FileId`]: tells whether another file has the name |
//! | `locked` | [`LockedFile`]: locked until it is dropped |
//! | `plain` | [`open_plain`] opens plain files only: no link, no pipe, no device |
//! | `folder` | [`PrivateFolder`]: one that only its user can change, held open while it is used |
//! | `program` | [`command()`]: starts a program that is not one of the working folder. The only code that does. \
//! [`ThisProgram`]: what starts this one again |
//! | [`crash`] | named steps at which a test ends the process |

#[doc(hidden)]
pub mod crash;
mod file_id;
mod folder;
mod locked;
mod new_file;
mod plain;
mod program;

pub use file_id::FileId;
pub use folder::PrivateFolder;
pub use locked::LockedFile;
pub use new_file::{
    ABANDONED, Error, NewFile, folder_of, is_temporary, new_work_folder, replace, sweep, sweep_locked,
    sweep_work_folders, sync_folder,
};
pub use plain::open_plain;
pub use program::{ThisProgram, command, find_program, is_executable};
