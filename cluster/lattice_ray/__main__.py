"""Command line: `python -m lattice_ray up|down|status`, run on a node of the cluster."""

import argparse
import json
import os
import re
import shlex
import socket
import sys
import threading
from pathlib import Path

import ray

from lattice_ray.nodes import answering
from lattice_ray.pool import SETTLED_S, Pool, View
from lattice_ray.settings import Settings, UsageError, plan
from lattice_ray.supervisor import unconnected

WORKER = Path(__file__).resolve().parents[2] / "dist" / "worker.js"
SILENCE_S = 30.0
NOT_OURS = {"8265": "Ray's dashboard", "10001": "Ray's remote clients"}
SECRET = re.compile(r"(TOKEN|SECRET|PASSWORD|KEY)$")


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The parsed command line."""
    parser = argparse.ArgumentParser(prog="lattice_ray", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    up = verbs.add_parser("up", help="start and replace workers as given; safe to repeat")
    up.add_argument("--workers", default="auto", help="a number, or auto (as many as the GPUs)")
    up.add_argument("--service", required=True, help="ws://HOST:PORT of the service")
    up.add_argument("--command", default=f"node {shlex.quote(str(WORKER))}")
    up.add_argument("--env", action="append", default=[], metavar="KEY=VALUE")
    up.add_argument("--gpus-per-worker", type=float, help="1 if there are GPUs; 0 for CPUs only")
    up.add_argument(
        "--cpus-per-worker", type=float, help="default: a node's CPUs minus one, divided"
    )
    up.add_argument("--restart", action="store_true", help="replace every worker, one by one")
    up.add_argument(
        "--take-over", action="store_true", help="replace workers that belong to another service"
    )
    up.add_argument(
        "--after", metavar="SERVICE", help="the namespace is that service's, if it answers and no other is known"
    )
    down = verbs.add_parser("down", help="drain the workers and remove them")
    for verb in (up, down):
        verb.add_argument("--grace", type=float, default=30.0, help="seconds a drain may take")
    up.add_argument("--wait", type=float, default=20.0, help="seconds to wait for a worker's start")
    status = verbs.add_parser("status", help="show the workers")
    status.add_argument("--json", action="store_true")
    for verb in (up, down, status):
        verb.add_argument("--namespace", default="lattice")
        verb.add_argument(
            "--address", default="auto", help="HOST:6379; default: this node's cluster"
        )
    return parser.parse_args(argv)


def child_variables(pairs: list[str]) -> dict[str, str]:
    """`KEY=VALUE` pairs as a table. Refuses secrets: Ray's dashboard shows command lines."""
    table = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"--env {pair}: write KEY=VALUE.")
        if SECRET.search(key):
            raise UsageError(
                f"--env {key}: put the secret in a file on the nodes and name the file."
            )
        table[key] = value
    return table


def up(options: argparse.Namespace, pool: Pool) -> int:
    """0 when the workers run or wait for a place, 1 when one does not start."""
    settings = Settings(
        command=tuple(shlex.split(options.command)),
        service=options.service,
        env=child_variables(options.env),
    )
    auto = options.workers == "auto"
    living = answering(ray.nodes())
    wanted = plan(
        [node["Resources"] for node in living],
        None if auto else int(options.workers),
        options.gpus_per_worker,
        options.cpus_per_worker,
    )
    well = pool.bring_up(
        wanted,
        settings,
        options.cpus_per_worker,
        hosts=[
            node["NodeID"]
            for node in living
            if node["Resources"].get("CPU", 0) >= max(1.0, wanted.share.cpus)
        ],
        after=options.after,
        take_over=options.take_over,
        shrink=not auto,
        restart=options.restart,
        grace_s=options.grace,
        patience_s=options.wait,
    )
    views = pool.views(3.0)
    print_table(views)
    return 0 if well else 1


def check(options: argparse.Namespace) -> None:
    """Refuses wrong options before it connects to the cluster. Raises UsageError."""
    if options.verb != "up":
        return
    if not re.match(r"wss?://[^/]+", options.service):
        raise UsageError(f"--service {options.service}: write ws://HOST:PORT or wss://HOST:PORT.")
    if options.workers != "auto" and not options.workers.isdecimal():
        raise UsageError(f"--workers {options.workers}: write a number or auto.")
    if not options.command.strip():
        raise UsageError("--command is empty: name the program that each worker runs.")
    child_variables(options.env)


def connect(options: argparse.Namespace) -> None:
    """Joins the cluster as a driver. Raises UsageError; ends the process if Ray does not answer within 30 s."""
    known = os.environ.get("RAY_ADDRESS", "") if options.address == "auto" else options.address
    host, _, port = known.rpartition(":")
    if port in NOT_OURS:
        raise unreachable(known, f"that is the port of {NOT_OURS[port]}")
    if host and port.isdecimal():  # Ray itself would try a closed port for minutes
        try:
            socket.create_connection((host, int(port)), timeout=3).close()
        except OSError as error:
            raise unreachable(known, error.strerror or str(error)) from error
    watch = threading.Timer(SILENCE_S, give_up, [unreachable(known or "auto", "no answer")])
    watch.daemon = True
    watch.start()
    try:
        ray.init(
            address=options.address,
            namespace=options.namespace,
            log_to_driver=False,
            logging_level="ERROR",
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise unreachable(options.address, str(error).splitlines()[0]) from error
    finally:
        watch.cancel()


def unreachable(address: str, reason: str) -> UsageError:
    """The error for a cluster that cannot be reached, with its address."""
    return UsageError(
        f"No Ray cluster at {address} ({reason}): run this on a node of the cluster, or give --address HOST:6379."
    )


def give_up(refusal: UsageError) -> None:
    """Prints the error and ends the process, from another thread."""
    print(refusal, file=sys.stderr, flush=True)
    os._exit(2)


def print_table(views: list[View]) -> None:
    """One line per worker, and the last lines of output of workers that do not run or are not connected."""
    row = "{:<12} {:<10} {:<12} {:>8} {:<6} {:>8} {:>9}".format
    print(row("worker", "state", "node", "pid", "gpus", "restarts", "last exit"))
    for view in views:
        gpus = ",".join(str(gpu) for gpu in view.get("gpus", []))
        cells = [
            view.get("node", "")[:12],
            view["pid"],
            gpus,
            view["restarts"],
            view.get("last_exit"),
        ]
        shown = ["-" if cell in (None, "") else cell for cell in cells]
        print(row(view["worker"], view["state"], *shown))
        dies = view["restarts"] and (view.get("life_s") or 0) < SETTLED_S
        if view["state"] != "running" or dies:
            shown_lines = view["stderr"][-5:]
        else:
            shown_lines = unconnected(view["stderr"])
        for line in shown_lines:
            print(f"    {line}")


def main(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit code."""
    try:
        check(options)
        connect(options)
        pool = Pool(lambda line: print(line, flush=True))
        if options.verb == "up":
            return up(options, pool)
        if options.verb == "down":
            pool.remove_all(options.grace)
            return 0
        views = pool.views(3.0)
        if options.json:
            print(json.dumps({"namespace": options.namespace, "workers": views}))
        else:
            print_table(views)
        return 0
    except UsageError as refusal:
        print(refusal, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(arguments()))
