"use strict";
// The page of a trace. The first half computes and knows no browser; the second half draws.

const HEAD = 30;
const LEFT = 110;

/** Where each event stands, in pixels from the first, `scale` pixels a row on average. */
function layout(data, spacing, scale) {
  const events = data.events;
  if (spacing !== "time" || events.length < 2) {
    return events.map((_, row) => row * scale);
  }
  const start = events[0][0];
  const length = Math.max(1, events[events.length - 1][0] - start);
  const height = (events.length - 1) * scale;
  return events.map((event) => ((event[0] - start) / length) * height);
}

/** The first row at or after `y`. */
function rowAt(ys, y) {
  let low = 0;
  let high = ys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ys[middle] < y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Node of an event's column: what has no node stands in the first, the simulation's. */
function columnOf(event) {
  return Math.max(0, event[2]);
}

/** The middle of a node's column. */
function columnX(data, node, width) {
  const columns = Math.max(1, data.nodes.length);
  return LEFT + ((width - LEFT) / columns) * (node + 0.5);
}

/** Everything that a search looks at, in small letters. */
function searchText(data, event) {
  const node = event[2] < 0 ? "" : data.nodes[event[2]];
  const task = event[3] < 0 ? "" : data.tasks[event[3]] + " task " + event[3];
  return [event[6], node, task, data.kinds[event[4]]].join(" ").toLowerCase();
}

/** The rows that hold every word of the query. */
function matches(data, query) {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  const rows = [];
  data.events.forEach((event, row) => {
    const text = searchText(data, event);
    if (words.every((word) => text.includes(word))) rows.push(row);
  });
  return rows;
}

/** The match after (or before) a row, around the end. */
function nextMatch(found, row, step) {
  if (found.length === 0) return -1;
  const order = step > 0 ? found : found.slice().reverse();
  const beyond = order.find((match) => (step > 0 ? match > row : match < row));
  return beyond === undefined ? order[0] : beyond;
}

/** Seconds with nine decimals. */
function seconds(ns) {
  return (ns / 1e9).toFixed(9) + "s";
}

/** All that is known of an event. */
function describe(data, row) {
  const event = data.events[row];
  if (event === undefined) return "";
  const lines = ["event " + (data.first + row), "at " + seconds(event[0]), "step " + event[1]];
  if (event[2] >= 0) lines.push("node " + data.nodes[event[2]]);
  if (event[3] >= 0) lines.push("task " + event[3] + ' "' + data.tasks[event[3]] + '"');
  lines.push(data.kinds[event[4]], "", event[6]);
  if (event[5] === 2) lines.push("", "The minimised run keeps this decision.");
  return lines.join("\n");
}

/** Spans of which some part lies between two rows. */
function within(spans, first, last) {
  return spans.filter((span) => span[0] <= last && span[1] >= first);
}

// ---------------------------------------------------------------- the browser

function start() {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const canvas = byId("diagram");
  const brush = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue("--" + name).trim();
  const state = { scale: 18, top: 0, row: -1, found: [], spacing: "event", only: false };
  let ys = layout(data, state.spacing, state.scale);

  const clamp = () => {
    const last = ys.length === 0 ? 0 : ys[ys.length - 1];
    state.top = Math.max(0, Math.min(state.top, last - canvas.clientHeight + HEAD + 60));
  };
  const y = (row) => ys[row] - state.top + HEAD + 15;
  const x = (node) => columnX(data, node, canvas.clientWidth);

  function line(fromX, fromY, toX, toY, stroke, dashes) {
    brush.strokeStyle = stroke;
    brush.setLineDash(dashes);
    brush.beginPath();
    brush.moveTo(fromX, fromY);
    brush.lineTo(toX, toY);
    brush.stroke();
    brush.setLineDash([]);
  }

  function arrow(message) {
    const [from, to] = [x(message[2]), x(message[3])];
    const [fromY, toY] = [y(message[0]), y(message[1])];
    const stroke = color(message[4] ? "message" : "lost");
    const end = message[4] ? to : from + (to - from) / 2;
    line(from, fromY, end, toY, stroke, message[4] ? [] : [4, 3]);
    const angle = Math.atan2(toY - fromY, end - from);
    for (const turn of [-0.4, 0.4]) {
      const [dx, dy] = [Math.cos(angle + turn) * 8, Math.sin(angle + turn) * 8];
      line(end, toY, end - dx, toY - dy, stroke, []);
    }
  }

  function spans(first, last) {
    brush.fillStyle = color("fault");
    for (const fault of within(data.faults, first, last)) {
      brush.fillRect(x(fault[2]) - 14, y(fault[0]), 28, Math.max(3, y(fault[1]) - y(fault[0])));
    }
    brush.fillStyle = color("wait");
    for (const wait of within(data.waits, first, last)) {
      const shift = 18 + (wait[3] % 6) * 7;
      brush.fillRect(x(wait[2]) + shift, y(wait[0]), 5, Math.max(3, y(wait[1]) - y(wait[0])));
    }
    within(data.messages, first, last).forEach(arrow);
  }

  function dot(row, found) {
    const event = data.events[row];
    const [at, side] = [x(columnOf(event)), y(row)];
    if (found.has(row) || row === state.row) {
      brush.fillStyle = color("match");
      brush.fillRect(LEFT, side - 8, canvas.clientWidth - LEFT, 16);
    }
    const dots = ["text", "decision", "kept"];
    brush.fillStyle = color(dots[event[5]]);
    const size = event[5] === 0 ? 2.5 : 5;
    brush.beginPath();
    brush.arc(at, side, size, 0, 7);
    brush.fill();
    if (state.scale >= 12) {
      const task = event[3] < 0 ? "" : data.tasks[event[3]] + ": ";
      const room = (canvas.clientWidth - LEFT) / Math.max(1, data.nodes.length) / 2 + 20;
      brush.fillText((task + event[6]).slice(0, Math.max(8, room / 6)), at + 9, side + 4);
      brush.fillStyle = color("faint");
      brush.fillText((event[0] / 1e6).toFixed(3) + "ms", 8, side + 4);
    }
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, height);
    brush.font = "11px sans-serif";
    data.nodes.forEach((_, node) => line(x(node), HEAD, x(node), height, color("line"), []));
    const first = Math.max(0, rowAt(ys, state.top - 30));
    const last = Math.min(ys.length - 1, rowAt(ys, state.top + height));
    const found = new Set(state.found);
    let drawn = 0;
    if (last >= first) spans(first, last);
    for (let row = first; row <= last; row += 1) {
      if (state.only && data.events[row][5] === 0) continue;
      dot(row, found);
      drawn += 1;
    }
    brush.fillStyle = color("back");
    brush.fillRect(0, 0, width, HEAD);
    brush.fillStyle = color("text");
    data.nodes.forEach((name, node) => brush.fillText(name, x(node) - 10, 18));
    document.body.dataset.drawn = String(drawn);
  }

  function show(row) {
    state.row = row;
    byId("details").textContent = describe(data, row);
    if (row >= 0 && (y(row) < HEAD || y(row) > canvas.clientHeight - 20)) {
      state.top = ys[row] - canvas.clientHeight / 2;
    }
    clamp();
    draw();
  }

  function search() {
    state.found = matches(data, byId("search").value);
    byId("found").textContent = byId("search").value === "" ? "" : state.found.length + " found";
    document.body.dataset.found = String(state.found.length);
    show(nextMatch(state.found, -1, 1));
  }

  function zoom(factor, row) {
    const anchor = row >= 0 && row < ys.length ? row : 0;
    const before = ys.length === 0 ? 0 : ys[anchor] - state.top;
    state.scale = Math.max(0.02, Math.min(200, state.scale * factor));
    ys = layout(data, state.spacing, state.scale);
    state.top = ys.length === 0 ? 0 : ys[anchor] - before;
    clamp();
    draw();
  }

  const step = (way) => show(nextMatch(state.found, state.row, way));
  const under = (event) => rowAt(ys, event.offsetY - HEAD - 15 + state.top - state.scale / 2);
  byId("title").textContent = data.title + (data.first > 0 ? ", from event " + data.first : "");
  byId("search").addEventListener("input", search);
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  });
  byId("next").addEventListener("click", () => step(1));
  byId("previous").addEventListener("click", () => step(-1));
  byId("closer").addEventListener("click", () => zoom(1.5, state.row));
  byId("farther").addEventListener("click", () => zoom(1 / 1.5, state.row));
  byId("spacing").addEventListener("change", (event) => {
    state.spacing = event.target.value;
    zoom(1, state.row);
  });
  byId("decisions").addEventListener("change", (event) => {
    state.only = event.target.checked;
    draw();
  });
  canvas.addEventListener("click", (event) => show(Math.min(under(event), ys.length - 1)));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.ctrlKey) return zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, under(event));
    state.top += event.deltaY;
    clamp();
    draw();
  }, { passive: false });
  window.addEventListener("resize", draw);
  draw();
  // For a check without hands: `page.html#leader` searches for "leader".
  if (location.hash.length > 1) {
    byId("search").value = decodeURIComponent(location.hash.slice(1));
    search();
  }
}

if (typeof document !== "undefined") start();
