/** The identity providers of this server, as the file names them. */

import type { Config } from '../../config.ts';
import { DAY } from '../../lib/clock.ts';
import { notFound, sentenceOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { Provider } from './provider.ts';
import { readProviders } from './providers-file.ts';

type Options = Pick<Config, 'oidcFile' | 'publicUrl' | 'environment'>;

export class Providers {
  private readonly options: Options;
  private byName: ReadonlyMap<string, Provider>;

  /** @throws ConfigError for a fault in the file */
  constructor(options: Options) {
    this.options = options;
    this.byName = this.read();
  }

  /**
   * Takes the file and the secrets anew. After a fault the old ones stay, and the log says why.
   * @returns the fault, or null
   */
  reload(log: Log): string | null {
    try {
      this.byName = this.read();
      return null;
    } catch (error) {
      log.error({ err: error }, 'the file of the identity providers has a fault: those of before stay');
      return sentenceOf(error);
    }
  }

  /** In the order of the file. */
  get all(): Provider[] {
    return [...this.byName.values()];
  }

  /** @throws HawserError not_found */
  require(name: string): Provider {
    const provider = this.byName.get(name);
    if (provider === undefined) throw notFound('There is no such identity provider');
    return provider;
  }

  get(name: string): Provider | null {
    return this.byName.get(name) ?? null;
  }

  /** For how long after a sign-in by this provider its user's tokens work, in milliseconds; 0 for one that is gone. */
  tokenMaxAge(name: string): number {
    return (this.byName.get(name)?.settings.tokenMaxAgeDays ?? 0) * DAY;
  }

  private read(): Map<string, Provider> {
    const { oidcFile, publicUrl, environment } = this.options;
    if (oidcFile === null || publicUrl === null) return new Map();
    const isDevelopment = environment === 'development';
    const providers = readProviders(oidcFile, isDevelopment).map(
      (settings) => new Provider(settings, { publicUrl, isDevelopment }),
    );
    return new Map(providers.map((provider) => [provider.settings.name, provider]));
  }
}
