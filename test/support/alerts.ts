/** Reads what operators take from docs: the rules of alerts, the queries of the dashboard, and those of the runbooks. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PROJECT } from '../../scripts/support/project.ts';

const readDocument = (name: string) => readFileSync(join(PROJECT, 'docs', name), 'utf8');

export interface Alert {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** The rules of docs/alerts.yml, in their order. */
export function readAlerts(): Alert[] {
  const { groups } = parse(readDocument('alerts.yml')) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Each query of the dashboard, with the title of its panel. */
export function readPanels(): { title: string; expr: string }[] {
  const { panels } = JSON.parse(readDocument('grafana-dashboard.json')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
}

/** Each query of docs/runbooks.md, one a line, with the heading above it. */
export function readQueries(): { heading: string; expr: string }[] {
  return readDocument('runbooks.md')
    .split(/^## /m)
    .flatMap((section) => {
      const heading = section.split('\n', 1)[0] ?? '';
      const blocks = section.matchAll(/^```promql\n([\s\S]*?)^```/gm);
      return [...blocks]
        .flatMap(([, block = '']) => block.split('\n'))
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((expr) => ({ heading, expr }));
    });
}
