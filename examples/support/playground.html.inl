R"page(<body>
<header>
  <h1><svg viewBox="0 0 24 24" aria-hidden="true"><circle class="b" cx="5" cy="6" r="3"/><circle class="a" cx="5" cy="18" r="3"/><path d="M8 6 16 12 8 18"/><circle class="c" cx="19" cy="12" r="3"/></svg>gpunet playground</h1>
  <p id="summary"></p>
  <button id="theme" title="Light or dark (L)" aria-label="Light or dark"><svg viewBox="0 0 24 24"><circle cx="12" cy="12" r="8"/><path class="half" d="M12 4a8 8 0 0 1 0 16z"/></svg></button>
</header>
<main>
  <section class="card bar">
    <button id="play" aria-label="Play"><svg viewBox="0 0 24 24"><path d="M8 5v14l11-7z"/></svg></button>
    <input id="slider" type="range" min="0" step="any" aria-label="Epoch">
    <div class="epoch"><span>epoch</span><b id="epoch"></b><small id="epochs"></small></div>
  </section>
  <section class="card net"><h2>Network <span id="hint">point at a neuron to see its map large, click to keep it</span></h2><canvas id="net" role="img" aria-label="The network: what each neuron makes of the plane, and the weights as lines"></canvas></section>
  <section class="card out"><h2><span id="shown">Output</span> <span id="probe"></span></h2><canvas id="out" role="img" aria-label="What the network makes of every place, with the points"></canvas>
    <div class="legend"><i id="low">class 0</i><em></em><i id="high">class 1</i></div>
    <div class="toggles"><label><input id="tests" type="checkbox" checked> test points (T)</label><label><input id="hard" type="checkbox"> decisions only (D)</label></div></section>
  <section class="card loss"><h2><span>Loss</span><label><input id="log" type="checkbox"> logarithmic (S)</label></h2><canvas id="loss" role="img" aria-label="Loss on the points to learn from and on those to test with, by epoch"></canvas><div id="numbers"></div></section>
</main>
<footer><code id="command"></code><p>Space plays, ← and → step, Home and End jump. Between the epochs that were recorded, weights are interpolated. <span id="check"></span></p></footer>
<div id="tip" role="status"></div>
<noscript><p>This page computes its pictures with JavaScript, which is switched off.</p></noscript>
</body>
)page"
