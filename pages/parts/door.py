"""The one door between the link and the controls: ids in the link, labels on the page.

A run enters through it: what the link says becomes known, and what it says wrongly is passed over.
Controls show what is known, and tell it what the visitor chooses. Then the run leaves through it:
what is known is written to the link. Streamlit's own binding of controls to the link would write
labels, and fails at numbers such as ``1e999``.
"""

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.parts.entries import ENTRIES, Texts, written

Link = dict[str, Texts]
Untold = dict[str, list[Any] | None]
Following = tuple[DeltaGenerator, Callable[[], Any]]

KNOWN, SHOWN, STARTS = "_known", "_shown", "_starts"
"""In the session: values by key, and where controls start: in this run, and in any."""

UNTOLD, SENT, TOUCHED, TWINS = "_untold", "_sent", "_touched", "_twins"
"""In the session: widgets whose values the browser may not have yet, with what it may hold
instead; since when these are on their way; whether the visitor has chosen anything; twins."""

LEFT, WHERE, GO = "_link", "_where", "_go"
"""In the session: the link as it was left, on which page, and to which page to go instead."""

AWAY = "_away"
"""In the session: whether the visitor comes from a page whose link is not ours to read."""

FOLLOWING, WHOLE = "_following", "_whole"
"""In the session: what follows alpha beside the answer, with its places; and whether the last run
has drawn the whole page."""

OWN = "_own"
"""In the session: what is known of controls that only the present page has."""

DELIVERY = 0.03
"""Seconds in which an answer leaves the server, three of Streamlit's intervals."""


class Twin(NamedTuple):
    """One of several widgets for the same setting: its present name, and what it holds."""

    name: str
    holds: Any
    renamed: int = 0


def merged(known: Mapping[str, Any], left: Link, link: Link, whole: bool) -> dict[str, Any]:
    """What is known after a link was opened.

    The ``whole`` truth is a link that somebody opens, or goes back to: what it does not say is not
    known. A link that leads from page to page may have lost something on the way, and tells only
    what it says otherwise than the link that was ``left`` did.
    """
    found = {} if whole else dict(known)
    for key, texts in link.items():
        if not whole and left.get(key) == texts:
            continue
        try:
            found[key] = ENTRIES[key].read(texts)
        except (ValueError, KeyError):
            found.pop(key, None)
    return found


def address() -> Link:
    """What the link says to the controls."""
    return {key: tuple(st.query_params.get_all(key)) for key in st.query_params if key in ENTRIES}


def by_history() -> bool:
    """Whether the visitor went back or forward to this link."""
    run = get_script_run_ctx()
    return run is not None and run.is_history_navigation


def enter(page: str, tells_all: bool = True, reads: bool = True) -> None:
    """Take in what the link says, at the start of a run of the page, which may not tell all.

    Nothing is taken from a link that is not ours to read. The links that lead on from there tell
    all that shall be known, so that a run begins there as the link says it.

    While a visitor stays on a page, the session is newer than the link, which comes with a request
    that may have been sent before the last answer arrived.
    """
    state = st.session_state
    state[FOLLOWING], state[WHOLE] = [], False
    state[UNTOLD], state[SENT] = untold(), None
    if OWN not in state or state.get(WHERE) != page or by_history():
        state[OWN] = {}
        for key in state.get(STARTS, {}):  # the browser draws its controls anew
            _doubt(key, [])
    told_all = by_history() or (state.get(AWAY, False) and bool(address()))
    state[AWAY] = not reads
    whole = KNOWN not in state or (tells_all and told_all)
    if not reads:
        state.setdefault(KNOWN, {})
        state.setdefault(LEFT, {})
    elif whole or state[WHERE] != page or by_history():
        state[KNOWN] = merged(state.get(KNOWN, {}), state.get(LEFT, {}), address(), whole)
        state[LEFT] = address()
    state[WHERE], state[SHOWN] = page, {}


def possible(value: Any, options: Collection[Any]) -> Any:
    """The value as far as it is among the options; None where nothing of it is."""
    if isinstance(value, list):
        kept = [one for one in value if one in options]
        return kept if kept or not value else None
    return value if value in options else None


def value_of(key: str, start: Any, options: Collection[Any] | None = None) -> Any:
    """What is known of a setting, as far as it is among the options; else where it starts."""
    known = st.session_state[KNOWN]
    if key in known and options is not None:
        found = possible(known.pop(key), options)
        known |= {} if found is None else {key: found}
    return known.get(key, start)


