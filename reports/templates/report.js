"use strict";
// The page reads fully without this script; it adds sorting, filtering, links between chart and table, and copying.
(() => {
  const ROWS_AT_FIRST = 15;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const button = (text, label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };

  // Copying: the clipboard where the browser allows it, else a selection.
  async function copy(text, from) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const was = from.textContent;
    from.textContent = "copied";
    setTimeout(() => { from.textContent = was; }, 1200);
  }

  // Tables.
  const key = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return null;
    if (cell.classList.contains("n")) return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
    return cell.textContent.trim().toLowerCase();
  };
  function compare(a, b, down) {
    if (a === null || b === null) return (a === null) - (b === null); // what is not known stands last either way
    const order = typeof a === "number" ? a - b : a.localeCompare(b);
    return down ? -order : order;
  }
  function sortBy(table, column) {
    const heads = [...table.tHead.rows[0].cells];
    const head = heads[column];
    const first = head.classList.contains("n") && column > 0 ? "descending" : "ascending";
    const other = first === "descending" ? "ascending" : "descending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    heads.forEach((cell) => cell.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row, column), row]);
    rows.sort((a, b) => compare(a[0], b[0], order === "descending"));
    body.append(...rows.map((pair) => pair[1]));
    show(table);
  }
  // Hides what the filter excludes and, until asked for all, what lies beyond the first rows.
  function show(table) {
    const state = table.state;
    const text = state.text.toLowerCase();
    let found = 0;
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const hit = (!state.cls || row.dataset.class === state.cls) && (!text || row.searchText.includes(text));
      found += hit;
      row.hidden = !hit || (!state.all && shown >= ROWS_AT_FIRST);
      shown += !row.hidden;
    }
    state.found.textContent = text || state.cls ? `${found} of ${table.tBodies[0].rows.length} rows` : "";
    state.more.hidden = found <= shown;
    state.more.textContent = `Show all ${found} rows`;
  }
  function reveal(row) {
    const table = row.closest("table.data");
    row.closest("details")?.setAttribute("open", "");
    if (table?.state && row.hidden) {
      Object.assign(table.state, { all: true, text: "", cls: "" });
      all("input, select", table.state.tools).forEach((field) => { field.value = ""; });
      show(table);
    }
  }
  const quote = (text) => {
    // A spreadsheet takes these first characters for a formula.
    const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  function csv(table) {
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const units = { time: "time_us", "gap before": "gap_before_us", "starts at": "starts_at_us", wall: "wall_us", busy: "busy_us", launch: "launch_us", "FLOP/s": "TFLOP/s", "B/s": "GB/s" };
    const value = (cell) => {
      if (cell.classList.contains("n")) return cell.dataset.v ?? "";
      const named = cell.classList.contains("name") && cell.closest("table").dataset.name.startsWith("kernels");
      const span = cell.firstElementChild;
      if (named) return span.title || span.textContent;
      if (span?.parentElement.classList.contains("name")) return [...cell.querySelectorAll("span, small")].map((part) => part.textContent).join(" ");
      return cell.querySelector(".cls") ? cell.closest("tr").dataset.class : cell.textContent.trim();
    };
    const lines = [heads.map((head) => quote(units[head] ?? head))];
    for (const row of table.tBodies[0].rows) {
      if (!row.hidden || table.state.matches(row)) lines.push([...row.cells].map((cell) => quote(value(cell))));
    }
    return `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`;
  }
  function download(table) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
    link.download = `${table.dataset.name}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  function equip(table) {
    const tools = document.querySelector(`.tools[data-for="${table.id}"]`);
    const more = button("", "", () => { table.state.all = true; show(table); });
    table.parentElement.after(more);
    table.state = { text: "", cls: "", all: false, tools, more, found: tools.querySelector(".found") };
    table.state.matches = (row) => (!table.state.cls || row.dataset.class === table.state.cls)
      && row.searchText.includes(table.state.text.toLowerCase());
    for (const row of table.tBodies[0].rows) {
      const full = row.querySelector(".name span")?.title ?? "";
      row.searchText = `${row.textContent} ${full}`.toLowerCase();
    }
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const text = head.textContent;
      head.replaceChildren(button(text, "", () => sortBy(table, column)));
    });
    tools.querySelector("input").addEventListener("input", (event) => { table.state.text = event.target.value; show(table); });
    const choice = tools.querySelector("select");
    if (choice) {
      new Set([...table.tBodies[0].rows].map((row) => row.dataset.class)).forEach((name) => choice.add(new Option(name, name)));
      choice.addEventListener("change", () => { table.state.cls = choice.value; show(table); });
    }
    tools.querySelector(".csv").addEventListener("click", () => download(table));
    all("td.name", table).forEach((cell) => {
      const span = cell.firstElementChild;
      const made = button("copy", `Copy the name of row ${cell.parentElement.cells[0].textContent}`, () => copy(span.title || span.textContent, made));
      cell.append(made);
    });
    tools.hidden = false;
    show(table);
  }

  // Chart and table point at each other.
  const tip = document.getElementById("tip");
  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(4, y + 14 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10 : y + 14)}px`;
  }
  function choose(row) {
    all("tr.chosen").forEach((other) => other.classList.remove("chosen"));
    row.classList.add("chosen");
    light(row.id, true);
  }
  function light(id, stays) {
    all("a.pt.hot").forEach((point) => point.classList.toggle("hot", point.dataset.key === id));
    const point = document.querySelector(`a.pt[data-key="${CSS.escape(id)}"]`);
    if (point && stays) point.classList.add("hot");
  }
  function link(point) {
    const row = document.getElementById(point.dataset.key);
    const text = point.getAttribute("aria-label");
    const enter = (x, y) => { row?.classList.add("hot"); showTip(text, x, y); };
    const leave = () => { row?.classList.remove("hot"); tip.hidden = true; };
    point.addEventListener("mousemove", (event) => enter(event.clientX, event.clientY));
    point.addEventListener("mouseleave", leave);
    point.addEventListener("focus", () => { const box = point.getBoundingClientRect(); enter(box.right, box.bottom); });
    point.addEventListener("blur", leave);
    point.addEventListener("click", () => { if (row) { reveal(row); choose(row); } });
  }
  function linkRow(row) {
    row.addEventListener("mouseenter", () => light(row.id, true));
    row.addEventListener("mouseleave", () => light(document.querySelector("tr.chosen")?.id ?? "", true));
    row.addEventListener("click", (event) => { if (!event.target.closest("button")) choose(row); });
  }
  function zoomable(box) {
    const chart = box.parentElement.querySelector("svg.chart");
    const whole = chart.getAttribute("viewBox").split(" ").map(Number);
    let view = [...whole];
    const set = () => chart.setAttribute("viewBox", view.join(" "));
    all("button", box).forEach((made) => made.addEventListener("click", () => {
      const factor = Number(made.dataset.zoom);
      if (!factor) view = [...whole];
      else {
        const [x, y, w, h] = view;
        const wide = Math.min(w * factor, whole[2]);
        const high = Math.min(h * factor, whole[3]);
        view = [x + (w - wide) / 2, y + (h - high) / 2, wide, high];
      }
      set();
    }));
    let from = null;
    chart.addEventListener("pointerdown", (event) => { if (!event.target.closest("a")) from = [event.clientX, event.clientY, ...view]; });
    addEventListener("pointermove", (event) => {
      if (!from || view[2] === whole[2]) return;
      const scale = view[2] / chart.clientWidth;
      const [x, y, left, top] = from;
      const bound = (value, low, high) => Math.min(Math.max(value, low), high);
      view[0] = bound(left - (event.clientX - x) * scale, whole[0], whole[0] + whole[2] - view[2]);
      view[1] = bound(top - (event.clientY - y) * scale, whole[1], whole[1] + whole[3] - view[3]);
      set();
    });
    addEventListener("pointerup", () => { from = null; });
    box.hidden = false;
  }

  // The timeline of a step.
  function span(us) {
    if (us >= 1e6) return `${(us / 1e6).toPrecision(3)} s`;
    if (us >= 1e3) return `${(us / 1e3).toPrecision(3)} ms`;
    return us >= 1 ? `${us.toPrecision(3)} µs` : `${(us * 1e3).toPrecision(3)} ns`;
  }
  function timeline(figure) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const drawing = figure.querySelector(".track svg");
    const cursor = figure.querySelector(".cursor");
    const readout = figure.querySelector(".readout");
    const ticks = all(".ticks span", figure);
    const high = drawing.viewBox.baseVal.height;
    const lane = 26;
    let view = [0, 1000];
    let at = -1;
    const set = () => {
      drawing.setAttribute("viewBox", `${view[0]} 0 ${view[1]} ${high}`);
      [0, 0.5, 1].forEach((part, n) => { ticks[n].textContent = span((view[0] + view[1] * part) * data.wall / 1000); });
    };
    const zoom = (factor, middle) => {
      const wide = Math.min(1000, Math.max(view[1] * factor, 0.05));
      view = [Math.min(Math.max(middle - wide / 2, 0), 1000 - wide), wide];
      set();
    };
    function place(row, start, us) {
      cursor.setAttribute("y", row * lane);
      cursor.setAttribute("x", start / data.wall * 1000);
      cursor.setAttribute("width", us / data.wall * 1000);
    }
    function tell(n) {
      at = n;
      const [row, start, us, name, cls] = data.items[n];
      const gap = data.gaps.find(([from, long]) => Math.abs(from + long - start) < 0.002);
      const before = gap ? `; ${span(gap[1])} idle before it (${gap[2]})` : "";
      readout.textContent = `${n + 1} of ${data.items.length}: ${data.names[name]}, ${span(us)} from ${span(start)}, ${cls}${before}`;
      place(row, start, us);
      const x = start / data.wall * 1000;
      if (x < view[0] || x > view[0] + view[1]) zoom(1, x);
    }
    const where = (event) => {
      const box = drawing.getBoundingClientRect();
      return [(view[0] + (event.clientX - box.left) / box.width * view[1]) * data.wall / 1000, Math.floor((event.clientY - box.top) / lane)];
    };
    drawing.addEventListener("click", (event) => {
      const [us, row] = where(event);
      if (row === 0) {
        const gap = data.gaps.find(([start, long]) => start <= us && us <= start + long);
        if (gap) { readout.textContent = `idle for ${span(gap[1])} from ${span(gap[0])}: ${gap[2]}`; place(0, gap[0], gap[1]); }
        return;
      }
      let best = -1;
      let far = Infinity;
      data.items.forEach(([lane_, start, long], n) => {
        const away = Math.max(start - us, us - start - long, 0);
        if (lane_ === row && away < far) { far = away; best = n; }
      });
      if (best >= 0) tell(best);
    });
    all("[data-step]", figure).forEach((made) => made.addEventListener("click", () => {
      if (data.items.length) tell(Math.min(Math.max(at + Number(made.dataset.step), 0), data.items.length - 1));
    }));
    all("[data-zoom]", figure).forEach((made) => made.addEventListener("click", () => {
      const factor = Number(made.dataset.zoom);
      const middle = at >= 0 ? data.items[at][1] / data.wall * 1000 : view[0] + view[1] / 2;
      if (factor) zoom(factor, middle); else { view = [0, 1000]; set(); }
    }));
    figure.querySelector(".tools").hidden = false;
  }

  // The page as a whole.
  function theme() {
    const root = document.documentElement;
    const control = document.getElementById("theme");
    const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const name = () => { control.textContent = dark() ? "Light" : "Dark"; };
    control.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
    name();
  }
  function contents() {
    const links = new Map(all(".toc a").map((made) => [made.hash.slice(1), made]));
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        links.forEach((made) => { made.classList.remove("here"); made.removeAttribute("aria-current"); });
        const made = links.get(entry.target.id);
        made.classList.add("here");
        made.setAttribute("aria-current", "true");
      }
    }, { rootMargin: "-10% 0px -80% 0px" });
    all("main > section").forEach((section) => seen.observe(section));
  }
  function follow() {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    if (target?.tagName === "TR") { reveal(target); choose(target); target.scrollIntoView({ block: "center", behavior: "instant" }); }
  }

  all("table.data").forEach(equip);
  all("a.pt").forEach(link);
  all('table.data[data-name^="operators"] tbody tr').forEach(linkRow);
  all(".tools.zoom").forEach(zoomable);
  all("figure.timeline").forEach(timeline);
  all("pre.code").forEach((block) => {
    const text = block.textContent;
    const made = button("copy", "Copy the code", () => copy(text, made));
    block.append(made);
  });
  document.getElementById("phase-choice")?.addEventListener("change", (event) => {
    all("[data-phase]").forEach((block) => { block.hidden = event.target.value !== "" && block.dataset.phase !== event.target.value; });
  });
  document.querySelector(".controls").hidden = false;
  theme();
  contents();
  follow();
  addEventListener("hashchange", follow);
})();
