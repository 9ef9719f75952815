"""Drawing what cpp_core has computed: panels, verdicts, badges."""

import streamlit as st

from cpp_core.panels import Panel
from cpp_core.sentences import Verdict

BADGES = {
    "guaranteed": ("✔ guaranteed", "blue"),
    "approximate": ("≈ approximate", "orange"),
}


def dark() -> bool:
    """Whether the visitor sees the dark theme."""
    return st.context.theme.type == "dark"


def show_panel(panel: Panel, place: str = "") -> None:
    """A title that states the finding, the chart, how to read it, and its data."""
    with st.container(border=True):
        st.markdown(f"**{panel.title}**")
        st.plotly_chart(
            panel.figure,
            key=f"{panel.key}-{place}",
            width="stretch",
            alt=panel.alt,
            config={"displayModeBar": False},
        )
        with st.container(horizontal=True, horizontal_alignment="distribute"):
            st.caption(panel.caption, width="stretch")
            st.download_button(
                "CSV",
                data=lambda: panel.data.to_csv(index=False),
                file_name=f"{panel.key}.csv",
                mime="text/csv",
                key=f"csv-{panel.key}-{place}",
                type="tertiary",
                help="The numbers behind this chart",
            )


def show_verdict(verdict: Verdict, large: bool = False) -> None:
    """A sentence with its badge; "why?" opens the computation behind it."""
    text, color = BADGES[verdict.badge]
    words = verdict.text.replace("$", r"\$")
    st.markdown(f"### {words}" if large else words)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(text, color=color)  # type: ignore[arg-type]
        with st.popover("why?", type="tertiary"):
            st.markdown(verdict.why)
            st.caption(f"Assumes {verdict.assumptions}")
