R"page(
// How maps, lines and curves are drawn.
const $ = id => document.getElementById(id);
let colors;
function readColors() {
  const style = getComputedStyle(document.documentElement);
  const rgb = name => [1, 3, 5].map(i => parseInt(style.getPropertyValue(name).trim().slice(i, i + 2), 16));
  colors = { low: rgb("--low"), high: rgb("--high"), mid: rgb("--mid") };
  for (const name of ["ink", "muted", "line", "paper", "test"]) colors[name] = style.getPropertyValue("--" + name).trim();
}
const blend = (v, strength) => {
  const to = v < 0 ? colors.low : colors.high, share = Math.min(1, Math.abs(v)) * strength;
  return colors.mid.map((c, i) => c + (to[i] - c) * share);
};
const signed = (v, alpha = 1) => `rgba(${v < 0 ? colors.low : colors.high},${alpha})`;

// A canvas in units of CSS pixels, as wide as it is shown.
function begin(canvas, height) {
  const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; canvas.style.height = height + "px"; }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return g;
}
function rounded(g, x, y, w, h, r) {
  g.beginPath();
  g.moveTo(x + r, y);
  g.arcTo(x + w, y, x + w, y + h, r);
  g.arcTo(x + w, y + h, x, y + h, r);
  g.arcTo(x, y + h, x, y, r);
  g.arcTo(x, y, x + w, y, r);
  g.closePath();
}

// A map as an image, drawn smoothly into a square.
const stamps = {};
function stampOf(n) {
  if (stamps[n]) return stamps[n];
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = n;
  return stamps[n] = { canvas, image: new ImageData(n, n) };
}
function drawMap(g, map, x, y, size, strength, hard) {
  const stamp = stampOf(Math.sqrt(map.length)), pixels = stamp.image.data;
  for (let i = 0; i < map.length; ++i) {
    const c = blend(hard ? Math.sign(map[i]) * 0.75 : map[i], strength);
    pixels[4 * i] = c[0]; pixels[4 * i + 1] = c[1]; pixels[4 * i + 2] = c[2]; pixels[4 * i + 3] = 255;
  }
  stamp.canvas.getContext("2d").putImageData(stamp.image, 0, 0);
  g.imageSmoothingEnabled = !hard;
  g.imageSmoothingQuality = "high";
  g.drawImage(stamp.canvas, x, y, size, size);
}

// The line on which a map is 0, by marching squares.
function drawBorder(g, map, size) {
  const grid = Math.sqrt(map.length), at = k => (k + 0.5) * size / grid;
  g.beginPath();
  for (let j = 0; j + 1 < grid; ++j)
    for (let i = 0; i + 1 < grid; ++i) {
      const k = j * grid + i, v = [map[k], map[k + 1], map[k + grid + 1], map[k + grid]];
      const corner = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], cuts = [];
      for (let e = 0; e < 4; ++e) {
        const a = v[e], b = v[(e + 1) % 4];
        if ((a < 0) === (b < 0)) continue;
        const t = a / (a - b), from = corner[e], to = corner[(e + 1) % 4];
        cuts.push([at(from[0] + (to[0] - from[0]) * t), at(from[1] + (to[1] - from[1]) * t)]);
      }
      for (let c = 0; c + 1 < cuts.length; c += 2) { g.moveTo(...cuts[c]); g.lineTo(...cuts[c + 1]); }
    }
  g.stroke();
}

// The points; those to test with are hollow.
function drawPoints(g, size, withTests) {
  const place = v => (v / reach + 1) / 2 * size, n = data.labels.length, r = Math.max(2.6, size / 105);
  for (let i = withTests ? n - 1 : data.train - 1; i >= 0; --i) {
    const x = place(data.points[2 * i]), y = size - place(data.points[2 * i + 1]);
    const color = signed(data.labels[i] - 0.5);
    g.beginPath();
    g.arc(x, y, i < data.train ? r : r - 0.4, 0, 7);
    g.fillStyle = i < data.train ? color : colors.paper;
    g.strokeStyle = i < data.train ? colors.paper : color;
    g.lineWidth = i < data.train ? 1 : 1.3;
    g.fill();
    g.stroke();
  }
}

