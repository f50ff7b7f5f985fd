// The reader's choice of light, dark or whatever the system says, for as long as the page is open.
{
  const button = document.querySelector("[data-theme-switch]");
  const choices = ["auto", "light", "dark"];
  let chosen = 0;

  const show = () => {
    const name = choices[chosen];
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = `${{ auto: "◐", light: "☀", dark: "☾" }[name]} ${name}`;
    button.setAttribute("aria-label", `Colours: ${name}`);
  };

  button.addEventListener("click", () => {
    chosen = (chosen + 1) % choices.length;
    show();
  });
  button.hidden = false;
  show();
}
