"""The Markdown table of a comparison, from its results."""

import statistics

from sides import SIDES, Torch


def number(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def time_cell(result, name):
    if name in result["failed"]:
        return "failed: " + result["failed"][name].replace("|", "/")
    if name not in result["rounds_ms"]:
        return "-"
    return number(result.get("median_ms", {}).get(name), 1)


def rate_cell(result, name):
    """Images/s of all devices."""
    if name not in result.get("median_ms", {}):
        return time_cell(result, name)
    return number(1e3 * result["batch"] * result["devices"] / result["median_ms"][name], 2)


def with_rounds(value, rounds):
    return f"{value:.2f} ({min(rounds):.2f} - {max(rounds):.2f})"


def ratio_cell(result, name):
    return with_rounds(result["ratio"][name], result["round_ratios"][name]) if name in result.get("ratio", {}) else ""


def speedup_cell(result, name):
    speedups = result.get("speedup", {})
    return with_rounds(speedups[name], result["round_speedups"][name]) if name in speedups else ""


def memory_ratio(result, name):
    memory = result["memory_mib"]
    return memory[name] / memory["tacho"] if name in memory and "tacho" in memory else None


def difference_cell(result, name):
    return f"{result['differences'][name]:.1e}" if name in result["differences"] else ""


def columns(peers, scaling):
    """Title and cell of each column; the first ones are text or plain numbers of the case."""
    found = [("model", lambda r: r["model"]), ("mode", lambda r: r["mode"]), ("batch", lambda r: str(r["batch"]))]
    if scaling:
        found.append(("devices", lambda r: str(r["devices"])))
    for name in ["tacho"] + peers:
        title, cell = ("images/s", rate_cell) if scaling else ("ms", time_cell)
        found.append((f"{SIDES[name].title} {title}", lambda r, n=name, c=cell: c(r, n)))
    for name in peers:
        title = f"tacho / {SIDES[name].title}" if scaling else f"{SIDES[name].title} / tacho"
        found.append((f"{title} (rounds)", lambda r, n=name: ratio_cell(r, n)))
    for name in ["tacho"] + peers if scaling else []:
        found.append((f"{SIDES[name].title} speed-up (rounds)", lambda r, n=name: speedup_cell(r, n)))
    for name in ["tacho"] + peers:
        found.append((f"{SIDES[name].title} MiB", lambda r, n=name: number(r["memory_mib"].get(n), 0)))
    for name in peers:
        found.append((f"{SIDES[name].title} / tacho MiB", lambda r, n=name: number(memory_ratio(r, n), 2)))
    for name in [] if scaling else peers:
        found.append((f"{SIDES[name].title} difference", lambda r, n=name: difference_cell(r, n)))
    for name in peers:
        if issubclass(SIDES[name], Torch):
            found.append((f"{SIDES[name].title} variant", lambda r, n=name: r["about"].get(n, {}).get("variant", "")))
    return found


def line(cells):
    return "| " + " | ".join(cells) + " |"


def means(results, peers):
    lines = []
    for name in peers:
        for mode in ("infer", "train"):
            mine = [result for result in results if result["mode"] == mode and name not in result["failed"]]
            times = [result["ratio"][name] for result in mine if name in result.get("ratio", {})]
            memories = [ratio for result in mine if (ratio := memory_ratio(result, name))]
            if times and memories:
                lines.append(f"- {SIDES[name].title}, {mode}: time {statistics.geometric_mean(times):.2f}, "
                             f"memory {statistics.geometric_mean(memories):.2f}")
    if not lines:
        return []
    return ["", "Geometric means of peer / tacho (above 1 tacho is better):", ""] + lines


def trial_text(trial):
    if "failed" in trial:
        return f"{trial['variant']} failed: {trial['failed']}"
    compiling = f", compiled in {trial['compile_s']:.0f} s" if "compile_s" in trial else ""
    return f"{trial['variant']} {trial['ms']:.1f} ms{compiling}"


def trials(results):
    """What each PyTorch was tried as, once for all numbers of devices."""
    lines = {}
    for result in results:
        for name, about in result["about"].items():
            if about.get("trials"):
                case = f"{SIDES[name].title}, {result['model']} {result['mode']} batch {result['batch']}"
                lines[case] = f"- {case}: " + "; ".join(map(trial_text, about["trials"]))
    return ["", "Trials of variants, of which the fastest is compared:", "", *lines.values()] if lines else []


def table(results, peers):
    timed = any(result.get("median_ms") for result in results)
    scaling = any(result["devices"] > 1 for result in results)
    shown = [(title, cell) for title, cell in columns(peers, scaling) if timed or not title.endswith(("MiB", "(rounds)"))]
    lines = [line(title for title, _ in shown), "|---|---|" + "---:|" * (len(shown) - 2)]
    lines += [line(cell(result) for _, cell in shown) for result in results]
    return "\n".join(lines + ([] if scaling else means(results, peers)) + trials(results))
