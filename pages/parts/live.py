"""Results on a page: stored ones at once, others as their trials arrive."""

from collections.abc import Callable
from concurrent.futures import wait
from typing import Any, TypeVar
from uuid import uuid4
from weakref import ref

import streamlit as st

from cpp_core import Experiment, Results, Store, default_store
from cpp_core.trials.budget import BudgetError
from cpp_core.trials.children import RunError
from cpp_core.trials.gathered import gathered_from
from cpp_core.trials.jobs import Job, Jobs
from cpp_core.trials.running import scheduler_from_environment
from cpp_core.trials.watching import Watched
from cpp_core.verdicts.language import counted, duration
from cpp_core.verdicts.texts import late_words, waiting_words
from pages.parts.keeping import RESULTS
from pages.parts.own import held

Draw = Callable[[Results], None]
Again = Callable[[float | None], None]
T = TypeVar("T")

UNASKED_SECONDS = 30.0
"""A run starts by itself; it pauses after its first trials if the rest takes longer than this."""

MOMENT = 0.5
"""Seconds that a page waits for what may come at once."""


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The store that all sessions share."""
    return default_store()


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The background runs of all sessions."""
    return Jobs(store(), scheduler=scheduler_from_environment())


def stored_results(experiment: Experiment, trials: int, seed: int) -> Results | None:
    """Results whose trials are all stored; None where a block turns out to be damaged."""
    key = experiment, trials, seed

    def load() -> Results:
        return gathered_from(experiment, trials, seed, store()).results(store().problem)

    results = RESULTS.get(key, load)
    if len(results.trials) == trials:
        return results
    RESULTS.drop(key)
    return None


def found_again(results: Results) -> Callable[[], Results]:
    """A way to results that does not hold them: whoever left would keep them in memory.

    Where they are gone they are read from the store; a run that could not be stored is lost once
    others have taken its place.
    """
    known, key = ref(results), (results.experiment, results.asked, results.seed)

    def found() -> Results:
        own = known()
        again = stored_results(*key) if own is None else own
        if again is None:
            raise ValueError("These results are gone: open the page again.")
        return again

    return found


def keys_of(experiment: Experiment, seed: int) -> tuple[str, ...]:
    """Names of all algorithms' numbers."""
    return tuple(experiment.key(name, seed) for name in experiment.entries)


def stored_trials(keys: tuple[str, ...], trials: int) -> int:
    """How many of the trials are stored for all algorithms."""
    common = set.intersection(*(set(store().stored(key)) for key in keys))
    return sum(trial < trials for trial in common)


def visitor() -> str:
    """A name for this session."""
    return st.session_state.setdefault("_visitor", uuid4().hex)


def left_behind() -> set[Job | Watched[Any]]:
    """Work that this visitor has cancelled while others go on to wait for it."""
    return st.session_state.setdefault("_left_behind", set())


def _cancel(work: Job | Watched[Any]) -> None:
    """Stop the work, or only this visitor's part in it, and draw the page anew."""
    if not work.cancel(visitor()):
        left_behind().add(work)
    st.rerun()


