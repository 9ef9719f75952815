"""The dashboard: ``streamlit run app.py``."""

from pages.parts.shell import frame

frame()