// Where the tiles of the network are: features, hidden layers, output.
// They fill what the cards beside them leave, or are as small as a narrow page wants.
function layout(width) {
  const columns = [...sizes.slice(0, -1), 1], most = Math.max(...columns), step = width / columns.length, top = 26;
  const beside = $("loss").getBoundingClientRect().bottom - $("net").getBoundingClientRect().top;
  const wide = $("out").getBoundingClientRect().left > $("net").getBoundingClientRect().right;
  const tile = Math.max(18, wide ? Math.min(92, step * 0.54, (beside - top) / most / 1.3) : Math.min(44, step * 0.56));
  const gap = tile * 0.32, needed = most * (tile + gap), tall = wide ? Math.max(needed, beside - top - 6) : Math.max(needed, 130);
  return { tile, height: top + tall + 4, columns: columns.map((n, l) => Array.from({ length: n }, (_, j) => ({ l, j,
    x: step * (l + 0.5) - tile / 2, y: top + (tall - n * (tile + gap) + gap) / 2 + j * (tile + gap) }))) };
}

function drawNetwork(state) {
  const canvas = $("net"), place = layout(canvas.clientWidth), { tile, columns } = place, g = begin(canvas, place.height);
  const lines = [];
  for (let l = 0; l < layers; ++l)
    for (const a of columns[l]) for (const b of columns[l + 1])
      lines.push({ a, b, w: l === layers - 1 ? lead(state.parameters, a.j) : weight(state.parameters, l, b.j, a.j) });
  const most = Math.max(1, ...lines.map(line => Math.abs(line.w)));
  lines.sort((p, q) => Math.abs(p.w) - Math.abs(q.w));
  for (const { a, b, w } of lines) {
    const x0 = a.x + tile, y0 = a.y + tile / 2, x1 = b.x, y1 = b.y + tile / 2, bend = (x1 - x0) * 0.5, share = Math.abs(w) / most;
    const faded = state.over && state.over !== a && state.over !== b && !(state.over.l === b.l && state.over.j === b.j) && !(state.over.l === a.l && state.over.j === a.j);
    g.beginPath();
    g.moveTo(x0, y0);
    g.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    g.lineWidth = 0.6 + 5.4 * share;
    g.strokeStyle = signed(w, (0.22 + 0.68 * Math.sqrt(share)) * (faded ? 0.25 : 1));
    g.stroke();
  }
  g.textAlign = "center";
  columns.forEach((column, l) => {
    g.font = "12px system-ui, sans-serif";
    g.fillStyle = colors.muted;
    const wide = canvas.clientWidth / columns.length > 74;
    g.fillText(l === 0 ? "features" : l === layers ? "output" : wide ? `hidden ${l}` : `h${l}`, column[0].x + tile / 2, 13);
    for (const t of column) {
      const shown = state.shown.l === t.l && state.shown.j === t.j;
      g.save();
      rounded(g, t.x, t.y, tile, tile, tile * 0.16);
      g.clip();
      drawMap(g, state.maps[l][t.j], t.x, t.y, tile, 0.92, false);
      g.restore();
      rounded(g, t.x, t.y, tile, tile, tile * 0.16);
      g.strokeStyle = shown ? colors.ink : colors.line;
      g.lineWidth = shown ? 2 : 1;
      g.stroke();
      if (l === 0) label(g, featureLabel[data.features[t.j]], t.x + tile / 2, t.y + tile / 2 + 4, tile);
    }
  });
  return { ...place, lines };
}
function label(g, text, x, y, tile) {
  g.font = `600 ${Math.min(13, tile * 0.3)}px system-ui, sans-serif`;
  g.lineJoin = "round";
  g.lineWidth = 3;
  g.strokeStyle = colors.paper;
  g.strokeText(text, x, y);
  g.fillStyle = colors.ink;
  g.fillText(text, x, y);
}

