R"page(
// The network: what it was at a moment, and what its neurons make of a grid of places.
const data = JSON.parse(document.getElementById("data").textContent);
const floats = text => new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
for (const key of ["points", "labels", "curves", "parameters", "places", "logits"]) data[key] = floats(data[key]);
const frames = data.epochs.length, sizes = data.sizes, layers = sizes.length - 1;
const parameterCount = data.parameters.length / frames;

const featureOf = { x1: (x, y) => x, x2: (x, y) => y, "x1^2": (x, y) => x * x, "x2^2": (x, y) => y * y,
  x1x2: (x, y) => x * y, sinx1: (x, y) => Math.sin(x), sinx2: (x, y) => Math.sin(y) };
const featureLabel = { x1: "x₁", x2: "x₂", "x1^2": "x₁²", "x2^2": "x₂²", x1x2: "x₁x₂", sinx1: "sin x₁", sinx2: "sin x₂" };
const activate = { linear: z => z, relu: z => z < 0 ? 0 : z, tanh: Math.tanh, sigmoid: z => 1 / (1 + Math.exp(-z)) }[data.activation];
// A neuron's number as a share of the color that it has: -1 to 1.
const shade = { linear: v => v / (1 + Math.abs(v)), relu: v => v / (1 + v), tanh: v => v, sigmoid: v => 2 * v - 1 }[data.activation];

// The parameters at a frame; between two of them, what lies between.
function parametersAt(frame) {
  const first = Math.min(Math.floor(frame), frames - 1), share = frame - first, from = first * parameterCount;
  const now = data.parameters.subarray(from, from + parameterCount);
  if (share === 0) return now;
  const next = data.parameters.subarray(from + parameterCount, from + 2 * parameterCount);
  return now.map((p, i) => p + (next[i] - p) * share);
}

// Where weights and biases of layer l are: weight [outputs, inputs], then bias [outputs], as in PyTorch.
const offsets = sizes.slice(1).reduce((all, n, l) => [...all, all[l] + n * (sizes[l] + 1)], [0]);
const weight = (p, l, to, from) => p[offsets[l] + to * sizes[l] + from];
const bias = (p, l, to) => p[offsets[l] + sizes[l] * sizes[l + 1] + to];
// What a neuron of the last hidden layer does for class 1 and against class 0.
const lead = (p, from) => weight(p, layers - 1, 1, from) - weight(p, layers - 1, 0, from);
const leadBias = p => bias(p, layers - 1, 1) - bias(p, layers - 1, 0);

// All layers for features [feature][place]: the last has the two logits.
function evaluate(p, inputs) {
  const all = [inputs], places = inputs[0].length;
  for (let l = 0; l < layers; ++l)
    all.push(Array.from({ length: sizes[l + 1] }, (_, to) => {
      const out = new Float64Array(places).fill(bias(p, l, to));
      all[l].forEach((x, from) => {
        const w = weight(p, l, to, from);
        for (let i = 0; i < places; ++i) out[i] += w * x[i];
      });
      if (l < layers - 1) for (let i = 0; i < places; ++i) out[i] = activate(out[i]);
      return out;
    }));
  return all;
}
const inputsOf = places => data.features.map(name =>
  Float64Array.from({ length: places.length / 2 }, (_, i) => featureOf[name](places[2 * i], places[2 * i + 1])));
const logistic = z => 1 / (1 + Math.exp(-z));

// The plane from -6 to 6 in n x n places, row by row from the top left: the features there, and their maps.
const reach = 6, coarse = sizes.reduce((a, b) => a + b) > 30 ? 48 : 64, fine = 144;
const planes = {};
function planeOf(n) {
  if (planes[n]) return planes[n];
  const axis = k => (2 * (k + 0.5) / n - 1) * reach;
  const inputs = inputsOf(Array.from({ length: 2 * n * n }, (_, i) => i % 2 ? -axis(Math.floor(i / 2 / n)) : axis((i >> 1) % n)));
  const maps = inputs.map(x => {
    const most = x.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    return x.map(v => v / most);
  });
  return planes[n] = { inputs, maps };
}

// The maps of all neurons as shares from -1 to 1: of features, hidden layers, and of the probability of class 1. Beside them
// what is 0 on the border of the classes.
function mapsAt(p, n) {
  const plane = planeOf(n), all = evaluate(p, plane.inputs), z = all[layers], border = z[1].map((v, i) => v - z[0][i]);
  return { border, maps: [plane.maps, ...all.slice(1, layers).map(layer => layer.map(x => x.map(shade))),
    [border.map(v => Math.tanh(v / 2))]] };
}

// How far this page's numbers are from gpunet's own.
function deviation() {
  const z = evaluate(parametersAt(frames - 1), inputsOf(data.places))[layers];
  const mine = z[1].map((v, i) => logistic(v - z[0][i]));
  return mine.reduce((most, q, i) => Math.max(most, Math.abs(q - logistic(data.logits[2 * i + 1] - data.logits[2 * i]))), 0);
}
)page"
