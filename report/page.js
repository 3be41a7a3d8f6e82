// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Draws the figures in #figures. Every script error lands in #script-errors, where a reader and the tests see it.
'use strict';

function reportError(text) {
  document.getElementById('script-errors').textContent += text + '\n';
}
window.addEventListener('error', event => reportError('Script error: ' + event.message));
window.addEventListener('unhandledrejection', event => reportError('Script error: ' + event.reason));
const consoleError = console.error;
console.error = (...parts) => {
  reportError('Script error: ' + parts.join(' '));
  consoleError.apply(console, parts);
};

const printWidth = 700;  // px: A4 less its margins at 96 px per inch

function styledAxis(axis, narrow) {
  const styled = Object.assign({
    automargin: true, showline: true, linecolor: '#888', gridcolor: '#e6e9ed', zeroline: false,
    ticks: 'outside', tickcolor: '#888', ticklen: 4, exponentformat: 'SI',
  }, axis);
  styled.title = Object.assign({standoff: 8}, axis.title);
  if (narrow && axis.tickvals && axis.tickvals.length > 6) {  // every other label: they would overlap
    styled.ticktext = axis.ticktext.map((text, i) => (i % 2 ? '' : text));
  }
  return styled;
}

function styledLayout(layout, width) {
  const narrow = width < 560;
  const styled = Object.assign({}, layout, {
    font: {family: 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif', size: narrow ? 11 : 13, color: '#1a1a1a'},
    paper_bgcolor: '#fff', plot_bgcolor: '#fff', hovermode: 'closest', dragmode: narrow ? false : 'zoom',
    margin: {l: narrow ? 8 : 56, r: narrow ? 8 : 16, t: 14, b: 40},
    hoverlabel: {bgcolor: '#fff', bordercolor: '#888', align: 'left', font: {size: 12, color: '#1a1a1a'}},
    legend: Object.assign({
      orientation: 'h', x: 0, xanchor: 'left', y: -0.16, yanchor: 'top', font: {size: narrow ? 10 : 12},
    }, layout.legend),
    xaxis: styledAxis(layout.xaxis, narrow), yaxis: styledAxis(layout.yaxis, narrow),
  });
  return styled;
}

// What plotly really drew, for the tests: points in the data, and marker elements in the picture.
function recordDrawn(element) {
  const groups = [...element.querySelectorAll('.scatterlayer .trace')];
  const drawn = element._fullData.filter(trace => trace.visible === true).map((trace, i) => ({
    name: trace.name, mode: trace.mode, x: element.data[trace.index].x, y: element.data[trace.index].y,
    markers: groups[i] ? groups[i].querySelectorAll('.points path').length : 0,
    lines: groups[i] ? groups[i].querySelectorAll('.lines path').length : 0,
  }));
  element.dataset.drawn = JSON.stringify({traces: drawn, shapes: element.querySelectorAll('.shapelayer path').length});
}

function drawAll(width) {
  const figures = JSON.parse(document.getElementById('figures').textContent);
  const config = {responsive: width === undefined, displaylogo: false, modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d']};
  return Promise.all([...document.querySelectorAll('.plot')].map(element => {
    const figure = figures[element.dataset.figure];
    const layout = styledLayout(figure.layout, width || element.clientWidth);
    if (width) layout.width = Math.min(width, element.clientWidth || width);
    return Plotly.react(element, figure.data, layout, config).then(() => recordDrawn(element));
  }));
}

// This script runs before plotly's, so that an error in there is seen too.
document.addEventListener('DOMContentLoaded', () => {
  drawAll().then(() => { document.body.dataset.ready = 'true'; }, error => reportError('Script error: ' + error));
});
window.addEventListener('beforeprint', () => drawAll(printWidth));
window.addEventListener('afterprint', () => drawAll());
