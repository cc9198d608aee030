"""A peer that stays up, so that its rounds can alternate with ours. Run by the peers' interpreter, not by ours.

    python search_peer.py BENCH_FOLDER PEER ROWS DIMENSIONS

Prints one JSON line when it has loaded, then one for each line on standard input: `round` times all queries one after
the other, `clients N` lets N threads ask them at once, `recall` compares with the exact neighbours.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    import peers
    from workload import exact_top, generate

    workload = generate(int(sys.argv[3]), int(sys.argv[4]))
    ingest, search, nearest = getattr(peers, sys.argv[2])(workload)

    def timed(query: tuple[str, np.ndarray, int]) -> float:
        begun = time.perf_counter()
        search(*query)
        return 1000 * (time.perf_counter() - begun)

    def percentiles(taken: list[float]) -> dict[str, float]:
        return {f"p{part}": round(float(np.percentile(taken, part)), 2) for part in (50, 95)}

    def clients(count: int) -> dict[str, float]:
        begun = time.perf_counter()
        with ThreadPoolExecutor(count) as pool:
            taken = list(pool.map(timed, workload.queries * 2))
        return {"per_second": round(len(taken) / (time.perf_counter() - begun), 1), **percentiles(taken)}

    def recall() -> dict[str, float]:
        shares, short = [], 0
        for number, (_, vector, org) in enumerate(workload.queries):
            wanted = set(exact_top(workload, number, 10).tolist())
            found = nearest(vector, org)
            shares.append(len(wanted & set(found)) / len(wanted))
            short += len(found) < len(wanted)
        return {"mean": round(float(np.mean(shares)), 4), "worst": round(min(shares), 2), "too_short": short}

    for query in workload.queries:
        timed(query)
    print(json.dumps({"loaded": True, "ingest_s": round(ingest, 1)}), flush=True)
    for line in sys.stdin:
        what, *rest = line.split()
        if what == "round":
            answer = percentiles([timed(query) for query in workload.queries])
        elif what == "clients":
            answer = clients(int(rest[0]))
        else:
            answer = recall()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
