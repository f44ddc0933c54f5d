// The summary as a picture: for each load and server its ratio to the limit, on
// a logarithmic axis, a panel a figure. The dot is the median of the rounds, the
// thin line their least and most.
'use strict';

const { LIMIT } = require('./servers.js');
const { summarize } = require('./summary.js');

const PANELS = [
  { metric: 'cpu_us', title: 'CPU a delivered message' },
  { metric: 'message_p99_us', title: 'p99 of a message' },
  { metric: 'frame_p99_us', title: 'p99 of a frame' },
];

// Told apart by people who see colours otherwise, too (Okabe and Ito).
const COLOURS = ['#000000', '#56b4e9', '#0072b2', '#009e73', '#d55e00',
                 '#cc79a7', '#e69f00'];

const LABELS = 210;       // left of the panels
const PANEL = 260;        // width
const GAP = 44;
const TOP = 92;
const LANE = 11;          // of one server
const GROUP_GAP = 14;     // between scenarios
const BOTTOM = 34;
const LEGEND_COLUMNS = 4;
const LEGEND_WIDTH = 255;

const number = (value) => String(Math.round(value * 10) / 10);
const escaped = (text) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

function text(x, y, content, extra = '') {
  return `<text x="${number(x)}" y="${number(y)}"${extra}>` +
         `${escaped(content)}</text>`;
}

function line(x1, y1, x2, y2, colour, width) {
  return `<line x1="${number(x1)}" y1="${number(y1)}" x2="${number(x2)}" ` +
         `y2="${number(y2)}" stroke="${colour}" stroke-width="${width}"/>`;
}

const rivals = ({ rows }) =>
  rows.filter(({ server }) => server.name !== LIMIT);

// The powers of two around all ratios and 1.
function axisOf(groups) {
  const ends = groups.flatMap((group) => rivals(group).flatMap(
    ({ ratios }) => PANELS.flatMap(({ metric }) => ratios[metric]
      ? [ratios[metric].least, ratios[metric].most] : [])));
  const low = Math.floor(Math.log2(Math.min(...ends, 1)));
  const high = Math.max(Math.ceil(Math.log2(Math.max(...ends, 1))), low + 1);
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 2 ** (low + i)),
    at: (ratio) => (Math.log2(ratio) - low) / (high - low) * PANEL,
  };
}

// Where each scenario begins, and where the last one ends.
function layOut(groups) {
  let y = TOP;
  const placed = groups.map((group) => {
    const top = y;
    y += rivals(group).length * LANE + GROUP_GAP;
    return { ...group, top };
  });
  return { placed, end: y };
}

function drawAxis(left, axis, title, end) {
  const parts = [text(left, TOP - 24, title, ' font-weight="bold"')];
  for (const tick of axis.ticks) {
    const x = left + axis.at(tick);
    parts.push(line(x, TOP - 8, x, end, tick === 1 ? '#000' : '#ddd', 1));
    parts.push(text(x, end + 14, `×${tick < 1 ? `1/${1 / tick}` : tick}`,
                    ' text-anchor="middle"'));
  }
  return parts;
}

function drawRatio(left, y, axis, spread, colour, hint) {
  const at = (ratio) => left + axis.at(ratio);
  return [
    line(at(spread.least), y, at(spread.most), y, colour, 1.5),
    `<circle cx="${number(at(spread.median))}" cy="${number(y)}" r="4" ` +
      `fill="${colour}"><title>${escaped(hint)}: ` +
      `×${spread.median.toFixed(2)}</title></circle>`,
  ];
}

function drawPanel(panel, left, axis, placed, end, colours) {
  const parts = drawAxis(left, axis, panel.title, end);
  for (const group of placed) {
    rivals(group).forEach(({ server, ratios }, lane) => {
      const spread = ratios[panel.metric];
      const y = group.top + lane * LANE + LANE / 2;
      const colour = colours.get(server.name);
      if (!spread) {
        parts.push(text(left + axis.at(1) + 6, y + 4, 'no figure',
                        ` fill="${colour}" font-size="9"`));
        return;
      }
      parts.push(...drawRatio(
        left, y, axis, spread, colour,
        `${server.title}, ${group.scenario.name}`));
    });
  }
  return parts;
}

// The limit is the line at 1.
function drawLegend(servers, colours) {
  return servers.filter(({ name }) => name !== LIMIT).flatMap((server, i) => {
    const x = 16 + (i % LEGEND_COLUMNS) * LEGEND_WIDTH;
    const y = 38 + Math.floor(i / LEGEND_COLUMNS) * 16;
    return [`<circle cx="${x}" cy="${y - 4}" r="4" ` +
              `fill="${colours.get(server.name)}"/>`,
            text(x + 10, y, server.title)];
  });
}

function toSvg(results) {
  const groups = summarize(results).filter(
    ({ scenario }) => scenario.kind === 'load');
  const colours = new Map(results.servers.map(
    ({ name }, i) => [name, COLOURS[i % COLOURS.length]]));
  const axis = axisOf(groups);
  const { placed, end } = layOut(groups);
  const width = LABELS + PANELS.length * (PANEL + GAP);
  const parts = [
    text(16, 18, 'Ratios to the bare epoll loop in the same run; less is better',
         ' font-weight="bold"'),
    ...drawLegend(results.servers, colours),
    ...placed.map((group) => text(
      16, group.top + rivals(group).length * LANE / 2 + 4,
      group.scenario.name)),
    ...PANELS.flatMap((panel, i) => drawPanel(
      panel, LABELS + i * (PANEL + GAP), axis, placed, end, colours)),
  ];
  const size = `width="${width}" height="${end + BOTTOM}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ` +
         `viewBox="0 0 ${width} ${end + BOTTOM}" font-family="sans-serif" ` +
         'font-size="11">\n' +
         `<rect ${size} fill="#fff"/>\n${parts.join('\n')}\n</svg>\n`;
}

module.exports = { toSvg };
