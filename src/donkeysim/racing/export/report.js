const buttons = document.querySelectorAll(".chips button");
for (const button of buttons) button.addEventListener("click", () => {
  const chosen = button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.car;
  for (const other of buttons) other.setAttribute("aria-pressed", String(chosen !== "" && other.dataset.car === chosen));
  for (const drawn of document.querySelectorAll(".car"))
    drawn.style.opacity = chosen === "" || drawn.classList.contains("car-" + chosen) ? "" : "0.1";
});
