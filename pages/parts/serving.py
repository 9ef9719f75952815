"""What the server does before its first visitor, and tells every browser first."""

from pathlib import Path

import streamlit
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cpp_core import Experiment
from cpp_core.coverage_figures import calibration_curve, cover_rates, coverage_histograms
from cpp_core.figures import interval_histograms, paired_difference, width_differences
from pages.parts.live import keys_of, stored_results, stored_trials
from pages.parts.show import kept


class PreloadCharts:
    """Lets a browser load Plotly with the page: every page has charts, and it is the last to come.

    Without it, a browser learns of the charts when the first one arrives.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        scripts = Path(streamlit.__file__).parent.glob("static/static/js/PlotlyChart.*.js")
        self.links = [f'<./static/js/{path.name}>; rel="modulepreload"' for path in scripts]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_link(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message["headers"])
                if any(k == b"content-type" and v.startswith(b"text/html") for k, v in headers):
                    headers += [(b"link", link.encode()) for link in self.links]
                    message = {**message, "headers": headers}
            await send(message)

        await self.app(scope, receive, send_with_link)


def warm() -> None:
    """Load and draw what the first visitor will see, before there is one."""
    experiment, trials = Experiment.preset("digits-candidate"), 1000
    keys = keys_of(experiment, 0)
    if stored_trials(keys, trials) < trials:
        return
    results = stored_results(keys, trials, 0, experiment)
    look = 0.1, "upper"
    for draw in (interval_histograms, cover_rates, coverage_histograms, calibration_curve):
        kept(draw, results, *look, dark=False)
    for pair in (width_differences, paired_difference):
        kept(pair, results, *experiment.algorithms, *look, dark=False)
