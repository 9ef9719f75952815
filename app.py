"""The dashboard: ``streamlit run app.py``.

The server imports this file once when it starts, so that its first visitor waits neither for
imports nor for data; then it runs the same file, as a script, for every visit.
"""

import streamlit as st
from starlette.middleware import Middleware

from pages.parts.serving import Guarded, PreparePage, prepare
from pages.parts.shell import frame

if __name__ == "__main__":
    frame()
else:
    app = st.App(__file__, middleware=[Middleware(Guarded), Middleware(PreparePage)])
    prepare()