function drawOutput(state) {
  const canvas = $("out"), size = canvas.clientWidth, g = begin(canvas, size), { l, j } = state.shown;
  const { maps, border } = state.playing ? state : mapsAt(state.parameters, fine), map = maps[l][j];
  drawMap(g, map, 0, 0, size, 0.62, $("hard").checked);
  g.strokeStyle = colors.ink;
  g.globalAlpha = 0.75;
  g.lineWidth = 1.4;
  drawBorder(g, l === layers ? border : map, size);
  g.globalAlpha = 1;
  drawPoints(g, size, $("tests").checked);
}

// Curves 0 (learned from) and 1 (to test with) of the losses.
const curve = (which, frame) => {
  const k = Math.min(Math.floor(frame), frames - 1), next = Math.min(k + 1, frames - 1), share = frame - k;
  return data.curves[4 * k + which] * (1 - share) + data.curves[4 * next + which] * share;
};
const epochAt = frame => {
  const k = Math.min(Math.floor(frame), frames - 1), next = Math.min(k + 1, frames - 1);
  return data.epochs[k] + (data.epochs[next] - data.epochs[k]) * (frame - k);
};
const lossPlace = width => ({ left: 42, right: width - 10, top: 8, bottom: 140 - 22 });
function drawLoss(state) {
  const canvas = $("loss"), width = canvas.clientWidth, g = begin(canvas, 140), at = lossPlace(width);
  let most = 0.05, least = 1;
  for (let k = 0; k < 4 * frames; k += 4) {
    most = Math.max(most, data.curves[k], data.curves[k + 1]);
    least = Math.min(least, data.curves[k], data.curves[k + 1]);
  }
  const log = $("log").checked, bottom = 10 ** Math.max(-8, Math.floor(Math.log10(least))), decades = Math.log10(most / bottom);
  const last = Math.max(1, data.epochs[frames - 1]);
  const x = epoch => at.left + (at.right - at.left) * epoch / last, height = at.bottom - at.top;
  const y = loss => at.bottom - height * (log ? Math.max(0, Math.log10(loss / bottom)) / decades : loss / most);
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 50, 100].find(s => most / s <= 4.5) || most;
  g.font = "11px system-ui, sans-serif";
  g.fillStyle = colors.muted;
  g.strokeStyle = colors.line;
  g.lineWidth = 1;
  g.textAlign = "right";
  for (let k = 0; k < 12; ++k) {
    const v = log ? bottom * 10 ** k : k * step;
    if (v > most) break;
    g.fillText(String(+v.toPrecision(3)), at.left - 7, y(v) + 4);
    g.beginPath();
    g.moveTo(at.left, y(v));
    g.lineTo(at.right, y(v));
    g.stroke();
  }
  g.textAlign = "left";
  g.fillText("0", at.left, at.bottom + 17);
  g.textAlign = "right";
  g.fillText(`epoch ${last}`, at.right, at.bottom + 17);
  for (const which of [1, 0]) {
    g.beginPath();
    for (let k = 0; k < frames; ++k) g.lineTo(x(data.epochs[k]), y(data.curves[4 * k + which]));
    g.strokeStyle = which ? colors.test : colors.ink;
    g.lineWidth = 2;
    g.lineJoin = "round";
    g.stroke();
  }
  const now = x(epochAt(state.frame));
  g.strokeStyle = colors.muted;
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(now, at.top - 6);
  g.lineTo(now, at.bottom);
  g.stroke();
  for (const which of [1, 0]) {
    g.beginPath();
    g.arc(now, y(curve(which, state.frame)), 4, 0, 7);
    g.fillStyle = which ? colors.test : colors.ink;
    g.strokeStyle = colors.paper;
    g.lineWidth = 1.5;
    g.fill();
    g.stroke();
  }
}
)page"
