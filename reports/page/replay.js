// The replay: what stood in every slot at the time under the scrubber. Without this the page shows how all of it ended.
for (const replay of document.querySelectorAll("[data-replay]")) {
  const SECONDS = 8; // a whole replay
  const STATES = { m: "slot m", t: "slot t" };
  const { unit } = replay.dataset;
  const span = Number(replay.dataset.span);
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // A line a change: the frame, a letter for the state, the text.
  const changesOf = (slot) => slot.dataset.h.split("\n").map((line) => {
    const [, frame, state, text] = /^(\d+)([mtfg])(.*)$/s.exec(line);
    return { frame: Number(frame), state, text };
  });

  const lanes = [...replay.querySelectorAll("[data-lane][data-times]")].map((lane) => {
    const head = document.createElement("i");
    lane.querySelector(".strip").append(head);
    head.hidden = true;
    const slots = [...lane.querySelectorAll("[data-h]")].map((slot) => ({ slot, end: slot.className, changes: changesOf(slot) }));
    return { head, slots, times: lane.dataset.times.trim().split(" ").map(Number), shown: -2 };
  });

  const showSlot = ({ slot, end, changes }, frame) => {
    const now = changes.findLast((change) => change.frame <= frame);
    const last = changes.at(-1);
    const present = now && now.state !== "g";
    slot.hidden = !present && last.state === "g";
    slot.textContent = present ? now.text : last.text;
    slot.className = present ? STATES[now.state] ?? end : "slot absent";
  };

  const show = (time) => {
    for (const lane of lanes) {
      const frame = lane.times.findLastIndex((reached) => reached <= time * 1.000001);
      lane.head.hidden = time >= span;
      lane.head.style.left = `${(100 * time) / span}%`;
      if (frame === lane.shown) continue;
      lane.shown = frame;
      for (const slot of lane.slots) showSlot(slot, frame);
    }
  };

  const controls = replay.querySelector("[data-replay-controls]");
  const button = (text, label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    controls.append(made);
    return made;
  };
  const digits = (value) => String(Number(value.toPrecision(3)));
  const ratio = (SECONDS * 1000) / span;
  const speed = ratio >= 1 ? `${digits(ratio)}× slower` : `${digits(1 / ratio)}× faster`;
  const events = [...new Set(lanes.flatMap((lane) => lane.times))].sort((a, b) => a - b);
  let time = span;
  let began = null; // when the clock stood at 0, while it runs

  const scrubber = document.createElement("input");
  scrubber.type = "range";
  scrubber.min = 0;
  scrubber.max = span;
  scrubber.step = "any";
  scrubber.setAttribute("aria-label", "Time in the replay");
  const told = document.createElement("output");

  const go = (to) => {
    time = Math.min(span, Math.max(0, to));
    show(time);
    scrubber.value = time;
    const said = unit === "ms" ? `${digits(time)} of ${digits(span)} ms` : `step ${Math.floor(time)} of ${span}`;
    scrubber.setAttribute("aria-valuetext", said);
    told.textContent = `${said}, ${unit === "ms" ? speed : "pace not measured"}`;
  };

  const stop = () => {
    began = null;
    play.textContent = "▶ Play";
    play.setAttribute("aria-label", "Play the replay");
  };

  const tick = (now) => {
    if (began === null) return;
    go(((now - began) / (SECONDS * 1000)) * span);
    if (time >= span) stop();
    else requestAnimationFrame(tick);
  };

  const start = () => {
    const from = time >= span ? 0 : time;
    play.textContent = "❚❚ Pause";
    play.setAttribute("aria-label", "Pause the replay");
    began = performance.now() - (from / span) * SECONDS * 1000;
    requestAnimationFrame(tick);
  };

  const play = button("▶ Play", "Play the replay", () => (began === null ? start() : stop()));
  button("‹", "One change back", () => { stop(); go(events.findLast((event) => event < time * 0.999999) ?? 0); });
  button("›", "One change on", () => { stop(); go(events.find((event) => event > time * 1.000001) ?? span); });
  controls.append(scrubber, told);
  scrubber.addEventListener("input", () => { stop(); go(Number(scrubber.value)); });

  // Where a reader asked for less motion nothing moves by itself: the buttons and the scrubber step through.
  const calm = () => {
    play.hidden = still.matches;
    if (still.matches) stop();
  };
  still.addEventListener("change", calm);
  calm();
  controls.hidden = !lanes.length;
  go(span);
}
