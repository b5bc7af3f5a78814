/** `${node.fqdn}` and the like in the texts of merged parameters. */

import type { FieldError } from '../lib/errors.ts';
import { isList } from './document-text.ts';
import { PARAMETERS } from './secrets.ts';
import { escapeToken, isMapping, isSealed, type Mapping, type Value } from './value.ts';

/** The values of the variables of a node, by their names, such as `node.fqdn`. */
export type VariableValues = Readonly<Record<string, string>>;

/** What a node is called in variables: its names, and the tag of each scope type. */
export interface NamedNode {
  nodeId: string;
  fqdn: string;
  tags: readonly { scopeTypeName: string; scopeValue: string }[];
}

export interface Replaced {
  document: Mapping;
  /** The names of what was put in, in the order in which they came. */
  used: readonly string[];
  /** One for each text that could not be replaced, with the code `unknown_variable`. They stay as they are. */
  faults: readonly FieldError[];
  /** The names of the parameters in which a text could not be replaced. */
  faulty: ReadonlySet<string>;
}

/** Begins a variable, and stands for itself behind another `$`. What lacks it needs no look. */
const BEGIN = '${';
const ESCAPED = '$${';
const MAX_FAULTS = 100;
const PLAIN_NAME = /^[A-Za-z][\w.-]{0,63}$/;

export function valuesOf({ nodeId, fqdn, tags }: NamedNode): VariableValues {
  return {
    'node.fqdn': fqdn,
    'node.id': nodeId,
    ...Object.fromEntries(tags.map(({ scopeTypeName, scopeValue }) => [`tag.${scopeTypeName}`, scopeValue])),
  };
}

/** What stands for the values where no node is meant: each name that some node could have a value of. */
export function anyValues(scopeTypeNames: readonly string[]): VariableValues {
  return valuesOf({
    nodeId: '',
    fqdn: '',
    tags: scopeTypeNames.map((scopeTypeName) => ({ scopeTypeName, scopeValue: '' })),
  });
}

/**
 * Puts the values in, left to right and once. Secrets are not looked at.
 * @param secure the names of secure parameters
 */
export function replaceVariables(
  document: Mapping,
  values: VariableValues,
  secure: ReadonlySet<string>,
): Replaced {
  const walk = new Walk(values);
  const block = document.get(PARAMETERS);
  if (!isMapping(block)) return { document, used: [], faults: [], faulty: new Set() };
  const replaced = new Map(block);
  for (const [name, value] of block) {
    if (secure.has(name)) continue;
    const before = walk.faults.length;
    replaced.set(name, walk.replaceIn(value, `/${PARAMETERS}/${escapeToken(name)}`));
    if (walk.faults.length > before) walk.faulty.add(name);
  }
  const { used, faults, faulty } = walk;
  return {
    document: new Map(document).set(PARAMETERS, replaced),
    used: [...used],
    faults: faults.slice(0, MAX_FAULTS),
    faulty,
  };
}

/** The value with the variables in its texts replaced; the value itself where there is nothing to replace. */
export function replaceValue(value: Value, values: VariableValues): Value {
  return new Walk(values).replaceIn(value, '');
}

class Walk {
  readonly used = new Set<string>();
  readonly faults: FieldError[] = [];
  readonly faulty = new Set<string>();
  private readonly values: VariableValues;

  constructor(values: VariableValues) {
    this.values = values;
  }

  /** The value itself where nothing is replaced in it. */
  replaceIn(value: Value, pointer: string): Value {
    if (typeof value === 'string') return value.includes(BEGIN) ? this.replaceText(value, pointer) : value;
    if (value === null || typeof value !== 'object' || isSealed(value)) return value;
    if (isList(value)) {
      const items = value.map((item, at) => this.replaceIn(item, `${pointer}/${at}`));
      return items.every((item, at) => item === value[at]) ? value : items;
    }
    if (!isMapping(value)) return value;
    let changed: Map<string, Value> | null = null;
    for (const [key, item] of value) {
      const own = this.replaceIn(item, `${pointer}/${escapeToken(key)}`);
      if (own === item) continue;
      changed ??= new Map(value);
      changed.set(key, own);
    }
    return changed ?? value;
  }

  private replaceText(text: string, pointer: string): string {
    let result = '';
    const used: string[] = [];
    for (let at = 0; ; ) {
      const next = text.indexOf(BEGIN, at);
      if (next === -1) {
        for (const name of used) this.used.add(name);
        return result + text.slice(at);
      }
      if (next > at && text.startsWith(ESCAPED, next - 1)) {
        result += text.slice(at, next - 1) + BEGIN;
        at = next + BEGIN.length;
        continue;
      }
      const end = text.indexOf('}', next);
      const name = end === -1 ? null : text.slice(next + BEGIN.length, end);
      if (name === null || !Object.hasOwn(this.values, name)) {
        this.tell(pointer, name);
        return text;
      }
      used.push(name);
      result += text.slice(at, next) + this.values[name];
      at = end + 1;
    }
  }

  /** What stands between the braces may be anything, so the message repeats what looks like a name alone. */
  private tell(path: string, name: string | null): void {
    const message =
      name === null
        ? 'A variable has no `}`; write `$${` for the two characters themselves'
        : `There is no variable ${PLAIN_NAME.test(name) ? name : 'of this name'} here; write \`$\${\` for the two characters themselves`;
    this.faults.push({ path, message, code: 'unknown_variable' });
  }
}

/** Whether one of the texts in the value has a variable, or could be one. */
export function mayHoldVariable(value: Value): boolean {
  if (typeof value === 'string') return value.replaceAll(ESCAPED, '').includes(BEGIN);
  if (value === null || typeof value !== 'object' || isSealed(value)) return false;
  if (isList(value)) return value.some(mayHoldVariable);
  return isMapping(value) && [...value.values()].some(mayHoldVariable);
}
