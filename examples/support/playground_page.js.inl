R"page(
// What the reader does, and the page that follows.
const output = { l: layers, j: 0 }, end = frames - 1, still = matchMedia("(prefers-reduced-motion: reduce)");
const state = { frame: 0, playing: false, shown: output, kept: output, over: null };
let place, waiting = false, before = 0;

const percent = v => (100 * v).toFixed(1) + " %";
function draw() {
  state.parameters = parametersAt(state.frame);
  Object.assign(state, mapsAt(state.parameters, coarse));
  const part = (name, k) => `<u>${name} <b>${curve(k, state.frame).toFixed(3)}</b> · ${percent(curve(k + 2, state.frame))} right</u>`;
  $("numbers").innerHTML = part("train", 0) + part("test", 1);
  place = drawNetwork(state);
  drawOutput(state);
  drawLoss(state);
  $("epoch").textContent = Math.round(epochAt(state.frame));
  $("slider").value = state.frame;
  $("slider").setAttribute("aria-valuetext", "epoch " + $("epoch").textContent);
}
// All changes until the next picture are drawn at once.
function redraw() {
  if (!waiting) requestAnimationFrame(() => { waiting = false; draw(); });
  waiting = true;
}
function go(frame) { state.frame = Math.max(0, Math.min(end, frame)); redraw(); }

const icons = { play: "M8 5v14l11-7z", pause: "M7 5h4v14H7zM13 5h4v14h-4z", again: "M12 5V1L6 6l6 5V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z" };
function setPlaying(on) {
  redraw();  // finer where it stands still
  if (on && state.frame >= end) state.frame = 0;
  state.playing = on && end > 0;
  const name = state.playing ? "pause" : state.frame >= end ? "again" : "play";
  $("play").querySelector("path").setAttribute("d", icons[name]);
  $("play").setAttribute("aria-label", { play: "Play", pause: "Pause", again: "Play again" }[name]);
  if (state.playing) { before = 0; requestAnimationFrame(tick); }
}
function tick(now) {
  if (!state.playing) return;
  const seconds = before ? Math.min(now - before, 100) / 1000 : 0;
  state.frame = Math.min(end, state.frame + seconds * Math.max(4, end / 9));
  before = now;
  draw();
  if (state.frame >= end) seek(end); else requestAnimationFrame(tick);
}
const toggle = () => setPlaying(!state.playing);
function seek(frame) { setPlaying(false); go(frame); setPlaying(false); }
$("play").onclick = toggle;
$("slider").max = end;
$("slider").oninput = () => seek(+$("slider").value);
const press = box => { box.checked = !box.checked; redraw(); };
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const actions = { " ": toggle, k: toggle, ArrowLeft: () => seek(Math.ceil(state.frame) - 1), ArrowRight: () => seek(Math.floor(state.frame) + 1),
    Home: () => seek(0), End: () => seek(end), t: () => press($("tests")), d: () => press($("hard")), s: () => press($("log")), l: () => $("theme").click() };
  if (!actions[key] || (key === " " && event.target.type === "checkbox")) return;
  event.preventDefault();
  actions[key]();
});

