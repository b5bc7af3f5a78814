/** By what the person is signed in, and how a provider takes the place of the password. */

import { LOCAL, labelOf, useProviders } from '../../providers.ts';
import type { Provider } from '../../types.ts';

/** @param by the name of the provider, or LOCAL */
export function SignInWay({ by }: { by: string }) {
  const providers = useProviders();
  return (
    <section class="card">
      <h2>Sign-in</h2>
      {by === LOCAL ? (
        <>
          <p>You are signed in by password.</p>
          {providers.length > 0 && <Others providers={providers} />}
        </>
      ) : (
        <>
          <p>You are signed in by {labelOf(providers, by)}.</p>
          <p class="hint">If you have a password here too, sign in by it to change it.</p>
        </>
      )}
    </section>
  );
}

/** The policy of the console lets no form lead to another site, so the one that links an account is on that page. */
function Others({ providers }: { providers: readonly Provider[] }) {
  return (
    <>
      <ul class="links">
        {providers.map(({ name, label }) => (
          <li key={name}>
            <a href="/login">Sign in with {label} from now on</a>
          </li>
        ))}
      </ul>
      <p class="hint">The sign-in page asks for your password once more, and then leads there.</p>
    </>
  );
}
