/**
 * The structures of DSC v3 configuration documents, as far as dsc refuses a document that breaks them (PowerShell/DSC,
 * lib/dsc-lib/src/configure/config_doc.rs). What resources take as their properties is not known here.
 */

import { excerpt, isList } from './document-text.ts';
import type { Severity } from './findings.ts';
import type { Steps } from './text-places.ts';
import { isMapping, type Mapping, type Value } from './value.ts';

/** Takes what is found: where it stands, what it is, and in words. */
export type Tell = (
  steps: Steps,
  found: { severity: Severity; code: 'document_shape' | 'unknown_member'; message: string },
) => void;

type Rule = (value: Value, steps: Steps, tell: Tell) => void;

interface Structure {
  /** What it is called in messages. */
  name: string;
  members: Readonly<Record<string, Rule>>;
  required: readonly string[];
  /** Members of which one is required. */
  oneOf?: readonly string[];
  /** Members that may be missing, but not null. */
  neverNull?: readonly string[];
  /** Whether other members are told. dsc takes them where they are not. */
  isClosed: boolean;
}

/** The `\\w` of dsc, which is that of Unicode. */
const WORD = '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]+';
const TYPE_NAME = new RegExp(`^${WORD}(?:\\.${WORD}){0,2}/${WORD}$`, 'u');
const LARGEST = 2n ** 63n;
/** `securestring` and `secureobject` are older spellings. */
const DATA_TYPES = ['string', 'secureString', 'int', 'bool', 'object', 'secureObject', 'array'];
const OLDER_TYPES = ['securestring', 'secureobject'];

const anything: Rule = () => undefined;
const text = typed('a text', isText, 'Put it in quotes if it is one.');
const integer = typed('an integer of 64 bits', isInteger);
const count = typed('an integer of 64 bits or an expression', (value) => isInteger(value) || isText(value));
const mapping = mappingOf(anything);

const typeName: Rule = (value, steps, tell) => {
  text(value, steps, tell);
  if (!isText(value) || TYPE_NAME.test(value)) return;
  refuse(steps, 'A resource type is `Owner/Name`, `Owner.Group/Name` or `Owner.Group.Area/Name`.', tell);
};

const dataType: Rule = (value, steps, tell) => {
  if (isText(value) && [...DATA_TYPES, ...OLDER_TYPES].includes(value)) return;
  refuse(steps, `dsc does not have this type. It is one of ${DATA_TYPES.join(', ')}.`, tell);
};

const copy = structure({
  name: 'a copy loop',
  members: { name: text, count, mode: text, batchSize: count },
  required: ['name', 'count'],
  isClosed: false,
});

const resource: Rule = structure({
  name: 'a resource',
  members: {
    name: text,
    type: typeName,
    requireVersion: text,
    apiVersion: text,
    condition: text,
    directives: mapping,
    executionInformation: mapping,
    dependsOn: listOf(text),
    copy,
    properties: mapping,
    resources: listOf((value, steps, tell) => resource(value, steps, tell)),
    metadata: mapping,
  },
  required: ['type'],
  neverNull: ['name'],
  isClosed: true,
});

const parameter = structure({
  name: 'a parameter',
  members: {
    type: dataType,
    defaultValue: anything,
    allowedValues: listOf(anything),
    minValue: integer,
    maxValue: integer,
    minLength: integer,
    maxLength: integer,
    description: text,
    metadata: mapping,
  },
  required: ['type'],
  isClosed: true,
});

const output = structure({
  name: 'an output',
  members: { condition: text, type: dataType, value: text, copy },
  required: ['type'],
  oneOf: ['value', 'copy'],
  neverNull: ['value', 'copy'],
  isClosed: false,
});

