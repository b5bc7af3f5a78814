/**
 * A strict reader of the text format of Prometheus (version 0.0.4). Everything that a scraper could misread is an
 * error.
 */

import type { Client } from './client.ts';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  name: string;
  type: string;
  help: string;
  samples: Sample[];
}

export type Families = ReadonlyMap<string, Family>;

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const HEADER = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
const TYPES = ['counter', 'gauge', 'histogram', 'summary'];
/** A number as Go's ParseFloat reads it, which accepts NaN in any case; prom-client writes `Nan`. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Inf)$|^nan$/i;

/** @throws Error at the first line that does not have the format, and for a family or sample that occurs twice */
export function parsePrometheus(text: string): Families {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, Family>();
  let family: Family | undefined;
  const seen = new Set<string>();
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = HEADER.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(name)) throw new Error(`${name} comes twice`);
      family = { name, type: '', help: rest, samples: [] };
      families.set(name, family);
    } else if (keyword === 'TYPE') {
      if (family?.name !== name || family.type !== '' || !TYPES.includes(rest)) throw new Error(line);
      family.type = rest;
    } else {
      const sample = parseSample(line);
      if (!family || family.type === '' || !belongsTo(family, sample.name))
        throw new Error(`out of place: ${line}`);
      const key = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(key)) throw new Error(`twice: ${line}`);
      seen.add(key);
      family.samples.push(sample);
    }
  }
  return families;
}

/** What the server exposes to whoever has the token. */
export async function readMetrics(hawser: { client(): Client }, token: string): Promise<Families> {
  const reply = await hawser.client().get('/metrics', { Authorization: `Bearer ${token}` });
  return parsePrometheus(reply.text);
}

/** The sum of the samples of this name that have these labels, among others; 0 if there are none. */
export function sumOf(families: Families, name: string, labels: Record<string, string> = {}): number {
  const family = families.get(name) ?? families.get(name.replace(/_(?:bucket|sum|count)$/, ''));
  if (!family) throw new Error(`no metric is called ${name}`);
  const matches = (sample: Sample) =>
    sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
  return family.samples.filter(matches).reduce((sum, { value }) => sum + value, 0);
}

function parseSample(line: string): Sample {
  const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (name === undefined || !NUMBER.test(value)) throw new Error(`no sample: ${line}`);
  return { name, labels: parseLabels(labels), value: Number(value.replace('Inf', 'Infinity')) };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex;
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '' || name in labels) throw new Error(`bad labels from ${at} on: ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_, mark: string) => (mark === 'n' ? '\n' : mark));
  }
  return labels;
}

function belongsTo({ name, type }: Family, sample: string): boolean {
  if (type !== 'histogram' && type !== 'summary') return sample === name;
  return sample === name || [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(sample);
}
