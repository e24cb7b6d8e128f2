// What the tests ask of a page; every answer is a list of what is wrong, in words.
const visible = (e) => {
  const box = e.getBoundingClientRect();
  return box.width > 1 && box.height > 1 && e.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
};
const named = (e) => `${e.tagName}.${e.getAttribute("class") || ""} ${e.textContent.trim().slice(0, 60)}`;
const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
const texts = () => [...document.querySelectorAll("body *")].filter((e) => own(e) && visible(e) && !["SCRIPT", "STYLE", "title"].includes(e.tagName));

// Boxes of the words themselves, one for each line of each text.
const words = (e) => {
  const range = document.createRange();
  range.selectNodeContents(e);
  return [...range.getClientRects()].filter((box) => box.width > 1);
};

function unfold() {
  for (const e of document.querySelectorAll(":target details")) e.open = true;
}

function sticking() {
  const width = document.documentElement.clientWidth;
  const wrong = [];
  if (document.documentElement.scrollWidth > width) wrong.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${width}`);
  for (const e of texts()) {
    const scrolls = e.closest(".scroll");
    if (scrolls && getComputedStyle(scrolls).overflowX === "auto") continue;
    for (const box of words(e)) {
      if (box.left < -0.5 || box.right > width + 0.5) { wrong.push(`outside: ${named(e)} ${Math.round(box.left)}–${Math.round(box.right)}`); break; }
    }
  }
  return wrong;
}

function cut() {
  return texts().filter((e) => {
    const style = getComputedStyle(e);
    if (e.closest(".hide") || e instanceof SVGElement) return false;
    const hides = style.overflowX !== "visible" || style.overflowY !== "visible";
    return hides && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1);
  }).map(named);
}

function overlapping(selector) {
  const boxes = [...document.querySelectorAll(selector)].filter(visible).map((e) => [e, e.getBoundingClientRect()]);
  boxes.sort((a, b) => a[1].top - b[1].top);
  const wrong = [];
  boxes.forEach(([one, a], index) => {
    for (let n = index + 1; n < boxes.length && boxes[n][1].top < a.bottom; n++) {
      const [other, b] = boxes[n];
      if (one.contains(other) || other.contains(one)) continue;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 0.5 && high > 0.5) wrong.push(`${named(one)} × ${named(other)}`);
    }
  });
  return wrong;
}

const channels = (colour) => {
  const numbers = colour.match(/[\d.]+/g).map(Number);
  return numbers.length === 3 ? [...numbers, 1] : numbers;
};
const light = (colour) => {
  const [r, g, b] = colour.slice(0, 3).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
function ground(e) {
  for (let at = e; at; at = at.parentElement) {
    const colour = channels(getComputedStyle(at).backgroundColor);
    if (colour[3] > 0) return colour;
  }
  return [255, 255, 255, 1];
}
function behind(e) {
  const span = e.closest("a.m") && e.tagName === "text" ? e.closest("a.m").querySelector("rect") : null;
  const fill = span && getComputedStyle(span).fill;
  return fill && fill !== "none" && span.parentElement === e.parentElement ? channels(fill) : ground(e);
}

function faint() {
  const wrong = [];
  let seen = 0;
  for (const e of texts()) {
    const style = getComputedStyle(e);
    const colour = channels(e instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(colour), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    seen++;
    if (ratio < (large ? 3 : 4.5)) wrong.push(`${ratio.toFixed(2)} ${named(e)} ${style.color}`);
  }
  if (!seen) wrong.push("there is no text");
  return wrong;
}
