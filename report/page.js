// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Draws the figures in #figures. Every script error lands in #script-errors, where a reader and the tests see it.
// This script runs before plotly's, so that an error in there is seen too.
'use strict';

function reportError(text) {
  document.getElementById('script-errors').textContent += 'Script error: ' + text + '\n';
}
window.addEventListener('error', event => reportError(event.message));
window.addEventListener('unhandledrejection', event => reportError(event.reason));
const consoleError = console.error;
console.error = (...parts) => {
  reportError(parts.join(' '));
  consoleError.apply(console, parts);
};

const printWidth = 690;  // px: A4 less its margins at 96 px per inch

// ---- Ticks: 1-2-5 with SI prefix and unit, powers of two with binary prefix for bytes.

function trimmed(value) { return String(Number(value.toPrecision(4))); }

function labelled(value, unit) {
  if (unit === '1') return trimmed(value);
  if (value === 0) return '0 ' + unit;
  const magnitude = Math.abs(value);
  if (unit === 'B') {
    const index = Math.max(0, Math.min(4, Math.floor(Math.log2(magnitude) / 10 + 1e-9)));
    return trimmed(value / 1024 ** index) + ' ' + ['B', 'KiB', 'MiB', 'GiB', 'TiB'][index];
  }
  const index = unit === 'cycle' ? 0 : Math.max(-4, Math.min(6, Math.floor(Math.log10(magnitude) / 3 + 1e-9)));
  return trimmed(value / 1000 ** index) + ' ' + ['p', 'n', 'µ', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'][index + 4] + unit;
}

function linearTicks(lo, hi, most) {
  const raw = (hi - lo) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw * (1 - 1e-9));
  const values = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi * (1 + 1e-12); ++i) values.push(i * step);
  return values;
}

function powersBetween(lo, hi, base, mantissas, step) {
  const values = [];
  const first = Math.floor(Math.log(lo) / Math.log(base) / step) * step;
  for (let power = first; base ** power <= hi; power += step) {
    for (const mantissa of mantissas) {
      const value = mantissa * base ** power;
      if (value >= lo * (1 - 1e-9) && value <= hi * (1 + 1e-9)) values.push(value);
    }
  }
  return values;
}

// At most `most` ticks between lo and hi; the densest of the ladders that fits.
function logTicks(lo, hi, unit, most) {
  const steps = [1, 2, 3, 4, 5, 6, 8, 10];
  const ladders = unit === 'B' ? steps.map(step => [2, [1], step])
                               : [[10, [1, 2, 5], 1], [10, [1, 3], 1], ...steps.map(step => [10, [1], step])];
  for (const [base, mantissas, step] of ladders) {
    const values = powersBetween(lo, hi, base, mantissas, step);
    if (values.length <= most) return values.length >= 2 ? values : linearTicks(lo, hi, most);
  }
  return [lo, hi];
}

function ticksOf(axis, unit, pixels) {
  const [from, to] = axis.type === 'log' ? axis.range.map(r => 10 ** r) : axis.range;
  const most = Math.max(2, Math.floor(axis._length / pixels));
  const values = axis.type === 'log' ? logTicks(from, to, unit, most) : linearTicks(from, to, most);
  return {tickvals: values, ticktext: values.map(value => labelled(value, unit))};
}

// After each drawing and zooming. Changes nothing, and so ends, once the ticks fit the range.
function fitTicks(element, units) {
  const full = element._fullLayout;
  const x = ticksOf(full.xaxis, units.x, 74);
  const y = ticksOf(full.yaxis, units.y, 30);
  const key = JSON.stringify([x, y]);
  if (element.ticksKey === key) return Promise.resolve();
  element.ticksKey = key;
  return Plotly.relayout(element, {
    'xaxis.tickvals': x.tickvals, 'xaxis.ticktext': x.ticktext, 'yaxis.tickvals': y.tickvals, 'yaxis.ticktext': y.ticktext,
  });
}

// ---- Layout: fonts, margins, and what a narrow screen needs.

function styledAxis(axis) {
  const styled = Object.assign({
    automargin: true, showline: true, linecolor: '#888', gridcolor: '#e6e9ed', zeroline: false,
    ticks: 'outside', tickcolor: '#888', ticklen: 4,
  }, axis);
  styled.title = Object.assign({standoff: 8}, axis.title);
  return styled;
}

function styledLayout(layout, width) {
  const narrow = width < 560;
  return Object.assign({}, layout, {
    font: {family: 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif', size: narrow ? 11 : 13, color: '#1a1a1a'},
    paper_bgcolor: '#fff', plot_bgcolor: '#fff', hovermode: 'closest', showlegend: true, dragmode: narrow ? false : 'zoom',
    margin: {l: narrow ? 8 : 60, r: narrow ? 10 : 16, t: 34, b: 44},
    hoverlabel: {bgcolor: '#fff', bordercolor: '#888', align: 'left', font: {size: 12, color: '#1a1a1a'}},
    legend: Object.assign({
      orientation: 'h', x: 0, xanchor: 'left', y: 0, yanchor: 'bottom', yref: 'container', font: {size: narrow ? 10 : 12}, tracegroupgap: 0,
    }, layout.legend),
    annotations: (layout.annotations || []).map(note => Object.assign({}, note, {font: Object.assign({}, note.font, narrow ? {size: 9} : {})})),
    xaxis: styledAxis(layout.xaxis), yaxis: styledAxis(layout.yaxis),
  });
}

// What plotly really drew, for the tests: points in the data, and marker elements in the picture.
function recordDrawn(element) {
  const groups = [...element.querySelectorAll('.scatterlayer .trace')];
  const traces = element._fullData.filter(trace => trace.visible === true).map((trace, i) => ({
    name: trace.name, mode: trace.mode, x: element.data[trace.index].x, y: element.data[trace.index].y,
    markers: groups[i] ? groups[i].querySelectorAll('.points path').length : 0,
    lines: groups[i] ? groups[i].querySelectorAll('.lines path').length : 0,
  }));
  element.dataset.drawn = JSON.stringify({traces, shapes: element.querySelectorAll('.shapelayer path').length});
}

function draw(element, figure, width) {
  const layout = styledLayout(figure.layout, width || element.clientWidth);
  if (width) {
    layout.width = Math.min(width, element.clientWidth);
    layout.height = element.classList.contains('square') ? 560 : 320;
  }
  const narrow = element.clientWidth < 560;
  const config = {responsive: !width, displaylogo: false, displayModeBar: narrow ? false : 'hover', modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d']};
  element.ticksKey = '';
  return Plotly.react(element, figure.data, layout, config)
    .then(() => fitTicks(element, figure.units))
    .then(() => {
      element.removeAllListeners('plotly_relayout');
      element.on('plotly_relayout', () => fitTicks(element, figure.units));
      recordDrawn(element);
    });
}

function drawAll(width) {
  const figures = JSON.parse(document.getElementById('figures').textContent);
  return Promise.all([...document.querySelectorAll('.plot')].map(element => draw(element, figures[element.dataset.figure], width)));
}

document.addEventListener('DOMContentLoaded', () => {
  drawAll().then(() => { document.body.dataset.ready = 'true'; }, reportError);
});
window.addEventListener('beforeprint', () => drawAll(printWidth));
window.addEventListener('afterprint', () => drawAll());
