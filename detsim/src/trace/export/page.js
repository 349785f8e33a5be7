"use strict";
// The page of a trace. The first half computes and knows no browser; the second half draws.

const HEAD = 30;
const LEFT = 110;

/**
 * Where each event stands, in pixels from the first, `scale` pixels a row on average. With decisions
 * only, every other event stands where the decision before it does.
 */
function layout(data, spacing, scale, only) {
  const events = data.events;
  if (only || spacing !== "time" || events.length < 2) {
    let place = -1;
    return events.map((event) => {
      if (!only || event[5] > 0) place += 1;
      return Math.max(0, place) * scale;
    });
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
  const marks = ["", "decision", "decision kept"];
  return [event[6], node, task, data.kinds[event[4]], marks[event[5]]].join(" ").toLowerCase();
}

/** How many decisions the page has, and how many of them the minimised run keeps. */
function summary(data) {
  const count = (least) => data.events.filter((event) => event[5] >= least).length;
  const kept = count(2) > 0 ? ", " + count(2) + " kept by the minimised run" : "";
  return data.events.length + " events, " + count(1) + " decisions" + kept;
}

/** The longest beginning of a text that `fits`, with two dots for what is cut off. */
function cut(text, fits) {
  if (fits(text)) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (fits(text.slice(0, middle) + "..")) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? "" : text.slice(0, low) + "..";
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
  let ys = layout(data, state.spacing, state.scale, state.only);

  const clamp = () => {
    const last = ys.length === 0 ? 0 : ys[ys.length - 1];
    state.top = Math.max(0, Math.min(state.top, last - canvas.clientHeight + HEAD + 60));
  };
  const y = (row) => ys[row] - state.top + HEAD + 15;
  const x = (node) => columnX(data, node, canvas.clientWidth);

  /** A text that arrows behind it do not cross. */
  function label(text, left, base, room, fill) {
    const shown = cut(text, (part) => brush.measureText(part).width <= room);
    brush.lineWidth = 3;
    brush.strokeStyle = color("back");
    brush.strokeText(shown, left, base);
    brush.lineWidth = 1;
    brush.fillStyle = fill;
    brush.fillText(shown, left, base);
  }

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

  /** A bar, and its text along it where it is long enough; `lane` keeps texts side by side. */
  function fault(span, lane) {
    const [left, top] = [x(span[2]) - 9, Math.max(HEAD, y(span[0]))];
    const height = Math.max(3, y(span[1]) - top);
    brush.fillStyle = color("fault");
    brush.fillRect(left, top, 18, height);
    if (height < 60) return;
    brush.save();
    brush.translate(left - 9 - 11 * lane, top + 4);
    brush.rotate(Math.PI / 2);
    label(span[3], 0, 0, height - 8, color("lost"));
    brush.restore();
  }

  function spans(first, last) {
    const faults = within(data.faults, first, last);
    faults.forEach((span, index) => {
      const before = faults.slice(0, index).filter((other) => other[2] === span[2]);
      fault(span, within(before, span[0], span[1]).length);
    });
    brush.fillStyle = color("wait");
    for (const wait of within(data.waits, first, last)) {
      const shift = 16 + (wait[3] % 6) * 6;
      brush.fillRect(x(wait[2]) - shift, y(wait[0]), 4, Math.max(3, y(wait[1]) - y(wait[0])));
    }
    within(data.messages, first, last).forEach(arrow);
  }

  function highlight(row, found) {
    const kept = data.events[row][5] === 2;
    if (!kept && !found.has(row) && row !== state.row) return;
    brush.fillStyle = color(found.has(row) || row === state.row ? "match" : "keptrow");
    brush.fillRect(LEFT, y(row) - 8, canvas.clientWidth - LEFT, 16);
  }

  function dot(row) {
    const event = data.events[row];
    const [at, side] = [x(columnOf(event)), y(row)];
    const fill = color(["text", "decision", "kept"][event[5]]);
    brush.fillStyle = fill;
    brush.beginPath();
    brush.arc(at, side, event[5] === 0 ? 2.5 : 5, 0, 7);
    brush.fill();
    if (state.scale < 12) return;
    const task = event[3] < 0 ? "" : (data.tasks[event[3]] || "task " + event[3]) + ": ";
    const room = (canvas.clientWidth - LEFT) / Math.max(1, data.nodes.length) - 24;
    const end = canvas.clientWidth - at - 12;
    label(task + event[6], at + 9, side + 4, Math.min(room, end), fill);
  }

  /** The times of the rows, each once, as far apart as they can be read. */
  function times(rows) {
    let [shown, above] = ["", -100];
    for (const row of rows) {
      const text = (data.events[row][0] / 1e6).toFixed(3) + "ms";
      if (text === shown || y(row) < above + 12) continue;
      [shown, above] = [text, y(row)];
      brush.fillStyle = color("faint");
      brush.fillText(text, 8, above + 4);
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
    const rows = [];
    for (let row = first; row <= last; row += 1) {
      if (!state.only || data.events[row][5] > 0) rows.push(row);
    }
    rows.forEach((row) => highlight(row, found));
    if (last >= first) spans(first, last);
    rows.forEach(dot);
    times(rows);
    brush.fillStyle = color("back");
    brush.fillRect(0, 0, width, HEAD);
    brush.fillStyle = color("text");
    brush.font = "bold 12px sans-serif";
    brush.textAlign = "center";
    data.nodes.forEach((name, node) => brush.fillText(name, x(node), 19));
    brush.textAlign = "start";
    document.body.dataset.drawn = String(rows.length);
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
    ys = layout(data, state.spacing, state.scale, state.only);
    state.top = ys.length === 0 ? 0 : ys[anchor] - before;
    clamp();
    draw();
  }

  const step = (way) => show(nextMatch(state.found, state.row, way));
  const under = (event) => rowAt(ys, event.offsetY - HEAD - 15 + state.top - state.scale / 2);
  byId("title").textContent = data.title + (data.first > 0 ? ", from event " + data.first : "");
  byId("summary").textContent = summary(data);
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
    zoom(1, state.row);
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
