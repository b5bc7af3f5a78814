/** What is wrong in a report: the result of a DSC v3 operation gives its first fault, and how many resources are out of their state. */

/** What a fault is about: the type and the name of a resource, as the report has them. */
export interface FaultyResource {
  type: string;
  name: string;
}

export interface Fault {
  /** Null where the report names none. */
  resource: FaultyResource | null;
  message: string;
}

export interface ReportFaults {
  /** How many resources are out of their state. A group counts by its members. */
  outOfState: number;
  /** The first error message, else the first resource that is out of its state; null where nothing is wrong. */
  firstFault: Fault | null;
}

/** Those of a report in which nothing is wrong. */
export const NO_FAULTS: ReportFaults = { outOfState: 0, firstFault: null };

/** The greatest length of a message that is kept. Its report has it whole. */
const MAX_MESSAGE = 1_000;
/** The same of a name, a type, and a property. */
const MAX_NAME = 256;

/** The parts of DSC's output that tell of faults. Anything may be in them. */
interface Result {
  results?: readonly unknown[] | null | undefined;
  messages?: unknown;
}

export function faultsOf({ results, messages }: Result): ReportFaults {
  let outOfState = 0;
  let first: Fault | null = null;
  for (const resource of leavesOf(results ?? [])) {
    const result = memberOf(resource, 'result');
    if (memberOf(result, 'inDesiredState') !== false) continue;
    outOfState += 1;
    first ??= { resource: resourceOf(resource), message: differenceIn(result) };
  }
  return { outOfState, firstFault: firstError(messages) ?? first };
}

/** The resources in their order, members of groups in the place of their group. It does not recurse, as `stateOf` does not. */
function* leavesOf(results: readonly unknown[]): Generator<unknown> {
  const groups = [results.values()];
  for (let group = groups.at(-1); group !== undefined; group = groups.at(-1)) {
    const { done, value } = group.next();
    const members = done ? undefined : memberOf(value, 'result');
    if (done) groups.pop();
    else if (Array.isArray(members)) groups.push(members.values());
    else yield value;
  }
}

/** A fault in one line. */
export function tellFault({ resource, message }: Fault): string {
  const named = [resource?.name, resource?.type && `(${resource.type})`].filter(Boolean).join(' ');
  return `${named === '' ? '' : `${named}: `}${message}`.replace(/\s+/g, ' ').trim();
}

function firstError(messages: unknown): Fault | null {
  if (!Array.isArray(messages)) return null;
  for (const entry of messages) {
    const [level, message] = [textIn(entry, 'level'), textIn(entry, 'message')];
    if (level.toLowerCase() === 'error' && message !== '')
      return { resource: resourceOf(entry), message: cut(message, MAX_MESSAGE) };
  }
  return null;
}

function resourceOf(entry: unknown): FaultyResource | null {
  const [type, name] = [textIn(entry, 'type'), textIn(entry, 'name')];
  return type === '' && name === '' ? null : { type: cut(type, MAX_NAME), name: cut(name, MAX_NAME) };
}

function differenceIn(result: unknown): string {
  const differing = memberOf(result, 'differingProperties');
  const names = Array.isArray(differing) ? differing.filter((name) => typeof name === 'string') : [];
  if (names.length === 0) return 'not in its desired state';
  return cut(`differs in ${names.map((name) => cut(name, MAX_NAME)).join(', ')}`, MAX_MESSAGE);
}

/** A text of at most so many characters, which tells where it was cut. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function textIn(value: unknown, name: string): string {
  const member = memberOf(value, name);
  return typeof member === 'string' ? member : '';
}

export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
