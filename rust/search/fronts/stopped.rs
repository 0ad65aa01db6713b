//! What a step says that did not come to its end.

/// The run was stopped, so that nothing is known of what was being worked on.
pub struct Stopped;
