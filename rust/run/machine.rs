//! What the machine has left.

use std::fs::read_to_string;

/// Bytes of memory that can be taken without swapping, where the system tells: Linux does.
pub fn available_memory() -> Option<u64> {
    let free = meminfo(&read_to_string("/proc/meminfo").ok()?)?;
    // A container may allow less than the machine has.
    let number = |path: &str| read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = [
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ];
    let left =
        group.iter().find_map(|(most, used)| Some(number(most)?.saturating_sub(number(used)?)));
    Some(left.map_or(free, |left| left.min(free)))
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
}
