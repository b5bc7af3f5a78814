/**
 * A real Prometheus scrapes a real server over TLS and is asked for all that the alerts, the dashboard and the runbooks ask.
 * A metric, rule, panel or query that is added needs no change here.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { PROJECT } from '../../scripts/support/project.ts';
import { type Alert, readAlerts, readPanels, readQueries } from '../support/alerts.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { describeWith } from '../support/optional-tools.ts';
import { steadyPort } from '../support/ports.ts';

const TOKEN = 'the-token-that-opens-the-metrics';
const DOCS = join(PROJECT, 'docs');
const RULES = join(DOCS, 'alerts.yml');

interface Rule {
  name: string;
  health: string;
  lastError?: string;
  state: string;
  alerts: { labels: Record<string, string> }[];
}

describeWith(['prometheus', 'promtool'], 'a real Prometheus', function () {
  this.timeout(60_000);
  let folder: string;
  let hawser: Hawser;
  let prometheus: ChildProcess;
  let polls: NodeJS.Timeout;
  let api: string;
  const alerts = readAlerts();

  before(async () => {
    // Prometheus itself would not start, and does not say why so clearly.
    execFileSync('promtool', ['check', 'rules', RULES], { stdio: 'pipe' });
    folder = mkdtempSync(join(tmpdir(), 'hawser-prometheus-'));
    hawser = await startHawser({ HAWSER_METRICS_TOKEN: TOKEN });
    await liveALittle();
    const port = await steadyPort();
    api = `http://127.0.0.1:${port}/api/v1`;
    writeConfiguration();
    const files = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${folder}/data`];
    const options = [`--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'];
    prometheus = spawn('prometheus', [...files, ...options], { stdio: 'ignore' });
    await once(prometheus, 'spawn');
    await eventually(async () => {
      expect(await query('count_over_time(up[1m]) >= 4')).to.not.have.length(0);
    }, 30_000);
  });
  after(async () => {
    clearInterval(polls);
    if (prometheus?.kill()) await once(prometheus, 'exit');
    await hawser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Gives most metrics a value, and polls while Prometheus looks. */
  async function liveALittle(): Promise<void> {
    const node = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'parameters: {}' } });
    await publishConfiguration(hawser.admin, 'gone', { '1.0.0': { 'main.dsc.yaml': 'a: 1' } });
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await hawser.admin.put(path, { configurationName: 'web' });
    await node.client.get(`${path}/bundle`);
    await node.client.post(`/api/v1/nodes/${node.nodeId}/reports`, { operation: 'Test', result: {} });
    await hawser.admin.post('/api/v1/retention/reports/cleanup', { dryRun: false });
    polls = setInterval(() => void node.client.get(`${path}/checksum`).catch(() => undefined), 300);
  }

  /** The part of docs/metrics.md that operators copy, with the places of this test in it. */
  function writeConfiguration(): void {
    const [, text = ''] = /```yaml\n(scrape_configs:[\s\S]*?)```/.exec(readDocument('metrics.md')) ?? [];
    const { scrape_configs: jobs } = parse(text);
    const [job] = jobs;
    writeFileSync(join(folder, 'token'), TOKEN);
    writeFileSync(join(folder, 'ca.crt'), hawser.target().ca);
    job.authorization.credentials_file = join(folder, 'token');
    job.tls_config.ca_file = join(folder, 'ca.crt');
    job.scrape_interval = '1s';
    job.static_configs = [{ targets: [`127.0.0.1:${hawser.target().port}`] }];
    const global = { evaluation_interval: '1s' };
    const all = { global, rule_files: [RULES], scrape_configs: jobs };
    writeFileSync(join(folder, 'prometheus.yml'), stringify(all));
  }

  async function ask<T>(path: string): Promise<T> {
    const reply = await fetch(`${api}${path}`);
    const { status, error, data } = (await reply.json()) as { status: string; error?: string; data: T };
    expect(`${status} ${error ?? ''}`, decodeURIComponent(path)).to.equal('success ');
    return data;
  }

  /** @throws AssertionError if Prometheus cannot evaluate it */
  async function query(expression: string): Promise<unknown[]> {
    const { result } = await ask<{ result: unknown[] }>(`/query?query=${encodeURIComponent(expression)}`);
    return result;
  }

  /** An expression gives data, or one of the metrics that it asks for has none, because nothing of the kind has happened. */
  async function expectData(expression: string, what: string): Promise<void> {
    if ((await query(expression)).length > 0) return;
    const names = expression.match(/\b(?:hawser|process|nodejs)_\w+/g) ?? [];
    const found = await Promise.all(names.map((name) => query(name)));
    expect(
      found.some((series) => series.length === 0),
      `${what}: ${expression} gives nothing`,
    ).to.equal(true);
  }

  async function rules(): Promise<Rule[]> {
    const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('/rules');
    return groups.flatMap((group) => group.rules);
  }

  it('takes the rules, of which none fires for a server that is well', async () => {
    const found = await rules();
    expect(found.map(({ name }) => name)).to.deep.equal(alerts.map(({ alert }) => alert));
    for (const { name, health, lastError = '', state } of found) {
      expect(`${name} ${health} ${lastError}`).to.equal(`${name} ok `);
      // What a busy machine brings about must last before it fires.
      expect(state, name).to.not.equal('firing');
    }
  });

  it('has data for each side of each rule', async () => {
    for (const { alert, expr } of alerts) await expectData(withBool(expr), alert);
  });

  it('has data for each query of the dashboard', async () => {
    for (const { title, expr } of readPanels())
      await expectData(expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '10s'), title);
  });

  it('has data for each query of the runbooks', async () => {
    const queries = readQueries();
    expect(queries).to.have.length.greaterThan(alerts.length);
    for (const { heading, expr } of queries) await expectData(expr, heading);
  });

  it('would fire at the first error of each kind that a rule names', () => {
    const tests = alerts.flatMap((alert) => firstErrors(alert));
    expect(tests).to.have.length.greaterThan(5);
    const file = join(folder, 'first-errors.yml');
    writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
    execFileSync('promtool', ['test', 'rules', file], { stdio: 'pipe' });
  });

  it('sees the first error of a server', async () => {
    rmSync(join(hawser.reposDir, 'configurations/gone.git'), { recursive: true });
    await eventually(async () => {
      await hawser.admin.get('/api/v1/configurations/gone/versions');
      const errors = (await rules()).find(({ name }) => name === 'HawserErrors');
      expect(errors?.state).to.equal('pending');
      expect(errors?.alerts.map(({ labels }) => labels['code'])).to.deep.equal(['repository_missing']);
    }, 30_000);
  });
});

