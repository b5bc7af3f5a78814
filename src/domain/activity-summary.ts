/** Says in a sentence what an entry of the audit trail means. */

import { meaningOf } from './audit-actions.ts';

/** The kinds of resources whose entries are shown to whoever may read the resource. */
export const ACTIVITY_TYPES = [
  ...(['Node', 'Configuration', 'Parameters', 'CompositeConfiguration', 'ChangeSet'] as const),
] as const;
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

/** The details of an entry. Old entries may lack some. */
type Details = Readonly<Record<string, unknown>>;

const said = (value: unknown, otherwise: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise;

/** What the words in braces stand for, beside the name. Who manages a resource alone may know its holders, so none is named. */
const WORDS: Readonly<Record<string, (details: Details) => string>> = {
  version: ({ version }) => said(version, 'of unknown number'),
  path: ({ path }) => said(path, 'A file'),
  tag: ({ scopeType, scopeValue }) => `${said(scopeType, 'tag')} ${said(scopeValue, '')}`,
  child: ({ childConfigurationName }) => said(childConfigurationName, 'A child'),
  rolled: (details) => rolled(details, 'version'),
  Rolled: (details) => rolled(details, 'Version'),
  move: ({ what }) => said(what, 'changed'),
  holder: ({ principalType }) => said(principalType, 'user').toLowerCase(),
  level: ({ level }) => said(level, 'a level'),
  lostLevel: ({ before }) => said(before, 'a level'),
  id: ({ id }) => said(id, ''),
  applyAt: ({ applyAt }) => said(applyAt, 'a time'),
  title: ({ title }) => said(title, 'without a title'),
  configuration: ({ configurationName }) => said(configurationName, 'The configuration'),
  file,
  assignment,
};

const rolled = ({ version, key }: Details, noun: string): string =>
  version === null ? said(key, 'parameters') : `${noun} ${said(version, 'of unknown number')}`;

/** `Environment/production 1.2.0`, or `Default 1.2.0`. */
function file({ scopeType, scopeValue, version }: Details): string {
  const value = said(scopeValue, '');
  const scope = `${said(scopeType, 'A scope')}${value === '' ? '' : `/${value}`}`;
  return `${scope} ${said(version, 'of unknown number')}`;
}

function assignment({ configurationName, version: exact, majorVersion, prereleaseChannel }: Details): string {
  const limits = [
    ...(typeof exact === 'string' ? [`exactly ${exact}`] : []),
    ...(typeof majorVersion === 'number' ? [`major version ${majorVersion}`] : []),
    ...(typeof prereleaseChannel === 'string' ? [`prereleases from ${prereleaseChannel}`] : []),
  ];
  const limit = limits.length === 0 ? '' : ` (${limits.join(', ')})`;
  return `${said(configurationName, 'A configuration')}${limit}`;
}

const UNNAMED: Record<ActivityType, string> = {
  Node: 'a deleted node',
  Configuration: 'a deleted configuration',
  Parameters: 'a deleted configuration',
  CompositeConfiguration: 'a deleted composite configuration',
  ChangeSet: 'a change set',
};

/**
 * The sentence has no addresses, no secrets, and nothing of the details beyond names, versions, paths and levels. Of a deed of a
 * change set it names the set.
 * @param name of the resource; null where nothing knows it any more
 */
export function summarize(action: string, name: string | null, details: Details): string {
  const { on, says } = meaningOf(action) ?? { on: '', says: action };
  const unnamed = UNNAMED[on as ActivityType] as string | undefined;
  const text = says.replace(/\{(\w+)\}/g, (word, key: string) =>
    key === 'name'
      ? (name ?? unnamed ?? 'somebody or something that is gone')
      : (WORDS[key]?.(details) ?? word),
  );
  const { changeSetId } = details;
  const whole =
    typeof changeSetId === 'number' && on !== 'ChangeSet' ? `${text}, by change set ${changeSetId}` : text;
  // A name stays as it is written.
  return name === null ? whole.charAt(0).toUpperCase() + whole.slice(1) : whole;
}
