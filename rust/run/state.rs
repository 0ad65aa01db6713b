//! What the workers of a search share of its run, and the clock looks at.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use super::aside::{Gate, Side};
use super::curve::Curve;
use super::decided::Decided;
use super::limits::{Limits, Status};
use super::machine;
use super::progress::{Moment, Progress, Work};
use crate::bounds::{Bound, Decisions};
use crate::cost::{Cost, INFINITE, Scale};

/// Called now and then from the thread that started the run; `false` interrupts it.
pub type Pulse<'a> = Box<dyn FnMut(&Progress) -> bool + Send + 'a>;

/// Done on the side, such as to look for a better tree: it says at which time of the run it is to
/// be called again, if ever.
pub type Aside = Box<dyn FnMut(&Run<'_>) -> Option<Duration> + Send>;

/// How often the pulse may beat.
const BEAT: Duration = Duration::from_millis(50);

/// A run without a memory limit does not ask the machine before it holds as much.
const ALWAYS_FREE: u64 = 128 << 20;

/// Shared by all workers of a search.
pub struct Run<'a> {
    start: Instant,
    limits: Limits,
    scale: Scale,
    /// Why to stop, as a `Status`; 0 while running. The first reason stays.
    stop: AtomicU8,
    /// Nanoseconds of the limit that are kept for what follows the search.
    kept_back: AtomicU64,
    /// Whether the pulse said to end; it is not asked again.
    interrupted: AtomicBool,
    /// The memory limit, or what stands for one.
    memory: OnceLock<u64>,
    bytes: AtomicI64,
    peak_bytes: AtomicI64,
    nodes: AtomicU64,
    kernel_calls: AtomicU64,
    decided: Decided,
    beat: Mutex<Beat<'a>>,
    side: Side<Aside>,
    /// Trees that cost this or more are of no use to a search any more.
    cutoff: AtomicI64,
}

struct Beat<'a> {
    pulse: Option<Pulse<'a>>,
    last: Instant,
    curve: Curve,
    /// The best bounds that were told, lower and upper. Several phases of one run tell their own,
    /// and what one of them has proved holds for the others, so that bounds never loosen.
    known: (Cost, Cost),
    /// The most that progress shows where no tree is known yet.
    shown: Cost,
}

impl Beat<'_> {
    fn tighten(&mut self, lower: Cost, upper: Cost) {
        self.known = (self.known.0.max(lower), self.known.1.min(upper));
    }
}

impl<'a> Run<'a> {
    pub fn new(limits: Limits, scale: Scale, pulse: Option<Pulse<'a>>) -> Self {
        Run::with_gate(limits, scale, pulse, Arc::default())
    }

    fn with_gate(limits: Limits, scale: Scale, pulse: Option<Pulse<'a>>, gate: Arc<Gate>) -> Self {
        let start = Instant::now();
        let held = i64::try_from(limits.held).unwrap_or(i64::MAX / 2);
        Run {
            start,
            limits,
            scale,
            stop: AtomicU8::new(0),
            kept_back: AtomicU64::new(0),
            interrupted: AtomicBool::new(false),
            memory: OnceLock::new(),
            bytes: AtomicI64::new(held),
            peak_bytes: AtomicI64::new(held),
            nodes: AtomicU64::new(0),
            kernel_calls: AtomicU64::new(0),
            decided: Decided::default(),
            beat: Mutex::new(Beat {
                pulse,
                last: start,
                curve: Curve::default(),
                known: (Cost::MIN, INFINITE),
                shown: INFINITE,
            }),
            side: Side::new(gate),
            cutoff: AtomicI64::new(INFINITE),
        }
    }