const readDocument = (name: string) => readFileSync(join(DOCS, name), 'utf8');

/** With `bool` each comparison outside of a selector gives its result as 0 or 1, and so shows that both sides are there. */
function withBool(expression: string): string {
  return expression.replace(/\{[^}]*\}|[<>]=?|[=!]=/g, (part) =>
    part.startsWith('{') ? part : `${part} bool`,
  );
}

/** A counter that must not rise, by the values of one of its labels. */
const MUST_NOT_RISE = /(?:rate|increase)\((hawser_\w+)\{(\w+)=~?"([^"]+)"\}\[(\w+)\]\)\) > 0$/;
const MINUTES: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 };
const minutesOf = (duration: string) => Number.parseInt(duration, 10) * (MINUTES[duration.at(-1) ?? ''] ?? 0);

/**
 * One test of promtool for each series that a rule names, which goes from 0 to 1. It is for rules that remember one error for
 * longer than they wait. Others want it to happen again.
 */
function firstErrors({ alert, expr, for: wait = '0m', labels, annotations }: Alert): object[] {
  const [, metric, label = '', values = '', window = ''] = MUST_NOT_RISE.exec(expr) ?? [];
  if (metric === undefined || minutesOf(window) <= minutesOf(wait)) return [];
  return values.split('|').map((value) => ({
    interval: '1m',
    input_series: [{ series: `${metric}{${label}="${value}"}`, values: '0x3 1x30' }],
    alert_rule_test: [
      {
        // The first error comes at the fourth minute, and is within the window for one minute more than the rule waits.
        eval_time: `${5 + minutesOf(wait)}m`,
        alertname: alert,
        exp_alerts: expr.includes(`by (${label})`)
          ? [{ exp_labels: { ...labels, [label]: value }, exp_annotations: annotations }]
          : [{ exp_labels: labels, exp_annotations: annotations }],
      },
    ],
  }));
}
