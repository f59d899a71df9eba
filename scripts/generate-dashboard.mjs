// Writes deploy/grafana/ductor.json, a panel for each metric of a node, from the metrics that a node has. --check:
// fails when the file holds anything else.
import { register } from 'tsx/esm/api';
import { writePage } from './lib/written-page.mjs';

register();
const { allMetrics } = await import('../engine/src/telemetry/testing/all-metrics.ts');

/** Rows of the dashboard, and what stands in them; metrics that are named nowhere stand in the last one. */
const ROWS = [
  ['Is it well?', /shards|parked|refused|fenced|unknown|conflicts/],
  ['Commits', /commit|compute|tick|dirty|timer/],
  ['Tasks and workers', /task|worker|attempt|queued/],
  ['Memory', /cache/],
  ['Everything else', /./],
];
const WIDTH = 8;
const HEIGHT = 7;
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** Labels that a metric is split by, beside the node. */
const LABELS = { ductor_queued_tasks: 'state', ductor_parked_runs_total: 'code', ductor_refused_starts_total: 'why' };

/** Queries of a panel: what is looked at depends on the kind of the metric. */
function targets({ name, type }) {
  const of = `${name}{instance=~"$instance"}`;
  if (type === 'histogram') {
    const quantile = (share) =>
      `histogram_quantile(${share}, sum by (le) (rate(${name}_bucket{instance=~"$instance"}[$__rate_interval])))`;
    return [0.5, 0.99].map((share) => ({ expr: quantile(share), legendFormat: `p${share * 100}` }));
  }
  const by = LABELS[name];
  const sum = by === undefined ? 'sum by (instance)' : `sum by (${by})`;
  const legendFormat = `{{${by ?? 'instance'}}}`;
  return [{ expr: type === 'counter' ? `${sum} (rate(${of}[$__rate_interval]))` : `${sum} (${of})`, legendFormat }];
}

function unit({ name, type }) {
  if (name.endsWith('_seconds')) return 's';
  if (name.endsWith('_bytes')) return 'bytes';
  return type === 'counter' ? 'ops' : 'short';
}

function panel(metric, id, at) {
  return {
    id,
    type: 'timeseries',
    title: metric.help,
    description: metric.name,
    datasource: DATASOURCE,
    gridPos: at,
    fieldConfig: { defaults: { unit: unit(metric), min: 0 }, overrides: [] },
    targets: targets(metric).map((target, index) => ({ refId: 'AB'[index], datasource: DATASOURCE, ...target })),
  };
}

function panels(all) {
  const left = new Set(all);
  const made = [];
  let y = 0;
  for (const [title, pattern] of ROWS) {
    const mine = [...left].filter(({ name }) => pattern.test(name));
    if (mine.length === 0) continue;
    made.push({
      id: made.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, metric] of mine.entries()) {
      left.delete(metric);
      const at = { x: (index % 3) * WIDTH, y: y + Math.floor(index / 3) * HEIGHT, w: WIDTH, h: HEIGHT };
      made.push(panel(metric, made.length + 1, at));
    }
    y += Math.ceil(mine.length / 3) * HEIGHT;
  }
  return made;
}

const query = 'label_values(ductor_shards, instance)';
const dashboard = {
  title: 'Ductor',
  uid: 'ductor',
  tags: ['ductor'],
  schemaVersion: 39,
  refresh: '10s',
  time: { from: 'now-1h', to: 'now' },
  templating: {
    list: [
      { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
      {
        ...{ name: 'instance', label: 'Node', type: 'query', datasource: DATASOURCE, query, definition: query },
        ...{ includeAll: true, multi: true, refresh: 2, current: { text: 'All', value: '$__all' } },
      },
    ],
  },
  panels: panels(await allMetrics()),
};

const file = new URL('../deploy/grafana/ductor.json', import.meta.url);
await writePage(file, JSON.stringify(dashboard), 'node scripts/generate-dashboard.mjs', 'json');
