// full: SQLite
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { readAlerts, readPanels, readQueries } from '../support/alerts.ts';
import { startHawser } from '../support/hawser.ts';
import { type Families, readMetrics } from '../support/prometheus.ts';

const TOKEN = 'the-token-that-opens-the-metrics';
const readDocument = (name: string) => readFileSync(join(PROJECT, 'docs', name), 'utf8');

/** Every metric that a text asks for, as a sample is called. */
function metricsIn(text: string): string[] {
  return [...new Set(text.match(/\b(?:hawser|process|nodejs)_[a-z0-9_]*[a-z0-9]\b/g))];
}

const expressionsOf = (asked: readonly { expr: string }[]) => asked.map(({ expr }) => expr).join('\n');

describe('the metrics that a server exposes', () => {
  let families: Families;
  before(async () => {
    const hawser = await startHawser({ HAWSER_METRICS_TOKEN: TOKEN });
    families = await readMetrics(hawser, TOKEN);
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

  it('are the ones that the alerts ask for', () => {
    const asked = metricsIn(expressionsOf(readAlerts()));
    expect(asked).to.have.length.greaterThan(10);
    for (const name of asked) expect(isExposed(name), name).to.equal(true);
  });

  it('have every series that an alert asks for by name from the start, so that the first error fires', () => {
    const selectors = [...expressionsOf(readAlerts()).matchAll(/(hawser_\w+)\{(\w+)=~?"([^"]+)"\}/g)];
    expect(selectors).to.have.length.greaterThan(4);
    for (const [, name = '', label = '', values = ''] of selectors) {
      const family = families.get(name) ?? families.get(name.replace(/_(?:bucket|sum|count)$/, ''));
      const there = family?.samples
        .filter((sample) => sample.name === name)
        .map(({ labels }) => labels[label]);
      expect(there, name).to.include.members(values.split('|'));
    }
  });

  it('are the ones that the dashboard asks for, and the dashboard shows each of ours', () => {
    const asked = metricsIn(expressionsOf(readPanels()));
    for (const name of asked) expect(isExposed(name), name).to.equal(true);
    for (const { name } of ours())
      expect(
        asked.some((other) => other.replace(/_(?:bucket|sum|count)$/, '') === name || other === name),
        name,
      ).to.equal(true);
  });

  it('are the ones that the runbooks ask for', () => {
    for (const name of metricsIn(expressionsOf(readQueries()))) expect(isExposed(name), name).to.equal(true);
  });
});

describe('the alerts', () => {
  it('have a runbook each, to which they lead, and there is no other', () => {
    const headings = [...readDocument('runbooks.md').matchAll(/^## (Hawser\w+)$/gm)].map(([, name]) => name);
    expect(headings).to.deep.equal(readAlerts().map(({ alert }) => alert));
    for (const { alert, annotations, labels } of readAlerts()) {
      expect(annotations['runbook_url'], alert).to.equal(`runbooks.md#${alert.toLowerCase()}`);
      expect(annotations['summary'], alert).to.be.a('string').with.length.greaterThan(15);
      expect(labels['severity'], alert).to.be.oneOf(['critical', 'warning']);
    }
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
