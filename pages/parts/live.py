"""Results on a page: stored ones at once, others as their trials arrive."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import streamlit as st

from cpp_core import Cost, Experiment, Results, Store, cost, default_store, run
from cpp_core.jobs import Job, Jobs
from cpp_core.runs import scheduler_from_environment
from cpp_core.sentences import counted
from cpp_core.words import duration

Draw = Callable[[Results], None]
T = TypeVar("T")

AUTOMATIC_SECONDS = 4.0
"""Runs that take no longer than this start by themselves."""

PATIENCE = 1.5


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The store that all sessions share."""
    return default_store()


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The background runs of all sessions."""
    return Jobs(store(), scheduler=scheduler_from_environment())


@st.cache_resource(show_spinner=False)
def estimators() -> ThreadPoolExecutor:
    """Threads that time pilots."""
    return ThreadPoolExecutor(1, thread_name_prefix="pilot")


@st.cache_resource(show_spinner=False)
def students() -> ThreadPoolExecutor:
    """Threads that study cases."""
    return ThreadPoolExecutor(2, thread_name_prefix="study")


@st.cache_resource(max_entries=64, show_spinner=False)
def estimate(
    key: tuple[str, ...], trials: int, stored: int, _experiment: Experiment
) -> Future[Cost]:
    """A pilot's estimate of the cost, on its way."""
    return estimators().submit(cost, _experiment, trials, store=store())


@st.cache_resource(max_entries=16, show_spinner=False)
def stored_results(
    keys: tuple[str, ...], trials: int, seed: int, _experiment: Experiment
) -> Results:
    """Results whose trials are all stored."""
    return run(_experiment, trials, seed, store=store())


def keys_of(experiment: Experiment, seed: int) -> tuple[str, ...]:
    """Names of all algorithms' numbers."""
    return tuple(experiment.key(name, seed) for name in experiment.algorithms)


def stored_trials(keys: tuple[str, ...], trials: int) -> int:
    """How many of the trials are stored for all algorithms."""
    common = set.intersection(*(set(store().stored(key)) for key in keys))
    return sum(trial < trials for trial in common)


def live(experiment: Experiment, trials: int, seed: int, draw: Draw, place: str) -> None:
    """Draw results: stored ones at once; a running job's as they come; else offer to run it.

    ``place`` tells the widgets of several results on one page apart.
    """
    job = jobs().find(experiment, trials, seed)
    if job is not None and job.abandoned:
        job = jobs().start(experiment, trials, seed)  # nobody cancelled it: the tab was hidden
    if job is not None and job.state == "running":
        _watch(job, draw, place)
        return
    if job is not None and job.state == "done" and job.results is not None:
        _tell_problem(job.results)
        draw(job.results)
        return
    keys = keys_of(experiment, seed)
    stored = stored_trials(keys, trials)
    if stored == trials:
        draw(stored_results(keys, trials, seed, experiment))
        return
    if job is not None and job.state == "failed":
        st.error(f"The run stopped: {job.error} What was computed is kept.")
    _offer(experiment, trials, seed, keys, stored, place, job)
    if job is not None and job.results is not None and len(job.results.trials):
        draw(job.results)


def _offer(
    experiment: Experiment,
    trials: int,
    seed: int,
    keys: tuple[str, ...],
    stored: int,
    place: str,
    job: Job | None,
) -> None:
    """Say what the run will cost, with a button; short ones start by themselves."""
    pending = estimate(keys, trials, stored, experiment)
    wait([pending], PATIENCE)
    missing = trials - stored
    fits = experiment.sizes.fits * missing * len(experiment.algorithms)
    line = counted(fits, "training run")
    if not pending.done():
        line += "; timing one trial ..."
    elif pending.exception() is not None:
        st.warning(f"This cannot be computed: {pending.exception()}")
        return
    else:
        found = pending.result()
        line += f", about {duration(found.seconds)}"
        if job is None and found.seconds <= AUTOMATIC_SECONDS:
            _watch(jobs().start(experiment, trials, seed), lambda results: None, place)
            st.rerun()
    line += f". {stored:,} of {counted(trials, 'trial')} stored."
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Go on" if stored else "Run"
        if st.button(label, key=f"run-{place}", type="primary", icon="▶️"):
            jobs().start(experiment, trials, seed)
            st.rerun()
        st.markdown(line)


def _watch(job: Job, draw: Draw, place: str) -> None:
    """Progress, Cancel and what has arrived so far, drawn anew every second."""

    @st.fragment(run_every=1.0)
    def watched() -> None:
        job.renew()
        if job.state != "running":
            st.rerun()
        left = "" if job.seconds_left is None else f", about {duration(job.seconds_left)} left"
        text = f"{job.done:,} of {counted(job.asked, 'trial')}{left}"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(job.done / job.asked, text=text, width="stretch")
            if st.button("Cancel", key=f"cancel-{place}"):
                job.cancel()
                st.rerun()
        results = job.results
        if results is not None and len(results.trials):
            _tell_problem(results)
            draw(results)

    watched()


def awaited(pending: Future[T], words: str) -> T | None:
    """What a study finds; until then None, and words on the page that is looked at again."""
    wait([pending], PATIENCE)
    if pending.done():
        return pending.result()
    start = time.monotonic()

    @st.fragment(run_every=1.0)
    def waiting() -> None:
        if pending.done():
            st.rerun()
        st.info(f"{words} {time.monotonic() - start + PATIENCE:.0f} s so far.", icon="⏳")

    waiting()
    return None


def _tell_problem(results: Results) -> None:
    if results.problem:
        st.caption(f"Note: {results.problem}")
