// Samples that can be searched, narrowed and put in another order. Links to a sample work without any of this.
for (const list of document.querySelectorAll("[data-samples]")) {
  const all = [...list.children];
  const texts = new Map(all.map((sample) => [sample, sample.textContent.toLowerCase()]));
  const controls = document.querySelector("[data-sample-controls]");
  const count = document.createElement("output");

  const labelled = (text, control, kind) => {
    const label = document.createElement("label");
    label.className = kind;
    label.append(text, control);
    controls.append(label);
    return control;
  };

  const chooser = (pairs) => {
    const select = document.createElement("select");
    select.append(...pairs.map(([value, text]) => new Option(text, value)));
    return select;
  };

  const tasks = [...new Set(all.map((sample) => sample.dataset.task))];
  const search = document.createElement("input");
  search.type = "search";
  labelled("search", search, "wide");
  const order = labelled("show", chooser([
    ["", "all, in order"], ["repeats", "most repeated first"], ["gap", "largest quality gap first"],
  ]));
  const task = tasks.length > 1 ? labelled("task", chooser([["", "all"], ...tasks.map((name) => [name, name])])) : null;
  controls.append(count);
  controls.hidden = false;

  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    const by = order.value;
    for (const sample of all) {
      sample.hidden = !texts.get(sample).includes(wanted)
        || Boolean(task?.value && sample.dataset.task !== task.value)
        || Boolean(by && !(Number(sample.dataset[by]) > 0));
    }
    list.append(...(by ? all.toSorted((a, b) => b.dataset[by] - a.dataset[by]) : all));
    count.textContent = `${all.filter((sample) => !sample.hidden).length} of ${all.length}`;
  };

  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const sample = target && target.closest("[data-samples] > details");
    if (!sample) return;
    if (sample.hidden) {
      for (const control of controls.querySelectorAll("input, select")) control.value = "";
      show();
    }
    sample.open = true;
    target.scrollIntoView();
  };

  search.addEventListener("input", show);
  order.addEventListener("change", show);
  task?.addEventListener("change", show);
  addEventListener("hashchange", reveal);
  show();
  reveal();
}
