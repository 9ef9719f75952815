"""The gallery of test cases: a wall of pictures, or rows of a table, of which one can be chosen.

A component of our own, because sixty buttons of Streamlit's take seconds to draw and its table
cannot be tapped: the browser lays it out for its width, a key or a finger chooses, and one message
says which. All texts of a table are set as text, never read as HTML.
"""

import base64
import io
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from PIL import Image

from cpp_core.trials.case_study import Study
from cpp_core.trials.gallery import Gallery
from cpp_core.verdicts.case_sentences import VALUES, label_noun, label_of, noun, value_texts
from cpp_core.verdicts.language import sentence
from pages.parts import own

SHOWN = 60
"""Cases of a gallery that are drawn."""
COLUMNS = 6
"""Inputs that a row shows."""

HTML = '<div class="wall" role="group"></div>'
CSS = """
.wall {max-height: 33rem; overflow: auto; font-size: .7rem; color: var(--st-text-color)}
@keyframes cut {0%, 97% {mask-image: linear-gradient(to right, #000 80%, transparent)}
  100% {mask-image: none}}
.wall {animation: cut linear both; animation-timeline: scroll(self inline)}
.wall::-webkit-scrollbar {height: 8px; width: 8px}
.wall::-webkit-scrollbar-thumb {background: rgba(128, 128, 128, .6); border-radius: 4px}
.wall::-webkit-scrollbar-track {background: rgba(128, 128, 128, .15); border-radius: 4px}
.tiles {display: grid; grid-template-columns: repeat(auto-fill, minmax(2.6rem, 1fr)); gap: 2px}
button {font: inherit; color: inherit; background: none; padding: 2px; cursor: pointer;
  border: 2px solid transparent; border-radius: 6px; text-align: center; min-width: 0}
button[aria-pressed=true], tr[aria-selected=true] {
  border-color: var(--st-primary-color); outline: 2px solid var(--st-primary-color);
  outline-offset: -2px; font-weight: 700}
button:hover, tbody tr:hover {background: var(--st-secondary-background-color)}
.paper {display: block; background: color-mix(in srgb, var(--tint) var(--depth), white);
  border-radius: 2px}
img {display: block; width: 100%; aspect-ratio: 1; image-rendering: pixelated;
  mix-blend-mode: multiply}
table {border-collapse: collapse; width: 100%; font-size: .8rem}
th {position: sticky; top: 0; background: var(--st-background-color); font-weight: 400;
  text-align: right; padding: .2rem .4rem; opacity: .85}
td {text-align: right; padding: .2rem .4rem; white-space: nowrap;
  border-top: 1px solid var(--st-border-color)}
td:nth-child(2) {background: color-mix(in srgb, var(--tint) var(--depth), transparent)}
tbody tr {cursor: pointer}
.wall {--tint: #5B5BD6}
@media (max-width: 640px) {.wall {max-height: 15.5rem}}
"""
JS = """
export default function ({ data, parentElement, setTriggerValue }) {
  const wall = parentElement.querySelector('.wall')
  const focused = parentElement.activeElement !== null
  const make = (tag, text, settings = {}) =>
    Object.assign(document.createElement(tag), { textContent: text, ...settings })
  const mark = (chosen) => {
    for (const one of wall.querySelectorAll('[data-case]')) {
      const state = String(one.dataset.case === String(chosen))
      one.setAttribute(one.tagName === 'TR' ? 'aria-selected' : 'aria-pressed', state)
    }
  }
  const choosable = (element, item) => {
    element.dataset.case = item.case
    element.style.setProperty('--depth', item.depth + '%')
    element.setAttribute('aria-label', item.label)
    element.title = item.label
    element.onclick = () => { mark(item.case); setTriggerValue('chosen', item.case) }
    return element
  }
  const tile = (item) => {
    const button = choosable(make('button', ''), item)
    const paper = make('span', '', { className: 'paper' })
    paper.append(make('img', '', { src: item.image, alt: '' }))
    button.append(paper, make('span', item.value))
    return button
  }
  const row = (item) => {
    const line = choosable(make('tr', '', { tabIndex: 0 }), item)
    line.onkeydown = (event) => { if (event.key === 'Enter') line.click() }
    line.append(...item.cells.map((text) => make('td', text)))
    return line
  }
  wall.setAttribute('aria-label', data.heading)
  if (data.columns) {
    const table = make('table', ''), head = make('thead', ''), body = make('tbody', '')
    const names = make('tr', '')
    names.append(...data.columns.map((text) => make('th', text)))
    head.append(names)
    body.append(...data.items.map(row))
    table.append(head, body)
    wall.replaceChildren(table)
  } else {
    const tiles = make('div', '', { className: 'tiles' })
    tiles.append(...data.items.map(tile))
    wall.replaceChildren(tiles)
  }
  mark(data.chosen)
  const chosen = wall.querySelector('[aria-pressed=true], [aria-selected=true]')
  if (chosen && focused) chosen.focus()
}
"""
_wall = st.components.v2.component("case_wall", html=HTML, css=CSS, js=JS)


@lru_cache(maxsize=4096)
def _uri(pixels: bytes, shape: tuple[int, ...]) -> str:
    buffer = io.BytesIO()
    Image.fromarray(np.frombuffer(pixels, np.uint8).reshape(shape)).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def picture_uri(picture: NDArray) -> str:
    """The picture of a case, inside the page: without a request."""
    return _uri(picture.tobytes(), picture.shape)


def row_name(study: Study, case: int) -> str:
    """What the visitor's own table calls the row; nothing where nobody said which column does."""
    names = own.row_names(study.experiment.dataset)
    return "" if names is None else str(names[study.rows[case]])


def items(study: Study, gallery: Gallery) -> list[dict[str, Any]]:
    """What the browser is told of each case that is drawn."""
    cases = gallery.cases[:SHOWN]
    values, depth, kind = value_texts(study, gallery, cases), gallery.depth, noun(study.experiment)
    picture, found = study.experiment.data.picture, []
    for case, value in zip(cases.tolist(), values, strict=True):
        label = label_of(study, case)
        said = f"{sentence(kind)} {case}: {label_noun(study.experiment)} {label}, {value}"
        item: dict[str, Any] = {"case": case, "label": said, "depth": round(65 * depth[case])}
        if picture is not None:
            item |= {"image": picture_uri(picture(study.X[case])), "value": value}
        else:
            inputs = study.experiment.data.shown(study.X[case], COLUMNS)
            item["cells"] = [row_name(study, case) or str(case), value, label, *inputs]
        found.append(item)
    return found


def wall(
    study: Study, gallery: Gallery, heading: str, chosen: int, choose: Callable[[int], None]
) -> None:
    """Draw the gallery with one case outlined; ``choose`` is called with the one that is picked."""
    data = {"heading": heading, "chosen": chosen, "items": items(study, gallery)}
    experiment = study.experiment
    if experiment.data.picture is None:
        value = "outcomes" if experiment.kind.symbolic else VALUES[gallery.by]
        inputs = experiment.data.feature_names[:COLUMNS]
        names = own.row_names(experiment.dataset)
        named = "case" if names is None else str(names.name)
        data["columns"] = [named, value, label_noun(experiment), *inputs]

    def picked() -> None:
        case = st.session_state["wall"]["chosen"]
        if case is not None:
            choose(int(case))

    _wall(key="wall", data=data, on_chosen_change=picked)
