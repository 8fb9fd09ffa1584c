R"page(
:root { --page:#f4f6f9; --paper:#fff; --ink:#1b2129; --muted:#5c6773; --line:#dce2e9; --low:#d9630b; --high:#1f6feb;
  --mid:#eef1f5; --test:#8250df; --shadow:0 1px 2px #1b212914, 0 4px 16px #1b21290d; color-scheme:light }
:root[data-theme=dark] { --page:#0b0f14; --paper:#141a22; --ink:#e8eef5; --muted:#95a1ae; --line:#2b3440; --low:#f58a35;
  --high:#4f9dff; --mid:#1d2530; --test:#c297ff; --shadow:0 0 0 1px #ffffff0a; color-scheme:dark }
* { box-sizing:border-box; margin:0 }
body { background:var(--page); color:var(--ink); font:15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  max-width:1240px; margin:0 auto; padding:18px clamp(12px, 2.5vw, 28px) 28px; -webkit-text-size-adjust:100% }
header { display:flex; align-items:center; gap:4px 18px; flex-wrap:wrap; margin-bottom:14px }
h1 { font-size:19px; font-weight:650; letter-spacing:-.01em; display:flex; align-items:center; gap:9px }
h1 svg { width:24px; fill:none; stroke:var(--line); stroke-width:2 }
h1 .a { fill:var(--low); stroke:none } h1 .b { fill:var(--high); stroke:none } h1 .c { fill:var(--ink); stroke:none }
header p { color:var(--muted); flex:1; min-width:14em }
h2 { font-size:13px; font-weight:600; display:flex; flex-wrap:wrap; justify-content:space-between; gap:0 12px; margin-bottom:8px }
h2 span:last-child { color:var(--muted); font-weight:400; font-variant-numeric:tabular-nums }
h2 label { font-weight:400; color:var(--muted); display:flex; align-items:center; gap:6px; cursor:pointer }
input { accent-color:var(--high) }
button { font:inherit; border:0; background:none; color:inherit; cursor:pointer; display:grid; place-items:center }
#theme { width:36px; height:36px; border-radius:50% } #theme:hover { background:var(--line) }
#theme svg { width:20px; fill:none; stroke:currentColor; stroke-width:2 } #theme .half { fill:currentColor; stroke:none }
:focus-visible { outline:2px solid var(--high); outline-offset:2px }
main { display:grid; gap:14px; grid-template-columns:minmax(0, 1fr) minmax(340px, 34%); grid-template-rows:auto auto 1fr; align-items:start }
.card { background:var(--paper); border-radius:14px; padding:14px 16px; box-shadow:var(--shadow); min-width:0 }
.bar { grid-column:1 / -1; display:flex; align-items:center; gap:16px; padding:10px 16px; position:sticky; top:6px; z-index:2 }
#play { width:44px; height:44px; border-radius:50%; background:var(--high); color:#fff; flex:none; transition:transform .12s }
#play:hover { transform:scale(1.07) } #play svg { width:24px; fill:currentColor }
input[type=range] { flex:1; min-width:60px; height:28px; cursor:pointer }
.epoch { display:flex; align-items:baseline; gap:6px; font-variant-numeric:tabular-nums; white-space:nowrap; color:var(--muted) }
.epoch b { font-size:26px; font-weight:650; color:var(--ink); min-width:2.2em; text-align:right; letter-spacing:-.02em }
.net { grid-column:1; grid-row:2 / span 2; align-self:stretch } .out, .loss { grid-column:2 }
canvas { display:block; width:100%; touch-action:pan-y } #out { border-radius:8px; max-width:520px; margin:0 auto; aspect-ratio:1; cursor:crosshair } #loss { cursor:ew-resize }
.legend { display:flex; align-items:center; gap:8px; margin-top:12px; color:var(--muted); font-size:13px }
.legend i { font-style:normal; white-space:nowrap }
.legend em { flex:1; height:8px; border-radius:4px; background:linear-gradient(90deg, var(--low), var(--mid), var(--high)) }
.toggles { display:flex; flex-wrap:wrap; gap:4px 18px; margin-top:10px; font-size:13px; color:var(--muted) }
.toggles label { display:flex; align-items:center; gap:6px; cursor:pointer }
footer { color:var(--muted); font-size:13px; margin-top:16px; display:grid; gap:6px }
code { font:12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color:var(--ink); background:var(--paper);
  border-radius:8px; padding:7px 11px; overflow-x:auto; white-space:nowrap; box-shadow:var(--shadow) }
#tip { position:fixed; z-index:3; pointer-events:none; background:var(--ink); color:var(--paper); font-size:12.5px; padding:4px 9px;
  border-radius:7px; opacity:0; transition:opacity .1s; white-space:nowrap; font-variant-numeric:tabular-nums }
#numbers { font-size:13px; color:var(--muted); font-variant-numeric:tabular-nums; margin-top:6px; display:flex; flex-wrap:wrap; gap:0 16px; margin-right:auto } #numbers b { font-weight:600; color:var(--ink) } #numbers u { text-decoration:none; white-space:nowrap }
#numbers u::before { content:""; display:inline-block; width:14px; height:3px; border-radius:2px; background:var(--ink); margin:0 6px 3px 0 }
#numbers u + u::before { background:var(--test) }
@media (max-width:900px) { main { grid-template-columns:minmax(0, 1fr) } .net, .out, .loss { grid-column:1; grid-row:auto } .out, .net, .loss { padding:12px }
  #hint { display:none } .epoch span { display:none } .bar { gap:10px } .epoch b { min-width:1.6em } }
@media (max-width:700px) { header { flex-wrap:wrap } h1 { flex:1 } header p { order:3; flex-basis:100% } }
@media print { .bar button, .toggles, #theme { display:none } }
)page"
