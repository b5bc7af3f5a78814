/** Reads settings from variables: each kind of value is checked, and a fault names the variable and what is allowed. */

import { readFileSync } from 'node:fs';
import { isAddressRange } from './address-set.ts';

export class ConfigError extends Error {
  constructor(name: string, fault: string, allowed: string) {
    super(`${name}: ${fault}; allowed: ${allowed}`);
    this.name = 'ConfigError';
  }
}

export type Environment = Record<string, string | undefined>;

/** Reads variables and remembers their names, so that unknown ones can be refused. */
export class SettingsReader {
  private readonly env: Environment;
  private readonly known = new Set<string>();
  private readonly retired = new Set<string>();

  constructor(env: Environment) {
    this.env = env;
  }

  text(name: string): string | null {
    this.known.add(name);
    const value = this.env[name];
    return value === undefined || value === '' ? null : value;
  }

  /** A setting of an earlier release: it is taken, and not offered to whoever has misspelt one. */
  retiredText(name: string): string | null {
    this.retired.add(name);
    return this.env[name] || null;
  }

  /** A secret is given directly, or as the first line of the file that `<name>_FILE` names. */
  secret(name: string): string | null {
    const value = this.text(name);
    const file = this.text(`${name}_FILE`);
    if (file === null) return value;
    if (value !== null) throw new ConfigError(name, `given twice, also as ${name}_FILE`, 'one of the two');
    try {
      return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? '';
    } catch {
      throw new ConfigError(`${name}_FILE`, 'the file cannot be read', 'the path of a readable file');
    }
  }

  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const parse = (text: string) => choices.find((choice) => choice === text.toLowerCase());
    return this.parsed(name, fallback, parse, ['not one of the choices', choices.join(', ')]);
  }

  integer<T extends number | null>(name: string, min: number, max: number, fallback: T): number | T {
    const parse = (text: string) => {
      const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    };
    return this.parsed(name, fallback, parse, ['not a whole number in range', `${min} to ${max}`]);
  }

  bytes<T extends number | null>(name: string, fallback: T): number | T {
    const allowed = 'a number with B, KiB, MiB or GiB, such as 50MiB';
    return this.parsed(name, fallback, parseBytes, ['not a size', allowed]);
  }

  names(name: string, fallback: readonly string[]): readonly string[] {
    const parse = listOf((entry) => /^[A-Za-z0-9.:*-]{1,253}$/.test(entry));
    const allowed = 'host names and addresses, separated by commas';
    return this.parsed(name, fallback, parse, ['not a list of names', allowed]);
  }

  ranges(name: string): readonly string[] {
    const allowed = 'IP addresses and CIDR ranges, separated by commas, such as 127.0.0.1,10.0.0.0/8';
    return this.parsed(name, [], listOf(isAddressRange), ['not a list of addresses', allowed]);
  }

  headerName(name: string, fallback: string): string {
    // An underscore is refused, because some servers take it for a hyphen, so that two spellings are one header.
    const parse = (text: string) =>
      /^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$/.test(text) && text.length <= 64 ? text : undefined;
    return this.parsed(name, fallback, parse, ['not the name of a header', 'letters, digits and hyphens']);
  }

  /** @param parse gives undefined for a bad value */
  private parsed<T, F>(
    name: string,
    fallback: F,
    parse: (text: string) => T | undefined,
    [fault, allowed]: readonly [string, string],
  ): T | F {
    const text = this.text(name);
    if (text === null) return fallback;
    const value = parse(text);
    if (value === undefined) throw new ConfigError(name, fault, allowed);
    return value;
  }

  refuseUnknown(): void {
    for (const name of Object.keys(this.env)) {
      if (name.startsWith('HAWSER_') && !this.known.has(name) && !this.retired.has(name)) {
        throw new ConfigError(name, 'no such setting', [...this.known].sort().join(', '));
      }
    }
  }
}

/** Reads a size such as `50MiB`, which is at least one byte. @returns undefined for a bad value */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d{1,12})(B|KiB|MiB|GiB)?$/i.exec(text);
  const bytes = Number(match?.[1]) * (BYTE_UNITS[(match?.[2] ?? 'b').toLowerCase()] ?? 1);
  return bytes >= 1 && bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined;
}

/** Reads a list separated by commas, in which every entry must be valid. */
function listOf(isValid: (entry: string) => boolean): (text: string) => string[] | undefined {
  return (text) => {
    const entries = text.split(',').map((entry) => entry.trim());
    return entries.every(isValid) ? entries : undefined;
  };
}

const KIB = 1024;
const MIB = 1024 * KIB;
const BYTE_UNITS: Record<string, number> = { b: 1, kib: KIB, mib: MIB, gib: 1024 * MIB };
