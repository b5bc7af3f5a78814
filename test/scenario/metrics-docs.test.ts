import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startHawser } from '../support/hawser.ts';
import { type Families, parsePrometheus } from '../support/prometheus.ts';

const TOKEN = 'the-token-that-opens-the-metrics';
const readDocument = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');

/** Every metric that a text asks for, as a sample is called. */
function metricsIn(text: string): string[] {
  return [...new Set(text.match(/\b(?:hawser|process|nodejs)_[a-z0-9_]*[a-z0-9]\b/g))];
}

describe('the metrics that a server exposes', () => {
  let families: Families;
  before(async () => {
    const hawser = await startHawser({ HAWSER_METRICS_TOKEN: TOKEN });
    const reply = await hawser.client().get('/metrics', { Authorization: `Bearer ${TOKEN}` });
    families = parsePrometheus(reply.text);
    await hawser.close();
  });

  const ours = () => [...families.values()].filter(({ name }) => name.startsWith('hawser_'));

  /** A histogram by the names of its samples alone: to draw it as such would show nothing. */
  function isExposed(name: string): boolean {
    if (families.has(name)) return families.get(name)?.type !== 'histogram';
    const [, base = '', part] = /^(.+)_(bucket|sum|count)$/.exec(name) ?? [];
    const type = families.get(base)?.type;
    return type === 'histogram' || (type === 'summary' && part !== 'bucket');
  }

  it('are named by the conventions of Prometheus, each with a help text', () => {
    for (const { name, type, help } of ours()) {
      expect(name.endsWith('_total'), name).to.equal(type === 'counter');
      expect(name, name).to.match(/^hawser_[a-z_]+$/);
      expect(help.length, name).to.be.greaterThan(15);
    }
  });

  it('are the ones that docs/metrics.md lists, with their types', () => {
    const rows = [...readDocument('metrics.md').matchAll(/^\| `(hawser_\w+)` \| (\w+) \|/gm)];
    const listed = rows.map(([, name, type]) => `${name} ${type}`).sort();
    expect(listed).to.deep.equal(
      ours()
        .map(({ name, type }) => `${name} ${type}`)
        .sort(),
    );
  });

  it('are the ones that the alerts of docs/metrics.md ask for', () => {
    const alerts = readDocument('metrics.md').split('## Alerts')[1] ?? '';
    const asked = metricsIn(alerts);
    expect(asked).to.have.length.greaterThan(10);
    for (const name of asked) expect(isExposed(name), name).to.equal(true);
  });

  it('are the ones that the dashboard asks for, and the dashboard shows each of ours', () => {
    const { panels } = JSON.parse(readDocument('grafana-dashboard.json')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const asked = metricsIn(panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n'));
    for (const name of asked) expect(isExposed(name), name).to.equal(true);
    for (const { name } of ours())
      expect(
        asked.some((other) => other.replace(/_(?:bucket|sum|count)$/, '') === name || other === name),
        name,
      ).to.equal(true);
  });
});

describe('the dashboard', () => {
  const dashboard = JSON.parse(readDocument('grafana-dashboard.json'));

  it('asks at its import for the data source, and uses no other', () => {
    expect(dashboard.__inputs).to.have.length(1);
    expect(dashboard.__inputs[0]).to.include({ name: 'DS_PROMETHEUS', pluginId: 'prometheus' });
    const uids = [...JSON.stringify(dashboard).matchAll(/"uid":"(\$[^"]*)"/g)].map(([, uid]) => uid);
    expect(new Set(uids)).to.deep.equal(new Set([`\${${dashboard.__inputs[0].name}}`]));
  });

  it('has panels that say what they show, each in its own place', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }: { id: number }) => id)).size).to.equal(panels.length);
    const taken = new Set<string>();
    for (const { type, title, description, gridPos } of panels) {
      if (type !== 'row') expect(description, title).to.be.a('string').with.length.greaterThan(4);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x} ${y}`), `${title} covers another panel`).to.equal(false);
          taken.add(`${x} ${y}`);
          expect(x, title).to.be.lessThan(24);
        }
    }
  });
});
