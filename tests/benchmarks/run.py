"""Print measures beside baseline and budget: `python tests/benchmarks/run.py [start|keystroke|evaluate|search]`.

Exits with 1 if a budget is missed. Run it on a quiet machine; the ratios say more than the seconds.
"""

import sys

from measure import evaluation, keystrokes, many_configurations, start_and_memory, table

PARTS = {
    "start": start_and_memory,
    "keystroke": keystrokes,
    "evaluate": evaluation,
    "search": many_configurations,
}


def main() -> int:
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    late = False
    for name in sys.argv[1:] or PARTS:
        measures = PARTS[name]()
        print(table(measures), flush=True)
        late = late or not all(each.met for each in measures)
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
