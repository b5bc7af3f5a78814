/** Reads the result of a DSC v3 operation: its resources, those in groups too, and its messages. */

export interface ReportedResource {
  key: string;
  /** With the names of the groups around it. */
  name: string;
  type: string;
  /** Null: it says nothing of it. */
  isAsDesired: boolean | null;
  /** The names of what differs, or was changed. */
  properties: readonly string[];
  /** All that it says, as it was sent. */
  result: unknown;
}

export interface ReportedMessage {
  level: string;
  name: string;
  message: string;
}

type Members = Record<string, unknown>;

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

/** Those that are not in the desired state come first, then those that do not say it. Within these, as they were sent. */
export function resourcesOf(result: unknown): ReportedResource[] {
  const found: ReportedResource[] = [];
  // A list in place of recursion: a report can nest its groups deeper than the call stack allows.
  const groups: { items: readonly unknown[]; inside: string }[] = [
    { items: listOf(membersOf(result)['results']), inside: '' },
  ];
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    for (const item of group.items) {
      const { name, type, result: inner } = membersOf(item);
      const shown = `${group.inside}${textOf(name, '(without a name)')}`;
      if (Array.isArray(inner)) groups.push({ items: inner, inside: `${shown} / ` });
      else found.push(resourceOf(String(found.length), shown, textOf(type, ''), inner));
    }
  }
  const rank = ({ isAsDesired }: ReportedResource) =>
    isAsDesired === false ? 0 : isAsDesired === null ? 1 : 2;
  return found.toSorted((a, b) => rank(a) - rank(b));
}

function resourceOf(key: string, name: string, type: string, result: unknown): ReportedResource {
  const { inDesiredState, differingProperties, changedProperties } = membersOf(result);
  const properties = [...listOf(differingProperties), ...listOf(changedProperties)].filter(
    (property) => typeof property === 'string',
  );
  return {
    key,
    name,
    type,
    isAsDesired: typeof inDesiredState === 'boolean' ? inDesiredState : null,
    properties,
    result,
  };
}

/** What DSC said beside the results. */
export function messagesOf(result: unknown): ReportedMessage[] {
  return listOf(membersOf(result)['messages']).map((item) => {
    const { level, name, message } = membersOf(item);
    return {
      level: textOf(level, 'Message'),
      name: textOf(name, ''),
      message: textOf(message, typeof item === 'string' ? item : JSON.stringify(item)),
    };
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