def shown(key: str, start: Any, options: Collection[Any] | None = None) -> Any:
    """The value of a setting that this page shows; the link need not say where it starts."""
    st.session_state[SHOWN][key] = st.session_state.setdefault(STARTS, {})[key] = start
    return value_of(key, start, options)


def control(key: str, start: Any, options: Collection[Any] | None = None) -> dict[str, Any]:
    """Arguments that make a widget show a setting, and tell what the visitor chooses."""
    known = list(options or ())
    undrawn = [known[0], None, []] if known else None  # with which a widget begins
    _show(key, shown(key, start, options), undrawn)
    return {"key": key, "on_change": _take, "args": (key,)}


def own(key: str, options: Collection[Any], start: Any) -> dict[str, Any]:
    """Arguments of a widget that only this page has: one of the options, in the link where not
    where it starts.

    A link that says anything else, nothing, or several things is passed over.
    """
    state, said = st.session_state, st.query_params.get_all(key)
    if key not in state[OWN]:
        texts = {text: option for option in options for text in written(option)}
        state[OWN][key] = texts.get(said[0], start) if len(said) == 1 else start
    if state[OWN][key] not in options:  # other choices have made it impossible
        state[OWN][key] = start
    value = state[OWN][key]
    if key not in state or state[key] != value:
        state[key] = value
    should = [] if value == start else list(written(value))
    if should and said != should:
        st.query_params[key] = should
    elif not should and key in st.query_params:
        del st.query_params[key]
    return {"key": key, "on_change": _take_own, "args": (key,)}


def _take_own(key: str) -> None:
    st.session_state[OWN][key] = st.session_state[key]


def forget_own(key: str) -> None:
    """Let a control of this page start anew, whatever its link says."""
    st.session_state[OWN].pop(key, None)
    if key in st.query_params:
        del st.query_params[key]


def untold() -> Untold:
    """Widgets whose values the browser may not have yet, with what it may hold instead.

    None stands for anything. Once the last answer must be out, there are none.
    """
    sent = st.session_state.get(SENT)
    out = sent is not None and time.monotonic() >= sent + DELIVERY
    return {} if out else st.session_state.get(UNTOLD, {})


def _doubt(key: str, undrawn: list[Any] | None) -> None:
    """Note what the browser may hold: what it held before, and the ``undrawn``; None: anything."""
    state = st.session_state
    holds = state[UNTOLD].get(key, [])
    before = [state[key]] if key in state else []
    if holds is None or undrawn is None:
        state[UNTOLD][key] = None
    else:
        more = [value for value in (*before, *undrawn) if value not in holds]
        state[UNTOLD][key] = [*holds, *more]


def _show(key: str, value: Any, undrawn: list[Any] | None) -> None:
    """Make a widget show a value, again and again until the browser must have been told.

    A run that is overtaken by the next one takes its answer back, and a browser that is slow to
    load its controls sees the last answer only. It would show another value, and send that as if
    the visitor had chosen it: what it held before, or one of the ``undrawn``, with which such a
    widget begins (None: anything). What else it sends was chosen, also while the page is drawn.
    """
    state = st.session_state
    if key in state[UNTOLD] or key not in state or state[key] != value:
        _doubt(key, undrawn)
    if key in state[UNTOLD] or not state.get(TOUCHED):
        state[key] = value


def follow(place: DeltaGenerator, draw: Callable[[], Any]) -> None:
    """Let the answer draw this too, in its place, whenever it is drawn: it follows alpha."""
    st.session_state[FOLLOWING].append((place, draw))


def answer_alone() -> None:
    """Let the next run draw only what follows alpha; all, where a run did not come to its end.

    A run that was overtaken has not drawn what was chosen before: nothing of that may get lost.
    """
    if not st.session_state[WHOLE]:
        st.rerun()
    st.session_state[UNTOLD] = untold()
    leave()


