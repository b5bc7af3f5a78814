/** Reads from the claims of a provider who signs in, and whether such people are let in. */

import { EMAIL } from '../../domain/names.ts';
import { forbidden, type HawserError } from '../../lib/errors.ts';
import { isText, readPointer } from './claims.ts';
import type { Claims } from './provider.ts';
import type { ProviderSettings } from './providers-file.ts';

export interface Person {
  issuer: string;
  subject: string;
  /** What a user of this name would be called; null where the claim is missing or no text. */
  username: string | null;
  /** Empty where the provider names none, or no address. */
  email: string;
  /** What the provider calls the groups, each once. */
  groups: readonly string[];
  /** What the provider calls its own session; null where it does not say. */
  providerSession: string | null;
}

const MOST_GROUPS = 1_000;
/** The longest text of a claim. */
const LONGEST = 1_024;

/** @throws HawserError forbidden `oidc_not_allowed`, `groups_overage` */
export function readPerson(claims: Claims, settings: ProviderSettings): Person {
  const { iss: issuer, sub: subject, sid } = claims;
  const groups = readGroups(claims, settings);
  const { allowedGroups } = settings;
  if (!allowedGroups.includes('*') && !groups.some((group) => allowedGroups.includes(group)))
    throw notAllowed('None of your groups may sign in here');
  return {
    issuer,
    subject,
    username: textOf(readPointer(claims, settings.usernameClaim)),
    email: emailOf(readPointer(claims, settings.emailClaim)),
    groups,
    providerSession: textOf(sid),
  };
}

export function notAllowed(message: string): HawserError {
  return forbidden(message, 'oidc_not_allowed');
}

/** What is not there, or is not as it should be, refuses: to let somebody in without groups would take rights away. */
function readGroups(claims: Claims, { groupsClaim }: ProviderSettings): readonly string[] {
  if (groupsClaim === null) return [];
  const groups = readPointer(claims, groupsClaim);
  if (groups === undefined && isOverage(claims, groupsClaim)) throw overage();
  if (!Array.isArray(groups) || !groups.every((group) => isText(group, LONGEST)))
    throw notAllowed('The provider does not say in which groups you are');
  if (groups.length > MOST_GROUPS) throw overage();
  return [...new Set(groups)];
}

/** Entra names the claim and leaves it out where somebody is in more groups than fit (OpenID Connect Core 1.0, 5.6.2). */
function isOverage(claims: Claims, pointer: string): boolean {
  const [, first = ''] = pointer.split('/');
  const elsewhere = readPointer(claims, '/_claim_names');
  const isElsewhere = typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, first);
  return isElsewhere || claims['hasgroups'] === true;
}

const overage = () => forbidden('You are in more groups than the provider can name', 'groups_overage');

const emailOf = (value: unknown): string => (isText(value, 254) && EMAIL.test(value) ? value : '');

const textOf = (value: unknown): string | null => (isText(value, LONGEST) ? value : null);
