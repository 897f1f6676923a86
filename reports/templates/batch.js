"use strict";
(() => {
  const packed = JSON.parse(document.getElementById("data").textContent);
  const text = (cell) => (cell !== null && typeof cell === "object" ? packed.strings[cell.s] : cell);
  const rows = packed.rows.map((cells) => Object.fromEntries(packed.columns.map((name, i) => [name, text(cells[i])])));
  const shown = ["trace", "model", "engine", "device", "phase", "bound", "margin", "wall_us", "busy", "efficiency", "launch", "warnings"];
  const PAGE = 100;
  const body = document.querySelector("#table tbody");
  const heads = [...document.querySelectorAll("#table th")];
  let order = rows, from = 0, sorted = "", down = false;

  const percent = (v) => (v === null ? "–" : (100 * v).toFixed(1) + " %");
  const time = (v) => (v === null ? "–" : v >= 1e6 ? (v / 1e6).toPrecision(3) + " s" : v >= 1e3 ? (v / 1e3).toPrecision(3) + " ms" : v.toPrecision(3) + " µs");
  const say = {
    margin: (v) => (v === null ? "–" : v.toFixed(2)), wall_us: time, busy: percent, efficiency: percent, launch: percent,
  };

  function cell(row, name) {
    const td = document.createElement("td");
    if (name === "trace" && row.page) {
      const a = document.createElement("a");
      a.href = "traces/" + encodeURIComponent(row.page);
      a.textContent = row.trace;
      td.append(a);
    } else {
      td.textContent = say[name] ? say[name](row[name]) : row[name] === null || row[name] === "" ? "–" : row[name];
    }
    if (name === "bound" && row.contested) td.append(" (contested)");
    if (name === "trace" && row.error) {
      const small = document.createElement("small");
      small.textContent = row.error;
      td.append(document.createElement("br"), small);
    }
    return td;
  }

  function draw() {
    body.replaceChildren(...order.slice(from, from + PAGE).map((row) => {
      const tr = document.createElement("tr");
      tr.append(...shown.map((name) => cell(row, name)));
      return tr;
    }));
    const last = Math.min(from + PAGE, order.length);
    document.getElementById("count").textContent = order.length ? `${from + 1} to ${last} of ${order.length}` : "no row";
    document.getElementById("before").disabled = from === 0;
    document.getElementById("next").disabled = last >= order.length;
  }

  function select() {
    const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    order = rows.filter((row) => words.every((word) => {
      const [key, ...rest] = word.split(":");
      if (rest.length && key in row) return String(row[key] ?? "").toLowerCase().includes(rest.join(":"));
      return ["trace", "model", "engine", "device", "phase", "bound", "error"].some((n) => String(row[n] ?? "").toLowerCase().includes(word));
    }));
    if (sorted) {
      const value = (row) => row[sorted];
      order = [...order].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
      });
    }
    from = 0;
    draw();
  }

  heads.forEach((head, i) => {
    const name = shown[i];
    const sort = () => {
      down = sorted === name ? !down : false;
      sorted = name;
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      select();
    };
    head.tabIndex = 0;
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (e) => { if (e.key === "Enter") sort(); });
  });
  document.getElementById("filter").addEventListener("input", select);
  document.getElementById("before").addEventListener("click", () => { from = Math.max(0, from - PAGE); draw(); });
  document.getElementById("next").addEventListener("click", () => { from += PAGE; draw(); });
  document.getElementById("csv").addEventListener("click", () => {
    const safe = (v) => {
      let s = v === null || v === undefined ? "" : String(v);
      if (/^[=+\-@\t\r]/.test(s) && Number.isNaN(Number(s))) s = "'" + s;
      return '"' + s.replaceAll('"', '""') + '"';
    };
    const lines = [packed.columns.join(","), ...order.map((row) => packed.columns.map((n) => safe(row[n])).join(","))];
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([lines.join("\r\n")], { type: "text/csv" }));
    a.download = "boundby.csv";
    a.click();
  });
  document.querySelector(".controls").hidden = false;
  draw();
})();