def twin(
    setting: str,
    place: str,
    value: Any,
    read: Callable[[Any], Any],
    then: Callable[[], Any] = lambda: None,
) -> dict[str, Any]:
    """Arguments of one of several widgets for the same setting, whose default is the value.

    ``read`` turns what it holds into the setting, ``then`` follows a choice. A widget that holds
    another value, because its twin was moved, gets a new name. Under the old one the browser goes
    on to send what it holds until the answer arrives, and that must not count as the visitor's
    choice.
    """
    twins: dict[str, Twin] = st.session_state.setdefault(TWINS, {})
    before = twins.get(place, Twin(place, value))
    renamed = before.renamed + (before.holds != value)
    name = f"{place}-{renamed}" if renamed else place
    twins[place] = Twin(name, value, renamed)
    return {"key": name, "on_change": _take_twin, "args": (setting, place, name, read, then)}


def _take_twin(
    setting: str, place: str, name: str, read: Callable[[Any], Any], then: Callable[[], Any]
) -> None:
    twins, value = st.session_state[TWINS], st.session_state[name]
    if twins[place].name == name:
        twins[place] = twins[place]._replace(holds=value)
        tell(setting, read(value))
    then()


def is_choice(key: str, value: Any, known: Mapping[str, Any], starts: Mapping[str, Any]) -> bool:
    """Whether a value that the browser sends is another than it was shown.

    A browser that is slow goes on to send what a control held that is no longer on the page. Told
    as a choice it would stand in the link, and the way back would lead to the same view.
    """
    return (key not in known and key not in starts) or value != known.get(key, starts.get(key))


def is_held(key: str, value: Any, doubts: Untold) -> bool:
    """Whether the browser may send a value that nobody chose, as it has not got the present one."""
    holds = doubts.get(key, [])
    return holds is None or value in holds


def _take(key: str) -> None:
    state = st.session_state
    value = state[key]
    if is_choice(key, value, state[KNOWN], state[STARTS]) and not is_held(key, value, untold()):
        tell(key, value)


def tell(key: str, value: Any) -> None:
    """Know a setting that was chosen."""
    st.session_state[KNOWN][key] = value
    st.session_state[TOUCHED] = True


def wanted(known: Mapping[str, Any], shown: Mapping[str, Any], link: Link) -> Link:
    """What the link should say: what is known, but for what starts there; what it says, rightly."""
    said = {key for key in link if key in known or key in shown}
    told = {key for key, value in known.items() if key not in shown or value != shown[key]}
    return {key: written(known.get(key, shown.get(key))) for key in ENTRIES if key in said | told}


def leave(tells_all: bool = True) -> None:
    """Write to the link what is known, or only what this page shows, where it says something else.

    One message writes it all, so that the browser's "back" leads to a view that was there before.
    """
    state, says = st.session_state, address()
    known = state[KNOWN]
    if not tells_all:
        known = {key: value for key, value in known.items() if key in state[SHOWN]}
    should = wanted(known, state[SHOWN], says)
    for key in [key for key, texts in should.items() if not texts and key in says]:
        del st.query_params[key]
    kept = {key: texts for key, texts in should.items() if texts}
    overtaken = state[LEFT] != says  # an earlier answer, which says otherwise, is on its way
    if overtaken or any(says.get(key) != texts for key, texts in kept.items()):
        st.query_params.update(kept)
    state[LEFT] = address()
    state[SENT] = time.monotonic()


def settle() -> None:
    """Let no run end before what it told the controls must be out; drawing mostly takes longer."""
    sent = st.session_state[SENT]
    if sent is not None and st.session_state[UNTOLD]:
        time.sleep(max(sent + DELIVERY - time.monotonic(), 0.0))


def forget(keys: Collection[str]) -> None:
    """Know nothing of some settings any more."""
    for key in keys:
        st.session_state[KNOWN].pop(key, None)


def known(keys: Collection[str]) -> dict[str, Any]:
    """What is known of some settings."""
    return {key: value for key, value in st.session_state[KNOWN].items() if key in keys}


def start_anew(values: Mapping[str, Any], page: str) -> None:
    """Know these values and nothing else; a page that the run shall go to."""
    st.session_state[KNOWN] = dict(values)
    go_to(page)


def go_to(page: str) -> None:
    """Let the next run show another page, with all that is known."""
    st.session_state[GO] = page


def link() -> dict[str, list[str]]:
    """All that is known, as a link to another page says it."""
    return link_of(st.session_state[KNOWN], st.session_state[SHOWN])


def link_of(known: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, list[str]]:
    """These values as a link says them, but for those that controls are shown at anyway."""
    return {key: list(texts) for key, texts in wanted(known, shown, {}).items() if texts}
