//! What the machine has left.

use std::fs::read_to_string;

/// Bytes of memory that can be taken without swapping, where the system tells: Linux does.
pub fn available_memory() -> Option<u64> {
    left(|path| read_to_string(path).ok())
}

/// What the files of this name say.
fn left(read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let free = meminfo(&read("/proc/meminfo")?)?;
    // A container may allow less than the machine has.
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let group = [
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ];
    let allowed =
        group.iter().find_map(|(most, used)| Some(number(most)?.saturating_sub(number(used)?)));
    Some(allowed.map_or(free, |allowed| allowed.min(free)))
}

fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found() {
        let text = "MemTotal:       24684100 kB\nMemFree:   1 kB\nMemAvailable:   23803724 kB\n";
        assert_eq!(meminfo(text), Some(23_803_724 * 1024));
        assert_eq!(meminfo("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn a_container_has_what_it_may_still_take() {
        let machine = |group: &'static [(&str, &str)]| {
            left(|path| {
                let mut files = [("/proc/meminfo", "MemAvailable: 8 kB\n")].iter().chain(group);
                files.find(|file| file.0 == path).map(|file| file.1.to_owned())
            })
        };
        let (most, used) = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current");
        assert_eq!(machine(&[]), Some(8192));
        assert_eq!(left(|_| None), None);
        // Allowed are 5,000 bytes, of which 3,000 are taken; or more than the machine has.
        for (allowed, free) in [("5000\n", 2_000), ("90000\n", 8_192), ("max\n", 8_192)] {
            let group: &'static [(&str, &str)] =
                Box::leak(Box::new([(most, allowed), (used, "3000\n")]));
            assert_eq!(machine(group), Some(free), "{allowed}");
        }
        let older = "/sys/fs/cgroup/memory/memory.limit_in_bytes";
        let taken = "/sys/fs/cgroup/memory/memory.usage_in_bytes";
        let group: &'static [(&str, &str)] =
            Box::leak(Box::new([(older, "5000"), (taken, "9000")]));
        assert_eq!(machine(group), Some(0), "more is taken than is allowed");
    }
}
