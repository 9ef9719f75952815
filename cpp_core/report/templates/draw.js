for (const place of document.querySelectorAll("[data-figure]")) {
  const spec = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  Plotly.newPlot(place, spec.data, spec.layout, {displayModeBar: false, responsive: true});
}
window.addEventListener("beforeprint", () => {
  for (const place of document.querySelectorAll("[data-figure]")) Plotly.Plots.resize(place);
});
