for (const place of document.querySelectorAll("[data-figure]")) {
  const spec = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  Plotly.newPlot(place, spec.data, spec.layout, {displayModeBar: false, responsive: true});
}
window.addEventListener("beforeprint", () => {
  for (const place of document.querySelectorAll("[data-figure]")) Plotly.Plots.resize(place);
});

// Each word of the list at the end shows its meaning where it stands first, and first in a fold.
const meanings = new Map();
for (const word of document.querySelectorAll("dt[data-words]"))
  for (const form of word.dataset.words.split("|"))
    meanings.set(form, word.nextElementSibling.textContent);
const forms = [...meanings.keys()].sort((a, b) => b.length - a.length);
const spelled = new RegExp(`(?<![\\w-])(?:${forms.join("|")})(?![\\w-])`, "gi");
const seen = new Map();
const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
const told = [];
while (texts.nextNode())
  if (texts.currentNode.parentElement.closest("p:not(.note):not(.failed), li, figcaption"))
    told.push(texts.currentNode);
for (let text of meanings.size ? told : []) {
  const fold = text.parentElement.closest("details");
  if (!seen.has(fold)) seen.set(fold, new Set());
  for (let match; (match = spelled.exec(text.data)); ) {
    const means = meanings.get(match[0].length > 1 ? match[0].toLowerCase() : match[0]);
    if (!means || seen.get(fold).has(means)) continue;
    seen.get(fold).add(means);
    const word = text.splitText(match.index);
    text = word.splitText(match[0].length);
    const mark = document.createElement("span");
    mark.className = "term";
    mark.tabIndex = 0;
    mark.role = "note";
    mark.dataset.means = mark.ariaDescription = means;
    word.replaceWith(mark);
    mark.append(word);
    spelled.lastIndex = 0;
  }
}