const userFunction = structure({
  name: 'a function',
  members: {
    parameters: listOf(
      structure({
        name: 'a parameter of a function',
        members: { name: text, type: dataType },
        required: ['name', 'type'],
        isClosed: false,
      }),
    ),
    output: structure({
      name: 'the output of a function',
      members: { type: dataType, value: text },
      required: ['type', 'value'],
      isClosed: false,
    }),
  },
  required: ['output'],
  isClosed: false,
});

const document = structure({
  name: 'a configuration document',
  members: {
    $schema: text,
    contentVersion: text,
    directives: structure({
      name: 'the directives of a document',
      members: { version: text, resourceDiscovery: text, securityContext: text },
      required: [],
      isClosed: false,
    }),
    executionInformation: mapping,
    functions: listOf(
      structure({
        name: 'a namespace of functions',
        members: { namespace: text, members: mappingOf(userFunction) },
        required: ['namespace', 'members'],
        isClosed: false,
      }),
    ),
    metadata: mapping,
    outputs: mappingOf(output),
    parameters: mappingOf(parameter),
    resources: listOf(resource),
    variables: mapping,
  },
  required: ['$schema', 'resources'],
  isClosed: true,
});

/** Tells where a document breaks dsc's structures. */
export function checkDocument(source: Mapping, tell: Tell): void {
  document(source, [], tell);
}

/** Tells where a list of resources within a group breaks dsc's structures. */
export function checkResources(value: Value, steps: Steps, tell: Tell): void {
  listOf(resource)(value, steps, tell);
}

function isText(value: Value): value is string {
  return typeof value === 'string';
}

function isInteger(value: Value): boolean {
  return typeof value === 'bigint' && value >= -LARGEST && value < LARGEST;
}

function typed(what: string, takes: (value: Value) => boolean, remedy = ''): Rule {
  return (value, steps, tell) => {
    if (!takes(value)) refuse(steps, `dsc takes ${what} here. ${remedy}`.trimEnd(), tell);
  };
}

function listOf(rule: Rule): Rule {
  return (value, steps, tell) => {
    if (isList(value)) for (const [at, item] of value.entries()) rule(item, [...steps, at], tell);
    else refuse(steps, 'dsc takes a list here.', tell);
  };
}

function mappingOf(rule: Rule): Rule {
  return (value, steps, tell) => {
    if (isMapping(value)) for (const [key, item] of value) rule(item, [...steps, key], tell);
    else refuse(steps, 'dsc takes a mapping of names to values here.', tell);
  };
}

/** A member that is null counts as absent, as it does for dsc. */
function structure({ name, members, required, oneOf = [], neverNull = [], isClosed }: Structure): Rule {
  const rules = new Map(Object.entries(members));
  const known = `What ${name} has: ${[...rules.keys()].join(', ')}.`;
  return (value, steps, tell) => {
    if (!isMapping(value)) return refuse(steps, `dsc takes a mapping here: ${name}.`, tell);
    for (const member of required)
      if (!value.has(member)) refuse(steps, `dsc requires the member "${member}" of ${name}.`, tell);
    if (oneOf.length > 0 && !oneOf.some((member) => value.has(member)))
      refuse(steps, `dsc requires "${oneOf.join('" or "')}" of ${name}.`, tell);
    for (const [key, item] of value) {
      const rule = rules.get(key);
      const at = [...steps, key];
      if (rule === undefined && isClosed) tellUnknown(at, known, tell);
      if (rule === undefined || (item === null && ![...required, ...neverNull].includes(key))) continue;
      if (item === null) refuse(at, 'dsc requires a value here.', tell);
      else rule(item, at, tell);
    }
  };
}

function tellUnknown(steps: Steps, known: string, tell: Tell): void {
  const member = excerpt(String(steps.at(-1)));
  const message = `Today's dsc stops at the member ${member}; a newer one may know it. ${known}`;
  tell(steps, { severity: 'Warning', code: 'unknown_member', message });
}

function refuse(steps: Steps, message: string, tell: Tell): void {
  tell(steps, { severity: 'Error', code: 'document_shape', message });
}
