/** `hawserctl settings`: the settings of the server that everybody shares. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { type Context, command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { readPair } from '../filters.ts';
import { toValue } from '../values.ts';

type Values = Record<string, string | number | boolean | null>;

interface Section {
  read(api: Api): Promise<object>;
  write(api: Api, values: Values): Promise<object>;
  /** What it takes beside what it shows. */
  writeOnly?: readonly string[];
}

const SECTIONS: Readonly<Record<string, Section>> = {
  server: {
    read: (api) => api.get('/api/v1/settings'),
    write: (api, json) => api.put('/api/v1/settings', { json: json as Schemas['ServerSettingsChange'] }),
    writeOnly: ['acceptNodes'],
  },
  'lcm-defaults': {
    read: (api) => api.get('/api/v1/settings/lcm-defaults'),
    write: (api, json) => api.put('/api/v1/settings/lcm-defaults', { json }),
  },
  validation: {
    read: (api) => api.get('/api/v1/settings/validation'),
    write: (api, json) => api.put('/api/v1/settings/validation', { json }),
  },
  retention: {
    read: (api) => api.get('/api/v1/settings/retention'),
    write: (api, json) => api.put('/api/v1/settings/retention', { json }),
  },
  rollouts: {
    read: (api) => api.get('/api/v1/settings/rollouts'),
    write: (api, json) => api.put('/api/v1/settings/rollouts', { json }),
  },
};

const NAMES = Object.keys(SECTIONS);

const show = command({
  path: 'settings show',
  summary: 'show the settings of the server, or one section of them',
  arguments: [{ name: 'section', summary: 'which ones', isOptional: true, choices: NAMES }],
  examples: ['hawserctl settings show', 'hawserctl settings show retention --json'],
  async run({ api, out, arguments: { section } }) {
    if (section !== undefined) {
      const found = await SECTIONS[section]?.read(api);
      if (found !== undefined) out.answer(found, () => showSections({ [section]: found }, out));
      return;
    }
    const all = await readAll(api);
    out.answer(all, () => showSections(all, out));
  },
});

async function readAll(api: Api): Promise<Record<string, object>> {
  const found = NAMES.map(async (name) => [name, (await SECTIONS[name]?.read(api)) ?? {}] as const);
  return Object.fromEntries(await Promise.all(found));
}

function showSections(sections: Readonly<Record<string, object>>, out: Context['out']): void {
  const rows = Object.entries(sections).flatMap(([section, values]) =>
    Object.entries(values).map(([name, value]) => ({ section, name, value })),
  );
  out.table(
    rows,
    [
      { title: 'SECTION', cell: ({ section }) => section },
      { title: 'SETTING', cell: ({ name }) => name },
      { title: 'VALUE', cell: ({ value }) => (value === null ? null : String(value)) },
    ],
    'There are no settings.',
  );
}

const set = command({
  path: 'settings set',
  summary: 'change settings of one section; what is not said stays',
  arguments: [
    { name: 'pairs', summary: 'NAME=VALUE, with the names that "settings show" lists', isVariadic: true },
  ],
  examples: [
    'hawserctl settings set keepVersions=20 keepDays=180',
    'hawserctl settings set defaultParameterValidationMode=Warn',
    'hawserctl settings set defaultConfigurationMode=null',
  ],
  async run({ api, out, arguments: { pairs } }) {
    const values = Object.fromEntries(
      pairs.map((pair) => {
        if (Object.hasOwn(SECTIONS, pair))
          throw new UsageError(`"${pair}" is a section, which is not said: only NAME=VALUE of each setting.`);
        const [name, value] = readPair(pair, 'A setting');
        return [name, toValue(value) as string | number | boolean | null];
      }),
    );
    const section = await findSection(api, Object.keys(values));
    const changed = (await SECTIONS[section]?.write(api, values)) ?? {};
    out.answer(changed, () => showSections({ [section]: changed }, out));
  },
});

/** @throws UsageError where a setting does not exist, or they are of several sections: these are not changed at once */
async function findSection(api: Api, names: readonly string[]): Promise<string> {
  const known = Object.entries(await readAll(api)).map(([section, values]) => {
    return [section, [...Object.keys(values), ...(SECTIONS[section]?.writeOnly ?? [])]] as const;
  });
  const sections = names.map((name) => {
    const [section] = known.find(([, members]) => members.includes(name)) ?? [];
    if (section === undefined)
      throw new UsageError(
        `There is no setting "${name}", but ${known.flatMap(([, members]) => members).join(', ')}.`,
      );
    return section;
  });
  const [first = '', ...others] = [...new Set(sections)];
  if (others.length > 0)
    throw new UsageError(
      `These are settings of ${[first, ...others].join(' and ')}, which are changed one after the other.`,
    );
  return first;
}

export const SETTINGS_COMMANDS = [show, set];
