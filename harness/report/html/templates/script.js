(() => {
  "use strict";
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const overview = document.getElementById("overview");
  const chips = all(".chip", overview);
  const rows = all(".matrix tbody tr", overview);
  const tiles = all(".tile", overview);

  // -- filter and search

  const text = new Map(tiles.map((tile) => [tile, tile.dataset.find + " " + tile.closest("tr").dataset.find]));

  function filter() {
    const wanted = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.only);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      let any = false;
      for (const tile of all(".tile", row)) {
        const is = tile.dataset.is.split(" ");
        const fits = (!wanted.length || wanted.some((name) => is.includes(name)))
          && words.every((word) => text.get(tile).includes(word));
        tile.hidden = !fits;
        any ||= fits;
        count += fits ? 1 : 0;
      }
      row.hidden = !any;
    }
    const narrowed = wanted.length || words.length;
    shown.textContent = narrowed ? `${count} of ${tiles.length} trials shown` : "";
    rove(tiles, tiles.find((tile) => !tile.hidden && tile.tabIndex === 0));
  }

  for (const chip of chips) {
    chip.disabled = false;
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      filter();
    });
  }
  if (search) {
    search.disabled = false;
    search.addEventListener("input", filter);
  }

  // -- one stop for the tab key, the arrows from there

  function rove(group, to) {
    const next = to || group.find((one) => !one.hidden);
    for (const one of group) one.setAttribute("tabindex", one === next ? "0" : "-1");
    return next;
  }

  function go(group, to) {
    if (to) rove(group, to).focus();
    return Boolean(to);
  }

  const visible = (within) => all(".tile", within).filter((tile) => !tile.hidden);

  function acrossRows(tile, by) {
    const cell = tile.closest("td");
    const open = rows.filter((row) => !row.hidden);
    for (let at = open.indexOf(cell.parentNode) + by; at >= 0 && at < open.length; at += by) {
      const there = visible(open[at].cells[cell.cellIndex]);
      if (there.length) return there[Math.min(visible(cell).indexOf(tile), there.length - 1)];
    }
    return null;
  }

  function inMatrix(event, tile) {
    const row = visible(tile.closest("tr"));
    const every = tiles.filter((one) => !one.hidden);
    const far = event.ctrlKey || event.metaKey ? every : row;
    switch (event.key) {
      case "ArrowRight": return row[row.indexOf(tile) + 1];
      case "ArrowLeft": return row[row.indexOf(tile) - 1];
      case "ArrowDown": return acrossRows(tile, 1);
      case "ArrowUp": return acrossRows(tile, -1);
      case "Home": return far[0];
      case "End": return far[far.length - 1];
      default: return null;
    }
  }

  const left = (mark) => mark.getBoundingClientRect().left;

  function inTimeline(event, mark) {
    const strip = mark.closest("svg");
    const here = all(".m", strip).sort((a, b) => left(a) - left(b));
    const strips = all("svg.strip", mark.closest(".tl")).filter((one) => one.querySelector(".m"));
    const other = (by) => {
      const there = strips[strips.indexOf(strip) + by];
      const far = (one) => Math.abs(left(one) - left(mark));
      return there && all(".m", there).reduce((a, b) => (far(b) < far(a) ? b : a));
    };
    switch (event.key) {
      case "ArrowRight": return here[here.indexOf(mark) + 1];
      case "ArrowLeft": return here[here.indexOf(mark) - 1];
      case "ArrowDown": return other(1);
      case "ArrowUp": return other(-1);
      case "Home": return here[0];
      case "End": return here[here.length - 1];
      default: return null;
    }
  }

  function tell(event) {
    const mark = event.target.closest && event.target.closest(".tl .m");
    if (mark) mark.closest(".tl").querySelector(".told").textContent = mark.querySelector("title").textContent;
  }

  document.addEventListener("focusin", tell);
  document.addEventListener("pointerover", tell);

  // -- a trial and back

  let came = null;

  function opened() {
    const id = decodeURIComponent(location.hash.slice(1));
    const trial = id && document.getElementById(id);
    return trial && trial.classList.contains("trial") ? trial : null;
  }

  function arrive() {
    const trial = opened();
    if (trial) {
      came = tiles.find((tile) => tile.hash === location.hash) || came;
      rove(all(".tl .m", trial));
      for (const told of all(".told", trial)) told.hidden = false;
      window.scrollTo(0, 0);
      trial.querySelector("h2").focus({ preventScroll: true });
    } else if (came && !came.hidden && ["", "#overview"].includes(location.hash)) {
      go(tiles, came);
      came.scrollIntoView({ block: "center" });
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.defaultPrevented) return;
    const typing = event.target === search;
    const tile = event.target.closest && event.target.closest(".tile");
    const mark = event.target.closest && event.target.closest(".tl .m");
    if (event.key === "Escape") {
      if (opened()) location.hash = "overview";
      else if (search && search.value) { search.value = ""; filter(); }
      else if (typing) search.blur();
    } else if (event.key === "/" && !typing && search) {
      event.preventDefault();
      if (opened()) location.hash = "overview";
      setTimeout(() => search.focus());
    } else if (typing && event.key === "ArrowDown") {
      if (go(tiles, tiles.find((one) => !one.hidden))) event.preventDefault();
    } else if (tile && go(tiles, inMatrix(event, tile))) event.preventDefault();
    else if (mark && go(all(".tl .m", mark.closest(".tl")), inTimeline(event, mark))) event.preventDefault();
  });

  window.addEventListener("hashchange", arrive);
  rove(tiles);
  arrive();
})();