    /// A run for a part of this one, within what is left of its time and memory; this one is told
    /// by `pulse` alone.
    pub fn part<'b>(&self, scale: Scale, pulse: Pulse<'b>) -> Run<'b> {
        Run::with_gate(self.left(), scale, Some(pulse), self.side.gate().clone())
    }

    /// A run that helps this one while its workers wait, for so long at most.
    pub fn helper<'b>(&self, time: Duration, pulse: Pulse<'b>) -> Run<'b> {
        let left = self.left();
        let time = left.time.map_or(time, |left| left.min(time));
        Run::new(Limits { time: Some(time), ..left }, self.scale, Some(pulse))
    }

    /// What is left of the time and the memory, without a gap limit.
    fn left(&self) -> Limits {
        Limits {
            time: self.limits.time.map(|limit| limit.saturating_sub(self.start.elapsed())),
            memory: self.limits.memory.map(|limit| limit.saturating_sub(self.bytes())),
            held: 0,
            gap: 0.0,
            threads: self.limits.threads,
            all_sizes: false,
        }
    }

    /// Take over the work of a part that came to its end, and why it did, if a limit of this run
    /// was the reason. The gap of a part is none of the whole.
    pub fn absorb(&self, part: &Run) {
        self.add_decisions(&part.work().bounds);
        self.absorb_help(part);
        if let Some(status) = part.stopped()
            && !matches!(status, Status::Interrupted | Status::GapLimit)
        {
            self.stop(status);
        }
    }

    /// Take over the work of a helper, whose limits are none of this run, and whose bounds decide
    /// nothing here.
    pub fn absorb_help(&self, helper: &Run) {
        let work = helper.work();
        self.add_nodes(work.nodes);
        self.add_kernel_calls(work.kernel_calls);
        // It was held beside what is held here.
        self.add_bytes(work.peak_bytes as i64);
        self.add_bytes(-(work.peak_bytes as i64));
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether somebody asked to stop; cheap enough for inner loops. Workers wait here while
    /// something is done on the side.
    pub fn stopped(&self) -> Option<Status> {
        self.side.gate().pass();
        self.status()
    }

    fn status(&self) -> Option<Status> {
        Status::from_code(self.stop.load(Ordering::Relaxed))
    }

    pub fn stop(&self, status: Status) {
        let _ = self.stop.compare_exchange(0, status.code(), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Look at the clock; any worker may call this, as often as every few microseconds of work.
    pub fn check_time(&self) -> Option<Status> {
        self.look_at_clock();
        self.stopped()
    }

    fn look_at_clock(&self) {
        let kept_back = Duration::from_nanos(self.kept_back.load(Ordering::Relaxed));
        let is_over = |limit| self.start.elapsed() + kept_back >= limit;
        if self.limits.time.is_some_and(is_over) {
            self.stop(Status::TimeLimit);
        }
    }

    /// From now on, when this time of the run has come, do this on the side, in the caller's
    /// thread.
    pub fn set_aside(&self, due: Duration, work: Aside) {
        self.side.set(due, work);
    }

    /// Nothing more is done on the side, and the cutoff that came of it is forgotten.
    pub fn clear_aside(&self) {
        self.side.clear();
        self.cutoff.store(INFINITE, Ordering::Relaxed);
    }

    /// Trees that cost this or more are of no use to a search, because something that works on the
    /// side knows a better one.
    pub fn cutoff(&self) -> Cost {
        self.cutoff.load(Ordering::Relaxed)
    }

    /// A tree of this cost was found on the side. A search still looks for one that costs as much,
    /// so that its own answer does not depend on when this one was found.
    pub fn found_aside(&self, cost: Cost) {
        self.cutoff.fetch_min(cost + 1, Ordering::Relaxed);
        self.tell(0, cost);
    }

    /// From now on, keep so much of the time for what follows the search.
    pub fn keep_back(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.kept_back.store(nanoseconds, Ordering::Relaxed);
    }

    /// What is known before the search begins: no tree costs less than `lower`, and one costs
    /// `upper`, if that is not infinite.
    pub fn begin_with(&self, lower: Cost, upper: Cost) {
        self.beat().tighten(lower, upper);
    }

    /// The best lower bound that was told; the smallest number if none was.
    pub fn known_lower(&self) -> Cost {
        self.beat().known.0
    }

    /// The best lower bound that was told, as a share of the best tree's cost.
    pub fn known_share(&self) -> f64 {
        let (lower, upper) = self.beat().known;
        lower.max(0) as f64 / upper.max(1) as f64
    }

    /// No tree that is of use costs more. Progress shows this while none is known.
    pub fn show_at_most(&self, cost: Cost) {
        self.beat().shown = cost;
    }

    fn beat(&self) -> MutexGuard<'_, Beat<'a>> {
        self.beat.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Tell bounds of the whole problem, with an infinite `upper` if no tree is known. Only the
    /// caller's thread does.
    pub fn report(&self, lower: Cost, upper: Cost) -> Option<Status> {
        let status = self.tell(lower, upper);
        if status.is_some() || !self.side.is_due(self.start.elapsed()) {
            return status;
        }
        self.side.step(|work| work(self));
        self.status()
    }

    /// As [`report`](Run::report), while workers wait. Nothing costs less than 0.
    pub fn tell(&self, lower: Cost, upper: Cost) -> Option<Status> {
        self.look_at_clock();
        let mut beat = self.beat();
        beat.tighten(lower, upper);
        let (lower, upper) = beat.known;
        let most = self.scale.units_of(self.limits.gap) - self.scale.slack;
        if lower < upper && upper < INFINITE && upper - lower <= most {
            self.stop(Status::GapLimit);
        }
        // Where units are rounded, a tree may be better than another phase's bound.
        let upper = upper.min(beat.shown);
        let lower = lower.min(upper);
        let now = Instant::now();
        let changed = beat.curve.changed(lower, upper);
        if changed && (beat.curve.len() < 16 || now - beat.last >= BEAT) {
            let moment = self.moment(lower, upper);
            beat.curve.push(moment);
        }
        if now - beat.last >= BEAT && !self.interrupted() {
            beat.last = now;
            let progress = self.progress(lower, upper);
            if let Some(pulse) = beat.pulse.as_mut()
                && !pulse(&progress)
            {
                self.interrupted.store(true, Ordering::Relaxed);
                self.stop(Status::Interrupted);
            }
        }
        self.status()
    }

    /// Whether the pulse said to end, even if something else had ended the search before.
    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
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
            lower_cost: moment.lower_cost,
            work: self.work(),
        }
    }

    /// The anytime curve, closed with the final bounds.
    pub fn curve(&self, lower: Cost, upper: Cost) -> Vec<Moment> {
        self.beat().curve.closed(self.moment(lower, upper))
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
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

    /// A bound decided, in a place that is seldom passed: workers count by themselves.
    pub fn decided(&self, bound: Bound) {
        self.add_decided(bound, 1);
    }

    pub fn add_decided(&self, bound: Bound, times: u64) {
        self.decided.add(bound, times);
    }

    /// How often bounds decided in a worker that has ended.
    pub fn add_decisions(&self, decisions: &Decisions) {
        decisions.iter().for_each(|(bound, times)| self.decided.add(bound, times));
    }

    /// Count memory that is taken or, negative, given back. The ledger (`held.rs`) alone does, so
    /// that all of it comes back.
    pub(super) fn add_bytes(&self, bytes: i64) {
        if bytes != 0 {
            let now = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            self.peak_bytes.fetch_max(now, Ordering::Relaxed);
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed).max(0) as u64
    }

    /// Bytes that the run may hold: the limit, or else nine tenths of what the machine can spare.
    pub fn memory(&self) -> u64 {
        *self.memory.get_or_init(|| match self.limits.memory {
            Some(limit) => limit,
            None => match machine::available_memory() {
                Some(free) => (self.bytes() + free) / 10 * 9,
                None => u64::MAX,
            },
        })
    }

    /// Whether this many bytes more are within the memory limit.
    pub fn fits(&self, more: u64) -> bool {
        let all = self.bytes().saturating_add(more);
        (self.limits.memory.is_none() && all <= ALWAYS_FREE) || all <= self.memory()
    }

    /// Count this many bytes if they fit.
    pub(super) fn reserve(&self, more: u64) -> bool {
        let fits = self.fits(more);
        if fits && more > 0 {
            self.add_bytes(more as i64);
            if !self.fits(0) {
                self.add_bytes(-(more as i64));
                return false;
            }
        }
        fits
    }

    /// Kernel calls so far, modulo 2^32: tells what happened earlier and later.
    pub fn clock(&self) -> u32 {
        self.kernel_calls.load(Ordering::Relaxed) as u32
    }

    pub fn work(&self) -> Work {
        Work {
            nodes: self.nodes.load(Ordering::Relaxed),
            kernel_calls: self.kernel_calls.load(Ordering::Relaxed),
            peak_bytes: self.peak_bytes.load(Ordering::Relaxed).max(0) as u64,
            bounds: self.decided.so_far(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped(limits: Limits, slack: Cost, (lower, upper): (Cost, Cost)) -> Option<Status> {
        let scale = Scale::new(1000.0, 0, slack);
        Run::new(limits, scale, None).report(lower, upper)
    }

    #[test]
    fn a_gap_is_small_enough_with_all_that_rounding_may_hide() {
        let tenth = || Limits { gap: 0.1, ..Limits::default() };
        let ends = |slack, left: Cost| stopped(tenth(), slack, (500, 500 + left));
        assert_eq!(ends(0, 100), Some(Status::GapLimit));
        assert_eq!(ends(0, 101), None);
        assert_eq!(ends(20, 80), Some(Status::GapLimit));
        assert_eq!(ends(20, 81), None);
        assert_eq!(ends(200, 1), None);
        // Where nothing is left the search ends by itself.
        assert_eq!(ends(0, 0), None);
    }

    #[test]
    fn the_first_reason_to_stop_stays() {
        let run = Run::new(Limits::default(), Scale::new(1.0, 0, 0), None);
        run.stop(Status::MemoryLimit);
        run.stop(Status::Interrupted);
        assert_eq!(run.stopped(), Some(Status::MemoryLimit));
    }

    #[test]
    fn a_part_has_what_is_left_and_gives_its_work_back() {
        let limits = Limits {
            time: Some(Duration::from_secs(100)),
            memory: Some(1000),
            gap: 0.5,
            ..Limits::default()
        };
        let scale = Scale::new(1.0, 0, 0);
        let run = Run::new(limits, scale, None);
        run.add_bytes(300);
        let part = run.part(scale, Box::new(|_| true));
        assert_eq!((part.limits().memory, part.limits().gap), (Some(700), 0.0));
        assert!(part.limits().time.is_some_and(|time| time <= Duration::from_secs(100)));
        part.add_nodes(3);
        part.add_kernel_calls(5);
        part.add_bytes(200);
        part.add_bytes(-200);
        run.absorb(&part);
        let work = run.work();
        assert_eq!((work.nodes, work.kernel_calls, work.peak_bytes), (3, 5, 500));
        assert_eq!(run.bytes(), 300);
        assert!(run.fits(700) && !run.fits(701));
        assert!(!run.reserve(701) && run.reserve(700) && run.bytes() == 1000);
    }

    #[test]
    fn an_interrupted_part_stops_nothing_else_but_a_limit_does() {
        let scale = Scale::new(1.0, 0, 0);
        for (status, expected) in
            [(Status::Interrupted, None), (Status::TimeLimit, Some(Status::TimeLimit))]
        {
            let run = Run::new(Limits::default(), scale, None);
            let part = run.part(scale, Box::new(|_| true));
            part.stop(status);
            run.absorb(&part);
            assert_eq!(run.stopped(), expected);
        }
    }
}
