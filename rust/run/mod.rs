//! One run of a search: its limits, its progress, its cancellation. Every search checks in here.

mod limits;
mod progress;

pub use limits::{Limits, Status};
pub use progress::{Moment, Progress, Work};

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::cost::{Cost, Scale};

/// Called now and then from the thread that started the run; `false` interrupts it.
pub type Pulse<'a> = Box<dyn FnMut(&Progress) -> bool + Send + 'a>;

/// How often the pulse may beat.
const BEAT: Duration = Duration::from_millis(50);

/// Shared by all workers of a search.
pub struct Run<'a> {
    start: Instant,
    limits: Limits,
    scale: Scale,
    /// Why to stop, as a `Status`; 0 while running. The first reason stays.
    stop: AtomicU8,
    bytes: AtomicI64,
    peak_bytes: AtomicI64,
    nodes: AtomicU64,
    kernel_calls: AtomicU64,
    beat: Mutex<Beat<'a>>,
}

struct Beat<'a> {
    pulse: Option<Pulse<'a>>,
    last: Instant,
    curve: Vec<Moment>,
}

impl<'a> Run<'a> {
    pub fn new(limits: Limits, scale: Scale, pulse: Option<Pulse<'a>>) -> Self {
        let start = Instant::now();
        Run {
            start,
            limits,
            scale,
            stop: AtomicU8::new(0),
            bytes: AtomicI64::new(0),
            peak_bytes: AtomicI64::new(0),
            nodes: AtomicU64::new(0),
            kernel_calls: AtomicU64::new(0),
            beat: Mutex::new(Beat { pulse, last: start, curve: Vec::new() }),
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether somebody asked to stop; cheap enough for inner loops.
    pub fn stopped(&self) -> Option<Status> {
        Status::from_code(self.stop.load(Ordering::Relaxed))
    }

    pub fn stop(&self, status: Status) {
        let _ = self.stop.compare_exchange(0, status.code(), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Look at the clock; any worker may call this, as often as every few microseconds of work.
    pub fn check_time(&self) -> Option<Status> {
        if self.limits.time.is_some_and(|limit| self.start.elapsed() >= limit) {
            self.stop(Status::TimeLimit);
        }
        self.stopped()
    }

    /// Tell the bounds of the whole problem; the worker on the caller's thread calls this between steps.
    pub fn report(&self, lower: Cost, upper: Cost) -> Option<Status> {
        self.check_time();
        if lower < upper && upper - lower <= self.scale.units_of(self.limits.gap) - self.scale.slack
        {
            self.stop(Status::GapLimit);
        }
        let mut beat = self.beat.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let now = Instant::now();
        let changed =
            (beat.curve.last()).is_none_or(|m| m.upper_cost != upper || m.lower_cost != lower);
        if changed && (beat.curve.len() < 16 || now - beat.last >= BEAT) {
            let moment = self.moment(lower, upper);
            beat.curve.push(moment);
        }
        if now - beat.last >= BEAT {
            beat.last = now;
            let progress = self.progress(lower, upper);
            if let Some(pulse) = beat.pulse.as_mut()
                && !pulse(&progress)
            {
                self.stop(Status::Interrupted);
            }
        }
        self.stopped()
    }

    fn moment(&self, lower: Cost, upper: Cost) -> Moment {
        Moment {
            seconds: self.seconds(),
            upper: self.scale.objective(upper),
            lower: self.scale.lower(lower),
            upper_cost: upper,
            lower_cost: lower,
        }
    }

    fn progress(&self, lower: Cost, upper: Cost) -> Progress {
        let moment = self.moment(lower, upper);
        Progress {
            seconds: moment.seconds,
            objective: moment.upper,
            lower_bound: moment.lower,
            work: self.work(),
        }
    }

    /// The anytime curve, closed with the final bounds.
    pub fn curve(&self, lower: Cost, upper: Cost) -> Vec<Moment> {
        let beat = self.beat.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut curve = beat.curve.clone();
        curve.push(self.moment(lower, upper));
        curve
    }

    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    pub fn add_nodes(&self, n: u64) {
        self.nodes.fetch_add(n, Ordering::Relaxed);
    }

    pub fn add_kernel_calls(&self, n: u64) {
        self.kernel_calls.fetch_add(n, Ordering::Relaxed);
    }

    /// Account for memory taken (or, negative, given back) by the search.
    pub fn add_bytes(&self, bytes: i64) {
        let now = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_bytes.fetch_max(now, Ordering::Relaxed);
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed).max(0) as u64
    }

    pub fn work(&self) -> Work {
        Work {
            nodes: self.nodes.load(Ordering::Relaxed),
            kernel_calls: self.kernel_calls.load(Ordering::Relaxed),
            peak_bytes: self.peak_bytes.load(Ordering::Relaxed).max(0) as u64,
        }
    }
}
