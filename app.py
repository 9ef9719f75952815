"""The dashboard: ``streamlit run app.py``.

The server imports this file once when it starts, so that its first visitor waits for no imports;
then it runs the same file, as a script, for every visit.
"""

import streamlit as st

from pages.parts.shell import frame

if __name__ == "__main__":
    frame()
else:
    app = st.App(__file__)
