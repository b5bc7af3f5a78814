/** Compares what two servers serve a node. */

import { toPlain } from '../../../domain/parameter-document.ts';
import { redactAt } from '../../../domain/secrets.ts';
import { escapeToken, isMapping, type Value, valueKey } from '../../../domain/value.ts';
import { majorOf } from '../../../domain/version-order.ts';
import type { Offer, Part, Served } from './offer.ts';
import { unquoted } from './plain-scalars.ts';

/** Where two servers differ, and why, as a sentence. Values are JSON; null stands for nothing too. */
export interface Difference {
  /** A file in the bundle, behind which a JSON Pointer into the parameters may stand after a `#`. Empty for the whole. */
  path: string;
  there: unknown;
  here: unknown;
  reason: string;
}

const PARAMETERS = 'parameters.yaml';

/** @param here is undefined where the node is not here */
export function compareServed(there: Served, here: Served | undefined): Difference[] {
  if (here === undefined) return [whole(null, null, 'The node is not here')];
  if (here !== null && 'fault' in here) {
    if (there === null || 'fault' in there) return [];
    return [whole(describe(there.offer), null, `It gets nothing here: ${here.fault}`)];
  }
  if (there === null || 'fault' in there) {
    if (here === null) return [];
    return [whole(null, describe(here.offer), 'It gets nothing there')];
  }
  if (here === null) return [whole(describe(there.offer), null, 'Nothing is assigned to it here')];
  return compareOffers(there.offer, here.offer);
}

const whole = (there: unknown, here: unknown, reason: string): Difference => ({
  path: '',
  there,
  here,
  reason,
});

const describe = ({ parts }: Offer) =>
  [...parts.values()]
    .map(({ name, version }) => `${name} ${version}`)
    .sort()
    .join(', ');

function compareOffers(there: Offer, here: Offer): Difference[] {
  if (there.isComposite !== here.isComposite)
    return [whole(describe(there), describe(here), 'One is a composite, and the other is a configuration')];
  const names = new Set([...there.parts.keys(), ...here.parts.keys()]);
  return [...names].flatMap((name) => {
    const [one, other] = [there.parts.get(name), here.parts.get(name)];
    if (one && other) return compareParts(one, other, there.isComposite ? `${name}/` : '');
    const reason = one ? 'The configuration is served there only' : 'The configuration is served here only';
    return [whole(one?.version ?? null, other?.version ?? null, `${reason}: ${name}`)];
  });
}

function compareParts(there: Part, here: Part, folder: string): Difference[] {
  const paths = new Set([...there.files.keys(), ...here.files.keys()]);
  const reason =
    there.version === here.version
      ? 'The file differs'
      : `It is of version ${there.version} there and of ${here.version} here`;
  const files = [...paths].flatMap((path) => {
    // The merged parameters take the place of a file on both servers.
    if (path === PARAMETERS && there.parameters !== null) return [];
    const [one = null, other = null] = [there.files.get(path), here.files.get(path)];
    return one === other ? [] : [{ path: folder + path, there: one, here: other, reason }];
  });
  return [...files, ...compareParameters(there, here, folder)];
}

function compareParameters(there: Part, here: Part, folder: string): Difference[] {
  const otherMajor = otherMajorOf(there, here);
  const differences: Difference[] = [];
  const note = (pointer: string, one: Value | undefined, other: Value | undefined) => {
    const shown = (value: Value | undefined) =>
      value === undefined ? null : toJson(redactAt(pointer, value, here.secrets));
    const reason = lostQuotes(one, other)
      ? 'A text that looks like another value has lost its quotes there'
      : (otherMajor ?? 'The value differs');
    const path = `${folder}${PARAMETERS}${pointer === '' ? '' : `#${pointer}`}`;
    differences.push({ path, there: shown(one), here: shown(other), reason });
  };
  walk('', there.parameters ?? undefined, here.parameters ?? undefined, note);
  for (const [scope, fault] of there.unread) {
    const reason = `The parameter file of ${scope} there cannot be read: ${fault}`;
    differences.push({
      path: folder + PARAMETERS,
      there: there.scopes.get(scope) ?? null,
      here: null,
      reason,
    });
  }
  return differences;
}

type Note = (pointer: string, there: Value | undefined, here: Value | undefined) => void;

/** Goes down to the values in which two documents differ. Lists are compared as a whole. */
function walk(pointer: string, there: Value | undefined, here: Value | undefined, note: Note): void {
  if (isMapping(there) && isMapping(here)) {
    for (const key of new Set([...there.keys(), ...here.keys()]))
      walk(`${pointer}/${escapeToken(key)}`, there.get(key), here.get(key), note);
  } else if (there === undefined || here === undefined) {
    if (there !== here) note(pointer, there, here);
  } else if (valueKey(there) !== valueKey(here)) note(pointer, there, here);
}

/** Whether what is there is what a reader takes the text for that is here, at any depth. */
function lostQuotes(there: Value | undefined, here: Value | undefined): boolean {
  if (there === undefined || here === undefined) return false;
  return valueKey(unquoted(here)) === valueKey(there);
}

function otherMajorOf(there: Part, here: Part): string | null {
  for (const [scope, version] of there.scopes) {
    const own = here.scopes.get(scope);
    if (own !== undefined && majorOf(own) === majorOf(version)) continue;
    if (majorOf(version) !== majorOf(here.version))
      return `The parameters of ${scope} are of version ${version} there, which is of another major than the configuration`;
  }
  return null;
}

const toJson = (value: Value): unknown =>
  JSON.parse(
    JSON.stringify(toPlain(value), (_key, each) => (typeof each === 'bigint' ? String(each) : each)) ??
      'null',
  );