// The tip beside the pointer, and the map that is shown large.
function tip(event, text) {
  const box = $("tip");
  box.style.opacity = text ? 1 : 0;
  if (!text) return;
  box.textContent = text;
  box.style.left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8) + "px";
  box.style.top = Math.max(8, event.clientY - 34) + "px";
}
const signedText = v => (v < 0 ? "−" : "+") + Math.abs(v).toFixed(2);
const nameOf = t => t.l === 0 ? featureLabel[data.features[t.j]] : t.l === layers ? "Output" : `Hidden ${t.l}, neuron ${t.j + 1}`;
const tileAt = (x, y) => place.columns.flat().find(t => x >= t.x && x <= t.x + place.tile && y >= t.y && y <= t.y + place.tile);
function lineAt(x, y) {
  let found = null, nearest = 5;
  for (const line of place.lines) {
    const x0 = line.a.x + place.tile, x1 = line.b.x, t = (x - x0) / (x1 - x0);
    if (t < 0 || t > 1) continue;
    // Of the curve, x(s) = t has no short answer; halving finds s.
    let low = 0, high = 1;
    for (let k = 0; k < 12; ++k) { const s = (low + high) / 2; if (1.5 * s * (1 - s) + s ** 3 < t) low = s; else high = s; }
    const y0 = line.a.y + place.tile / 2, y1 = line.b.y + place.tile / 2;
    const distance = Math.abs(y0 + (y1 - y0) * (3 * low * low - 2 * low ** 3) - y);
    if (distance <= nearest) { nearest = distance; found = line; }
  }
  return found;
}
function show(t) {
  state.shown = t || state.kept;
  state.over = t || null;
  $("shown").textContent = nameOf(state.shown);
  $("low").textContent = state.shown.l === layers ? "class 0" : "negative";
  $("high").textContent = state.shown.l === layers ? "class 1" : "positive";
  redraw();
}
$("net").onpointermove = event => {
  const box = $("net").getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top, t = tileAt(x, y);
  if (t !== state.over && (t || state.over)) show(t);
  const line = t ? null : lineAt(x, y);
  const b = t && t.l > 0 ? t.l === layers ? leadBias(state.parameters) : bias(state.parameters, t.l - 1, t.j) : 0;
  $("net").style.cursor = t ? "pointer" : "default";
  tip(event, t ? nameOf(t) + (t.l > 0 ? ` · bias ${signedText(b)}` : "") : line && `weight ${signedText(line.w)}`);
};
$("net").onpointerleave = event => { show(null); tip(event, ""); };
$("net").onclick = event => {
  const box = $("net").getBoundingClientRect(), t = tileAt(event.clientX - box.left, event.clientY - box.top);
  state.kept = t && !(t.l === state.kept.l && t.j === state.kept.j) ? t : output;
  show(t && state.kept === output ? null : t);
};
$("out").onpointermove = event => {
  const box = $("out").getBoundingClientRect(), at = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  const x = (2 * at[0] - 1) * reach, y = (1 - 2 * at[1]) * reach, all = evaluate(state.parameters, inputsOf([x, y])), t = state.shown;
  const value = t.l === layers ? `class 1: ${percent(logistic(all[layers][1][0] - all[layers][0][0]))}` : all[t.l][t.j][0].toFixed(2);
  $("probe").textContent = `(${x.toFixed(1)}, ${y.toFixed(1)}) · ${value}`;
};
$("out").onpointerleave = () => { $("probe").textContent = ""; };
function seekOnLoss(event) {
  if (!event.buttons) return;
  const box = $("loss").getBoundingClientRect(), at = lossPlace(box.width);
  const epoch = (event.clientX - box.left - at.left) / (at.right - at.left) * data.epochs[end];
  let k = 0;
  while (k < end && data.epochs[k + 1] <= epoch) ++k;
  seek(k + (k < end ? Math.max(0, (epoch - data.epochs[k]) / (data.epochs[k + 1] - data.epochs[k])) : 0));
}
$("loss").onpointerdown = event => { $("loss").setPointerCapture(event.pointerId); seekOnLoss(event); };
$("loss").onpointermove = seekOnLoss;
for (const box of ["tests", "hard", "log"]) $(box).onchange = redraw;

const dark = matchMedia("(prefers-color-scheme: dark)");
function setTheme(name) { document.documentElement.dataset.theme = name; readColors(); redraw(); }
$("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
dark.onchange = () => setTheme(dark.matches ? "dark" : "light");
addEventListener("resize", redraw);

$("summary").textContent = `${data.data} · ${sizes.join(" → ")} · ${data.activation} · ${parameterCount} parameters`;
$("command").textContent = data.command;
$("epochs").textContent = "/ " + data.epochs[end];
$("check").textContent = `Its numbers differ from gpunet's by at most ${deviation().toExponential(1)}.`;
setTheme(dark.matches ? "dark" : "light");
// "#40" in the address shows epoch 40, "#end" the end; without, the training is played.
const wish = location.hash.slice(1), wanted = wish === "end" ? end : data.epochs.findIndex(e => e >= +wish);
if (wish) seek(wanted < 0 ? end : wanted); else if (still.matches) seek(end); else setPlaying(true);
)page"