def _rejoin(work: Job | Watched[Any], place: str) -> None:
    """Offer to watch again what others have kept going."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Watch", key=f"watch-{place}", type="primary", icon="▶️"):
            left_behind().discard(work)
            st.rerun()
        st.markdown("Cancelled here. It goes on for somebody else who watches it.")


def live(experiment: Experiment, trials: int, seed: int, draw: Draw, place: str) -> None:
    """Draw results: stored ones at once, others as their trials arrive; none above the budget.

    ``place`` tells the widgets of several results on one page apart.
    """
    try:
        jobs().cost(experiment, trials, seed)
        job = jobs().find(experiment, trials, seed)
        if job is None and stored_trials(keys_of(experiment, seed), trials) == trials:
            results = stored_results(experiment, trials, seed)
            if results is not None:
                draw(results)
                return
        if job is None:
            job = jobs().start(experiment, trials, seed, UNASKED_SECONDS)
            job.wait(MOMENT)
        elif job.abandoned and job not in left_behind():  # the tab was closed or hidden
            job = jobs().start(experiment, trials, seed, job.limit)
        elif job.short:  # its first trials were slow, those under way since then were not
            job = jobs().start(experiment, trials, seed)
    except BudgetError as error:
        st.warning(f"Nothing is computed. {error}")
        return
    if job.state == "running" and job in left_behind():
        _rejoin(job, place)
        _draw(job, draw)
        return
    if job.state == "running":
        _watch(job, draw, place)
        return
    if job.state == "failed":
        st.error(f"The run stopped: {job.error} What was computed is kept.")
    if job.state != "done":
        _offer(job, place)
    _draw(job, draw)


def _offer(job: Job, place: str) -> None:
    """Say what the rest will cost, with a button."""
    fits = job.experiment.sizes.fits * (job.asked - job.done) * len(job.experiment.algorithms)
    time_left = ""
    if job.seconds_left is not None:
        time_left = f", about {duration(job.seconds_left)} at the pace so far"
    stored = f"{job.done:,} of {counted(job.asked, 'trial')} stored"
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Go on" if job.done else "Run"
        if st.button(label, key=f"run-{place}", type="primary", icon="▶️"):
            try:
                jobs().start(job.experiment, job.asked, job.seed)
            except BudgetError as error:
                st.warning(str(error))
            else:
                st.rerun()
        st.markdown(f"{stored}. The rest: {counted(fits, 'training run')}{time_left}.")


def _watch(job: Job, draw: Draw, place: str) -> None:
    """Progress, Cancel and what has arrived so far, drawn anew every second."""

    @st.fragment(run_every=1.0)
    def watched() -> None:
        job.renew(visitor())
        held()  # who watches has not left
        if job.state != "running":
            st.rerun()
        left = _left(job.behind, job.seconds_left)
        text = f"{job.done:,} of {counted(job.asked, 'trial')}{left}"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(job.done / job.asked, text=text, width="stretch")
            if st.button("Cancel", key=f"cancel-{place}"):
                _cancel(job)
        _draw(job, draw)

    watched()


def _left(behind: int, seconds: float | None) -> str:
    """How long it takes, or why it stands still."""
    if behind:
        return waiting_words(behind)
    return "" if seconds is None else f", about {duration(seconds)} left"


def _draw(job: Job, draw: Draw) -> None:
    """What has arrived, once trial 0 has: that one carries the promise."""
    results = job.results
    if results is None or 0 not in results.trials:
        return
    if results.problem:
        st.caption(f"Note: {results.problem}")
    draw(results)


def _offer_again(why: str, again: Again, place: str) -> None:
    """Say why a study has ended, with a button that starts it anew, for as long as it takes."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Run", key=f"run-{place}", type="primary", icon="▶️"):
            again(None)
            st.rerun()
        st.markdown(why)


def awaited(
    study: Watched[T],
    again: Again,
    words: str,
    fits: int,
    place: str,
    moment: float = MOMENT,
) -> T | None:
    """What a study finds; until then None, with progress and Cancel on the page.

    ``again`` starts a study anew that was stopped, with a limit in seconds where nobody asked for
    it. Before it shows progress, the page waits a ``moment``, in seconds.
    """
    if study in left_behind() and not study.pending.done():
        _rejoin(study, place)
        return None
    study.watchers.renew(visitor())
    wait([study.pending], moment)
    cancelled = study.cancelled or study in left_behind()
    if study.late and study.limit and study.stopped:
        left = study.seconds_left(fits)
        _offer_again(late_words(study.limit, min(study.done, fits), fits, left), again, place)
        return None
    if study.stopped and not cancelled:  # the tab was closed or hidden
        again(study.limit)
        st.rerun()
    if study.stopped:
        _offer_again(f"Cancelled after {counted(study.done, 'training run')}.", again, place)
        return None
    if study.pending.done():
        error = study.pending.exception()
        if error is None:
            return study.pending.result()
        if isinstance(error, RunError):
            _offer_again(str(error), again, place)
            return None
        # A new one: the same would remember the frames of each visitor whom it was told.
        raise type(error)(*error.args) from None

    @st.fragment(run_every=1.0)
    def waiting() -> None:
        study.watchers.renew(visitor())
        held()
        if study.pending.done():
            st.rerun()
        done = min(study.done, fits)
        with st.container(horizontal=True, vertical_alignment="center"):
            left = _left(study.behind, study.seconds_left(fits))
            text = f"{words}: {done:,} of {counted(fits, 'training run')}{left}"
            st.progress(done / fits, text=text, width="stretch")
            if st.button("Cancel", key=f"cancel-{place}"):
                _cancel(study)

    waiting()
    return None
