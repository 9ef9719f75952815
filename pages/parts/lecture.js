// Lecturer's mode: P presses the button that plays the picture, or the one that goes back to its
// start. No server is asked, as when it is clicked. The script is read anew with every view.
document.removeEventListener("keydown", window.playsFilm);
window.playsFilm = (event) => {
  const modified = event.ctrlKey || event.metaKey || event.altKey;
  const writes = event.target.closest?.("input:not([type=radio], [type=range]), textarea");
  if (event.key.toLowerCase() !== "p" || modified || event.repeat || writes) return;
  if (!document.querySelector(".stApp .keys")) return;
  const buttons = [...document.querySelectorAll(".stPlotlyChart .updatemenu-button")];
  const said = (sign) => buttons.find((button) => button.textContent.includes(sign));
  (said("▶") ?? said("↺"))?.dispatchEvent(new MouseEvent("click", {bubbles: true}));
};
document.addEventListener("keydown", window.playsFilm);
