/** What a schema says of each parameter, in the words that the pages show. */

import type { DocumentSchema } from '../../components/editor/settings.ts';

export interface Parameter {
  name: string;
  type: string;
  /** As JSON; null where there is none. */
  byDefault: string | null;
  /** Which values are allowed; empty where all of the type are. */
  allowed: string;
  description: string;
  isSecure: boolean;
  isRequired: boolean;
}

export function parametersOf(schema: DocumentSchema): Parameter[] {
  const { properties = {}, required = [] } = schema.properties?.['parameters'] ?? {};
  return Object.entries(properties).map(([name, parameter]) => ({
    name,
    type: [parameter.type ?? 'any'].flat().join(' or '),
    byDefault: parameter.default === undefined ? null : JSON.stringify(parameter.default),
    allowed: allowedBy(parameter),
    description: parameter.description ?? '',
    isSecure: parameter.writeOnly === true,
    isRequired: required.includes(name),
  }));
}

function allowedBy(parameter: DocumentSchema): string {
  const { enum: values, minimum, maximum, minLength, maxLength, minItems, maxItems } = parameter;
  const parts = [
    values?.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', '),
    span(minimum, maximum, ''),
    span(minLength, maxLength, ' characters'),
    span(minItems, maxItems, ' entries'),
  ];
  return parts.filter(Boolean).join('; ');
}

function span(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? '' : `at most ${most}${unit}`;
}

/** A document to begin with: every parameter as a comment. */
export function skeletonOf(schema: DocumentSchema | null, isJson: boolean): string {
  if (isJson) return '{\n  "parameters": {}\n}\n';
  const parameters = schema === null ? [] : parametersOf(schema);
  if (parameters.length === 0) return 'parameters: {}\n';
  const lines = parameters.flatMap(({ name, type, byDefault, allowed, description }) => [
    ...(description === '' ? [] : [`  # ${oneLine(description)}`]),
    `  # ${keyOf(name)}: ${byDefault ?? ''}`.trimEnd() +
      oneLine(`  # ${[type, allowed].filter(Boolean).join(', ')}`),
  ]);
  return ['parameters:', ...lines, ''].join('\n');
}

/** A comment must not end before its line does. */
const oneLine = (text: string) => text.replace(/\s*[\r\n\u0085\u2028\u2029]\s*/g, ' ');

/** A name that is not plain text in YAML is quoted. */
const keyOf = (name: string) => (/^[A-Za-z][\w-]*$/.test(name) ? name : JSON.stringify(name));
