"""The contrast of the texts of a page, measured in a browser."""

#: The least contrast of a text with what is behind it, and that text.
CONTRAST = """
(() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = numbers(color).map((one) => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if ((numbers(color)[3] ?? 1) > 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  let worst = [21, ''];
  for (const one of document.body.querySelectorAll('*')) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3
      && node.data.trim());
    if (!own || ['SCRIPT', 'title', 'desc'].includes(one.tagName)) continue;
    const style = getComputedStyle(one);
    const ink = one.ownerSVGElement ? style.fill : style.color;
    const pair = [light(ink), light(behind(one))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < worst[0]) worst = [ratio, one.tagName + ' ' + one.textContent];
  }
  return worst;
})()
"""
